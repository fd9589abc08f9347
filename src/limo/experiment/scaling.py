"""Feature scalings by name. All are fitted on training data only."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.preprocessing import MaxAbsScaler, StandardScaler, normalize

__all__ = ["SCALINGS", "UnitRows"]


class UnitRows(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Rows of about length 1, as LIMO's ridge likes them.

    Sparse rows are divided by their length. Dense features are standardised and divided by the
    square root of their number: the mean squared length of a row is then 1.

    Examples
    --------
    >>> import numpy as np
    >>> X = UnitRows().fit_transform(np.array([[0.0, 5.0], [2.0, 9.0]]))
    >>> X.round(3)
    array([[-0.707, -0.707],
           [ 0.707,  0.707]])
    """

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn mean and spread of dense features; sparse rows need neither."""
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
"""By name: every feature divided by its largest absolute value, or by its standard deviation;
or rows of about length 1."""
