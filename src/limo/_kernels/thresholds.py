"""Kernels for thresholds: sort stored scores, walk down sorted rows, and pick the best cut.

A cut is a place in a sorted row. It has hits (relevant items) and misses (irrelevant items) above
it. Equal scores are never separated by a cut.
"""

import numpy as np

from limo._kernels import kernel
from limo._types import Booleans, Floats, Integers, Values


@kernel
def sort_stored(
    indptr: Integers,
    indices: Integers,
    scores: Floats,
    relevant_indptr: Integers,
    relevant_indices: Integers,
    ordered: Floats,
    middle: Integers,
) -> None:
    """Write each row's stored scores into ``ordered``: relevant ones descending, others ascending.

    ``middle[i]`` becomes the index at which the irrelevant scores of row i start. Columns must
    ascend in every row, so that stored and relevant columns can be merged. O(k log k) for a row
    with k stored scores.
    """
    for i in range(indptr.size - 1):
        start, stop = indptr[i], indptr[i + 1]
        # relevant scores fill the row from the front, irrelevant ones from the back
        r, front, back = relevant_indptr[i], start, stop
        for k in range(start, stop):
            while r < relevant_indptr[i + 1] and relevant_indices[r] < indices[k]:
                r += 1
            if r < relevant_indptr[i + 1] and relevant_indices[r] == indices[k]:
                ordered[front] = -scores[k]  # negated, because sort() only ascends
                front += 1
            else:
                back -= 1
                ordered[back] = scores[k]
        ordered[start:front].sort()
        ordered[front:stop].sort()
        for k in range(start, front):
            ordered[k] = -ordered[k]
        middle[i] = front


@kernel
def _higher(
    relevant: Floats, a: int, a_stop: int, irrelevant: Floats, b: int, b_start: int
) -> float:
    """The highest score not yet passed; -inf if all are."""
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
    descend, irrelevant ones ascend. Without ``every``, only cuts below the score of a relevant item
    are written. A cut has ``hits`` relevant and ``misses`` irrelevant items above it, and is
    between the scores ``upper`` and ``lower``. Ties leave fewer cuts than there are cells; the
    cells left, up to ``indptr[i + 1]``, repeat the last cut.
    """
    good, good_start, good_stop = relevant
    bad, bad_start, bad_stop = irrelevant
    for i in range(indptr.size - 1):
        # a is the next relevant item, b the next irrelevant one, both from the highest score down
        a, a_stop = good_start[i], good_stop[i]
        b, b_start = bad_stop[i] - 1, bad_start[i]
        k = indptr[i]
        n_hits = n_misses = 0
        below = _higher(good, a, a_stop, bad, b, b_start)
        hits[k], misses[k], upper[k], lower[k] = 0.0, 0.0, np.inf, below
        while a < a_stop or (every and b >= b_start):
            score, before = below, n_hits
            # pass all items with this score at once: no cut may separate them
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
    """Write the index of each row's highest value; of those equal up to rounding the first or last.

    Two passes, because what is nearly equal to the highest value is known only after the first.
    nan is never chosen, unless all values are nan.
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
    """Mark the corners of the upper hull of each row's hits plotted against misses.

    ``previous[k]`` becomes the corner before corner k; the first cut of a row, where every hull
    starts, is not marked. Cuts without more hits than the corner before are skipped, and with them
    the repeated cuts at the end of a row. This is Andrew's monotone chain, O(cuts): cuts come in
    order of misses, and each is removed at most once.
    """
    for i in range(indptr.size - 1):
        start = indptr[i]
        last = start
        for k in range(start + 1, indptr[i + 1]):
            if hits[k] == hits[last]:
                continue
            # remove corners that lie on or below the line from the one before to this cut
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


@kernel
def count_above(
    relevant: tuple[Floats, Integers, Integers],
    irrelevant: tuple[Floats, Integers, Integers],
    first: int,
    thresholds: Values,
    hits: Integers,
    predicted: Integers,
) -> None:
    """Count, in sorted rows from ``first`` on, the items above each of the ascending thresholds.

    Row i of ``hits`` and ``predicted`` is row ``first + i`` of the block; column k counts its
    relevant and all its items with scores above threshold k. Both kinds of items come as in
    ``walk``. One walk down each row: O(items + thresholds) per row.
    """
    good, good_start, good_stop = relevant
    bad, bad_start, bad_stop = irrelevant
    for i in range(hits.shape[0]):
        row = first + i
        a, b = good_start[row], bad_stop[row] - 1
        for k in range(thresholds.size - 1, -1, -1):
            while a < good_stop[row] and good[a] > thresholds[k]:
                a += 1
            while b >= bad_start[row] and bad[b] > thresholds[k]:
                b -= 1
            hits[i, k] = a - good_start[row]
            predicted[i, k] = hits[i, k] + bad_stop[row] - 1 - b


@kernel
def count_predicted(
    S: Floats,
    row_threshold: Values,
    column_threshold: Values,
    indptr: Integers,
    indices: Integers,
    group: Integers,
    in_rows: Integers,
    in_columns: Integers,
) -> None:
    """Count the entries with S_ij - row_threshold_i > column_threshold_j, and the hits of them.

    ``indptr`` and ``indices`` are the ones of the label matrix. Hits and predictions are added to
    ``in_rows[0]`` and ``in_rows[1]`` by row, and to ``in_columns[0]`` and ``in_columns[1]`` by the
    row's group and by column.
    """
    for i in range(S.shape[0]):
        t, g = row_threshold[i], group[i]
        for j in range(S.shape[1]):
            if S[i, j] - t > column_threshold[j]:
                in_rows[1, i] += 1
                in_columns[1, g, j] += 1
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            if S[i, j] - t > column_threshold[j]:
                in_rows[0, i] += 1
                in_columns[0, g, j] += 1


@kernel
def _sigmoid_loss(
    s: Values, positive: Booleans, weights: Values, high: float, low: float, a: float, b: float
) -> float:
    """The weighted sum of log(1 + exp(f)) - goal f, f = a s + b, without overflow."""
    total = 0.0
    for i in range(s.size):
        f = a * s[i] + b
        goal = high if positive[i] else low
        total += weights[i] * (max(f, 0.0) + np.log1p(np.exp(-abs(f))) - goal * f)
    return total


@kernel
def fit_sigmoid(
    s: Values, positive: Booleans, weights: Values, max_iter: int
) -> tuple[float, float]:
    """Fit P(y = 1) = 1 / (1 + exp(-(a s + b))) to one label, by Newton steps that never overshoot.

    As in Platt's method the goal is (p + 1) / (p + 2) for the p positives and 1 / (n + 2) for the n
    negatives, not 1 and 0, so that a and b stay finite. p and n are sums of weights.
    """
    p = (weights * positive).sum()
    n = weights.sum() - p
    high, low = (p + 1.0) / (p + 2.0), 1.0 / (n + 2.0)
    a, b = 0.0, np.log((p + 1.0) / (n + 1.0))
    loss = _sigmoid_loss(s, positive, weights, high, low, a, b)
    for _ in range(max_iter):
        ga = gb = haa = hab = 0.0
        hbb = 1e-12
        for i in range(s.size):
            q = 1.0 / (1.0 + np.exp(-(a * s[i] + b)))
            g = weights[i] * (q - (high if positive[i] else low))
            h = weights[i] * q * (1.0 - q)
            ga += g * s[i]
            gb += g
            haa += h * s[i] * s[i]
            hab += h * s[i]
            hbb += h
        haa += 1e-12
        determinant = haa * hbb - hab * hab
        da, db = (hbb * ga - hab * gb) / determinant, (haa * gb - hab * ga) / determinant
        slope, step, before = ga * da + gb * db, 1.0, loss
        while step > 1e-10:
            loss = _sigmoid_loss(s, positive, weights, high, low, a - step * da, b - step * db)
            if loss <= before - 1e-4 * step * slope:
                break
            step /= 2.0
        if step <= 1e-10:
            break
        a -= step * da
        b -= step * db
        if slope < 1e-12 * (p + n):
            break
    return a, b
