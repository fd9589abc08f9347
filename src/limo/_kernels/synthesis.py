"""Drawing sparse rows: a popular head, a long tail, no cell twice.

Zipf's law without tables: for uniform u, floor((n + 1)**u) - 1 is k with a probability
proportional to log((k + 2) / (k + 1)), close to 1 / (k + 1).
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from limo._kernels import kernel

__all__ = ["Rows", "draw_features", "draw_labels"]

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
