"""Where a row's relevant items stand among its irrelevant ones."""

import numpy as np

from limo._kernels import kernel
from limo._types import Floats, Integers, Values

__all__ = ["copy_columns", "count_irrelevant", "nearest", "take_relevant"]


@kernel
def copy_columns(matrix: Floats, start: int, columns: Floats) -> None:
    """Copy the columns of ``matrix`` from ``start`` on into the rows of ``columns``.

    In tiles, so that neither side leaves the cache: about three times as fast as numpy.
    """
    n_columns, n_rows = columns.shape
    for top in range(0, n_rows, 64):
        for left in range(0, n_columns, 16):
            for j in range(left, min(left + 16, n_columns)):
                for i in range(top, min(top + 64, n_rows)):
                    columns[j, i] = matrix[i, start + j]


@kernel
def take_relevant(rows: Floats, indptr: Integers, indices: Integers, relevant: Floats) -> None:
    """Move the relevant scores of each row into ``relevant``, highest first; leave -inf behind.

    Assumes finite scores. O(p log p) for a row with p relevant items.
    """
    for i in range(rows.shape[0]):
        start, stop = indptr[i], indptr[i + 1]
        for k in range(start, stop):
            relevant[k] = -rows[i, indices[k]]
            rows[i, indices[k]] = -np.inf
        relevant[start:stop].sort()
        for k in range(start, stop):
            relevant[k] = -relevant[k]


@kernel
def _boundary(ordered: Floats, value: float, end: int, strict: bool) -> int:
    """First index up to ``end`` from which all of ``ordered[:end]`` exceed ``value``.

    With ``strict`` false, from which all reach it. Gallops down from ``end``, so that a whole
    descending series of values costs no more than one walk through the row, and far less
    if the values are few.
    """
    step = 1
    high = end
    low = end - 1
    while low >= 0 and (ordered[low] > value or (not strict and ordered[low] == value)):
        high = low
        step *= 2
        low -= step
    low = max(low, -1)
    while high - low > 1:
        middle = (low + high) // 2
        if ordered[middle] > value or (not strict and ordered[middle] == value):
            high = middle
        else:
            low = middle
    return high


@kernel
def count_irrelevant(
    ordered: Floats, indptr: Integers, relevant: Floats, above: Integers, tied: Integers
) -> None:
    """Add to each relevant item the irrelevant ones above it and those tied with it.

    ``ordered`` holds the irrelevant scores of each row ascending, -inf where nothing is;
    ``relevant`` the relevant ones descending.
    """
    for i in range(ordered.shape[0]):
        row = ordered[i]
        end = row.size
        for k in range(indptr[i], indptr[i + 1]):
            end = _boundary(row, relevant[k], end, True)
            above[k] += row.size - end
            tied[k] += end - _boundary(row, relevant[k], end, False)


# Nearest rows from blocks of distances.


@kernel
def nearest(distances: Values, close: Values, own: int, found: Integers) -> None:
    """Write into row i of ``found`` the columns of the smallest distances of row i, nearest first.

    Distances that differ by ``close[i]`` or less are equal, and of equal ones the lower column is
    nearer. Row i leaves out column ``own + i``, which is itself; with a negative ``own`` none is
    left out. O(columns) a row if they come in no particular order.
    """
    n_rows, n_columns = distances.shape
    k = found.shape[1]
    best = np.empty(k)
    for i in range(n_rows):
        best[:] = np.inf
        for j in range(n_columns):
            d = distances[i, j] + close[i]
            if d >= best[k - 1] or (own >= 0 and j == own + i):
                continue
            place = k - 1
            while place > 0 and d < best[place - 1]:
                best[place] = best[place - 1]
                found[i, place] = found[i, place - 1]
                place -= 1
            best[place] = distances[i, j]
            found[i, place] = j
