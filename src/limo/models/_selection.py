"""Ensembles chosen for a measure: greedy selection with replacement (Caruana et al., 2004).

The scores of the models are cross-fitted, so that a measure of their mean is what the ensemble
would have on new data. Three things prevent overfitting: the selection is repeated on several
random parts of the rows and of the models, each starts from the best few, and the mean of the
weights is shrunk towards an even mix of those that are not clearly worse than the best.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from limo._checks import check_inputs
from limo._types import Integers, Values
from limo._views import ROWS
from limo.measures._compute import compute
from limo.measures._conventions import CONVENTIONS
from limo.measures._measure import Measure
from limo.thresholds._fit import make_rule

_N_BAGS = 6
_ROW_SHARE = 0.7
_MODEL_SHARE = 0.6
_N_START = 4
_MOST_STEPS = 12
_N_EVEN = 8
_SHRINKAGE = 0.5
_CLEARLY = 2.0
# Entries of scores that a bag reads at most: beyond, more rows decide no better.
_MOST_ENTRIES = 200_000


@dataclass(frozen=True, eq=False)
class Chosen:
    """The weights of the models for a measure, and what to expect of them.

    Attributes
    ----------
    weights : array of shape (n_models,)
        They add up to 1.
    held_out : array of shape (n_bags,)
        The measure on the rows that each repetition left out.
    """

    weights: Values
    held_out: Values


def standardise(S: Values) -> tuple[Values, float, float]:
    """Scores of mean 0 and variance 1 over all entries, and the two numbers to repeat it."""
    centre, spread = float(S.mean()), float(S.std()) or 1.0
    return (S - centre) / spread, centre, spread


def measured(
    measure: Measure, Y: Any, S: Values, kind: str | None, train: Integers, test: Integers
) -> float:
    """The measure on some rows, with a threshold fitted on others if it needs one."""
    if kind is None:
        inputs = check_inputs(Y[test], S[test])
    else:
        rule = make_rule(kind, measure.name).fit(Y[train], S[train])
        inputs = check_inputs(Y[test], None, rule.predict(S[test]))
    found = compute([measure], inputs, CONVENTIONS["standard"]).results[measure.name]
    return float(found.value)


def alone(measure: Measure, Y: Any, S: Values, folds: Sequence[Integers]) -> float:
    """The cross-validated value of one model, with the kind of threshold that suits the measure."""
    values = list(by_fold(measure, Y, S, _first_kind(measure), folds))
    return float(np.mean(values))


def by_fold(
    measure: Measure, Y: Any, S: Values, kind: str | None, folds: Sequence[Integers]
) -> Iterator[float]:
    """The measure on each fold, with a threshold fitted on the others."""
    for k, test in enumerate(folds):
        others = [fold for j, fold in enumerate(folds) if j != k] or [test]
        yield measured(measure, Y, S, kind, np.concatenate(others), test)


def select(
    measure: Measure,
    Y: Any,
    scores: Sequence[Values],
    folds: Sequence[Integers],
    rng: np.random.Generator,
    deadline: float = np.inf,
) -> Chosen:
    """Choose weights for standardised scores.

    After ``deadline``, a time of ``time.monotonic()``, the selection is not repeated again.
    """
    kind = _first_kind(measure)
    singles = np.array([list(by_fold(measure, Y, S, kind, folds)) for S in scores])
    order = np.argsort(-_gain(measure, singles.mean(axis=1)), kind="stable")
    bags = [_bag(measure, Y, scores, order, rng)]
    while len(scores) > 1 and len(bags) < _N_BAGS and time.monotonic() < deadline:
        bags.append(_bag(measure, Y, scores, order, rng))
    weights = np.mean([one for one, _ in bags], axis=0)
    weights = (1 - _SHRINKAGE) * weights + _SHRINKAGE * _even(_gain(measure, singles), order)
    return Chosen(weights, np.array([value for _, value in bags]))


def _even(gains: Values, order: Integers) -> Values:
    """Equal weights for the best few that are not clearly worse than the best.

    ``gains`` has a row per model and a column per fold. Clearly worse: the mean difference is more
    than two standard errors.
    """
    with np.errstate(invalid="ignore"):
        behind = np.nan_to_num(gains[order[0]] - gains)
    error = behind.std(axis=1) / np.sqrt(max(1, behind.shape[1] - 1))
    close = behind.mean(axis=1) <= _CLEARLY * error
    chosen = [k for k in order.tolist() if close[k]][:_N_EVEN]
    weights = np.zeros(order.size)
    weights[chosen] = 1.0 / len(chosen)
    return weights


def mixed(scores: Sequence[Values], weights: Values) -> Values:
    """The weighted sum of scores."""
    total = np.zeros(scores[0].shape)
    for weight, S in zip(weights, scores, strict=True):
        if weight:
            total += weight * S
    return total


def _bag(
    measure: Measure, Y: Any, scores: Sequence[Values], order: Integers, rng: np.random.Generator
) -> tuple[Values, float]:
    """Select on some rows and models; the value on the other rows."""
    rows = rng.permutation(Y.shape[0])
    n_train = max(1, round(_ROW_SHARE * rows.size))
    most = max(2, _MOST_ENTRIES // max(1, Y.shape[1]))
    inside, outside = rows[:n_train][:most], rows[n_train:]
    n_models = max(min(3, order.size), round(_MODEL_SHARE * order.size))
    # the best model is always among them
    drawn = {int(order[0]), *rng.permutation(order)[:n_models].tolist()}
    pool = [int(k) for k in order if int(k) in drawn]
    weights = _greedy(measure, Y[inside], [scores[k][inside] for k in pool])
    whole = np.zeros(len(scores))
    whole[pool] = weights
    if not outside.size:
        return whole, float("nan")
    mean, kind = mixed(scores, whole), _first_kind(measure)
    return whole, measured(measure, Y, mean, kind, inside, outside)


def _greedy(measure: Measure, Y: Any, scores: Sequence[Values]) -> Values:
    """Start from the best few, then add whichever model helps most, again and again.

    ``scores`` come best first. The weights of the best ensemble on the way.
    """
    halves = np.array_split(np.arange(Y.shape[0]), 2 if Y.shape[0] > 1 else 1)
    kind = _first_kind(measure)

    def gain(S: Values) -> float:
        values = list(by_fold(measure, Y, S, kind, halves))
        return float(_gain(measure, np.mean(values)))

    counts = np.zeros(len(scores))
    counts[: min(_N_START, len(scores))] = 1
    total = mixed(scores, counts)
    best, best_counts, failures = gain(total), counts.copy(), 0
    for _ in range(_MOST_STEPS):
        gains = [gain(total + S) for S in scores]
        k = int(np.argmax(gains))
        counts[k] += 1
        total = total + scores[k]
        failures = 0 if gains[k] > best else failures + 1
        if gains[k] > best:
            best, best_counts = gains[k], counts.copy()
        if failures == 2 or len(scores) == 1:
            break
    weights: Values = best_counts / best_counts.sum()
    return weights


def _gain(measure: Measure, value: Any) -> Any:
    """Higher is better; an undefined value is worst."""
    return np.nan_to_num(measure.sign * np.asarray(value), nan=-np.inf)


def _first_kind(measure: Measure) -> str | None:
    """The kind of threshold used during the selection: the one that suits, if it is fast."""
    if measure.threshold is None:
        return None
    kind: str = measure.threshold
    return "global" if measure.view is ROWS else kind
