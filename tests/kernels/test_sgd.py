import numpy as np
import pytest

from limo._kernels.sgd import (
    Draws,
    Rates,
    Weights,
    _add,
    _count_idle,
    _missing,
    _shrink,
    alias_table,
    draw_pair,
    finish,
    run_steps,
)


def test_missing_numbers_are_counted_over_the_present_ones():
    rng = np.random.default_rng(0)
    for _ in range(50):
        n = int(rng.integers(1, 12))
        present = np.flatnonzero(rng.random(n) < 0.5)
        padded = np.concatenate([[9, 9], present, [0]])  # only the part between the bounds counts
        absent = np.setdiff1d(np.arange(n), present)
        found = [_missing(padded, 2, 2 + present.size, k) for k in range(absent.size)]
        assert found == absent.tolist()


def test_a_pair_is_a_one_and_a_zero_of_one_row():
    Y = np.array([[1, 0, 1, 0], [0, 1, 0, 0], [1, 1, 1, 1]])
    rows, items = np.nonzero(Y[:2])
    indptr, indices = np.array([0, 2, 3, 7]), np.nonzero(Y)[1]
    draws = Draws(rows, items, alias_table(np.ones(3)), indptr, indices, 4, np.empty(0))
    rng = np.random.default_rng(0)
    found = {draw_pair(draws, rng) for _ in range(300)}
    assert found == {
        (i, u, v) for i in (0, 1) for u in range(4) for v in range(4) if Y[i, u] and not Y[i, v]
    }


def test_zeros_are_accepted_in_proportion_to_their_weights():
    """The zeros of the row are the items 1, 2 and 3; 2 is never accepted, 1 twice as often as 3."""
    one, indices = np.zeros(1, np.int64), np.array([0])
    accept = np.array([0.0, 1.0, 0.0, 0.5])
    draws = Draws(one, one, alias_table(np.ones(1)), np.array([0, 1]), indices, 4, accept)
    rng = np.random.default_rng(0)
    counts = np.bincount([draw_pair(draws, rng)[2] for _ in range(3000)], minlength=4)
    assert counts[[0, 2]].tolist() == [0, 0]
    assert counts[1] == pytest.approx(2000, abs=100)


@pytest.mark.parametrize("keep", [0.5, 0.99, 1.0])
def test_two_numbers_represent_shrinking_and_the_sum(keep):
    """Whatever happens to a label, multiplying out gives the result of plain arithmetic."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5, 4))
    w, total, n = rng.normal(size=4), np.zeros(4), 0
    weights = Weights(w[None].copy(), np.zeros((1, 4)), np.ones(1), np.zeros(1), np.zeros(1, int))
    for _ in range(60):  # a keep of 0.5 passes the lowest scale after twenty
        idle, i, amount = int(rng.integers(3)), int(rng.integers(5)), rng.normal()
        total, n = total + idle * w, n + idle
        _count_idle(weights, 0, n)
        _shrink(weights, 0, keep)
        _add(X, i, weights, 0, amount)
        w = keep * w + amount * X[i]
    finish(weights, n)
    np.testing.assert_allclose(weights.V[0], w, rtol=1e-12)
    np.testing.assert_allclose(weights.U[0], total, rtol=1e-9)


def test_without_draws_nothing_moves():
    nothing = np.empty(0, np.int64)
    draws = Draws(
        nothing, nothing, alias_table(np.empty(0)), np.zeros(2, np.int64), nothing, 2, np.empty(0)
    )
    W = np.ones((2, 3))
    weights = Weights(W.copy(), 0 * W, np.ones(2), np.zeros(2), np.zeros(2, np.int64))
    args = weights, Rates(0.9, 1.0, 1.0), 0, 10, np.random.default_rng(0)
    assert run_steps(np.ones((1, 3)), draws, draws, *args) == (0, 0)
    finish(weights, 10)
    assert np.array_equal(weights.V, W)
    assert np.array_equal(weights.U, 10 * W)
