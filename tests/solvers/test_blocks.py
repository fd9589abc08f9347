"""The objective over blocks; test_objective.py compares it with the definition, term by term."""

import numpy as np
import pytest
from scipy import sparse

from limo._solvers import exact
from limo._solvers.blocks import BlockObjective, BlockProblem, Local, in_blocks, rows_per_block
from limo._solvers.parts import Block, Part, Setting, add_summaries, summary_of
from limo._views import Pattern
from solvers.problems import arrays, problem

X, Y = arrays(m=40, d=5, l=4)


def block(X, Y):
    return Block(X, Pattern.from_flat(np.flatnonzero(Y), Y.shape))


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_the_solver_finds_the_same_minimum(keep, kind):
    given = problem(kind(X), Y)
    whole = exact.solve(given, tol=1e-10)
    cuts = [0, 3, 3, 20]
    parts = zip(np.split(X, cuts), np.split(Y, cuts), strict=True)
    part = Part([block(kind(x), y) for x, y in parts], keep)
    summary = add_summaries([summary_of(part), None])
    blocks = BlockProblem(
        Local(part), Setting(given.terms, summary.totals, 1.0), given.alpha, summary.n_features
    )
    found = exact.solve(blocks, tol=1e-10)
    assert found.converged
    assert found.objective == pytest.approx(whole.objective, rel=1e-9)
    np.testing.assert_allclose(found.W, whole.W, atol=1e-5)
    np.testing.assert_allclose(blocks.curvatures, given.curvatures, atol=1e-12)


def test_the_hinge_in_little_memory():
    whole = exact.solve(problem(X, Y, loss="hinge"), tol=1e-2)
    found = exact.solve(problem(X, Y, loss="hinge"), tol=1e-2, working_memory=0.0005)
    assert found.converged
    assert found.objective == pytest.approx(whole.objective, rel=1e-2)


def test_what_does_not_depend_on_alpha_is_shared():
    objective = BlockObjective(in_blocks(problem(X, Y), 1000))
    other = objective.problem.with_alpha(7.0)
    assert other.curvatures is objective.problem.curvatures
    assert other.alpha == 7.0


def test_blocks_fit_the_memory():
    assert rows_per_block(8 * (4 * 10 + 5) * 3, 10, 5) == 3
    assert rows_per_block(1, 10) == 1
