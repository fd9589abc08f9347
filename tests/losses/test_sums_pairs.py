"""The mean over pairs, computed by sorting, against the sum over all pairs."""

import itertools

import numpy as np
import pytest

from cases import cases
from limo._kernels.losses import FEW
from limo._views import Pattern
from limo.losses import Term, _blocks
from limo.losses._sums import add_up
from limo.losses._term import Weighted, base_of
from naive import losses as naive

LOSSES = {"squared_hinge": ("squared_hinge", 0.0), "hinge": ("hinge", 0.0), 0.25: ("hinge", 0.25)}
"""A base, and the width that rounds its corner."""
WEIGHTS = [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.5, 2.0, 3.0)]


def pattern(Y):
    return Pattern.from_flat(np.flatnonzero(Y), Y.shape)


def parts_of(Y, weights, scheme, loss):
    base, _ = LOSSES[loss]
    views = zip(("rows", "columns", "entries"), weights, strict=True)
    return [
        Weighted.of(Term(view, "mean", base, weight, scheme), pattern(Y)) for view, weight in views
    ]


def pair_loss(S, Y, weights, scheme, loss):
    return add_up(S, pattern(Y), parts_of(Y, weights, scheme, loss), LOSSES[loss][1])


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("scheme", ["measure", "uniform"])
@pytest.mark.parametrize("weights", WEIGHTS, ids=["rows", "columns", "entries", "all"])
def test_value_and_gradient_equal_the_sum_over_all_pairs(loss, scheme, weights):
    """Scores are multiples of 1/4, so that many pairs lie exactly on a corner of the loss."""
    for Y, S, _ in cases(40, seed=70):
        scores = S / 10 if S.max() > 10 else S
        value, gradient = pair_loss(scores, Y, weights, scheme, loss)
        expected, slopes = naive.pair_loss(Y, scores, weights, loss, scheme)
        assert value == pytest.approx(expected, rel=1e-10, abs=1e-12)
        np.testing.assert_allclose(gradient, slopes, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("spread", [0.3, 1.0, 4.0])
def test_rows_with_many_relevant_items(loss, spread):
    """Rows and columns on either side of FEW, where the kernel changes its way."""
    rng = np.random.default_rng(74)
    Y = (rng.random((3, 2 * FEW + 40)) < np.array([[0.1], [0.5], [0.9]])).astype(int)
    S = np.round(8 * spread * rng.normal(size=Y.shape)) / 8
    fewest = np.minimum(Y.sum(axis=1), (1 - Y).sum(axis=1))
    assert fewest.min() <= FEW < fewest.max()
    value, gradient = pair_loss(S, Y, (1, 1, 0), "measure", loss)
    expected, slopes = naive.pair_loss(Y, S, (1, 1, 0), loss, "measure")
    assert value == pytest.approx(expected, rel=1e-10)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("loss", ["squared_hinge", 0.25])
def test_gradient_equals_finite_differences_where_smooth(loss):
    rng = np.random.default_rng(71)
    Y = (rng.random((6, 5)) < 0.4).astype(int)
    S = rng.normal(size=Y.shape)
    _, gradient = pair_loss(S, Y, (0.5, 2.0, 3.0), "measure", loss)
    step = 1e-6
    for i, j in itertools.product(*map(range, S.shape)):
        ends = []
        for sign in (1, -1):
            moved = S.copy()
            moved[i, j] += sign * step
            ends.append(pair_loss(moved, Y, (0.5, 2.0, 3.0), "measure", loss)[0])
        assert gradient[i, j] == pytest.approx((ends[0] - ends[1]) / (2 * step), abs=1e-7)


def test_the_smoothed_hinge_stays_close_below_the_hinge():
    rng = np.random.default_rng(73)
    Y = (rng.random((20, 8)) < 0.4).astype(int)
    S = rng.normal(size=Y.shape)
    parts = parts_of(Y, (1.0, 1.0, 1.0), "measure", "hinge")
    exact, _ = add_up(S, pattern(Y), parts)
    for width in (0.5, 0.1, 0.01):
        smooth, _ = add_up(S, pattern(Y), parts, width)
        assert exact - 3 * width / 2 <= smooth <= exact


@pytest.mark.parametrize("loss", LOSSES)
def test_equal_scores_lose_what_all_pairs_weigh(loss):
    for Y, _, _ in cases(40, seed=75):
        weights = (0.5, 2.0, 3.0)
        value, _ = pair_loss(np.zeros(Y.shape), Y, weights, "measure", loss)
        parts, width = parts_of(Y, weights, "measure", loss), LOSSES[loss][1]
        assert value == pytest.approx(sum(part.at_equal_scores(width) for part in parts))
        base = base_of(parts[0].term, width)
        assert base(-1.0) == base(0.0) == 0


def test_rows_without_pairs_weigh_nothing():
    rows, columns, _ = parts_of(np.array([[1, 1], [0, 0]]), (1.0, 1.0, 0.0), "uniform", "hinge")
    assert not rows.weights.any()
    assert columns.weights.tolist() == [0.5, 0.5]
    nothing = parts_of(np.zeros((2, 2), int), (1.0, 1.0, 1.0), "measure", "hinge")
    assert not any(part.matters for part in nothing)


@pytest.mark.parametrize("view", ["rows", "columns", "entries"])
def test_threads_change_nothing(view, monkeypatch):
    rng = np.random.default_rng(72)
    Y = (rng.random((200, 100)) < 0.1).astype(int)
    S = rng.normal(size=Y.shape)
    for aggregation in ("mean", "top", "bottom", "worst", "pointwise"):
        parts = [Weighted.of(Term(view, aggregation), pattern(Y))]
        monkeypatch.undo()
        shared = add_up(S, pattern(Y), parts)
        monkeypatch.setattr(_blocks, "n_workers", lambda: 1)
        monkeypatch.setenv("OMP_NUM_THREADS", "1")
        alone = add_up(S, pattern(Y), parts)
        assert shared[0] == pytest.approx(alone[0], rel=1e-13)
        np.testing.assert_allclose(shared[1], alone[1], atol=1e-15)
