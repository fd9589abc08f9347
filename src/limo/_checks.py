"""Checks of input: every public function checks and converts its input here, and nowhere else.

Once checked, labels are a :class:`~limo._views.Pattern`, which also says which labels are missing
and what the instances weigh, and scores a finite two-dimensional float array of the same shape.
Each error says what was expected, what was given, and what to do.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, TypeVar

import numpy as np

from limo._frames import Frame, Names, as_names, first_names
from limo._sparse import SparseScores, check_sparse, check_sparse_scores, largest_score
from limo._system import Later, workers
from limo._types import Anything, Booleans, Floats, Values
from limo._views import Pattern

sparse = Later("scipy.sparse")  # too slow for shell completion, which reads the measures

# Cells checked at once, so that no check allocates a second whole matrix.
_CHUNK = 1 << 20

Result = TypeVar("Result")
_LARGEST_EXACT_INTEGER = 2**53
_SWAPPED = {
    "y_true": "The order is (y_true, y_score): are the two swapped?",
    "y_pred": "Pass scores as y_score, or cut them into labels first.",
}


@dataclass(frozen=True, eq=False)
class Checked:
    """Labels with the scores and predictions made for them, all checked.

    Scores are dense (``S``), or sparse (``stored``) where a function takes them.
    """

    Y: Pattern
    S: Floats | None
    P: Pattern | None
    label_names: Names
    n_missing: int = 0
    stored: SparseScores | None = None

    @property
    def any_scores(self) -> Floats | SparseScores | None:
        """The scores, dense or sparse, if there are any."""
        return self.S if self.stored is None else self.stored

    @property
    def needed_scores(self) -> Floats | SparseScores:
        """The scores, dense or sparse, where they are needed."""
        return self.scores if self.stored is None else self.stored

    @property
    def scores(self) -> Floats:
        """The dense scores, where they are needed."""
        if self.S is None:
            raise _is_none("y_score", "a score")
        return self.S

    @property
    def n_absent(self) -> int:
        """How many relevant labels have no score."""
        if self.stored is None:
            return 0
        stored = self.stored.matrix
        return self.Y.n_ones - self.Y.overlap(Pattern.from_csr(stored)).n_ones

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
    frame: Frame
    label_names: Names
    n_missing: int = 0

    def join(
        self, y_score: Any = None, y_pred: Any = None, *, sparse_scores: bool = False
    ) -> Checked:
        """Check scores and predictions, and that they belong to these labels.

        ``sparse_scores`` says that the caller can use sparse ones.
        """
        given = {"y_score": y_score, "y_pred": y_pred}
        frames = {name: Frame(name, value) for name, value in given.items() if value is not None}
        S = stored = None
        if sparse_scores and sparse.issparse(y_score):
            stored = check_sparse_scores(y_score)
            self._must_be_plain()
        elif "y_score" in frames:
            S = check_scores(frames["y_score"].values)
        P = check_labels(frames["y_pred"].values, "y_pred") if "y_pred" in frames else None
        for name, other in (("y_score", S), ("y_score", stored), ("y_pred", P)):
            if other is not None and other.shape != self.Y.shape:
                raise ValueError(
                    f"{name} must have the shape of y_true: expected {self.Y.shape}, got "
                    f"{other.shape}. Rows are instances and columns are labels, in both."
                )
        for frame in frames.values():
            self.frame.must_match(frame)
        names = self.label_names or first_names([self.frame, *frames.values()])
        return Checked(self.Y, S, P, names, self.n_missing, stored)

    def _must_be_plain(self) -> None:
        if not self.Y.is_plain:
            raise ValueError(
                "Sparse scores cannot be used with missing labels or sample_weight. Pass dense "
                "scores: y_score.toarray(), with a score lower than all others where there is none."
            )


def check_truth(
    y_true: Any,
    label_names: Iterable[str] | None = None,
    *,
    missing: Any = None,
    sample_weight: Any = None,
) -> Truth:
    """Check true labels once, for the scores and predictions of any number of models."""
    frame = Frame("y_true", y_true)
    if missing is not None and not _is_number(missing):
        frame.must_match(Frame("missing", missing))
    Y = check_known_labels(frame.values, "y_true", missing)
    names = None if label_names is None else as_names(label_names)
    if names is not None and len(names) != Y.shape[1]:
        raise ValueError(
            f"label_names must name every label: expected {Y.shape[1]} names, got {len(names)}."
        )
    n_missing = 0 if Y.unknown is None else Y.unknown.n_ones
    if sample_weight is not None:
        weights = Frame("sample_weight", sample_weight)
        frame.must_match_rows(weights)
        Y = weighted(Y, weights.values)
    return Truth(Y, frame, names, n_missing)


def check_inputs(
    y_true: Any,
    y_score: Any = None,
    y_pred: Any = None,
    label_names: Iterable[str] | None = None,
    *,
    missing: Any = None,
    sample_weight: Any = None,
    sparse_scores: bool = False,
) -> Checked:
    """Check labels with the scores or predictions made for them, and that they belong together."""
    truth = check_truth(y_true, label_names, missing=missing, sample_weight=sample_weight)
    return truth.join(y_score, y_pred, sparse_scores=sparse_scores)


def check_labels(y: Any, name: str) -> Pattern:
    """Check two-dimensional labels, 0 or 1, dense or sparse; return the positions of the ones."""
    return _labels(Frame(name, y).values, name, None)


def check_known_labels(y: Any, name: str, missing: Any) -> Pattern:
    """Check labels of which some may be missing.

    ``missing`` is the number that stands for a missing label (nan or -1, say), or a mask that is
    true where the label is missing, or None. Masked entries of a masked array are missing too.
    """
    y = Frame(name, y).values
    masks = []
    if isinstance(y, np.ma.MaskedArray):
        masks.append(np.ma.getmaskarray(y))
        y = y.filled(0)
    code = _missing_code(float(missing)) if _is_number(missing) else None
    if missing is not None and code is None:
        masks.append(Frame("missing", missing).values)
    hidden = [check_labels(mask, "missing") for mask in masks]
    for mask in hidden:
        y = _hide(y, mask, name)
    Y = _labels(y, name, code)
    for mask in hidden:
        Y = _hidden(Y, mask)
    return Y


def weighted(Y: Pattern, sample_weight: Any) -> Pattern:
    """Give each instance its weight. Instances of weight 0 take no part, as if unknown."""
    weights = check_weights(sample_weight, Y.shape[0])
    if weights is None:
        return Y
    nothing = np.flatnonzero(weights == 0)
    if nothing.size:
        places = np.add.outer(nothing * Y.shape[1], np.arange(Y.shape[1])).reshape(-1)
        Y = _hidden(Y, Pattern.from_flat(places, Y.shape))
    return replace(Y, row_weights=weights)


def check_weights(sample_weight: Any, n_instances: int) -> Values | None:
    """Check sample weights: one finite number, not negative, per instance; None if not given."""
    if sample_weight is None:
        return None
    try:
        weights = np.asarray(Frame("sample_weight", sample_weight).values)
    except ValueError as error:
        raise ValueError(
            f"sample_weight must hold one weight for each of the {n_instances} instances: {error}"
        ) from error
    if weights.ndim == 2 and weights.shape[1] == 1:  # a frame or matrix of one column
        weights = weights[:, 0]
    if weights.shape != (n_instances,):
        raise ValueError(
            f"sample_weight must hold one weight for each of the {n_instances} instances, got "
            f"shape {weights.shape}."
        )
    weights = _numbers(weights, "sample_weight").astype(np.float64)
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if bad.size:
        raise ValueError(
            f"sample_weight must hold finite numbers, not negative: found {weights[bad[0]]:g} for "
            f"instance {bad[0]}."
        )
    if not weights.any():
        raise ValueError("sample_weight is zero for every instance, so nothing is left.")
    return weights


def _is_number(missing: Any) -> bool:
    return isinstance(missing, Real) and not isinstance(missing, bool)


def _missing_code(code: float) -> float:
    if code in (0.0, 1.0):
        raise ValueError(
            f"missing={code:g} is a label: the number of a missing label must not be 0 or 1. "
            "Use nan or -1, or pass a mask that is true where the label is missing."
        )
    return code


def _hide(y: Any, mask: Pattern, name: str) -> Any:
    """The same labels with 0 where the mask is true, whatever stands there."""
    if sparse.issparse(y):
        _same_shape(mask, y.shape, name)
        check_sparse(y, name)
        stored = sparse.coo_array(y)
        kept = ~np.isin(stored.row.astype(np.int64) * y.shape[1] + stored.col, mask.flat)
        cells = (stored.row[kept], stored.col[kept])
        return sparse.csr_array((stored.data[kept], cells), shape=y.shape)
    y = _matrix(y, name)
    _same_shape(mask, y.shape, name)
    y = np.array(y)
    y[np.repeat(np.arange(y.shape[0]), mask.ones_per_row), mask.indices] = 0
    return y


def _same_shape(mask: Pattern, shape: tuple[int, int], name: str) -> None:
    if mask.shape != shape:
        raise ValueError(
            f"missing must have the shape of {name}: expected {shape}, got {mask.shape}."
        )


def _hidden(Y: Pattern, mask: Pattern) -> Pattern:
    """Labels of which those in the mask are unknown, too."""
    if not mask.n_ones:
        return Y
    known = Y.without(mask)
    unknown = mask if Y.unknown is None else mask.union(Y.unknown)
    return replace(known, unknown=unknown, row_weights=Y.row_weights)


def _labels(y: Any, name: str, code: float | None) -> Pattern:
    """Labels 0 and 1, and the number ``code`` where a label is missing."""
    if sparse.issparse(y):
        return _sparse_labels(y, name, code)
    y = _matrix(y, name)
    n_columns = y.shape[1]

    def ones_and_missing(rows: Anything, start: int) -> tuple[Anything, Anything]:
        marked = np.flatnonzero(rows != 0)
        values, places = rows.reshape(-1)[marked], marked + start * n_columns
        odd = ~(values == 1)
        if not odd.any():
            return places, places[:0]
        gone = _is_code(values, code)
        bad = marked[odd & ~gone]
        if bad.size:
            i, j = divmod(int(bad[0]), n_columns)
            raise ValueError(_not_a_label(name, rows[i, j], start + i, j))
        return places[~gone], places[gone]

    ones, missing = map(np.concatenate, zip(*_by_chunks(ones_and_missing, y), strict=True))
    pattern = Pattern.from_flat(ones, y.shape)
    if not missing.size:
        return pattern
    return replace(pattern, unknown=Pattern.from_flat(missing, y.shape))


def _is_code(values: Anything, code: float | None) -> Booleans:
    """Where the number that stands for a missing label is."""
    if code is None:
        return np.zeros(values.shape, dtype=bool)
    marks: Booleans = np.isnan(values) if math.isnan(code) else values == code
    return marks


def check_scores(y: Any, name: str = "y_score") -> Floats:
    """Check two-dimensional finite scores; float32 and float64 are not converted."""
    y = Frame(name, y).values
    if sparse.issparse(y):
        raise ValueError(
            f"{name} must be a dense array of scores here, got a sparse {y.format} matrix. "
            "If these are predicted labels, pass them as y_pred; if absent scores mean 0, "
            "pass toarray()."
        )
    y = _matrix(y, name)
    if y.dtype.kind in "biu":
        y = _integer_scores(y, name)
    elif y.dtype not in (np.float32, np.float64):
        y = y.astype(np.float32 if y.dtype == np.float16 else np.float64)
    largest = largest_score(y.dtype)

    def check(rows: Floats, start: int) -> None:
        if not -largest <= rows.min() <= rows.max() <= largest:
            i, j = np.argwhere(~(np.abs(rows) <= largest))[0]
            raise ValueError(
                f"{name} must hold finite numbers up to 1e150: found {rows[i, j]} at row "
                f"{start + i}, column {j}. Give such entries a number (one below all others if "
                "they mean 'never') or leave the instance out."
            )

    _by_chunks(check, y)
    contiguous = y.flags.c_contiguous or y.flags.f_contiguous
    return y if contiguous else np.ascontiguousarray(y)


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
        absent = np.array([type(value).__name__ == "NAType" for value in y.flat])  # pandas.NA
        numbers: Anything = np.where(absent.reshape(y.shape), np.nan, y).astype(np.float64)
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


def _sparse_labels(y: Any, name: str, code: float | None) -> Pattern:
    if y.ndim != 2 or 0 in y.shape:
        raise ValueError(
            f"{name} must have two non-empty dimensions, instances x labels, got shape {y.shape}."
        )
    check_sparse(y, name)
    csr = sparse.csr_array(y, copy=True)
    csr.sum_duplicates()
    csr.eliminate_zeros()
    gone = _is_code(csr.data, code)
    bad = np.flatnonzero(~((csr.data == 1) | gone))
    if bad.size:
        k = bad[0]
        i = np.searchsorted(csr.indptr, k, side="right") - 1
        raise ValueError(_not_a_label(name, csr.data[k], i, csr.indices[k]))
    stored = Pattern.from_csr(csr)
    if not gone.any():
        return stored
    places = stored.flat
    unknown = Pattern.from_flat(places[gone], stored.shape)
    return replace(Pattern.from_flat(places[~gone], stored.shape), unknown=unknown)


def _not_a_label(name: str, value: Any, i: int, j: int) -> str:
    hints = []
    if value == -1:
        hints.append(f"Labels coded -1/+1 become 0/1 with ({name} > 0).")
    if name == "y_true" and (value == -1 or value != value):
        hints.append(f"If it is a missing label, pass missing={value:g}.")
    elif name == "y" and value != value:
        hints.append("BinaryRelevance(missing=nan) can be trained with missing labels.")
    if not hints and name in _SWAPPED:
        hints.append(_SWAPPED[name])
    found = f"{name} must hold only 0 and 1: found {value!s} at row {i}, column {j}."
    return " ".join([found, *hints])


def _by_chunks(function: Callable[[Anything, int], Result], y: Anything) -> list[Result]:
    """What a function gives for each block of rows and the number of its first row, in order."""
    step = max(1, _CHUNK // y.shape[1])

    def call(start: int) -> Result:
        return function(np.ascontiguousarray(y[start : start + step]), start)

    with workers(enough=y.size > _CHUNK) as run:
        return list(run(call, range(0, y.shape[0], step)))
