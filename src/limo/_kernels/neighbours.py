"""Nearest rows from blocks of distances."""

import numpy as np

from limo._kernels import kernel
from limo._types import Integers, Values

__all__ = ["nearest"]


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
