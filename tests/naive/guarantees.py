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


def ordered(labels, scores):
    """The labels of a row, best score first; ties count as errors."""
    return tuple(y for _, y in sorted(zip(scores, labels, strict=True), key=_worst_first))


def _worst_first(item):
    return -item[0], item[1]


def intervals(name, view, Y, S, U, weights):
    """A measure's value, lowest and highest value: weights repeat instances, gaps are removed.

    Means over the rows of the view in which the measure is defined.
    """
    repeated = [i for i, weight in enumerate(weights) for _ in range(weight)]
    Y, S, U = ([matrix[i] for i in repeated] for matrix in (Y, S, U))
    if view != "rows":
        Y, S, U = ([list(column) for column in zip(*matrix, strict=True)] for matrix in (Y, S, U))
    if view == "entries":
        Y, S, U = ([list(itertools.chain(*matrix))] for matrix in (Y, S, U))
    found = []
    for y, s, u in zip(Y, S, U, strict=True):
        known = [j for j in range(len(y)) if not u[j]]
        order = ordered([y[j] for j in known], [s[j] for j in known])
        p = sum(order)
        if p and len(order) > p:
            found.append(
                (values(order)[name], *extremes(p, len(order) - p)[misordered(order), name])
            )
        elif known:
            found += _without_pairs(name, p)
    return [sum(line) / len(line) for line in zip(*found, strict=True)]


def _without_pairs(name, p):
    """Value and ends in a row of one kind of item, if the standard conventions define them."""
    full = {"one_error": 0.0, "coverage": p - 1, "average_precision": 1.0, "f1": 1.0}
    empty = {"f1": 0.0}
    value = (full if p else empty).get(name)
    return [] if value is None else [(value, value, value)]


@functools.cache
def extremes(p, n):
    """By b and the name of a measure: its lowest and its highest value over all orders."""
    found = {}
    for order in orders(p, n):
        for name, value in values(order).items():
            known = found.setdefault((misordered(order), name), [value, value])
            known[:] = min(known[0], value), max(known[1], value)
    return found
