"""The steps of Algorithm 1, each in the time it takes to read the rows of X it draws.

Lazy shrinkage: a step shrinks the whole weight vector of a label and adds it to the sum of all
iterates. Done directly, both would touch every feature. Instead, each label j has two vectors and
two numbers that represent its weights and their sum:

    w_j = scale[j] * V[j]                           the current weights
    sum of w_j over all iterates = mass[j] * V[j] + U[j]

Shrinking multiplies ``scale[j]`` alone. While w_j does not change, each iterate adds
``scale[j] * V[j]`` to the sum, that is ``scale[j]`` to ``mass[j]``; the sum is updated when the
label is next used (``counted`` says how many iterates are in the sum). Adding ``c x`` to w_j adds
``c / scale[j] x`` to V[j]. That would also add ``mass[j] c / scale[j] x`` to the sum of the past,
which ``U[j]`` takes back; so only the features of the drawn row change.
"""

from typing import NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from limo._kernels import kernel
from limo._types import Integers, Values

# Draws from a fixed distribution in constant time (Walker's alias method).


class Alias(NamedTuple):
    """Place ``k`` is kept with probability ``keep[k]``, and otherwise gives ``other[k]``."""

    keep: Values
    other: Integers


@kernel
def alias_table(weights: Values) -> Alias:
    """Make the table for drawing numbers in proportion to positive ``weights``. O(n).

    Places that rounding leaves unpaired keep their number, so no number without weight is drawn.
    """
    n = weights.size
    keep = weights.copy()
    if n > 0:
        keep *= n / weights.sum()
    other = np.arange(n)
    order = np.empty(n, np.int64)  # places below the mean from the left, others from the right
    n_small, first_large = 0, n
    for k in range(n):
        if keep[k] < 1.0:
            order[n_small] = k
            n_small += 1
        else:
            first_large -= 1
            order[first_large] = k
    while n_small > 0 and first_large < n:
        n_small -= 1
        small, large = order[n_small], order[first_large]
        other[small] = large
        keep[large] -= 1.0 - keep[small]
        if keep[large] < 1.0:
            first_large += 1
            order[n_small] = large
            n_small += 1
    keep[order[:n_small]] = 1.0
    keep[order[first_large:]] = 1.0
    return Alias(keep, other)


@kernel
def below(n: int, rng: np.random.Generator) -> int:
    """Draw one of 0, ..., n - 1; ten times faster than ``rng.integers`` to run and to compile.

    The largest random number is 1 - 2**-53, so the product stays below n, and the probabilities of
    two numbers differ by at most n * 2**-53.
    """
    return int(rng.random() * n)


@kernel
def draw(table: Alias, rng: np.random.Generator) -> int:
    """Draw one number. O(1)."""
    k = below(table.keep.size, rng)
    return k if rng.random() < table.keep[k] else table.other[k]


# Rows of a feature matrix, dense or CSR. The type of X chooses the function.

# numba wants an overload and its bodies to have equal signatures, annotations included: none here.
# mypy: allow-untyped-defs, allow-untyped-calls


class CSR(NamedTuple):
    """The three arrays of a sparse matrix, row by row; equal columns in a row add up."""

    data: Values
    indices: Integers
    indptr: Integers


Storage = Values | CSR


def _dense_dot(X, i, w):
    return np.dot(X[i], w)


def _csr_dot(X, i, w):
    total = 0.0
    for e in range(X.indptr[i], X.indptr[i + 1]):
        total += X.data[e] * w[X.indices[e]]
    return total


def _dense_add(X, i, a, w):
    w += a * X[i]


def _csr_add(X, i, a, w):
    for e in range(X.indptr[i], X.indptr[i + 1]):
        w[X.indices[e]] += a * X.data[e]


def row_dot(X: Storage, i: int, w: Values) -> float:
    """The product of row ``i`` and ``w``. O(nonzeros of the row)."""
    value: float = _csr_dot(X, i, w) if isinstance(X, CSR) else _dense_dot(X, i, w)
    return value


def row_add(X: Storage, i: int, a: float, w: Values) -> None:
    """Add ``a`` times row ``i`` to ``w``. O(nonzeros of the row)."""
    if isinstance(X, CSR):
        _csr_add(X, i, a, w)
    else:
        _dense_add(X, i, a, w)


# In compiled code, row_dot and row_add become the function for the type of X.


@overload(row_dot)
def _compiled_dot(X, i, w):
    return _dense_dot if isinstance(X, types.Array) else _csr_dot


@overload(row_add)
def _compiled_add(X, i, a, w):
    return _dense_add if isinstance(X, types.Array) else _csr_add


# The steps

# A scale below this is multiplied into V. As the scale falls, V grows, and with it the two terms
# of the sum, which nearly cancel: this bound leaves ten correct digits.
_LOWEST_SCALE = 1e-6


class Draws(NamedTuple):
    """The pairs to draw from: a one of a 0/1 matrix by ``table``, then any zero of its row.

    ``indices`` are the places that are no zeros. A zero is accepted with the probability that
    ``accept`` has for its item; it is empty if all are.
    """

    rows: Integers
    items: Integers
    table: Alias
    indptr: Integers
    indices: Integers
    n_items: int
    accept: Values


class Weights(NamedTuple):
    """The lazily shrunk weights of all labels; ``counted`` iterates of each are in the sum."""

    V: Values
    U: Values
    scale: Values
    mass: Values
    counted: Integers


class Rates(NamedTuple):
    """The factor of the weights in a step, and the multiple of a drawn row that each half adds."""

    keep: float
    label: float
    instance: float


@kernel
def _missing(indices: Integers, start: int, stop: int, k: int) -> int:
    """The ``k``-th of the numbers 0, 1, 2, ... missing from ascending ``indices[start:stop]``."""
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
    zero = -1
    while zero < 0:
        k = below(draws.n_items - (stop - start), rng)
        zero = _missing(draws.indices, start, stop, k)
        if draws.accept.size > 0 and rng.random() >= draws.accept[zero]:
            zero = -1
    return row, draws.items[entry], zero


@kernel
def _score(X: Storage, i: int, weights: Weights, j: int) -> float:
    """The score of instance ``i`` for label ``j``."""
    score: float = weights.scale[j] * row_dot(X, i, weights.V[j])
    return score


@kernel
def _count_idle(weights: Weights, j: int, n_iterates: int) -> None:
    """Add to the sum of label ``j`` the iterates since its weights last changed."""
    weights.mass[j] += weights.scale[j] * (n_iterates - weights.counted[j])
    weights.counted[j] = n_iterates


@kernel
def _multiply_out(weights: Weights, j: int) -> None:
    """Set ``scale`` to 1 and ``mass`` to 0, so that V[j] is w_j and U[j] the sum. O(d)."""
    weights.U[j] += weights.mass[j] * weights.V[j]
    weights.V[j] *= weights.scale[j]
    weights.mass[j] = 0.0
    weights.scale[j] = 1.0


@kernel
def _shrink(weights: Weights, j: int, keep: float) -> None:
    """Multiply the weights of label ``j`` by ``keep``."""
    weights.scale[j] *= keep
    if weights.scale[j] < _LOWEST_SCALE:
        _multiply_out(weights, j)


@kernel
def _add(X: Storage, i: int, weights: Weights, j: int, amount: float) -> None:
    """Add ``amount`` times instance ``i`` to the weights of label ``j``, not to the past sum."""
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
    """Make the steps from ``first`` up to ``last``; count the pairs that violate their margin.

    A half without pairs does not run. O(nonzeros of the drawn rows) per step.
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
def finish(weights: Weights, n_iterates: int) -> None:
    """Make ``V`` the weights and ``U`` the sum of all ``n_iterates``, after the last step. O(l d).

    Until then both are represented lazily, as the module describes.
    """
    for j in range(weights.scale.size):
        _count_idle(weights, j, n_iterates)
        _multiply_out(weights, j)
