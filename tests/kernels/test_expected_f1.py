import numpy as np
import pytest

from limo._kernels.expected_f1 import best_sizes
from naive.thresholds import expected_f1, independent


def best(p, nothing=0.0):
    sizes, expected = np.empty(1, dtype=np.int64), np.empty(1)
    best_sizes(np.array([p]), nothing, sizes, expected)
    return int(sizes[0]), float(expected[0])


@pytest.mark.parametrize("nothing", [0.0, 0.5, 1.0])
def test_equals_enumeration_over_all_label_sets(nothing):
    rng = np.random.default_rng(40)
    for _ in range(60):
        p = np.sort(rng.random(rng.integers(1, 6)) ** rng.choice([1, 3]))[::-1]
        chance = independent(p)
        values = [
            expected_f1(chance, [1] * k + [0] * (p.size - k), nothing) for k in range(p.size + 1)
        ]
        size, value = best(p, nothing)
        assert value == pytest.approx(max(values), abs=1e-12)
        assert values[size] == pytest.approx(max(values), abs=1e-12)
        # and no other set of labels does better
        assert value >= max(expected_f1(chance, h, nothing) for h in chance) - 1e-12


def test_by_hand():
    """One sure label: F1 is 1. Two of probability 1/2: both give (1/2 2/3 + 1/4 1) = 7/12."""
    assert best([1.0, 0.0]) == (1, 1.0)
    assert best([0.5, 0.5]) == (2, pytest.approx(7 / 12))


def test_nothing_probable():
    assert best([0.0, 0.0]) == (0, 0.0)
    assert best([0.0, 0.0], nothing=1.0) == (0, 1.0)


def test_many_rows_of_different_reach_share_scratch():
    rng = np.random.default_rng(41)
    P = -np.sort(-(rng.random((6, 40)) ** np.array([[0.2], [8], [1], [20], [0.5], [3]])), axis=1)
    sizes, expected = np.empty(6, dtype=np.int64), np.empty(6)
    best_sizes(P, 0.0, sizes, expected)
    for i in range(6):
        assert best(P[i]) == (sizes[i], expected[i])


def test_equal_probabilities_are_not_parted():
    rng = np.random.default_rng(42)
    for _ in range(100):
        p = np.sort(rng.choice([0.1, 0.3, 0.6], size=6))[::-1]
        size, _ = best(p)
        assert size in (0, 6) or p[size] < p[size - 1]
