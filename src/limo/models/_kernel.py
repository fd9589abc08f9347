"""Features of a radial kernel, which make any linear model a kernel machine."""

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.extmath import row_norms
from sklearn.utils.validation import check_is_fitted, validate_data

from limo._checks import check_number, check_sparse
from limo._types import Values
from limo.models._base import _RULES
from limo.models._neighbours import pack, unpack

# Directions of less than this share of the largest eigenvalue are rounding errors.
_SMALLEST_SHARE = 1e-10
_SAMPLE = 1000


class KernelFeatures(TransformerMixin, BaseEstimator):  # type: ignore[misc]
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
        self.n_components_ = self.projection_.shape[1]
        return self

    def transform(self, X: Any) -> Values:
        """The features of instances.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        array of shape (n_samples, n_components_)
        """
        check_is_fitted(self)
        check_sparse(X, "X")
        X = validate_data(self, X, reset=False, **_RULES)
        found: Values = self._kernel(X) @ self.projection_
        return found

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
    found = float(np.median(upper)) if upper.size else 0.0
    return found or float(upper.max(initial=0.0)) or 1.0
