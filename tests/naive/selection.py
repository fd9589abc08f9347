"""Weights of an ensemble and sigmoids of labels, by an interior-point solver and from the losses."""

import cvxpy as cp
import numpy as np


def least_loss(Y, scores, *, label_pairs):
    """Weights from 0 up, of sum 1, of the least logistic loss of all entries.

    With ``label_pairs`` the mean over rows of the mean squared hinge of all pairs is added.
    """
    w, c = cp.Variable(len(scores), nonneg=True), cp.Variable()
    entries = np.stack([S.ravel() for S in scores], axis=1)
    signs = (2 * Y - 1).ravel()
    loss = cp.sum(cp.logistic(-cp.multiply(signs, entries @ w + c))) / Y.size
    if label_pairs:
        rows = [i for i in range(len(Y)) if 0 < Y[i].sum() < Y.shape[1]]
        differences, shares = [], []
        for i in rows:
            ups, downs = np.flatnonzero(Y[i]), np.flatnonzero(Y[i] == 0)
            for u in ups:
                for v in downs:
                    differences.append([S[i, u] - S[i, v] for S in scores])
                    shares.append(1 / (len(ups) * len(downs) * len(rows)))
        short = cp.pos(1 - np.array(differences) @ w)
        loss += cp.sum(cp.multiply(shares, cp.square(short)))
    cp.Problem(cp.Minimize(loss)).solve(solver="CLARABEL")
    return w.value / w.value.sum()


def label_log_odds(y, z, pull):
    """(1 + a) z + b of one label: the least sum of log losses and pull / 2 (a^2 + b^2)."""
    a, b = cp.Variable(), cp.Variable()
    losses = cp.logistic(-cp.multiply(2 * y - 1, (1 + a) * z + b))
    solved = cp.Problem(cp.Minimize(cp.sum(losses) + pull / 2 * (cp.square(a) + cp.square(b))))
    solved.solve(solver="CLARABEL")
    return (1 + a.value) * z + b.value
