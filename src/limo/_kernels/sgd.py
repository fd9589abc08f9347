"""The steps of Algorithm 1, each in the time it takes to read the rows of X it draws.

Shrinking a weight vector and adding it to the sum of all iterates touch every feature, so neither
is done. Label j has instead a vector V[j] and two numbers that stand for both:

    w_j = scale[j] * V[j]          the weights as they are
    sum of w_j over all iterates = mass[j] * V[j] + U[j]

Shrinking multiplies ``scale``, an iterate adds ``scale`` to ``mass`` (later, all idle
iterates at once), and only the features of a drawn row change in ``V`` and ``U``.
"""

from typing import NamedTuple

import numpy as np

from limo._kernels import kernel
from limo._kernels.alias import Alias, below, draw
from limo._kernels.storage import Storage, row_add, row_dot
from limo._types import Integers, Values

__all__ = ["Draws", "Rates", "Weights", "draw_pair", "run_steps", "settle"]

# A scale below this is multiplied into V. V grows as the scale falls, and with it the two
# terms of the sum, whose difference must not drown: this leaves ten digits.
_LOWEST_SCALE = 1e-6


class Draws(NamedTuple):
    """Pairs to draw: a one of a 0/1 matrix by ``table``, then any zero of its row."""

    rows: Integers
    items: Integers
    table: Alias
    indptr: Integers
    indices: Integers
    n_items: int


class Weights(NamedTuple):
    """Weights of all labels and the sum of their iterates, ``counted`` of which are in it."""

    V: Values
    U: Values
    scale: Values
    mass: Values
    counted: Integers


class Rates(NamedTuple):
    """What a step multiplies weights by, and what it adds of a drawn row."""

    keep: float
    label: float
    instance: float


@kernel
def _missing(indices: Integers, start: int, stop: int, k: int) -> int:
    """The ``k``-th of the numbers 0, 1, 2, ... that ascending ``indices[start:stop]`` lack."""
    low, high = start, stop
    while low < high:
        middle = (low + high) // 2
        if indices[middle] - (middle - start) <= k:
            low = middle + 1
        else:
            high = middle
    return k + low - start


@kernel
def draw_pair(draws: Draws, rng: np.random.Generator) -> tuple[int, int, int]:
    """Draw a row, one of its ones, and one of its zeros. O(log ones of the row)."""
    entry = draw(draws.table, rng)
    row = draws.rows[entry]
    start, stop = draws.indptr[row], draws.indptr[row + 1]
    k = below(draws.n_items - (stop - start), rng)
    return row, draws.items[entry], _missing(draws.indices, start, stop, k)


@kernel
def _score(X: Storage, i: int, weights: Weights, j: int) -> float:
    """The score of instance ``i`` for label ``j``."""
    score: float = weights.scale[j] * row_dot(X, i, weights.V[j])
    return score


@kernel
def _count_idle(weights: Weights, j: int, n_iterates: int) -> None:
    """Add to the sum of label ``j`` the iterates since it was last touched."""
    weights.mass[j] += weights.scale[j] * (n_iterates - weights.counted[j])
    weights.counted[j] = n_iterates


@kernel
def _fold(weights: Weights, j: int) -> None:
    """Multiply the two numbers of label ``j`` out, so that V is w and U the sum. O(d)."""
    weights.U[j] += weights.mass[j] * weights.V[j]
    weights.V[j] *= weights.scale[j]
    weights.mass[j] = 0.0
    weights.scale[j] = 1.0


@kernel
def _shrink(weights: Weights, j: int, keep: float) -> None:
    """Multiply the weights of label ``j`` by ``keep``."""
    weights.scale[j] *= keep
    if weights.scale[j] < _LOWEST_SCALE:
        _fold(weights, j)


@kernel
def _add(X: Storage, i: int, weights: Weights, j: int, amount: float) -> None:
    """Add ``amount`` times instance ``i`` to the weights of label ``j``; the sum stays."""
    change = amount / weights.scale[j]
    row_add(X, i, change, weights.V[j])
    row_add(X, i, -change * weights.mass[j], weights.U[j])


@kernel
def run_steps(
    X: Storage,
    labels: Draws,
    instances: Draws,
    weights: Weights,
    rates: Rates,
    first: int,
    last: int,
    rng: np.random.Generator,
) -> tuple[int, int]:
    """Run the steps from ``first`` up to ``last``; count the pairs that were too close.

    A half that has nothing to draw does not run. O(nonzeros of the drawn rows) a step.
    """
    n_label = n_instance = 0
    for t in range(first, last):
        if labels.rows.size > 0:
            i, u, v = draw_pair(labels, rng)
            if 1.0 - _score(X, i, weights, u) + _score(X, i, weights, v) > 0.0:
                n_label += 1
                for j, amount in ((u, rates.label), (v, -rates.label)):
                    _count_idle(weights, j, t)
                    _shrink(weights, j, rates.keep)
                    _add(X, i, weights, j, amount)
        if instances.rows.size > 0:
            j, a, b = draw_pair(instances, rng)
            if 1.0 - _score(X, a, weights, j) + _score(X, b, weights, j) > 0.0:
                n_instance += 1
                _count_idle(weights, j, t)
                _shrink(weights, j, rates.keep)
                _add(X, a, weights, j, rates.instance)
                _add(X, b, weights, j, -rates.instance)
    return n_label, n_instance


@kernel
def settle(weights: Weights, n_iterates: int) -> None:
    """Turn ``V`` into the weights and ``U`` into the sum of all ``n_iterates``. O(l d)."""
    for j in range(weights.scale.size):
        _count_idle(weights, j, n_iterates)
        _fold(weights, j)
