"""What all learners share: checks of input, the form of output, and features.

Features can be scaled, or replaced by those of a radial kernel. :func:`all_estimators` lists the
learners.
"""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    OneToOneFeatureMixin,
    TransformerMixin,
)
from sklearn.preprocessing import MaxAbsScaler, StandardScaler, normalize
from sklearn.utils import check_random_state
from sklearn.utils.extmath import row_norms
from sklearn.utils.validation import _num_samples, check_is_fitted, validate_data

import limo
from limo._scores import readable
from limo._settings import check_name, check_number
from limo._sparse import check_sparse
from limo._system import Documented
from limo._types import Values
from limo._views import Pattern
from limo.thresholds._coding import CodedLabels

# A number beyond this is a mistake; the libraries would run on it for years, or end the process.
MOST_TREES = 1_000_000


class MultiLabelClassifier(CodedLabels, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A scikit-learn classifier that gives every instance any number of labels.

    Subclasses begin ``fit`` with :meth:`_check_training` and all other methods with
    :meth:`_check_instances`, and return their results by :meth:`_labels`, :meth:`_scores` or
    :meth:`_probabilities`.

    Examples
    --------
    >>> import limo
    >>> issubclass(limo.LIMOClassifier, limo.models.MultiLabelClassifier)
    True
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
        X = readable(X)
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
        X = readable(X)
        check_sparse(X, "X")
        return validate_data(self, X, reset=False, **(rules or _RULES))


_RULES: dict[str, Any] = {"accept_sparse": "csr", "dtype": np.float64, "order": "C"}


# All estimators

_KINDS: dict[str, Callable[[Any], bool]] = {
    "classifier": lambda one: issubclass(one, ClassifierMixin),
    "transformer": lambda one: issubclass(one, TransformerMixin),
    "threshold": lambda one: issubclass(one, limo.thresholds.ThresholdRule),
}
_ABSTRACT = ("MultiLabelClassifier", "ThresholdRule")


def all_estimators(kind: str | None = None) -> list[tuple[str, type[Any]]]:
    """List the estimators of limo, as scikit-learn's ``all_estimators`` lists its own.

    Parameters
    ----------
    kind : {"classifier", "transformer", "threshold"}, optional
        Only these: models; transformers of features; rules that turn scores into labels.

    Returns
    -------
    list of (str, class)
        Names and classes, sorted by name.

    Examples
    --------
    >>> import limo
    >>> names = [name for name, _ in limo.models.all_estimators("classifier")]
    >>> "LIMOClassifier" in names, "TopK" in names
    (True, False)
    >>> limo.models.all_estimators("transformer")[0]
    ('KernelFeatures', <class 'limo.models.KernelFeatures'>)
    """
    if kind is not None:
        check_name(kind, _KINDS, "kind")
    classes = {
        name: getattr(package, name)
        for package in (limo.models, limo.thresholds)
        for name in package.__all__
        if hasattr(getattr(package, name), "get_params") and name not in _ABSTRACT
    }
    return sorted((name, one) for name, one in classes.items() if kind is None or _KINDS[kind](one))


# Feature scalings


class UnitRows(Documented, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
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
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64)
        self.scaler_ = None if sparse.issparse(X) else StandardScaler().fit(X)
        return self

    def transform(self, X: Any) -> Any:
        """Scale the rows."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float64)
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


# Matrices in model files


def pack(A: Any) -> tuple[Any, ...]:
    """The plain arrays of a matrix, which skops trusts."""
    return (A.data, A.indices, A.indptr, A.shape) if sparse.issparse(A) else (A,)


def unpack(parts: tuple[Any, ...]) -> Any:
    """The packed matrix, without a copy."""
    if len(parts) == 1:
        return parts[0]
    data, indices, indptr, shape = parts
    return sparse.csr_array((data, indices, indptr), shape=shape)


# Features of a kernel

# Directions of less than this share of the largest eigenvalue are rounding errors.
_SMALLEST_SHARE = 1e-10
_SAMPLE = 1000


class KernelFeatures(Documented, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Features whose inner products are the radial kernel exp(-gamma ||x - x'||^2).

    A linear model of these features is a kernel machine. ``make_pipeline(KernelFeatures(),
    LIMOClassifier())`` is kernel LIMO, with the solver and the certificate of linear LIMO.

    Up to ``n_landmarks`` training rows the features are exact. Beyond, that many rows are drawn,
    and the features are those of the kernel projected on them (Nyström).

    Parameters
    ----------
    gamma : float, default=1.0
        How fast the kernel falls, relative to the median squared distance of two training rows:
        it is exp(-gamma) at that distance.
    n_landmarks : int, default=1000
        The largest number of rows that define the features.
    random_state : int, RandomState or None, default=None
        For the draw.

    Attributes
    ----------
    gamma_ : float
        gamma divided by the median squared distance.
    exact_ : bool
        Whether all training rows are landmarks.
    n_components_ : int
        The number of features, at most that of the landmarks.

    Examples
    --------
    >>> import limo
    >>> from sklearn.pipeline import make_pipeline
    >>> train, test = limo.datasets.split(limo.datasets.figure1(300))
    >>> model = make_pipeline(limo.models.KernelFeatures(), limo.LIMOClassifier())
    >>> S = model.fit(train.X, train.Y).decision_function(test.X)
    >>> limo.ranking_loss(test.Y, S) < 0.05, model[-1].solution_.converged
    (True, True)
    """

    __module__ = "limo.models"  # the public name, which model files contain

    def __init__(
        self, gamma: float = 1.0, *, n_landmarks: int = 1000, random_state: Any = None
    ) -> None:
        self.gamma = gamma
        self.n_landmarks = n_landmarks
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the landmarks and find the features.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances, scaled so that distances mean something.
        y : ignored

        Returns
        -------
        self
        """
        check_number(self.gamma, "gamma", above=0)
        check_number(self.n_landmarks, "n_landmarks", least=1, integer=True)
        check_sparse(X, "X")
        X = validate_data(self, X, **_RULES)
        rng = check_random_state(self.random_state)
        n_rows = X.shape[0]
        self.exact_ = bool(n_rows <= self.n_landmarks)
        chosen = (
            np.arange(n_rows)
            if self.exact_
            else np.sort(rng.choice(n_rows, self.n_landmarks, replace=False))
        )
        landmarks = X[chosen]
        self.gamma_ = float(self.gamma) / _median_distance(landmarks)
        self._landmarks = pack(landmarks)
        share, directions = np.linalg.eigh(self._kernel(landmarks))
        kept = share > _SMALLEST_SHARE * max(share[-1], 0.0)
        self.projection_ = np.ascontiguousarray(directions[:, kept] / np.sqrt(share[kept]))
        self.n_components_ = self._n_features_out = self.projection_.shape[1]
        return self

    def transform(self, X: Any) -> Values:
        """The features of instances.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        array of shape (n_samples, n_components)
        """
        check_is_fitted(self)
        check_sparse(X, "X")
        X = validate_data(self, X, reset=False, **_RULES)
        features: Values = self._kernel(X) @ self.projection_
        return features

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "_landmarks" in state:
            landmarks = unpack(self._landmarks)
            if sparse.issparse(landmarks):
                # a file may hold anything, and products follow the indices unchecked
                landmarks.check_format(full_check=True)
            if landmarks.shape != (len(self.projection_), self.n_features_in_):
                raise ValueError("the landmarks must fit the projection and the features")

    def _kernel(self, X: Any) -> Values:
        """The kernel between rows of X and the landmarks."""
        K: Values = _distances(X, unpack(self._landmarks))
        K *= -self.gamma_
        return np.exp(K, out=K)


def _distances(A: Any, B: Any) -> Values:
    """Squared distances between rows."""
    products = A @ B.T
    D: Values = np.asarray(products.toarray() if sparse.issparse(products) else products)
    D *= -2.0
    D += row_norms(A, squared=True)[:, np.newaxis]
    D += row_norms(B, squared=True)
    return np.maximum(D, 0.0, out=D)


def _median_distance(X: Any) -> float:
    """The median squared distance of two different rows, or 1 if all are the same."""
    some = X[:: max(1, X.shape[0] // _SAMPLE)]
    D = _distances(some, some)
    upper = D[np.triu_indices_from(D, 1)]
    median = float(np.median(upper)) if upper.size else 0.0
    return median or float(upper.max(initial=0.0)) or 1.0
