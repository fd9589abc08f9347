"""Three views of one matrix, labels as positions of ones, and confusion counts.

A measure, a margin or a threshold is defined for one row. In the view ``ROWS`` a row is an
instance, in ``COLUMNS`` a label, and in ``ENTRIES`` the whole matrix is a single row. A view also
has the names of its margin, threshold, average and weight. Mappings by view use its name.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from limo._system import Later
from limo._types import Anything, Integers

sparse = Later("scipy.sparse")  # too slow for shell completion, which reads the measures

ThresholdKind = Literal["instance", "label", "global"]


@dataclass(frozen=True, eq=False)
class Pattern:
    """The positions of the ones of a 0/1 matrix, row by row, each row's columns ascending.

    Labels have this form everywhere below the input checks.
    """

    indptr: Integers
    indices: Integers
    shape: tuple[int, int]

    @classmethod
    def from_flat(cls, flat: Integers, shape: tuple[int, int]) -> "Pattern":
        """Build from ascending positions in the matrix read row by row."""
        n_rows, n_columns = shape
        indptr = np.searchsorted(flat, np.arange(n_rows + 1, dtype=np.int64) * n_columns)
        return cls(indptr.astype(np.int64), flat % n_columns, shape)

    @classmethod
    def from_csr(cls, matrix: Any) -> "Pattern":
        """Build from a canonical CSR matrix without stored zeros."""
        indptr, indices = (a.astype(np.int64, copy=False) for a in (matrix.indptr, matrix.indices))
        return cls(indptr, indices, matrix.shape)

    @cached_property
    def csr(self) -> Any:
        """The matrix as a CSR array of int8."""
        ones = np.ones(self.indices.size, dtype=np.int8)
        return sparse.csr_array((ones, self.indices, self.indptr), shape=self.shape)

    @cached_property
    def T(self) -> "Pattern":
        """The transposed matrix."""
        return Pattern.from_csr(self.csr.T.tocsr())

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
        return Pattern(indptr, self.indices[first:last], (stop - start, self.shape[1]))

    def overlap(self, other: "Pattern") -> "Pattern":
        """The ones both matrices share."""
        shared = self.csr.multiply(other.csr).tocsr()
        shared.eliminate_zeros()
        return Pattern.from_csr(shared)


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

    def ones(self, pattern: Pattern) -> Integers:
        """How many ones each row of this view has."""
        if self.name == "rows":
            return pattern.ones_per_row
        if self.name == "columns":
            return pattern.ones_per_column
        return np.array([pattern.n_ones])

    def n_items(self, pattern: Pattern) -> int:
        """How many items a row of this view has."""
        n_rows, n_columns = pattern.shape
        return {"rows": n_columns, "columns": n_rows}.get(self.name, n_rows * n_columns)

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
    both = Y.overlap(P)
    return {
        view.name: Counts(view.ones(both), view.ones(Y), view.ones(P), view.n_items(Y))
        for view in views
    }
