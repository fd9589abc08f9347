"""Kernels of the smooth losses; their sums are proved in tests/losses/test_sums.py."""

import numpy as np
import pytest

from limo._kernels.soft import (
    BOTTOM,
    LOGISTIC,
    TOP,
    WORST,
    Items,
    add_soft_rows,
    entry_curvature,
    entry_loss,
    sigmoid,
    soft_step,
)

ALL, NONE = np.empty(0, dtype=bool), np.empty(0)  # all are relevant; all weigh 1


@pytest.mark.parametrize("kind", [TOP, BOTTOM, WORST])
def test_one_pair_by_hand(kind):
    """s_u = 0, s_v = log 3: all three are log(1 + 3), with derivatives 3/4."""
    gradient = np.array([[10.0, 20.0]])
    value = add_soft_rows(
        np.array([[0.0, np.log(3)]]),
        Items(np.array([0, 1]), np.array([0]), ALL, NONE),
        np.array([2.0]),
        kind,
        gradient,
    )
    assert value == pytest.approx(2 * np.log(4))
    np.testing.assert_allclose(gradient, [[10 - 1.5, 20 + 1.5]])


def test_unknown_items_and_weights_by_hand():
    """Relevant 0, unknown 5, irrelevant 0 with weight 3: top is log(1 + 3), with derivative 3/4."""
    gradient = np.zeros((1, 3))
    weights = np.array([7.0, 9.0, 3.0])
    items = Items(np.array([0, 2]), np.array([0, 1]), np.array([True, False]), weights)
    value = add_soft_rows(np.array([[0.0, 5.0, 0.0]]), items, np.ones(1), TOP, gradient)
    assert value == pytest.approx(np.log(4))
    np.testing.assert_allclose(gradient, [[-0.75, 0, 0.75]])


def test_long_rows_do_not_overflow():
    """One relevant score, and 3000 irrelevant ones that equal it: bottom is log 2."""
    gradient = np.zeros((1, 3001))
    items = Items(np.array([0, 1]), np.array([0]), ALL, NONE)
    value = add_soft_rows(np.zeros((1, 3001)), items, np.ones(1), BOTTOM, gradient)
    assert value == pytest.approx(np.log(2))
    np.testing.assert_allclose(gradient[0, 1:], 0.5 / 3000)


def test_steps():
    for z in (-800.0, -1.0, 0.0, 2.0, 800.0):
        value, slope = soft_step(z)
        assert value == pytest.approx(np.logaddexp(0, z))
        assert slope == sigmoid(z)
        assert sigmoid(z) + sigmoid(-z) == pytest.approx(1)


def test_entries_by_hand():
    logistic = np.array([LOGISTIC, 0.0, 0.0])
    assert entry_loss(0.0, logistic) == pytest.approx((np.log(2), -0.5))
    assert entry_curvature(0.0, logistic) == 0.25
    squared = np.array([2.0, np.inf, 0.0])
    assert entry_loss(-1.0, squared) == (4.0, -4.0)
    assert entry_curvature(-1.0, squared) == 2.0
    assert entry_loss(1.0, squared) == (0.0, 0.0)
    assert entry_curvature(1.0, squared) == 0.0
    hinge = np.array([0.0, 0.0, 1.0])
    assert entry_loss(-1.0, hinge) == (2.0, -1.0)
    assert entry_curvature(-1.0, hinge) == 0.0
