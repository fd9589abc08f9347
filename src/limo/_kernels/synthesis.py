"""Drawing sparse rows: a popular head, a long tail, no cell twice.

Zipf's law without tables: for uniform u, floor((n + 1)**u) - 1 is k with a probability
proportional to log((k + 2) / (k + 1)), close to 1 / (k + 1).
"""

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
def _zipf(rng: np.random.Generator, n: int) -> int:
    return min(int((n + 1.0) ** rng.random()) - 1, n - 1)


@kernel
def _use(rows: Rows, row: int, place: int, column: int) -> None:
    """Store a column, or the next one that the row does not have yet."""
    while rows.last_row[column] == row:
        column = (column + 1) % len(rows.last_row)
    rows.last_row[column] = row
    rows.indices[place] = column


@kernel
def _draw_label(rng: np.random.Generator, n: int, first: int, n_groups: int, bond: float) -> int:
    """A label by popularity; with probability ``bond`` from the group of ``first``."""
    if first < 0 or rng.random() >= bond:
        return _zipf(rng, n)
    group = first % n_groups
    size = (n - group + n_groups - 1) // n_groups
    return group + n_groups * _zipf(rng, size)


@kernel
def draw_labels(rng: np.random.Generator, rows: Rows, n_groups: int, bond: float) -> None:
    """Fill ``rows`` with labels: low numbers are popular, equal remainders go together."""
    n = len(rows.last_row)
    for row in range(len(rows.indptr) - 1):
        start, end = rows.indptr[row], rows.indptr[row + 1]
        for place in range(start, end):
            first = rows.indices[start] if place > start else -1
            label = _draw_label(rng, n, first, n_groups, bond)
            for _ in range(_TRIES):
                if rows.last_row[label] != row:
                    break
                label = _draw_label(rng, n, first, n_groups, bond)
            _use(rows, row, place, label)
        rows.indices[start:end].sort()


@kernel
def _draw_feature(
    rng: np.random.Generator, d: int, labels: NDArray[np.int32], topics: NDArray[np.int64]
) -> int:
    """A feature from a topic of one of the labels, or by popularity alone."""
    if len(labels) > 0 and rng.random() < 0.5:
        label = labels[rng.integers(0, len(labels))]
        return int(topics[label, rng.integers(0, topics.shape[1])])
    return _zipf(rng, d)


@kernel
def draw_features(
    rng: np.random.Generator, rows: Rows, labels: Rows, topics: NDArray[np.int64]
) -> None:
    """Fill ``rows`` with features: half of them tell of the labels, half are noise."""
    d = len(rows.last_row)
    for row in range(len(rows.indptr) - 1):
        own = labels.indices[labels.indptr[row] : labels.indptr[row + 1]]
        start, end = rows.indptr[row], rows.indptr[row + 1]
        for place in range(start, end):
            feature = _draw_feature(rng, d, own, topics)
            for _ in range(_TRIES):
                if rows.last_row[feature] != row:
                    break
                feature = _draw_feature(rng, d, own, topics)
            _use(rows, row, place, feature)
        rows.indices[start:end].sort()
