"""Draws from a fixed distribution in constant time (Walker's alias method)."""

from typing import NamedTuple

import numpy as np

from limo._kernels import kernel
from limo._types import Integers, Values

__all__ = ["Alias", "alias_table", "below", "draw"]


class Alias(NamedTuple):
    """Place ``k`` is kept with probability ``keep[k]``, and otherwise gives ``other[k]``."""

    keep: Values
    other: Integers


@kernel
def alias_table(weights: Values) -> Alias:
    """Make the table for numbers drawn in proportion to positive ``weights``. O(n).

    What rounding leaves over is kept, so that no number is ever drawn that has no weight.
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
    """Draw one of 0, ..., n - 1; ``rng.integers`` takes ten times as long, and as long to compile.

    The largest random number is 1 - 2**-53, so the product stays below n, and no number is more
    likely than another by more than n * 2**-53.
    """
    return int(rng.random() * n)


@kernel
def draw(table: Alias, rng: np.random.Generator) -> int:
    """Draw one number. O(1)."""
    k = below(table.keep.size, rng)
    return k if rng.random() < table.keep[k] else table.other[k]
