"""The theory by computation: Table 2, Theorem 3's limit, and the bounds of Theorems 4 and 5.

Everything is measured on random predictors and on small counterexamples.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from limo._checks import check_inputs
from limo._evaluate import evaluate
from limo._margins import effectiveness, micro_auc_bound
from limo._settings import check_name
from limo._types import Anything, Values
from limo.measures._compute import compute
from limo.measures._conventions import CONVENTIONS
from limo.measures._measure import EFFECTIVENESS, Optimised, Result
from limo.measures._table import PAPER_MEASURES
from limo.thresholds._error import threshold_bounds, threshold_error

THRESHOLDS = {
    "label-wise": ("instance",),
    "instance-wise": ("label",),
    "double": ("instance", "label"),
    "entry-wise": ("instance", "label", "global"),
    "absolute": ("instance", "label", "global", "zero"),
}
# The effectiveness with which thresholds that suit the measure can be perfect.
_PERFECT_IF = {"macro_f1": "instance_wise", "instance_f1": "label_wise", "micro_f1": "label_wise"}
DENSITIES = (0.1, 0.3, 0.5)
SIZES = tuple(int(m) for m in np.unique(np.geomspace(4, 4000, 13).astype(int)))
N_LABELS = 5
THEOREMS = {"Theorem 4": ("instance", "label-wise"), "Theorem 5": ("label", "instance-wise")}
_EXACT = 1e-12


def table2_facts(n_predictors: int, seed: int = 0) -> pd.DataFrame:
    """For each cell of Table 2: on how many predictors of its kind the measure is perfect.

    For a cross, also the value of a counterexample and the best possible value.
    """
    rng = np.random.default_rng(seed)
    cells = []
    for kind in EFFECTIVENESS:
        perfect = dict.fromkeys(PAPER_MEASURES, 0)
        for _ in range(n_predictors):
            Y, S = draw_predictor(rng, kind)
            for name in _perfect(Y, S, kind):
                perfect[name] += 1
        cells += [_cell(name, kind, n_predictors, count) for name, count in perfect.items()]
    return pd.DataFrame(cells)


def _perfect(Y: Anything, S: Values, kind: str) -> Iterator[str]:
    """The measures with their best possible value under all thresholds that suit the kind."""
    predictions = [(correct_thresholds(Y, S, by) < S).astype(np.int64) for by in THRESHOLDS[kind]]
    first, *others = predictions
    different = [P for P in others if (first != P).any()]
    results = [_results(Y, S, P) for P in (first, *different)]
    effective = effectiveness(Y, S)
    for name, measure in PAPER_MEASURES.items():
        if measure.optimised_by[kind] is Optimised.NO and measure.needs == "labels":
            if getattr(effective, _PERFECT_IF[name]):
                yield name
        elif all(abs(result[name].value - result[name].best) < _EXACT for result in results):
            yield name


def _results(Y: Anything, S: Values, P: Anything) -> dict[str, Result]:
    return compute(PAPER_MEASURES.values(), check_inputs(Y, S, P), CONVENTIONS["standard"]).results


def _cell(name: str, kind: str, n_predictors: int, perfect: int) -> dict[str, Any]:
    examples = (e for e in COUNTEREXAMPLES if e.kind == kind and name in e.measures)
    example = next(examples, None)
    best = float("nan") if example is None else _results(example.Y, example.S, example.Y)[name].best
    return {
        "measure": name,
        "effectiveness": kind,
        "optimised": PAPER_MEASURES[name].optimised_by[kind].name.lower(),
        "predictors": n_predictors,
        "perfect": perfect,
        "counterexample": float("nan") if example is None else best_reachable(example, name),
        "best": best,
    }


def theorem3_facts(n_draws: int, seed: int = 0) -> pd.DataFrame:
    """Micro-AUC of double effective scores for growing numbers of instances, and its bound."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame([_limit(rng, m, density, n_draws) for density in DENSITIES for m in SIZES])


def _limit(rng: np.random.Generator, m: int, density: float, n_draws: int) -> dict[str, float]:
    values, relevant = [], []
    for _ in range(n_draws):
        Y = (rng.random((m, N_LABELS)) < density).astype(np.int64)
        Y[0, 0], Y[1, 1] = 1, 0  # at least one pair
        S = draw_theorem3(rng, Y)
        checked = check_inputs(Y, S)
        results = compute([PAPER_MEASURES["micro_auc"]], checked, CONVENTIONS["standard"]).results
        values.append(results["micro_auc"].value)
        relevant.append(Y.sum())
    low, middle, high = np.quantile(values, (0.05, 0.5, 0.95))
    bound = micro_auc_bound(m, N_LABELS, float(np.mean(relevant)))
    return {
        "density": density,
        "instances": m,
        "mean": float(np.mean(values)),
        "low": low,
        "median": middle,
        "high": high,
        "bound": bound,
    }


def bound_facts(n_predictors: int, seed: int = 0) -> pd.DataFrame:
    """Measures with wrong thresholds, and the bounds of Theorems 4 and 5, per predictor.

    ``printed`` is the bound printed in the paper, which for micro-F1 is that of instance-F1.
    """
    rng = np.random.default_rng(seed)
    lines = []
    for theorem, (by, kind) in THEOREMS.items():
        for number in range(n_predictors):
            lines += [
                {"theorem": theorem, "predictor": number} | line
                for line in _bound_lines(rng, by, kind)
            ]
    return pd.DataFrame(lines)


def _bound_lines(rng: np.random.Generator, by: Any, kind: str) -> Iterator[dict[str, Any]]:
    """One effective predictor with wrong thresholds: values and bounds."""
    Y, S = draw_predictor(rng, kind)
    t = wrong_thresholds(rng, Y, S, by)
    P = ((t[:, np.newaxis] if by == "instance" else t) < S).astype(np.int64)
    bounds = threshold_bounds(Y, threshold_error(Y, S, t, by=by), by=by)
    computed = compute(
        [PAPER_MEASURES[name] for name in bounds],
        check_inputs(Y, y_pred=P),
        CONVENTIONS["standard"],
    )
    for name, bound in bounds.items():
        if by == "label" and name == "micro_f1":
            continue  # Theorem 5 does not cover it
        printed = bounds["instance_f1"] if name == "micro_f1" else bound
        value = computed.results[name].value
        yield {"measure": name, "bound": bound, "printed": printed, "value": value}


# Random predictors that are effective in one way and otherwise arbitrary.

# The scale of shifts of rows, columns or all scores that keep a predictor effective.
_SHIFT = 5.0


def draw_labels(rng: np.random.Generator, largest: tuple[int, int] = (12, 8)) -> Anything:
    """Labels of random size and density, no row and no column all 0 or all 1."""
    while True:
        m, n = rng.integers(2, largest[0] + 1), rng.integers(2, largest[1] + 1)
        Y = rng.random((m, n)) < rng.uniform(0.2, 0.8)
        if all(Y.sum(axis).min() > 0 and Y.sum(axis).max() < Y.shape[axis] for axis in (0, 1)):
            return Y.astype(np.int64)


def draw_predictor(rng: np.random.Generator, kind: str) -> tuple[Anything, Values]:
    """Labels and scores that are effective as ``kind``, a column of Table 2, says."""
    check_name(kind, EFFECTIVENESS, "kind of effectiveness")
    Y = draw_labels(rng)
    if kind == "double":
        return Y, draw_theorem3(rng, Y)
    size = np.abs(rng.normal(size=Y.shape))
    separated = np.where(Y == 1, size + 0.01, -size)
    if kind == "absolute":
        return Y, np.where(Y == 1, separated, separated - 0.01)
    shifts = {"label-wise": (len(Y), 1), "instance-wise": (1, Y.shape[1]), "entry-wise": (1, 1)}
    return Y, separated + rng.normal(scale=_SHIFT, size=shifts[kind])


def draw_theorem3(rng: np.random.Generator, Y: Anything) -> Values:
    """Double effective scores as in the proof of Theorem 3.

    Relevant entries are uniform in (0, 1), irrelevant ones uniform below the lowest relevant
    score of their row and column.
    """
    relevant = np.where(Y == 1, rng.uniform(size=Y.shape), 1.0)
    below = np.minimum(relevant.min(axis=1)[:, np.newaxis], relevant.min(axis=0))
    return np.where(Y == 1, relevant, below * rng.uniform(size=Y.shape))


def correct_thresholds(Y: Anything, S: Values, by: str) -> Any:
    """Thresholds at the highest irrelevant score of rows, of columns or of all scores; or 0."""
    if by == "zero":
        return 0.0
    axis = {"instance": 1, "label": 0, "global": None}[by]
    return np.where(Y == 1, -np.inf, S).max(axis=axis, keepdims=True)


def wrong_thresholds(rng: np.random.Generator, Y: Anything, S: Values, by: str) -> Values:
    """Thresholds that are wrong by a few places in some rows, or columns."""
    scores, labels = (S, Y) if by == "instance" else (S.T, Y.T)
    ordered = np.sort(scores, axis=1)
    right = ordered.shape[1] - labels.sum(axis=1)  # how many scores are below a correct threshold
    miss = rng.integers(0, 1 + ordered.shape[1] // 2, len(right)) * rng.choice([-1, 1])
    missed = rng.random(len(right)) < rng.random()
    place = np.clip(right + np.where(missed, miss, 0), 0, ordered.shape[1])
    thresholds = np.column_stack([ordered[:, 0] - 1.0, ordered])
    wrong: Values = np.take_along_axis(thresholds, place[:, np.newaxis], axis=1)[:, 0]
    return wrong


# Counterexamples for the crosses of Table 2, found by hand.


@dataclass(frozen=True, eq=False)
class Counterexample:
    """A predictor that is effective in one way, and measures that it does not optimise.

    Attributes
    ----------
    kind : str
        How it is effective: a column of Table 2.
    measures : tuple of str
        The measures it does not optimise.
    Y, S : array
        Labels and scores.
    why : str
        The reason, in a sentence.

    Examples
    --------
    >>> import limo
    >>> one = limo.reproduce.COUNTEREXAMPLES[0]
    >>> one.Y.shape == one.S.shape
    True
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
        "For the first label, the second instance (5) scores above the first (1), which has it.",
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
        "The second label outscores the first everywhere, even where only the first is relevant.",
    ),
    Counterexample(
        "double",
        ("micro_auc",),
        np.eye(3, dtype=int),
        np.array([[10.0, 5.0, 0.0], [0.0, 10.0, 0.0], [0.0, 0.0, 1.0]]),
        "The irrelevant 5 is below the relevant 10s of its row and column, but above another, 1.",
    ),
)


# Effective in every way but absolutely: all scores are above 0, so that the threshold 0 predicts
# every label, though one global threshold is perfect.
SHIFTED = Counterexample(
    "entry-wise",
    ("macro_f1", "instance_f1", "micro_f1", "hamming_loss"),
    np.eye(2, dtype=int),
    np.array([[3.0, 1.0], [1.0, 3.0]]),
    "Every score is above 0, so the threshold 0 predicts every label; 2 would be right.",
)


def best_reachable(example: Counterexample, measure: str) -> float:
    """The best value of a measure on an example.

    For measures of labels all thresholds are tried: one per label if those suit the measure,
    otherwise one per instance.
    """
    Y, S = example.Y, example.S
    if PAPER_MEASURES[measure].needs == "scores":
        return evaluate(Y, S)[measure]
    by_label = PAPER_MEASURES[measure].threshold == "label"
    places = np.append(np.unique(S), S.min() - 1)
    thresholds = map(np.array, itertools.product(places, repeat=len(Y)))
    tried = (((t if by_label else t[:, np.newaxis]) < S).astype(int) for t in thresholds)
    return max(evaluate(Y, y_pred=P)[measure] for P in tried)
