"""Algorithm 1 of the paper, step by step: slow, seeded, dense.

Facts of the paper's synthetic experiment that its text does not give (the step 0.1, the constant
feature, a half with weight 0 left out) come from fitting its tables.
"""

import numpy as np


def train(X, Y, lambda_1, lambda_2, *, rng, step=0.1, n_steps=20_000, sampling="instances"):
    """Weights (d x l), averaged over all steps.

    Sampling "pairs" is as printed: instances and labels drawn by their number of pairs. Sampling
    "instances" is that of the paper's experiments: a uniform instance, one of its labels, then
    a label it has not; and again, then an instance without that label.
    """
    Y = Y.astype(bool)
    l, d = Y.shape[1], X.shape[1]
    W = rng.normal(scale=1 / np.sqrt(d), size=(d, l))
    total = np.zeros_like(W)
    draw = {"pairs": pair_draws, "instances": instance_draws}[sampling](Y, rng, n_steps)
    for i, u, v, j, a, b in zip(*draw, strict=True):
        if lambda_1:
            x = X[i]
            if 1 - x @ W[:, u] + x @ W[:, v] > 0:
                W[:, u] -= step * (-lambda_1 * x + W[:, u])
                W[:, v] -= step * (lambda_1 * x + W[:, v])
        if lambda_2 and 1 - X[a] @ W[:, j] + X[b] @ W[:, j] > 0:
            W[:, j] -= step * (lambda_2 * (X[b] - X[a]) + W[:, j])
        total += W
    return total / n_steps


def pair_draws(Y, rng, n):
    """For each step an instance with a label it has and one it has not; a label with two instances."""
    rows, columns = by_pairs(Y, rng, n), by_pairs(Y.T, rng, n)
    u, v = one_of(Y, rows, rng), one_of(~Y, rows, rng)
    a, b = one_of(Y.T, columns, rng), one_of(~Y.T, columns, rng)
    return rows, u, v, columns, a, b


def instance_draws(Y, rng, n):
    mixed = np.flatnonzero(Y.any(axis=1) & ~Y.all(axis=1))
    rows = rng.choice(mixed, size=n)
    u, v = one_of(Y, rows, rng), one_of(~Y, rows, rng)
    a = rng.choice(np.flatnonzero(Y.any(axis=1)), size=n)
    j = one_of(Y, a, rng)
    return rows, u, v, j, a, one_of(~Y.T, j, rng)


def by_pairs(Y, rng, n):
    weights = Y.sum(axis=1) * (~Y).sum(axis=1)
    return rng.choice(len(Y), size=n, p=weights / weights.sum())


def one_of(Y, rows, rng):
    """A marked place of each of the rows."""
    places = [np.flatnonzero(marks) for marks in Y]
    chance = rng.random(len(rows))
    return [places[i][int(c * len(places[i]))] for i, c in zip(rows, chance, strict=True)]
