"""The margins: by how much the worst relevant item beats the best irrelevant one.

One row function, three views. A row without pairs has no margin: nan.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from limo._checks import Checked, check_inputs, check_labels, check_name
from limo._profiles import Profile, read_profiles
from limo._types import Floats, Integers, Values
from limo._views import COLUMNS, ENTRIES, ROWS, THRESHOLDS, Kind, View

__all__ = [
    "MARGIN_DIAGNOSTICS",
    "Effectiveness",
    "MarginSummary",
    "effectiveness",
    "entry_wise_margin",
    "instance_wise_margin",
    "label_wise_margin",
    "margin",
    "margins",
    "micro_auc_bound",
    "positive_share",
    "summarise",
    "threshold_bounds",
    "threshold_error",
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


# The paper's theory as functions: effectiveness, threshold error, and what they guarantee.


@dataclass(frozen=True)
class Effectiveness:
    """How far a predictor is label-wise, instance-wise and entry-wise effective.

    Attributes
    ----------
    label_wise_share : float
        Share of instances whose label-wise margin is positive, among those that have one.
    instance_wise_share : float
        Share of labels whose instance-wise margin is positive, among those that have one.
    entry_wise_margin : float
        The margin of the whole matrix.

    Rows without pairs demand nothing. If no row has one, the share is nan and the
    predictor is effective for want of a counterexample.
    """

    label_wise_share: float
    instance_wise_share: float
    entry_wise_margin: float

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

    def __str__(self) -> str:
        kinds = {
            "label-wise": self.label_wise,
            "instance-wise": self.instance_wise,
            "double": self.double,
            "entry-wise": self.entry_wise,
        }
        effective = ", ".join(kind for kind, holds in kinds.items() if holds) or "not at all"
        return (
            f"effective: {effective} (label-wise on {self.label_wise_share:.1%} of instances, "
            f"instance-wise on {self.instance_wise_share:.1%} of labels, "
            f"entry-wise margin {self.entry_wise_margin:.3g})"
        )


def effectiveness(y_true: Any, y_score: Any) -> Effectiveness:
    """Say how far scores are effective: label-wise, instance-wise, double, entry-wise.

    Real predictors are hardly ever effective on all rows, so the shares of instances and labels
    on which they are come along.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        True labels, 0 or 1.
    y_score : array-like of shape (n_samples, n_labels)
        Scores.

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
    checked = check_inputs(y_true, y_score)
    rows, columns, entries = (margins(view, checked) for view in (ROWS, COLUMNS, ENTRIES))
    return Effectiveness(positive_share(rows), positive_share(columns), float(entries[0]))


def threshold_error(
    y_true: Any, y_score: Any, threshold: Any, *, by: Kind = "instance"
) -> Integers:
    """How many items lie between the cut used and the right cut (Definition 6).

    error = |#{items of the row with score > threshold} - #{relevant items of the row}|.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        True labels, 0 or 1.
    y_score : array-like of shape (n_samples, n_labels)
        Scores.
    threshold : float or array-like
        A number for all rows, or one for each: an item is predicted if it scores higher.
    by : {"instance", "label", "global"}, default="instance"
        Whether thresholds cut the row of each instance, the column of each label,
        or the matrix as a whole.

    Returns
    -------
    array of int
        One error per instance, per label, or a single one.

    Examples
    --------
    >>> import limo
    >>> limo.threshold_error([[1, 0, 0], [0, 1, 1]], [[0.9, 0.2, 0.4], [0.5, 0.6, 0.8]], 0.3)
    array([1, 1])
    """
    view = THRESHOLDS[check_name(by, THRESHOLDS, "kind of threshold")]
    checked = check_inputs(y_true, y_score)
    assert checked.S is not None
    n_rows = view.ones(checked.Y).size
    cuts = np.asarray(threshold, dtype=np.float64)
    if cuts.ndim and cuts.shape != (n_rows,):
        raise ValueError(
            f"threshold must be one number or one for each {view.row}: expected shape "
            f"({n_rows},), got {cuts.shape}."
        )
    error: Integers = np.abs(_above(checked.S, cuts, view) - view.ones(checked.Y))
    return error


def threshold_bounds(y_true: Any, error: Any, *, by: Kind = "instance") -> dict[str, float]:
    """What threshold errors leave of F1 and Hamming loss, at the worst (Theorems 4 and 5).

    With p_i relevant items in row i and an error of at most e_i in its threshold, an effective
    predictor has

    * F1 averaged over rows >= mean of 2 k_i / (2 k_i + e_i), where k_i = max(0, p_i - e_i),
    * micro-F1 >= 2 T / (2 T + E), where T = sum of k_i and E = sum of e_i,
    * Hamming loss <= E / (m l).

    The paper prints the first bound for micro-F1 too, which does not hold; see docs/theory.md.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        True labels, 0 or 1.
    error : array-like of int
        Threshold errors, as :func:`threshold_error` gives them.
    by : {"instance", "label", "global"}, default="instance"
        ``"instance"`` is Theorem 4, for label-wise effective predictors; ``"label"`` is Theorem 5,
        for instance-wise effective ones; ``"global"`` is ours, for entry-wise effective ones.

    Returns
    -------
    dict
        Lower bounds of the F1 measures and the upper bound of ``"hamming_loss"``.

    Examples
    --------
    >>> import limo
    >>> limo.threshold_bounds([[1, 0, 0, 0], [1, 1, 1, 0]], [0, 2])
    {'instance_f1': 0.75, 'micro_f1': 0.666..., 'hamming_loss': 0.25}
    """
    view = THRESHOLDS[check_name(by, THRESHOLDS, "kind of threshold")]
    Y = check_labels(y_true, "y_true")
    relevant = view.ones(Y)
    errors = np.asarray(error)
    if errors.shape != relevant.shape or errors.dtype.kind not in "iu" or errors.min() < 0:
        raise ValueError(
            f"error must hold one count for each {view.row}: expected {relevant.size} whole "
            f"numbers from 0 up, got {errors.dtype} of shape {errors.shape}."
        )
    kept = np.maximum(relevant - errors, 0)
    n_entries = Y.shape[0] * Y.shape[1]
    return {
        f"{view.average}_f1": float(_f1(kept, errors).mean()),
        "micro_f1": float(_f1(kept.sum(), errors.sum())),
        "hamming_loss": float(errors.sum() / n_entries),
    }


def micro_auc_bound(n_instances: int, n_labels: int, n_relevant: float) -> float:
    """What double effectiveness promises of micro-AUC, on average (Theorem 3).

    max over a of (1 - a/2) (1 - (1 - a)^n), where n = k (m + l - 2) / (m l) is how many relevant
    entries an irrelevant one meets in its row and column, k of all m l entries being relevant.
    It grows to 1 with m. The paper's model of the scores is random, so one draw may lie lower.

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
    n = n_relevant * (n_instances + n_labels - 2) / (n_instances * n_labels)
    a = np.linspace(0.0, 1.0, 10_001)
    return float(((1 - a / 2) * (1 - (1 - a) ** n)).max())


def _f1(hits: Any, wrong: Any) -> Values:
    """2 hits / (2 hits + wrong), and 0 where there is neither."""
    total = np.asarray(2 * hits + wrong, dtype=np.float64)
    values = np.zeros_like(total)
    np.divide(2.0 * hits, total, out=values, where=total > 0)
    return values


def _above(S: Floats, cuts: Values, view: View) -> Integers:
    """How many items of each row score higher than its cut."""
    if view is ROWS and cuts.ndim:
        cuts = cuts[:, np.newaxis]
    higher = np.greater(S, cuts)
    if view is ENTRIES:
        return np.array([np.count_nonzero(higher)])
    counts: Integers = np.count_nonzero(higher, axis=1 if view is ROWS else 0)
    return counts
