"""Random labels and sparse scores, with the dense scores they stand for."""

import numpy as np
from scipy import sparse


def stored_case(rng):
    """Places without a score, rows without any, stored zeros, relevant labels without a score."""
    m, l = rng.integers(1, 9), rng.integers(1, 8)
    kept = rng.random((m, l)) < rng.choice([0.1, 0.5, 0.9])
    S = rng.integers(-2, 3, (m, l)) / 2.0
    Y = (rng.random((m, l)) < 0.4).astype(int)
    stored = sparse.csr_array((S[kept], np.nonzero(kept)), shape=(m, l))
    return Y, stored, np.where(kept, S, -np.inf)
