"""Iterative stratification: share out instances so that every label is shared out in proportion.

K. Sechidis, G. Tsoumakas, I. Vlahavas, "On the stratification of multi-label data", ECML PKDD
2011; here with exact fold sizes: a fold that is full takes no more.
"""

import heapq
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from limo._kernels import kernel

__all__ = ["Rows", "Sharing", "draw_features", "draw_labels", "share_out"]


class Sharing(NamedTuple):
    """Labels by instance and by label, and what is still to be shared out."""

    indptr: NDArray[np.int64]  # labels of each instance
    indices: NDArray[np.int64]
    label_indptr: NDArray[np.int64]  # instances of each label, in random order
    label_rows: NDArray[np.int64]
    rest: NDArray[np.int64]  # instances of each label that have no fold yet
    left: NDArray[np.int64]  # places left in each fold
    wanted: NDArray[np.float64]  # (labels, folds): positives each fold should still get
    tie: NDArray[np.float64]  # (instances, folds): random, to break ties
    fold: NDArray[np.int64]  # the result, -1 before


@kernel
def _choose(sharing: Sharing, row: int, label: int) -> int:
    """The fold with a place left that wants the label most, then has most places left."""
    best = -1
    for fold in range(len(sharing.left)):
        if sharing.left[fold] <= 0:
            continue
        if best < 0:
            best = fold
            continue
        gain = sharing.wanted[label, fold] - sharing.wanted[label, best] if label >= 0 else 0.0
        if gain == 0.0:
            gain = float(sharing.left[fold] - sharing.left[best])
        if gain == 0.0:
            gain = sharing.tie[row, fold] - sharing.tie[row, best]
        if gain > 0.0:
            best = fold
    return best


@kernel
def _put(sharing: Sharing, row: int, fold: int, queue: list[tuple[np.int64, np.int64]]) -> None:
    """Give the row to the fold, and queue its labels again with what is left of them."""
    sharing.fold[row] = fold
    sharing.left[fold] -= 1
    for k in range(sharing.indptr[row], sharing.indptr[row + 1]):
        label = sharing.indices[k]
        sharing.wanted[label, fold] -= 1.0
        sharing.rest[label] -= 1
        heapq.heappush(queue, (sharing.rest[label], label))


@kernel
def share_out(sharing: Sharing, order: NDArray[np.int64]) -> None:
    """Fill ``sharing.fold``: always the label with the fewest instances left to share out.

    Rows without labels come last, in ``order``. With n labels of instances in all:
    O(n log n + n folds).
    """
    queue = [(np.int64(sharing.rest[j]), np.int64(j)) for j in range(len(sharing.rest))]
    heapq.heapify(queue)
    while len(queue) > 0:
        count, next_label = heapq.heappop(queue)
        label = int(next_label)
        if count == 0 or count != sharing.rest[label]:
            continue  # done, or queued again since
        for k in range(sharing.label_indptr[label], sharing.label_indptr[label + 1]):
            row = sharing.label_rows[k]
            if sharing.fold[row] < 0:
                _put(sharing, row, _choose(sharing, row, label), queue)
    for row in order:
        if sharing.fold[row] < 0:
            _put(sharing, row, _choose(sharing, row, -1), queue)


# Drawing sparse rows: a popular head, a long tail, no cell twice.

_TRIES = 8


class Rows(NamedTuple):
    """CSR rows to fill, and the row in which each column was last used (-1: none)."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    last_row: NDArray[np.int64]


@kernel
def _below(rng: np.random.Generator, n: int) -> int:
    """One of 0 to n - 1, each as likely."""
    return int(rng.random() * n)


@kernel
def _zipf(rng: np.random.Generator, n: int, log: float) -> int:
    """One of 0 to n - 1, low ones more likely; ``log`` is the logarithm of n + 1."""
    return min(int(math.exp(rng.random() * log)) - 1, n - 1)


@kernel
def _take(last_row: NDArray[np.int64], row: int, column: int) -> int:
    """Use a column, or the next one that the row does not have yet."""
    while last_row[column] == row:
        column = (column + 1) % len(last_row)
    last_row[column] = row
    return column


@kernel
def _draw_label(rng: np.random.Generator, n: int, first: int, n_groups: int, bond: float) -> int:
    """A label by popularity; with probability ``bond`` from the group of ``first``."""
    if first < 0 or rng.random() >= bond:
        return _zipf(rng, n, math.log(n + 1.0))
    group = first % n_groups
    size = (n - group + n_groups - 1) // n_groups
    return group + n_groups * _zipf(rng, size, math.log(size + 1.0))


@kernel
def draw_labels(rng: np.random.Generator, rows: Rows, n_groups: int, bond: float) -> None:
    """Fill ``rows`` with labels: low numbers are popular, equal remainders go together."""
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
    """A feature from a topic of one of the labels, or by popularity alone."""
    if len(labels) > 0 and rng.random() < 0.5:
        label = labels[_below(rng, len(labels))]
        return int(topics[label, _below(rng, topics.shape[1])])
    return _zipf(rng, d, log)


@kernel
def draw_features(
    rng: np.random.Generator, rows: Rows, labels: Rows, topics: NDArray[np.int64]
) -> None:
    """Fill ``rows`` with features: half of them tell of the labels, half are noise."""
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
