"""F1 as a function of one threshold for all: how much it matters where scores are cut."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from limo._checks import check_inputs
from limo._kernels.curves import count_above
from limo._types import Floats, Integers, Values
from limo.counts import Counts
from limo.measures.conventions import CONVENTIONS
from limo.measures.labels import f1
from limo.pattern import Pattern
from limo.profiles import copy_rows, row_blocks
from limo.thresholds.best import check_count
from limo.workers import workers

__all__ = ["F1Curves", "f1_curves"]

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
