import numpy as np
import pytest


@pytest.fixture(scope="session")
def case():
    """Labels with one empty row and a label nobody has, scores and predictions."""
    rng = np.random.default_rng(0)
    Y = (rng.random((40, 6)) < 0.35).astype(int)
    Y[:, 5] = 0
    Y[:, 0] |= Y.sum(1) == 0
    Y[0] = 0
    S = rng.normal(size=Y.shape) + 1.5 * Y
    return Y, S, (S > 0.75).astype(int)
