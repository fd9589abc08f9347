"""Scores for thresholds: a dense matrix, or a sparse one whose absent scores count as -inf.

Both kinds can be sorted (each row's relevant and irrelevant scores separately) and cut into labels.
An absent score is above no threshold, so sparse scores give sparse labels and never become dense.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from limo._checks import Truth, check_scores, check_truth
from limo._profiles import SortedRows, row_blocks, sort_rows
from limo._sparse import SparseScores, check_sparse_scores
from limo._sparse_profiles import sort_stored_rows, stored_blocks
from limo._types import Anything, Floats, Integers, Values
from limo._views import COLUMNS, ENTRIES, ROWS, Pattern, View


@dataclass(frozen=True, eq=False)
class DenseScores:
    """A score for every item."""

    S: Floats

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and items of a row."""
        return self.S.shape[0], self.S.shape[1]

    @property
    def T(self) -> "DenseScores":
        """The same scores with rows and columns exchanged."""
        return DenseScores(self.S.T)

    @property
    def by_columns(self) -> bool:
        """Whether the items of a column, not of a row, are next to each other in memory."""
        return self.S.flags.f_contiguous and not self.S.flags.c_contiguous

    def as_one_row(self) -> "DenseScores":
        """All items in one row."""
        return DenseScores(self.S.reshape(1, -1))

    def blocks(self) -> list[tuple[int, int]]:
        """Start and stop of the blocks of rows that are processed at once."""
        return row_blocks(*self.shape, scattered=self.by_columns)

    def sorted_rows(self, Y: Pattern, start: int, stop: int) -> SortedRows:
        """Sort the rows from ``start`` to ``stop``."""
        return sort_rows(Y, self.S, start, stop)

    def cut(self, t: Values) -> Anything:
        """Labels: 1 where the score is higher than ``t``, a number or an array that fits."""
        return np.greater(self.S, np.asarray(t, dtype=np.float64)).astype(np.int64)

    def minus(self, t: Values) -> "DenseScores":
        """The scores minus a number for each row."""
        return DenseScores(self.S - t[:, np.newaxis])

    def take(self, rows: Integers) -> "DenseScores":
        """Some of the rows."""
        return DenseScores(self.S[rows])

    @property
    def values(self) -> Floats:
        """All scores there are."""
        return self.S

    def lowest(self) -> Values:
        """The lowest score of each row."""
        low: Values = self.S.min(axis=1).astype(np.float64)
        return low

    def highest(self) -> Values:
        """The highest score of each row."""
        high: Values = self.S.max(axis=1).astype(np.float64)
        return high

    def means(self, weights: Values | None = None) -> Values:
        """The mean score of each row, whose items may have weights."""
        mean: Values = np.average(self.S.astype(np.float64, copy=False), axis=1, weights=weights)
        return mean

    @property
    def width(self) -> int:
        """How many scores the fullest row has."""
        return self.shape[1]

    def worst_ranks(self) -> "DenseScores":
        """Minus the number of items of the row that score at least as high, for each item."""
        S = np.ascontiguousarray(self.S)
        ordered = np.sort(S, axis=1)
        ranks = np.empty(S.shape)
        for row, own, out in zip(ordered, S, ranks, strict=True):
            out[:] = np.searchsorted(row, own, side="left")
        return DenseScores(ranks - S.shape[1])

    def descending(self, width: int, absent: Values) -> Values:
        """The ``width`` highest scores of each row, highest first; none is absent."""
        ordered = np.sort(self.S, axis=1)[:, ::-1][:, :width]
        return np.ascontiguousarray(ordered, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class StoredScores(SparseScores):
    """Scores of some items only, all others being -inf, to be sorted and cut into labels."""

    by_columns = False

    def blocks(self) -> list[tuple[int, int]]:
        """Start and stop of the blocks of rows that are processed at once."""
        return stored_blocks(self)

    def sorted_rows(self, Y: Pattern, start: int, stop: int) -> SortedRows:
        """Sort the stored scores of the rows from ``start`` to ``stop``."""
        return sort_stored_rows(Y, self, start, stop)

    def cut(self, t: Values) -> sparse.csr_array:
        """Labels: 1 where the score is higher than ``t``, a number or an array that fits."""
        cells = np.broadcast_to(np.asarray(t, dtype=np.float64), self.shape)
        return self._marked(self.matrix.data > cells[self._rows, self.matrix.indices])

    def minus(self, t: Values) -> "StoredScores":
        """The stored scores minus a number for each row."""
        own = (self.matrix.data - t[self._rows], self.matrix.indices, self.matrix.indptr)
        return StoredScores(sparse.csr_array(own, shape=self.shape))

    def take(self, rows: Integers) -> "StoredScores":
        """Some of the rows."""
        return StoredScores(self.matrix[rows])

    @property
    def values(self) -> Floats:
        """All scores there are."""
        stored: Floats = self.matrix.data
        return stored

    def lowest(self) -> Values:
        """The lowest stored score of each row; 0 where there is none."""
        return self._of_rows(np.minimum)

    def highest(self) -> Values:
        """The highest stored score of each row; 0 where there is none."""
        return self._of_rows(np.maximum)

    def means(self, weights: Values | None = None) -> Values:
        """The mean stored score of each row; 0 where there is none. Items have no weights here."""
        assert weights is None
        mean: Values = self._of_rows(np.add) / np.maximum(1, np.diff(self.matrix.indptr))
        return mean

    @property
    def width(self) -> int:
        """How many scores the fullest row has."""
        return max(1, int(np.diff(self.matrix.indptr).max()))

    def worst_ranks(self) -> "StoredScores":
        """Minus the number of items of the row that score at least as high, where stored."""
        ranks = np.empty(self.matrix.nnz)
        for start, stop in zip(self.matrix.indptr[:-1], self.matrix.indptr[1:], strict=True):
            own = self.matrix.data[start:stop]
            ranks[start:stop] = np.searchsorted(np.sort(own), own, side="left") - own.size
        return StoredScores(
            sparse.csr_array((ranks, self.matrix.indices, self.matrix.indptr), shape=self.shape)
        )

    def descending(self, width: int, absent: Values) -> Values:
        """The ``width`` highest scores of each row, highest first; absent ones are ``absent``."""
        table = np.repeat(absent[:, np.newaxis], width, axis=1)
        for i, (start, stop) in enumerate(
            zip(self.matrix.indptr[:-1], self.matrix.indptr[1:], strict=True)
        ):
            top = np.sort(self.matrix.data[start:stop])[::-1][:width]
            table[i, : top.size] = top
        return table

    @property
    def _rows(self) -> Integers:
        return np.repeat(np.arange(self.shape[0]), np.diff(self.matrix.indptr))

    def _of_rows(self, function: np.ufunc) -> Values:
        values = np.zeros(self.shape[0])
        occupied = np.flatnonzero(np.diff(self.matrix.indptr))
        if occupied.size:
            values[occupied] = function.reduceat(self.matrix.data, self.matrix.indptr[occupied])
        return values

    def _marked(self, kept: Anything) -> sparse.csr_array:
        indptr = np.concatenate([[0], np.cumsum(kept)])[self.matrix.indptr]
        ones = np.ones(indptr[-1], dtype=np.int64)
        return sparse.csr_array((ones, self.matrix.indices[kept], indptr), shape=self.shape)


Scores = DenseScores | StoredScores


def read_scores(y_score: Any) -> Scores:
    """Check scores: dense, or sparse with absent scores that count as -inf."""
    if not sparse.issparse(y_score):
        return DenseScores(check_scores(y_score))
    return StoredScores(check_sparse_scores(y_score).matrix)


def check_pair(
    y_true: Any, y_score: Any, *, sample_weight: Any = None, missing: Any = None
) -> tuple[Pattern, Scores]:
    """Check labels with the scores made for them."""
    truth = check_truth(y_true, sample_weight=sample_weight, missing=missing)
    return truth.Y, join_scores(truth, y_score)


def takes_no_weights(rule: str) -> ValueError:
    """The error of a rule that is fitted with weights, or with missing labels, but cannot be."""
    return ValueError(
        f"{rule} cannot be fitted with sample_weight or missing labels. Leave out instances whose "
        "labels are missing, or use LabelThreshold."
    )


def join_scores(truth: Truth, y_score: Any) -> Scores:
    """Check scores, dense or sparse, and that they belong to these labels."""
    if not sparse.issparse(y_score):
        return DenseScores(truth.join(y_score).scores)
    stored = truth.join(y_score, sparse_scores=True).stored
    assert stored is not None
    return StoredScores(stored.matrix)


def through(view: View, Y: Pattern, scores: Scores) -> tuple[Pattern, Scores]:
    """Labels and scores whose rows are the rows of the view."""
    if view is ROWS:
        return Y, scores
    if view is COLUMNS:
        return Y.T, scores.T
    assert view is ENTRIES
    if scores.by_columns:
        Y, scores = Y.T, scores.T
    return Y.as_one_row(), scores.as_one_row()
