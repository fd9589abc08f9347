"""Random label and score matrices with everything that can go wrong in one."""

import os

import numpy as np


def times(n):
    """How many random cases to try: ``n``, or as many times ``n`` as LIMO_CASES says."""
    return n * int(os.environ.get("LIMO_CASES", "1"))


def random_case(rng):
    """Labels, scores and predictions with ties, empty and full rows, constant labels."""
    m, l = rng.integers(1, 9), rng.integers(1, 8)
    Y = (rng.random((m, l)) < rng.choice([0.1, 0.3, 0.5, 0.9])).astype(int)
    P = (rng.random((m, l)) < rng.choice([0.1, 0.5, 0.9])).astype(int)
    levels = rng.choice([1, 2, 4, 1000])
    S = rng.integers(0, levels, (m, l)) / 4.0 - 1.0
    for matrix in (Y, P):
        for axis in (0, 1):
            if rng.random() < 0.3:
                place = [slice(None)] * 2
                place[axis] = rng.integers(matrix.shape[axis])
                matrix[tuple(place)] = rng.integers(2)
    return Y, S, P


def cases(n, seed):
    """Yield ``n`` reproducible cases."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        yield random_case(rng)


def effective_case(rng, kind, *, constant=False):
    """Labels and scores of a predictor effective in the given way, otherwise arbitrary.

    Without ``constant`` no row and no column is empty or full, so every measure is defined.
    """
    while True:
        m, l = rng.integers(2, 8), rng.integers(2, 7)
        Y = rng.random((m, l)) < rng.uniform(0.2, 0.8)
        if constant or all(Y.sum(a).min() > 0 and Y.sum(a).max() < Y.shape[a] for a in (0, 1)):
            break
    S = rng.normal(size=(m, l))
    raised = np.where(Y, np.abs(S) + 0.01, -np.abs(S))
    if kind == "label-wise":
        S = raised + rng.normal(scale=5, size=(m, 1))
    elif kind == "instance-wise":
        S = raised + rng.normal(scale=5, size=(1, l))
    elif kind == "entry-wise":
        S = raised + rng.normal(scale=5)
    elif kind == "absolute":
        S = raised
    elif kind == "double":
        S = rng.uniform(0.1, 1, size=(m, l))
        for i, j in zip(*np.nonzero(~Y), strict=True):
            rivals = np.concatenate([S[i, Y[i]], S[Y[:, j], j], [1.0]])
            S[i, j] = rng.uniform(0, rivals.min())
    return Y.astype(int), S
