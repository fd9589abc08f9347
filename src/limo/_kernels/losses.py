"""Sums over all (relevant, irrelevant) pairs of a row, without visiting the pairs.

A pair of a relevant score a and an irrelevant score b has the loss phi(z) of z = 1 + b - a, a piece
of a parabola and a line:

    phi(z) = curvature / 2 z^2            for 0 < z <= width
           = slope (z - width / 2)        for z > width,      0 for z <= 0.

With the p relevant scores of a row sorted and their running sums, an irrelevant score b needs
one search: with c = b + 1 its pairs are those with a < c, the first k ranks, and their loss is a
polynomial in c whose coefficients are k and the running sums of a and a^2 up to k.

The derivative by a relevant score is a sum over the irrelevant scores that form a pair with it. An
irrelevant score contributes the same to all ranks from 0 up to k, so only the ends of this range
are written to ``differences``; one running sum over the ranks, in ``gather``, then yields the
totals.

Items may have weights. A pair then has the product of the weights of its two items.
"""

from typing import NamedTuple

import numpy as np

from limo._kernels import kernel, vector_kernel
from limo._kernels.soft import Items, give, places_of, take
from limo._types import Booleans, Floats, Integers, Values

# With at most this many relevant or irrelevant scores, visiting all pairs of a row is faster.
FEW = 128

# If a bucket has more scores than this, a general sort is used instead.
_CROWDED = 16


class Relevant(NamedTuple):
    """The relevant scores of a row, sorted, with running sums and an index for searching.

    ``counts``, ``sums`` and ``squares`` are the sums of the weights of the lowest k scores, and of
    these times the scores and times their squares.

    Their range is divided into buckets of equal width; ``buckets`` holds for each how many scores
    are in lower ones, so that a search looks at the few scores of one bucket only.
    """

    ordered: Values
    weights: Values
    counts: Values
    sums: Values
    squares: Values
    buckets: Integers
    buckets_per_unit: float


@kernel
def prepare(ordered: Values, weights: Values) -> Relevant:
    """Running sums and the index of ascending relevant scores, at least one."""
    p = ordered.size
    counts, sums, squares = np.zeros(p + 1), np.zeros(p + 1), np.zeros(p + 1)
    for k in range(p):
        counts[k + 1] = counts[k] + weights[k]
        sums[k + 1] = sums[k] + weights[k] * ordered[k]
        squares[k + 1] = squares[k] + weights[k] * ordered[k] * ordered[k]
    index = np.zeros(2 * p + 1, dtype=np.int64)
    reach = ordered[-1] - ordered[0]
    per_unit = (2 * p - 1) / reach if reach > 0.0 else 0.0
    for k in range(p):
        index[int((ordered[k] - ordered[0]) * per_unit) + 1] += 1
    for bucket in range(2 * p):
        index[bucket + 1] += index[bucket]
    return Relevant(ordered, weights, counts, sums, squares, index, per_unit)


@kernel
def ascending(values: Values) -> Integers:
    """The order that sorts values: from buckets, unless some of these are crowded.

    Takes a quarter of the time of ``numpy.argsort`` as numba compiles it.
    """
    p, low = values.size, values.min()
    reach = values.max() - low
    per_unit = (2 * p - 1) / reach if reach > 0.0 else 0.0
    if not (np.isfinite(reach) and np.isfinite(per_unit)):
        return np.argsort(values)
    starts = np.zeros(2 * p + 1, dtype=np.int64)
    for k in range(p):
        starts[int((values[k] - low) * per_unit) + 1] += 1
    if starts.max() > _CROWDED:
        return np.argsort(values)
    for bucket in range(2 * p):
        starts[bucket + 1] += starts[bucket]
    order = np.empty(p, dtype=np.int64)
    for k in range(p):
        bucket = int((values[k] - low) * per_unit)
        order[starts[bucket]] = k
        starts[bucket] += 1
    for r in range(1, p):  # the items of a bucket are next to each other, in any order
        item, place = order[r], r
        while place > 0 and values[order[place - 1]] > values[item]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = item
    return order


@kernel
def _count_below(relevant: Relevant, value: float) -> int:
    """How many relevant scores are below ``value``."""
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
    irrelevant: Values,
    weights: Values,
    relevant: Relevant,
    shape: Values,
    differences: Values,
    slopes: Values,
) -> float:
    """Pair loss of irrelevant scores with all relevant ones; ``weights`` are empty if all are 1.

    Adds their derivatives to ``slopes``, and to the three rows of ``differences``, by rank of the
    relevant score: how many irrelevant items pair with it on the parabola, the sum of c over these,
    and how many pair with it on the line.
    """
    curvature, width, slope = shape[0], shape[1], shape[2]
    counts, sums, squares = relevant.counts, relevant.sums, relevant.squares
    lowest = relevant.ordered[0] - 1.0
    weight = 1.0
    n_acting = 0.0
    total_acting = 0.0
    value = 0.0
    for item in range(irrelevant.size):
        if irrelevant[item] > lowest:
            # On the parabola with ranks below k: begins at rank 0, which is added once for
            # all items after the loop, and ends at rank k.
            c = irrelevant[item] + 1.0
            if weights.size:
                weight = weights[item]
            k = _count_below(relevant, c)
            n_acting += weight
            total_acting += weight * c
            differences[0, k] -= weight
            differences[1, k] -= weight * c
            loss = 0.5 * curvature * (counts[k] * c * c - 2.0 * c * sums[k] + squares[k])
            change = curvature * (counts[k] * c - sums[k])
            if c - width > relevant.ordered[0]:
                # On the line with ranks below j: there the line replaces the parabola, in
                # the value, in the item's derivative and in the differences.
                j = _count_below(relevant, c - width)
                line = counts[j] * c - sums[j]
                loss += slope * (line - 0.5 * width * counts[j])
                loss -= 0.5 * curvature * (c * (line - sums[j]) + squares[j])
                change += slope * counts[j] - curvature * line
                differences[0, 0] -= weight
                differences[0, j] += weight
                differences[1, 0] -= weight * c
                differences[1, j] += weight * c
                differences[2, 0] += weight
                differences[2, j] -= weight
            value += weight * loss
            slopes[item] += weight * change
    differences[0, 0] += n_acting
    differences[1, 0] += total_acting
    return value


@kernel
def gather(relevant: Relevant, shape: Values, differences: Values, slopes: Values) -> None:
    """Write the derivative by each relevant score into ``slopes``, in ascending order of scores."""
    n_acting = 0.0
    total_acting = 0.0
    n_on_line = 0.0
    for r in range(slopes.size):
        n_acting += differences[0, r]
        total_acting += differences[1, r]
        n_on_line += differences[2, r]
        parabola = total_acting - n_acting * relevant.ordered[r]
        slopes[r] = relevant.weights[r] * (-shape[0] * parabola - shape[2] * n_on_line)


@vector_kernel
def visit(relevant: Values, irrelevant: Values, shape: Values, up: Values, down: Values) -> float:
    """The same as ``_search``, pair by pair, for items of weight 1.

    A rounded hinge, a parabola up to ``width`` and a line beyond, has the slope curvature *
    min(z, width) everywhere; the hinge has no parabola.
    """
    width = shape[1]
    factor: float = shape[0] if shape[0] > 0.0 else shape[2]
    value = 0.0
    for k in range(relevant.size):
        corner = relevant[k] - 1.0
        loss, total = 0.0, 0.0
        if width > 0.0:
            for item in range(irrelevant.size):
                z = irrelevant[item] - corner
                z = 0.0 if z <= 0.0 else z
                bent = z if z <= width else width
                loss += bent * (z - 0.5 * bent)
                total += bent
                down[item] += bent
        else:
            for item in range(irrelevant.size):
                z = irrelevant[item] - corner
                step = 0.0 if z <= 0.0 else 1.0
                loss += step * z
                total += step
                down[item] += step
        value += loss
        up[k] = -factor * total
    down *= factor
    return factor * value


@kernel
def _search(
    relevant: Values,
    irrelevant: Values,
    w_rel: Values,
    w_irr: Values,
    shape: Values,
    up: Values,
    down: Values,
) -> float:
    """Pair loss of a row, by sorting its relevant scores."""
    order = ascending(relevant)
    prepared = prepare(relevant[order], w_rel[order] if w_rel.size else np.ones(order.size))
    differences, slopes = np.zeros((3, relevant.size + 1)), np.empty(relevant.size)
    value = scan(irrelevant, w_irr, prepared, shape, differences, down)
    gather(prepared, shape, differences, slopes)
    up[order] = slopes
    return value


@kernel
def _pair_loss(
    relevant: Values,
    irrelevant: Values,
    w_rel: Values,
    w_irr: Values,
    shape: Values,
    up: Values,
    down: Values,
) -> float:
    """The sum over all pairs of a row; writes its derivatives by both kinds of scores.

    The weights of the items are empty if all are 1.
    """
    down[:] = 0.0
    if w_rel.size == 0 and min(relevant.size, irrelevant.size) <= FEW:
        return visit(relevant, irrelevant, shape, up, down)
    return _search(relevant, irrelevant, w_rel, w_irr, shape, up, down)


@kernel
def add_row_pairs(
    rows: Floats, items: Items, weights: Values, shape: Values, gradient: Floats
) -> float:
    """The sum of the rows' weighted pair losses; adds its derivatives to ``gradient``.

    Rows whose weight is 0 are skipped. O(p log p + n log p) per row, or O(pn) if p or n is small.
    """
    total = 0.0
    scratch = np.empty((3, rows.shape[1]))
    for i in range(rows.shape[0]):
        places, marks, p = places_of(items, i)
        if weights[i] == 0.0 or p == 0:
            continue
        known = rows.shape[1] - places.size + p
        scores, slopes, own = scratch[0, :known], scratch[1, :known], scratch[2, :0]
        take(rows[i], places, marks, scores[:p], scores[p:])
        if items.weights.size:
            own = scratch[2, :known]
            take(items.weights, places, marks, own[:p], own[p:])
        value = _pair_loss(scores[:p], scores[p:], own[:p], own[p:], shape, slopes[:p], slopes[p:])
        give(weights[i], slopes[:p], slopes[p:], places, marks, gradient[i])
        total += weights[i] * value
    return total


@kernel
def mean_pairs(
    rows: Floats,
    relevant: Booleans,
    irrelevant: Booleans,
    shape: Values,
    values: Floats,
    slopes: Floats,
) -> None:
    """Write the mean pair loss of each row, and its derivatives.

    Items that are neither relevant nor irrelevant are left out. Rows without pairs give 0, rows
    with a score that is not finite nan.
    """
    n_items = rows.shape[1]
    up, down = np.empty(n_items + 1), np.empty(n_items + 1)
    d_up, d_down = np.empty(n_items), np.empty(n_items)
    for i in range(rows.shape[0]):
        p = n = 0
        finite = True
        for item in range(n_items):
            up[p] = down[n] = rows[i, item]
            p += relevant[i, item]
            n += irrelevant[i, item]
            left_out = not (relevant[i, item] or irrelevant[i, item])
            finite = finite and (left_out or np.isfinite(rows[i, item]))
        if p == 0 or n == 0 or not finite:
            values[i] = slopes[i] = 0.0 if p == 0 or n == 0 else np.nan
            continue
        share = 1.0 / (p * n)
        values[i] = share * _pair_loss(
            up[:p], down[:n], up[:0], up[:0], shape, d_up[:p], d_down[:n]
        )
        p = n = 0
        for item in range(n_items):
            slopes[i, item] = 0.0
            if relevant[i, item]:
                slopes[i, item] = share * d_up[p]
                p += 1
            elif irrelevant[i, item]:
                slopes[i, item] = share * d_down[n]
                n += 1


@kernel
def _pair_curvatures(
    scores: Values, moves: Values, own: Values, p: int, between: float, out: Values
) -> None:
    """Write the second derivatives of the pair loss of a row, for a parabola of curvature 1.

    Relevant items come first. ``moves`` and ``between`` are as for ``add_row_curvatures``, ``own``
    are the weights of the items.
    """
    order = ascending(scores[:p])
    relevant = prepare(scores[:p][order], own[:p][order])
    sums = np.zeros(p + 1)
    for r in range(p):
        sums[r + 1] = sums[r] + own[order[r]] * moves[order[r]]
    differences = np.zeros((2, p + 1))
    for item in range(p, scores.size):
        k = _count_below(relevant, scores[item] + 1.0)
        differences[0, k] += own[item]
        differences[1, k] += own[item] * moves[item]
        out[item] = own[item] * (relevant.counts[k] * moves[item] - between * sums[k])
    # An irrelevant item with count k acts on the ranks below k.
    n_acting, total = 0.0, 0.0
    for r in range(p - 1, -1, -1):
        n_acting += differences[0, r + 1]
        total += differences[1, r + 1]
        item = order[r]
        out[item] = own[item] * (n_acting * moves[item] - between * total)


@kernel
def add_row_curvatures(
    rows: Floats,
    directions: Floats,
    items: Items,
    weights: Values,
    curvature: float,
    between: float,
    out: Floats,
) -> float:
    """Add the second derivatives of the rows' weighted pair losses, a parabola without a line.

    With ``between=1``, their product with ``directions``. With 0, without the derivatives by two
    different items: if all ``directions`` are 1, that is the diagonal.
    """
    scratch = np.empty((4, rows.shape[1]))
    for i in range(rows.shape[0]):
        places, marks, p = places_of(items, i)
        if weights[i] == 0.0 or p == 0:
            continue
        known = rows.shape[1] - places.size + p
        scores, moves = scratch[0, :known], scratch[1, :known]
        own, curvatures = scratch[2, :known], scratch[3, :known]
        take(rows[i], places, marks, scores[:p], scores[p:])
        take(directions[i], places, marks, moves[:p], moves[p:])
        own[:] = 1.0
        if items.weights.size:
            take(items.weights, places, marks, own[:p], own[p:])
        _pair_curvatures(scores, moves, own, p, between, curvatures)
        give(curvature * weights[i], curvatures[:p], curvatures[p:], places, marks, out[i])
    return 0.0


# Products with matrices, a range of rows at a time so that threads can share them


@kernel
def multiply_rows(
    indptr: Integers, indices: Integers, data: Values, B: Values, out: Values, start: int, stop: int
) -> None:
    """Out = A B for the rows ``start`` to ``stop`` of the CSR matrix A.

    Four nonzeros at a time, so that a row of the result is read and written less often: a product
    takes about three quarters of the time.
    """
    for i in range(start, stop):
        row = out[i]
        row[:] = 0.0
        k, end = indptr[i], indptr[i + 1]
        while k + 4 <= end:
            w0, w1, w2, w3 = data[k], data[k + 1], data[k + 2], data[k + 3]
            b0, b1, b2, b3 = B[indices[k]], B[indices[k + 1]], B[indices[k + 2]], B[indices[k + 3]]
            for j in range(row.size):
                row[j] += w0 * b0[j] + w1 * b1[j] + w2 * b2[j] + w3 * b3[j]
            k += 4
        while k < end:
            w0, b0 = data[k], B[indices[k]]
            for j in range(row.size):
                row[j] += w0 * b0[j]
            k += 1


@kernel
def add_sparse_product(
    indptr: Integers,
    indices: Integers,
    data: Values,
    starts: Integers,
    places: Integers,
    values: Values,
    out: Values,
) -> None:
    """Out += A' B for the CSR matrices A = (indptr, indices, data) and B = (starts, places, ...).

    They have the same number of rows.
    """
    for i in range(indptr.size - 1):
        for k in range(indptr[i], indptr[i + 1]):
            row = out[indices[k]]
            for j in range(starts[i], starts[i + 1]):
                row[places[j]] += data[k] * values[j]


@kernel
def add_transposed(block: Values, start: int, matrix: Values) -> None:
    """Add the rows of ``block`` to the columns of ``matrix`` from ``start`` on, in tiles."""
    n_columns, n_rows = block.shape
    for top in range(0, n_rows, 64):
        for j in range(n_columns):
            for i in range(top, min(top + 64, n_rows)):
                matrix[i, start + j] += block[j, i]
