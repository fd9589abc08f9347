"""Errors of thresholds, and the bounds of measures that follow from them (Theorems 4 and 5)."""

from typing import Any

import numpy as np

from limo._checks import check_labels
from limo._settings import check_name
from limo._types import Anything, Integers
from limo._views import ENTRIES, ROWS, THRESHOLDS, Counts, Pattern, ThresholdKind, View, count
from limo.measures._conventions import CONVENTIONS
from limo.measures._measure import average
from limo.measures._rows import f1
from limo.thresholds._best import cut_scores
from limo.thresholds._scores import check_pair

_STANDARD = CONVENTIONS["standard"]


def threshold_error(
    y_true: Any,
    y_score: Any,
    threshold: Any,
    *,
    by: ThresholdKind = "instance",
    missing: Any = None,
) -> Integers:
    """Count the items between the threshold used and the right one (Definition 6).

    error = |#{items of the row with score > threshold} - #{relevant items of the row}|.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        True labels, 0 or 1.
    y_score : array-like of shape (n_samples, n_labels)
        Scores.
    threshold : float or array-like
        One number for all rows, or one for each; an item is predicted if it scores higher.
    by : {"instance", "label", "global"}, default="instance"
        What a row is: an instance, a label, or the whole matrix.
    missing : number or array-like of bool, optional
        The number of a missing label (nan or -1), or a mask. Such entries take no part.

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
    Y, scores = check_pair(y_true, y_score, missing=missing)
    counts = count(Y, check_labels(cut_scores(scores, threshold, view), "y_pred"), [view])
    return errors_of(counts[view.name].true, counts[view.name].predicted)


def threshold_bounds(
    y_true: Any, error: Any, *, by: ThresholdKind = "instance"
) -> dict[str, float]:
    """Bounds of F1 and Hamming loss that follow from threshold errors (Theorems 4 and 5).

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
        Threshold errors, as computed by :func:`threshold_error`.
    by : {"instance", "label", "global"}, default="instance"
        What a row is. ``"instance"`` is Theorem 4, for label-wise effective predictors; ``"label"``
        is Theorem 5, for instance-wise effective ones; ``"global"`` is our addition, for entry-wise
        effective ones.

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
    n_rows = view.n_rows(Y.shape)
    try:
        errors = np.asarray(error)
    except ValueError:  # rows of different lengths
        errors = np.empty(0)
    if errors.shape != (n_rows,) or errors.dtype.kind not in "iu" or errors.min() < 0:
        raise ValueError(
            f"error must hold one count for each {view.row}: expected {n_rows} whole "
            f"numbers from 0 up, got {errors.dtype} of shape {errors.shape}."
        )
    return bounds_of(view, Y, errors)


def errors_of(true: Anything, predicted: Anything) -> Anything:
    """The difference between the numbers of predicted and of relevant items."""
    error: Anything = np.abs(predicted - true)
    return error


def bounds_of(view: View, Y: Pattern, errors: Anything) -> dict[str, float]:
    """F1 is lowest if the threshold is too high, so that only ``kept`` items are predicted."""
    kept = np.maximum(view.ones(Y) - errors, 0)
    weights, n_entries = view.row_weights(Y), float(np.sum(ENTRIES.n_items(Y)))
    mean = average(f1(Counts(kept, kept + errors, kept, None), _STANDARD), weights, None)
    if view is ROWS and weights is not None:  # the whole matrix counts each instance by its weight
        kept, errors = kept * weights, errors * weights
    whole = Counts(kept.sum(), (kept + errors).sum(), kept.sum(), None)
    return {
        f"{view.average}_f1": mean,
        "micro_f1": float(f1(whole, _STANDARD)),
        "hamming_loss": float(errors.sum() / n_entries),
    }
