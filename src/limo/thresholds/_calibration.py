"""Probabilities from scores: a curve for each label, fitted to scores of unseen instances."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.isotonic import IsotonicRegression

from limo._checks import check_inputs, check_scores
from limo._kernels.thresholds import fit_sigmoid
from limo._settings import check_name
from limo._system import Documented
from limo._types import Booleans, Floats, Values

_METHODS = ("sigmoid", "isotonic")
_MAX_ITER = 100


class ScoreCalibration(Documented, BaseEstimator):  # type: ignore[misc]
    """Turns the scores of each label into probabilities.

    As scikit-learn's ``CalibratedClassifierCV``, which takes one label only, for all labels at
    once. :class:`limo.ThresholdClassifier` fits it on cross-fitted scores if ``probability`` is
    given.

    Parameters
    ----------
    method : {"sigmoid", "isotonic"}, default="sigmoid"
        A sigmoid a s + b (Platt, 1999), which suits few positives; or any curve that never falls,
        which needs many.

    Attributes
    ----------
    slope_, intercept_ : array of shape (n_labels,)
        a and b of each label, for ``"sigmoid"``.
    curves_ : list of IsotonicRegression
        The curve of each label, for ``"isotonic"``.
    n_labels_ : int
        The number of labels.

    Examples
    --------
    >>> from limo.thresholds import ScoreCalibration
    >>> y_true, y_score = [[0], [0], [1], [0], [1], [1]], [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]
    >>> ScoreCalibration().fit(y_true, y_score).transform([[0.0], [2.5], [5.0]]).round(2)
    array([[0.21],
           [0.5 ],
           [0.79]])
    """

    __module__ = "limo.thresholds"  # the public name, which model files contain

    def __init__(self, method: str = "sigmoid") -> None:
        self.method = method

    def fit(
        self, y_true: Any, y_score: Any, *, sample_weight: Any = None, missing: Any = None
    ) -> Self:
        """Fit a curve for each label.

        Parameters
        ----------
        y_true : array-like or sparse matrix of shape (n_samples, n_labels)
            True labels, 0 or 1.
        y_score : array-like of shape (n_samples, n_labels)
            Scores, by a model that has not seen these instances.
        sample_weight : array-like of shape (n_samples,), optional
            How much each instance counts.
        missing : number or array-like of bool, optional
            What stands for a missing label in ``y_true``, as in :func:`limo.evaluate`. The curve of
            a label is fitted to the instances where it is known; without any, it is 0.5.

        Returns
        -------
        self
        """
        method = check_name(self.method, _METHODS, "method of calibration")
        checked = check_inputs(y_true, y_score, sample_weight=sample_weight, missing=missing)
        columns = list(checked.Y.known_columns(checked.scores))
        self.n_labels_ = len(columns)
        if method == "isotonic":
            self.curves_ = [_curve(*column) for column in columns]
        else:
            self.slope_, self.intercept_ = np.array([_sigmoid_of(*c) for c in columns]).T
        return self

    def transform(self, y_score: Any) -> Values:
        """Probabilities of scores.

        Parameters
        ----------
        y_score : array-like of shape (n_samples, n_labels)
            Scores of the labels it was fitted on, in the same order.

        Returns
        -------
        array of shape (n_samples, n_labels)
        """
        if not hasattr(self, "n_labels_"):
            raise NotFittedError(
                "This ScoreCalibration has not been fitted: call fit(y_true, y_score) first."
            )
        S = np.asarray(check_scores(y_score), dtype=np.float64)
        if S.shape[1] != self.n_labels_:
            raise ValueError(
                f"ScoreCalibration was fitted on {self.n_labels_} labels, but y_score has "
                f"{S.shape[1]} columns. Pass the scores of the same labels."
            )
        if self.method == "isotonic":
            curves = zip(self.curves_, S.T, strict=True)
            return np.column_stack([curve.predict(s) for curve, s in curves])
        return sigmoid(S * self.slope_ + self.intercept_)


def sigmoid(f: Values) -> Values:
    """1 / (1 + exp(-f)), without overflow."""
    small = np.exp(-np.abs(f))
    return np.where(f >= 0, 1.0, small) / (1.0 + small)


def _curve(marks: Booleans, scores: Floats, weights: Values) -> IsotonicRegression:
    curve = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip")
    if not marks.size:
        return curve.fit([0.0], [0.5])
    return curve.fit(scores.astype(np.float64), marks, sample_weight=weights)


def _sigmoid_of(marks: Booleans, scores: Floats, weights: Values) -> tuple[float, float]:
    """A and b of a label, found on standardised scores, where Newton steps are safe."""
    if not marks.size:
        return 0.0, 0.0
    scores = scores.astype(np.float64)
    centre = float(np.average(scores, weights=weights))
    spread = float(np.average((scores - centre) ** 2, weights=weights)) ** 0.5 or 1.0
    a, b = fit_sigmoid((scores - centre) / spread, marks, weights, _MAX_ITER)
    return a / spread, b - a * centre / spread
