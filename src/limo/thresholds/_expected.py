"""Labels of highest expected F1: from independent probabilities, or by GFM without that."""

from typing import Any

import numpy as np

from limo._kernels.expected_f1 import best_joint_sets, best_sizes
from limo._system import n_workers, workers
from limo._types import Anything, Values
from limo.thresholds._scores import Scores, read_scores


def expected_f1_labels(y_proba: Any, *, f1_of_nothing: float = 0.0) -> Any:
    """Predict, for each instance, the label set whose expected F1 is highest.

    E[F1] = E[2 |y & p| / (|y| + |p|)], the expectation over label sets y that hold each label j
    independently with its probability. The best set of k labels is then that of the k most
    probable, and all sizes are tried. Equal probabilities are never separated. At most O(l²) per
    row, far less if few labels are probable.

    Parameters
    ----------
    y_proba : array-like or sparse matrix of shape (n_samples, n_labels)
        Probability of each label; absent from a sparse matrix means 0.
    f1_of_nothing : float, default=0
        F1 where nothing is true and nothing predicted. With 0, as in the measures' standard
        conventions, predicting something is always as good as predicting nothing.

    Returns
    -------
    array or CSR array of shape (n_samples, n_labels)
        Labels 0 and 1, sparse if the probabilities are.

    Examples
    --------
    >>> import limo
    >>> limo.thresholds.expected_f1_labels([[0.9, 0.4, 0.1], [0.4, 0.4, 0.1]])
    array([[1, 0, 0],
           [1, 1, 0]])

    Both labels of probability 0.4 are below 0.5, yet predicting them is best for F1.
    """
    scores = check_probabilities(read_scores(y_proba))
    return scores.cut(expected_f1_thresholds(scores, f1_of_nothing)[:, np.newaxis])


def expected_f1_thresholds(scores: Scores, f1_of_nothing: float) -> Values:
    """The threshold of each row above which is its label set of highest expected F1."""
    P = scores.descending(scores.width, np.zeros(scores.shape[0]))
    sizes = np.zeros(len(P), dtype=np.int64)
    expected = np.zeros(len(P))
    shares = np.array_split(np.arange(len(P)), n_workers())

    def work(rows: Anything) -> None:
        if rows.size:
            part = slice(rows[0], rows[-1] + 1)
            best_sizes(P[part], f1_of_nothing, sizes[part], expected[part])

    with workers(enough=P.size > 1 << 14) as run:
        list(run(work, shares))
    below = np.hstack([np.full((len(P), 1), np.inf), P[:, 1:], np.full((len(P), 1), -np.inf)])
    return below[np.arange(len(P)), sizes]


def gfm_labels(joint: Any, *, f1_of_nothing: float = 0.0) -> Anything:
    """Predict the label set of highest expected F1 from P(y_j = 1, |y| = s), the GFM matrix.

    No independence is assumed: these l x s numbers determine the expected F1 of every label set
    (Dembczynski et al., 2011). For each size k the best set holds the k labels with the highest
    sum over s of P(y_j = 1, |y| = s) 2 / (s + k); of equal labels the first is taken.

    Parameters
    ----------
    joint : array-like of shape (n_samples, n_labels, n_sizes)
        ``joint[i, j, s - 1]`` is the probability that instance i has label j and s labels in all.
    f1_of_nothing : float, default=0
        F1 where nothing is true and nothing predicted.

    Returns
    -------
    array of shape (n_samples, n_labels)
        Labels 0 and 1.

    Examples
    --------
    >>> import limo
    >>> two_together_or_the_third = [[[0.0, 0.5], [0.0, 0.5], [0.5, 0.0]]]
    >>> limo.thresholds.gfm_labels(two_together_or_the_third)
    array([[1, 1, 1]])
    """
    J = _check_joint(joint)
    labels = np.zeros(J.shape[:2], dtype=np.int64)
    best_joint_sets(J, f1_of_nothing * (1.0 - _some_label(J)), labels)
    return labels


def check_probabilities(scores: Scores) -> Scores:
    """Reject scores that cannot be probabilities."""
    low, high = (float(f(scores.values, initial=0.0)) for f in (np.min, np.max))
    if low < 0 or high > 1:
        raise ValueError(
            "Expected F1 needs probabilities, numbers from 0 to 1: got scores from "
            f"{low:.4g} to {high:.4g}. Take predict_proba, calibrate the scores (scikit-learn's "
            "CalibratedClassifierCV), or use InstanceThreshold, which takes any scores."
        )
    return scores


def _some_label(J: Values) -> Values:
    """The probability of any label: J counts a label set of size s once for each of its labels."""
    total: Values = (J / np.arange(1, J.shape[2] + 1)).sum(axis=(1, 2))
    return total


def _check_joint(joint: Any) -> Values:
    try:
        J = np.ascontiguousarray(joint, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"The GFM matrix must hold numbers: {error}.") from None
    if J.ndim != 3:
        raise ValueError(
            "The GFM matrix must have three dimensions, instances x labels x sizes of the label "
            f"set, got shape {J.shape}."
        )
    if not (np.isfinite(J).all() and J.min() >= 0 and _some_label(J).max() <= 1 + 1e-6):
        raise ValueError(
            "The GFM matrix must hold the probabilities P(y_j = 1, |y| = s): numbers from 0 up "
            "whose sum over labels, divided by s and added over s, is at most 1 in every row."
        )
    return J
