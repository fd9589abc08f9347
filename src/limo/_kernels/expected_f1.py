"""The label set of highest expected F1, from independent probabilities."""

import numpy as np

from limo._kernels import kernel
from limo._types import Anything, Integers, Values

__all__ = ["best_label_sets", "best_sizes"]


# Mass below which the tail of a distribution is dropped: far less than rounding adds up to.
_NEGLIGIBLE = 1e-18


@kernel
def _count_ones(p: Values, start: int, mass: Values) -> int:
    """Write the distribution of the number of ones among ``p[start:]``; return how far it reaches.

    Independent 0/1 variables, added one by one. O(n * reach).
    """
    mass[0] = 1.0
    reach = 1
    for j in range(start, p.size):
        mass[reach] = mass[reach - 1] * p[j]
        for k in range(reach - 1, 0, -1):
            mass[k] = mass[k] * (1.0 - p[j]) + mass[k - 1] * p[j]
        mass[0] *= 1.0 - p[j]
        if mass[reach] > _NEGLIGIBLE:
            reach += 1
    return reach


@kernel
def _largest_useful(mass: Values, reach: int, p: Values) -> int:
    """The largest number of labels worth predicting.

    Of k predicted labels at most |y| are hits, so their expected F1 is at most
    E[2 min(k, |y|) / (k + |y|)], which falls once k has passed the reach of |y|; and the single
    most probable label is worth at least p[0] E[2 / (2 + |y|)].
    """
    floor = 0.0
    for s in range(reach):
        floor += mass[s] * 2.0 * p[0] / (2.0 + s)
    for k in range(reach, p.size + 1):
        ceiling = 0.0
        for s in range(reach):
            ceiling += mass[s] * 2.0 * min(k, s) / (k + s)
        if ceiling < floor:
            return k
    return p.size


@kernel
def _prefixes(p: Values, top: int, hits: Values) -> None:
    """Write into ``hits[k]`` the distribution of the number of ones among ``p[:k]``."""
    hits[0, 0] = 1.0
    for k in range(1, top + 1):
        hits[k, 0] = hits[k - 1, 0] * (1.0 - p[k - 1])
        for a in range(1, k):
            hits[k, a] = hits[k - 1, a] * (1.0 - p[k - 1]) + hits[k - 1, a - 1] * p[k - 1]
        hits[k, k] = hits[k - 1, k - 1] * p[k - 1]


@kernel
def best_sizes(P: Values, nothing: float, sizes: Integers, expected: Values) -> None:
    """Write, for each row of descending probabilities, how many labels to predict, and its value.

    With a = hits among the first k labels and b = ones among the others,
    F(k) = sum over a of P(a) 2 a E[1 / (k + a + b)]. The expectation G_k(c) = E[1 / (c + b)] obeys
    G_(k-1)(c) = p_k G_k(c + 1) + (1 - p_k) G_k(c), so all k together cost O(l²) at the worst
    (Ye, Chai, Lee and Chieu, 2012). Predicting nothing is worth ``nothing`` if nothing is true.
    Sizes that would part equal probabilities are passed over.
    """
    n = P.shape[1]
    mass = np.empty(n + 2)
    hits = np.empty((8, 8))
    inverse = np.empty(2 * n + 2)
    for i in range(P.shape[0]):
        p = P[i]
        reach = _count_ones(p, 0, mass)
        sizes[i], expected[i] = 0, nothing * mass[0]
        if p[0] <= 0.0:
            continue
        top = _largest_useful(mass, reach, p)
        while top < n and p[top] == p[top - 1]:
            top += 1
        if top >= hits.shape[0]:
            hits = np.empty((2 * top, 2 * top))
        _prefixes(p, top, hits)
        reach = _count_ones(p, top, mass)
        for c in range(1, 2 * top + 1):
            inverse[c] = 0.0
            for b in range(reach):
                inverse[c] += mass[b] / (c + b)
        for k in range(top, 0, -1):
            if k == n or p[k] < p[k - 1]:
                value = 0.0
                for a in range(1, k + 1):
                    value += hits[k, a] * 2.0 * a * inverse[k + a]
                if value >= expected[i] and (value > expected[i] or sizes[i] > 0):
                    sizes[i], expected[i] = k, value
            for c in range(1, 2 * k - 1):
                inverse[c] = p[k - 1] * inverse[c + 1] + (1.0 - p[k - 1]) * inverse[c]


# The label set of highest expected F1 when a handful of label sets are equally likely.

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
