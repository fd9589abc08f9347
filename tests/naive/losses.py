"""Slow, obvious twin of the pair loss: every pair, one by one."""

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
