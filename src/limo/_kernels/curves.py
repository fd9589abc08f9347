"""How many items of rows, columns and the whole lie above each of many thresholds."""

import numpy as np

from limo._kernels import kernel
from limo._types import Floats, Integers, Values

__all__ = ["count_above"]


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
