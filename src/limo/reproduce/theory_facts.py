"""The theory executed: Table 2 on generated predictors, Theorem 3's limit, bounds of 4 and 5."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from limo._checks import check_inputs
from limo._types import Anything, Values
from limo.measures.base import Optimised, Result
from limo.measures.compute import compute
from limo.measures.conventions import CONVENTIONS
from limo.measures.table import EFFECTIVENESS, MEASURES
from limo.reproduce.counterexamples import COUNTEREXAMPLES, best_reachable
from limo.reproduce.predictors import (
    draw_predictor,
    draw_theorem3,
    right_thresholds,
    wrong_thresholds,
)
from limo.theory import (
    effectiveness,
    micro_auc_bound,
    threshold_bounds,
    threshold_error,
)

__all__ = ["bound_facts", "table2_facts", "theorem3_facts"]

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
