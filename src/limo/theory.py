"""The paper's theory as functions: effectiveness, threshold error, and what they guarantee."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from limo._checks import check_inputs, check_labels, check_name
from limo._types import Floats, Integers, Values
from limo.margins import margins, positive_share
from limo.views import COLUMNS, ENTRIES, ROWS, View

__all__ = [
    "Effectiveness",
    "effectiveness",
    "micro_auc_bound",
    "threshold_bounds",
    "threshold_error",
]

By = Literal["instance", "label", "global"]

_CUT_VIEWS: dict[str, View] = {"instance": ROWS, "label": COLUMNS, "global": ENTRIES}
_CUT_F1 = {"instance": "instance_f1", "label": "macro_f1", "global": "micro_f1"}


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


def threshold_error(y_true: Any, y_score: Any, threshold: Any, *, by: By = "instance") -> Integers:
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
    view = _CUT_VIEWS[check_name(by, _CUT_VIEWS, "kind of threshold")]
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


def threshold_bounds(y_true: Any, error: Any, *, by: By = "instance") -> dict[str, float]:
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
    view = _CUT_VIEWS[check_name(by, _CUT_VIEWS, "kind of threshold")]
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
        _CUT_F1[by]: float(_f1(kept, errors).mean()),
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
