"""The best thresholds of given scores, as plain functions."""

from typing import Any, Literal

import numpy as np

from limo._checks import check_name
from limo._types import Values
from limo.thresholds.scores import Scores, check_pair, read_scores
from limo.thresholds.search import best_cuts
from limo.thresholds.targets import check_target
from limo.views import COLUMNS, ENTRIES, ROWS, View

__all__ = [
    "apply_thresholds",
    "best_global_threshold",
    "best_instance_thresholds",
    "best_label_thresholds",
    "check_count",
    "cut_scores",
    "top_k",
]

By = Literal["instance", "label", "global"]
Labels = Any  # an array of 0 and 1, or a CSR array where the scores are sparse

CUT_VIEWS: dict[str, View] = {"instance": ROWS, "label": COLUMNS, "global": ENTRIES}


def best_label_thresholds(y_true: Any, y_score: Any, target: Any = "macro_f1") -> Values:
    """Find the threshold of each label that makes the target as high as these scores allow.

    Exact: every cut between two different scores of a label is looked at, and "none" (``inf``) and
    "all" (``-inf``) too. A threshold lies half way between the scores on its two sides; of equally
    good cuts the one with fewest predictions is taken. With a micro target (``"micro_f1"``) the
    thresholds are chosen *together*, for the whole matrix. O(m l log m).

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        True labels, 0 or 1.
    y_score : array-like or sparse matrix of shape (n_samples, n_labels)
        Scores; those absent from a sparse matrix are above no threshold.
    target : str, callable or Target, default="macro_f1"
        What to make as high as possible: see ``limo.thresholds.TARGETS``; or a function of
        (tp, fp, fn, tn), arrays of counts, the higher the better.

    Returns
    -------
    array of shape (n_labels,)
        Predict label j where its score is higher than the j-th threshold.

    Examples
    --------
    >>> import limo
    >>> y_true = [[1, 0], [1, 0], [0, 0]]
    >>> y_score = [[0.75, 0.5], [0.25, 0.5], [0.125, 0.25]]
    >>> limo.thresholds.best_label_thresholds(y_true, y_score)
    array([0.1875,    inf])
    """
    return _best(COLUMNS, y_true, y_score, target)


def best_instance_thresholds(y_true: Any, y_score: Any, target: Any = "instance_f1") -> Values:
    """Find the threshold of each instance that makes the target as high as these scores allow.

    As :func:`best_label_thresholds`, with rows in place of columns. It needs the true labels: a
    threshold for a new instance is learnt by :class:`limo.InstanceThreshold`.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        True labels, 0 or 1.
    y_score : array-like or sparse matrix of shape (n_samples, n_labels)
        Scores; those absent from a sparse matrix are above no threshold.
    target : str, callable or Target, default="instance_f1"
        What to make as high as possible.

    Returns
    -------
    array of shape (n_samples,)

    Examples
    --------
    >>> import limo
    >>> y_true, y_score = [[1, 0, 0], [0, 1, 1]], [[0.75, 0.25, 0.5], [0.5, 0.25, 1.0]]
    >>> limo.thresholds.best_instance_thresholds(y_true, y_score)
    array([0.625,  -inf])
    """
    return _best(ROWS, y_true, y_score, target)


def best_global_threshold(y_true: Any, y_score: Any, target: Any = "micro_f1") -> float:
    """Find the one threshold for all entries that makes the target as high as these scores allow.

    Exact for every target: with ``"macro_f1"`` or ``"instance_f1"`` it is the mean over labels or
    instances that counts. O(m l log(m l)).

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        True labels, 0 or 1.
    y_score : array-like or sparse matrix of shape (n_samples, n_labels)
        Scores; those absent from a sparse matrix are above no threshold.
    target : str, callable or Target, default="micro_f1"
        What to make as high as possible.

    Returns
    -------
    float

    Examples
    --------
    >>> import limo
    >>> limo.thresholds.best_global_threshold([[1, 0], [0, 1]], [[0.75, 0.25], [0.5, 1.0]])
    0.625
    """
    return float(_best(ENTRIES, y_true, y_score, target)[0])


def apply_thresholds(y_score: Any, threshold: Any, *, by: By = "label") -> Labels:
    """Cut scores into labels: 1 where the score is higher than the threshold.

    Parameters
    ----------
    y_score : array-like or sparse matrix of shape (n_samples, n_labels)
        Scores; those absent from a sparse matrix are above no threshold.
    threshold : float or array-like
        A number for all, or one for each label or instance.
    by : {"label", "instance", "global"}, default="label"
        What has a threshold of its own.

    Returns
    -------
    array or CSR array of shape (n_samples, n_labels)
        Labels 0 and 1, sparse if the scores are.

    Examples
    --------
    >>> import limo
    >>> limo.thresholds.apply_thresholds([[0.75, 0.25], [0.5, 1.0]], [0.5, 0.5])
    array([[1, 0],
           [0, 1]])
    """
    view = CUT_VIEWS[check_name(by, CUT_VIEWS, "kind of threshold")]
    return cut_scores(read_scores(y_score), threshold, view)


def cut_scores(scores: Scores, threshold: Any, view: View) -> Labels:
    """Cut checked scores by thresholds for the rows of a view."""
    try:
        t = np.asarray(threshold, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"threshold must be a number or numbers, one for each {view.row}: got {threshold!r}."
        ) from None
    n_rows = {"rows": scores.shape[0], "columns": scores.shape[1]}.get(view.name, 1)
    if t.ndim and t.shape != (n_rows,):
        raise ValueError(
            f"threshold must be one number or one for each {view.row}: expected shape "
            f"({n_rows},), got {t.shape}."
        )
    if np.isnan(t).any():
        raise ValueError("threshold must hold numbers, got nan. inf predicts nothing, -inf all.")
    return scores.cut(t[:, np.newaxis] if t.ndim and view is ROWS else t)


def top_k(y_score: Any, k: int) -> Labels:
    """Predict the k labels of each instance that score highest.

    Equal scores are never parted: labels tied across the k-th place are left out together, so
    there may be fewer than k, and never more.

    Parameters
    ----------
    y_score : array-like or sparse matrix of shape (n_samples, n_labels)
        Scores; labels absent from a sparse matrix are not predicted.
    k : int
        At most so many.

    Returns
    -------
    array or CSR array of shape (n_samples, n_labels)
        Labels 0 and 1, sparse if the scores are.

    Examples
    --------
    >>> import limo
    >>> limo.thresholds.top_k([[0.75, 0.25, 0.5], [1.0, 0.5, 0.5]], 2)
    array([[1, 0, 1],
           [1, 0, 0]])
    """
    return read_scores(y_score).worst_ranks().cut(np.asarray(-check_count(k, "k") - 0.5))


def check_count(n: Any, name: str) -> int:
    """A whole number from 0 up."""
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 0:
        raise ValueError(f"{name} must be a whole number from 0 up, got {n!r}.")
    return int(n)


def _best(view: View, y_true: Any, y_score: Any, target: Any) -> Values:
    wanted = check_target(target)
    return best_cuts(view, wanted, *check_pair(y_true, y_score)).thresholds
