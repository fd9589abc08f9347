"""The label set of highest expected F1 when a handful of label sets are equally likely."""

import numpy as np

from limo._kernels import kernel
from limo._types import Anything, Integers, Values

__all__ = ["best_label_sets"]

# Values of two sizes that differ by less are equal, and the smaller size is taken.
_ROUNDING = 1e-12


@kernel
def _gather(
    rows: Integers, indptr: Integers, indices: Integers, place: Integers, union: Integers
) -> int:
    """Write the labels of ``rows``, ascending, into ``union``, and their places into ``place``.

    Returns how many there are. Assumes -1 everywhere in ``place``.
    """
    n = 0
    for row in rows:
        for e in range(indptr[row], indptr[row + 1]):
            if place[indices[e]] < 0:
                place[indices[e]] = 0
                union[n] = indices[e]
                n += 1
    union[:n].sort()
    for u in range(n):
        place[union[u]] = u
    return n


@kernel
def _worth(
    rows: Integers, indptr: Integers, indices: Integers, place: Integers, size: int, worth: Values
) -> None:
    """Write what each label adds to the expected F1 of a set of ``size`` labels, times n_rows / 2.

    Label j adds the sum of 1 / (|y| + size) over the label sets y that hold it. Rows come by
    ascending |y|, so that labels held by sets of the same sizes have exactly the same worth.
    """
    worth[:] = 0.0
    for row in rows:
        start, stop = indptr[row], indptr[row + 1]
        for e in range(start, stop):
            worth[place[indices[e]]] += 1.0 / (stop - start + size)


@kernel
def best_label_sets(
    neighbours: Integers, indptr: Integers, indices: Integers, nothing: float, chosen: Anything
) -> None:
    """Set in each row of ``chosen`` the labels of the set with the highest expected F1.

    The labels of instance i are those of one of the rows ``neighbours[i]`` of a 0/1 matrix, each as
    likely as the others; no label is assumed independent of another. For each size the best
    set takes the labels worth most, of equal ones the first; more labels than the
    neighbours have together cannot help. Predicting nothing is worth ``nothing`` if nothing
    is true.
    O(u (s + u log u)) for neighbours with u different labels and s labels in all.
    """
    place = np.full(chosen.shape[1], -1)
    union = np.empty(chosen.shape[1], np.int64)
    worth = np.empty(chosen.shape[1])
    for i in range(neighbours.shape[0]):
        ones = indptr[neighbours[i] + 1] - indptr[neighbours[i]]
        rows = neighbours[i][np.argsort(ones)]
        n = _gather(rows, indptr, indices, place, union)
        best_size, best_value = 0, nothing * np.sum(ones == 0) / 2.0
        for size in range(1, n + 1):
            _worth(rows, indptr, indices, place, size, worth[:n])
            value = np.sort(worth[:n])[n - size :].sum()
            if value > best_value * (1.0 + _ROUNDING):
                best_size, best_value = size, value
        _worth(rows, indptr, indices, place, best_size, worth[:n])
        order = np.argsort(-worth[:n], kind="mergesort")
        for u in range(best_size):
            chosen[i, union[order[u]]] = True
        place[union[:n]] = -1
