"""The base models that an aimed classifier tries, and their cross-fitted scores.

A :class:`Candidate` is an unfitted model. :func:`library` lists those that suit the data, cheap and
good ones first. :func:`cross_fit_candidate` scores every training row by models that have not seen
it.
"""

import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils.validation import has_fit_parameter

from limo._system import OutOfTimeError, stopping_at
from limo._types import Values
from limo.losses._term import Term
from limo.models._base import KernelFeatures, UnitRows
from limo.models._boosted_trees import BoostingClassifier
from limo.models._limo import MarginClassifier
from limo.models._neighbours import MLKNNClassifier
from limo.models._selection import standardise
from limo.models._trees import ForestClassifier, log_odds
from limo.thresholds._fit import Fitted, Folds, fit_varying

# Trees and neighbours read features one by one: beyond this many cells only linear models are fast.
_MOST_CELLS = 200_000_000
_MOST_ROWS_FOR_NEIGHBOURS = 50_000
# A forest that is stopped keeps its trees: without a limit it would use all the time there is.
_SHARE_OF_A_FOREST = 0.12
# Families whose models take about as long as each other.
_KINDS = ("trees", "kernel", "neighbours")
# A fold is stopped when it has taken this many times its part of the time.
_PATIENCE = 1.3
_ROWS_TO_COMPILE, _LABELS_TO_COMPILE = 50, 3

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
        The largest share of the whole time that it may use.
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
    def kind(self) -> str:
        """What its time depends on: models of one kind take about as long."""
        if self.family == "other":
            return self.name
        return self.family if self.family in _KINDS else self.name.partition(",")[0]

    @property
    def _learner(self) -> tuple[str, Any]:
        """What learns, the last step of a pipeline, and the prefix of its parameters."""
        if not isinstance(self.estimator, Pipeline):
            return "", self.estimator
        name, learner = self.estimator.steps[-1]
        return f"{name}__", learner

    def with_gaps(self) -> "Candidate":
        """The same model for labels that are nan where they are missing.

        Raises ValueError if it does not take missing labels.
        """
        prefix, learner = self._learner
        if "missing" not in learner.get_params():
            raise ValueError("it does not take missing labels")
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
    """The candidates that suit the data: very large data are for linear models only.

    They are tried in this order while there is time: first cheap models, one of each family.
    """
    n_rows, n_features = X.shape
    linear = list(_linear(n_rows * n_labels, n_jobs))
    if n_rows * n_features > _MOST_CELLS:
        return linear
    extra, random, balanced, smooth = _trees(seed, n_jobs)
    kernel = list(_kernel(n_rows * n_labels, seed, n_jobs))
    boosting, small = _boosting(seed, n_jobs)
    found = [linear[0], extra, random, linear[3], boosting, kernel[0]]
    found += [*linear[1:3], *linear[4:], *kernel[1:], balanced]
    if not sparse.issparse(X):  # sparse data have very many features, and these take long then
        found += [smooth, small]
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
    kinds: dict[str, dict[str, Any]] = {
        "extra trees": {"kind": "extra"},
        "random forest": {"kind": "random"},
        "extra trees, labels balanced": {"kind": "extra", "balance": 1.0},
        "random forest, large leaves": {
            "kind": "random", "min_samples_leaf": 3, "max_features": 1 / 3,
        },
    }  # fmt: skip
    for name, settings in kinds.items():
        model = ForestClassifier(**settings, n_jobs=n_jobs, random_state=seed)
        yield Candidate(name, "trees", model, share=_SHARE_OF_A_FOREST)


def _boosting(seed: int, n_jobs: int | None) -> Iterator[Candidate]:
    rounds = (50, 100, 200)
    stages = {f"boosting, {n} rounds": {"n_rounds": n} for n in rounds}
    model = BoostingClassifier(200, min_samples_leaf=20, n_jobs=n_jobs, random_state=seed)
    quick = clone(model).set_params(n_rounds=40, learning_rate=0.2, feature_share=0.2)
    few = Candidate("quick boosting, 40 rounds", "boosting", quick)
    yield Candidate("boosting", "boosting", model, stages, instead=few)
    shallow = clone(model).set_params(max_leaves=5, min_samples_leaf=5, feature_share=0.3)
    stages = {f"boosting, small trees, {n} rounds": {"n_rounds": n} for n in rounds}
    yield Candidate("boosting, small trees", "boosting", shallow, stages)


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
    *,
    seconds_per_fold: float = np.inf,
) -> Scored:
    """Score every row by models that have not seen it, unless that would take too long.

    ``deadline`` is a time of ``time.monotonic()`` by which a fit on all data must be done, too.
    After ``seconds_per_fold`` in a fold, solvers that can stop early do.
    """
    with warnings.catch_warnings(), stopping_at(deadline):
        warnings.simplefilter("ignore", ConvergenceWarning)
        estimator = clone(candidate.estimator)
        if isinstance(estimator, ForestClassifier):
            return _out_of_bag(estimator, X, labels, candidate.fit_params(weights))
        if np.isfinite(deadline):
            _compile(candidate, X, labels)
        return _by_folds(
            candidate, estimator, X, labels, folds, deadline, weights, seconds_per_fold
        )


def _compile(candidate: Candidate, X: Any, labels: Any) -> None:
    """Fit a few rows and labels, so that what is compiled on first use counts only once.

    The first fold tells how long the others will take.
    """
    if candidate.family == "other":
        return
    rows = np.linspace(0, X.shape[0] - 1, min(_ROWS_TO_COMPILE, X.shape[0]), dtype=np.int64)
    few = labels[rows]
    varied = np.argsort(-np.nanvar(few, axis=0), kind="stable")[:_LABELS_TO_COMPILE]
    with suppress(Exception):  # if the model itself is at fault, its folds fail, too
        fitted = fit_varying(clone(candidate.estimator), X[rows], few[:, varied], {})
        comparable_scores(fitted, X[rows])


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
    seconds_per_fold: float,
) -> Scored:
    start = time.monotonic()
    scores = [np.empty(labels.shape) for _ in candidate.members]
    for k, (train, test) in enumerate(folds):
        params = candidate.fit_params(None if weights is None else weights[train])
        now = time.monotonic()
        fair = (deadline - now) / (len(folds) - k + 1)  # one more part for the fit on all data
        with stopping_at(now + min(_PATIENCE * fair, seconds_per_fold)):
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
    n_trained = float(np.mean([len(train) for train, _ in folds]))
    for S in scores:
        if not np.isfinite(S).all():
            raise ValueError("its scores are not finite")
    return Scored(scores, seconds, seconds / len(folds) * len(labels) / n_trained)
