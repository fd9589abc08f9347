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
"""

from typing import NamedTuple

import numpy as np

from limo._kernels import kernel, vector_kernel
from limo._kernels.soft import give, take
from limo._types import Booleans, Floats, Integers, Values

# With at most this many relevant or irrelevant scores, visiting all pairs of a row is faster.
FEW = 128


class Relevant(NamedTuple):
    """The relevant scores of a row, sorted, with running sums and an index for searching.

    Their range is divided into buckets of equal width; ``buckets`` holds for each how many scores
    are in lower ones, so that a search looks at the few scores of one bucket only.
    """

    ordered: Values
    sums: Values
    squares: Values
    buckets: Integers
    buckets_per_unit: float


@kernel
def prepare(ordered: Values) -> Relevant:
    """Running sums and the index of ascending relevant scores, at least one."""
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
    row: Floats,
    places: Integers,
    relevant: Relevant,
    shape: Values,
    differences: Values,
    weight: float,
    gradient: Floats,
) -> float:
    """Pair loss of the items of a row that are not in ``places``, with all relevant scores.

    Adds their derivatives times ``weight`` to ``gradient``, and to the three rows of
    ``differences``, by rank of the relevant score: how many irrelevant items pair with it on the
    parabola, the sum of c over these, and how many pair with it on the line.
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
                # On the parabola with ranks below k: begins at rank 0, which is added once for
                # all items after the loop, and ends at rank k.
                c = row[item] + 1.0
                k = _count_below(relevant, c)
                n_acting += 1
                total_acting += c
                differences[0, k] -= 1.0
                differences[1, k] -= c
                value += 0.5 * curvature * (k * c * c - 2.0 * c * sums[k] + squares[k])
                change = curvature * (k * c - sums[k])
                if c - width > relevant.ordered[0]:
                    # On the line with ranks below j: there the line replaces the parabola, in
                    # the value, in the item's derivative and in the differences.
                    j = _count_below(relevant, c - width)
                    line = j * c - sums[j]
                    value += slope * (line - 0.5 * width * j)
                    value -= 0.5 * curvature * (c * (line - sums[j]) + squares[j])
                    change += slope * j - curvature * line
                    differences[0, 0] -= 1.0
                    differences[0, j] += 1.0
                    differences[1, 0] -= c
                    differences[1, j] += c
                    differences[2, 0] += 1.0
                    differences[2, j] -= 1.0
                gradient[item] += weight * change
        start = stop + 1
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
        slopes[r] = -shape[0] * parabola - shape[2] * n_on_line


@vector_kernel
def visit(relevant: Values, irrelevant: Values, shape: Values, up: Values, down: Values) -> float:
    """The same as ``_search``, pair by pair.

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
def _search(relevant: Values, irrelevant: Values, shape: Values, up: Values, down: Values) -> float:
    """Pair loss of a row, by sorting its relevant scores."""
    order = np.argsort(relevant)
    prepared = prepare(relevant[order])
    differences, slopes = np.zeros((3, relevant.size + 1)), np.empty(relevant.size)
    value = scan(irrelevant, order[:0], prepared, shape, differences, 1.0, down)
    gather(prepared, shape, differences, slopes)
    up[order] = slopes
    return value


@kernel
def _pair_loss(
    relevant: Values, irrelevant: Values, shape: Values, up: Values, down: Values
) -> float:
    """The sum over all pairs of a row; writes its derivatives by both kinds of scores."""
    down[:] = 0.0
    if min(relevant.size, irrelevant.size) <= FEW:
        return visit(relevant, irrelevant, shape, up, down)
    return _search(relevant, irrelevant, shape, up, down)


@kernel
def add_row_pairs(
    rows: Floats,
    indptr: Integers,
    indices: Integers,
    weights: Values,
    shape: Values,
    gradient: Floats,
) -> float:
    """The sum of the rows' weighted pair losses; adds its derivatives to ``gradient``.

    Rows whose weight is 0 are skipped. O(p log p + n log p) per row, or O(pn) if p or n is small.
    """
    total = 0.0
    scores, slopes = np.empty(rows.shape[1]), np.empty(rows.shape[1])
    for i in range(rows.shape[0]):
        places = indices[indptr[i] : indptr[i + 1]]
        p = places.size
        if weights[i] == 0.0 or p == 0:
            continue
        take(rows[i], places, scores[:p], scores[p:])
        value = _pair_loss(scores[:p], scores[p:], shape, slopes[:p], slopes[p:])
        give(weights[i], slopes[:p], slopes[p:], places, gradient[i])
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
        values[i] = share * _pair_loss(up[:p], down[:n], shape, d_up[:p], d_down[:n])
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
def add_row_curvatures(
    rows: Floats,
    directions: Floats,
    indptr: Integers,
    indices: Integers,
    weights: Values,
    curvature: float,
    between: float,
    out: Floats,
) -> float:
    """Add the second derivatives of the rows' weighted pair losses, a parabola without a line.

    With ``between=1``, their product with ``directions``. With 0, without the derivatives by two
    different items: if all ``directions`` are 1, that is the diagonal.
    """
    for i in range(rows.shape[0]):
        places = indices[indptr[i] : indptr[i + 1]]
        if weights[i] == 0.0 or places.size == 0:
            continue
        factor = curvature * weights[i]
        scores, sums = np.empty(places.size), np.zeros(places.size + 1)
        for r in range(places.size):
            scores[r] = rows[i, places[r]]
        order = np.argsort(scores)
        relevant = prepare(scores[order])
        for r in range(places.size):
            sums[r + 1] = sums[r] + directions[i, places[order[r]]]
        differences = np.zeros((2, places.size + 1))
        start = 0
        for r in range(places.size + 1):
            stop = places[r] if r < places.size else rows.shape[1]
            for item in range(start, stop):
                k = _count_below(relevant, rows[i, item] + 1.0)
                move = directions[i, item]
                differences[0, k] += 1.0
                differences[1, k] += move
                out[i, item] += factor * (k * move - between * sums[k])
            start = stop + 1
        # An irrelevant item with count k acts on the ranks below k.
        n_acting, total = 0.0, 0.0
        for r in range(places.size - 1, -1, -1):
            n_acting += differences[0, r + 1]
            total += differences[1, r + 1]
            item = places[order[r]]
            out[i, item] += factor * (n_acting * directions[i, item] - between * total)
    return 0.0


# Products with matrices, a range of rows at a time so that threads can share them


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
