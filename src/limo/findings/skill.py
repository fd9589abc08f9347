"""How far a value is on the way from blind guessing to the best possible.

Measures live on different scales; skill makes them comparable. With b the value of a predictor
that knows nothing of the instances, and * the best possible one,

    skill = (value - b) / (* - b):  0 is blind, 1 is perfect, below 0 is worse than blind.

A blind ranking is a random one, its value an exact expectation. Blind labels are those of "all"
for F1, which is the best one can do, and of "none" or "all" for Hamming loss.
"""

import math
from collections.abc import Callable

import numpy as np

from limo._types import Integers, Values
from limo.measures.base import Measure, Result
from limo.measures.conventions import Conventions
from limo.pattern import Pattern

__all__ = ["blind_value", "skill"]

Blind = Callable[[Values, int, Conventions], Values]


def skill(value: float, blind: float, best: float) -> float:
    """(value - blind) / (best - blind); nan where blind guessing is already perfect."""
    if blind == best:
        return math.nan
    return (value - blind) / (best - blind)


def blind_value(measure: Measure, result: Result, Y: Pattern, conventions: Conventions) -> float:
    """The value that knowing nothing gives, over the rows the measure counts; nan if untold."""
    blind = _BLIND.get(measure.function.__name__)  # type: ignore[attr-defined]
    if blind is None:
        return math.nan
    relevant, n_items = measure.view.ones(Y).astype(np.float64), measure.view.n_items(Y)
    values = blind(relevant, n_items, conventions)
    fill = result.filled_with
    if fill is not None:
        return float(np.where(result.undefined, fill, values).mean())
    counted = values[~result.undefined]
    return float(counted.mean()) if counted.size else math.nan


def _half(relevant: Values, n_items: int, conventions: Conventions) -> Values:
    return np.full(relevant.shape, 0.5)


def _one_error(relevant: Values, n_items: int, conventions: Conventions) -> Values:
    """A random item is at the top."""
    return 1 - relevant / n_items


def _coverage(relevant: Values, n_items: int, conventions: Conventions) -> Values:
    """The expected largest of p ranks drawn from 1 to l is p (l + 1) / (p + 1)."""
    return relevant * (n_items + 1) / (relevant + 1) + conventions.coverage_offset


def _average_precision(relevant: Values, n_items: int, conventions: Conventions) -> Values:
    """E = h + (1 - h) (p - 1) / (l - 1), where h = (1 + 1/2 + ... + 1/l) / l."""
    if n_items == 1:
        return np.ones(relevant.shape)
    h = float((1 / np.arange(1, n_items + 1)).mean())
    return h + (1 - h) * (relevant - 1) / (n_items - 1)


def _f1(relevant: Values, n_items: int, conventions: Conventions) -> Values:
    """Everything is predicted."""
    return 2 * relevant / (relevant + n_items)


def _hamming(relevant: Values | Integers, n_items: int, conventions: Conventions) -> Values:
    """Nothing or everything is predicted, whichever is better on the whole."""
    share = relevant / n_items
    return share if share.mean() <= 0.5 else 1 - share


_BLIND: dict[str, Blind] = {
    "ranking_loss": _half,
    "auc": _half,
    "one_error": _one_error,
    "coverage": _coverage,
    "average_precision": _average_precision,
    "f1": _f1,
    "hamming": _hamming,
}
