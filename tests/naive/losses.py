"""Slow, obvious twins of the losses: every pair and every entry, one by one."""

from math import exp, log

import numpy as np

from naive.measures import irrelevant, relevant


def phi(z, loss):
    """Value and derivative of the loss named, the derivative at a corner being that from below."""
    if z <= 0:
        return 0.0, 0.0
    if loss == "squared_hinge":
        return z * z, 2 * z
    if loss == "hinge":
        return z, 1.0
    width = loss  # the smoothed hinge
    return (z * z / (2 * width), z / width) if z <= width else (z - width / 2, 1.0)


def row_pairs(y, s, loss):
    value, slopes = 0.0, np.zeros(len(s))
    for u in relevant(y):
        for v in irrelevant(y):
            f, df = phi(1 - (s[u] - s[v]), loss)
            value += f
            slopes[u] -= df
            slopes[v] += df
    return value, slopes, len(relevant(y)) * len(irrelevant(y))


def view_loss(Y, S, loss, scheme):
    """Mean over rows of the mean over their pairs, or the mean over all pairs alike."""
    found = [row_pairs(y, s, loss) for y, s in zip(Y, S, strict=True)]
    found_pairs = [n for _, _, n in found]
    with_pairs, total = sum(n > 0 for n in found_pairs), sum(found_pairs)
    value, gradient = 0.0, np.zeros(S.shape)
    for i, (f, slopes, n) in enumerate(found):
        if n:
            share = 1 / (with_pairs * n) if scheme == "measure" else 1 / total
            value += share * f
            gradient[i] = share * slopes
    return value, gradient


def pair_loss(Y, S, weights, loss, scheme):
    label, instance, entry = weights
    rows, rows_gradient = view_loss(Y, S, loss, scheme)
    columns, columns_gradient = view_loss(Y.T, S.T, loss, scheme)
    entries, entries_gradient = view_loss(Y.reshape(1, -1), S.reshape(1, -1), loss, scheme)
    value = label * rows + instance * columns + entry * entries
    gradient = (
        label * rows_gradient
        + instance * columns_gradient.T
        + entry * entries_gradient.reshape(S.shape)
    )
    return value, gradient


# Any term, from its definition


def row_loss(y, s, aggregation, base):
    """The loss of one row with pairs."""
    good, bad = relevant(y), irrelevant(y)
    if aggregation == "mean":
        value, _, n = row_pairs(y, s, base)
        return value / n
    if aggregation == "top":
        return sum(log(1 + sum(exp(s[v] - s[u]) for v in bad)) for u in good) / len(good)
    if aggregation == "bottom":
        return sum(log(1 + sum(exp(s[v] - s[u]) for u in good)) for v in bad) / len(bad)
    return log(1 + sum(exp(s[v] - s[u]) for u in good for v in bad))


def entry_loss(y, s, base):
    z = s if y else -s
    if base == "logistic":
        return log(1 + exp(-z))
    return phi(1 - z, base)[0]


def pointwise(rows, base, share):
    """Mean over rows with pairs of their entries' weighted losses; or of all entries alike."""
    if share == "uniform":
        entries = [entry_loss(a, b, base) for y, s in rows for a, b in zip(y, s, strict=True)]
        return sum(entries) / len(entries)
    found = []
    for y, s in rows:
        p, n = len(relevant(y)), len(irrelevant(y))
        if p and n:
            sides = (1 / (p * n), 1 / (p * n)) if share == "pairs" else (1 / p, 1 / n)
            losses = [entry_loss(a, b, base) for a, b in zip(y, s, strict=True)]
            found.append(
                sum(f * (sides[0] if a else sides[1]) for a, f in zip(y, losses, strict=True))
            )
    return sum(found) / len(found) if found else 0.0


def term_loss(Y, S, term):
    """The value of a term."""
    if term.view == "columns":
        Y, S = Y.T, S.T
    elif term.view == "entries":
        Y, S = Y.reshape(1, -1), S.reshape(1, -1)
    rows = list(zip(Y, S, strict=True))
    if term.aggregation == "pointwise":
        return term.weight * pointwise(rows, term.base, term.share)
    if term.share == "uniform":
        return term.weight * view_loss(Y, S, term.base, "uniform")[0]
    found = [
        row_loss(y, s, term.aggregation, term.base)
        for y, s in rows
        if len(relevant(y)) and len(irrelevant(y))
    ]
    return term.weight * sum(found) / len(found) if found else 0.0


def loss(Y, S, terms):
    return sum(term_loss(Y, S, term) for term in terms)


# With sample weights and missing labels, from the definition: a pair weighs as much as the product
# of its items, and a row of instances or of labels as much as its instance, or 1.


def weighted_row(y, s, w, term):
    """The loss of one row whose known items have the weights w."""
    good, bad = relevant(y), irrelevant(y)
    p, n = sum(w[u] for u in good), sum(w[v] for v in bad)

    def pull(u, v):
        return exp(s[v] - s[u])

    if term.aggregation == "mean":
        pairs = [w[u] * w[v] * phi(1 - (s[u] - s[v]), term.base)[0] for u in good for v in bad]
        return sum(pairs) / (p * n)
    if term.aggregation == "top":
        return sum(w[u] * log(1 + sum(w[v] * pull(u, v) for v in bad)) for u in good) / p
    if term.aggregation == "bottom":
        return sum(w[v] * log(1 + sum(w[u] * pull(u, v) for u in good)) for v in bad) / n
    if term.aggregation == "worst":
        return log(1 + sum(w[u] * w[v] * pull(u, v) for u in good for v in bad))
    sides = (1 / (p * n), 1 / (p * n)) if term.share == "pairs" else (1 / p, 1 / n)
    entries = [w[k] * entry_loss(y[k], s[k], term.base) for k in range(len(y))]
    return sum(f * (sides[0] if a else sides[1]) for a, f in zip(y, entries, strict=True))


def weighted_rows(Y, S, W, term):
    """The known items of each row of the view, with the weight of the row and of its items."""
    ones = np.ones_like(W)
    if term.view == "rows":
        rows = zip(Y, S, ones, W[:, 0], strict=True)
    elif term.view == "columns":
        rows = zip(Y.T, S.T, W.T, ones[0], strict=True)
    else:
        rows = [(Y.reshape(-1), S.reshape(-1), W.reshape(-1), 1.0)]
    for y, s, w, own in rows:
        known = ~np.isnan(y)
        yield y[known].astype(int), s[known], w[known], own


def weighted_term(Y, S, term, weights):
    """The value of a term; labels are nan where they are missing, weights those of instances."""
    W = np.repeat(np.asarray(weights, dtype=float)[:, np.newaxis], Y.shape[1], axis=1)
    Y = np.where(W == 0, np.nan, Y)
    rows = list(weighted_rows(Y, S, W, term))
    if term.aggregation == "pointwise" and term.share == "uniform":
        entries = [
            (b, b * entry_loss(a, c, term.base))
            for y, s, w, _ in rows
            for a, c, b in zip(y, s, w, strict=True)
        ]
        return term.weight * sum(f for _, f in entries) / sum(b for b, _ in entries)
    found = []
    for y, s, w, own in rows:
        if len(relevant(y)) and len(irrelevant(y)):
            pairs = sum(w[relevant(y)]) * sum(w[irrelevant(y)])
            share = own * pairs if term.share == "uniform" else own
            found.append((share, share * weighted_row(y, s, w, term)))
    return term.weight * sum(f for _, f in found) / sum(b for b, _ in found) if found else 0.0
