"""Small problems for every solver: labels with empty and full rows, dense and sparse features."""

import numpy as np
from scipy import sparse

from limo._solvers.problem import Features, Problem
from limo._views import Pattern
from limo.models._limo import mean_terms

WEIGHTS = {
    "label": (1.0, 0.0, 0.0),
    "instance": (0.0, 1.0, 0.0),
    "entry": (0.0, 0.0, 1.0),
    "all": (0.5, 1.0, 2.0),
}


def arrays(seed=0, m=12, d=4, l=3):
    """Features and labels, one instance without labels and one with all."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d))
    X[3] = 0.0
    Y = (X @ rng.normal(size=(d, l)) + rng.normal(size=(m, l)) > 0.3).astype(int)
    Y[0], Y[1] = 0, 1
    return X, Y


def problem(
    X, Y, weights="all", *, alpha=0.1, loss="squared_hinge", scheme="measure", constant=1.0
):
    """The problem of these arrays with means over pairs."""
    terms = mean_terms(*WEIGHTS[weights], base=loss, share=scheme)
    return problem_of(X, Y, terms, alpha=alpha, constant=constant)


def problem_of(X, Y, terms, *, alpha=0.1, constant=1.0):
    """The problem of these arrays with any terms."""
    pattern = Pattern.from_flat(np.flatnonzero(Y), Y.shape)
    X = X if sparse.issparse(X) else np.ascontiguousarray(X)
    return Problem(Features(X, constant), pattern, tuple(terms), alpha)
