"""Kernels of the pair loss; their sums are proved in tests/test_losses.py."""

import numpy as np
import pytest

from limo._kernels.losses import (
    _count_below,
    add_row_pairs,
    ascending,
    gather,
    mean_pairs,
    prepare,
)
from limo._kernels.soft import Items
from naive import losses as naive


@pytest.mark.parametrize("outlier", [0.0, -1e6, 1e100])
def test_count_below_equals_a_walk(outlier):
    rng = np.random.default_rng(0)
    for _ in range(100):
        ordered = np.sort(np.append(rng.integers(0, 5, rng.integers(1, 12)), outlier)).astype(float)
        relevant = prepare(ordered, np.ones(ordered.size))
        for value in (*ordered, *rng.normal(2, 3, size=5), -np.inf):
            assert _count_below(relevant, value) == sum(x < value for x in ordered)


def test_running_sums():
    relevant = prepare(np.array([1.0, 2.0, 4.0]), np.array([1.0, 1.0, 3.0]))
    assert relevant.counts.tolist() == [0, 1, 2, 5]
    assert relevant.sums.tolist() == [0, 1, 3, 15]
    assert relevant.squares.tolist() == [0, 1, 5, 53]


def test_one_pair_by_hand():
    """s_r = 0.25, s_v = 0.5, so z = 1.25: squared hinge 1.5625, derivative 2.5, weight 2."""
    gradient = np.array([[10.0, 20.0]])
    value = add_row_pairs(
        np.array([[0.25, 0.5]]),
        Items(np.array([0, 1]), np.array([0]), np.empty(0, dtype=bool), np.empty(0)),
        np.array([2.0]),
        np.array([2.0, np.inf, 0.0]),
        gradient,
    )
    assert value == pytest.approx(2 * 1.5625)
    assert gradient.tolist() == [[10 - 5, 20 + 5]]


def test_differences_by_hand():
    """Two irrelevant ones, with s + 1 = 1.5, act on both relevant scores; one more on the line."""
    slopes = np.empty(2)
    differences = np.array([[2.0, 0.0, -2.0], [3.0, 0.0, -3.0], [1.0, -1.0, 0.0]])
    relevant = prepare(np.array([0.5, 1.0]), np.array([1.0, 10.0]))
    gather(relevant, np.array([2.0, 9.0, 7.0]), differences, slopes)
    assert slopes.tolist() == [-2 * (3 - 2 * 0.5) - 7, -20 * (3 - 2 * 1.0)]


@pytest.mark.parametrize(
    "values",
    [
        np.random.default_rng(2).normal(size=500),
        np.random.default_rng(3).standard_cauchy(500),  # outliers: one bucket holds nearly all
        np.random.default_rng(4).integers(0, 9, 300) / 4,
        np.zeros(40),
        np.array([3.0]),
        np.array([1e308, -1e308, 0.0]),
        np.array([5e-324, 0.0, 1e-323]),
        np.array([np.inf, 0.0, -np.inf, 1.0]),
        np.array([0.0, np.nan, -1.0]),
    ],
)
def test_the_order_from_buckets_sorts(values):
    with np.errstate(over="ignore", invalid="ignore"):  # compiled, it never warns
        order = ascending(values)
    assert sorted(order.tolist()) == list(range(values.size))
    assert np.array_equal(values[order], np.sort(values), equal_nan=True)


@pytest.mark.parametrize("base", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_means_of_masked_rows_equal_the_sum_over_all_pairs(base, dtype):
    """Items in neither mask are left out; so are rows without pairs."""
    shape = np.array([2.0, np.inf, 0.0] if base == "squared_hinge" else [0.0, 0.0, 1.0])
    rng = np.random.default_rng(1)
    rows = (rng.integers(-8, 8, (6, 300)) / 4).astype(dtype)
    known = rng.random(rows.shape) < 0.9
    relevant = known & (rng.random(rows.shape) < np.linspace(0, 1, 6)[:, None])
    rows[~known] = np.nan
    values, slopes = np.empty(6, dtype), np.empty_like(rows)
    mean_pairs(rows, relevant, known & ~relevant, shape, values, slopes)
    for i in range(6):
        value, expected, pairs = naive.row_pairs(
            relevant[i][known[i]], rows[i][known[i]].astype(float), base
        )
        assert values[i] == pytest.approx(value / max(pairs, 1), rel=1e-5)
        np.testing.assert_allclose(slopes[i][known[i]], expected / max(pairs, 1), atol=1e-7)
        assert not slopes[i][~known[i]].any()


def test_a_score_that_is_not_finite_gives_nan():
    rows = np.array([[0.0, np.inf, 1.0], [0.0, np.nan, 1.0], [0.0, 1.0, 2.0]])
    relevant = np.array([[True, False, False]] * 3)
    values, slopes = np.empty(3), np.empty_like(rows)
    mean_pairs(rows, relevant, ~relevant, np.array([2.0, np.inf, 0.0]), values, slopes)
    assert np.isnan(values).tolist() == [True, True, False]
    assert np.isnan(slopes).all(axis=1).tolist() == [True, True, False]
