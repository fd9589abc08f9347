"""Data made by rule: the paper's Figure 1."""

import numpy as np

from limo.datasets.dataset import Dataset

__all__ = ["figure1"]

# The four triangles into which the diagonals cut the square, and the labels A, B, C, D of each.
_REGION_LABELS = np.array(
    [
        [1, 0, 0, 0],  # right:  x > |y|
        [1, 1, 1, 0],  # top:    y > |x|
        [0, 1, 0, 1],  # left:  -x > |y|
        [1, 1, 1, 1],  # bottom: -y > |x|
    ],
    dtype=np.int8,
)


def figure1(n: int = 2000, *, seed: int | np.random.Generator | None = 0) -> Dataset:
    """Points of a square whose four triangles carry four different label sets.

    The synthetic data of the paper (its Figure 1): points uniform in (-1, 1)², parted by the two
    diagonals; right {A}, top {A, B, C}, left {B, D}, bottom {A, B, C, D}. No linear
    learner separates label C, whose triangles lie opposite each other.

    Parameters
    ----------
    n : int, default=2000
        How many points.
    seed : int, generator or None, default=0
        The same seed gives the same data; None gives new data each time.

    Returns
    -------
    Dataset
        ``X`` of shape (n, 2), ``Y`` of shape (n, 4).

    Examples
    --------
    >>> data = figure1(1000, seed=1)
    >>> data.X.shape, data.Y.shape, data.label_names
    ((1000, 2), (1000, 4), ('A', 'B', 'C', 'D'))
    """
    X = np.random.default_rng(seed).uniform(-1.0, 1.0, size=(n, 2))
    x, y = X.T
    region = np.select([x > np.abs(y), y > np.abs(x), -x > np.abs(y)], [0, 1, 2], default=3)
    return Dataset(X, _REGION_LABELS[region], ("x", "y"), tuple("ABCD"), "figure1")
