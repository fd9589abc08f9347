"""The one way to fit thresholds, and the one treatment of labels that are constant in training.

:class:`Training` fits a model and threshold rules to training data. ``ThresholdClassifier``, the
LIMO estimators, the experiment runner and ``limo fit`` all use it. A rule is fitted on scores of
instances that the model has not seen, unless the caller asks for training scores.
"""

import reprlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _num_samples

from limo._checks import check_inputs
from limo._scores import probabilities_of, scores_of
from limo._settings import check_name
from limo._types import Anything, Booleans, Integers, Values, check_kind
from limo._views import Pattern
from limo.datasets import StratifiedFolds
from limo.measures._table import MEASURES
from limo.thresholds._auto import AutoThreshold
from limo.thresholds._best import Labels
from limo.thresholds._calibration import ScoreCalibration
from limo.thresholds._instance import InstanceThreshold
from limo.thresholds._rules import (
    ExpectedF1,
    GlobalThreshold,
    LabelThreshold,
    ThresholdRule,
    TopK,
)

Folds = list[tuple[Integers, Integers]]

Source = Literal["cross-fitted scores", "training scores"]
"""What a rule is fitted on: scores of instances the model has not seen, or has been trained on."""

OWN = "own"
"""Instead of a threshold rule: the model's own ``predict``."""


class Training:
    """A model and its training data: fits the model once, and any number of rules to its scores.

    Each kind of scores is computed when a rule first needs it, and then shared by all rules.

    Parameters
    ----------
    estimator : estimator
        The model, unfitted. Clones of it are fitted, on all data and on each fold. If it is a
        pipeline, its transformers are refitted on each fold too, so that nothing about held-out
        instances enters their scores.
    X, Y
        Features as the estimator takes them; labels as :func:`label_matrix` gives them or, for an
        estimator that takes only one-dimensional labels, the 0/1 marks of one label.
    cv : int, splitter or iterable
        The folds for cross-fitted scores.
    params : dict, optional
        Passed to the estimator's ``fit``.
    n_jobs : int, optional
        How many folds are fitted in parallel.
    fitted : Fitted, optional
        The model, if it is fitted already.
    sample_weight : array of shape (n_samples,), optional
        What instances weigh when a rule is fitted. The model gets its weights by ``params``.
    """

    def __init__(
        self,
        estimator: Any,
        X: Any,
        Y: Any,
        cv: Any,
        *,
        params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        fitted: "Fitted | None" = None,
        sample_weight: Values | None = None,
    ) -> None:
        self.estimator, self.Y, self.cv = estimator, Y, cv
        self.sample_weight = sample_weight
        (self.X,) = indexable(X)
        self.params, self.n_jobs = params or {}, n_jobs
        self._fitted = fitted
        self._known: dict[tuple[Source, bool], tuple[Integers, Values]] = {}

    @property
    def fitted(self) -> "Fitted":
        """The model, fitted on all data."""
        if self._fitted is None:
            self._fitted = fit_varying(self.estimator, self.X, self.Y, self.params)
        return self._fitted

    def fit_rule(
        self, rule: ThresholdRule, source: Source = "cross-fitted scores"
    ) -> ThresholdRule:
        """Fit a rule, unless it needs no fitting. It sees the features as they were given."""
        if not rule.needs_fit:
            return rule
        rows, S = self.scores(source, probabilities=rule.needs_probabilities)
        features = _safe_indexing(self.X, rows) if rule.needs_features else None
        given = self._counting(rows, weights=rule.takes_weights)
        return rule.fit(_as_matrix(self.Y)[rows], S, features, **given)

    def calibrate(
        self, calibration: ScoreCalibration, source: Source = "cross-fitted scores"
    ) -> ScoreCalibration:
        """Fit probabilities to the scores."""
        rows, S = self.scores(source)
        return calibration.fit(_as_matrix(self.Y)[rows], S, **self._counting(rows))

    def _counting(self, rows: Integers, *, weights: bool = True) -> dict[str, Any]:
        """The options that say how much these rows count, and which of their labels are missing."""
        given: dict[str, Any] = {}
        if self.sample_weight is not None and weights:
            given["sample_weight"] = self.sample_weight[rows]
        if self.Y.dtype.kind == "f":
            given["missing"] = np.nan
        return given

    def scores(self, source: Source, *, probabilities: bool = False) -> tuple[Integers, Values]:
        """Rows of the training data, and their scores or probabilities."""
        key = (source, probabilities)
        if key not in self._known:
            self._known[key] = self._compute(source, probabilities)
        return self._known[key]

    def _compute(self, source: Source, probabilities: bool) -> tuple[Integers, Values]:
        if source == "training scores":
            rows = np.arange(self.Y.shape[0])
            return rows, self.fitted.scores(self.X, probabilities=probabilities)
        return cross_fit(
            self.estimator,
            self.X,
            self.Y,
            folds_of(self.cv, self.X, self.Y),
            probabilities=probabilities,
            params=self.params,
            n_jobs=self.n_jobs,
        )


# Labels that are constant in training


@dataclass(frozen=True, eq=False)
class ConstantLabels:
    """Which labels no training instance has, and which all have.

    Nothing can be learnt about such a label. It is predicted for no instance, or for all; and
    among the scores of an instance it gets the lowest, or the highest.
    """

    never: Booleans
    always: Booleans

    @classmethod
    def of(cls, ones: Anything, n_rows: Any) -> "ConstantLabels":
        """From the numbers of instances that have each label, and whose label is known."""
        return cls(ones == 0, ones == n_rows)

    @classmethod
    def among(cls, Y: Pattern) -> "ConstantLabels":
        """From training labels; those that are missing do not count."""
        n_known: Any = Y.shape[0] if Y.unknown is None else Y.shape[0] - Y.unknown.ones_per_column
        return cls.of(Y.ones_per_column, n_known)

    @property
    def varying(self) -> Booleans:
        """The other labels."""
        return ~(self.never | self.always)

    def complete(self, S: Values, low: Any = None, high: Any = None) -> Values:
        """Scores of all labels, from scores of all labels or of the varying ones only.

        ``low`` and ``high`` are the scores for constant labels: by default the lowest and the
        highest score of each instance or, if it has none, 0 and 1.
        """
        varying = self.varying
        if varying.all():
            return S
        whole = S
        if S.shape[1] != varying.size:
            whole = np.empty((S.shape[0], varying.size), dtype=S.dtype)
            whole[:, varying] = S
        if low is None:
            low = S.min(axis=1, keepdims=True) if S.shape[1] else 0.0
        whole[:, self.never] = low
        if high is None:
            high = S.max(axis=1, keepdims=True) if S.shape[1] else 1.0
        whole[:, self.always] = high
        return whole

    def correct(self, P: Any) -> Any:
        """Predict a label that never occurs for no instance, one that always occurs for all."""
        P[:, self.never], P[:, self.always] = 0, 1
        return P


@dataclass(frozen=True, eq=False)
class Fitted:
    """A model of the non-constant labels, plus fixed answers for constant ones.

    Many estimators fail on a constant label, or give it scores that cannot be compared with others.
    """

    estimator: Any
    constant: ConstantLabels

    @property
    def complete(self) -> bool:
        """Whether no label is constant."""
        return bool(self.constant.varying.all())

    def scores(self, X: Any, *, probabilities: bool = False) -> Values:
        """Scores or probabilities of all labels."""
        if not self.constant.varying.any():
            return self.constant.complete(np.empty((_num_samples(X), 0)))
        S = self._one_column((probabilities_of if probabilities else scores_of)(self.estimator, X))
        scored = hasattr(self.estimator, "decision_function")
        if probabilities or (hasattr(self.estimator, "predict_proba") and not scored):
            return self.constant.complete(S, 0.0, 1.0)
        return self.constant.complete(S)

    def cut(self, rule: ThresholdRule, S: Values, X: Any) -> Labels:
        """Labels from scores, by a rule."""
        return self.constant.correct(rule.predict(S, X))

    def own_labels(self, X: Any) -> Any:
        """Labels by the model's own ``predict``, dense."""
        n_rows, varying = _num_samples(X), self.constant.varying
        P = np.zeros((n_rows, varying.size), dtype=np.int64)
        if varying.any():
            own = self.estimator.predict(X)
            own = own.toarray() if sparse.issparse(own) else np.asarray(own)
            P[:, varying] = own.reshape(n_rows, -1)
        return self.constant.correct(P)

    def _one_column(self, S: Values) -> Values:
        """Take the second column where an estimator gives both classes of a single label."""
        n_varying = self.constant.varying.sum()
        if n_varying == 1 and S.shape[1] == 2:
            S = S[:, 1:]
        if S.shape[1] != n_varying:
            raise ValueError(
                f"{type(self.estimator).__name__} gives scores of {S.shape[1]} labels, but y has "
                f"{n_varying}. Was it fitted on other labels?"
            )
        return S


def fit_varying(estimator: Any, X: Any, Y: Any, params: dict[str, Any]) -> Fitted:
    """Fit a clone of the estimator to the labels that are not constant."""
    if Y.dtype.kind == "f":  # nan where a label is missing
        constant = ConstantLabels.of(np.nansum(Y, axis=0), (~np.isnan(Y)).sum(axis=0))
    else:
        constant = ConstantLabels.of(np.asarray(Y.sum(axis=0)).ravel(), Y.shape[0])
    model, varying = clone(estimator), constant.varying
    if varying.any():
        model.fit(X, Y if varying.all() else Y[:, np.flatnonzero(varying)], **params)
    return Fitted(model, constant)


def _as_matrix(Y: Any) -> Any:
    return Y[:, np.newaxis] if Y.ndim == 1 else Y


def label_matrix(Y: Pattern, *, as_sparse: bool) -> Any:
    """Labels as estimators take them.

    As int64: scikit-learn 1.9 exchanges columns of int8 labels beyond the 127th. If labels are
    missing, a dense float array with nan for these.
    """
    matrix = Y.csr.astype(np.int64)
    if Y.unknown is not None:
        return np.where(Y.unknown.csr.toarray() == 1, np.nan, matrix.toarray())
    return matrix if as_sparse else matrix.toarray()


# Scores of instances that a model has not seen


def cross_fit(
    estimator: Any,
    X: Any,
    Y: Any,
    folds: Folds,
    *,
    probabilities: bool = False,
    params: dict[str, Any] | None = None,
    n_jobs: int | None = None,
) -> tuple[Integers, Values]:
    """Score each fold by a model fitted on the other rows; return the rows and their scores."""
    work = (
        delayed(_score_fold)(
            estimator,
            X,
            Y,
            train,
            test,
            probabilities,
            dict(_rows_of(params or {}, train, Y.shape[0])),
        )
        for train, test in folds
    )
    scores = Parallel(n_jobs=n_jobs)(work)
    return np.concatenate([test for _, test in folds]), np.concatenate(scores)


def _score_fold(
    estimator: Any, X: Any, Y: Any, train: Any, test: Any, probabilities: bool, params: Any
) -> Values:
    fitted = fit_varying(estimator, _safe_indexing(X, train), Y[train], params)
    return fitted.scores(_safe_indexing(X, test), probabilities=probabilities)


def _rows_of(params: dict[str, Any], rows: Integers, n_rows: int) -> Iterator[tuple[str, Any]]:
    """Fit parameters: those with one value per instance reduced to some rows, others unchanged."""
    for name, value in params.items():
        each = hasattr(value, "__len__") and not isinstance(value, str) and len(value) == n_rows
        yield name, _safe_indexing(value, rows) if each else value


def folds_of(cv: Any, X: Any, Y: Any, name: str = "cv") -> Folds:
    """The rows to train on and to score, fold by fold."""
    if isinstance(cv, int | np.integer) and not isinstance(cv, bool):
        if not 2 <= cv <= Y.shape[0]:
            raise ValueError(
                f"{name}={cv} folds are impossible with n_samples={Y.shape[0]}: expected "
                "at least 2, and at most one fold per instance."
            )
        return list(StratifiedFolds(int(cv)).split(X, _as_matrix(Y)))
    if hasattr(cv, "split") and not isinstance(cv, str | bytes | type):
        return list(cv.split(X, Y))
    try:
        folds = [(np.asarray(train), np.asarray(test)) for train, test in cv]
    except (TypeError, ValueError):
        folds = []
    if not folds or not all(_are_rows(rows, Y.shape[0]) for pair in folds for rows in pair):
        raise ValueError(
            f"{name} must be a number of folds, a splitter or a list of (train, test) rows: "
            f"got {reprlib.repr(cv)}."
        )
    return folds


def _are_rows(given: Anything, n_rows: int) -> bool:
    """Whether these are numbers of rows."""
    numbers = given.ndim == 1 and given.dtype.kind in "iu"
    return numbers and bool(((given >= -n_rows) & (given < n_rows)).all())


def threshold_folds(cv: Any, X: Any, labels: Any) -> Folds:
    """Folds to fit a threshold on; at most one per instance if their number is given."""
    n_rows = labels.shape[0]
    too_many = isinstance(cv, int) and 1 < n_rows < cv
    return folds_of(n_rows if too_many else cv, X, labels, "threshold_cv")


def held_out_labels(
    rule: ThresholdRule,
    y_true: Any,
    y_score: Any,
    *,
    cv: Any = 5,
    sample_weight: Any = None,
    missing: Any = None,
) -> Any:
    """Cut every row by the rule as fitted on other rows, to judge the rule on unseen rows.

    Parameters
    ----------
    rule : rule
        Clones of it are fitted.
    y_true, y_score : arrays of shape (n_samples, n_labels)
        True labels and scores.
    cv : int, splitter or iterable, default=5
        The folds.
    sample_weight, missing
        As for the rule's ``fit``.

    Returns
    -------
    array of shape (n_samples, n_labels)

    Examples
    --------
    >>> import limo
    >>> data = limo.datasets.figure1(200)
    >>> scores = limo.LIMOClassifier().fit(data.X, data.Y).decision_function(data.X)
    >>> held_out_labels(limo.LabelThreshold("macro_f1"), data.Y, scores).shape
    (200, 4)
    """
    check_kind(rule, ThresholdRule, "rule must be a threshold rule, such as LabelThreshold()")
    weighted = {"missing": missing, "sample_weight": sample_weight}
    _ = check_inputs(y_true, y_score, **weighted, sparse_scores=True).needed_scores
    Y, S = (part if sparse.issparse(part) else np.asarray(part) for part in (y_true, y_score))
    if not rule.needs_fit:
        return rule.predict(S)
    P = np.zeros(Y.shape, dtype=np.int64)
    known = np.nan_to_num(Y) if not sparse.issparse(Y) and Y.dtype.kind == "f" else Y
    for train, test in threshold_folds(cv, S, known):
        weights = None if sample_weight is None else np.asarray(sample_weight)[train]
        fitted = clone(rule).fit(Y[train], S[train], sample_weight=weights, missing=missing)
        labels = fitted.predict(S[test])
        P[test] = labels.toarray() if sparse.issparse(labels) else labels
    return P


# Rules by name and by measure

RULES: dict[str, Callable[[], ThresholdRule]] = {
    "label": LabelThreshold,
    "instance": InstanceThreshold,
    "global": GlobalThreshold,
    "top_k": TopK,
    "expected_f1": ExpectedF1,
    "mixed": partial(InstanceThreshold, offset="label"),
    "auto": AutoThreshold,
}
"""The rules by name, as :class:`limo.ThresholdClassifier` takes them."""


def suggest_threshold(measure: str) -> ThresholdRule:
    """Choose the threshold rule that suits a measure, ready to be fitted.

    It is the one named by ``limo.MEASURES[measure].threshold``: a threshold per label for macro-F1
    and Hamming loss, per instance for instance-F1, a single one for micro-F1. This follows from
    the paper's Section 3.2: a threshold should separate the items that the measure compares.

    Parameters
    ----------
    measure : str
        A measure of predicted labels.

    Returns
    -------
    rule
        Its target is the measure; macro-F1 for a function of whole matrices (``Measure.whole``),
        which no search can follow.

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
    measure = check_name(measure, MEASURES, "measure")
    record = MEASURES[measure]
    if record.whole and record.needs == "labels":
        return suggest_threshold("macro_f1")
    _check_of_labels(measure)
    rule = RULES[record.threshold]()  # type: ignore[index]
    return rule.set_params(target=measure)  # type: ignore[no-any-return]


def _check_of_labels(measure: Any) -> None:
    """Reject a measure of scores."""
    if measure in MEASURES and MEASURES[measure].threshold is None:
        of_labels = ", ".join(name for name, m in MEASURES.items() if m.threshold is not None)
        raise ValueError(
            f"{measure} judges scores, so no threshold is needed. Measures of labels are: "
            f"{of_labels}."
        )


def make_rule(threshold: Any, measure: Any) -> ThresholdRule:
    """Make a rule from a rule, its name or None, with the measure as target if it has none."""
    if threshold is None:
        return LabelThreshold() if measure is None else suggest_threshold(measure)
    if isinstance(measure, str):
        _check_of_labels(measure)
    if isinstance(threshold, str):
        rule = RULES[check_name(threshold, RULES, "threshold rule")]()
    elif isinstance(threshold, ThresholdRule):
        rule = clone(threshold)
    else:
        raise TypeError(
            f"threshold must be a rule such as LabelThreshold(), or one of {', '.join(RULES)}: "
            f"got {threshold!r}. For a number t, use FixedThreshold(t)."
        )
    if measure is not None and rule.get_params().get("target", measure) is None:
        rule.set_params(target=measure)
    return rule
