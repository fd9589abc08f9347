import numpy as np

import limo


def naive_labels(x: float, y: float) -> list[int]:
    if x > abs(y):
        return [1, 0, 0, 0]
    if y > abs(x):
        return [1, 1, 1, 0]
    if -x > abs(y):
        return [0, 1, 0, 1]
    return [1, 1, 1, 1]


def test_labels_follow_the_triangles() -> None:
    data = limo.datasets.figure1(500, seed=3)
    assert data.X.shape == (500, 2)
    assert np.abs(data.X).max() < 1
    assert data.Y.tolist() == [naive_labels(x, y) for x, y in data.X]


def test_two_and_a_half_labels_a_point() -> None:
    data = limo.datasets.figure1(20000, seed=0)
    assert abs(data.Y.sum(axis=1).mean() - 2.5) < 0.03


def test_seeds_are_kept() -> None:
    assert np.array_equal(limo.datasets.figure1(seed=7).X, limo.datasets.figure1(seed=7).X)
    assert not np.array_equal(limo.datasets.figure1(seed=7).X, limo.datasets.figure1(seed=8).X)
