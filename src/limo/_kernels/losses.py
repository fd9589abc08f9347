"""Sums over all (relevant, irrelevant) pairs of a row, without visiting the pairs.

With the p relevant scores a of a row in order and their running sums, an irrelevant score b
needs one search: the pairs it takes part in are those with a < b + 1. Losses are
pieces of a parabola and a line in z = 1 + b - a:

    phi(z) = curvature / 2 z^2            for 0 < z <= width
           = slope (z - width / 2)        for z > width,      0 for z <= 0.

What the relevant scores are owed is noted at the ranks where it begins and ends, and
gathered once at the end.
"""

from typing import NamedTuple

import numpy as np

from limo._kernels import kernel
from limo._types import Floats, Integers, Values

__all__ = [
    "FEW",
    "Relevant",
    "add_row_pairs",
    "add_transposed",
    "gather",
    "multiply_rows",
    "prepare",
    "scan_rows",
]


# Up to so many relevant scores a row's pairs are visited one by one, which is faster.
FEW = 8


class Relevant(NamedTuple):
    """The relevant scores of a row, ready to be met by irrelevant ones.

    ``buckets`` says for each of many even buckets of their range how many scores lie in lower
    ones: where a value belongs is then known up to the few of its own bucket.
    """

    ordered: Values
    sums: Values
    squares: Values
    buckets: Integers
    buckets_per_unit: float


@kernel
def prepare(ordered: Values) -> Relevant:
    """Sum up and index ascending relevant scores, at least one."""
    p = ordered.size
    sums, squares = np.zeros(p + 1), np.zeros(p + 1)
    for k in range(p):
        sums[k + 1] = sums[k] + ordered[k]
        squares[k + 1] = squares[k] + ordered[k] * ordered[k]
    index = np.zeros(2 * p + 1, dtype=np.int64)
    reach = ordered[-1] - ordered[0]
    per_unit = (2 * p - 1) / reach if reach > 0.0 else 0.0
    for k in range(p):
        index[int((ordered[k] - ordered[0]) * per_unit) + 1] += 1
    for bucket in range(2 * p):
        index[bucket + 1] += index[bucket]
    return Relevant(ordered, sums, squares, index, per_unit)


@kernel
def _count_below(relevant: Relevant, value: float) -> int:
    """How many relevant scores lie below ``value``."""
    ordered = relevant.ordered
    if value <= ordered[0]:
        return 0
    if value > ordered[-1]:
        return ordered.size
    bucket = int((value - ordered[0]) * relevant.buckets_per_unit)
    low, high = int(relevant.buckets[bucket]), int(relevant.buckets[bucket + 1])
    while low < high:
        middle = (low + high) // 2
        if ordered[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def scan(
    row: Floats,
    places: Integers,
    relevant: Relevant,
    shape: Values,
    owed: Values,
    weight: float,
    gradient: Floats,
) -> float:
    """Pair loss of the items of a row not in ``places`` against all relevant scores.

    Their derivatives times ``weight`` are added to ``gradient``. To ``owed`` is added, by rank: how
    many of them act on the parabola, the sum of their scores + 1, and how many on the line.
    """
    curvature, width, slope = shape[0], shape[1], shape[2]
    sums, squares = relevant.sums, relevant.squares
    lowest = relevant.ordered[0] - 1.0
    n_acting = 0
    total_acting = 0.0
    value = 0.0
    start = 0
    for r in range(places.size + 1):
        stop = places[r] if r < places.size else row.size
        for item in range(start, stop):
            if row[item] > lowest:
                c = row[item] + 1.0
                k = _count_below(relevant, c)
                n_acting += 1
                total_acting += c
                owed[0, k] -= 1.0
                owed[1, k] -= c
                value += 0.5 * curvature * (k * c * c - 2.0 * c * sums[k] + squares[k])
                change = curvature * (k * c - sums[k])
                if c - width > relevant.ordered[0]:
                    j = _count_below(relevant, c - width)
                    line = j * c - sums[j]
                    value += slope * (line - 0.5 * width * j)
                    value -= 0.5 * curvature * (c * (line - sums[j]) + squares[j])
                    change += slope * j - curvature * line
                    owed[0, 0] -= 1.0
                    owed[0, j] += 1.0
                    owed[1, 0] -= c
                    owed[1, j] += c
                    owed[2, 0] += 1.0
                    owed[2, j] -= 1.0
                gradient[item] += weight * change
        start = stop + 1
    owed[0, 0] += n_acting
    owed[1, 0] += total_acting
    return value


@kernel
def gather(relevant: Relevant, shape: Values, owed: Values, slopes: Values) -> None:
    """Write the derivative of each relevant score into ``slopes``, in their order."""
    n_acting = 0.0
    total_acting = 0.0
    n_on_line = 0.0
    for r in range(slopes.size):
        n_acting += owed[0, r]
        total_acting += owed[1, r]
        n_on_line += owed[2, r]
        parabola = total_acting - n_acting * relevant.ordered[r]
        slopes[r] = -shape[0] * parabola - shape[2] * n_on_line


@kernel
def _visit(
    row: Floats,
    places: Integers,
    ordered: Values,
    shape: Values,
    slopes: Values,
    weight: float,
    gradient: Floats,
) -> float:
    """As ``scan`` and ``gather`` do, pair by pair."""
    curvature, width, slope = shape[0], shape[1], shape[2]
    slopes[:] = 0.0
    value = 0.0
    start = 0
    for r in range(places.size + 1):
        stop = places[r] if r < places.size else row.size
        for item in range(start, stop):
            total = 0.0
            for k in range(ordered.size):
                z = row[item] + 1.0 - ordered[k]
                if z <= 0.0:
                    break
                if z <= width:
                    value += 0.5 * curvature * z * z
                    change = curvature * z
                else:
                    value += slope * (z - 0.5 * width)
                    change = slope
                total += change
                slopes[k] -= change
            gradient[item] += weight * total
        start = stop + 1
    return value


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
    total = 0.0
    for i in range(rows.shape[0]):
        places = indices[indptr[i] : indptr[i + 1]]
        weight = weights[i]
        if weight == 0.0 or places.size == 0:
            continue
        scores = np.empty(places.size)
        slopes = np.empty(places.size)
        for r in range(places.size):
            scores[r] = rows[i, places[r]]
        order = np.argsort(scores)
        ordered = scores[order]
        if places.size <= FEW:
            value = _visit(rows[i], places, ordered, shape, slopes, weight, gradient[i])
        else:
            relevant = prepare(ordered)
            owed = np.zeros((3, places.size + 1))
            value = scan(rows[i], places, relevant, shape, owed, weight, gradient[i])
            gather(relevant, shape, owed, slopes)
        for r in range(places.size):
            gradient[i, places[order[r]]] += weight * slopes[r]
        total += weight * value
    return total


@kernel
def scan_rows(
    rows: Floats,
    indptr: Integers,
    indices: Integers,
    relevant: Relevant,
    shape: Values,
    owed: Values,
    gradient: Floats,
) -> float:
    """Pair loss of the irrelevant items of all these rows against the same relevant scores."""
    total = 0.0
    for i in range(rows.shape[0]):
        places = indices[indptr[i] : indptr[i + 1]]
        total += scan(rows[i], places, relevant, shape, owed, 1.0, gradient[i])
    return total


# Sparse matrix times dense matrix, a range of rows at a time so that threads can share.


@kernel
def multiply_rows(
    indptr: Integers, indices: Integers, data: Values, B: Values, out: Values, start: int, stop: int
) -> None:
    """Out = A B for the rows ``start`` to ``stop`` of the CSR matrix A."""
    for i in range(start, stop):
        row = out[i]
        row[:] = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            factor = data[k]
            other = B[indices[k]]
            for j in range(row.size):
                row[j] += factor * other[j]


@kernel
def add_transposed(block: Values, start: int, matrix: Values) -> None:
    """Add the rows of ``block`` to the columns of ``matrix`` from ``start`` on, in tiles."""
    n_columns, n_rows = block.shape
    for top in range(0, n_rows, 64):
        for j in range(n_columns):
            for i in range(top, min(top + 64, n_rows)):
                matrix[i, start + j] += block[j, i]
