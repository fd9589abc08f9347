"""The formulas: the value of each measure for each row, and the value of blind guessing.

A measure of scores is a function of a row's profile, a measure of labels one of its confusion
counts. In the formulas r runs over the p relevant and v over the n irrelevant items of a row, and s
are their scores. A row on which a function is undefined gets nan; whether it is left out or filled
in is decided when the rows are averaged. Items whose label is missing are not among them, and with
sample weights # adds up weights.

The ``blind_...`` functions give the expected value of blind guessing, from the number of relevant
items of each row and the number of items.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from limo._types import Anything, Values
from limo._views import Counts
from limo.measures._conventions import Conventions

if TYPE_CHECKING:  # profiles load the compiler, which is too slow for shell completion
    from limo._profiles import Profile

_LARGEST_SUMMED = 1 << 14

# Measures of scores


def ranking_loss(profile: "Profile", conventions: Conventions) -> Values:
    """Share of pairs in the wrong order: (#{s_r < s_v} + tie * #{s_r = s_v}) / pn."""
    lost = profile.pairs_lost + conventions.ranking_loss_tie * profile.pairs_tied
    return divide(lost, profile.n_pairs)


def auc(profile: "Profile", conventions: Conventions) -> Values:
    """Share of pairs in the right order: (#{s_r > s_v} + tie * #{s_r = s_v}) / pn."""
    lost = profile.pairs_lost + (1.0 - conventions.auc_tie) * profile.pairs_tied
    return divide(profile.n_pairs - lost, profile.n_pairs)


def blind_order(relevant: Values, n_items: Any, conventions: Conventions) -> Values:
    """Half of the pairs of a random ranking are in order."""
    return np.full(relevant.shape, 0.5)


def one_error(profile: "Profile", conventions: Conventions) -> Values:
    """1 if an irrelevant item has the highest score of the row, else 0."""
    ahead = profile.above
    if conventions.one_error_tie == "worst":
        ahead = ahead + profile.tied
    best = profile.first(ahead)
    return np.where(np.isnan(best), np.nan, best > 0)


def blind_one_error(relevant: Values, n_items: Any, conventions: Conventions) -> Values:
    """A random item is at the top."""
    share: Values = 1 - relevant / n_items
    return share


def coverage(profile: "Profile", conventions: Conventions) -> Values:
    """Rank of the worst relevant item, plus an offset: how far down the ranking one must read."""
    return profile.last(_rank(profile, conventions)) + conventions.coverage_offset


def blind_coverage(relevant: Values, n_items: Any, conventions: Conventions) -> Values:
    """The expected largest of p ranks drawn from 1 to l is p (l + 1) / (p + 1)."""
    rank: Values = relevant * (n_items + 1) / (relevant + 1) + conventions.coverage_offset
    return rank


def average_precision(profile: "Profile", conventions: Conventions) -> Values:
    """Mean over r of #{relevant items at or above r} / rank(r)."""
    precision = profile.relevant_through / _rank(profile, conventions)
    values = divide(profile.sum(precision), profile.n_relevant)
    if not conventions.full_rows_in_average_precision:
        values[profile.n_irrelevant == 0] = np.nan
    return values


def blind_average_precision(relevant: Values, n_items: Any, conventions: Conventions) -> Values:
    """H + (1 - h) (p - 1) / (l - 1), where h = (1 + 1/2 + ... + 1/l) / l."""
    h = _harmonic(np.maximum(n_items, 1)) / n_items
    rest = (relevant - 1) / np.maximum(n_items - 1, 1)
    return np.where(n_items == 1, 1.0, h + (1 - h) * rest)


def _harmonic(n: Any) -> Values:
    """1 + 1/2 + ... + 1/n, for numbers from 1 up."""
    table = np.cumsum(1 / np.arange(1, _LARGEST_SUMMED + 1))
    small = table[np.minimum(n, _LARGEST_SUMMED).astype(np.int64) - 1]
    # the error of the series is below 1 / (120 n**4)
    large = np.log(n) + np.euler_gamma + 1 / (2 * n) - 1 / (12 * np.square(n, dtype=np.float64))
    harmonic: Values = np.where(np.less_equal(n, _LARGEST_SUMMED), small, large)
    return harmonic


def _rank(profile: "Profile", conventions: Conventions) -> Anything:
    """Rank of each relevant item: #{s >= s_r} at worst, 1 + #{s > s_r} at best."""
    if conventions.tied_rank == "worst":
        return profile.relevant_through + profile.above + profile.tied
    return 1 + profile.relevant_above + profile.above


# Measures of predicted labels


def f1(counts: Counts, conventions: Conventions) -> Values:
    """2 #both / (#true + #predicted); the conventions say what 0/0 is."""
    return f_measure(counts, 1.0, conventions.f1_of_nothing)


def f_measure(counts: Counts, beta: float, nothing: float = 0.0) -> Values:
    """(1 + b²) #both / (b² #true + #predicted); ``nothing`` if nothing is true or predicted."""
    weight = beta**2
    return divide((1 + weight) * counts.both, weight * counts.true + counts.predicted, nothing)


def blind_f1(relevant: Values, n_items: Any, conventions: Conventions) -> Values:
    """Everything is predicted."""
    share: Values = 2 * relevant / (relevant + n_items)
    return share


def hamming(counts: Counts, conventions: Conventions) -> Values:
    """Share of items whose predicted label is wrong."""
    share: Values = counts.wrong / counts.n_items
    return share


def blind_hamming(relevant: Values, n_items: Any, conventions: Conventions) -> Values:
    """Nothing or everything is predicted, whichever is better overall."""
    share = relevant / n_items
    return np.stack([share, 1 - share])


def divide(numerator: Anything, denominator: Anything, otherwise: float = np.nan) -> Values:
    """Divide where the denominator is above 0; take ``otherwise`` elsewhere."""
    values = np.full(denominator.shape, otherwise)
    np.divide(numerator, denominator, out=values, where=denominator > 0)
    return values
