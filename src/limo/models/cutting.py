"""How a model with scores of its own gets the threshold that makes labels of them."""

from typing import Any

from sklearn.base import clone

from limo._types import Values
from limo.pattern import Pattern
from limo.thresholds.crossfit import Folds, cross_fit, folds_of, label_matrix
from limo.thresholds.rules import FixedThreshold, ThresholdRule
from limo.thresholds.suggest import suggest_threshold

__all__ = ["fit_cross_fitted", "fit_rule", "threshold_folds"]


def fit_rule(measure: str | None, Y: Pattern, S: Values, X: Any) -> ThresholdRule:
    """The rule that suits a measure, fitted to these scores; 0 if no measure is named."""
    if measure is None:
        return FixedThreshold(0.0)
    return suggest_threshold(measure).fit(Y.csr, S, X)


def threshold_folds(cv: Any, X: Any, labels: Any) -> Folds:
    """Folds to fit a threshold on; of a number of them, no more than there are instances."""
    n_rows = labels.shape[0]
    too_many = isinstance(cv, int) and 1 < n_rows < cv
    return folds_of(n_rows if too_many else cv, X, labels, "threshold_cv")


def fit_cross_fitted(estimator: Any, measure: str, cv: Any, X: Any, Y: Pattern) -> ThresholdRule:
    """The same, fitted to scores made by copies of the estimator that have not seen the rows."""
    labels = label_matrix(Y, as_sparse=True)
    rows, S = cross_fit(
        clone(estimator),
        X,
        labels,
        threshold_folds(cv, X, labels),
        probabilities=False,
        params={},
        n_jobs=None,
    )
    return fit_rule(measure, Pattern.from_csr(labels[rows]), S, X[rows])
