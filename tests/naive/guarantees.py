"""All orders of a row, one by one: what its misordered pairs allow its measures to be."""

import functools
import itertools


def orders(p, n):
    """Every order of p relevant and n irrelevant items, best first, as tuples of 1 and 0."""
    for places in itertools.combinations(range(p + n), p):
        yield tuple(int(i in places) for i in range(p + n))


def misordered(order):
    """Pairs whose irrelevant item comes first."""
    return sum(
        order[i] == 0 and order[j] == 1 for i in range(len(order)) for j in range(i + 1, len(order))
    )


def values(order):
    """The measures of one order, from their definitions."""
    n_items, p = len(order), sum(order)
    ranks = [i + 1 for i in range(n_items) if order[i]]
    pairs = p * (n_items - p)
    cuts = [2 * sum(order[:cut]) / (p + cut) for cut in range(n_items + 1)]
    return {
        "ranking_loss": misordered(order) / pairs,
        "auc": 1 - misordered(order) / pairs,
        "one_error": float(order[0] == 0),
        "coverage": max(ranks) - 1,
        "average_precision": sum(sum(order[:rank]) / rank for rank in ranks) / p,
        "f1": max(cuts),
    }


@functools.cache
def extremes(p, n):
    """By b and the name of a measure: its lowest and its highest value over all orders."""
    found = {}
    for order in orders(p, n):
        for name, value in values(order).items():
            known = found.setdefault((misordered(order), name), [value, value])
            known[:] = min(known[0], value), max(known[1], value)
    return found
