"""The record of a data set, and the matrices of features and labels it consists of.

Every reader, writer and splitter uses it; nothing here reads a file.
"""

import itertools
import reprlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from limo._sparse import check_sparse
from limo._text import repeated
from limo._types import Integers
from limo.datasets._options import DataError


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Features ``X`` and labels ``Y`` of the same instances, with their names.

    Attributes
    ----------
    X : array or CSR array of shape (n_samples, n_features)
        The features.
    Y : array or CSR array of shape (n_samples, n_labels)
        The labels, 0 or 1, and nan where a label is missing.
    feature_names, label_names : sequence of str
        A name for each column of ``X`` and of ``Y``: a tuple, or numbered names.
    source : str
        Where the data come from.
    checksum : str
        The sha256 of the (unpacked) file they were read from, empty if there is none.

    Examples
    --------
    >>> import limo
    >>> data = limo.datasets.figure1(100)
    >>> data
    Dataset(100 instances, 2 features, 4 labels, from figure1)
    >>> data.take([0, 2, 4]).Y.shape
    (3, 4)
    """

    X: Any
    Y: Any
    feature_names: Sequence[str]
    label_names: Sequence[str]
    source: str = ""
    checksum: str = ""

    def __post_init__(self) -> None:
        for letter in ("X", "Y"):
            object.__setattr__(self, letter, _matrix(getattr(self, letter), letter))
        for kind in ("feature_names", "label_names"):
            object.__setattr__(self, kind, names_of(getattr(self, kind), kind))
        expected = (self.X.shape[0], len(self.label_names))
        if self.Y.shape != expected:
            raise ValueError(
                f"Y must have a row for each row of X and a column for each label name: "
                f"expected {expected}, got {self.Y.shape}"
            )
        if self.X.shape[1] != len(self.feature_names):
            raise ValueError(
                f"feature_names must name the columns of X: "
                f"expected {self.X.shape[1]} names, got {len(self.feature_names)}"
            )
        check_binary(self.Y, gaps=True)

    def __repr__(self) -> str:
        counts = (*self.X.shape, len(self.label_names))
        nouns = ("instance", "feature", "label")
        parts = [f"{n} {noun}{'s' * (n != 1)}" for n, noun in zip(counts, nouns, strict=True)]
        return f"Dataset({', '.join(parts + [f'from {self.source}'] * bool(self.source))})"

    def take(self, rows: Any) -> "Dataset":
        """The same data with only these ``rows``, in this order; the checksum is left empty."""
        places = _row_places(rows, self.Y.shape[0])
        return replace(self, X=self.X[places], Y=self.Y[places], checksum="")

    def stack(self, other: "Dataset") -> "Dataset":
        """These instances, then the ``other`` ones; both must have the same columns."""
        check_dataset(other)
        for names in ("feature_names", "label_names"):
            if getattr(self, names) != getattr(other, names):
                raise ValueError(
                    f"the {names} of the two data sets differ; read both with the same options"
                )
        X, Y = _stack(self.X, other.X), _stack(self.Y, other.Y)
        return replace(self, X=X, Y=Y, source=f"{self.source} + {other.source}", checksum="")

    def to_dense(self) -> "Dataset":
        """The same data with ``X`` and ``Y`` as NumPy arrays."""
        return replace(self, X=_dense(self.X), Y=_dense(self.Y))

    def to_sparse(self) -> "Dataset":
        """The same data with ``X`` and ``Y`` as CSR arrays."""
        return replace(self, X=sparse.csr_array(self.X), Y=sparse.csr_array(self.Y))


def _row_places(rows: Any, n_rows: int) -> Integers:
    """Numbers of rows, from numbers or from a mask."""
    try:
        places = np.asarray(rows)
    except ValueError:  # lists of different lengths
        places = np.empty((0, 0))
    if places.ndim == 1 and not places.size:
        return np.empty(0, np.int64)
    if places.ndim == 1 and places.dtype.kind == "b" and places.size == n_rows:
        return np.flatnonzero(places)
    whole = places.ndim == 1 and places.dtype.kind in "iu"
    if whole and -n_rows <= places.min() and places.max() < n_rows:
        return places.astype(np.int64)
    raise ValueError(
        f"rows must be numbers of rows, below {n_rows}, or a mask of {n_rows} entries, "
        f"got {reprlib.repr(rows)}."
    )


def check_dataset(data: Any) -> None:
    """Raise unless this is a data set, and not, say, the name of one."""
    if not isinstance(data, Dataset):
        raise ValueError(
            f"expected a limo.Dataset, as limo.read returns it, got {type(data).__name__}"
        )


def _matrix(A: Any, name: str) -> Any:
    """A sparse matrix or an array of numbers with two dimensions; lists and frames become one."""
    check_sparse(A, name)
    if sparse.issparse(A) or isinstance(A, np.ndarray):
        matrix = A
    else:
        try:
            matrix = A.to_numpy() if hasattr(A, "to_numpy") else np.asarray(A)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{name} must be a table of numbers: {error}") from None
    if matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
        raise ValueError(
            f"{name} must be a table of numbers with one row per instance, got shape "
            f"{matrix.shape} of type {matrix.dtype}"
        )
    return matrix


@dataclass(frozen=True, eq=False, repr=False)
class NumberedNames(Sequence[str]):
    """The names x0, x1, ..., made when they are asked for.

    A few bytes of a file can announce millions of columns, whose names would take gigabytes.
    Such names are equal to a tuple of the same names.

    >>> names = NumberedNames("x", 10_000_000)
    >>> names[-1], names[:2], len(names)
    ('x9999999', ('x0', 'x1'), 10000000)
    >>> NumberedNames("x", 2) == ("x0", "x1")
    True
    """

    prefix: str
    size: int

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, place: Any) -> Any:
        chosen = range(self.size)[place]
        return f"{self.prefix}{chosen}" if isinstance(chosen, int) else tuple(self._named(chosen))

    def __iter__(self) -> Iterator[str]:
        return self._named(range(self.size))

    def _named(self, numbers: range) -> Iterator[str]:
        return (f"{self.prefix}{number}" for number in numbers)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, NumberedNames):
            return (self.prefix, self.size) == (other.prefix, other.size)
        if not isinstance(other, tuple):
            return NotImplemented
        return self.size == len(other) and all(map(str.__eq__, self, other))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self)) if self.size < 10 else f"({self[0]!r}, ..., {self[-1]!r})"


def names_of(given: Any, kind: str) -> Sequence[str]:
    """A list of names as texts; numbered names stay as they are."""
    if isinstance(given, NumberedNames):
        return given
    if isinstance(given, tuple) and all(isinstance(name, str) for name in given):
        return given
    try:
        names = () if isinstance(given, str | bytes | Mapping) else tuple(given)
    except TypeError:
        names = ()
    if not names and not isinstance(given, list | tuple):
        raise ValueError(f"{kind} must be a list of names, got {given!r}")
    return tuple(map(str, names))


def _stack(A: Any, B: Any) -> Any:
    if sparse.issparse(A) or sparse.issparse(B):
        return sparse.vstack([A, B], format="csr")
    return np.vstack([A, B])


def _dense(A: Any) -> Any:
    return A.toarray() if sparse.issparse(A) else np.asarray(A)


# Matrices: labels that must be 0 or 1, and CSR matrices built and compared.


def with_gaps(Y: Any, missing_labels: float | None) -> Any:
    """The same labels with nan in place of ``missing_labels``; as they are if that is None or nan.

    Floats if there is any, else what they were.
    """
    if missing_labels is None or missing_labels != missing_labels:
        return Y
    gone = (Y.data if sparse.issparse(Y) else Y) == missing_labels
    if not np.any(gone):
        return Y
    Y = Y.astype(np.float64)
    if sparse.issparse(Y):
        Y.data[gone] = np.nan
    else:
        Y[gone] = np.nan
    return Y


def as_labels(Y: Any) -> Any:
    """Integers, unless some labels are missing."""
    values = Y.data if sparse.issparse(Y) else Y
    gaps = values.dtype.kind == "f" and np.isnan(values).any()
    return Y.astype(np.float64 if gaps else np.int64)


def find_non_binary(Y: Any, *, gaps: bool = False) -> tuple[int, int, float] | None:
    """Row, column and value of the first entry of ``Y`` that is neither 0 nor 1; None if all are.

    With ``gaps``, nan is allowed, too. For matrices from files, whose errors name a file;
    ``limo._checks`` checks those of callers.
    """
    Y = sparse.csr_array(Y) if sparse.issparse(Y) else np.asarray(Y)
    values = Y.data if sparse.issparse(Y) else Y
    odd = (values != 0) & (values != 1)
    wrong = np.flatnonzero(odd & ~np.isnan(values) if gaps else odd)
    if not len(wrong):
        return None
    if sparse.issparse(Y):
        row = int(np.searchsorted(Y.indptr, wrong[0], side="right")) - 1
        column = int(Y.indices[wrong[0]])
    else:
        row, column = divmod(int(wrong[0]), values.shape[1])
    return row, column, values.ravel()[wrong[0]]


def check_binary(Y: Any, path: str = "", *, gaps: bool = False) -> None:
    """Raise unless the label matrix ``Y`` holds only 0 and 1 and, with ``gaps``, nan."""
    if (place := find_non_binary(Y, gaps=gaps)) is not None:
        row, column, value = place
        raise DataError(
            f"Y must hold only 0 and 1{', or nan' * gaps}, got {value:g} in row {row}, "
            f"column {column} (from 0)",
            path=path,
        )


def check_different(names: Sequence[str], what: str, path: str = "") -> None:
    """Raise if a name occurs twice: nothing could be chosen by it."""
    if not isinstance(names, NumberedNames) and (twice := repeated(names)) is not None:
        raise DataError(f"expected different {what}, got {twice!r} twice", path=path)


_INT32 = np.iinfo(np.int32).max


def csr(data: Any, indices: Any, indptr: Any, shape: tuple[int, int]) -> Any:
    """A CSR array with 32-bit indices where they suffice, as many solvers accept no others."""
    small = len(data) <= _INT32 and shape[1] <= _INT32
    kind = np.int32 if small else np.int64
    return sparse.csr_array((data, indices.astype(kind), indptr.astype(kind)), shape=shape)


def without_repeats(matrix: Any, clash: Callable[[int, int], Exception]) -> Any:
    """Sort the indices of each row and keep a repeated cell once.

    Two different values for one cell raise ``clash(row, column)``. Sparse matrices would add
    them up, which gives a value that is not in the file.
    """
    matrix.sort_indices()
    if matrix.has_canonical_format:
        return matrix
    data, indices = matrix.data, matrix.indices
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    repeated = (indices[1:] == indices[:-1]) & (rows[1:] == rows[:-1])
    equal = (data[1:] == data[:-1]) | (np.isnan(data[1:]) & np.isnan(data[:-1]))
    different = np.flatnonzero(repeated & ~equal)
    if len(different):
        raise clash(int(rows[different[0]]), int(indices[different[0]]))
    first = np.concatenate([[True], ~repeated])
    lengths = np.bincount(rows[first], minlength=matrix.shape[0])
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    return csr(data[first], indices[first], indptr, matrix.shape)


def row_keys(A: Any) -> list[bytes]:
    """A key for each row: two keys are equal exactly when the rows are, dense or sparse."""
    A = sparse.csr_array(A, dtype=np.float64, copy=True)
    A.sum_duplicates()
    A.eliminate_zeros()
    indices, spans = A.indices.astype(np.int64), itertools.pairwise(A.indptr.tolist())
    return [indices[a:b].tobytes() + A.data[a:b].tobytes() for a, b in spans]
