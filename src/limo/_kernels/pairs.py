"""Sums over all (relevant, irrelevant) pairs of a row, without visiting the pairs.

With the p relevant scores a of a row in order and their running sums, an irrelevant score b
needs one search: the pairs it takes part in are those with a < b + 1. Losses are
pieces of a parabola and a line in z = 1 + b - a:

    phi(z) = curvature / 2 z^2            for 0 < z <= width
           = slope (z - width / 2)        for z > width,      0 for z <= 0.
"""

import numpy as np

from limo._kernels import kernel
from limo._types import Floats, Integers, Values

__all__ = ["add_pairs_of_all", "add_row_pairs", "relevant_derivatives", "running_sums"]


@kernel
def _count_below(ordered: Values, value: float, stop: int) -> int:
    """How many of the first ``stop`` ascending values lie below ``value``."""
    low, high = 0, stop
    while low < high:
        middle = (low + high) // 2
        if ordered[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def running_sums(ordered: Values, sums: Values) -> None:
    """Sums of the first k values and of their squares, into the rows of ``sums``."""
    sums[0, 0] = 0.0
    sums[1, 0] = 0.0
    for k in range(ordered.size):
        sums[0, k + 1] = sums[0, k] + ordered[k]
        sums[1, k + 1] = sums[1, k] + ordered[k] * ordered[k]


@kernel
def _add_irrelevant(
    score: float, ordered: Values, sums: Values, shape: Values, spread: Values
) -> tuple[float, float]:
    """Loss of one irrelevant score against all relevant ones, and its derivative.

    What the relevant scores are owed is noted in ``spread``, at the ranks where it begins
    and ends: how many irrelevant ones act on the parabola, the sum of theirs + 1, and how many
    on the line.
    """
    curvature, width, slope = shape
    c = score + 1.0
    k = _count_below(ordered, c, ordered.size)
    j = _count_below(ordered, c - width, k) if c - width > ordered[0] else 0
    n = k - j
    first = sums[0, k] - sums[0, j]
    second = sums[1, k] - sums[1, j]
    value = 0.5 * curvature * (n * c * c - 2.0 * c * first + second)
    derivative = curvature * (n * c - first)
    spread[0, j] += 1.0
    spread[0, k] -= 1.0
    spread[1, j] += c
    spread[1, k] -= c
    if j > 0:
        value += slope * (j * (c - 0.5 * width) - sums[0, j])
        derivative += slope * j
        spread[2, 0] += 1.0
        spread[2, j] -= 1.0
    return value, derivative


@kernel
def relevant_derivatives(ordered: Values, shape: Values, spread: Values, out: Values) -> None:
    """Derivative of each relevant score, in the order of ``ordered``."""
    curvature, _, slope = shape
    count = 0.0
    total = 0.0
    on_line = 0.0
    for r in range(ordered.size):
        count += spread[0, r]
        total += spread[1, r]
        on_line += spread[2, r]
        out[r] = -curvature * (total - count * ordered[r]) - slope * on_line


@kernel
def add_row_pairs(
    rows: Floats,
    indptr: Integers,
    indices: Integers,
    weights: Values,
    shape: Values,
    gradient: Floats,
) -> float:
    """Weighted pair loss of each row, summed; its derivatives are added to ``gradient``.

    Rows whose weight is 0 are passed over. O(p log p + n log p) for a row.
    """
    most = 0
    for i in range(rows.shape[0]):
        most = max(most, indptr[i + 1] - indptr[i])
    relevant = np.empty(most)
    ordered = np.empty(most)
    derivative = np.empty(most)
    sums = np.empty((2, most + 1))
    spread = np.empty((3, most + 1))
    total = 0.0
    for i in range(rows.shape[0]):
        weight = weights[i]
        p = indptr[i + 1] - indptr[i]
        if weight == 0.0 or p == 0:
            continue
        places = indices[indptr[i] : indptr[i + 1]]
        for r in range(p):
            relevant[r] = rows[i, places[r]]
        order = np.argsort(relevant[:p])
        for r in range(p):
            ordered[r] = relevant[order[r]]
        running_sums(ordered[:p], sums)
        spread[:, : p + 1] = 0.0
        lowest = ordered[0] - 1.0
        row_total = 0.0
        start = 0
        for r in range(p + 1):
            stop = places[r] if r < p else rows.shape[1]
            for j in range(start, stop):
                if rows[i, j] > lowest:
                    value, slope = _add_irrelevant(rows[i, j], ordered[:p], sums, shape, spread)
                    row_total += value
                    gradient[i, j] += weight * slope
            start = stop + 1
        relevant_derivatives(ordered[:p], shape, spread, derivative)
        for r in range(p):
            gradient[i, places[order[r]]] += weight * derivative[r]
        total += weight * row_total
    return total


@kernel
def add_pairs_of_all(
    rows: Floats,
    indptr: Integers,
    indices: Integers,
    ordered: Values,
    sums: Values,
    shape: Values,
    spread: Values,
    gradient: Floats,
) -> float:
    """Pair loss of the irrelevant entries of these rows against all relevant entries.

    ``ordered`` holds the relevant scores of the whole matrix. Derivatives of irrelevant
    entries are added to ``gradient``, those of relevant ones are owed in ``spread``.
    """
    lowest = ordered[0] - 1.0
    total = 0.0
    for i in range(rows.shape[0]):
        start = 0
        for r in range(indptr[i], indptr[i + 1] + 1):
            stop = indices[r] if r < indptr[i + 1] else rows.shape[1]
            for j in range(start, stop):
                if rows[i, j] > lowest:
                    value, slope = _add_irrelevant(rows[i, j], ordered, sums, shape, spread)
                    total += value
                    gradient[i, j] += slope
            start = stop + 1
    return total
