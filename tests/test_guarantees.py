"""Every bound of a row against all its orders, and beyond these against random ones."""

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import limo._guarantees as own
from limo._guarantees import BOUNDS, from_any_order, from_margins, has_table
from naive import guarantees as naive

# without the compiler, tables of long rows take too long
LONGEST = (5, 8) if numba.config.DISABLE_JIT else (30, 60)
SIZES = [(p, total - p) for total in range(2, 10) for p in range(1, total)]


def bounds(name, p, n, b):
    return BOUNDS[name](*(np.array([number]) for number in (p, n, b)))[:, 0]


@pytest.mark.parametrize("name", BOUNDS)
def test_every_bound_is_the_extreme_of_all_orders(name):
    """All orders of all rows with p + n <= 9: the bounds hold, and each is attained."""
    for p, n in SIZES:
        found = naive.extremes(p, n)
        for b in range(p * n + 1):
            assert bounds(name, p, n, b) == pytest.approx(found[b, name], abs=1e-12), (p, n, b)


@pytest.mark.parametrize("name", BOUNDS)
def test_bounds_from_margins_are_the_extremes_of_all_orders(name):
    for p, n in SIZES:
        found = naive.extremes(p, n)
        size = np.array([p]), np.array([n])
        every = [found[b, name] for b in range(p * n + 1)]
        ends = (min(low for low, _ in every[1:]), max(high for _, high in every[1:]))
        assert from_margins(name, *size, np.array([False]))[:, 0] == pytest.approx(ends)
        assert from_margins(name, *size, np.array([True]))[:, 0] == pytest.approx(every[0])
        ends = (min(low for low, _ in every), max(high for _, high in every))
        assert from_any_order(name, *size)[:, 0] == pytest.approx(ends)


@st.composite
def rows(draw):
    p, n = draw(st.integers(1, LONGEST[0])), draw(st.integers(1, LONGEST[1]))
    return draw(st.permutations([1] * p + [0] * n))


@settings(deadline=None, derandomize=True)
@given(rows())
def test_bounds_hold_for_any_order(order):
    p = sum(order)
    b, found = naive.misordered(order), naive.values(order)
    for name in BOUNDS:
        low, high = bounds(name, p, len(order) - p, b)
        assert low - 1e-12 <= found[name] <= high + 1e-12


@settings(deadline=None, derandomize=True)
@given(rows())
def test_bounds_without_a_table_hold_for_any_order(order):
    p = sum(order)
    n, b, found = len(order) - p, naive.misordered(order), naive.values(order)["average_precision"]
    low, high = own.least_precision(p, n, float(b)), own.greatest_precision(p, n, float(b))
    assert low - 1e-12 <= found <= high + 1e-12
    exact = bounds("average_precision", p, n, b)
    assert low <= exact[0] + 1e-12
    assert exact[1] <= high + 1e-12


def test_all_bounds_are_monotone_in_the_misordered_pairs():
    for p, n in ((3, 7), (6, 5), (2, 20)):
        b = np.arange(p * n + 1)
        for name, function in BOUNDS.items():
            lines = function(np.full_like(b, p), np.full_like(b, n), b)
            sign = 1 if name in ("ranking_loss", "one_error", "coverage") else -1
            assert (sign * np.diff(lines, axis=1) >= -1e-12).all()


def test_bounds_by_hand():
    """p = 2, n = 10, b = 10: (4, 6) is lower than (5, 5), and (0, 10) is the highest."""
    low, high = bounds("average_precision", 2, 10, 10)
    assert low == pytest.approx((1 / 5 + 2 / 8) / 2)
    assert low < (1 / 6 + 2 / 7) / 2
    assert high == pytest.approx((1 + 2 / 12) / 2)
    assert bounds("coverage", 2, 10, 10).tolist() == [1 + 5, 1 + 10]
    assert bounds("one_error", 2, 10, 10).tolist() == [0, 1]
    assert bounds("one_error", 2, 10, 1).tolist() == [0, 0]
    assert bounds("one_error", 2, 10, 11).tolist() == [1, 1]
    # highest F1: cut after the first; lowest: a_1 = 3 and a_2 = 6 keep every cut at 2 k / (2 + k + a)
    assert bounds("f1", 2, 10, 10)[1] == pytest.approx(2 / 3)


def test_the_highest_precision_is_not_always_the_most_unequal_order():
    """p = 2, n = 10, b = 18: (9, 9) is better than (8, 10)."""
    high = bounds("average_precision", 2, 10, 18)[1]
    assert high == pytest.approx((1 / 10 + 2 / 11) / 2)
    assert high > (1 / 9 + 2 / 12) / 2


def test_rows_without_pairs():
    p, n, b = np.array([0, 3, 0]), np.array([4, 0, 0]), np.zeros(3, dtype=int)
    for name in ("ranking_loss", "auc"):
        assert np.isnan(BOUNDS[name](p, n, b)).all()
    for name, full in {"one_error": 0, "coverage": 2, "average_precision": 1, "f1": 1}.items():
        assert BOUNDS[name](p, n, b)[:, 1].tolist() == [full, full]
        assert np.isnan(BOUNDS[name](p, n, b)[:, [0, 2]]).all()
        assert from_any_order(name, p, n)[:, 1].tolist() == [full, full]
        assert np.isnan(from_margins(name, p, n, np.zeros(3, dtype=bool))[:, 0]).all()


def test_rows_too_long_for_the_table_get_bounds_that_hold():
    p, n, b = np.array([50, 3]), np.array([3950, 3997]), np.array([90_000, 5])
    assert has_table(p, n, b, size=8000.0).tolist() == [False, True]
    low, high = BOUNDS["average_precision"](p, n, b)
    assert 0 < low[0] < high[0] < 1
    rng = np.random.default_rng(0)
    for _ in range(20):
        shares = np.sort(rng.dirichlet(np.full(50, rng.choice([0.1, 1, 10]))) * 90_000)
        if shares[-1] > 3950:
            continue
        value = (np.arange(1, 51) / (np.arange(1, 51) + shares)).mean()
        assert low[0] <= value <= high[0]


@pytest.mark.parametrize(("p", "n", "share"), [(2.5, 4.0, 0.3), (1.0, 3.5, 0.9), (7.5, 1.5, 0.05)])
def test_weighted_bounds_are_the_limit_of_repeated_items(p, n, share):
    """Parts of 1 / q of a weight are whole items of another row; the more, the closer."""
    low, high = bounds("f1", p, n, share * p * n)
    gaps = []
    for q in (2, 20, 200, 2000):
        whole = bounds("f1", round(p * q), round(n * q), round(share * p * n * q * q))
        assert low - 1e-9 <= whole[0] <= whole[1] <= high + 1e-9
        gaps.append(max(whole[0] - low, high - whole[1]))
    assert gaps[-1] < 1e-3
    assert gaps[-1] < gaps[0]


def test_weighted_bounds_of_rows_without_pairs_and_of_the_extremes():
    p, n = np.array([0.0, 1.5, 0.0, 2.5]), np.array([2.5, 0.0, 0.0, 0.4])
    found = BOUNDS["f1"](p, n, np.zeros(4))
    assert np.array_equal(found, np.array([[np.nan, 1, np.nan, 1]] * 2), equal_nan=True)
    every = from_any_order("f1", p, n)
    assert every[:, 3] == pytest.approx([5 / 5.4, 1])
    assert from_margins("f1", p, n, np.zeros(4, dtype=bool))[:, 3] == pytest.approx([5 / 5.4, 1])
    assert from_margins("f1", p, n, np.ones(4, dtype=bool))[:, 3].tolist() == [1, 1]
