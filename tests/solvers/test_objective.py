import numpy as np
import pytest
from scipy import sparse

from limo._solvers.blocks import BlockObjective, in_blocks
from limo._solvers.objective import Resident
from limo.losses import Term, derivatives
from naive import losses as naive
from solvers.problems import WEIGHTS, arrays, problem, problem_of

X, Y = arrays(m=23, d=5, l=4)
rng = np.random.default_rng(1)
W, D = rng.normal(size=(2, 6, 4))


def in_small_blocks(given):
    """Blocks of seven instances."""
    return BlockObjective(in_blocks(given, 4 * 8 * 30))


def kinds(weights):
    given = problem(sparse.csr_array(X), Y, weights)
    return [Resident(given), in_small_blocks(problem(X, Y, weights))]


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


def test_value_with_rounded_corners():
    S = X @ W[:-1] + W[-1]
    exact, _ = naive.pair_loss(Y, S, WEIGHTS["all"], "hinge", "measure")
    smooth, _ = naive.pair_loss(Y, S, WEIGHTS["all"], 0.25, "measure")
    for objective in (
        Resident(problem(X, Y, loss="hinge")),
        in_small_blocks(problem(X, Y, loss="hinge")),
    ):
        point = objective.start(W)
        assert point.value == pytest.approx(exact + 0.05 * (W**2).sum())
        objective.width = 0.25
        assert objective.value(point) == pytest.approx(smooth + 0.05 * (W**2).sum())
        objective.width = 0.0
        assert objective.value(point) == pytest.approx(point.value)


TERMS = [
    *(Term(view, kind) for view in ("rows", "columns", "entries") for kind in ("top", "bottom", "worst", "pointwise")),
    Term("columns", "mean", weight=0.5),
    Term("entries", "mean", weight=2.0),
]  # fmt: skip


@pytest.mark.parametrize("terms", [*([term] for term in TERMS), TERMS], ids=lambda t: len(t))
def test_any_terms_in_memory_and_in_blocks(terms):
    S = X @ W[:-1] + W[-1]
    full = np.hstack([X, np.ones((len(X), 1))])
    slopes = derivatives(Y, S, terms).gradient
    given = problem_of(X, Y, terms)
    for objective in (Resident(given), in_small_blocks(given)):
        point = objective.start(W)
        expected = naive.loss(Y, S, terms) + 0.05 * (W**2).sum()
        assert point.value == pytest.approx(expected, rel=1e-11)
        np.testing.assert_allclose(point.gradient, full.T @ slopes + 0.1 * W, atol=1e-11)
        assert objective.start(0 * W).value == pytest.approx(given.at_zero())


def test_blocks_are_small_and_passes_are_counted():
    resident, blocks = kinds("all")
    part = blocks.problem.engine.part
    assert [block.Y.shape[0] for block in part] == [7, 7, 7, 2]
    resident.start(W)
    assert resident.passes == 2
    blocks.start(W)
    # scores for the survey and for the scan, and two products with derivatives
    assert blocks.passes == 4
