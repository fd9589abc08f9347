"""What linear models share, however their weights are found: labels, thresholds, prediction."""

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import clone

from limo._checks import weighted
from limo._settings import check_callback, check_flag, check_n_jobs, check_number
from limo._system import at_most
from limo._types import Booleans, Values
from limo._views import Pattern
from limo.models._base import MultiLabelClassifier
from limo.thresholds._fit import (
    ConstantLabels,
    Fitted,
    Training,
    label_matrix,
    make_rule,
    threshold_folds,
)
from limo.thresholds._rules import FixedThreshold, ThresholdRule


class LinearClassifier(MultiLabelClassifier):
    """A linear model S = X W + b, with a threshold for ``predict``.

    A subclass has the parameters below, checks its others in :meth:`_check_settings`, and finds
    the weights in :meth:`_fit_weights`.
    """

    fit_intercept: bool
    intercept_scaling: float
    threshold: ThresholdRule | str | None
    threshold_measure: str | None
    threshold_cv: Any
    missing: float | None
    n_jobs: int | None = None
    never_: Booleans
    always_: Booleans

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the weights, and the threshold on scores of instances they have not seen.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        y : array-like or sparse matrix of shape (n_samples, n_labels)
            Labels, 0 or 1 (or -1 and 1, or two strings); or one label with two classes. Only with
            ``missing`` may labels be missing.
        sample_weight : array-like of shape (n_samples,), optional
            How much each instance counts, in the loss and for the threshold: 2 as much as two equal
            instances. Thresholds per instance do not use it.

        Returns
        -------
        self
        """
        self._check_settings()
        X, Y = self._check_training(X, y, missing=self.missing)
        Y = weighted(Y, sample_weight)
        with at_most(self.n_jobs):
            self._fit_weights(X, Y)
            self._set_threshold(self._fit_threshold(X, Y))
        return self

    def decision_function(self, X: Any) -> Values:
        """Scores of the labels; the higher, the more likely relevant."""
        return self._scores(self._raw_scores(self._check_instances(X)))

    def predict(self, X: Any) -> Any:
        """Labels whose scores exceed the fitted threshold."""
        X = self._check_instances(X)
        P = self.threshold_.predict(self._raw_scores(X), X)
        return self._labels(self._constant_labels.correct(P))

    @abstractmethod
    def _fit_weights(self, X: Any, Y: Pattern) -> None:
        """Find the weights, and note which labels are constant."""

    def _check_settings(self) -> None:
        check_number(self.intercept_scaling, "intercept_scaling", above=0)
        check_n_jobs(self.n_jobs)
        for name in ("fit_intercept", "warm_start", "average"):
            check_flag(getattr(self, name, False), name)
        check_callback(getattr(self, "callback", None))

    def _set_weights(self, W: Values, constant: float) -> None:
        """Use these weights; the last row is that of the constant feature, unless that is 0."""
        features = W[:-1] if constant else W
        self.coef_ = np.ascontiguousarray(features.T)
        self.intercept_ = constant * W[-1] if constant else np.zeros(W.shape[1])

    def _fit_threshold(self, X: Any, Y: Pattern) -> ThresholdRule:
        on_training = isinstance(self.threshold_cv, str) and self.threshold_cv == "training"
        if on_training or (self.threshold_measure is None and self.threshold is None):
            return self._fit_threshold_on(X, Y)
        none = dict.fromkeys(("threshold", "threshold_measure", "callback"))
        known = self.get_params(deep=False)
        plain = {
            name: value for name, value in (none | {"warm_start": False}).items() if name in known
        }
        labels = label_matrix(Y, as_sparse=True)
        missing = None if Y.unknown is None else np.nan
        inner = clone(self).set_params(**plain, missing=missing)
        training = Training(
            inner,
            X,
            labels,
            threshold_folds(self.threshold_cv, X, labels),
            params={} if Y.row_weights is None else {"sample_weight": Y.row_weights},
            sample_weight=Y.row_weights,
        )
        return training.fit_rule(make_rule(self.threshold, self.threshold_measure))

    def _fit_threshold_on(self, X: Any, Y: Pattern) -> ThresholdRule:
        """The threshold fitted on the model's own scores of these instances."""
        if self.threshold_measure is None and self.threshold is None:
            return FixedThreshold(0.0)
        labels = label_matrix(Y, as_sparse=True)
        none = np.zeros(Y.shape[1], dtype=bool)
        fitted = Fitted(self, ConstantLabels(none, none))
        training = Training(self, X, labels, None, fitted=fitted, sample_weight=Y.row_weights)
        return training.fit_rule(
            make_rule(self.threshold, self.threshold_measure), "training scores"
        )

    def _set_threshold(self, rule: ThresholdRule) -> None:
        """Use a rule; if it is one threshold for all scores, subtract it from the intercept.

        A common offset changes no ranking, so the threshold is absorbed here: labels are then
        predicted where scores exceed 0, as in scikit-learn.
        """
        self.threshold_ = rule
        self.moved_ = rule.move_to_zero()
        self.intercept_ = self.intercept_ - self.moved_

    @property
    def _constant_labels(self) -> ConstantLabels:
        return ConstantLabels(self.never_, self.always_)

    def _raw_scores(self, X: Any) -> Values:
        S = np.asarray(X @ self.coef_.T) + self.intercept_
        return self._constant_labels.complete(S)


def row_length(X: Any, weights: Values | None = None) -> float:
    """The root of the mean squared length of the rows, which may have weights; 1 if all are 0."""
    squares = X.multiply(X) if sparse.issparse(X) else np.square(X)
    if weights is None:
        return float(np.sqrt(squares.sum() / X.shape[0])) or 1.0
    return float(np.sqrt((weights @ squares).sum() / weights.sum())) or 1.0
