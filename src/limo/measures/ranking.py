"""Measures of scores: functions of a row's profile, one value a row.

In the formulas r runs over the p relevant and v over the n irrelevant items of a row, s are
their scores. A row on which a function is undefined gets nan; what becomes of it is decided
when the values are reduced.
"""

import numpy as np

from limo._types import Anything, Integers, Values
from limo.measures.conventions import Conventions
from limo.profiles import Profile

__all__ = ["auc", "average_precision", "coverage", "one_error", "ranking_loss"]


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
