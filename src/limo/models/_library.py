"""The base models that an aimed classifier tries, and their cross-fitted scores.

A :class:`Candidate` is an unfitted model. :func:`library` lists those that suit the data, cheap and
good ones first. :func:`cross_fit_candidate` scores every training row by models that have not seen
it, :class:`ScoreCache` keeps these scores in a folder, and :class:`Trials` tries one candidate
after the other while there is time.
"""

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import joblib
import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils.validation import has_fit_parameter

from limo._system import Budget, OutOfTimeError, replacing, stopping_at, versions
from limo._types import Values
from limo.losses._term import Term
from limo.measures._measure import Measure
from limo.models._base import KernelFeatures, UnitRows
from limo.models._boosted_trees import BoostingClassifier
from limo.models._limo import MarginClassifier
from limo.models._neighbours import MLKNNClassifier
from limo.models._selection import Truth, Valued, alone, standardise
from limo.models._trees import ForestClassifier, log_odds
from limo.thresholds._fit import Fitted, Folds, fit_varying

# Trees and neighbours read features one by one: beyond this many cells only linear models are fast.
_MOST_CELLS = 200_000_000
_MOST_ROWS_FOR_NEIGHBOURS = 50_000
# A forest that is stopped keeps the trees it has, so it would use all the time it may.
_SHARE_OF_A_FOREST = 0.12

_POINTWISE = Term("entries", "pointwise")
_LIMO = (Term("rows", "mean"), Term("columns", "mean"))


@dataclass(frozen=True, eq=False)
class Candidate:
    """A model to try.

    Attributes
    ----------
    name, family : str
        What it is called, and its kind: linear, kernel, trees, boosting, neighbours or other.
    estimator : estimator
        Unfitted; it takes features as they are.
    stages : mapping of str to dict
        Further models from the same fit, by name: parameters that are set after fitting. Without
        stages the fit is one model.
    share : float
        How much of the time for everything it may use.
    instead : Candidate or None
        What to try if it takes too long.
    """

    name: str
    family: str
    estimator: Any
    stages: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    share: float = 1.0
    instead: "Candidate | None" = None

    @property
    def members(self) -> Mapping[str, dict[str, Any]]:
        """The models of one fit by name, and the parameters that make each."""
        return self.stages or {self.name: {}}

    @property
    def _learner(self) -> tuple[str, Any]:
        """What learns, the last step of a pipeline, and the prefix of its parameters."""
        if not isinstance(self.estimator, Pipeline):
            return "", self.estimator
        name, learner = self.estimator.steps[-1]
        return f"{name}__", learner

    def with_gaps(self) -> "Candidate":
        """The same model for labels that are nan where they are missing.

        Raises ValueError if it cannot learn around them.
        """
        prefix, learner = self._learner
        if "missing" not in learner.get_params():
            raise ValueError("it cannot learn around missing labels")
        return replace(
            self, estimator=clone(self.estimator).set_params(**{f"{prefix}missing": np.nan})
        )

    def fit_params(self, weights: Values | None) -> dict[str, Any]:
        """What ``fit`` is given beside the data. Raises ValueError if it takes no weights."""
        if weights is None:
            return {}
        prefix, learner = self._learner
        if not has_fit_parameter(learner, "sample_weight"):
            raise ValueError("it takes no sample weights")
        return {f"{prefix}sample_weight": weights}


def library(X: Any, n_labels: int, *, seed: int, n_jobs: int | None) -> list[Candidate]:
    """The candidates that suit the data; linear ones only if there are very many features.

    If the time is short, the first ones are tried: cheap models, and one of each family.
    """
    n_rows, n_features = X.shape
    linear = list(_linear(n_rows * n_labels, n_jobs))
    if n_rows * n_features > _MOST_CELLS:
        return linear
    extra, random, balanced = _trees(seed, n_jobs)
    kernel = list(_kernel(n_rows * n_labels, seed, n_jobs))
    found = [linear[0], extra, random, linear[3], _boosting(seed, n_jobs), kernel[0]]
    found += [*linear[1:3], *linear[4:], *kernel[1:], balanced]
    if n_rows <= _MOST_ROWS_FOR_NEIGHBOURS:
        found += _neighbours(n_jobs)
    return found


def _linear(n_entries: int, n_jobs: int | None) -> Iterator[Candidate]:
    for C in (10, 1, 100):
        yield _margin(f"logistic, C={C}", _POINTWISE, 1.0 / (C * n_entries), n_jobs)
    for alpha in (1e-2, 1e-3):
        yield _margin(f"LIMO, alpha={alpha:g}", _LIMO, alpha, n_jobs)
    yield _margin("margins by instance, top", Term("rows", "top"), 1e-3, n_jobs)
    yield _margin("margins by instance, bottom", Term("rows", "bottom"), 1e-3, n_jobs)
    yield _margin("margins by label, top", Term("columns", "top"), 1e-3, n_jobs)


def _margin(name: str, terms: Any, alpha: float, n_jobs: int | None) -> Candidate:
    model = MarginClassifier(terms, alpha=alpha, threshold_measure=None, n_jobs=n_jobs)
    return Candidate(name, "linear", make_pipeline(UnitRows(), model))


def _kernel(n_entries: int, seed: int, n_jobs: int | None) -> Iterator[Candidate]:
    losses: dict[str, tuple[Any, float]] = {
        f"logistic, C={C}": (_POINTWISE, 1.0 / (C * n_entries)) for C in (3, 30)
    }
    losses["LIMO, alpha=0.001"] = (_LIMO, 1e-3)
    for gamma in (0.5, 1.5):
        for name, (terms, alpha) in losses.items():
            if gamma > 1 and terms is _LIMO:
                continue
            model = MarginClassifier(terms, alpha=alpha, threshold_measure=None, n_jobs=n_jobs)
            features = KernelFeatures(gamma, random_state=seed)
            pipe = make_pipeline(UnitRows(), features, model)
            yield Candidate(f"RBF {gamma:g}, {name}", "kernel", pipe)


def _trees(seed: int, n_jobs: int | None) -> Iterator[Candidate]:
    kinds = {"extra trees": ("extra", 0.0), "random forest": ("random", 0.0)}
    kinds["extra trees, labels balanced"] = ("extra", 1.0)
    for name, (kind, balance) in kinds.items():
        model = ForestClassifier(kind, balance=balance, n_jobs=n_jobs, random_state=seed)
        yield Candidate(name, "trees", model, share=_SHARE_OF_A_FOREST)


def _boosting(seed: int, n_jobs: int | None) -> Candidate:
    stages = {f"boosting, {n} rounds": {"n_rounds": n} for n in (50, 100, 200)}
    model = BoostingClassifier(200, min_samples_leaf=20, n_jobs=n_jobs, random_state=seed)
    quick = clone(model).set_params(n_rounds=40, learning_rate=0.2, feature_share=0.2)
    few = Candidate("boosting, 40 large rounds", "boosting", quick)
    return Candidate("boosting", "boosting", model, stages, instead=few)


def _neighbours(n_jobs: int | None) -> Iterator[Candidate]:
    for k in (10, 30):
        model = make_pipeline(UnitRows(), MLKNNClassifier(k, n_jobs=n_jobs))
        yield Candidate(f"ML-kNN, k={k}", "neighbours", model)


# Cross-fitted scores


@dataclass(frozen=True, eq=False)
class Scored:
    """The cross-fitted scores of the models of one candidate.

    Attributes
    ----------
    scores : list of array of shape (n_samples, n_labels)
        One matrix per model of the candidate.
    seconds : float
        What cross-fitting took.
    refit_seconds : float
        What fitting on all data will take.
    fitted : Fitted or None
        The model fitted on all data, where cross-fitting gave it: forests have out-of-bag scores.
    """

    scores: list[Values]
    seconds: float
    refit_seconds: float
    fitted: Fitted | None = None


@dataclass(frozen=True, eq=False)
class Tried:
    """A model that was tried, with its standardised cross-fitted scores."""

    name: str
    candidate: Candidate
    settings: dict[str, Any]
    S: Values
    centre: float
    spread: float
    scored: Scored

    @classmethod
    def members(cls, candidate: Candidate, scored: Scored) -> "Iterator[Tried]":
        """The models of one candidate."""
        for (name, settings), S in zip(candidate.members.items(), scored.scores, strict=True):
            yield cls(name, candidate, settings, *standardise(S), scored)


def comparable_scores(fitted: Fitted, X: Any) -> Values:
    """Scores of all labels; probabilities as their log-odds, so that they can be averaged."""
    if hasattr(fitted.estimator, "decision_function") or not fitted.constant.varying.any():
        return fitted.scores(X)
    return log_odds(fitted.scores(X, probabilities=True))


def cross_fit_candidate(
    candidate: Candidate,
    X: Any,
    labels: Any,
    folds: Folds,
    deadline: float,
    weights: Values | None = None,
) -> Scored:
    """Score every row by models that have not seen it, unless that would take too long.

    ``deadline`` is a time of ``time.monotonic()`` by which a fit on all data must be done, too.
    """
    with warnings.catch_warnings(), stopping_at(deadline):
        warnings.simplefilter("ignore", ConvergenceWarning)
        estimator = clone(candidate.estimator)
        if isinstance(estimator, ForestClassifier):
            return _out_of_bag(estimator, X, labels, candidate.fit_params(weights))
        return _by_folds(candidate, estimator, X, labels, folds, deadline, weights)


def _out_of_bag(estimator: Any, X: Any, labels: Any, params: dict[str, Any]) -> Scored:
    start = time.monotonic()
    fitted = fit_varying(estimator, X, labels, params)
    if not fitted.constant.varying.any():
        return Scored([fitted.scores(X)], 0.0, 0.0, fitted)
    S = fitted.estimator.out_of_bag_scores_
    del fitted.estimator.out_of_bag_scores_  # files need not hold them
    scores = fitted.constant.complete(S.reshape(labels.shape[0], -1))
    return Scored([scores], time.monotonic() - start, 0.0, fitted)


def _by_folds(
    candidate: Candidate,
    estimator: Any,
    X: Any,
    labels: Any,
    folds: Folds,
    deadline: float,
    weights: Values | None,
) -> Scored:
    start = time.monotonic()
    scores = [np.empty(labels.shape) for _ in candidate.members]
    for k, (train, test) in enumerate(folds):
        params = candidate.fit_params(None if weights is None else weights[train])
        fitted = fit_varying(estimator, X[train], labels[train], params)
        for S, settings in zip(scores, candidate.members.values(), strict=True):
            fitted.estimator.set_params(**settings)
            S[test] = comparable_scores(fitted, X[test])
        each = (time.monotonic() - start) / (k + 1)
        left = deadline - time.monotonic()
        if (need := each * (len(folds) - k)) > left:
            raise OutOfTimeError(
                f"it needed about {need:.0f} s more, and {max(left, 0):.0f} s were left"
            )
    seconds = time.monotonic() - start
    for S in scores:
        if not np.isfinite(S).all():
            raise ValueError("its scores are not finite")
    return Scored(scores, seconds, seconds / len(folds))


class ScoreCache:
    """A folder of cross-fitted scores, so that an interrupted search can be resumed.

    A file is named after everything its scores depend on: data, folds, model and versions.
    """

    def __init__(
        self, folder: Any, X: Any, labels: Any, folds: Folds, weights: Values | None = None
    ) -> None:
        self.folder = None if folder is None else Path(folder)
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
            self.data = joblib.hash((_plain(X), _plain(labels), folds, weights, versions()))

    def load(self, candidate: Candidate) -> Scored | None:
        """The scores of a candidate, if the folder holds them undamaged."""
        if self.folder is None:
            return None
        try:
            with self._file(candidate).open("rb") as file, np.load(file) as found:
                seconds, refit = found["seconds"].tolist()
                return Scored(list(found["scores"]), seconds, refit)
        except (OSError, ValueError, KeyError, EOFError, BadZipFile):
            return None

    def save(self, candidate: Candidate, scored: Scored) -> None:
        """Keep the scores of a candidate; those of a forest are as costly as the forest."""
        if self.folder is not None:
            refit = scored.seconds if scored.fitted is not None else scored.refit_seconds
            with replacing(self._file(candidate)) as file:
                np.savez(
                    file, scores=np.stack(scored.scores), seconds=np.array([scored.seconds, refit])
                )

    def _file(self, candidate: Candidate) -> Path:
        assert self.folder is not None
        key = (self.data, _described(candidate.estimator), dict(candidate.members))
        return self.folder / f"{joblib.hash(key)}.npz"


def _plain(A: Any) -> Any:
    """A matrix as arrays, whose hash does not depend on how it is stored."""
    return (A.data, A.indices, A.indptr, A.shape) if sparse.issparse(A) else A


def _described(estimator: Any) -> str:
    """The type and all parameters of a model; threads do not change its scores."""
    if isinstance(estimator, Pipeline):
        return " -> ".join(_described(step) for _, step in estimator.steps)
    params = {k: v for k, v in estimator.get_params().items() if k not in ("n_jobs", "callback")}
    return f"{type(estimator).__module__}.{type(estimator).__qualname__}({params!r})"


# The search

# No model may use up more of the time that is left: others are to be tried, too.
_SHARE_OF_REST = 0.5


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


@dataclass(eq=False)
class Trials:
    """The search: what to fit on, for which measure, and how long.

    Attributes
    ----------
    left_out : dict of str
        Why candidates were left out, by name.
    values : dict of str to Valued
        The value of each model alone, by the first measure.
    """

    X: Any
    truth: Truth
    folds: Folds
    measure: Measure
    budget: Budget
    cache: ScoreCache
    callback: Callable[[Trial], object] | None = None
    left_out: dict[str, str] = field(default_factory=dict)
    values: dict[str, Valued] = field(default_factory=dict)

    def run(self, candidates: Sequence[Candidate]) -> list[Tried]:
        """Cross-fit one candidate after the other while there is time."""
        able, found = list(self._able(candidates)), list[Tried]()
        for done, candidate in enumerate(able, start=1):
            for tried in self._members(candidate, found):
                own = alone([self.measure.name], self.truth, tried.S, self._rows)
                self.values[tried.name] = own[self.measure.name]
                found.append(tried)
            self._report(done, len(able), candidate.name)
        self._explain_left_out(found)
        return found

    @property
    def _rows(self) -> list[Any]:
        return [test for _, test in self.folds]

    def _able(self, candidates: Sequence[Candidate]) -> Iterator[Candidate]:
        """Those that can use the weights and learn around missing labels."""
        for one in candidates:
            try:
                one.fit_params(self.truth.weights)
                yield one.with_gaps() if self.truth.has_gaps else one
            except ValueError as error:
                self.left_out[one.name] = f"left out: {error}"

    def _members(self, candidate: Candidate, before: list[Tried]) -> Iterator[Tried]:
        """The models of a candidate or, if it takes too long, of the one to try instead."""
        one: Candidate | None = candidate
        while one is not None:
            scored = self._try(one, self._deadline(one, before))
            if scored is not None:
                yield from Tried.members(one, scored)
                return
            out_of_time = self.left_out[one.name].startswith("left out")
            one = one.instead if out_of_time else None

    def _deadline(self, candidate: Candidate, before: list[Tried]) -> float:
        """When a candidate must be done; the first is always fitted."""
        if not before or not np.isfinite(self.budget.seconds):
            return np.inf
        now, end = time.monotonic(), self.budget.end_of_fits(reserved_seconds(before))
        share = candidate.share * self.budget.seconds
        return min(end, now + min(share, _SHARE_OF_REST * max(0.0, end - now)))

    def _try(self, candidate: Candidate, deadline: float) -> Scored | None:
        """The scores of a candidate, or None with the reason in ``left_out``."""
        scored = self.cache.load(candidate)
        if scored is not None:
            return scored
        try:
            if time.monotonic() >= deadline:
                raise OutOfTimeError("no time was left")
            scored = cross_fit_candidate(
                candidate, self.X, self.truth.Y, self.folds, deadline, self.truth.weights
            )
        except OutOfTimeError as error:
            self.left_out[candidate.name] = f"left out: {error}"
        except Exception as error:  # a base model may fail in any way; the others go on
            self.left_out[candidate.name] = f"failed: {type(error).__name__}: {error}"
        else:
            if not _was_stopped(scored):
                self.cache.save(candidate, scored)
        return scored

    def _report(self, done: int, total: int, name: str) -> None:
        if self.callback is None:
            return
        sign = self.measure.sign
        known = {k: v.value for k, v in self.values.items() if not np.isnan(v.value)}
        best = max(known, key=lambda k: sign * known[k], default="")
        value = known.get(best, np.nan)
        self.callback(Trial(done, total, name, value, best, self.budget.spent))

    def _explain_left_out(self, found: list[Tried]) -> None:
        """Warn if models failed, or if the time was enough for one only."""
        reasons = [f"{name} {why}" for name, why in self.left_out.items()]
        if not found:
            raise ValueError(f"No model could be fitted. {'; '.join(reasons)}")
        failed = [reason for reason in reasons if "failed: " in reason]
        if failed:
            _warn(f"{len(failed)} of the models failed and were left out: {'; '.join(failed)}")
        late = any("time" in reason or "s were left" in reason for reason in reasons)
        if len(found) == 1 and late and np.isfinite(self.budget.seconds):
            _warn(
                f"time_budget={self.budget.seconds:g} seconds was enough for one model only, "
                f"{found[0].name}. With more time the ensemble is usually better."
            )


def reserved_seconds(tried: Sequence[Tried]) -> float:
    """What fits on all data will take at most."""
    return sum({id(one.scored): one.scored.refit_seconds for one in tried}.values())


def _was_stopped(scored: Scored) -> bool:
    """Whether a forest has fewer trees than asked for; with more time it would be another."""
    model = None if scored.fitted is None else scored.fitted.estimator
    return getattr(model, "n_estimators_", 0) < getattr(model, "n_estimators", 0)


def _warn(text: str) -> None:
    warnings.warn(text, UserWarning, stacklevel=5)
