"""Iterative stratification: share out instances so that every label is shared out in proportion.

K. Sechidis, G. Tsoumakas, I. Vlahavas, "On the stratification of multi-label data", ECML PKDD
2011; here with exact fold sizes: a fold that is full takes no more.
"""

import heapq
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from limo._kernels import kernel

__all__ = ["Sharing", "share_out"]


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
