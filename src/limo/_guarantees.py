"""What must hold for a row's measures if only its misordered pairs, or its margin, are known.

A row has p relevant and n irrelevant items, and b of its p n pairs are misordered; ties count as
errors. Every function gives two lines, the lowest and the highest value of each row, over all
orders that have this b. ``docs/guarantees.md`` has the statements and proofs.
"""

from collections.abc import Callable, Mapping

import numpy as np

from limo._kernels.guarantees import (
    extreme_f1s,
    extreme_precisions,
    greatest_precision,
    least_precision,
)
from limo._system import workers
from limo._types import Booleans, Integers, Values

# Operations for the tables of average precision: so many for each item of the matrix, at least, at
# most for one table, and the most cells a table may have.
_PER_ITEM = 32
_LEAST_WORK = 1 << 24
_LARGEST_WORK = 1 << 26
_LARGEST_TABLE = 1 << 21

Bounds = Callable[[Integers, Integers, Integers], Values]


def ranking_loss_bounds(p: Integers, n: Integers, b: Integers) -> Values:
    """Ranking loss is b / pn; undefined in rows without pairs."""
    pairs = (p * n).astype(np.float64)
    share = np.divide(b, pairs, out=np.full(pairs.shape, np.nan), where=pairs > 0)
    return np.stack([share, share])


def auc_bounds(p: Integers, n: Integers, b: Integers) -> Values:
    """AUC is 1 - b / pn if ties count as errors."""
    return 1 - ranking_loss_bounds(p, n, b)


def one_error_bounds(p: Integers, n: Integers, b: Integers) -> Values:
    """It is 0 if b < p, 1 if b > (p - 1) n, and either in between."""
    found = np.stack([b > (p - 1) * n, (b >= p) & (b > 0)]).astype(np.float64)
    return np.where(p > 0, found, np.nan)


def coverage_bounds(p: Integers, n: Integers, b: Integers) -> Values:
    """The last relevant item has rank p + a, where a is from ceil(b / p) to min(n, b)."""
    least = -(-b // np.maximum(p, 1))
    return np.where(p > 0, p - 1 + np.stack([least, np.minimum(n, b)]), np.nan)


def f1_bounds(p: Integers, n: Integers, b: Integers) -> Values:
    """F1 with the best threshold of each row, exactly."""
    found = np.full((2, p.size), np.nan)
    exist = p > 0
    own = np.empty((2, int(exist.sum())))
    extreme_f1s(np.stack([p[exist], n[exist], b[exist]]), own)
    found[:, exist] = own
    return found


def average_precision_bounds(p: Integers, n: Integers, b: Integers) -> Values:
    """Average precision: exact where :func:`has_table`, otherwise bounds that may be attained."""
    found = np.full((2, p.size), np.nan)
    found[:, p == 1] = 1 / (1 + b[p == 1])
    found[:, (p > 0) & (b == 0)] = 1.0
    rows = np.flatnonzero((p > 1) & (b > 0))
    triples, back = np.unique(np.stack([p, n, b])[:, rows], axis=1, return_inverse=True)
    exact = has_table(*triples)
    groups = np.unique(triples[:2], axis=1).T if rows.size else ()
    values = np.empty(triples.shape).astype(np.float64)[:2]

    def fill(size: Integers) -> None:
        own = (triples[0] == size[0]) & (triples[1] == size[1])
        short, long = np.flatnonzero(own & exact), np.flatnonzero(own & ~exact)
        if short.size:
            most = int(triples[2, short].max())
            table = np.empty((2, most + 1))
            extreme_precisions(int(size[0]), int(size[1]), most, table[0], table[1])
            values[:, short] = table[:, triples[2, short]]
        for i in long:
            whole = int(size[0]), int(size[1]), float(triples[2, i])
            values[:, i] = least_precision(*whole), greatest_precision(*whole)

    with workers(enough=rows.size > 100) as run:
        list(run(fill, groups))
    found[:, rows] = values[:, back.reshape(-1)]
    return found


def has_table(p: Integers, n: Integers, b: Integers) -> Booleans:
    """For which rows the extreme average precisions are computed exactly, with a table.

    The tables of all sizes p, n together may take as long as a few looks at the matrix.
    """
    sizes = max(len(np.unique(p)), 1)
    work = max(_LEAST_WORK, _PER_ITEM * float((p + n).sum())) / sizes
    levels = np.minimum(n, b).astype(np.float64) + 1
    small = (levels * (b + 1) <= _LARGEST_TABLE) & (p * levels * b <= min(work, _LARGEST_WORK))
    exact: Booleans = small | (p <= 1) | (b == 0)
    return exact


BOUNDS: Mapping[str, Bounds] = {
    "ranking_loss": ranking_loss_bounds,
    "one_error": one_error_bounds,
    "coverage": coverage_bounds,
    "average_precision": average_precision_bounds,
    "auc": auc_bounds,
    "f1": f1_bounds,
}
"""The bounds of a row by the name of the measure without its average."""


def from_any_order(family: str, p: Integers, n: Integers) -> Values:
    """The lowest and the highest value of any order: all pairs misordered, or none."""
    return _between(family, p, n, np.zeros_like(p), p * n)


def from_margins(family: str, p: Integers, n: Integers, effective: Booleans) -> Values:
    """The lowest and the highest value if only the signs of the margins are known.

    A row with a positive margin has no misordered pair; any other has from 1 to all.
    """
    least = np.where(effective | (p * n == 0), 0, 1)
    return _between(family, p, n, least, np.where(effective, 0, p * n))


def _between(family: str, p: Integers, n: Integers, least: Integers, most: Integers) -> Values:
    """Bounds for any number of misordered pairs from ``least`` to ``most``.

    Every bound is monotone in b, so the ends decide. Average precision has one order at each end
    that is used here (b = 0, 1 or pn), and needs no table.
    """
    bounds = _precision_of_one_order if family == "average_precision" else BOUNDS[family]
    ends = np.stack([bounds(p, n, least), bounds(p, n, most)])
    return np.stack([ends.min(axis=(0, 1)), ends.max(axis=(0, 1))])


def _precision_of_one_order(p: Integers, n: Integers, b: Integers) -> Values:
    """Average precision for b = 0, for b = 1 (the last item is passed) and for b = pn."""
    harmonic = np.concatenate([[0.0], np.cumsum(1 / np.arange(1, int((p + n).max(initial=0)) + 1))])
    exist = np.maximum(p, 1)
    all_lost = 1 - n * (harmonic[p + n] - harmonic[n]) / exist
    one_lost = 1 - 1 / (exist * (exist + 1.0))
    value = np.where(b == 0, 1.0, np.where(b == 1, one_lost, all_lost))
    return np.tile(np.where(p > 0, value, np.nan), (2, 1))
