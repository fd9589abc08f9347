"""Margins: by how much the lowest relevant score exceeds the highest irrelevant one.

One function of a row gives the margins of all three views; a row without pairs has none (nan). The
absolute margin is the distance from a threshold at 0. How far a predictor is effective follows from
the signs of its margins.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from limo._checks import Checked, check_inputs
from limo._kernels.guarantees import best_weighted_f1, row_orders
from limo._kernels.profiles import digits_of, exact_mean, rounded
from limo._profiles import Profile
from limo._settings import check_number
from limo._sparse_profiles import read_any_profiles
from limo._types import Integers, Values
from limo._views import COLUMNS, ENTRIES, ROWS, View

# Floats up to this size hold every whole number.
_LARGEST_WHOLE = 2.0**53


@dataclass(frozen=True, eq=False)
class Orders:
    """How the rows of a view are ordered; ties count as errors.

    Attributes
    ----------
    relevant, irrelevant : array of int, or of float if items have weights
        How many relevant and irrelevant items each row has, or how much they weigh.
    misordered : array of int, or of float if items have weights
        How many of its pairs are lost or tied.
    ahead_of_first, ahead_of_last : array
        How many irrelevant items score at least as high as the best and the worst relevant item;
        nan in rows without a relevant item, and if items have weights.
    average_precision, best_f1 : array
        Average precision (nan as before), and F1 with the best threshold of each row.
    """

    relevant: Integers | Values
    irrelevant: Integers | Values
    misordered: Integers | Values
    ahead_of_first: Values
    ahead_of_last: Values
    average_precision: Values
    best_f1: Values


@dataclass(frozen=True, eq=False)
class MarginSummary:
    """The margins of one view, and how many of its pairs are tied.

    Attributes
    ----------
    view : View
        Which margins these are.
    margins : array
        One margin per row of the view; nan in rows without pairs.
    pairs : float
        How many (relevant, irrelevant) pairs the view has.
    tied_share : float
        Share of pairs with equal scores; nan without pairs.
    ordered_share : float
        Mean over rows of the share of pairs in the right order; nan without pairs.
    absolute : array
        By how much the relevant items of each row are above 0 and the irrelevant ones below.
    orders : Orders
        How each row is ordered, for :func:`limo.guarantees`.
    weights : array or None
        The weight of each row, used in all shares and quantiles; None if all count once.
    """

    view: View
    margins: Values
    pairs: float
    tied_share: float
    ordered_share: float
    absolute: Values
    orders: Orders
    weights: Values | None = None

    @property
    def defined(self) -> Values:
        """The margins that are not nan."""
        return self.margins[~np.isnan(self.margins)]

    @property
    def positive_share(self) -> float:
        """Share of positive margins among those that are not nan."""
        return positive_share(self.margins, self.weights)

    def quantile(self, q: float) -> float:
        """Quantile of the margins that are not nan; nan if all are.

        With weights, the lowest margin such that margins up to it have the share q of all weight.
        """
        if not self.defined.size:
            return math.nan
        if np.isinf(self.defined).any():  # absent scores: nothing lies between the margins
            return float(np.quantile(self.defined, q, method="inverted_cdf", weights=self.weights))
        if self.weights is None:
            return float(np.quantile(self.defined, q))
        weights = self.weights[~np.isnan(self.margins)]
        return float(np.quantile(self.defined, q, method="inverted_cdf", weights=weights))

    def to_dict(self) -> dict[str, Any]:
        """The summary as plain numbers."""
        levels = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
        return {
            "kind": self.view.margin,
            "rows": self.margins.size,
            "rows_with_pairs": self.defined.size,
            "pairs": self.pairs,
            "positive_share": self.positive_share,
            "tied_share": self.tied_share,
            "ordered_share": self.ordered_share,
            "quantiles": {f"{level:g}": self.quantile(level) for level in levels},
        }


def margin(profile: Profile) -> Values:
    """Min s_r - max s_v over the relevant items r and the irrelevant items v of each row."""
    lowest, highest = profile.last(profile.relevant), profile.top_irrelevant.astype(np.float64)
    with np.errstate(invalid="ignore"):
        gap = np.where(lowest == highest, 0.0, lowest - highest)  # of two absent scores, too
    return np.where(profile.n_pairs > 0, gap, np.nan)


def absolute(profile: Profile) -> Values:
    """Min of (2y - 1) s over the items of each row: the distance from a threshold at 0."""
    relevant = profile.last(profile.relevant)
    below = -profile.top_irrelevant.astype(np.float64)
    return np.fmin(relevant, below)  # without a relevant item, the first is nan


def _orders(profile: Profile) -> Values:
    """The lines of :class:`Orders`, one column for each row."""
    lines = np.full((7, profile.n_relevant.size), np.nan)
    lines[:2] = profile.n_relevant, profile.n_irrelevant
    lines[2] = profile.pairs_lost + profile.pairs_tied
    if profile.weights is None:
        row_orders(profile.indptr, profile.ahead, lines[3:])
    else:
        best_weighted_f1(profile.indptr, profile.ahead, profile.weights.relevant, lines[6])
    return lines


# What a summary needs from every profile.
MARGIN_FUNCTIONS: Mapping[str, Callable[[Profile], Values]] = {
    "margin": margin,
    "pairs": lambda profile: profile.n_pairs,
    "tied": lambda profile: profile.pairs_tied,
    "lost": lambda profile: profile.pairs_lost,
    "absolute": absolute,
    "orders": _orders,
}


def summarise(
    view: View, results: Mapping[str, Values], weights: Values | None = None
) -> MarginSummary:
    """Summarise the results of the ``MARGIN_FUNCTIONS`` in a view, whose rows may have weights."""
    pairs, tied = results["pairs"], results["tied"]
    lines: Any = results["orders"]
    counts = lines[:3]
    if (counts == np.rint(counts)).all() and counts.max(initial=0.0) < _LARGEST_WHOLE:
        counts = counts.astype(np.int64)
    own = results["absolute"], Orders(*counts, *lines[3:]), weights
    if not (pairs > 0).any():
        return MarginSummary(view, results["margin"], 0.0, math.nan, math.nan, *own)
    total, ties = (rounded(digits_of(n if weights is None else n * weights)) for n in (pairs, tied))
    ordered = exact_mean(*in_order(results, weights))
    return MarginSummary(view, results["margin"], total, ties / total, ordered, *own)


def in_order(
    results: Mapping[str, Values], weights: Values | None = None
) -> tuple[Values, Values | None]:
    """The share of pairs in the right order, of each row that has pairs, and their weights."""
    pairs, tied, lost = (results[name] for name in ("pairs", "tied", "lost"))
    exist = pairs > 0
    share: Values = 1 - (lost + tied)[exist] / pairs[exist]
    return share, None if weights is None else weights[exist]


def positive_share(values: Values, weights: Values | None = None) -> float:
    """Share of positive margins among those that are not nan; nan if all are."""
    exist = ~np.isnan(values)
    if not exist.any():
        return math.nan
    shares = None if weights is None else weights[exist]
    return float(np.average(values[exist] > 0, weights=shares))


def margins(view: View, checked: Checked) -> Values:
    """Compute the margin of every row of a view."""
    return np.concatenate(read_any_profiles(view, checked.Y, checked.needed_scores, margin))


def label_wise_margin(y_true: Any, y_score: Any, *, missing: Any = None) -> Values:
    """Label-wise margin of each instance (Definition 1 of the paper).

    min over u in Y_i+, v in Y_i- of S_iu - S_iv: positive exactly when all relevant labels of the
    instance score higher than all irrelevant ones.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        True labels, 0 or 1.
    y_score : array-like of shape (n_samples, n_labels)
        Scores.
    missing : number or array-like of bool, optional
        The number that stands for a missing label in ``y_true`` (nan or -1), or a mask that is true
        where a label is missing. Such entries take no part.

    Returns
    -------
    array of shape (n_samples,)
        nan for an instance without a relevant or without an irrelevant label.

    Examples
    --------
    >>> import limo
    >>> limo.label_wise_margin([[1, 0, 0], [0, 1, 1]], [[0.9, 0.2, 0.4], [0.5, 0.1, 0.8]])
    array([ 0.5, -0.4])
    """
    return margins(ROWS, check_inputs(y_true, y_score, missing=missing, sparse_scores=True))


def instance_wise_margin(y_true: Any, y_score: Any, *, missing: Any = None) -> Values:
    """Instance-wise margin of each label (Definition 2 of the paper).

    min over a in Y_j+, b in Y_j- of S_aj - S_bj: positive exactly when all instances with the label
    score higher on it than all instances without it.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        True labels, 0 or 1.
    y_score : array-like of shape (n_samples, n_labels)
        Scores.
    missing : number or array-like of bool, optional
        The number that stands for a missing label in ``y_true`` (nan or -1), or a mask that is true
        where a label is missing. Such entries take no part.

    Returns
    -------
    array of shape (n_labels,)
        nan for a label that every instance has or that no instance has.

    Examples
    --------
    >>> import limo
    >>> limo.instance_wise_margin([[1, 0, 0], [0, 1, 0]], [[0.75, 0.5, 0.1], [0.5, 0.25, 0.2]])
    array([ 0.25, -0.25,   nan])
    """
    return margins(COLUMNS, check_inputs(y_true, y_score, missing=missing, sparse_scores=True))


def entry_wise_margin(y_true: Any, y_score: Any, *, missing: Any = None) -> float:
    """Entry-wise margin of the whole matrix.

    min over relevant entries minus max over irrelevant entries of S. If it is positive, so are all
    label-wise and instance-wise margins, micro-AUC is 1, and one global threshold makes
    every prediction correct. It adds to the paper's two margins: see :doc:`/theory`.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        True labels, 0 or 1.
    y_score : array-like of shape (n_samples, n_labels)
        Scores.
    missing : number or array-like of bool, optional
        The number that stands for a missing label in ``y_true`` (nan or -1), or a mask that is true
        where a label is missing. Such entries take no part.

    Returns
    -------
    float
        nan if no entry is relevant, or all are.

    Examples
    --------
    >>> import limo
    >>> limo.entry_wise_margin([[1, 0], [0, 1]], [[0.75, 0.25], [0.5, 1.0]])
    0.25
    """
    return _of_all_entries(check_inputs(y_true, y_score, missing=missing, sparse_scores=True))[0]


def absolute_margin(y_true: Any, y_score: Any, *, missing: Any = None) -> float:
    """Absolute margin of the whole matrix: its distance from a threshold at 0.

    min over all entries of (2 y - 1) s. If it is positive, relevant entries score above 0 and all
    others below, so that the entry-wise margin is positive and the threshold 0 makes every
    prediction correct. It adds to the paper's two margins, like the entry-wise one.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        True labels, 0 or 1.
    y_score : array-like of shape (n_samples, n_labels)
        Scores.
    missing : number or array-like of bool, optional
        The number that stands for a missing label in ``y_true`` (nan or -1), or a mask that is true
        where a label is missing. Such entries take no part.

    Returns
    -------
    float

    Examples
    --------
    >>> import limo
    >>> limo.absolute_margin([[1, 0], [0, 1]], [[0.75, -0.25], [-0.5, 1.0]])
    0.25
    >>> limo.absolute_margin([[1, 0], [0, 1]], [[1.75, 0.75], [0.5, 2.0]])  # entry-wise: 1.0
    -0.75
    """
    return _of_all_entries(check_inputs(y_true, y_score, missing=missing, sparse_scores=True))[1]


def _of_all_entries(checked: Checked) -> tuple[float, float]:
    """The entry-wise and the absolute margin, from one sort."""

    def read(profile: Profile) -> tuple[float, float]:
        return float(margin(profile)[0]), float(absolute(profile)[0])

    return read_any_profiles(ENTRIES, checked.Y, checked.needed_scores, read)[0]


# Effectiveness, and what it guarantees


@dataclass(frozen=True)
class Effectiveness:
    """How far a predictor is label-wise, instance-wise, entry-wise and absolutely effective.

    Attributes
    ----------
    label_wise_share : float
        Share of instances whose label-wise margin is positive, among those that have one.
    instance_wise_share : float
        Share of labels whose instance-wise margin is positive, among those that have one.
    entry_wise_margin : float
        The margin of the whole matrix.
    absolute_margin : float
        Its distance from a threshold at 0.

    Rows without pairs are ignored. If no row has a pair, the share is nan and the predictor is
    vacuously effective.

    Examples
    --------
    >>> import limo
    >>> Y, S = [[1, 0, 1], [0, 1, 0]], [[0.9, 0.1, 0.4], [0.5, 0.3, 0.2]]
    >>> found = limo.effectiveness(Y, S)
    >>> found.label_wise_share, found.label_wise
    (0.5, False)
    """

    label_wise_share: float
    instance_wise_share: float
    entry_wise_margin: float
    absolute_margin: float

    @property
    def label_wise(self) -> bool:
        """Whether every label-wise margin is positive (Definition 3)."""
        return not self.label_wise_share < 1

    @property
    def instance_wise(self) -> bool:
        """Whether every instance-wise margin is positive (Definition 4)."""
        return not self.instance_wise_share < 1

    @property
    def double(self) -> bool:
        """Whether every label-wise and every instance-wise margin is positive (Definition 5)."""
        return self.label_wise and self.instance_wise

    @property
    def entry_wise(self) -> bool:
        """Whether every relevant entry scores higher than every irrelevant one."""
        return not self.entry_wise_margin <= 0

    @property
    def absolute(self) -> bool:
        """Whether every relevant entry scores above 0 and every irrelevant one below."""
        return self.absolute_margin > 0

    def __str__(self) -> str:
        kinds = {
            "label-wise": self.label_wise,
            "instance-wise": self.instance_wise,
            "double": self.double,
            "entry-wise": self.entry_wise,
            "absolute": self.absolute,
        }
        effective = ", ".join(kind for kind, holds in kinds.items() if holds) or "not at all"
        return (
            f"effective: {effective} (label-wise on {self.label_wise_share:.1%} of instances, "
            f"instance-wise on {self.instance_wise_share:.1%} of labels, "
            f"entry-wise margin {self.entry_wise_margin:.3g}, "
            f"absolute margin {self.absolute_margin:.3g})"
        )


def effectiveness(
    y_true: Any, y_score: Any, *, sample_weight: Any = None, missing: Any = None
) -> Effectiveness:
    """Find out how far scores are effective: label-wise, instance-wise, ..., absolutely.

    Real predictors are hardly ever effective on all rows, so the result also has the shares of
    instances and labels on which they are.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        True labels, 0 or 1.
    y_score : array-like of shape (n_samples, n_labels)
        Scores.
    sample_weight : array-like of shape (n_samples,), optional
        How much each instance counts in the share of instances.
    missing : number or array-like of bool, optional
        The number that stands for a missing label in ``y_true`` (nan or -1), or a mask that is true
        where a label is missing. Such entries take no part.

    Returns
    -------
    Effectiveness

    Examples
    --------
    >>> import limo
    >>> found = limo.effectiveness([[1, 0], [0, 1]], [[3.0, 2.0], [0.0, 1.0]])
    >>> found.label_wise, found.instance_wise, found.label_wise_share, found.instance_wise_share
    (True, False, 1.0, 0.5)
    """
    checked = check_inputs(
        y_true, y_score, sample_weight=sample_weight, missing=missing, sparse_scores=True
    )
    rows, columns = (
        positive_share(margins(view, checked), view.row_weights(checked.Y))
        for view in (ROWS, COLUMNS)
    )
    return Effectiveness(rows, columns, *_of_all_entries(checked))


def micro_auc_bound(n_instances: int, n_labels: int, n_relevant: float) -> float:
    """Lower bound of the expected micro-AUC of a double effective predictor (Theorem 3).

    max over a of (1 - a/2) (1 - (1 - a)^n), where n = k (m + l - 2) / (m l) is the expected number
    of relevant entries in the row and column of an irrelevant entry, if k of the m l entries are
    relevant. It approaches 1 as m grows. The paper's model of the scores is random, so the
    micro-AUC of a single draw may be lower.

    Parameters
    ----------
    n_instances, n_labels : int
        Size of the matrix, m and l.
    n_relevant : float
        How many entries are relevant, k.

    Returns
    -------
    float

    Examples
    --------
    >>> import limo
    >>> [round(limo.micro_auc_bound(m, 5, 1.5 * m), 3) for m in (10, 100, 1000)]
    [0.701, 0.922, 0.988]
    """
    for name, value in (("n_instances", n_instances), ("n_labels", n_labels)):
        check_number(value, name, least=1)
    check_number(n_relevant, "n_relevant", least=0, most=n_instances * n_labels)
    n = n_relevant * (n_instances + n_labels - 2) / (n_instances * n_labels)
    a = np.linspace(0.0, 1.0, 10_001)
    return float(((1 - a / 2) * (1 - (1 - a) ** n)).max())
