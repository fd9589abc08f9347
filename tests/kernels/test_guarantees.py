import numpy as np
import pytest

from limo._kernels.guarantees import extreme_f1, extreme_precisions, row_orders
from naive import guarantees as naive


def test_row_orders_equal_their_twin():
    for order in naive.orders(3, 4):
        ahead = np.array([order[:i].count(0) for i in range(7) if order[i]])
        found = np.empty((4, 2))
        row_orders(np.array([0, 3, 3]), ahead, found)
        expected = naive.values(order)
        assert found[:, 0] == pytest.approx(
            [ahead[0], ahead[-1], expected["average_precision"], expected["f1"]]
        )
        assert np.isnan(found[:, 1]).all()


def test_rows_of_unlike_sizes_share_a_table():
    triples = [(p, n, b) for p in (1, 2, 4) for n in (2, 3) for b in range(1, p * n + 1)]
    limits = np.array(
        [
            [max(size(n, b) for p, n, b in triples if p >= k) for k in range(1, 5)]
            for size in (min, lambda _, b: b)
        ]
    )
    found = np.empty((2, len(triples)))
    extreme_precisions(np.array(triples).T.copy(), limits, found)
    expected = [naive.extremes(p, n)[b, "average_precision"] for p, n, b in triples]
    assert pytest.approx(np.array(expected)) == found.T


def test_f1_of_very_many_items():
    """All of 10^4 relevant items behind one irrelevant one: F1 is that of predicting all of them."""
    low, high = extreme_f1(10_000, 10**6, 10_000.0)
    assert low <= 20_000 / 20_001 <= high
    assert extreme_f1(5, 10, 50.0) == pytest.approx((0.5, 0.5))
