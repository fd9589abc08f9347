"""Checks of input: every public function checks and converts its input here, and nowhere else.

Once checked, labels are a :class:`~limo._views.Pattern` and scores a finite two-dimensional float
array of the same shape. Each error says what was expected, what was given, and what to do.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import sparse

from limo._text import did_you_mean
from limo._types import Anything, Floats
from limo._views import Pattern

Names = tuple[str, ...] | None

# Cells checked at once, so that no check allocates a second whole matrix.
_CHUNK = 1 << 20
_LARGEST_EXACT_INTEGER = 2**53


@dataclass(frozen=True, eq=False)
class Checked:
    """Labels with the scores and predictions made for them, all checked."""

    Y: Pattern
    S: Floats | None
    P: Pattern | None
    label_names: Names

    @property
    def scores(self) -> Floats:
        """The scores, where they are needed."""
        if self.S is None:
            raise _is_none("y_score", "a score")
        return self.S

    @property
    def labels(self) -> Pattern:
        """The predicted labels, where they are needed."""
        if self.P is None:
            raise _is_none("y_pred", "a predicted label, 0 or 1,")
        return self.P


@dataclass(frozen=True, eq=False)
class Truth:
    """Checked true labels, to which the scores and predictions of several models can be joined."""

    Y: Pattern
    frame: "_Frame"
    label_names: Names

    def join(self, y_score: Any = None, y_pred: Any = None) -> Checked:
        """Check scores and predictions, and that they belong to these labels."""
        given = {"y_score": y_score, "y_pred": y_pred}
        frames = {name: _Frame(name, value) for name, value in given.items() if value is not None}
        S = check_scores(frames["y_score"].values) if "y_score" in frames else None
        P = check_labels(frames["y_pred"].values, "y_pred") if "y_pred" in frames else None
        for name, other in (("y_score", S), ("y_pred", P)):
            if other is not None and other.shape != self.Y.shape:
                raise ValueError(
                    f"{name} must have the shape of y_true: expected {self.Y.shape}, got "
                    f"{other.shape}. Rows are instances and columns are labels, in both."
                )
        for frame in frames.values():
            self.frame.must_match(frame)
        names = self.label_names or _first_names([self.frame, *frames.values()])
        return Checked(self.Y, S, P, names)


def check_truth(y_true: Any, label_names: Iterable[str] | None = None) -> Truth:
    """Check true labels once, for the scores and predictions of any number of models."""
    frame = _Frame("y_true", y_true)
    Y = check_labels(frame.values, "y_true")
    names = None if label_names is None else tuple(map(str, label_names))
    if names is not None and len(names) != Y.shape[1]:
        raise ValueError(
            f"label_names must name every label: expected {Y.shape[1]} names, got {len(names)}."
        )
    return Truth(Y, frame, names)


def check_inputs(
    y_true: Any, y_score: Any = None, y_pred: Any = None, label_names: Iterable[str] | None = None
) -> Checked:
    """Check labels with the scores or predictions made for them, and that they belong together."""
    return check_truth(y_true, label_names).join(y_score, y_pred)


def check_labels(y: Any, name: str) -> Pattern:
    """Check two-dimensional labels, 0 or 1, dense or sparse; return the positions of the ones."""
    y = _Frame(name, y).values
    if sparse.issparse(y):
        return _sparse_labels(y, name)
    y = _matrix(y, name)
    n_columns = y.shape[1]
    flat = []
    for start, rows in _chunks(y):
        marked = np.flatnonzero(rows != 0)
        bad = marked[~(rows.reshape(-1)[marked] == 1)]
        if bad.size:
            i, j = divmod(int(bad[0]), n_columns)
            raise ValueError(_not_a_label(name, rows[i, j], start + i, j))
        flat.append(marked + start * n_columns)
    return Pattern.from_flat(np.concatenate(flat), y.shape)


def check_scores(y: Any, name: str = "y_score") -> Floats:
    """Check two-dimensional finite scores; float32 and float64 are not converted."""
    y = _Frame(name, y).values
    if sparse.issparse(y):
        raise ValueError(
            f"{name} must be a dense array of scores, got a sparse {y.format} matrix. "
            "If these are predicted labels, pass them as y_pred; if absent scores mean 0, "
            "pass toarray()."
        )
    y = _matrix(y, name)
    if y.dtype.kind in "biu":
        y = _integer_scores(y, name)
    elif y.dtype not in (np.float32, np.float64):
        y = y.astype(np.float32 if y.dtype == np.float16 else np.float64)
    for start, rows in _chunks(y):
        if not np.isfinite(rows).all():
            i, j = np.argwhere(~np.isfinite(rows))[0]
            raise ValueError(
                f"{name} must hold finite numbers: found {rows[i, j]} at row {start + i}, "
                f"column {j}. Give such entries a number (the lowest score if they mean 'never') "
                "or leave the instance out."
            )
    contiguous = y.flags.c_contiguous or y.flags.f_contiguous
    return y if contiguous else np.ascontiguousarray(y)


def check_sparse(A: Any, name: str) -> None:
    """Reject a sparse matrix whose parts do not fit together; compiled loops would crash on it.

    Dense input passes. Every index is compared with the shape, which costs less than one copy.
    """
    if not sparse.issparse(A):
        return
    if A.format in ("csr", "csc", "bsr"):
        problem = _compressed_problem(A)
    elif A.format == "coo" and A.ndim == 2:
        problem = next(filter(None, map(_index_problem, A.coords, A.shape)), "")
    else:
        problem = ""
    if problem:
        raise ValueError(
            f"{name} is a malformed {A.format} matrix of shape {A.shape}: {problem}. Indices count "
            "from 0; labels that count from 1 need one subtracted."
        )


def _compressed_problem(A: Any) -> str:
    """What is wrong with a CSR, CSC or BSR matrix; empty if nothing is."""
    indptr, block = np.asarray(A.indptr), A.blocksize if A.format == "bsr" else (1, 1)
    n_lines, width = (size // side for size, side in zip(A.shape, block, strict=True))
    if A.format == "csc":
        n_lines, width = width, n_lines
    if indptr.ndim != 1 or indptr.dtype.kind not in "iu" or len(indptr) != n_lines + 1:
        return f"indptr must hold {n_lines + 1} integers"
    if indptr[0] != 0 or (indptr[1:] < indptr[:-1]).any():
        return "indptr must start at 0 and never fall"
    if not len(A.indices) == len(A.data) >= indptr[-1]:
        return (
            f"indptr counts {indptr[-1]} entries, but there are {len(A.indices)} indices and "
            f"{len(A.data)} values"
        )
    return _index_problem(np.asarray(A.indices)[: indptr[-1]], width)


def _index_problem(indices: Any, width: int) -> str:
    if indices.ndim != 1 or indices.dtype.kind not in "iu":
        return f"its indices must be one list of integers, got {indices.dtype}"
    if indices.size and not 0 <= indices.min() <= indices.max() < width:
        wrong = indices[(indices < 0) | (indices >= width)][0]
        return f"expected indices from 0 to {width - 1}, got {wrong}"
    return ""


def check_name(name: Any, known: Iterable[str], what: str) -> str:
    """Return the name if it is known; otherwise raise an error that suggests the nearest one."""
    known = list(known)
    if isinstance(name, str) and name in known:
        return name
    hint = did_you_mean(str(name), known)
    raise ValueError(f"Unknown {what} {name!r}.{hint} Choose from: {', '.join(known)}.")


def check_number(
    value: Any,
    name: str,
    *,
    above: float | None = None,
    least: float = -math.inf,
    most: float = math.inf,
    integer: bool = False,
) -> Any:
    """Return the value if it is a finite number within its bounds; otherwise raise an error."""
    kind: Any = Integral if integer else Real
    if isinstance(value, kind) and not isinstance(value, bool) and math.isfinite(value):
        low = value >= least if above is None else value > above
        if low and value <= most:
            return value
    what = "an integer" if integer else "a number"
    raise ValueError(f"{name} must be {what}{_range(above, least, most)}, got {value!r}.")


def check_n_jobs(n_jobs: Any) -> int | None:
    """Return a number of threads, as joblib counts them: None, 1, 2, ... or -1 for all cores."""
    if n_jobs is None:
        return None
    if check_number(n_jobs, "n_jobs", least=-(2**15), most=2**15, integer=True) == 0:
        raise ValueError("n_jobs must be None, a positive number, or -1 for all cores, got 0.")
    return int(n_jobs)


def _range(above: float | None, least: float, most: float) -> str:
    if above is not None:
        return f" above {above:g}"
    if math.isinf(least):
        return ""
    return f" from {least:g} up" if math.isinf(most) else f" from {least:g} to {most:g}"


def column_names(y: Any) -> Names:
    """The names of the columns of a data frame; None for default numbers and other types."""
    names = _Frame("y", y).columns
    return None if names is None else tuple(map(str, names))


class _Frame:
    """An input, with the names of its columns and rows if it is a data frame that has names."""

    def __init__(self, name: str, value: Any) -> None:
        self.name = name
        self.values = value
        self.columns: list[Any] | None = None
        self.index: list[Any] | None = None
        if hasattr(value, "columns") and hasattr(value, "to_numpy"):
            self.values = value.to_numpy()
            self.columns = _proper_names(value.columns)
            self.index = _proper_names(getattr(value, "index", None))

    def must_match(self, other: "_Frame") -> None:
        """Reject columns or rows with the same names in another order, or with other names."""
        for kind, ours, theirs in (
            ("columns", self.columns, other.columns),
            ("rows", self.index, other.index),
        ):
            if ours is None or theirs is None or ours == theirs:
                continue
            if sorted(map(str, ours)) == sorted(map(str, theirs)):
                reorder = "[y_true.columns]" if kind == "columns" else ".loc[y_true.index]"
                raise ValueError(
                    f"The {kind} of {other.name} are those of {self.name} in another order: "
                    f"expected {_shorten(ours)}, got {_shorten(theirs)}. "
                    f"Reorder them with {other.name}{reorder}."
                )
            if kind == "columns":
                raise ValueError(
                    f"The columns of {other.name} must be those of {self.name}: expected "
                    f"{_shorten(ours)}, got {_shorten(theirs)}. Rename them, or pass "
                    f"{other.name}.to_numpy() if they are the same labels in the same order."
                )


def _proper_names(names: Any) -> list[Any] | None:
    """Names that were given; None for the default 0, 1, 2, ... of a frame."""
    if names is None:
        return None
    names = list(names)
    return None if names == list(range(len(names))) else names


def _first_names(frames: Iterable[_Frame]) -> Names:
    """The names of the first data frame that has any."""
    named = [frame.columns for frame in frames if frame.columns is not None]
    return tuple(map(str, named[0])) if named else None


def _matrix(y: Any, name: str) -> Anything:
    """A non-empty two-dimensional array of numbers."""
    if y is None:
        raise _is_none(name, "a number")
    if np.ma.is_masked(y):
        raise ValueError(f"{name} has masked entries. Fill them, or leave those rows out.")
    try:
        array = np.asarray(y)
    except ValueError as error:
        raise ValueError(
            f"{name} must be a table with one row per instance and one column per label; got rows "
            "of different lengths. Lists of label sets become such a table with scikit-learn's "
            "MultiLabelBinarizer."
        ) from error
    numbers = _numbers(array, name)
    if numbers.ndim != 2:
        raise ValueError(
            f"{name} must have two dimensions, instances x labels, got shape {numbers.shape}. "
            "A single label needs reshape(-1, 1), a single instance reshape(1, -1)."
        )
    if 0 in numbers.shape:
        raise ValueError(
            f"{name} is empty: got shape {numbers.shape}, "
            "expected at least one instance and one label."
        )
    return numbers


def _is_none(name: str, what: str) -> ValueError:
    return ValueError(f"{name} is None: expected a table with {what} for each instance and label.")


def _numbers(y: Anything, name: str) -> Anything:
    if y.dtype.kind in "biuf":
        return y
    try:
        if y.dtype != object or any(isinstance(value, str) for value in y.flat):
            raise TypeError
        numbers: Anything = y.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"{name} must hold numbers, got values of type {y.dtype}. "
            "Names of labels become 0/1 columns with scikit-learn's MultiLabelBinarizer."
        ) from None
    return numbers


def _integer_scores(y: Anything, name: str) -> Floats:
    low, high = int(y.min()), int(y.max())
    if low >= 0 and high <= 1:
        raise ValueError(
            f"{name} looks like labels: it holds only the integers 0 and 1. Pass predicted labels "
            f"as y_pred; if these really are scores, pass {name}.astype(float)."
        )
    if max(-low, high) > _LARGEST_EXACT_INTEGER:
        raise ValueError(
            f"{name} holds integers beyond 2**53, which floats cannot distinguish. "
            "Scale them down first."
        )
    return y.astype(np.float64)


def _sparse_labels(y: Any, name: str) -> Pattern:
    if y.ndim != 2 or 0 in y.shape:
        raise ValueError(
            f"{name} must have two non-empty dimensions, instances x labels, got shape {y.shape}."
        )
    check_sparse(y, name)
    csr = sparse.csr_array(y, copy=True)
    csr.sum_duplicates()
    csr.eliminate_zeros()
    bad = np.flatnonzero(~(csr.data == 1))
    if bad.size:
        k = bad[0]
        i = np.searchsorted(csr.indptr, k, side="right") - 1
        raise ValueError(_not_a_label(name, csr.data[k], i, csr.indices[k]))
    return Pattern.from_csr(csr)


def _not_a_label(name: str, value: Any, i: int, j: int) -> str:
    hint = {
        "y_true": "The order is (y_true, y_score): are the two swapped?",
        "y_pred": "Pass scores as y_score, or cut them into labels first.",
    }.get(name, "")
    if value == -1:
        hint = f"Labels coded -1/+1 become 0/1 with ({name} > 0)."
    return f"{name} must hold only 0 and 1: found {value!s} at row {i}, column {j}. {hint}".rstrip()


def _chunks(y: Anything) -> Iterable[tuple[int, Anything]]:
    """Blocks of rows, each with the number of its first row."""
    step = max(1, _CHUNK // y.shape[1])
    for start in range(0, y.shape[0], step):
        yield start, np.ascontiguousarray(y[start : start + step])


def _shorten(names: Sequence[Any], most: int = 4) -> str:
    shown = ", ".join(repr(name) for name in names[:most])
    return f"[{shown}{', ...' if len(names) > most else ''}]"
