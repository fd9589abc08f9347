"""Algorithm 1, line by line, and the objectives its steps follow."""

import numpy as np


def steps(X, W, pairs, step, label_weight, instance_weight, shrinkage):
    """All iterates, from drawn pairs: ((i, u, v) or None, (j, a, b) or None) for each step."""
    W = np.array(W, dtype=float)
    iterates = []
    for label_pair, instance_pair in pairs:
        if label_pair is not None:
            i, u, v = label_pair
            if 1 - W[u] @ X[i] + W[v] @ X[i] > 0:
                W[u] = W[u] - step * (-label_weight * X[i] + shrinkage * W[u])
                W[v] = W[v] - step * (label_weight * X[i] + shrinkage * W[v])
        if instance_pair is not None:
            j, a, b = instance_pair
            if 1 - W[j] @ X[a] + W[j] @ X[b] > 0:
                W[j] = W[j] - step * (instance_weight * (X[b] - X[a]) + shrinkage * W[j])
        iterates.append(W.copy())
    return iterates


def label_pairs(Y, sampling):
    """Every (i, u, v) with its probability."""
    found = {}
    for i, y in enumerate(Y):
        relevant, irrelevant = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
        for u in relevant:
            for v in irrelevant:
                odds = 1 if sampling == "pairs" else 1 / (len(relevant) * len(irrelevant))
                found[i, u, v] = odds
    return _normalised(found)


def instance_pairs(Y, sampling):
    """Every (j, a, b) with its probability."""
    usable = [j for j in range(Y.shape[1]) if 0 < Y[:, j].sum() < len(Y)]
    found = {}
    for j in usable:
        for a in np.flatnonzero(Y[:, j] == 1):
            for b in np.flatnonzero(Y[:, j] == 0):
                odds = 1 / (Y[a, usable].sum() * (Y[:, j] == 0).sum())
                found[j, a, b] = 1 if sampling == "pairs" else odds
    return _normalised(found)


def _normalised(odds):
    total = sum(odds.values())
    return {pair: value / total for pair, value in odds.items()}


def hinge_gradient(X, Y, W, sampling, label_weight, instance_weight):
    """The gradient of the expected hinge losses at W, from the definition."""
    gradient = np.zeros_like(W)
    for (i, u, v), probability in label_pairs(Y, sampling).items():
        if 1 - (W[u] - W[v]) @ X[i] > 0:
            gradient[u] -= label_weight * probability * X[i]
            gradient[v] += label_weight * probability * X[i]
    for (j, a, b), probability in instance_pairs(Y, sampling).items():
        if 1 - W[j] @ (X[a] - X[b]) > 0:
            gradient[j] -= instance_weight * probability * (X[a] - X[b])
    return gradient
