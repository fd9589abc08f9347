"""One walk down each sorted row: every place where it can be cut, and the best of them."""

import numpy as np

from limo._kernels import kernel
from limo._types import Booleans, Floats, Integers, Values

__all__ = ["count_above", "mark_hull", "part_stored", "pick_best", "walk"]


@kernel
def part_stored(
    indptr: Integers,
    indices: Integers,
    scores: Floats,
    relevant_indptr: Integers,
    relevant_indices: Integers,
    parted: Floats,
    middle: Integers,
) -> None:
    """Write each row's stored scores into ``parted``: relevant ones descending, others ascending.

    ``middle[i]`` tells where the irrelevant scores of row i begin. Columns ascend in every row.
    O(k log k) for a row with k stored scores.
    """
    for i in range(indptr.size - 1):
        start, stop = indptr[i], indptr[i + 1]
        r, front, back = relevant_indptr[i], start, stop
        for k in range(start, stop):
            while r < relevant_indptr[i + 1] and relevant_indices[r] < indices[k]:
                r += 1
            if r < relevant_indptr[i + 1] and relevant_indices[r] == indices[k]:
                parted[front] = -scores[k]
                front += 1
            else:
                back -= 1
                parted[back] = scores[k]
        parted[start:front].sort()
        parted[front:stop].sort()
        for k in range(start, front):
            parted[k] = -parted[k]
        middle[i] = front


@kernel
def _higher(
    relevant: Floats, a: int, a_stop: int, irrelevant: Floats, b: int, b_start: int
) -> float:
    """The highest score not yet passed; -inf when all are."""
    score = -np.inf
    if a < a_stop:
        score = relevant[a]
    if b >= b_start and irrelevant[b] > score:
        score = irrelevant[b]
    return score


@kernel
def walk(
    relevant: tuple[Floats, Integers, Integers],
    irrelevant: tuple[Floats, Integers, Integers],
    every: bool,
    indptr: Integers,
    hits: Values,
    misses: Values,
    upper: Values,
    lower: Values,
) -> None:
    """Write the cuts of each row: first the one above all items, then one below each score.

    Both kinds of items come as (scores, start of each row, stop of each row); relevant scores
    descend, irrelevant ones ascend. Without ``every``, only cuts below a score that some relevant
    item has are written. A cut has ``hits`` relevant and ``misses`` irrelevant items above
    it, and lies between the scores ``upper`` and ``lower``. Spare room, up to ``indptr[i + 1]``,
    is filled with the last cut. Equal scores are passed together, so that no cut parts them.
    """
    good, good_start, good_stop = relevant
    bad, bad_start, bad_stop = irrelevant
    for i in range(indptr.size - 1):
        a, a_stop = good_start[i], good_stop[i]
        b, b_start = bad_stop[i] - 1, bad_start[i]
        k = indptr[i]
        n_hits = n_misses = 0
        below = _higher(good, a, a_stop, bad, b, b_start)
        hits[k], misses[k], upper[k], lower[k] = 0.0, 0.0, np.inf, below
        while a < a_stop or (every and b >= b_start):
            score, before = below, n_hits
            while a < a_stop and good[a] == score:
                a += 1
                n_hits += 1
            while b >= b_start and bad[b] == score:
                b -= 1
                n_misses += 1
            below = _higher(good, a, a_stop, bad, b, b_start)
            if every or n_hits > before:
                k += 1
                hits[k], misses[k], upper[k], lower[k] = n_hits, n_misses, score, below
        for spare in range(k + 1, indptr[i + 1]):
            hits[spare], misses[spare], upper[spare], lower[spare] = (
                hits[k],
                misses[k],
                upper[k],
                lower[k],
            )


@kernel
def pick_best(values: Values, indptr: Integers, last: bool, best: Integers) -> None:
    """Write where each row's highest value is: of those equal up to rounding the first, or last.

    nan is never best, unless nothing else is there.
    """
    for i in range(indptr.size - 1):
        highest = -np.inf
        for k in range(indptr[i], indptr[i + 1]):
            if values[k] > highest:
                highest = values[k]
        enough = highest
        if np.isfinite(highest):
            enough -= 1e-12 * max(1.0, abs(highest))
        best[i] = indptr[i]
        for k in range(indptr[i], indptr[i + 1]):
            if values[k] >= enough:
                best[i] = k
                if not last:
                    break


@kernel
def mark_hull(
    hits: Values, misses: Values, indptr: Integers, corner: Booleans, previous: Integers
) -> None:
    """Mark the corners of each row's curve of hits against misses, seen from above.

    ``previous[k]`` becomes the corner before corner k; the first cut of a row has none and is not
    marked. Cuts that gain nothing on the one before (spare room) are passed over. O(cuts).
    """
    for i in range(indptr.size - 1):
        start = indptr[i]
        last = start
        for k in range(start + 1, indptr[i + 1]):
            if hits[k] == hits[last]:
                continue
            while last > start:
                before = previous[last]
                rise, run = hits[last] - hits[before], misses[last] - misses[before]
                new_rise, new_run = hits[k] - hits[last], misses[k] - misses[last]
                if rise * new_run > new_rise * run:
                    break
                corner[last] = False
                last = before
            corner[k] = True
            previous[k] = last
            last = k


# How many items of rows, columns and the whole lie above each of many thresholds.


@kernel
def _count_below(thresholds: Values, score: float) -> int:
    """How many of the ascending thresholds are lower than the score."""
    low, high = 0, thresholds.size
    while low < high:
        half = (low + high) // 2
        if thresholds[half] < score:
            low = half + 1
        else:
            high = half
    return low


@kernel
def count_above(
    block: Floats,
    indptr: Integers,
    indices: Integers,
    thresholds: Values,
    hits: Integers,
    predicted: Integers,
    row_f1: Values,
) -> None:
    """Add up, for the rows of ``block``, what each ascending threshold leaves above it.

    ``indptr`` and ``indices`` tell the relevant columns of each row. Cell (j, k) of ``hits`` and
    ``predicted`` counts the relevant and all items of column j that lie above exactly the first
    k thresholds; cell k of ``row_f1`` is the sum over rows of F1 at threshold k. O(log of the
    thresholds) an item.
    """
    n_thresholds = thresholds.size
    good = np.zeros(n_thresholds + 1, np.int64)
    every = np.zeros(n_thresholds + 1, np.int64)
    for i in range(block.shape[0]):
        good[:] = 0
        every[:] = 0
        r = indptr[i]
        for j in range(block.shape[1]):
            k = _count_below(thresholds, block[i, j])
            every[k] += 1
            predicted[j, k] += 1
            if r < indptr[i + 1] and indices[r] == j:
                good[k] += 1
                hits[j, k] += 1
                r += 1
        n_true = indptr[i + 1] - indptr[i]
        n_good = n_above = 0
        for k in range(n_thresholds - 1, -1, -1):
            n_good += good[k + 1]
            n_above += every[k + 1]
            if n_good > 0:
                row_f1[k] += 2.0 * n_good / (n_true + n_above)
