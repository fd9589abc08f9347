"""Measures of scores: functions of a row's profile, one value a row.

In the formulas r runs over the p relevant and v over the n irrelevant items of a row, s are
their scores. A row on which a function is undefined gets nan; what becomes of it is decided
when the values are reduced.
"""

import math
from collections.abc import Callable

import numpy as np

from limo._profiles import Profile
from limo._types import Anything, Integers, Values
from limo._views import Counts, Pattern
from limo.measures._conventions import Conventions
from limo.measures._measure import Measure, Result

__all__ = [
    "auc",
    "average_precision",
    "blind_value",
    "coverage",
    "f1",
    "hamming",
    "one_error",
    "ranking_loss",
    "skill",
]


def ranking_loss(profile: Profile, conventions: Conventions) -> Values:
    """Share of pairs in the wrong order: (#{s_r < s_v} + tie * #{s_r = s_v}) / pn."""
    lost = profile.pairs_lost + conventions.ranking_loss_tie * profile.pairs_tied
    return _divide(lost, profile.n_pairs)


def auc(profile: Profile, conventions: Conventions) -> Values:
    """Share of pairs in the right order: (#{s_r > s_v} + tie * #{s_r = s_v}) / pn."""
    lost = profile.pairs_lost + (1.0 - conventions.auc_tie) * profile.pairs_tied
    return _divide(profile.n_pairs - lost, profile.n_pairs)


def one_error(profile: Profile, conventions: Conventions) -> Values:
    """1 if an irrelevant item has the highest score of the row, else 0."""
    ahead = profile.above
    if conventions.one_error_tie == "worst":
        ahead = ahead + profile.tied
    best = profile.first(ahead)
    return np.where(np.isnan(best), np.nan, best > 0)


def coverage(profile: Profile, conventions: Conventions) -> Values:
    """Rank of the worst relevant item, plus an offset: how far down the list one must go."""
    return profile.last(_rank(profile, conventions)) + conventions.coverage_offset


def average_precision(profile: Profile, conventions: Conventions) -> Values:
    """Mean over r of #{relevant items at or above r} / rank(r)."""
    precision = profile.relevant_through / _rank(profile, conventions)
    values = _divide(profile.sum(precision), profile.n_relevant)
    if not conventions.full_rows_in_average_precision:
        values[profile.n_irrelevant == 0] = np.nan
    return values


def _rank(profile: Profile, conventions: Conventions) -> Integers:
    """Rank of each relevant item: #{s >= s_r} at worst, 1 + #{s > s_r} at best."""
    if conventions.tied_rank == "worst":
        return profile.relevant_through + profile.above + profile.tied
    return 1 + profile.relevant_above + profile.above


def _divide(numerator: Values, denominator: Anything) -> Values:
    values = np.full(numerator.shape, np.nan)
    np.divide(numerator, denominator, out=values, where=denominator > 0)
    return values


# Measures of predicted labels: functions of a row's confusion counts, one value a row.


def f1(counts: Counts, conventions: Conventions) -> Values:
    """2 * #both / (#true + #predicted); what 0 / 0 is, the conventions say."""
    total = counts.true + counts.predicted
    values = np.full(total.shape, conventions.f1_of_nothing, dtype=np.float64)
    np.divide(2.0 * counts.both, total, out=values, where=total > 0)
    return values


def hamming(counts: Counts, conventions: Conventions) -> Values:
    """Share of items whose predicted label is wrong."""
    return counts.wrong / counts.n_items


# How far a value is on the way from blind guessing to the best possible.

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
