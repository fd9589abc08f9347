"""Assign rows to folds by iterative stratification, and draw synthetic sparse rows.

Stratification follows K. Sechidis, G. Tsoumakas, I. Vlahavas, "On the stratification of
multi-label data", ECML PKDD 2011, but fold sizes are exact: a full fold gets no more rows.
"""

import heapq
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from limo._kernels import kernel


class FoldAssignment(NamedTuple):
    """The labels, by instance and by label, and what remains to be assigned."""

    indptr: NDArray[np.int64]  # labels of each instance
    indices: NDArray[np.int64]
    label_indptr: NDArray[np.int64]  # instances of each label, in random order
    label_rows: NDArray[np.int64]
    rest: NDArray[np.int64]  # instances of each label without a fold
    left: NDArray[np.int64]  # rows that each fold can still take
    wanted: NDArray[np.float64]  # (labels, folds): positives that each fold should still get
    tie: NDArray[np.float64]  # (instances, folds): random numbers that break ties
    fold: NDArray[np.int64]  # the result; -1: no fold yet


@kernel
def _choose(state: FoldAssignment, row: int, label: int) -> int:
    """The fold that needs the label most; among equals, the one that can take most rows."""
    best = -1
    for fold in range(len(state.left)):
        if state.left[fold] <= 0:
            continue
        if best < 0:
            best = fold
            continue
        gain = state.wanted[label, fold] - state.wanted[label, best] if label >= 0 else 0.0
        if gain == 0.0:
            gain = float(state.left[fold] - state.left[best])
        if gain == 0.0:
            gain = state.tie[row, fold] - state.tie[row, best]
        if gain > 0.0:
            best = fold
    return best


@kernel
def _put(
    state: FoldAssignment, row: int, fold: int, queue: list[tuple[np.int64, np.int64]]
) -> None:
    """Assign the row to the fold, and queue its labels with their new counts."""
    state.fold[row] = fold
    state.left[fold] -= 1
    for k in range(state.indptr[row], state.indptr[row + 1]):
        label = state.indices[k]
        state.wanted[label, fold] -= 1.0
        state.rest[label] -= 1
        heapq.heappush(queue, (state.rest[label], label))


@kernel
def assign_folds(state: FoldAssignment, order: NDArray[np.int64]) -> None:
    """Fill ``state.fold``, beginning with the label that has the fewest instances left.

    Rows without labels come last, in ``order``. Takes O(n log n + n folds) for n ones in ``Y``.
    """
    queue = [(np.int64(state.rest[j]), np.int64(j)) for j in range(len(state.rest))]
    heapq.heapify(queue)
    while len(queue) > 0:
        count, next_label = heapq.heappop(queue)
        label = int(next_label)
        if count == 0 or count != state.rest[label]:
            continue  # nothing left, or an outdated entry: the label was queued again
        for k in range(state.label_indptr[label], state.label_indptr[label + 1]):
            row = state.label_rows[k]
            if state.fold[row] < 0:
                _put(state, row, _choose(state, row, label), queue)
    for row in order:
        if state.fold[row] < 0:
            _put(state, row, _choose(state, row, -1), queue)


# Synthetic sparse rows: few frequent columns, a long tail of rare ones, no cell twice.

_TRIES = 8


class SparseRows(NamedTuple):
    """CSR rows to fill, and the last row that used each column (-1: none)."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    last_row: NDArray[np.int64]


@kernel
def _below(rng: np.random.Generator, n: int) -> int:
    """One of 0 to n - 1, all equally likely."""
    return int(rng.random() * n)


@kernel
def _zipf(rng: np.random.Generator, n: int, log: float) -> int:
    """One of 0 to n - 1, low ones more likely; ``log`` is the logarithm of n + 1."""
    return min(int(math.exp(rng.random() * log)) - 1, n - 1)


@kernel
def _take(last_row: NDArray[np.int64], row: int, column: int) -> int:
    """The column, or the next one that the row does not have yet; it is marked as used."""
    while last_row[column] == row:
        column = (column + 1) % len(last_row)
    last_row[column] = row
    return column


@kernel
def _draw_label(rng: np.random.Generator, n: int, first: int, n_groups: int, bond: float) -> int:
    """A label by frequency; with probability ``bond`` from the group of ``first``."""
    if first < 0 or rng.random() >= bond:
        return _zipf(rng, n, math.log(n + 1.0))
    group = first % n_groups
    size = (n - group + n_groups - 1) // n_groups
    return group + n_groups * _zipf(rng, size, math.log(size + 1.0))


@kernel
def draw_labels(rng: np.random.Generator, rows: SparseRows, n_groups: int, bond: float) -> None:
    """Fill ``rows`` with labels; low numbers are frequent, a group is one remainder class."""
    indptr, indices, last_row = rows
    n = len(last_row)
    for row in range(len(indptr) - 1):
        start, end = indptr[row], indptr[row + 1]
        for place in range(start, end):
            first = indices[start] if place > start else -1
            label = _draw_label(rng, n, first, n_groups, bond)
            for _ in range(_TRIES):
                if last_row[label] != row:
                    break
                label = _draw_label(rng, n, first, n_groups, bond)
            indices[place] = _take(last_row, row, label)
        indices[start:end].sort()


@kernel
def _draw_feature(
    rng: np.random.Generator,
    d: int,
    log: float,
    labels: NDArray[np.int32],
    topics: NDArray[np.int64],
) -> int:
    """A feature from the topic of one of the labels, or by frequency alone."""
    if len(labels) > 0 and rng.random() < 0.5:
        label = labels[_below(rng, len(labels))]
        return int(topics[label, _below(rng, topics.shape[1])])
    return _zipf(rng, d, log)


@kernel
def draw_features(
    rng: np.random.Generator, rows: SparseRows, labels: SparseRows, topics: NDArray[np.int64]
) -> None:
    """Fill ``rows`` with features: half of them from the topics of the labels, half noise."""
    indptr, indices, last_row = rows
    d = len(last_row)
    log = math.log(d + 1.0)
    for row in range(len(indptr) - 1):
        own = labels.indices[labels.indptr[row] : labels.indptr[row + 1]]
        start, end = indptr[row], indptr[row + 1]
        for place in range(start, end):
            feature = _draw_feature(rng, d, log, own, topics)
            for _ in range(_TRIES):
                if last_row[feature] != row:
                    break
                feature = _draw_feature(rng, d, log, own, topics)
            indices[place] = _take(last_row, row, feature)
        indices[start:end].sort()
