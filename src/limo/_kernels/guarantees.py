"""Kernels for guarantees: what p, n and the misordered pairs b of a row allow its measures to be.

A row in strict order is a sequence a_1 <= ... <= a_p of whole numbers from 0 to n: a_k irrelevant
items are above the k-th best relevant one, and b is their sum. Average precision is the mean of
k / (k + a_k), and F1 with the best threshold is the largest 2 k / (p + k + a_k).
"""

import math

import numpy as np

from limo._kernels import kernel, vector_kernel
from limo._types import Integers, Values

# Halvings of the interval that holds a solution: more than a float has digits.
_HALVINGS = 60


@kernel
def extreme_precisions(counts: Integers, limits: Integers, bounds: Values) -> None:
    """Lowest and highest average precision of rows, exactly.

    Dynamic programming over the items k, the levels v and the sums b: two tables hold the lowest
    and the highest sum of k / (k + a_k) of the items so far, for a_k <= v and each b. All rows read
    from the same tables, whatever their p and n are.

    ``counts`` are lines p, n, b with ascending p. ``limits`` are the largest min(n, b) and the
    largest b of the rows with p >= k, one column for each k. O(sum of their products).
    """
    levels, most = limits[0, 0], limits[1, 0]
    low, high = np.full((levels + 1, most + 1), np.inf), np.full((levels + 1, most + 1), -np.inf)
    low[:, 0] = high[:, 0] = 0.0
    before = np.empty((2, most + 1))
    i = 0
    for k in range(1, limits.shape[1] + 1):
        for v in range(limits[0, k - 1] + 1):
            # only sums that k items at level v or below can reach
            _add_item(low, high, before, v, k / (k + v), min(limits[1, k - 1], k * v))
        while i < counts.shape[1] and counts[0, i] == k:
            v, b = min(counts[1, i], counts[2, i]), counts[2, i]
            bounds[0, i], bounds[1, i] = low[v, b] / k, high[v, b] / k
            i += 1


@kernel
def _add_item(low: Values, high: Values, before: Values, v: int, gain: float, reach: int) -> None:
    """Update the tables at level v for one more item, which is at this level or below.

    At the level, it adds ``gain`` to the sums without it (``before``, a copy, so that the loop has
    vector instructions); below, the sums are those of the level before.
    """
    if v == 0:
        low[0, 0] += gain
        high[0, 0] += gain
        return
    without_low, without_high = before[0, : reach + 1], before[1, : reach + 1]
    without_low[:], without_high[:] = low[v, : reach + 1], high[v, : reach + 1]
    for b in range(min(v, reach + 1)):
        low[v, b], high[v, b] = low[v - 1, b], high[v - 1, b]
    for b in range(v, reach + 1):
        low[v, b] = min(without_low[b - v] + gain, low[v - 1, b])
        high[v, b] = max(without_high[b - v] + gain, high[v - 1, b])


@kernel
def least_precision(p: int, n: int, b: float) -> float:
    """A lower bound of average precision from the dual problem, for rows too long for the table.

    1 - AP is the mean of a_k / (k + a_k). For every price x of a misordered pair, their sum is at
    most b x plus the sum over k of the largest a / (k + a) - x a, with a from 0 to n. The least of
    these bounds is found by bisection of the slope. The order of the a_k is ignored.
    """
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        x = 0.5 * (low + high)
        used = 0.0
        for k in range(1, p + 1):
            used += min(max(math.sqrt(k / x) - k, 0.0), float(n))
        if used > b:
            low = x
        else:
            high = x
    bound = high * b
    for k in range(1, p + 1):
        a = min(max(math.sqrt(k / high) - k, 0.0), float(n))
        bound += a / (k + a) - high * a
    return 1.0 - bound / p


@kernel
def greatest_precision(p: int, n: int, b: float) -> float:
    """An upper bound of average precision, for rows too long for the table.

    a / (k + a) is concave, so it is at least a / (k + n). The sum of these is least if the last
    items have as many irrelevant ones above them as possible.
    """
    left, loss = b, 0.0
    for k in range(p, 0, -1):
        a = min(left, float(n))
        loss += a / (k + n)
        left -= a
    return 1.0 - loss / p


@vector_kernel
def extreme_f1(p: int, n: int, b: float) -> tuple[float, float]:
    """Lowest and highest F1 that the best threshold of a row can give, exactly.

    Highest: the items after the k-th take up to (p - k) n misordered pairs, and the rest is shared
    by the first k. Lowest: F1 is at most x if every a_k is at least 2 k / x - p - k, which takes
    a certain number of pairs; x is found by bisection. O(p) for each step.
    """
    highest = 0.0
    for k in range(1, p + 1):
        least = np.ceil(max(0.0, b - float(p - k) * n) / k)
        highest = max(highest, 2.0 * k / (p + k + least))
    low, high = 2.0 * p / (2.0 * p + n), 1.0
    if float(p) * n <= b:
        return low, highest
    for _ in range(_HALVINGS):
        x = 0.5 * (low + high)
        if x <= low or x >= high:
            break
        slope, needed = 2.0 / x - 1.0, 0.0
        for k in range(max(1, int(p / slope)), p + 1):  # the items before need none
            needed += np.ceil(max(0.0, slope * k - p))
        if needed > b:
            low = x
        else:
            high = x
    slope, lowest = 2.0 / high - 1.0, 0.0
    for k in range(1, p + 1):
        a = np.ceil(max(0.0, slope * k - p))
        lowest = max(lowest, 2.0 * k / (p + k + a))
    return lowest, highest


@kernel
def extreme_f1s(counts: Integers, bounds: Values) -> None:
    """Lowest and highest F1 of rows, given as lines p, n, b."""
    for i in range(counts.shape[1]):
        bounds[0, i], bounds[1, i] = extreme_f1(counts[0, i], counts[1, i], float(counts[2, i]))


@kernel
def row_orders(indptr: Integers, ahead: Integers, out: Values) -> None:
    """For each row: a_1, a_p, average precision and F1 at its best threshold; nan without items.

    ``ahead`` holds the a_k of all rows, one row after the other.
    """
    for i in range(indptr.size - 1):
        start, p = indptr[i], indptr[i + 1] - indptr[i]
        if p == 0:
            out[:, i] = np.nan
            continue
        precision, best = 0.0, 0.0
        for k in range(1, p + 1):
            a = ahead[start + k - 1]
            precision += k / (k + a)
            best = max(best, 2.0 * k / (p + k + a))
        out[0, i], out[1, i] = ahead[start], ahead[start + p - 1]
        out[2, i], out[3, i] = precision / p, best


@kernel
def best_weighted_f1(indptr: Integers, ahead: Values, weights: Values, out: Values) -> None:
    """F1 at the best threshold of rows whose items have weights; nan without relevant items.

    ``ahead`` holds the weight of the irrelevant items above each relevant one.
    """
    for i in range(indptr.size - 1):
        total, above, best = 0.0, 0.0, np.nan
        for c in range(indptr[i], indptr[i + 1]):
            total += weights[c]
        for c in range(indptr[i], indptr[i + 1]):
            above += weights[c]
            f1 = 2.0 * above / (total + above + ahead[c])
            best = f1 if np.isnan(best) else max(best, f1)
        out[i] = best
