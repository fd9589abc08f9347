"""Kernels for sampling errors: how much each item moves the AUC and the average precision of a row.

``marks`` says which items are relevant, and ``owner`` to which instance each item belongs.
"""

import numpy as np

from limo._kernels import kernel
from limo._types import Booleans, Floats, Integers, Values


@kernel
def _first_at_least(ascending: Floats, value: float) -> int:
    """The first index whose item is at least ``value``; the size if there is none.

    Halves by a product instead of a branch, which a processor would predict wrongly half the time.
    """
    first, size = 0, ascending.size
    while size > 1:
        half = size // 2
        first += half * (ascending[first + half - 1] < value)
        size -= half
    return first + (size == 1 and ascending[first] < value)


@kernel
def _first_above(ascending: Floats, value: float, start: int) -> int:
    """The first index whose item exceeds ``value``; ``start`` is the first that reaches it."""
    if start == ascending.size or ascending[start] > value:
        return start  # no tie, which is the rule
    return start + int(np.searchsorted(ascending[start:], value, side="right"))


@kernel
def add_auc_influence(
    scores: Floats, marks: Booleans, owner: Integers, tie: float, share: float, influence: Values
) -> None:
    """Add ``share`` times the influence of each item on the AUC to its instance.

    The influence is the derivative of the AUC by the weight of the item: for a relevant item the
    share of irrelevant items it beats, minus the AUC, over the number of relevant items; for an
    irrelevant item likewise. As in DeLong's variance, squares within each kind are divided by one
    less than their number.
    """
    relevant = scores[marks]
    relevant.sort()
    p, n = relevant.size, scores.size - relevant.size
    credit = np.empty(scores.size)
    # Irrelevant items are not sorted: each is counted at the first relevant item that it is below,
    # and at the first that it is below or tied with.
    below, reached = np.zeros(p + 1), np.zeros(p + 1)
    for k in range(scores.size):
        if not marks[k]:
            low = _first_at_least(relevant, scores[k])
            high = _first_above(relevant, scores[k], low)
            below[high] += 1
            reached[low] += 1
            credit[k] = (p - high + tie * (high - low)) / p
    below, reached = np.cumsum(below), np.cumsum(reached)
    total = 0.0
    for k in range(scores.size):
        if marks[k]:
            own = _first_at_least(relevant, scores[k])
            credit[k] = (below[own] + tie * (reached[own] - below[own])) / n
            total += credit[k]
    auc = total / p
    of_relevant = share / p * np.sqrt(p / max(p - 1, 1))
    of_irrelevant = share / n * np.sqrt(n / max(n - 1, 1))
    for k in range(scores.size):
        influence[owner[k]] += (credit[k] - auc) * (of_relevant if marks[k] else of_irrelevant)


@kernel
def add_precision_influence(
    scores: Floats, marks: Booleans, owner: Integers, worst: bool, share: float, influence: Values
) -> None:
    """Add to each instance ``share`` times what the average precision loses without its item.

    With R relevant items at or above a relevant item, and N items in all, its precision is R / N.
    It is R / (N - 1) without an irrelevant item above, and (R - 1) / (N - 1) without a relevant
    one. Items are left out, instead of derivatives taken, because with few relevant items the
    average precision is too high: the mean of these losses over all items says by how much.
    A single relevant item has no influence, since nothing is defined without it.
    """
    relevant, irrelevant = scores[marks], scores[~marks]
    relevant.sort()
    irrelevant.sort()
    p, n = relevant.size, irrelevant.size
    # What precisions lose without an irrelevant and without a relevant item above, from below.
    lost_bad, lost_good = np.zeros(p + 1), np.zeros(p + 1)
    precision, tied = np.empty(p), np.empty(p)
    for k in range(p):
        R = p - np.searchsorted(relevant, relevant[k], side="left")
        if worst:
            ahead = n - np.searchsorted(irrelevant, relevant[k], side="left")
            N, others = R + ahead, R - 1
        else:
            ahead = n - np.searchsorted(irrelevant, relevant[k], side="right")
            others = p - np.searchsorted(relevant, relevant[k], side="right")
            N = 1 + others + ahead
        precision[k] = R / N
        bad = R / N - R / (N - 1) if ahead > 0 else 0.0
        good = R / N - (R - 1) / (N - 1) if others > 0 else 0.0
        tied[k] = good if worst else 1 / N
        lost_bad[k + 1] = lost_bad[k] + bad
        lost_good[k + 1] = lost_good[k] + good
    total = precision.sum()
    for k in range(scores.size):
        first = _first_at_least(relevant, scores[k])
        after = _first_above(relevant, scores[k], first)
        if not marks[k]:
            influence[owner[k]] += share * lost_bad[after if worst else first] / p
        elif p > 1:
            lost = lost_good[first] + (after - first - 1) * tied[first]
            without = (total - precision[first] - lost) / (p - 1)
            influence[owner[k]] += share * (total / p - without)


@kernel
def resample_row(
    scores: Floats,
    order: Integers,
    marks: Booleans,
    owner: Integers,
    weights: Values,
    tie: float,
    worst: bool,
    out: Values,
) -> None:
    """AUC and average precision of a row under each line of weights of the instances.

    ``order`` sorts the scores from high to low. ``out`` has a line for the AUC and one for the
    average precision; nan where one of the kinds has no weight.
    """
    for b in range(weights.shape[0]):
        w = weights[b]
        above_p, above_n, lost, precision = 0.0, 0.0, 0.0, 0.0
        k = 0
        while k < order.size:
            p, n = 0.0, 0.0
            score = scores[order[k]]
            while k < order.size and scores[order[k]] == score:
                if marks[order[k]]:
                    p += w[owner[order[k]]]
                else:
                    n += w[owner[order[k]]]
                k += 1
            lost += p * (above_n + (1 - tie) * n)
            if p > 0:
                items = above_p + p + above_n + n if worst else 1 + above_p + above_n
                precision += p * (above_p + p) / items
            above_p += p
            above_n += n
        pairs = above_p * above_n
        out[0, b] = 1 - lost / pairs if pairs > 0 else np.nan
        out[1, b] = precision / above_p if above_p > 0 else np.nan
