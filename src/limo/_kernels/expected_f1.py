"""The label set of highest expected F1: from independent probabilities, or by GFM."""

import numpy as np

from limo._kernels import kernel
from limo._types import Anything, Integers, Values

# The tail of a distribution below this mass is dropped: far less than the rounding error.
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
    E[2 min(k, |y|) / (k + |y|)], which falls once k exceeds the reach of |y|; and the single
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
    """Write how many labels to predict for each row of descending probabilities, and the value.

    With a = hits among the first k labels and b = ones among the others,
    F(k) = sum over a of P(a) 2 a E[1 / (k + a + b)]. The expectation G_k(c) = E[1 / (c + b)] obeys
    G_(k-1)(c) = p_k G_k(c + 1) + (1 - p_k) G_k(c), so all k together cost at most O(l²)
    (Ye, Chai, Lee and Chieu, 2012). Predicting nothing is worth ``nothing`` if nothing is true.
    Sizes that would separate equal probabilities are skipped.
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


# GFM: from P(y_j = 1, |y| = s), without assuming independence

# Values of two sizes that differ by less are equal, and the smaller size is taken.
_ROUNDING = 1e-12


@kernel
def _worth_of(joint: Values, sizes: Integers, size: int, worth: Values) -> None:
    """Write what each label adds to half the expected F1 of a set of ``size`` labels.

    The sum over s of P(y_j = 1, |y| = s) / (s + size). Labels with equal rows have equal worth.
    """
    for j in range(worth.size):
        worth[j] = 0.0
        for s in range(sizes.size):
            worth[j] += joint[j, s] / (sizes[s] + size)


@kernel
def _best_set(joint: Values, sizes: Integers, nothing: float, chosen: Integers) -> int:
    """Write the label set of highest expected F1 into ``chosen``; return its size.

    ``joint[j, s]`` is P(y_j = 1, |y| = sizes[s]), or a multiple of it. Predicting nothing is
    worth ``nothing``. For each size the best set takes the labels that are worth most, of equal
    ones the first. O(n (n S + n log n)) for n labels and S sizes.
    """
    n = joint.shape[0]
    worth = np.empty(n)
    best_size, best_value = 0, nothing / 2.0
    for size in range(1, n + 1):
        _worth_of(joint, sizes, size, worth)
        value = np.sort(worth)[n - size :].sum()
        if value > best_value * (1.0 + _ROUNDING):
            best_size, best_value = size, value
    if best_size > 0:
        _worth_of(joint, sizes, best_size, worth)
        chosen[:best_size] = np.argsort(-worth, kind="mergesort")[:best_size]
    return best_size


@kernel
def best_joint_sets(J: Values, nothing: Values, labels: Integers) -> None:
    """Set in each row of ``labels`` the set of highest expected F1, from the GFM matrix ``J``.

    ``J[i, j, s - 1]`` is P(y_j = 1, |y| = s); ``nothing[i]`` is the value of predicting nothing.
    """
    sizes = np.arange(1, J.shape[2] + 1)
    chosen = np.empty(J.shape[1], np.int64)
    for i in range(J.shape[0]):
        for u in range(_best_set(J[i], sizes, nothing[i], chosen)):
            labels[i, chosen[u]] = 1


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
def best_neighbour_sets(
    neighbours: Integers, indptr: Integers, indices: Integers, nothing: float, chosen: Anything
) -> None:
    """Set in each row of ``chosen`` the labels of the set with the highest expected F1.

    The labels of instance i are those of one of the rows ``neighbours[i]`` of a 0/1 matrix, each
    equally likely. Only labels that a neighbour has can help, so the GFM matrix is made for these
    labels and the sizes that occur. Predicting nothing is worth ``nothing`` if nothing is true.
    """
    place = np.full(chosen.shape[1], -1)
    union = np.empty(chosen.shape[1], np.int64)
    best = np.empty(chosen.shape[1], np.int64)
    for i in range(neighbours.shape[0]):
        rows = neighbours[i]
        ones = indptr[rows + 1] - indptr[rows]
        sizes = np.unique(ones)
        n = _gather(rows, indptr, indices, place, union)
        counts = np.zeros((n, sizes.size))
        for r in range(rows.size):
            s = np.searchsorted(sizes, ones[r])
            for e in range(indptr[rows[r]], indptr[rows[r] + 1]):
                counts[place[indices[e]], s] += 1.0
        for u in range(_best_set(counts, sizes, nothing * np.sum(ones == 0), best)):
            chosen[i, union[best[u]]] = True
        place[union[:n]] = -1
