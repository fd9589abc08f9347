"""How labels may be coded in the ``y`` of an estimator, and predictions in the same coding.

Labels are a 0/1 matrix, dense or sparse; or a dense matrix of -1 and +1, or of two strings; or, for
one label with any two classes, one-dimensional. Measures take 0 and 1 only.
"""

from typing import Any, Literal

import numpy as np
from scipy import sparse
from sklearn.utils.multiclass import type_of_target

from limo._checks import check_known_labels, check_labels
from limo._system import Documented
from limo._types import Anything, Values
from limo._views import Pattern

Form = Literal["dense", "sparse", "values", "classes"]

_BINARIZER = "scikit-learn's MultiLabelBinarizer makes one."


class CodedLabels(Documented):
    """An estimator that predicts labels in the coding of its training labels.

    ``fit`` reads ``y`` by :meth:`_check_target`. Results are returned by :meth:`_labels`,
    :meth:`_scores` or :meth:`_probabilities`.
    """

    target_form_: Form
    classes_: Anything
    label_values_: Anything

    def _check_target(self, y: Any, missing: Any = None) -> Pattern:
        """Read labels, and store their coding; labels of which some are missing are 0 and 1."""
        if missing is not None:
            self.target_form_ = "sparse" if sparse.issparse(y) else "dense"
            Y = check_known_labels(y, "y", missing)
            self.classes_ = np.arange(Y.shape[1])
            return Y
        if _has_one_dimension(y):
            self.classes_ = _two_classes(y)
            self.target_form_ = "classes"
        elif (values := _two_values(y)) is not None:
            self.label_values_ = values
            self.target_form_ = "values"
        else:
            self.target_form_ = "sparse" if sparse.issparse(y) else "dense"
        Y = self._decode(y)
        if self.target_form_ != "classes":
            self.classes_ = np.arange(Y.shape[1])
        return Y

    def _decode(self, y: Any) -> Pattern:
        """Labels in the stored coding."""
        if self.target_form_ == "classes":
            y = np.asarray(y)[:, np.newaxis] == self.classes_[-1]
        elif self.target_form_ == "values":
            y = _marks_of(y, self.label_values_)
        return check_labels(y, "y")

    def _code_as(self, other: "CodedLabels") -> None:
        """Predict in the coding of another estimator."""
        self.target_form_, self.classes_ = other.target_form_, other.classes_
        if other.target_form_ == "values":
            self.label_values_ = other.label_values_

    def _labels(self, marks: Any) -> Any:
        """Predicted labels, given as 0 and 1, in the coding of the training labels."""
        if self.target_form_ == "sparse":
            return sparse.csr_array(marks).astype(np.int64)
        dense = marks.toarray() if sparse.issparse(marks) else marks
        if self.target_form_ == "classes":
            return self.classes_[dense[:, 0].astype(np.intp)]
        if self.target_form_ == "values":
            return self.label_values_[dense.astype(np.intp)]
        return dense.astype(np.int64)

    def _scores(self, S: Values) -> Values:
        """Scores: one column per label, or one value for a label with two classes."""
        return S[:, 0] if self.target_form_ == "classes" else S

    def _probabilities(self, P: Values) -> Values:
        """Probabilities: of each label or, for a label with two classes, of both classes."""
        return np.hstack([1 - P, P]) if self.target_form_ == "classes" else P


def _has_one_dimension(y: Any) -> bool:
    if sparse.issparse(y):
        return False
    try:
        return np.asarray(y).ndim == 1
    except ValueError:  # rows of different lengths, which check_labels explains
        return False


def _two_classes(y: Any) -> Anything:
    """The two classes of a one-dimensional target, in order."""
    if len(np.asarray(y)) == 0:
        raise ValueError("y is empty: expected the labels of at least one instance.")
    kind = type_of_target(y, input_name="y", raise_unknown=True)
    hint = (
        "Several labels are a matrix with a row per instance and a 0/1 column per label; "
        f"{_BINARIZER}"
    )
    if kind != "binary":
        raise ValueError(
            "Only binary classification is supported. The type of the target is "
            f"{kind}: a one-dimensional y must hold one label with two classes. {hint}"
        )
    classes: Anything = np.unique(np.asarray(y))
    if classes.size < 2:
        raise ValueError(
            f"A one-dimensional y must hold two classes, got one class only, {classes[0]}. {hint} "
            "In a matrix, a label may be constant."
        )
    return classes


def _two_values(y: Any) -> Anything | None:
    """The values of a matrix coded as -1/+1 or in two strings; None for any other matrix."""
    if sparse.issparse(y):
        return None
    try:
        table = np.asarray(y)
    except ValueError:
        return None
    if table.ndim != 2 or table.size == 0:
        return None
    if table.dtype.kind in "if":
        signed = table.min() == -1 and np.isin(table, (-1, 1)).all()
        return np.array([-1, 1]) if signed else None
    if all(isinstance(value, str) for value in table.flat):
        return _two_strings(np.unique(table.astype(str)))
    return None


def _two_strings(values: Anything) -> Anything:
    if values.size == 2:
        return values
    shown = ", ".join(map(repr, values[:4].tolist())) + (", ..." if values.size > 4 else "")
    raise ValueError(
        "A matrix of strings must hold two different ones, the same in all columns; the second in "
        f"alphabetical order marks the labels an instance has. Found {shown}. If these are names "
        f"of labels, pass a 0/1 column for each; {_BINARIZER}"
    )


def _marks_of(y: Any, values: Anything) -> Anything:
    """Where the second of two values stands; any third value is an error."""
    table = np.asarray(y)
    other = ~np.isin(table, values)
    if other.any():
        i, j = np.argwhere(other)[0]
        low, high = values.tolist()
        raise ValueError(
            f"y must hold only {low!r} and {high!r}: found {table[i, j]!s} at row {i}, column {j}."
        )
    marks: Anything = table == values[1]
    return marks
