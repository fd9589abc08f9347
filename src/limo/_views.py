"""Three views of one matrix, labels as positions of ones, and confusion counts.

A measure, a margin or a threshold is defined for one row. In the view ``ROWS`` a row is an
instance, in ``COLUMNS`` a label, and in ``ENTRIES`` the whole matrix is a single row. A view also
has the names of its margin, threshold, average and weight. Mappings by view use its name.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from limo._system import Later
from limo._types import Anything, Booleans, Floats, Integers, Values

sparse = Later("scipy.sparse")  # too slow for shell completion, which reads the measures

ThresholdKind = Literal["instance", "label", "global"]


@dataclass(frozen=True, eq=False)
class Pattern:
    """The positions of the ones of a 0/1 matrix, row by row, each row's columns ascending.

    Labels have this form everywhere below the input checks.

    Attributes
    ----------
    indptr, indices : array
        The columns of the ones of row i are ``indices[indptr[i]:indptr[i + 1]]``.
    shape : tuple of int
        Rows and columns.
    unknown : Pattern or None
        The entries whose label is missing, none of them a one; None if every label is known.
    row_weights, column_weights : array or None
        The weight of each row and of each column, all positive or of unknown entries only; None
        if all count once. Labels have row weights: the sample weights.
    """

    indptr: Integers
    indices: Integers
    shape: tuple[int, int]
    unknown: "Pattern | None" = None
    row_weights: Values | None = None
    column_weights: Values | None = None

    @classmethod
    def from_flat(cls, flat: Integers, shape: tuple[int, int]) -> "Pattern":
        """Build from ascending positions in the matrix read row by row."""
        n_rows, n_columns = shape
        indptr = np.searchsorted(flat, np.arange(n_rows + 1, dtype=np.int64) * n_columns)
        return cls(indptr.astype(np.int64), flat % n_columns, shape)

    @classmethod
    def from_csr(cls, matrix: Any) -> "Pattern":
        """Build from a CSR matrix without stored zeros or repeated entries."""
        if not matrix.has_sorted_indices:
            matrix = matrix.sorted_indices()
        indptr, indices = (a.astype(np.int64, copy=False) for a in (matrix.indptr, matrix.indices))
        return cls(indptr, indices, matrix.shape)

    @classmethod
    def stacked(cls, parts: "Sequence[Pattern]") -> "Pattern":
        """Build from blocks of rows; either all have row weights or none."""
        starts = np.cumsum([0, *(part.n_ones for part in parts)])
        ends = [part.indptr[1:] + start for part, start in zip(parts, starts[:-1], strict=True)]
        shape = sum(part.shape[0] for part in parts), parts[0].shape[1]
        whole = cls(
            np.concatenate([np.zeros(1, np.int64), *ends]),
            np.concatenate([part.indices for part in parts]),
            shape,
        )
        if all(part.is_plain for part in parts):
            return whole
        gaps = [part.unknown for part in parts]
        filled = [
            cls(np.zeros(part.shape[0] + 1, np.int64), part.indices[:0], part.shape)
            if gap is None
            else gap
            for part, gap in zip(parts, gaps, strict=True)
        ]
        weights = [part.row_weights for part in parts if part.row_weights is not None]
        return replace(
            whole,
            unknown=None if all(gap is None for gap in gaps) else cls.stacked(filled),
            row_weights=np.concatenate(weights) if weights else None,
        )

    @cached_property
    def csr(self) -> Any:
        """The matrix as a CSR array of int8."""
        ones = np.ones(self.indices.size, dtype=np.int8)
        return sparse.csr_array((ones, self.indices, self.indptr), shape=self.shape)

    @cached_property
    def T(self) -> "Pattern":
        """The transposed matrix."""
        turned = Pattern.from_csr(self.csr.T.tocsr())
        if self.is_plain:
            return turned
        unknown = None if self.unknown is None else self.unknown.T
        return replace(
            turned,
            unknown=unknown,
            row_weights=self.column_weights,
            column_weights=self.row_weights,
        )

    def known_columns(self, S: Floats) -> Iterator[tuple[Booleans, Floats, Values]]:
        """The labels, scores and weights of each column, without missing labels."""
        turned = self.T
        rows = np.arange(self.shape[0])
        weights = np.ones(rows.size) if self.row_weights is None else self.row_weights
        for j in range(self.shape[1]):
            marks = np.zeros(rows.size, dtype=bool)
            marks[turned.row(j)] = True
            kept = rows if turned.unknown is None else np.delete(rows, turned.unknown.row(j))
            yield marks[kept], S[kept, j], weights[kept]

    def row(self, i: int) -> Integers:
        """The columns of the ones of a row."""
        return self.indices[self.indptr[i] : self.indptr[i + 1]]

    @property
    def is_plain(self) -> bool:
        """Whether every label is known and every row and column counts once."""
        return self.unknown is None and not self.has_weights

    @property
    def n_ones(self) -> int:
        """How many ones there are."""
        return self.indices.size

    @property
    def ones_per_row(self) -> Integers:
        """How many ones each row has."""
        return np.diff(self.indptr)

    @property
    def ones_per_column(self) -> Integers:
        """How many ones each column has."""
        return np.bincount(self.indices, minlength=self.shape[1])

    @property
    def flat(self) -> Integers:
        """Positions of the ones in the matrix read row by row."""
        starts = np.arange(self.shape[0], dtype=np.int64) * self.shape[1]
        return np.repeat(starts, self.ones_per_row) + self.indices

    def rows(self, start: int, stop: int) -> "Pattern":
        """Rows ``start`` to ``stop`` as a separate matrix."""
        first, last = self.indptr[start], self.indptr[stop]
        indptr = self.indptr[start : stop + 1] - first
        part = Pattern(indptr, self.indices[first:last], (stop - start, self.shape[1]))
        if self.is_plain:
            return part
        return replace(
            part,
            unknown=None if self.unknown is None else self.unknown.rows(start, stop),
            row_weights=None if self.row_weights is None else self.row_weights[start:stop],
            column_weights=self.column_weights,
        )

    def take(self, rows: Integers) -> "Pattern":
        """The rows at these places as a separate matrix."""
        part = Pattern.from_csr(self.csr[rows])
        if self.is_plain:
            return part
        return replace(
            part,
            unknown=None if self.unknown is None else self.unknown.take(rows),
            row_weights=None if self.row_weights is None else self.row_weights[rows],
            column_weights=self.column_weights,
        )

    def as_one_row(self) -> "Pattern":
        """All entries in one row, whose columns have the weights of the entries."""
        shape = (1, self.shape[0] * self.shape[1])
        unknown = None if self.unknown is None else self.unknown.as_one_row()
        ends = np.array([0, self.n_ones])
        weights = self.weights_at(np.arange(shape[1])) if self.has_weights else None
        return Pattern(ends, self.flat, shape, unknown, column_weights=weights)

    @property
    def has_weights(self) -> bool:
        """Whether not all rows and columns count once."""
        return self.row_weights is not None or self.column_weights is not None

    def weights_at(self, places: Integers) -> Values:
        """The weights of entries, given by their positions in the matrix read row by row."""
        weights = np.ones(places.size)
        if self.row_weights is not None:
            weights = self.row_weights[places // self.shape[1]]
        if self.column_weights is not None:
            weights = weights * self.column_weights[places % self.shape[1]]
        return weights

    @property
    def absent(self) -> Integers:
        """Positions in the flat matrix that are not irrelevant items: the ones and the unknown."""
        if self.unknown is None:
            return self.flat
        return self.union(self.unknown).flat

    @cached_property
    def ones_and_unknown(self) -> "tuple[Pattern, Booleans]":
        """The ones and the unknown entries, and which of them are ones; empty if all are."""
        if self.unknown is None:
            return self, np.empty(0, dtype=bool)
        both = self.union(self.unknown)
        return both, np.isin(both.flat, self.flat, assume_unique=True)

    def overlap(self, other: "Pattern") -> "Pattern":
        """The ones both matrices share."""
        shared = self.csr.multiply(other.csr).tocsr()
        shared.eliminate_zeros()
        return Pattern.from_csr(shared)

    def union(self, other: "Pattern") -> "Pattern":
        """The ones of either matrix."""
        return Pattern.from_flat(np.union1d(self.flat, other.flat), self.shape)

    def without(self, other: "Pattern | None") -> "Pattern":
        """The ones of this matrix that are no ones of the other."""
        if other is None:
            return self
        rest = np.setdiff1d(self.flat, other.flat, assume_unique=True)
        return Pattern.from_flat(rest, self.shape)


@dataclass(frozen=True, eq=False)
class Items:
    """How many items the rows of a view have, and what the rows weigh.

    Attributes
    ----------
    ones : array of shape (n_rows,)
        How many ones each row has, or how much they weigh.
    n_items : int or array of shape (n_rows,)
        How many known items each row has, or how much they weigh.
    weights : array of shape (n_rows,) or None
        The weight of each row in a mean over rows; None if all count once.
    """

    ones: Anything
    n_items: Any
    weights: Values | None


@dataclass(frozen=True)
class View:
    """One way to read the m x l matrices of labels and scores, with the words that belong to it.

    Attributes
    ----------
    name : str
        ``"rows"``, ``"columns"`` or ``"entries"``.
    margin : str
        The name of this view's margin.
    threshold : str
        The kind of threshold that cuts its rows: per instance, per label, or global.
    average : str
        The name of the average over its rows, as in macro-F1.
    weight : str
        The parameter of ``LIMOClassifier`` that weights this view's margin.
    row, item : str
        What a row of the view is, and what an item of such a row is.
    relevant : str
        What an item marked 1 is called.
    """

    name: str
    margin: str
    threshold: ThresholdKind
    average: str
    weight: str
    row: str
    item: str
    relevant: str

    def __reduce__(self) -> tuple[object, ...]:
        # views are compared with "is", also after they were sent to another process
        return _view_of, (self.name,)

    def ones(self, pattern: Pattern, weights: Values | None = None) -> Anything:
        """How many ones each row of this view has, or how much they weigh.

        ``weights`` are those of the instances, by default the pattern's own row weights.
        """
        if self.name == "rows":
            return pattern.ones_per_row
        weights = pattern.row_weights if weights is None else weights
        if weights is None:
            whole = self.name == "entries"
            return np.array([pattern.n_ones]) if whole else pattern.ones_per_column
        cells = np.repeat(weights, pattern.ones_per_row)
        columns = np.bincount(pattern.indices, cells, minlength=pattern.shape[1])
        return columns if self.name == "columns" else np.array([columns.sum()])

    def n_items(self, pattern: Pattern) -> Any:
        """How many known items each row of this view has, or how much they weigh.

        One number if it is the same for all rows. It equals :meth:`ones` exactly where every known
        item is a one, however weights are rounded.
        """
        n_rows, n_columns = pattern.shape
        weights, unknown = pattern.row_weights, pattern.unknown
        if self.name == "rows":
            return n_columns if unknown is None else n_columns - unknown.ones_per_row
        plain: Any = {"columns": n_rows}.get(self.name, n_rows * n_columns)
        if weights is None and unknown is None:
            return plain
        size = float(weights.sum()) if weights is not None else n_rows
        total = np.full(self.n_rows(pattern.shape), size * (plain // n_rows))
        n_known = np.full(total.shape, plain)
        if unknown is not None:
            total = total - self.ones(unknown, weights)
            n_known = n_known - self.ones(unknown)
        full = n_known == self.ones(Pattern(pattern.indptr, pattern.indices, pattern.shape))
        return np.where(full, self.ones(pattern), total)

    def row_weights(self, pattern: Pattern) -> Values | None:
        """The weight of each row in a mean over rows; None if all count once.

        A row counts nothing if it has no known label.
        """
        own = pattern.row_weights if self.name == "rows" else None
        if own is None and pattern.unknown is None:
            return None
        known = np.broadcast_to(self.n_items(pattern), self.n_rows(pattern.shape)) > 0
        return known.astype(np.float64) if own is None else own * known

    def items(self, pattern: Pattern) -> Items:
        """How many items the rows of this view have, and what the rows weigh."""
        return Items(self.ones(pattern), self.n_items(pattern), self.row_weights(pattern))

    def n_rows(self, shape: tuple[int, int]) -> int:
        """How many rows this view of a matrix has."""
        return {"rows": shape[0], "columns": shape[1]}.get(self.name, 1)

    @property
    def axis(self) -> int | None:
        """The axis of a matrix to sum over for one value per row; None for the whole matrix."""
        return {"rows": 1, "columns": 0}.get(self.name)

    @property
    def empty_reason(self) -> str:
        """Why a row without ones has no pairs."""
        return f"no {self.relevant} {self.item}"

    @property
    def full_reason(self) -> str:
        """Why a row of ones only has no pairs."""
        return f"every {self.item} {self.relevant}"


# fmt: off
ROWS = View(
    "rows", margin="label-wise", threshold="instance", average="instance", weight="label_weight",
    row="instance", item="label", relevant="relevant",
)
COLUMNS = View(
    "columns", margin="instance-wise", threshold="label", average="macro", weight="instance_weight",
    row="label", item="instance", relevant="positive",
)
ENTRIES = View(
    "entries", margin="entry-wise", threshold="global", average="micro", weight="entry_weight",
    row="matrix", item="entry", relevant="relevant",
)
# fmt: on

VIEWS = {view.name: view for view in (ROWS, COLUMNS, ENTRIES)}


def _view_of(name: str) -> View:
    return VIEWS[name]


THRESHOLDS: dict[str, View] = {view.threshold: view for view in VIEWS.values()}
"""Views by the kind of threshold that cuts them: "instance", "label" and "global"."""
AVERAGES = {view.average: view for view in VIEWS.values()}
"""Views by the average over their rows: "instance", "macro" and "micro"."""


@dataclass(frozen=True, eq=False)
class Counts:
    """The confusion matrix of each row: all that a measure of labels needs.

    Attributes
    ----------
    both : array of shape (n_rows,)
        How many items are true and predicted.
    true, predicted : array of shape (n_rows,)
        How many items are true, and how many are predicted.
    n_items : int or array
        How many items a row has.

    Only known labels are counted. With sample weights, items count with their weights.

    Examples
    --------
    >>> import limo, numpy as np
    >>> def exact(counts, conventions):
    ...     return np.float64((counts.both == counts.true) & (counts.both == counts.predicted))
    >>> measure = limo.measures.Measure(
    ...     "exact", "exact", exact, limo.measures.ROWS, "labels", "high",
    ...     meaning="Share of instances without an error.", formula="1 if no label is wrong",
    ... )
    >>> limo.evaluate([[1, 0], [0, 1]], y_pred=[[1, 0], [1, 1]], measures=[measure])["exact"]
    0.5
    """

    both: Anything
    true: Anything
    predicted: Anything
    n_items: Any

    @property
    def wrong(self) -> Anything:
        """How many items are predicted but not true, or true but not predicted."""
        wrong: Anything = self.true + self.predicted - 2 * self.both
        return wrong

    @property
    def perfect(self) -> "Counts":
        """The counts of a prediction without error."""
        return Counts(self.true, self.true, self.true, self.n_items)


def count(Y: Pattern, P: Pattern, views: Iterable[View]) -> dict[str, Counts]:
    """Count true labels ``Y`` and predicted labels ``P`` in each view, by the name of the view."""
    P = P.without(Y.unknown)
    both = Y.overlap(P)
    weights = Y.row_weights
    return {
        view.name: Counts(
            view.ones(both, weights), view.ones(Y), view.ones(P, weights), view.n_items(Y)
        )
        for view in views
    }
