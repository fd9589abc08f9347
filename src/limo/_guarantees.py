"""Bounds of a row's measures, if only its misordered pairs or the sign of its margin are known.

A row has p relevant and n irrelevant items, and b of its p n pairs are misordered; ties count as
errors. Every function gives two lines, the lowest and the highest value of each row, over all
orders that have this b. If items have weights, p, n and b are sums of these. Whole weights count
as repeated items. For others p, n and b are floats, and bounds hold for any parts of items.
``docs/guarantees.md`` has the statements and proofs.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from limo._kernels.guarantees import (
    extreme_f1s,
    extreme_precisions,
    greatest_precision,
    least_precision,
)
from limo._types import Booleans, Integers, Values

# Limits of the table of average precision: operations per item of the matrix, operations that are #
# always allowed for a row, and cells.
_PER_ITEM = 12
_LEAST_WORK = 1 << 24
_LARGEST_TABLE = 1 << 22

Counted = Any  # Integers, or Values if items have weights
Bounds = Callable[[Any, Any, Any], Values]


def ranking_loss_bounds(p: Counted, n: Counted, b: Counted) -> Values:
    """Ranking loss is b / pn; undefined in rows without pairs."""
    pairs = (p * n).astype(np.float64)
    share = np.divide(b, pairs, out=np.full(pairs.shape, np.nan), where=pairs > 0)
    return np.stack([share, share])


def auc_bounds(p: Counted, n: Counted, b: Counted) -> Values:
    """AUC is 1 - b / pn if ties count as errors."""
    return 1 - ranking_loss_bounds(p, n, b)


def one_error_bounds(p: Integers, n: Integers, b: Integers) -> Values:
    """One-error is 0 if b < p, 1 if b > (p - 1) n, and either in between."""
    bounds = np.stack([b > (p - 1) * n, (b >= p) & (b > 0)]).astype(np.float64)
    return np.where(p > 0, bounds, np.nan)


def coverage_bounds(p: Integers, n: Integers, b: Integers) -> Values:
    """The last relevant item has rank p + a, where a is from ceil(b / p) to min(n, b)."""
    least = -(-b // np.maximum(p, 1))
    return np.where(p > 0, p - 1 + np.stack([least, np.minimum(n, b)]), np.nan)


def f1_bounds(p: Counted, n: Counted, b: Counted) -> Values:
    """F1 with the best threshold of each row, exactly unless items have weights."""
    if p.dtype.kind == "f":
        return _weighted_f1_bounds(p, n, b)
    bounds = np.full((2, p.size), np.nan)
    exist = p > 0
    triples, back = _distinct(p[exist], n[exist], b[exist])
    values = np.empty((2, triples.shape[1]))
    extreme_f1s(triples, values)
    bounds[:, exist] = values[:, back]
    return bounds


def _weighted_f1_bounds(p: Values, n: Values, b: Values) -> Values:
    """Bounds of F1 for any order of any parts of the items, which some order nearly attains."""
    exist = p > 0
    p, n = np.where(exist, p, 1.0), np.where(n > 0, n, 1.0)  # without pairs, none is misordered
    b = np.minimum(b, p * n)
    first = p - b / n
    highest = np.maximum(2 * first / (p + first), 2 * p / (2 * p + b / p))
    share = b / p**2
    lowest = np.maximum(2 * p / (2 * p + n), 2 / (2 + share + np.sqrt(share * (share + 2))))
    return np.where(exist, np.stack([np.minimum(lowest, highest), highest]), np.nan)


def average_precision_bounds(p: Integers, n: Integers, b: Integers) -> Values:
    """Average precision: exact where :func:`has_table`, else bounds that need not be attained."""
    bounds = np.full((2, p.size), np.nan)
    bounds[:, p == 1] = 1 / (1 + b[p == 1])
    bounds[:, (p > 0) & (b == 0)] = 1.0
    rows = np.flatnonzero((p > 1) & (b > 0))
    if not rows.size:
        return bounds
    triples, back = _distinct(p[rows], n[rows], b[rows])
    values = np.empty((2, triples.shape[1]))
    exact = has_table(*triples, size=float((p + n).sum()))
    if exact.any():
        own, tabled = np.empty((2, int(exact.sum()))), np.compress(exact, triples, axis=1)
        extreme_precisions(tabled, _limits(tabled), own)
        values[:, exact] = own
    for i in np.flatnonzero(~exact):
        one = int(triples[0, i]), int(triples[1, i]), float(triples[2, i])
        values[:, i] = least_precision(*one), greatest_precision(*one)
    bounds[:, rows] = values[:, back]
    return bounds


def _distinct(p: Integers, n: Integers, b: Integers) -> tuple[Integers, Integers]:
    """The distinct triples, with ascending p, and which of them each row has."""
    order = np.lexsort((b, n, p))
    ordered = np.stack([p, n, b])[:, order]
    new = np.ones(order.size, dtype=bool)
    new[1:] = (ordered[:, 1:] != ordered[:, :-1]).any(axis=0)
    back = np.empty_like(order)
    back[order] = np.cumsum(new) - 1
    return np.ascontiguousarray(ordered[:, new]), back


def _limits(triples: Integers) -> Integers:
    """The largest min(n, b) and the largest b of the triples with p >= k, for each k from 1."""
    p, n, b = triples
    limits = np.zeros((2, int(p.max())), dtype=np.int64)
    np.maximum.at(limits[0], p - 1, np.minimum(n, b))
    np.maximum.at(limits[1], p - 1, b)
    return np.ascontiguousarray(np.maximum.accumulate(limits[:, ::-1], axis=1)[:, ::-1])


def has_table(p: Integers, n: Integers, b: Integers, *, size: float) -> Booleans:
    """For which rows the extreme average precisions are computed exactly, with a table.

    ``size`` is the number of items of the matrix. Making the table may take as long as a few passes
    over the matrix. Rows share one table: if each of its rows needs W operations at most, all of
    them need W times the logarithm of the largest p.
    """
    levels = np.minimum(n, b).astype(np.float64) + 1
    work = p * levels * b <= max(_LEAST_WORK, _PER_ITEM * size)
    exact: Booleans = ((levels * (b + 1) <= _LARGEST_TABLE) & work) | (p <= 1) | (b == 0)
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


def from_any_order(family: str, p: Counted, n: Counted) -> Values:
    """The lowest and the highest value of any order: all pairs misordered, or none."""
    return _between(family, p, n, np.zeros_like(p), p * n)


def from_margins(family: str, p: Counted, n: Counted, effective: Booleans) -> Values:
    """The lowest and the highest value if only the signs of the margins are known.

    A row with a positive margin has no misordered pair; any other has from 1 to all, or any part
    of them if items have weights.
    """
    some = np.zeros_like(p) if p.dtype.kind == "f" else np.ones_like(p)
    least = np.where(effective | (p * n == 0), 0, some)
    return _between(family, p, n, least, np.where(effective, 0, p * n))


def _between(family: str, p: Counted, n: Counted, least: Counted, most: Counted) -> Values:
    """Bounds for any number of misordered pairs from ``least`` to ``most``.

    Every bound is monotone in b, so the ends decide. Average precision and F1 have one order at
    each end that is used here (b = 0, 1 or pn), and a formula for it.
    """
    bounds = BOUNDS[family]
    if p.dtype.kind != "f":
        formulas = {"average_precision": _precision_of_one_order, "f1": _f1_of_one_order}
        bounds = formulas.get(family, bounds)
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


def _f1_of_one_order(p: Integers, n: Integers, b: Integers) -> Values:
    """F1 with the best threshold for b = 0, for b = 1 and for b = pn: all relevant items taken."""
    ahead = np.where(b == 0, 0, np.where(b == 1, 1, n))
    value = 2.0 * p / np.maximum(2.0 * p + ahead, 1.0)
    return np.tile(np.where(p > 0, value, np.nan), (2, 1))
