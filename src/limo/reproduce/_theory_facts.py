"""The theory executed: Table 2 on generated predictors, Theorem 3's limit, bounds of 4 and 5."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from limo._checks import check_inputs, check_name
from limo._evaluation import evaluate
from limo._margins import effectiveness, micro_auc_bound
from limo._types import Anything, Values
from limo.measures._compute import compute
from limo.measures._conventions import CONVENTIONS
from limo.measures._measure import Optimised, Result
from limo.measures._table import EFFECTIVENESS, MEASURES
from limo.thresholds._report import threshold_bounds, threshold_error

__all__ = [
    "COUNTEREXAMPLES",
    "Counterexample",
    "best_reachable",
    "bound_facts",
    "draw_labels",
    "draw_predictor",
    "draw_theorem3",
    "right_thresholds",
    "table2_facts",
    "theorem3_facts",
    "wrong_thresholds",
]


# Random predictors that are effective in one way and otherwise as wild as can be.

Generator = np.random.Generator
_FAR = 5.0  # how far rows, columns or the whole may be shifted where that does no harm


def draw_labels(rng: Generator, largest: tuple[int, int] = (12, 8)) -> Anything:
    """Labels of random size and density, no row and no column all 0 or all 1."""
    while True:
        m, n = rng.integers(2, largest[0] + 1), rng.integers(2, largest[1] + 1)
        Y = rng.random((m, n)) < rng.uniform(0.2, 0.8)
        if all(Y.sum(axis).min() > 0 and Y.sum(axis).max() < Y.shape[axis] for axis in (0, 1)):
            return Y.astype(np.int64)


def draw_predictor(rng: Generator, kind: str) -> tuple[Anything, Values]:
    """Labels, and scores effective in the way of ``kind``, one of the four of Table 2."""
    check_name(kind, EFFECTIVENESS, "kind of effectiveness")
    Y = draw_labels(rng)
    if kind == "double":
        return Y, draw_theorem3(rng, Y)
    size = np.abs(rng.normal(size=Y.shape))
    parted = np.where(Y == 1, size + 0.01, -size)
    shifts = {"label-wise": (len(Y), 1), "instance-wise": (1, Y.shape[1]), "entry-wise": (1, 1)}
    return Y, parted + rng.normal(scale=_FAR, size=shifts[kind])


def draw_theorem3(rng: Generator, Y: Anything) -> Values:
    """Double effective scores as in the proof of Theorem 3.

    Relevant entries are uniform in (0, 1), irrelevant ones uniform below the lowest relevant
    score of their row and column.
    """
    relevant = np.where(Y == 1, rng.uniform(size=Y.shape), 1.0)
    below = np.minimum(relevant.min(axis=1)[:, np.newaxis], relevant.min(axis=0))
    return np.where(Y == 1, relevant, below * rng.uniform(size=Y.shape))


def right_thresholds(Y: Anything, S: Values, by: str) -> Any:
    """Thresholds at the highest irrelevant score of each row, each column or of all."""
    axis = {"instance": 1, "label": 0, "global": None}[by]
    return np.where(Y == 1, -np.inf, S).max(axis=axis, keepdims=True)


def wrong_thresholds(rng: Generator, Y: Anything, S: Values, by: str) -> Values:
    """Thresholds that miss the right place by a few items of each row, or column."""
    scores, labels = (S, Y) if by == "instance" else (S.T, Y.T)
    ordered = np.sort(scores, axis=1)
    right = ordered.shape[1] - labels.sum(axis=1)  # how many items lie below a right cut
    miss = rng.integers(0, 1 + ordered.shape[1] // 2, len(right)) * rng.choice([-1, 1])
    missed = rng.random(len(right)) < rng.random()
    place = np.clip(right + np.where(missed, miss, 0), 0, ordered.shape[1])
    cuts = np.column_stack([ordered[:, 0] - 1.0, ordered])
    found: Values = np.take_along_axis(cuts, place[:, np.newaxis], axis=1)[:, 0]
    return found


# Why the crosses of Table 2 are crosses: small predictors, found by hand.


@dataclass(frozen=True, eq=False)
class Counterexample:
    """A predictor effective in one way, and the measures on which it is not perfect all the same.

    Attributes
    ----------
    kind : str
        How it is effective.
    measures : tuple of str
        Which measures it does not optimise.
    Y, S : array
        Labels and scores.
    why : str
        What to look at.
    """

    kind: str
    measures: tuple[str, ...]
    Y: Anything
    S: Values
    why: str


COUNTEREXAMPLES = (
    Counterexample(
        "label-wise",
        ("macro_auc", "micro_auc", "macro_f1"),
        np.eye(2, dtype=int),
        np.array([[1.0, 0.0], [5.0, 6.0]]),
        "The first label scores the second instance (5) above the first (1), which has it.",
    ),
    Counterexample(
        "instance-wise",
        (
            "ranking_loss",
            "one_error",
            "coverage",
            "average_precision",
            "instance_auc",
            "micro_auc",
            "instance_f1",
            "micro_f1",
        ),
        np.eye(2, dtype=int),
        np.array([[1.0, 5.0], [0.0, 6.0]]),
        "The second label outscores the first everywhere, also where the first is right.",
    ),
    Counterexample(
        "double",
        ("micro_auc",),
        np.eye(3, dtype=int),
        np.array([[10.0, 5.0, 0.0], [0.0, 10.0, 0.0], [0.0, 0.0, 1.0]]),
        "The irrelevant 5 beats its rivals in row and column, but not the relevant 1 far away.",
    ),
)


def best_reachable(example: Counterexample, measure: str) -> float:
    """The value of a measure on an example; of labels, under the best cuts that suit the measure.

    All cuts are tried: one for each label where those suit, otherwise one for each instance.
    """
    Y, S = example.Y, example.S
    if MEASURES[measure].needs == "scores":
        return evaluate(Y, S)[measure]
    by_label = MEASURES[measure].threshold == "label"
    places = np.append(np.unique(S), S.min() - 1)
    cuts = map(np.array, itertools.product(places, repeat=len(Y)))
    tried = (((t if by_label else t[:, np.newaxis]) < S).astype(int) for t in cuts)
    return max(evaluate(Y, y_pred=P)[measure] for P in tried)


CUTS = {
    "label-wise": ("instance",),
    "instance-wise": ("label",),
    "double": ("instance", "label"),
    "entry-wise": ("instance", "label", "global"),
}
# What the suitable cut of a measure needs of the predictor to be able to part every row.
_PARTED_BY = {"macro_f1": "instance_wise", "instance_f1": "label_wise", "micro_f1": "label_wise"}
DENSITIES = (0.1, 0.3, 0.5)
SIZES = tuple(int(m) for m in np.unique(np.geomspace(4, 4000, 13).astype(int)))
N_LABELS = 5
THEOREMS = {"Theorem 4": ("instance", "label-wise"), "Theorem 5": ("label", "instance-wise")}
_EXACT = 1e-12


def table2_facts(n_predictors: int, seed: int = 0) -> pd.DataFrame:
    """For each cell of Table 2: on how many predictors of its kind the measure is perfect.

    Where the table has a cross, the value of a counterexample stands beside the best possible.
    """
    rng = np.random.default_rng(seed)
    cells = []
    for kind in EFFECTIVENESS:
        perfect = dict.fromkeys(MEASURES, 0)
        for _ in range(n_predictors):
            Y, S = draw_predictor(rng, kind)
            for name in _perfect(Y, S, kind):
                perfect[name] += 1
        cells += [_cell(name, kind, n_predictors, count) for name, count in perfect.items()]
    return pd.DataFrame(cells)


def _perfect(Y: Anything, S: Values, kind: str) -> Iterator[str]:
    """The measures that are as good as they can be, under every cut that suits the kind."""
    cuts = [(right_thresholds(Y, S, by) < S).astype(np.int64) for by in CUTS[kind]]
    results = [_results(Y, S, P) for P in cuts[:1]]
    results += [_results(Y, S, P) for P in cuts[1:] if (cuts[0] != P).any()]
    able = effectiveness(Y, S)
    for name, measure in MEASURES.items():
        if measure.optimised_by[kind] is Optimised.NO and measure.needs == "labels":
            if getattr(able, _PARTED_BY[name]):
                yield name
        elif all(abs(found[name].value - found[name].best) < _EXACT for found in results):
            yield name


def _results(Y: Anything, S: Values, P: Anything) -> dict[str, Result]:
    return compute(MEASURES.values(), check_inputs(Y, S, P), CONVENTIONS["standard"]).results


def _cell(name: str, kind: str, n_predictors: int, perfect: int) -> dict[str, Any]:
    examples = (e for e in COUNTEREXAMPLES if e.kind == kind and name in e.measures)
    example = next(examples, None)
    best = float("nan") if example is None else _results(example.Y, example.S, example.Y)[name].best
    return {
        "measure": name,
        "effectiveness": kind,
        "optimised": MEASURES[name].optimised_by[kind].name.lower(),
        "predictors": n_predictors,
        "perfect": perfect,
        "counterexample": float("nan") if example is None else best_reachable(example, name),
        "best": best,
    }


def theorem3_facts(n_draws: int, seed: int = 0) -> pd.DataFrame:
    """Micro-AUC of double effective scores over the number of instances, beside its bound."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame([_limit(rng, m, density, n_draws) for density in DENSITIES for m in SIZES])


def _limit(rng: Any, m: int, density: float, n_draws: int) -> dict[str, float]:
    found, relevant = [], []
    for _ in range(n_draws):
        Y = (rng.random((m, N_LABELS)) < density).astype(np.int64)
        Y[0, 0], Y[1, 1] = 1, 0  # at least one pair
        S = draw_theorem3(rng, Y)
        checked = check_inputs(Y, S)
        results = compute([MEASURES["micro_auc"]], checked, CONVENTIONS["standard"]).results
        found.append(results["micro_auc"].value)
        relevant.append(Y.sum())
    low, middle, high = np.quantile(found, (0.05, 0.5, 0.95))
    bound = micro_auc_bound(m, N_LABELS, float(np.mean(relevant)))
    return {
        "density": density,
        "instances": m,
        "mean": float(np.mean(found)),
        "low": low,
        "median": middle,
        "high": high,
        "bound": bound,
    }


def bound_facts(n_predictors: int, seed: int = 0) -> pd.DataFrame:
    """What thresholds that miss cost, beside the bounds of Theorems 4 and 5: a line for each.

    ``printed`` is the bound that the paper prints: that of instance-F1 for micro-F1 too.
    """
    rng = np.random.default_rng(seed)
    lines = []
    for theorem, (by, kind) in THEOREMS.items():
        for number in range(n_predictors):
            lines += [
                {"theorem": theorem, "predictor": number} | line for line in _missed(rng, by, kind)
            ]
    return pd.DataFrame(lines)


def _missed(rng: Any, by: Any, kind: str) -> Iterator[dict[str, Any]]:
    """One effective predictor with thresholds that miss: values beside bounds."""
    Y, S = draw_predictor(rng, kind)
    t = wrong_thresholds(rng, Y, S, by)
    P = ((t[:, np.newaxis] if by == "instance" else t) < S).astype(np.int64)
    bounds = threshold_bounds(Y, threshold_error(Y, S, t, by=by), by=by)
    found = compute(
        [MEASURES[name] for name in bounds], check_inputs(Y, y_pred=P), CONVENTIONS["standard"]
    )
    for name, bound in bounds.items():
        if by == "label" and name == "micro_f1":
            continue  # Theorem 5 says nothing of it
        printed = bounds["instance_f1"] if name == "micro_f1" else bound
        value = found.results[name].value
        yield {"measure": name, "bound": bound, "printed": printed, "value": value}
