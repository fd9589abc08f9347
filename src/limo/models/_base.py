"""What all learners share: checks of their input, the form of their output, feature scalings."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.preprocessing import MaxAbsScaler, StandardScaler, normalize
from sklearn.utils.validation import _num_samples, check_is_fitted, validate_data

from limo._checks import check_sparse
from limo._views import Pattern
from limo.thresholds._coding import CodedLabels


class MultiLabelClassifier(CodedLabels, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
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

    def _check_training(
        self, X: Any, y: Any, *, missing: Any = None, **rules: Any
    ) -> tuple[Any, Pattern]:
        """Features as C-contiguous float64, dense or CSR, and labels; stores their form."""
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        check_sparse(X, "X")
        X = validate_data(self, X, **(rules or _RULES))
        Y = self._check_target(y, missing)
        n_rows = _num_samples(X)
        if n_rows != Y.shape[0]:
            raise ValueError(
                f"y must have a row for each row of X: expected {n_rows}, got {Y.shape[0]}."
            )
        return X, Y

    def _check_instances(self, X: Any, **rules: Any) -> Any:
        """Features of instances to predict for, as many as in training."""
        check_is_fitted(self)
        check_sparse(X, "X")
        return validate_data(self, X, reset=False, **(rules or _RULES))


_RULES: dict[str, Any] = {"accept_sparse": "csr", "dtype": np.float64, "order": "C"}


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
