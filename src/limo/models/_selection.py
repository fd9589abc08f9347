"""Weights of models in an ensemble, fitted to cross-fitted scores for a measure.

The scores of the models are cross-fitted, so that the loss of their weighted sum is what the
ensemble would have on new data. The weights are not negative and have the least loss among the
losses of :mod:`limo.losses` that suits the measure. A loss depends on every entry or pair, a
measure only on the order of the scores or the side of a threshold they are on. So weights that are
best by the measure itself are mostly best by chance. The weights are fitted once without each fold
of the rows, which gives the value of the ensemble on the fold, and averaged, which makes them more
stable.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import Any

import numpy as np
from scipy.optimize import minimize

from limo._checks import check_weights
from limo._evaluate import evaluate
from limo._types import Integers, Values
from limo._views import ROWS
from limo.losses._sums import derivatives
from limo.measures._measure import Measure
from limo.measures._table import MEASURES
from limo.thresholds._calibration import ScoreCalibration, sigmoid
from limo.thresholds._fit import ConstantLabels, make_rule
from limo.thresholds._rules import FixedThreshold

_POINTWISE = "entries pointwise"
# The most entries of scores that a fit reads: more rows do not improve it.
_MOST_ENTRIES = 200_000
_MOST_STEPS = 50
_FEWEST_STEPS = 10
# The level of intervals.
_LEVEL = 0.95
# How much the sigmoid of a label is pulled towards that of all labels.
_PULL = 10.0
_MOST_NEWTON_STEPS = 30
# A member that weighs less is not worth a fit.
_LEAST_WEIGHT = 0.03
# Folds are left out after the deadline, too, for so many seconds: on small data that is enough for
# all of them, and a value of few instances says little.
_SECONDS_TOO_MANY = 0.3


@dataclass(frozen=True)
class Valued:
    """A value of a measure, with the ends of its interval at the level of 95 %."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Chosen:
    """The weights of the models for a measure, and what to expect of them.

    Attributes
    ----------
    weights : array of shape (n_models,)
        They add up to 1.
    values : dict of str to Valued
        Every measure on the folds together, each of them scored and cut with weights and thresholds
        fitted on the others; on fewer folds if there was no time for all.
    """

    weights: Values
    values: dict[str, Valued]


@dataclass(frozen=True, eq=False)
class Truth:
    """The labels of training rows, and what the rows weigh.

    Attributes
    ----------
    Y : array of shape (n_samples, n_labels)
        0 and 1; nan where a label is missing.
    weights : array of shape (n_samples,) or None
        None if all rows count once.
    """

    Y: Any
    weights: Values | None = None

    @classmethod
    def of(cls, X: Any, labels: Any, sample_weight: Any, *, all_rows: bool) -> "tuple[Any, Truth]":
        """The instances of positive weight, or all of them, and their labels."""
        weights = check_weights(sample_weight, labels.shape[0])
        if weights is None or all_rows:
            return X, cls(labels, weights)
        kept = np.flatnonzero(weights)
        return X[kept], cls(labels[kept], weights[kept])

    @property
    def has_gaps(self) -> bool:
        """Whether labels are missing."""
        return bool(self.Y.dtype.kind == "f")

    @property
    def is_plain(self) -> bool:
        """Whether every label is known and every row counts once."""
        return self.weights is None and not self.has_gaps

    @cached_property
    def constant(self) -> ConstantLabels:
        """Which labels no instance has, and which all have."""
        return ConstantLabels.of(np.nansum(self.Y, axis=0), (self.Y == self.Y).sum(axis=0))

    def complete(self, S: Values) -> Values:
        """Scores with those of constant labels beyond all others, whatever the models give."""
        varying = self.constant.varying
        return S if varying.all() else self.constant.complete(S[:, varying])

    def given(self, rows: Integers) -> dict[str, Any]:
        """The options for checks of these labels."""
        options: dict[str, Any] = {"missing": np.nan} if self.has_gaps else {}
        if self.weights is not None:
            options["sample_weight"] = self.weights[rows]
        return options


def standardise(S: Values) -> tuple[Values, float, float]:
    """Scores of mean 0 and variance 1 over all entries, and the two numbers to repeat it."""
    centre, spread = float(S.mean()), float(S.std()) or 1.0
    return (S - centre) / spread, centre, spread


def valued(
    measures: Sequence[str], truth: Truth, rows: Integers, S: Values | None, P: Any = None
) -> dict[str, Valued]:
    """Measures of scores and labels of some rows, with their intervals."""
    known = [
        name for name in measures if (S if MEASURES[name].threshold is None else P) is not None
    ]
    if not known:
        return {}
    evaluation = evaluate(
        truth.Y[rows], S, P, measures=known, intervals=_LEVEL, **truth.given(rows)
    )
    ends = evaluation.intervals or {}
    return {
        name: Valued(float(evaluation[name]), ends[name].low, ends[name].high)
        if name in ends
        else Valued(float(evaluation[name]), np.nan, np.nan)
        for name in known
    }


def alone(
    measures: Sequence[str], truth: Truth, S: Values, folds: Sequence[Integers]
) -> dict[str, Valued]:
    """Measures of one model, each fold cut by thresholds fitted on the others."""
    rows = np.arange(len(S))
    values = valued([m for m in measures if MEASURES[m].threshold is None], truth, rows, S)
    for name in measures:
        if MEASURES[name].threshold is None:
            continue
        P = np.zeros(S.shape, dtype=np.int64)
        for others, fold in _parts(folds):
            rule = make_rule(_fast_kind(MEASURES[name]), name)
            rule.fit(truth.Y[others], S[others], **truth.given(others))
            P[fold] = truth.constant.correct(rule.predict(S[fold]))
        values |= valued([name], truth, rows, None, P)
    return values


def fit_rule(measure: Measure, other: str, truth: Truth, S: Values, rows: Integers) -> Any:
    """The rule that cuts scores for a measure, fitted to some rows.

    A measure that needs no labels is cut for the measure ``other``. Macro-F1 gets the thresholds of
    the highest expected F1, every other measure the kind that :class:`limo.AutoThreshold` chooses.
    """
    if measure.name == "macro_f1" and truth.is_plain and S.shape[1] > 1:
        return FixedThreshold(expected_label_thresholds(truth.Y[rows], S[rows]))
    cut = measure.threshold is not None
    rule = make_rule("auto", measure.name) if cut else make_rule(None, other)
    return rule.fit(truth.Y[rows], S[rows], **truth.given(rows))


def select(
    measures: Sequence[Measure],
    truth: Truth,
    scores: Sequence[Values],
    folds: Sequence[Integers],
    rng: np.random.Generator,
    deadline: float = np.inf,
    other: str = "micro_f1",
) -> dict[str, Chosen]:
    """Choose weights for standardised scores, by measure.

    After ``deadline``, a time of ``time.monotonic()``, no further fold is left out, unless all of
    them take a moment. ``other`` is the measure for which labels are cut if a measure needs none.
    """
    deadline = max(deadline, time.monotonic() + _SECONDS_TOO_MANY)
    n_labels = truth.Y.shape[1]
    parts = [(_some(others, n_labels, rng), others, fold) for others, fold in _parts(folds)]
    fits: dict[tuple[str, ...], list[Values]] = {}
    for terms in map(suited_terms, measures):
        fits.setdefault(terms, [])
        for read, _, _ in parts[len(fits[terms]) :]:
            if fits[terms] and time.monotonic() > deadline:
                break
            before = fits[terms][-1:]
            fits[terms].append(_fit_weights(terms, truth, scores, read, before, deadline))
    chosen = {}
    for measure in measures:
        weights = fits[suited_terms(measure)]
        held_out = _held_out(measure, other, truth, scores, weights, parts, deadline)
        chosen[measure.name] = Chosen(np.mean(weights, axis=0), held_out)
    return chosen


def _held_out(
    measure: Measure,
    other: str,
    truth: Truth,
    scores: Sequence[Values],
    weights: Sequence[Values],
    parts: Sequence[tuple[Integers, Integers, Integers]],
    deadline: float,
) -> dict[str, Valued]:
    """All measures of the folds, each with the weights and thresholds of the others."""
    rows: list[Integers] = []
    S: list[Values] = []
    P: list[Any] = []
    for own, (_, others, fold) in zip(weights, parts, strict=False):
        if rows and time.monotonic() > deadline:
            break
        mix = truth.complete(mixed(scores, without_light(own)))
        rule = fit_rule(measure, other, truth, mix, others)
        rows.append(fold)
        S.append(mix[fold])
        P.append(truth.constant.correct(rule.predict(mix[fold])))
    names = list(dict.fromkeys([*MEASURES, measure.name]))  # it may be one of further measures
    return valued(names, truth, np.concatenate(rows), np.vstack(S), np.vstack(P))


def suited_terms(measure: Measure) -> tuple[str, ...]:
    """The loss for the weights: that of logistic regression, and one that bounds the measure."""
    if measure.threshold is not None or not measure.bounded_by:
        return (_POINTWISE,)
    return (measure.bounded_by[0], _POINTWISE)


def without_light(weights: Values) -> Values:
    """Weights without very small ones; they add up to 1 again."""
    kept = np.where(weights >= min(_LEAST_WEIGHT, weights.max()), weights, 0.0)
    shares: Values = kept / kept.sum()
    return shares


def mixed(scores: Sequence[Values], weights: Values) -> Values:
    """The weighted sum of scores."""
    total = np.zeros(scores[0].shape)
    for weight, S in zip(weights, scores, strict=True):
        if weight:
            total += weight * S
    return total


def expected_label_thresholds(Y: Any, S: Values) -> Values:
    """For each label, the threshold of the highest expected F1.

    A threshold that is the best for the probabilities of many instances depends less on chance than
    one that is the best for the few instances that have a rare label.
    """
    P = label_probabilities(Y, S)
    order = np.argsort(-S, axis=0, kind="stable")
    scores, hits = (np.take_along_axis(A, order, axis=0) for A in (S, P))
    n_predicted = np.arange(1.0, len(S) + 1.0)[:, np.newaxis]
    expected = 2.0 * hits.cumsum(axis=0) / (n_predicted + hits.sum(axis=0))
    below = np.vstack([scores[1:], np.full(S.shape[1], -np.inf)])
    expected[scores == below] = -1.0  # a threshold cannot separate ties
    best = expected.argmax(axis=0)[np.newaxis]
    thresholds: Values = np.take_along_axis((scores + below) / 2.0, best, axis=0)[0]
    return thresholds


def label_probabilities(Y: Any, S: Values) -> Values:
    """Probabilities by a sigmoid for each label, pulled towards one for all labels.

    One sigmoid gives all entries log-odds z. Those of a label are (1 + a) z + b, where a and b have
    the least sum of its log losses and _PULL / 2 (a^2 + b^2). So a rare label keeps to the common
    sigmoid, and a frequent one has its own.
    """
    common = ScoreCalibration().fit(Y.reshape(-1, 1), S.reshape(-1, 1))
    z = S * common.slope_ + common.intercept_
    own = np.zeros((2, S.shape[1]))
    loss = _pulled_loss(Y, z, own)
    for _ in range(_MOST_NEWTON_STEPS):
        step = _newton_step(Y, z, own)
        size = np.ones(S.shape[1])
        after = _pulled_loss(Y, z, own - step)
        while (worse := after > loss + 1e-12 * np.abs(loss)).any() and size.min() > 1e-6:
            size[worse] /= 2.0
            after = _pulled_loss(Y, z, own - size * step)
        own, loss = own - np.where(worse, 0.0, size) * step, np.where(worse, loss, after)
        if np.abs(step).max() < 1e-4:
            break
    return sigmoid((1.0 + own[0]) * z + own[1])


def _pulled_loss(Y: Any, z: Values, own: Values) -> Values:
    """What the sigmoid of each label minimises."""
    f = (1.0 + own[0]) * z + own[1]
    losses: Values = (np.logaddexp(0.0, f) - Y * f).sum(axis=0)
    losses += _PULL / 2.0 * np.square(own).sum(axis=0)
    return losses


def _newton_step(Y: Any, z: Values, own: Values) -> Values:
    """The Newton step of each label, for its a and b."""
    P = sigmoid((1.0 + own[0]) * z + own[1])
    slopes, curvatures = P - Y, P * (1.0 - P)
    ga, gb = (slopes * z).sum(axis=0) + _PULL * own[0], slopes.sum(axis=0) + _PULL * own[1]
    haa, hbb = (curvatures * z * z).sum(axis=0) + _PULL, curvatures.sum(axis=0) + _PULL
    hab = (curvatures * z).sum(axis=0)
    step: Values = np.array([hbb * ga - hab * gb, haa * gb - hab * ga])
    step /= haa * hbb - hab * hab
    return step


def _fit_weights(
    terms: Sequence[str],
    truth: Truth,
    scores: Sequence[Values],
    rows: Integers,
    before: Sequence[Values] = (),
    deadline: float = np.inf,
) -> Values:
    """Weights, not negative, of sum 1; a multiple of them has the least loss with some offset.

    ``before`` may hold weights to start from. After ``deadline`` the weights found so far are used.
    """
    n_models = len(scores)
    if n_models == 1:
        return np.ones(1)
    labels, given = truth.Y[rows], truth.given(rows)
    flat = np.stack([S[rows].ravel() for S in scores])

    def loss(point: Values) -> tuple[float, Values]:
        S = (point[:-1] @ flat + point[-1]).reshape(labels.shape)
        found = derivatives(labels, S, terms, **given)
        slopes = found.gradient.ravel()
        return found.value, np.append(flat @ slopes, slopes.sum())

    steps = count(1)

    def stop_late(_: Values) -> None:
        if next(steps) >= _FEWEST_STEPS and time.monotonic() > deadline:
            raise StopIteration

    even = np.full(n_models, 1.0 / n_models)
    first = np.append(before[0] if before else even, 0.0)
    bounds = [(0.0, None)] * n_models + [(None, None)]
    options = {"maxiter": _MOST_STEPS}
    found = minimize(
        loss, first, jac=True, bounds=bounds, method="L-BFGS-B", options=options, callback=stop_late
    )
    point = found.x
    weights: Values = point[:-1]
    return weights / weights.sum() if weights.sum() > 0 else even


def _parts(folds: Sequence[Integers]) -> Iterator[tuple[Integers, Integers]]:
    """The rows of all other folds, and of the fold; the same rows if there is only one."""
    for k, test in enumerate(folds):
        others = [fold for j, fold in enumerate(folds) if j != k] or [test]
        yield np.concatenate(others), test


def _some(rows: Integers, n_labels: int, rng: np.random.Generator) -> Integers:
    """At most as many rows as a fit reads."""
    most = max(2, _MOST_ENTRIES // max(1, n_labels))
    return rows if rows.size <= most else np.sort(rng.choice(rows, most, replace=False))


def _fast_kind(measure: Measure) -> str:
    """The kind of threshold for values of single models: the one that suits, if it is fast."""
    kind = str(measure.threshold)
    return "global" if measure.view is ROWS else kind
