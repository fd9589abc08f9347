"""The best model for a measure: an ensemble of unlike models, selected for the measure itself."""

import os
import warnings
from collections.abc import Callable, Sequence
from copy import copy
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils import check_random_state

from limo._settings import check_n_jobs, check_name, check_number
from limo._system import Budget, OutOfTimeError, at_most, stopping_at
from limo._types import Values
from limo.measures._measure import Measure
from limo.measures._table import MEASURES
from limo.models._base import MultiLabelClassifier
from limo.models._library import Candidate, Tried, comparable_scores, library
from limo.models._selection import (
    Chosen,
    Truth,
    Valued,
    alone,
    fit_rule,
    mixed,
    select,
    without_light,
)
from limo.models._trials import ScoreCache, Trial, Trials, reserved_seconds
from limo.thresholds._fit import (
    ConstantLabels,
    Fitted,
    Folds,
    fit_varying,
    folds_of,
    label_matrix,
)

FAMILIES = ("linear", "trees", "kernel", "boosting", "neighbours")
# Data with a smaller share of values other than 0 are treated as sparse, such as texts.
_SPARSE_SHARE = 0.25
# Folds by the number of rows from which on they are enough: with many rows, fewer of them train
# nearly as good a model.
_FOLDS = {0: 5, 5_000: 3, 20_000: 2}


class AimedClassifier(MultiLabelClassifier):
    """The best model for a measure: an ensemble of models of different kinds.

    Linear models, kernel machines, forests, boosted trees and neighbours score every training
    instance by models that have not seen it. From these scores the weights of an ensemble are
    fitted for each measure, by the loss that suits it, and then the kind of threshold and the
    threshold. Only models that have a weight are fitted on all data. All measures share the scores.

    Parameters
    ----------
    measure : str or list of str, default="macro_f1"
        The measure to train for, any of ``limo.MEASURES``. If there are several, ``predict`` and
        ``decision_function`` use the ensemble for the first; :meth:`model_for` gives the others.
    families : sequence of str
        Which models to try, from "linear", "trees", "kernel", "boosting" and "neighbours"; by
        default all that suit the data. For very large data only linear models are tried.
    extra : sequence of (str, estimator)
        Further models by name: any scikit-learn estimator for several labels with
        ``decision_function`` or ``predict_proba``.
    cv : "auto", int or splitter, default="auto"
        The folds for cross-fitted scores: by default five, three from 5000 rows on, and two from
        20 000. Forests use their out-of-bag scores instead.
    time_budget : float or None, default=None
        Seconds for everything. Models that would take too long are left out, and the leaderboard
        says so. The first, logistic regression, is always fitted.
    cache : path or None, default=None
        A folder for cross-fitted scores. A search that was interrupted, or is repeated with another
        measure, takes them from there.
    threshold_measure : str, default="micro_f1"
        The measure for which ``predict`` cuts if the chosen measure needs no threshold.
    n_jobs : int or None, default=None
        The number of threads; None or -1 for one per core.
    random_state : int, RandomState or None, default=None
        For forests, boosting, landmarks and the selection.
    callback : callable, optional
        Called with a ``Trial`` after each model.
    missing : number, optional
        The number that stands for a missing label in ``y``: nan or -1. Such entries take no part in
        any fit, measure or threshold. Models that cannot be trained with them, forests and
        neighbours, are left out.

    Attributes
    ----------
    leaderboard_ : list of dict
        A line for each model: ``model``, ``family``, ``seconds``; by measure ``value`` and
        ``interval``, of the model alone on all folds together, and ``weight`` in the ensemble; and
        ``note``, why it was left out. The first line is the ensemble, each fold of which was left
        out when its weights and thresholds were fitted. Intervals have the level of 95 %.
    held_out_ : dict of dict
        All measures of the ensemble for the first measure: ``value``, ``low`` and ``high``.
    thresholds_ : dict of str
        For each measure of labels the kind of threshold, as ``AutoThreshold`` chose it; for
        macro-F1 "expected F1", a threshold per label from probabilities of all instances.
    members_ : dict of estimator
        The models chosen for any of the measures, fitted on all data.
    weights_ : dict of dict
        For each measure, the weights of its members.

    Examples
    --------
    >>> import limo
    >>> train, test = limo.datasets.split(limo.datasets.figure1(300))
    >>> model = limo.AimedClassifier("macro_f1", families=["linear", "trees"])
    >>> model = model.fit(train.X, train.Y)
    >>> limo.macro_f1(test.Y, model.predict(test.X)) > 0.8
    True
    >>> model.leaderboard_[0]["model"]
    'ensemble'
    """

    __module__ = "limo"  # the public name, which model files contain

    def __init__(
        self,
        measure: str | Sequence[str] = "macro_f1",
        *,
        families: Sequence[str] = FAMILIES,
        extra: Sequence[tuple[str, Any]] = (),
        cv: Any = "auto",
        time_budget: float | None = None,
        cache: Any = None,
        threshold_measure: str = "micro_f1",
        n_jobs: int | None = None,
        random_state: Any = None,
        callback: Callable[[Trial], object] | None = None,
        missing: float | None = None,
    ) -> None:
        self.measure = measure
        self.families = families
        self.extra = extra
        self.cv = cv
        self.time_budget = time_budget
        self.cache = cache
        self.threshold_measure = threshold_measure
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.callback = callback
        self.missing = missing

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Try the models, select an ensemble for each measure, and fit its members on all data.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features, in any scale.
        y : array-like or sparse matrix of shape (n_samples, n_labels)
            Labels, 0 or 1 (or -1 and 1, or two strings); or one label with two classes. Only with
            ``missing`` may labels be missing.
        sample_weight : array-like of shape (n_samples,), optional
            How much each instance counts, for every model, measure and threshold. Models that take
            no weights, the neighbours, are left out.

        Returns
        -------
        self
        """
        budget = Budget.of(self._checked_budget())
        measures = self._measures()
        self._check_settings()
        X, Y = self._check_training(X, y, missing=self.missing)
        labels, given_folds = label_matrix(Y, as_sparse=False), not _is_number(self.cv)
        X, truth = Truth.of(X, labels, sample_weight, all_rows=given_folds)
        self.never_, self.always_ = truth.constant.never, truth.constant.always
        self.is_sparse_ = _is_mostly_zero(X)
        X = self._stored(X)
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        folds = self._folds(X, truth.Y)
        cache = ScoreCache(self.cache, X, truth.Y, folds, truth.weights)
        trials = Trials(X, truth, folds, measures[0], budget, cache, self.callback)
        with at_most(self.n_jobs):
            tried = trials.run(self._candidates(X, truth.Y.shape[1], seed))
            chosen = self._select(measures, truth, tried, folds, seed, budget)
            self._refit(X, truth, tried, chosen, budget.end_of_fits)
            self._fit_thresholds(truth, tried)
        self.held_out_ = {
            name: _as_dict(one) for name, one in chosen[measures[0].name].values.items()
        }
        self.leaderboard_ = self._leaderboard(measures, truth, tried, chosen, trials)
        return self

    def model_for(self, measure: str) -> "AimedClassifier":
        """The ensemble for one of the measures; it shares its members with the others."""
        if not hasattr(self, "weights_"):
            raise NotFittedError("AimedClassifier is not fitted yet: call fit first.")
        model = copy(self)
        model.measure = check_name(MEASURES.canonical(measure), self.weights_, "measure here")
        return model

    def decision_function(self, X: Any) -> Values:
        """Scores by the ensemble for the first measure; the higher, the more likely relevant."""
        return self._scores(self._raw_scores(self._check_instances(X)))

    def predict(self, X: Any) -> Any:
        """Labels by the ensemble for the first measure, cut for this measure."""
        S = self._raw_scores(self._check_instances(X))
        rule = self.rules_[self._first]
        return self._labels(self._constant_labels.correct(rule.predict(S)))

    # What the ensemble is made of

    @property
    def _first(self) -> str:
        return self._measures()[0].name

    @property
    def _constant_labels(self) -> ConstantLabels:
        return ConstantLabels(self.never_, self.always_)

    def _raw_scores(self, X: Any) -> Values:
        X = self._stored(X)
        total: Values = np.zeros((X.shape[0], self.never_.size))
        for name, weight in self.weights_[self._first].items():
            fitted = Fitted(self.members_[name], self._constant_labels)
            centre, spread = self.scaling_[name]
            total += weight * (comparable_scores(fitted, X) - centre) / spread
        constant = self._constant_labels
        if not constant.varying.all():  # beyond all others, whatever scores the members give
            total = constant.complete(total[:, constant.varying])
        scores: Values = total - self.offsets_[self._first]
        return scores

    def _stored(self, X: Any) -> Any:
        """Features stored as suits their values, so that the form of the input does not matter."""
        if self.is_sparse_:
            return sparse.csr_array(X)
        return X.toarray() if sparse.issparse(X) else X

    # Checks

    def _measures(self) -> list[Measure]:
        names = [self.measure] if isinstance(self.measure, str) else self.measure
        names = list(_sequence(names, "measure", "the name of a measure or a list of names"))
        if not names:
            raise ValueError("measure must name at least one measure to train for, got none.")
        return [MEASURES[check_name(name, MEASURES, "measure")] for name in names]

    def _checked_budget(self) -> float | None:
        if self.time_budget is not None:
            check_number(self.time_budget, "time_budget", above=0)
        return self.time_budget

    def _check_settings(self) -> None:
        families = _sequence(self.families, "families", "a list such as ['linear', 'trees']")
        for family in families:
            check_name(family, FAMILIES, "family of models")
        for one in _sequence(self.extra, "extra", "a list of (name, estimator)"):
            _check_extra(one)
        if not len(families) and not len(self.extra):
            raise ValueError("families and extra must hold at least one model to try.")
        check_n_jobs(self.n_jobs)
        if not isinstance(self.cache, str | os.PathLike | None):
            raise TypeError(f"cache must be the path of a folder, got {self.cache!r}.")
        if self.callback is not None and not callable(self.callback):
            raise TypeError(f"callback must be a function of a Trial, got {self.callback!r}.")
        check_name(self.threshold_measure, MEASURES, "measure")
        if MEASURES[self.threshold_measure].threshold is None:
            raise ValueError(
                f"threshold_measure must be a measure of labels, got {self.threshold_measure!r}, "
                "which needs no threshold."
            )

    def _folds(self, X: Any, labels: Any) -> Folds:
        """Folds that hold every row once; at most one per row."""
        n_rows = labels.shape[0]
        if n_rows == 1:
            return [(np.arange(1), np.arange(1))]
        cv = self.cv
        if isinstance(cv, str) and cv == "auto":
            cv = next(n for least, n in reversed(_FOLDS.items()) if n_rows >= least)
        folds = folds_of(min(n_rows, cv) if _is_number(cv) and cv > 1 else cv, X, labels)
        held = sorted(row for _, test in folds for row in np.asarray(test).tolist())
        if held != list(range(n_rows)):
            raise ValueError("cv must hold out every row exactly once, as KFold does.")
        return folds

    # Trying models

    def _candidates(self, X: Any, n_labels: int, seed: int) -> list[Candidate]:
        candidates = library(X, n_labels, seed=seed, n_jobs=self.n_jobs)
        candidates = [one for one in candidates if one.family in self.families]
        names = {name for one in candidates for name in (one.name, *one.members)}
        for name, estimator in self.extra:
            if name in names:
                raise ValueError(f"The name of an extra model must be new, got {name!r} again.")
            names.add(name)
            candidates.append(Candidate(name, "other", estimator))
        if not candidates:
            raise ValueError(
                f"None of the families {', '.join(self.families)} suits data of "
                f"{X.shape[0]} x {X.shape[1]} features; add 'linear'."
            )
        return candidates

    # Selection and final fits

    def _select(
        self,
        measures: list[Measure],
        truth: Truth,
        tried: list[Tried],
        folds: Folds,
        seed: int,
        budget: Budget,
    ) -> dict[str, Chosen]:
        rows, scores = [test for _, test in folds], [one.S for one in tried]
        end = budget.end_of_weights(reserved_seconds(tried))
        rng = np.random.default_rng(seed)
        return select(measures, truth, scores, rows, rng, end, self.threshold_measure)

    def _refit(
        self,
        X: Any,
        truth: Truth,
        tried: list[Tried],
        chosen: dict[str, Chosen],
        deadline: float,
    ) -> None:
        """Fit on all data what weighs enough for some measure, the heaviest first.

        What cannot be fitted in time is left out, unless a measure would be left without a model.
        """
        weights = {name: without_light(one.weights) for name, one in chosen.items()}
        heaviest = {int(np.argmax(w)) for w in weights.values()}
        total = np.sum(list(weights.values()), axis=0)
        fits: dict[int, Any] = {}
        self.members_: dict[str, Any] = {}
        self.scaling_: dict[str, tuple[float, float]] = {}
        for k in sorted(
            np.flatnonzero(total).tolist(), key=lambda k: (k not in heaviest, -total[k])
        ):
            one = tried[k]
            key = id(one.candidate)
            try:
                if key not in fits:
                    with stopping_at(np.inf if k in heaviest else deadline):
                        fits[key] = self._final(one, X, truth)
            except OutOfTimeError:
                for w in weights.values():
                    w[k] = 0.0
                continue
            model = copy(fits[key])
            self.members_[one.name] = model.set_params(**one.settings) if one.settings else model
            self.scaling_[one.name] = (one.centre, one.spread)
        self.weights_ = {
            name: {tried[k].name: float(w[k] / w.sum()) for k in np.flatnonzero(w).tolist()}
            for name, w in weights.items()
        }

    def _final(self, one: Tried, X: Any, truth: Truth) -> Any:
        if one.scored.fitted is not None:
            return one.scored.fitted.estimator
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            params = one.candidate.fit_params(truth.weights)
            model = fit_varying(one.candidate.estimator, X, truth.Y, params).estimator
        if hasattr(model, "out_of_bag_scores_"):
            del model.out_of_bag_scores_
        return model

    def _fit_thresholds(self, truth: Truth, tried: list[Tried]) -> None:
        """Thresholds fitted on the cross-fitted scores of the ensembles."""
        by_name = {one.name: one.S for one in tried}
        self.thresholds_: dict[str, str] = {}
        self.rules_, self.offsets_ = {}, {}
        for name, weights in self.weights_.items():
            scores = [by_name[k] for k in weights]
            S = truth.complete(mixed(scores, np.array(list(weights.values()))))
            rule = fit_rule(MEASURES[name], self.threshold_measure, truth, S, np.arange(len(S)))
            self.rules_[name] = rule
            if MEASURES[name].threshold is not None:
                self.thresholds_[name] = getattr(rule, "kind_", "expected F1")
            # scores above 0 are then predicted, where one threshold cuts them all
            self.offsets_[name] = rule.move_to_zero()

    def _leaderboard(
        self,
        measures: list[Measure],
        truth: Truth,
        tried: list[Tried],
        chosen: dict[str, Chosen],
        trials: Trials,
    ) -> list[dict[str, Any]]:
        names = [m.name for m in measures]
        held_out = {name: chosen[name].values[name] for name in names}
        lines: list[dict[str, Any]] = []
        rows = [test for _, test in trials.folds]
        for one in tried:
            values = {names[0]: trials.values[one.name]}
            values |= alone(names[1:], truth, one.S, rows)
            lines.append(
                {
                    "model": one.name,
                    "family": one.candidate.family,
                    "seconds": one.scored.seconds,
                    **_summary(values),
                    "weight": {name: self.weights_[name].get(one.name, 0.0) for name in names},
                }
            )
        sign = measures[0].sign
        lines.sort(key=lambda line: -sign * np.nan_to_num(line["value"][names[0]]))
        left = [{"model": name, "note": why} for name, why in trials.left_out.items()]
        return [{"model": "ensemble", **_summary(held_out)}, *lines, *left]


def _is_mostly_zero(X: Any) -> bool:
    return bool(sparse.csr_array(X).count_nonzero() < _SPARSE_SHARE * X.shape[0] * X.shape[1])


def _summary(values: dict[str, Valued]) -> dict[str, Any]:
    """Values and intervals, by measure."""
    return {
        "value": {name: one.value for name, one in values.items()},
        "interval": {name: (one.low, one.high) for name, one in values.items()},
    }


def _as_dict(one: Valued) -> dict[str, float]:
    return {"value": one.value, "low": one.low, "high": one.high}


def _is_number(cv: Any) -> bool:
    """Whether folds are made here, so that rows without weight can be left out."""
    if isinstance(cv, str):
        return cv == "auto"
    return isinstance(cv, int | np.integer) and not isinstance(cv, bool)


def _sequence(given: Any, name: str, expected: str) -> Any:
    listed = isinstance(given, Sequence) or (isinstance(given, np.ndarray) and given.ndim > 0)
    if isinstance(given, str) or not listed:
        raise TypeError(f"{name} must be {expected}, got {given!r}.")
    return given


def _check_extra(one: Any) -> None:
    pair = isinstance(one, tuple | list) and len(one) == 2 and isinstance(one[0], str)
    if not pair or not hasattr(one[1], "fit") or not hasattr(one[1], "get_params"):
        raise TypeError(
            "extra must hold pairs of a name and a scikit-learn estimator, such as "
            f"('mine', estimator), got {one!r}."
        )
