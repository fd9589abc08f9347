import numpy as np
import pytest
from scipy import sparse

from limo._solvers.objective import Resident, Streaming
from limo.losses import HINGE, SQUARED_HINGE
from naive import losses as naive
from solvers.problems import WEIGHTS, arrays, problem

X, Y = arrays(m=23, d=5, l=4)
rng = np.random.default_rng(1)
W, D = rng.normal(size=(2, 6, 4))


def kinds(weights):
    given = problem(sparse.csr_array(X), Y, weights)
    tiny = 4 * 8 * 30  # room for thirty entries: blocks of seven instances, of one label
    return [Resident(given), Streaming(problem(X, Y, weights), tiny)]


@pytest.mark.parametrize("weights", WEIGHTS)
def test_value_and_gradient_equal_the_definition(weights):
    S = X @ W[:-1] + W[-1]
    loss, slopes = naive.pair_loss(Y, S, WEIGHTS[weights], "squared_hinge", "measure")
    full = np.hstack([X, np.ones((len(X), 1))])
    for objective in kinds(weights):
        point = objective.start(W)
        assert point.value == pytest.approx(loss + 0.05 * (W**2).sum(), rel=1e-11)
        np.testing.assert_allclose(point.gradient, full.T @ slopes + 0.1 * W, atol=1e-11)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_rays_equal_new_starts(weights):
    for objective in kinds(weights):
        ray = objective.along(objective.start(W), D)
        for t in (0.5, 2.0):
            value, slope = ray.at(t)
            fresh = objective.start(W + t * D)
            assert value == pytest.approx(fresh.value, rel=1e-12)
            assert slope == pytest.approx((fresh.gradient * D).sum(), rel=1e-10)
        arrived = ray.arrive()
        np.testing.assert_allclose(arrived.W, W + 2 * D)
        np.testing.assert_allclose(arrived.gradient, fresh.gradient, atol=1e-11)


def test_value_under_another_loss():
    S = X @ W[:-1] + W[-1]
    loss, _ = naive.pair_loss(Y, S, WEIGHTS["all"], "hinge", "measure")
    for objective in kinds("all"):
        point = objective.start(W)
        objective.loss = HINGE
        assert objective.value(point) == pytest.approx(loss + 0.05 * (W**2).sum())
        objective.loss = SQUARED_HINGE
        assert objective.value(point) == pytest.approx(point.value)


def test_blocks_are_small_and_passes_are_counted():
    resident, streaming = kinds("all")
    assert streaming.row_step == 7
    assert streaming.label_step == 1
    resident.start(W)
    assert resident.passes == 2
    streaming.start(W)
    # rows 2, entries 4, and of each of four labels 2 with the features of all instances
    assert streaming.passes == 6 + 8
