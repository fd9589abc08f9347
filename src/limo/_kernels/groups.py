"""Losses of groups of entries whose scores are spread over blocks of instances.

A group is a label with its instances, or the whole matrix. Its relevant scores are few, and known
to every block. A block visits its own irrelevant entries: it adds their derivatives to its own
matrix, and their part of the derivatives by the relevant scores, which is called owed, to arrays
that add up. ``limo._kernels.losses`` and ``limo._kernels.soft`` have the formulas.

Every row of a block belongs to one group, ``groups[i]``: the rows are columns of the matrix of
scores, copied, or its rows where the whole matrix is one group.
"""

from typing import NamedTuple

import numpy as np

from limo._kernels import kernel
from limo._kernels.losses import FEW, Relevant, gather, prepare, scan, visit
from limo._kernels.soft import BOTTOM, TOP, Items, give, places_of, soft_step, take
from limo._types import Floats, Integers, Values


class Sorted(NamedTuple):
    """The relevant scores of all groups, sorted within each, as :class:`Relevant` has them.

    Those of group g are ``ordered[starts[g]:starts[g + 1]]``. Its running sums, with one number
    more per group, begin at ``starts[g] + g``, and its buckets at ``2 * starts[g] + g``.
    """

    starts: Integers
    ordered: Values
    weights: Values
    counts: Values
    sums: Values
    squares: Values
    buckets: Integers
    buckets_per_unit: Values


@kernel
def sort_groups(scores: Values, members: Integers, starts: Integers, order: Integers) -> None:
    """Write the members of each group in ascending order of their scores."""
    for g in range(starts.size - 1):
        own = members[starts[g] : starts[g + 1]]
        order[starts[g] : starts[g + 1]] = own[np.argsort(scores[own])]


@kernel
def prepare_groups(ordered: Values, weights: Values, starts: Integers) -> Sorted:
    """Running sums and search indices of all groups."""
    n_groups, n = starts.size - 1, ordered.size
    running = np.zeros((3, n + n_groups))
    buckets, per_unit = np.zeros(2 * n + n_groups, dtype=np.int64), np.zeros(n_groups)
    for g in range(n_groups):
        start, stop = starts[g], starts[g + 1]
        if stop > start:
            group = prepare(ordered[start:stop], weights[start:stop])
            running[0, start + g : stop + g + 1] = group.counts
            running[1, start + g : stop + g + 1] = group.sums
            running[2, start + g : stop + g + 1] = group.squares
            buckets[2 * start + g : 2 * stop + g + 1] = group.buckets
            per_unit[g] = group.buckets_per_unit
    return Sorted(starts, ordered, weights, running[0], running[1], running[2], buckets, per_unit)


@kernel
def _relevant_of(known: Sorted, g: int) -> Relevant:
    start, stop = known.starts[g], known.starts[g + 1]
    return Relevant(
        known.ordered[start:stop],
        known.weights[start:stop],
        known.counts[start + g : stop + g + 1],
        known.sums[start + g : stop + g + 1],
        known.squares[start + g : stop + g + 1],
        known.buckets[2 * start + g : 2 * stop + g + 1],
        known.buckets_per_unit[g],
    )


@kernel
def _differences_of(differences: Values, known: Sorted, g: int) -> Values:
    """The three rows of differences of a group, which lie one after the other."""
    start, stop = known.starts[g], known.starts[g + 1]
    own = differences[3 * (start + g) : 3 * (stop + g + 1)]
    return own.reshape((3, stop - start + 1))


@kernel
def scan_groups(
    rows: Floats,
    items: Items,
    row_weights: Values,
    groups: Integers,
    weights: Values,
    known: Sorted,
    few: int,
    shape: Values,
    differences: Values,
    owed: Values,
    out: Floats,
) -> float:
    """Weighted pair loss of the irrelevant items of these rows with all relevant ones of a group.

    ``row_weights`` are those of the items of each row, besides their own. Adds their derivatives to
    ``out``, and what the relevant scores are owed, in their sorted order, to ``owed`` for items of
    weight 1 in groups of at most ``few``, to ``differences`` for the others.
    """
    total = 0.0
    scratch = np.zeros((4, max(FEW, rows.shape[1])))
    for i in range(rows.shape[0]):
        g = groups[i]
        start, stop = known.starts[g], known.starts[g + 1]
        if weights[g] == 0.0 or stop == start:
            continue
        places, marks, p = places_of(items, i)
        n = rows.shape[1] - places.size
        scores, slopes, own, up = scratch[0, :n], scratch[1, :n], scratch[2, :n], scratch[3]
        take(rows[i], places, marks, up[:p], scores)
        slopes[:] = 0.0
        if stop - start <= few and items.weights.size == 0 and row_weights[i] == 1.0:
            value = visit(known.ordered[start:stop], scores, shape, up[: stop - start], slopes)
            for k in range(stop - start):
                owed[start + k] += weights[g] * up[k]
        else:
            own[:] = 1.0
            if items.weights.size:
                take(items.weights, places, marks, up[:p], own)
            own *= row_weights[i]
            changes = _differences_of(differences, known, g)
            value = scan(scores, own, _relevant_of(known, g), shape, changes, slopes)
        total += weights[g] * value
        up[:p] = 0.0
        give(weights[g], up[:p], slopes, places, marks, out[i])
    return total


@kernel
def owe_groups(
    known: Sorted, weights: Values, shape: Values, differences: Values, owed: Values
) -> None:
    """Add what ``differences`` owe to the relevant scores, in their sorted order."""
    for g in range(weights.size):
        start, stop = known.starts[g], known.starts[g + 1]
        if weights[g] != 0.0 and stop > start:
            slopes = np.empty(stop - start)
            gather(_relevant_of(known, g), shape, _differences_of(differences, known, g), slopes)
            for k in range(stop - start):
                owed[start + k] += weights[g] * slopes[k]


# Log-sum-exps


@kernel
def log_sum_rows(rows: Floats, items: Items, row_weights: Values, levels: Values) -> None:
    """Write the log-sum-exp of the irrelevant scores of each row; -inf if there are none."""
    for i in range(rows.shape[0]):
        highest, total = -np.inf, 0.0
        r, stop = items.indptr[i], items.indptr[i + 1]
        for item in range(rows.shape[1]):
            if r < stop and items.indices[r] == item:
                r += 1
                continue
            weight = row_weights[i]
            if items.weights.size:
                weight *= items.weights[item]
            score = rows[i, item]
            if score > highest:
                total *= np.exp(highest - score)
                highest = score
            total += weight * np.exp(score - highest)
        levels[i] = highest + np.log(total) if total > 0.0 else -np.inf


@kernel
def meet_groups(
    kind: int,
    scores: Values,
    shares: Values,
    starts: Integers,
    n_irrelevant: Values,
    weights: Values,
    levels: Values,
    factors: Values,
    slopes: Values,
) -> float:
    """The part of top, bottom or worst of each group that needs the relevant ``scores`` alone.

    ``shares`` are their weights. ``levels`` are the log-sum-exps of the irrelevant scores; for
    bottom, they become those of the negated relevant ones. ``factors`` become those of
    :func:`add_group_shares` and :func:`add_group_steps`; ``slopes`` the derivatives by the relevant
    scores, which bottom still multiplies by what the irrelevant entries add up to. Returns the
    weighted loss, 0 for bottom.
    """
    total = 0.0
    for g in range(weights.size):
        own = scores[starts[g] : starts[g + 1]]
        share = shares[starts[g] : starts[g + 1]]
        result = slopes[starts[g] : starts[g + 1]]
        factors[g] = 0.0
        result[:] = 0.0
        if weights[g] == 0.0 or own.size == 0:
            continue
        if kind == TOP:
            whole = share.sum()
            for k in range(own.size):
                value, s = soft_step(levels[g] - own[k])
                total += weights[g] * value * share[k] / whole
                result[k] = -weights[g] * s * share[k] / whole
                factors[g] -= result[k]
            continue
        lowest = own.min()
        above = -lowest + np.log((share * np.exp(lowest - own)).sum())
        result[:] = -share * np.exp(-own - above)
        if kind == BOTTOM:
            levels[g] = above
            factors[g] = weights[g] / n_irrelevant[g]
        else:
            value, s = soft_step(levels[g] + above)
            total += weights[g] * value
            factors[g] = weights[g] * s
            result *= factors[g]
    return total


@kernel
def add_group_shares(
    rows: Floats,
    items: Items,
    row_weights: Values,
    groups: Integers,
    levels: Values,
    factors: Values,
    out: Floats,
) -> float:
    """Add factor * exp(score - level) for the irrelevant scores; levels and factors by group."""
    for i in range(rows.shape[0]):
        level, factor = levels[groups[i]], factors[groups[i]] * row_weights[i]
        if factor == 0.0:
            continue
        r, stop = items.indptr[i], items.indptr[i + 1]
        for item in range(rows.shape[1]):
            if r < stop and items.indices[r] == item:
                r += 1
                continue
            change = factor * np.exp(rows[i, item] - level)
            out[i, item] += change * items.weights[item] if items.weights.size else change
    return 0.0


@kernel
def add_group_steps(
    rows: Floats,
    items: Items,
    row_weights: Values,
    groups: Integers,
    levels: Values,
    factors: Values,
    pulls: Values,
    out: Floats,
) -> float:
    """The sum of factor * softplus(score + level) over the irrelevant scores.

    Adds its derivatives to ``out``, and their sum by group to ``pulls``.
    """
    total = 0.0
    for i in range(rows.shape[0]):
        level, factor = levels[groups[i]], factors[groups[i]] * row_weights[i]
        if factor == 0.0:
            continue
        pull = 0.0
        r, stop = items.indptr[i], items.indptr[i + 1]
        for item in range(rows.shape[1]):
            if r < stop and items.indices[r] == item:
                r += 1
                continue
            own = factor * items.weights[item] if items.weights.size else factor
            loss, s = soft_step(rows[i, item] + level)
            total += own * loss
            pull += own * s
            out[i, item] += own * s
        pulls[groups[i]] += pull
    return total


# Between the relevant scores


@kernel
def count_gaps(
    rows: Floats,
    indptr: Integers,
    indices: Integers,
    groups: Integers,
    starts: Integers,
    ordered: Values,
    counts: Integers,
    highest: Values,
) -> None:
    """Count the irrelevant scores in each gap between the sorted relevant scores of their group.

    The gap k of a group with p relevant scores has the scores from the k-th on that are below the
    next one, k from 0 to p; those of group g begin at ``starts[g] + g``. ``highest`` becomes the
    highest score of each gap.
    """
    for i in range(rows.shape[0]):
        start, end = starts[groups[i]], starts[groups[i] + 1]
        first = start + groups[i]
        r, stop = indptr[i], indptr[i + 1]
        for item in range(rows.shape[1]):
            if r < stop and indices[r] == item:
                r += 1
                continue
            score = rows[i, item]
            gap = first + np.searchsorted(ordered[start:end], score, side="right")
            counts[gap] += 1
            highest[gap] = max(highest[gap], score)
