"""The margins: by how much the worst relevant item beats the best irrelevant one.

One row function, three views. A row without pairs has no margin: nan.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from limo._checks import Checked, check_inputs
from limo._types import Values
from limo.profiles import Profile, read_profiles
from limo.views import COLUMNS, ENTRIES, ROWS, View

__all__ = [
    "MARGIN_DIAGNOSTICS",
    "MarginSummary",
    "entry_wise_margin",
    "instance_wise_margin",
    "label_wise_margin",
    "margin",
    "margins",
    "positive_share",
    "summarise",
]


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
        Share of them with equal scores; nan without pairs.
    ordered_share : float
        Mean over rows of the share of their pairs in the right order; nan without pairs.
    """

    view: View
    margins: Values
    pairs: float
    tied_share: float
    ordered_share: float

    @property
    def defined(self) -> Values:
        """The margins that exist."""
        return self.margins[~np.isnan(self.margins)]

    @property
    def positive_share(self) -> float:
        """Share of positive margins among those that exist."""
        return positive_share(self.margins)

    def quantile(self, q: float) -> float:
        """Quantile of the margins that exist; nan if none does."""
        return float(np.quantile(self.defined, q)) if self.defined.size else math.nan

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers only."""
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
    gap = profile.last(profile.relevant) - profile.top_irrelevant.astype(np.float64)
    return np.where(profile.n_pairs > 0, gap, np.nan)


# What a summary needs to know of every profile.
MARGIN_DIAGNOSTICS: Mapping[str, Callable[[Profile], Values]] = {
    "margin": margin,
    "pairs": lambda profile: profile.n_pairs,
    "tied": lambda profile: profile.pairs_tied,
    "lost": lambda profile: profile.pairs_lost,
}


def summarise(view: View, seen: Mapping[str, Values]) -> MarginSummary:
    """Sum up the diagnostics of a view."""
    pairs, tied, lost = (seen[name] for name in ("pairs", "tied", "lost"))
    if not pairs.any():
        return MarginSummary(view, seen["margin"], 0.0, math.nan, math.nan)
    exist = pairs > 0
    in_order = 1 - (lost + tied)[exist] / pairs[exist]
    return MarginSummary(
        view, seen["margin"], float(pairs.sum()), tied.sum() / pairs.sum(), float(in_order.mean())
    )


def positive_share(values: Values) -> float:
    """Share of positive margins among those that exist; nan if none does."""
    exist = values[~np.isnan(values)]
    return float((exist > 0).mean()) if exist.size else math.nan


def margins(view: View, checked: Checked) -> Values:
    """Compute the margin of every row of a view."""
    assert checked.S is not None
    return np.concatenate(read_profiles(view, checked.Y, checked.S, margin))


def label_wise_margin(y_true: Any, y_score: Any) -> Values:
    """Label-wise margin of each instance (Definition 1 of the paper).

    min over u in Y_i+, v in Y_i- of S_iu - S_iv: positive exactly when all relevant labels of the
    instance score higher than all irrelevant ones.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        True labels, 0 or 1.
    y_score : array-like of shape (n_samples, n_labels)
        Scores.

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
    return margins(ROWS, check_inputs(y_true, y_score))


def instance_wise_margin(y_true: Any, y_score: Any) -> Values:
    """Instance-wise margin of each label (Definition 2 of the paper).

    min over a in Y_j+, b in Y_j- of S_aj - S_bj: positive exactly when all instances that have the
    label score higher on it than all that have not.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        True labels, 0 or 1.
    y_score : array-like of shape (n_samples, n_labels)
        Scores.

    Returns
    -------
    array of shape (n_labels,)
        nan for a label that every instance has, or none.

    Examples
    --------
    >>> import limo
    >>> limo.instance_wise_margin([[1, 0, 0], [0, 1, 0]], [[0.75, 0.5, 0.1], [0.5, 0.25, 0.2]])
    array([ 0.25, -0.25,   nan])
    """
    return margins(COLUMNS, check_inputs(y_true, y_score))


def entry_wise_margin(y_true: Any, y_score: Any) -> float:
    """Entry-wise margin of the whole matrix: one cut for all instances and labels.

    min over relevant entries minus max over irrelevant entries of S. If it is positive, so are all
    label-wise and instance-wise margins, micro-AUC is 1, and one global threshold makes
    every prediction right. It completes the paper's two margins: see :doc:`theory`.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        True labels, 0 or 1.
    y_score : array-like of shape (n_samples, n_labels)
        Scores.

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
    return float(margins(ENTRIES, check_inputs(y_true, y_score))[0])
