"""Scores as the rules see them: a dense matrix, or a sparse one whose absent scores are -inf.

Both kinds can be ranked (the scores of each row's relevant and irrelevant items, sorted) and cut.
An absent score is above no threshold, so sparse scores give sparse labels and are never spread out.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from limo._checks import check_inputs, check_labels, check_scores
from limo._kernels.profiles import take_relevant
from limo._kernels.thresholds import part_stored
from limo._profiles import copy_rows, row_blocks
from limo._types import Anything, Floats, Integers, Values
from limo._views import COLUMNS, ENTRIES, ROWS, Pattern, View

__all__ = [
    "DenseScores",
    "Ranked",
    "Scores",
    "StoredScores",
    "check_pair",
    "read_scores",
    "through",
]


Segments = tuple[Floats, Integers, Integers]


@dataclass(frozen=True, eq=False)
class Ranked:
    """Sorted scores of a block of rows: (scores, start of each row, stop of each row), twice.

    Attributes
    ----------
    relevant, irrelevant : tuple of arrays
        Relevant scores descend within a row, irrelevant ones ascend.
    n_true : array of shape (n_rows,)
        How many relevant items each row has, with those whose score is absent.
    n_items : int
        How many items a row has.
    """

    relevant: Segments
    irrelevant: Segments
    n_true: Integers
    n_items: int


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
        """Whether the items of a column, not of a row, lie side by side in memory."""
        return self.S.flags.f_contiguous and not self.S.flags.c_contiguous

    def as_one_row(self) -> "DenseScores":
        """All items in one row."""
        return DenseScores(self.S.reshape(1, -1))

    def blocks(self) -> list[tuple[int, int]]:
        """Start and stop of the blocks of rows to be worked on in one go."""
        return row_blocks(*self.shape, scattered=self.by_columns)

    def ranked(self, Y: Pattern, start: int, stop: int) -> Ranked:
        """Sort the rows from ``start`` to ``stop``."""
        Y = Y.rows(start, stop)
        block = copy_rows(self.S, start, stop)  # ours to spoil
        relevant = np.empty(Y.n_ones, dtype=self.S.dtype)
        take_relevant(block, Y.indptr, Y.indices, relevant)
        block.sort(axis=1)
        ends = np.arange(stop - start + 1, dtype=np.int64) * block.shape[1]
        return Ranked(
            (relevant, Y.indptr[:-1], Y.indptr[1:]),
            (block.reshape(-1), ends[:-1] + Y.ones_per_row, ends[1:]),
            Y.ones_per_row,
            block.shape[1],
        )

    def cut(self, t: Values) -> Anything:
        """Labels: 1 where the score is higher than ``t``, a number or an array that fits."""
        return np.greater(self.S, np.asarray(t, dtype=np.float64)).astype(np.int64)

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
class StoredScores:
    """Scores of some items only, all others being -inf: a CSR matrix with ascending columns."""

    matrix: sparse.csr_array

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and items of a row."""
        return self.matrix.shape[0], self.matrix.shape[1]

    @property
    def T(self) -> "StoredScores":
        """The same scores with rows and columns exchanged."""
        return StoredScores(_canonical(self.matrix.T.tocsr()))

    by_columns = False

    def as_one_row(self) -> "StoredScores":
        """All items in one row."""
        starts = np.arange(self.shape[0], dtype=np.int64) * self.shape[1]
        places = np.repeat(starts, np.diff(self.matrix.indptr)) + self.matrix.indices
        ends = np.array([0, places.size])
        shape = (1, self.shape[0] * self.shape[1])
        return StoredScores(sparse.csr_array((self.matrix.data, places, ends), shape=shape))

    def blocks(self) -> list[tuple[int, int]]:
        """Start and stop of the blocks of rows to be worked on in one go."""
        n_rows, n_stored = self.shape[0], self.matrix.nnz
        return row_blocks(n_rows, 1 + n_stored // n_rows, scattered=False)

    def ranked(self, Y: Pattern, start: int, stop: int) -> Ranked:
        """Sort the stored scores of the rows from ``start`` to ``stop``."""
        Y = Y.rows(start, stop)
        first, last = self.matrix.indptr[[start, stop]]
        indptr = (self.matrix.indptr[start : stop + 1] - first).astype(np.int64)
        indices = self.matrix.indices[first:last].astype(np.int64, copy=False)
        data = self.matrix.data[first:last]
        parted, middle = np.empty_like(data), np.empty(stop - start, dtype=np.int64)
        part_stored(indptr, indices, data, Y.indptr, Y.indices, parted, middle)
        return Ranked(
            (parted, indptr[:-1], middle),
            (parted, middle, indptr[1:]),
            Y.ones_per_row,
            self.shape[1],
        )

    def cut(self, t: Values) -> sparse.csr_array:
        """Labels: 1 where the score is higher than ``t``, a number or an array that fits."""
        cells = np.broadcast_to(np.asarray(t, dtype=np.float64), self.shape)
        return self._marked(self.matrix.data > cells[self._rows, self.matrix.indices])

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
        """The ``width`` highest scores of each row, highest first; absent ones count ``absent``."""
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
    """Let scores in: dense, or sparse with the meaning that absent ones are -inf."""
    if not sparse.issparse(y_score):
        return DenseScores(check_scores(y_score))
    if y_score.ndim != 2 or 0 in y_score.shape:
        raise ValueError(
            "y_score must have two non-empty dimensions, instances x labels, "
            f"got shape {y_score.shape}."
        )
    matrix = _canonical(sparse.csr_array(y_score))
    if not np.isfinite(matrix.data).all():
        k = int(np.flatnonzero(~np.isfinite(matrix.data))[0])
        i = int(np.searchsorted(matrix.indptr, k, side="right")) - 1
        raise ValueError(
            f"y_score must hold finite numbers: found {matrix.data[k]} at row {i}, column "
            f"{matrix.indices[k]}. Leave such an entry out: an absent score is above no threshold."
        )
    return StoredScores(matrix)


def check_pair(y_true: Any, y_score: Any) -> tuple[Pattern, Scores]:
    """Let labels in with the scores made for them."""
    if not sparse.issparse(y_score):
        checked = check_inputs(y_true, y_score)
        assert checked.S is not None
        return checked.Y, DenseScores(checked.S)
    Y, scores = check_labels(y_true, "y_true"), read_scores(y_score)
    if scores.shape != Y.shape:
        raise ValueError(
            f"y_score must have the shape of y_true: expected {Y.shape}, got {scores.shape}. "
            "Rows are instances and columns are labels, in both."
        )
    return Y, scores


def through(view: View, Y: Pattern, scores: Scores) -> tuple[Pattern, Scores]:
    """Labels and scores whose rows are the rows of the view."""
    if view is ROWS:
        return Y, scores
    if view is COLUMNS:
        return Y.T, scores.T
    assert view is ENTRIES
    if scores.by_columns:
        Y, scores = Y.T, scores.T
    ends = np.array([0, Y.n_ones])
    return Pattern(ends, Y.flat, (1, Y.shape[0] * Y.shape[1])), scores.as_one_row()


def _canonical(matrix: sparse.csr_array) -> sparse.csr_array:
    """Columns ascending within each row, floating numbers, no entry twice."""
    if matrix.data.dtype not in (np.float32, np.float64):
        matrix = matrix.astype(np.float64)
    if not matrix.has_sorted_indices:
        matrix = matrix.sorted_indices()
    if not matrix.has_canonical_format:
        raise ValueError(
            "y_score gives some entries twice. Keep one score for each, or add them up with "
            "sum_duplicates()."
        )
    return matrix
