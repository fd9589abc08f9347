"""What all learners share: checks of their input, the form of their output, feature scalings.

Labels are a 0/1 matrix, dense or sparse; predictions are then dense or sparse, too. A
one-dimensional ``y`` is one label with any two classes, and predictions are those classes.
"""

from collections.abc import Callable
from typing import Any, Literal, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.preprocessing import MaxAbsScaler, StandardScaler, normalize
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import _num_samples, check_is_fitted, validate_data

from limo._checks import check_labels, check_sparse
from limo._types import Anything, Values
from limo._views import Pattern

Form = Literal["dense", "sparse", "classes"]


class MultiLabelClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A scikit-learn classifier that gives every instance any number of labels.

    Subclasses begin ``fit`` with :meth:`_check_training` and all other methods with
    :meth:`_check_instances`, and return their results by :meth:`_labels`, :meth:`_scores` or
    :meth:`_probabilities`.
    """

    __module__ = "limo.models"  # the public name

    def __sklearn_tags__(self) -> Any:
        """Several labels, or one with two classes; X dense or sparse."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = True
        tags.classifier_tags.multi_label = True
        tags.classifier_tags.multi_class = False
        return tags

    def _check_training(self, X: Any, y: Any, **rules: Any) -> tuple[Any, Pattern]:
        """Features as C-contiguous float64, dense or CSR, and labels; stores their form."""
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        check_sparse(X, "X")
        X = validate_data(self, X, **(rules or _RULES))
        Y = self._check_target(y)
        n_rows = _num_samples(X)
        if n_rows != Y.shape[0]:
            raise ValueError(
                f"y must have a row for each row of X: expected {n_rows}, got {Y.shape[0]}."
            )
        return X, Y

    def _check_target(self, y: Any) -> Pattern:
        self.target_form_: Form
        if _has_one_dimension(y):
            self.classes_, marks = _two_classes(y)
            self.target_form_ = "classes"
            return check_labels(marks[:, np.newaxis], "y")
        Y = check_labels(y, "y")
        self.classes_ = np.arange(Y.shape[1])
        self.target_form_ = "sparse" if sparse.issparse(y) else "dense"
        return Y

    def _check_instances(self, X: Any, **rules: Any) -> Any:
        """Features of instances to predict for, as many as in training."""
        check_is_fitted(self)
        check_sparse(X, "X")
        return validate_data(self, X, reset=False, **(rules or _RULES))

    def _labels(self, marks: Any) -> Any:
        """Predicted labels, 0 and 1, in the form of the training labels."""
        if self.target_form_ == "sparse":
            return sparse.csr_array(marks).astype(np.int64)
        dense = marks.toarray() if sparse.issparse(marks) else marks
        if self.target_form_ == "classes":
            return self.classes_[dense[:, 0].astype(np.intp)]
        return dense.astype(np.int64)

    def _scores(self, S: Values) -> Values:
        """Scores: one column per label, or one value for a label with two classes."""
        return S[:, 0] if self.target_form_ == "classes" else S

    def _probabilities(self, P: Values) -> Values:
        """Probabilities: of each label or, for a label with two classes, of both classes."""
        return np.hstack([1 - P, P]) if self.target_form_ == "classes" else P


_RULES: dict[str, Any] = {"accept_sparse": "csr", "dtype": np.float64, "order": "C"}


def _has_one_dimension(y: Any) -> bool:
    if sparse.issparse(y):
        return False
    try:
        return np.asarray(y).ndim == 1
    except ValueError:  # rows of different lengths, which check_labels explains
        return False


def _two_classes(y: Any) -> tuple[Anything, Anything]:
    """The two classes of a one-dimensional target, and which instances are of the second."""
    kind = type_of_target(y, input_name="y", raise_unknown=True)
    hint = (
        "Several labels are a matrix with a row per instance and a 0/1 column per label; "
        "scikit-learn's MultiLabelBinarizer makes one."
    )
    if kind != "binary":
        raise ValueError(
            "Only binary classification is supported. The type of the target is "
            f"{kind}: a one-dimensional y must hold one label with two classes. {hint}"
        )
    classes, marks = np.unique(np.asarray(y), return_inverse=True)
    if classes.size < 2:
        raise ValueError(
            f"A one-dimensional y must hold two classes, got one class only, {classes[0]}. {hint} "
            "In a matrix, a label may be constant."
        )
    return classes, marks


# Feature scalings


class UnitRows(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Scale rows to about length 1, which suits LIMO's regularisation.

    Sparse rows are divided by their length. Dense features are standardised and divided by the
    square root of their number, so that the mean squared length of a row is 1.

    Examples
    --------
    >>> import numpy as np
    >>> from limo.models import UnitRows
    >>> X = UnitRows().fit_transform(np.array([[0.0, 5.0], [2.0, 9.0]]))
    >>> X.round(3)
    array([[-0.707, -0.707],
           [ 0.707,  0.707]])
    """

    __module__ = "limo.models"  # the public name, which model files contain

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the mean and spread of dense features; sparse rows need neither."""
        self.n_features_in_ = X.shape[1]
        self.scaler_ = None if sparse.issparse(X) else StandardScaler().fit(X)
        return self

    def transform(self, X: Any) -> Any:
        """Scale the rows."""
        if self.scaler_ is None:
            return sparse.csr_array(normalize(X))
        return self.scaler_.transform(X) / np.sqrt(self.n_features_in_)


SCALINGS: dict[str, Callable[[], Any]] = {
    "max_abs": MaxAbsScaler,
    "standard": lambda: StandardScaler(with_mean=False),
    "unit_rows": UnitRows,
}
"""Feature scalings by name: each feature divided by its largest absolute value, or by its standard
deviation; or rows of about length 1."""
