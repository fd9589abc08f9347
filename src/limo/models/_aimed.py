"""The best model for a measure: an ensemble of unlike models, selected for the measure itself."""

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils import check_random_state

from limo._checks import check_name, check_number
from limo._system import OutOfTimeError, at_most
from limo._types import Values
from limo.measures._measure import Measure
from limo.measures._table import MEASURES
from limo.models._base import MultiLabelClassifier
from limo.models._library import (
    Candidate,
    ScoreCache,
    Scored,
    Tried,
    comparable_scores,
    cross_fit_candidate,
    library,
)
from limo.models._selection import (
    Chosen,
    Truth,
    alone,
    expected_label_thresholds,
    mixed,
    select,
    summary,
    without_light,
)
from limo.thresholds._fit import (
    ConstantLabels,
    Fitted,
    Folds,
    fit_varying,
    folds_of,
    label_matrix,
    make_rule,
)
from limo.thresholds._rules import FixedThreshold

FAMILIES = ("linear", "trees", "kernel", "boosting", "neighbours")
# Data with a smaller share of values other than 0 are treated as sparse, such as texts.
_SPARSE_SHARE = 0.25
# The rest of the time is for the selection.
_SHARE_FOR_FITS = 0.9


@dataclass(frozen=True)
class Trial:
    """Progress of an aimed classifier, passed to its callback after each model.

    Attributes
    ----------
    done, total : int
        Models tried, and to try.
    name : str
        The model tried last.
    best, best_name : float, str
        The best cross-validated value of a single model so far, by the first measure, and whose.
    seconds : float
        The time since the start.
    """

    done: int
    total: int
    name: str
    best: float
    best_name: str
    seconds: float


class AimedClassifier(MultiLabelClassifier):
    """The best model for a measure: an ensemble selected for it from unlike models.

    Linear models, kernel machines, forests, boosted trees and neighbours score every training
    instance by models that have not seen it. From these scores the weights of an ensemble are
    fitted for each measure, by the loss that suits it, and then the kind of threshold and the
    threshold. Only models that have a weight are fitted on all data. All measures share the scores.

    Parameters
    ----------
    measure : str or list of str, default="macro_f1"
        The measure to be best at, any of ``limo.MEASURES``. If there are several, ``predict`` and
        ``decision_function`` use the ensemble for the first; :meth:`model_for` gives the others.
    families : sequence of str
        Which models to try, from "linear", "trees", "kernel", "boosting" and "neighbours"; by
        default all that suit the data. For very large data only linear models are tried.
    extra : sequence of (str, estimator)
        Further models by name: any scikit-learn estimator for several labels with
        ``decision_function`` or ``predict_proba``.
    cv : int or splitter, default=5
        The folds for cross-fitted scores. Forests use their out-of-bag scores instead.
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
        any fit, measure or threshold. Models that cannot learn around them, forests and
        neighbours, are left out.

    Attributes
    ----------
    leaderboard_ : list of dict
        A line for each model: ``model``, ``family``, ``seconds``; by measure ``value`` and
        ``spread``, mean and standard deviation over the folds of the model alone, and ``weight``
        in the ensemble; and ``note``, why it was left out. The first line is the ensemble, each
        fold of which was left out when its weights and thresholds were fitted.
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
        cv: Any = 5,
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
        start = time.monotonic()
        measures = self._measures()
        self._check_settings()
        X, Y = self._check_training(X, y, missing=self.missing)
        labels, given_folds = label_matrix(Y, as_sparse=False), not isinstance(self.cv, int)
        X, truth = Truth.of(X, labels, sample_weight, all_rows=given_folds)
        known = (truth.Y == truth.Y).sum(axis=0)
        constant = ConstantLabels.of(np.nansum(truth.Y, axis=0), known)
        self.never_, self.always_ = constant.never, constant.always
        self.is_sparse_ = _is_mostly_zero(X)
        X = self._stored(X)
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        folds = self._folds(X, truth.Y)
        with at_most(self.n_jobs):
            tried = list(self._try_all(X, truth, folds, seed, start))
            chosen = self._select(measures, truth, tried, folds, seed, start)
            self._refit(X, truth, tried, chosen)
            self._fit_thresholds(truth, tried)
        self.leaderboard_ = self._leaderboard(measures, truth, tried, chosen, folds)
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
        X, total = self._stored(X), np.zeros((X.shape[0], self.never_.size))
        for name, weight in self.weights_[self._first].items():
            fitted = Fitted(self.members_[name], self._constant_labels)
            centre, spread = self.scaling_[name]
            total += weight * (comparable_scores(fitted, X) - centre) / spread
        return self._complete(total) - self.offsets_[self._first]

    def _stored(self, X: Any) -> Any:
        """Features stored as suits their values, so that the form of the input does not matter."""
        if self.is_sparse_:
            return sparse.csr_array(X)
        return X.toarray() if sparse.issparse(X) else X

    def _complete(self, S: Values) -> Values:
        """Constant labels beyond all others, whatever the members say."""
        constant = self._constant_labels
        if constant.varying.all():
            return S
        return constant.complete(S[:, constant.varying])

    # Checks

    def _measures(self) -> list[Measure]:
        names = [self.measure] if isinstance(self.measure, str) else list(self.measure)
        if not names:
            raise ValueError("measure must name at least one measure to train for, got none.")
        return [MEASURES[check_name(name, MEASURES, "measure")] for name in names]

    def _check_settings(self) -> None:
        for family in self.families:
            check_name(family, FAMILIES, "family of models")
        if not len(self.families) and not len(self.extra):
            raise ValueError("families and extra must hold at least one model to try.")
        if self.time_budget is not None:
            check_number(self.time_budget, "time_budget", above=0)
        if self.n_jobs is not None:
            check_number(self.n_jobs, "n_jobs", integer=True)

    def _folds(self, X: Any, labels: Any) -> Folds:
        """Folds that hold every row once; at most one per row."""
        n_rows = labels.shape[0]
        if n_rows == 1:
            return [(np.arange(1), np.arange(1))]
        many = isinstance(self.cv, int) and not isinstance(self.cv, bool) and n_rows < self.cv
        folds = folds_of(n_rows if many else self.cv, X, labels)
        held = np.sort(np.concatenate([test for _, test in folds]))
        if not np.array_equal(held, np.arange(n_rows)):
            raise ValueError("cv must hold out every row exactly once, as KFold does.")
        return folds

    # Trying models

    def _candidates(self, X: Any, n_labels: int, seed: int) -> list[Candidate]:
        found = library(X, n_labels, seed=seed, n_jobs=self.n_jobs)
        found = [one for one in found if one.family in self.families]
        found += [Candidate(name, "other", estimator) for name, estimator in self.extra]
        if not found:
            raise ValueError(
                f"None of the families {', '.join(self.families)} suits data of "
                f"{X.shape[0]} x {X.shape[1]} features; add 'linear'."
            )
        return found

    def _able(self, candidates: list[Candidate], truth: Truth) -> Iterator[Candidate]:
        """Those that can use the weights and learn around missing labels."""
        for one in candidates:
            try:
                one.fit_params(truth.weights)
                yield one.with_gaps() if truth.has_gaps else one
            except ValueError as error:
                self.left_out_[one.name] = f"left out: {error}"

    def _try_all(
        self, X: Any, truth: Truth, folds: Folds, seed: int, start: float
    ) -> Iterator[Tried]:
        """Cross-fit one candidate after the other while there is time."""
        self.left_out_: dict[str, str] = {}
        candidates = list(self._able(self._candidates(X, truth.Y.shape[1], seed), truth))
        cache = ScoreCache(self.cache, X, truth.Y, folds, truth.weights)
        budget = np.inf if self.time_budget is None else _SHARE_FOR_FITS * self.time_budget
        refits, best, best_name, n_tried = 0.0, np.nan, "", 0
        rows = [test for _, test in folds]
        for done, candidate in enumerate(candidates, start=1):
            deadline = np.inf if not n_tried else start + budget - refits
            scored = self._try(candidate, X, truth, folds, deadline, cache)
            if scored is not None:
                refits += scored.refit_seconds
                for tried in Tried.members(candidate, scored):
                    n_tried += 1
                    value = float(alone(self._measures()[0], truth, tried.S, rows).mean())
                    if not _worse(self._measures()[0], value, best):
                        best, best_name = value, tried.name
                    yield tried
            if self.callback is not None:
                seconds = time.monotonic() - start
                self.callback(
                    Trial(done, len(candidates), candidate.name, best, best_name, seconds)
                )
        self._explain_left_out(n_tried)

    def _try(
        self,
        candidate: Candidate,
        X: Any,
        truth: Truth,
        folds: Folds,
        deadline: float,
        cache: ScoreCache,
    ) -> Scored | None:
        """The scores of a candidate, or None with the reason in ``left_out_``."""
        scored = cache.load(candidate)
        if scored is not None:
            return scored
        try:
            if time.monotonic() > deadline:
                raise OutOfTimeError("no time was left")
            scored = cross_fit_candidate(candidate, X, truth.Y, folds, deadline, truth.weights)
        except OutOfTimeError as error:
            self.left_out_[candidate.name] = f"left out: {error}"
        except Exception as error:  # a base model may fail in any way; the others go on
            self.left_out_[candidate.name] = f"failed: {type(error).__name__}: {error}"
        else:
            cache.save(candidate, scored)
        return scored

    def _explain_left_out(self, n_tried: int) -> None:
        failed = [f"{name} {why}" for name, why in self.left_out_.items() if "failed" in why]
        if not n_tried:
            why = "; ".join(f"{name} {why}" for name, why in self.left_out_.items())
            raise ValueError(f"No model could be fitted. {why}")
        if failed:
            warnings.warn(
                f"{len(failed)} of the models failed and were left out: {'; '.join(failed)}",
                UserWarning,
                stacklevel=4,
            )
        late = any("time" in why or "s were left" in why for why in self.left_out_.values())
        if n_tried == 1 and late and self.time_budget is not None:
            warnings.warn(
                f"time_budget={self.time_budget:g} seconds was enough for one model only, logistic "
                "regression. With more time the ensemble is usually better.",
                UserWarning,
                stacklevel=4,
            )

    # Selection and final fits

    def _select(
        self,
        measures: list[Measure],
        truth: Truth,
        tried: list[Tried],
        folds: Folds,
        seed: int,
        start: float,
    ) -> dict[str, Chosen]:
        rows = [test for _, test in folds]
        scores = [one.S for one in tried]
        refits = sum({id(one.scored): one.scored.refit_seconds for one in tried}.values())
        end = start + (np.inf if self.time_budget is None else self.time_budget) - refits
        return select(measures, truth, scores, rows, np.random.default_rng(seed), end)

    def _refit(self, X: Any, truth: Truth, tried: list[Tried], chosen: dict[str, Chosen]) -> None:
        """Fit on all data what weighs enough for some measure."""
        weights = {name: without_light(one.weights) for name, one in chosen.items()}
        needed = np.flatnonzero(sum(weights.values()))
        fits: dict[int, Any] = {}
        self.members_: dict[str, Any] = {}
        self.scaling_: dict[str, tuple[float, float]] = {}
        for k in needed.tolist():
            one = tried[k]
            key = id(one.candidate)
            if key not in fits:
                fits[key] = self._final(one, X, truth)
            model = copy(fits[key])
            self.members_[one.name] = model.set_params(**one.settings) if one.settings else model
            self.scaling_[one.name] = (one.centre, one.spread)
        self.weights_ = {
            name: {tried[k].name: float(w[k]) for k in np.flatnonzero(w).tolist()}
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
            S = self._complete(
                mixed([by_name[k] for k in weights], np.array(list(weights.values())))
            )
            if name == "macro_f1" and truth.is_plain and S.shape[1] > 1:
                self.rules_[name] = FixedThreshold(expected_label_thresholds(truth.Y, S))
                self.thresholds_[name], self.offsets_[name] = "expected F1", 0.0
                continue
            cut = MEASURES[name].threshold is not None
            rule = make_rule("auto", name) if cut else make_rule(None, self.threshold_measure)
            self.rules_[name] = rule.fit(truth.Y, S, **truth.given(np.arange(len(S))))
            if cut:
                self.thresholds_[name] = rule.kind_
            # scores above 0 are then predicted, where one threshold cuts them all
            self.offsets_[name] = rule.move_to_zero()

    def _leaderboard(
        self,
        measures: list[Measure],
        truth: Truth,
        tried: list[Tried],
        chosen: dict[str, Chosen],
        folds: Folds,
    ) -> list[dict[str, Any]]:
        rows = [test for _, test in folds]
        held = {name: one.held_out for name, one in chosen.items()}
        first: dict[str, Any] = {"model": "ensemble", **summary(held)}
        lines: list[dict[str, Any]] = []
        for one in tried:
            values = {m.name: alone(m, truth, one.S, rows) for m in measures}
            lines.append(
                {
                    "model": one.name,
                    "family": one.candidate.family,
                    "seconds": one.scored.seconds,
                    **summary(values),
                    "weight": {m.name: self.weights_[m.name].get(one.name, 0.0) for m in measures},
                }
            )
        best = measures[0]
        lines.sort(key=lambda line: -best.sign * np.nan_to_num(line["value"][best.name]))
        left = [{"model": name, "note": why} for name, why in self.left_out_.items()]
        return [first, *lines, *left]


def _is_mostly_zero(X: Any) -> bool:
    return bool(sparse.csr_array(X).count_nonzero() < _SPARSE_SHARE * X.shape[0] * X.shape[1])


def _worse(measure: Measure, value: float, best: float) -> bool:
    return bool(np.isnan(value) or measure.sign * value < measure.sign * best)
