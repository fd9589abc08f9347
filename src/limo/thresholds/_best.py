"""The best thresholds of given scores, as plain functions."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from limo._checks import check_inputs, check_name
from limo._kernels.thresholds import count_above
from limo._profiles import copy_rows, row_blocks
from limo._system import workers
from limo._types import Floats, Integers, Values
from limo._views import COLUMNS, ENTRIES, ROWS, THRESHOLDS, Counts, Kind, Pattern, View
from limo.measures._conventions import CONVENTIONS
from limo.measures._rows import f1
from limo.thresholds._scores import Scores, check_pair, read_scores
from limo.thresholds._search import best_cuts, check_target

__all__ = [
    "F1Curves",
    "apply_thresholds",
    "best_global_threshold",
    "best_instance_thresholds",
    "best_label_thresholds",
    "check_count",
    "cut_scores",
    "f1_curves",
    "top_k",
]


Labels = Any  # an array of 0 and 1, or a CSR array where the scores are sparse


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


def apply_thresholds(y_score: Any, threshold: Any, *, by: Kind = "label") -> Labels:
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
    view = THRESHOLDS[check_name(by, THRESHOLDS, "kind of threshold")]
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


# F1 as a function of one threshold for all: how much it matters where scores are cut.

_ENOUGH_TO_SHARE = 1 << 18


@dataclass(frozen=True, eq=False)
class F1Curves:
    """The three F1 measures at each of many thresholds.

    Attributes
    ----------
    thresholds : array of shape (n,)
        Ascending; an item is predicted if it scores higher.
    macro_f1, instance_f1, micro_f1 : array of shape (n,)
        What each threshold, used for all entries, gives; 0/0 counts 0.
    """

    thresholds: Values
    macro_f1: Values
    instance_f1: Values
    micro_f1: Values


def f1_curves(y_true: Any, y_score: Any, n_points: int = 101) -> F1Curves:
    """Compute the three F1 measures at many global thresholds, in one pass over the scores.

    Half of the thresholds are evenly spaced between the lowest and the highest relevant score,
    half are quantiles of the relevant scores: the first show the shape, the second the detail
    where it matters. O(m l log n); memory stays a few blocks large.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        True labels, 0 or 1.
    y_score : array-like of shape (n_samples, n_labels)
        Scores.
    n_points : int, default=101
        About how many thresholds; equal ones are taken once.

    Returns
    -------
    F1Curves

    Examples
    --------
    >>> import limo
    >>> y_true, y_score = [[1, 0], [0, 1]], [[0.75, 0.25], [0.5, 1.0]]
    >>> curves = limo.thresholds.f1_curves(y_true, y_score, 3)
    >>> curves.thresholds.round(3), curves.micro_f1.round(3)
    (array([0.75, 1.  ]), array([1.   , 0.667]))
    """
    checked = check_inputs(y_true, y_score)
    assert checked.S is not None
    Y, S = checked.Y, checked.S
    thresholds = _grid(S.reshape(-1)[Y.flat] if S.flags.c_contiguous else _relevant(Y, S), n_points)
    hits, predicted, instance = _count(Y, S, thresholds)
    true = Y.ones_per_column[:, np.newaxis]
    standard = CONVENTIONS["standard"]
    by_label = f1(Counts(hits, true, predicted, S.shape[0]), standard)
    whole = Counts(hits.sum(axis=0), true.sum(axis=0), predicted.sum(axis=0), S.size)
    return F1Curves(thresholds, by_label.mean(axis=0), instance / S.shape[0], f1(whole, standard))


def _relevant(Y: Pattern, S: Floats) -> Floats:
    """The scores of the relevant entries."""
    return S[np.repeat(np.arange(Y.shape[0]), Y.ones_per_row), Y.indices]


def _grid(relevant: Floats, n_points: int) -> Values:
    """Thresholds just below scores, so that the item with that score is predicted."""
    n = check_count(n_points, "n_points")
    if not relevant.size or n == 0:
        return np.zeros(min(n, 1))
    scores = np.sort(relevant).astype(np.float64)
    even = np.linspace(scores[0], scores[-1], (n + 1) // 2)
    places = np.linspace(0, scores.size - 1, n // 2).round().astype(np.int64)
    levels: Values = np.unique(np.concatenate([even, scores[places]]))
    return np.nextafter(levels, -np.inf)


def _count(Y: Pattern, S: Floats, thresholds: Values) -> tuple[Integers, Integers, Values]:
    """Hits and predictions of each label, and the sum over instances of F1, above each threshold.

    Blocks are added up as they come, so that their counts never stand side by side.
    """
    n_labels, n = S.shape[1], thresholds.size

    def read(block: tuple[int, int]) -> tuple[Integers, Integers, Values]:
        hits, predicted = np.zeros((2, n_labels, n + 1), dtype=np.int64)
        row_f1 = np.zeros(n)
        part = Y.rows(*block)
        scores = copy_rows(S, *block)
        count_above(scores, part.indptr, part.indices, thresholds, hits, predicted, row_f1)
        return hits, predicted, row_f1

    hits, predicted = np.zeros((2, n_labels, n + 1), dtype=np.int64)
    row_f1 = np.zeros(n)
    with workers(enough=S.size > _ENOUGH_TO_SHARE) as run:
        for more_hits, more_predicted, more_f1 in run(read, _blocks(S)):
            hits += more_hits
            predicted += more_predicted
            row_f1 += more_f1
    return _above(hits), _above(predicted), row_f1


def _blocks(S: Floats) -> list[tuple[int, int]]:
    return row_blocks(*S.shape, scattered=not S.flags.c_contiguous)


def _above(counts: Integers) -> Integers:
    """From counts of items above exactly the first k thresholds to counts above threshold k."""
    return np.cumsum(counts[:, :0:-1], axis=1)[:, ::-1]
