import itertools

import numpy as np
import pytest

from cases import cases
from limo import losses
from limo._kernels.losses import FEW
from limo._views import Pattern
from limo.losses import (
    HINGE,
    SQUARED_HINGE,
    PairWeights,
    ViewWeights,
    pair_loss,
    smoothed_hinge,
)
from naive import losses as naive

LOSSES = {"squared_hinge": SQUARED_HINGE, "hinge": HINGE, 0.25: smoothed_hinge(0.25)}
WEIGHTS = [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.5, 2.0, 3.0)]


def pattern(Y):
    return Pattern.from_flat(np.flatnonzero(Y), Y.shape)


def weights_of(Y, weights, scheme):
    label, instance, entry = weights
    return PairWeights.of(pattern(Y), ViewWeights(label, instance, entry), scheme)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("scheme", ["measure", "uniform"])
@pytest.mark.parametrize("weights", WEIGHTS, ids=["rows", "columns", "entries", "all"])
def test_value_and_gradient_equal_the_sum_over_all_pairs(loss, scheme, weights):
    """Scores are multiples of 1/4, so that many pairs lie exactly on a corner of the loss."""
    for Y, S, _ in cases(40, seed=70):
        scores = S / 10 if S.max() > 10 else S
        value, gradient = pair_loss(
            scores, pattern(Y), weights_of(Y, weights, scheme), LOSSES[loss]
        )
        expected, slopes = naive.pair_loss(Y, scores, weights, loss, scheme)
        assert value == pytest.approx(expected, rel=1e-10, abs=1e-12)
        np.testing.assert_allclose(gradient, slopes, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("spread", [0.3, 1.0, 4.0])
def test_rows_with_many_relevant_items(loss, spread):
    """Rows and columns on either side of FEW, where the kernel changes its way."""
    rng = np.random.default_rng(74)
    Y = (rng.random((30, 25)) < np.linspace(0.05, 0.95, 25)).astype(int)
    S = np.round(8 * spread * rng.normal(size=Y.shape)) / 8
    assert Y.sum(axis=0).min() <= FEW < Y.sum(axis=1).max()
    value, gradient = pair_loss(S, pattern(Y), weights_of(Y, (1, 1, 1), "measure"), LOSSES[loss])
    expected, slopes = naive.pair_loss(Y, S, (1, 1, 1), loss, "measure")
    assert value == pytest.approx(expected, rel=1e-10)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("loss", ["squared_hinge", 0.25])
def test_gradient_equals_finite_differences_where_smooth(loss):
    rng = np.random.default_rng(71)
    Y = (rng.random((6, 5)) < 0.4).astype(int)
    S = rng.normal(size=Y.shape)
    weights = weights_of(Y, (0.5, 2.0, 3.0), "measure")
    _, gradient = pair_loss(S, pattern(Y), weights, LOSSES[loss])
    step = 1e-6
    for i, j in itertools.product(*map(range, S.shape)):
        ends = []
        for sign in (1, -1):
            moved = S.copy()
            moved[i, j] += sign * step
            ends.append(pair_loss(moved, pattern(Y), weights, LOSSES[loss])[0])
        assert gradient[i, j] == pytest.approx((ends[0] - ends[1]) / (2 * step), abs=1e-7)


def test_threads_change_nothing(monkeypatch):
    rng = np.random.default_rng(72)
    Y = (rng.random((200, 100)) < 0.1).astype(int)
    S = rng.normal(size=Y.shape)
    weights = weights_of(Y, (1.0, 1.0, 1.0), "measure")
    side_by_side = pair_loss(S, pattern(Y), weights, SQUARED_HINGE)
    monkeypatch.setattr(losses, "n_workers", lambda: 1)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    alone = pair_loss(S, pattern(Y), weights, SQUARED_HINGE)
    assert side_by_side[0] == pytest.approx(alone[0], rel=1e-13)
    np.testing.assert_allclose(side_by_side[1], alone[1], atol=1e-15)


def test_the_smoothed_hinge_stays_close_below_the_hinge():
    rng = np.random.default_rng(73)
    Y = (rng.random((20, 8)) < 0.4).astype(int)
    S = rng.normal(size=Y.shape)
    weights = weights_of(Y, (1.0, 1.0, 1.0), "measure")
    exact, _ = pair_loss(S, pattern(Y), weights, HINGE)
    for width in (0.5, 0.1, 0.01):
        smooth, _ = pair_loss(S, pattern(Y), weights, smoothed_hinge(width))
        assert exact - 3 * width / 2 <= smooth <= exact


@pytest.mark.parametrize("loss", LOSSES)
def test_equal_scores_lose_what_all_pairs_weigh(loss):
    for Y, _, _ in cases(40, seed=75):
        weights = weights_of(Y, (0.5, 2.0, 3.0), "measure")
        value, _ = pair_loss(np.zeros(Y.shape), pattern(Y), weights, LOSSES[loss])
        assert value == pytest.approx(weights.total(pattern(Y)) * LOSSES[loss](1.0))
        assert LOSSES[loss](-1.0) == LOSSES[loss](0.0) == 0


def test_rows_without_pairs_weigh_nothing():
    weights = weights_of(np.array([[1, 1], [0, 0]]), (1.0, 1.0, 0.0), "uniform")
    assert not weights.rows.any()
    assert weights.columns.tolist() == [0.5, 0.5]
    nothing = weights_of(np.zeros((2, 2), int), (1.0, 1.0, 1.0), "measure")
    assert not nothing.rows.any()
    assert nothing.entries == 0
