"""Scores a model gives to instances it has not seen, and labels that never or always occur."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.parallel import Parallel, delayed

from limo._checks import check_name
from limo._evaluation import probabilities_of, scores_of
from limo._types import Booleans, Integers, Values
from limo._views import Pattern
from limo.datasets import StratifiedFolds
from limo.measures._table import MEASURES
from limo.thresholds._instance import InstanceThreshold
from limo.thresholds._rules import (
    ExpectedF1,
    FixedThreshold,
    GlobalThreshold,
    LabelThreshold,
    ThresholdRule,
    TopK,
)

__all__ = [
    "RULES",
    "Fitted",
    "cross_fit",
    "fit_cross_fitted",
    "fit_rule",
    "fit_varying",
    "folds_of",
    "label_matrix",
    "make_rule",
    "suggest_threshold",
    "threshold_folds",
]


Folds = list[tuple[Integers, Integers]]


@dataclass(frozen=True, eq=False)
class Fitted:
    """A model of the labels that vary in its training data, with what is sure of the others.

    A label that never or always occurs cannot be learnt; many estimators fail on it, others give
    it scores that cannot be compared. It gets the lowest or highest score of each instance.
    """

    estimator: Any
    never: Booleans
    always: Booleans

    @property
    def varying(self) -> Booleans:
        """The labels the model knows."""
        return ~(self.never | self.always)

    @property
    def complete(self) -> bool:
        """Whether that is all labels."""
        return bool(self.varying.all())

    def scores(self, X: Any) -> Values:
        """Scores of all labels."""
        if not self.varying.any():
            return self._filled(np.empty((_n_rows(X), 0)), 0.0, 1.0)
        S = self._one_column(scores_of(self.estimator, X))
        scored = hasattr(self.estimator, "decision_function")
        if hasattr(self.estimator, "predict_proba") and not scored:
            return self._filled(S, 0.0, 1.0)
        return self._filled(S, S.min(axis=1, keepdims=True), S.max(axis=1, keepdims=True))

    def probabilities(self, X: Any) -> Values:
        """Probabilities of all labels."""
        if not self.varying.any():
            return self._filled(np.empty((_n_rows(X), 0)), 0.0, 1.0)
        return self._filled(self._one_column(probabilities_of(self.estimator, X)), 0.0, 1.0)

    def _one_column(self, S: Values) -> Values:
        """A single label has the probabilities of both its classes in some estimators."""
        if self.varying.sum() == 1 and S.shape[1] == 2:
            S = S[:, 1:]
        if S.shape[1] != self.varying.sum():
            raise ValueError(
                f"{type(self.estimator).__name__} gives scores of {S.shape[1]} labels, but y has "
                f"{self.varying.sum()}. Was it fitted on other labels?"
            )
        return S

    def _filled(self, S: Values, low: Any, high: Any) -> Values:
        if self.complete:
            return S
        whole = np.empty((S.shape[0], self.never.size), dtype=S.dtype)
        whole[:, self.varying] = S
        whole[:, self.never] = low
        whole[:, self.always] = high
        return whole


def label_matrix(Y: Pattern, *, as_sparse: bool) -> Any:
    """Labels as estimators take them.

    Whole numbers of full width: scikit-learn 1.9 exchanges columns of int8 labels beyond the 127th.
    """
    matrix = Y.csr.astype(np.int64)
    return matrix if as_sparse else matrix.toarray()


def fit_varying(estimator: Any, X: Any, Y: Any, params: dict[str, Any]) -> Fitted:
    """Fit a clone of the estimator to the labels that vary."""
    counts = np.asarray(Y.sum(axis=0)).ravel()
    never, always = counts == 0, counts == Y.shape[0]
    model, varying = clone(estimator), ~(never | always)
    if varying.any():
        model.fit(X, Y if varying.all() else Y[:, np.flatnonzero(varying)], **params)
    return Fitted(model, never, always)


def folds_of(cv: Any, X: Any, Y: Any, name: str = "cv") -> Folds:
    """The rows to train on and to score, fold by fold."""
    if isinstance(cv, bool) or cv is None or isinstance(cv, str):
        raise ValueError(
            f"{name} must be a number of folds, a splitter or a list of (train, test) rows (in "
            f"ThresholdClassifier and LIMOClassifier also 'prefit'): got {cv!r}."
        )
    if isinstance(cv, int | np.integer):
        if not 2 <= cv <= Y.shape[0]:
            raise ValueError(
                f"{name}={cv} folds cannot be made of n_samples={Y.shape[0]}: expected from 2 up "
                "to one fold for each instance."
            )
        cv = StratifiedFolds(int(cv))
    if hasattr(cv, "split"):
        return list(cv.split(X, Y))
    return list(cv)


def cross_fit(
    estimator: Any,
    X: Any,
    Y: Any,
    folds: Folds,
    *,
    probabilities: bool,
    params: dict[str, Any],
    n_jobs: int | None,
) -> tuple[Integers, Values]:
    """Score each fold's test rows by a model fitted on its training rows: the rows, and scores."""
    work = (
        delayed(_score_fold)(
            estimator, X, Y, train, test, probabilities, dict(_rows_of(params, train, Y.shape[0]))
        )
        for train, test in folds
    )
    found = Parallel(n_jobs=n_jobs)(work)
    return np.concatenate([test for _, test in folds]), np.concatenate(found)


def _score_fold(
    estimator: Any, X: Any, Y: Any, train: Any, test: Any, probabilities: bool, params: Any
) -> Values:
    fitted = fit_varying(estimator, _safe_indexing(X, train), Y[train], params)
    unseen = _safe_indexing(X, test)
    return fitted.probabilities(unseen) if probabilities else fitted.scores(unseen)


def _rows_of(params: dict[str, Any], rows: Integers, n_rows: int) -> Iterator[tuple[str, Any]]:
    """Fit parameters with one value for each instance, cut to some; others as they are."""
    for name, value in params.items():
        each = hasattr(value, "__len__") and not isinstance(value, str) and len(value) == n_rows
        yield name, _safe_indexing(value, rows) if each else value


def _n_rows(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


# Which rule suits which measure.

RULES: dict[str, Callable[[], ThresholdRule]] = {
    "label": LabelThreshold,
    "instance": InstanceThreshold,
    "global": GlobalThreshold,
    "top_k": TopK,
    "expected_f1": ExpectedF1,
}
"""Rules by the names :class:`limo.ThresholdClassifier` knows them by."""


def suggest_threshold(measure: str) -> ThresholdRule:
    """Choose the threshold rule that suits a measure, ready to be fitted.

    From the registry, ``limo.MEASURES[measure].threshold``: a threshold per label for macro-F1 and
    Hamming loss, per instance for instance-F1, one for all for micro-F1. That follows from the
    paper's Section 3.2: a cut should part what the measure compares.

    Parameters
    ----------
    measure : str
        A measure of predicted labels.

    Returns
    -------
    rule
        Its target is the measure.

    Examples
    --------
    >>> import limo
    >>> limo.suggest_threshold("macro_f1")
    LabelThreshold(target='macro_f1')
    >>> limo.suggest_threshold("macro_auc")
    Traceback (most recent call last):
        ...
    ValueError: macro_auc judges scores, so no threshold is needed. Measures of labels are:
    hamming_loss, macro_f1, instance_f1, micro_f1.
    """
    kind = MEASURES[check_name(measure, MEASURES, "measure")].threshold
    if kind is None:
        of_labels = ", ".join(name for name, m in MEASURES.items() if m.threshold is not None)
        raise ValueError(
            f"{measure} judges scores, so no threshold is needed. Measures of labels are: "
            f"{of_labels}."
        )
    rule = RULES[kind]()
    return rule.set_params(target=measure)  # type: ignore[no-any-return]


def make_rule(threshold: Any, measure: Any) -> ThresholdRule:
    """Make a rule from a rule, its name or None, with the measure as target if it has none."""
    if threshold is None:
        return LabelThreshold() if measure is None else suggest_threshold(measure)
    if isinstance(threshold, str):
        rule = RULES[check_name(threshold, RULES, "threshold rule")]()
    elif isinstance(threshold, ThresholdRule):
        rule = clone(threshold)
    else:
        raise TypeError(
            f"threshold must be a rule such as LabelThreshold(), or one of {', '.join(RULES)}: "
            f"got {threshold!r}. A number goes into FixedThreshold."
        )
    if measure is not None and rule.get_params().get("target", measure) is None:
        rule.set_params(target=measure)
    return rule


# How a model with scores of its own gets the threshold that makes labels of them.


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
