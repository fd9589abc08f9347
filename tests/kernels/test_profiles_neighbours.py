import numpy as np

from limo._kernels.profiles import nearest


def search(distances, k, own=-1, close=0.0):
    distances = np.asarray(distances, dtype=float)
    found = np.zeros((len(distances), k), dtype=np.int64)
    nearest(distances, np.full(len(distances), close), own, found)
    return found.tolist()


def test_nearest_first_and_of_equal_ones_the_lower_column():
    assert search([[3, 1, 2, 1, 0]], 4) == [[4, 1, 3, 2]]
    assert search([[1, 1, 1, 1]], 2) == [[0, 1]]


def test_negative_distances_are_distances_too():
    assert search([[0, -5, -1]], 2) == [[1, 2]]


def test_a_row_leaves_itself_out():
    distances = [[0, 0, 5], [0, 0, 5], [5, 5, 0]]
    assert search(distances, 2, own=0) == [[1, 2], [0, 2], [0, 1]]
    assert search([[5, 4, 0]], 1, own=2) == [[1]]


def test_rounding_makes_no_difference():
    assert search([[1 + 1e-15, 1, 1 - 1e-15]], 2, close=1e-12) == [[0, 1]]
    assert search([[1 + 1e-9, 1]], 1, close=1e-12) == [[1]]


def test_equals_a_stable_sort():
    rng = np.random.default_rng(0)
    distances = rng.integers(0, 6, (20, 30)).astype(float)
    assert search(distances, 7) == np.argsort(distances, axis=1, kind="stable")[:, :7].tolist()
