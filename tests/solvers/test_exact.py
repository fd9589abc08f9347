"""The exact solver against an interior-point solver that knows nothing of sorting."""

import cvxpy
import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from limo._solvers.exact import solve
from limo._solvers.objective import Resident
from limo._solvers.problem import Status
from limo.losses import Term
from solvers.problems import WEIGHTS, arrays, problem, problem_of


def pair_terms(Y, S, loss):
    """Mean over rows of the mean over pairs, as a convex expression."""
    rows = []
    for i in range(Y.shape[0]):
        good, bad = np.flatnonzero(Y[i]), np.flatnonzero(Y[i] == 0)
        if good.size and bad.size:
            margins = cvxpy.hstack([1 - (S[i, u] - S[i, v]) for u in good for v in bad])
            hinge = cvxpy.pos(margins)
            total = cvxpy.sum(hinge) if loss == "hinge" else cvxpy.sum_squares(hinge)
            rows.append(total / (good.size * bad.size))
    return sum(rows) / len(rows)


def independent_minimum(X, Y, weights, alpha, loss):
    full = np.hstack([X, np.ones((len(X), 1))])
    W = cvxpy.Variable((full.shape[1], Y.shape[1]))
    S = full @ W
    label, instance, entry = WEIGHTS[weights]
    terms = alpha / 2 * cvxpy.sum_squares(W)
    if label:
        terms += label * pair_terms(Y, S, loss)
    if instance:
        terms += instance * pair_terms(Y.T, S.T, loss)
    if entry:
        flat = cvxpy.reshape(S, (1, Y.size), order="C")
        terms += entry * pair_terms(Y.reshape(1, -1), flat, loss)
    return cvxpy.Problem(cvxpy.Minimize(terms)).solve(
        solver="CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10
    )


@pytest.mark.filterwarnings("ignore::UserWarning:cvxpy")
@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
@pytest.mark.parametrize("weights", WEIGHTS)
def test_within_the_certified_gap_of_the_optimum(weights, loss):
    X, Y = arrays(m=8)
    best = independent_minimum(X, Y, weights, 0.1, loss)
    for tol in (1e-2, 1e-5 if loss == "squared_hinge" else 2e-3):
        found = solve(problem(X, Y, weights, loss=loss), tol=tol)
        assert found.converged
        assert found.relative_gap <= tol
        assert best - 1e-7 <= found.objective <= best + found.gap + 1e-7


def softplus_of_sum(differences):
    """log(1 + the sum of exp) as a convex expression."""
    return cvxpy.log_sum_exp(cvxpy.hstack([0, *differences]))


def row_expression(y, s, kind):
    """Top, bottom or worst of a row with pairs, as a convex expression."""
    good, bad = np.flatnonzero(y), np.flatnonzero(y == 0)
    if kind == "top":
        return sum(softplus_of_sum([s[v] - s[u] for v in bad]) for u in good) / good.size
    if kind == "bottom":
        return sum(softplus_of_sum([s[v] - s[u] for u in good]) for v in bad) / bad.size
    return softplus_of_sum([s[v] - s[u] for u in good for v in bad])


def term_expression(Y, S, term):
    """A term as a convex expression, from its definition."""
    if term.aggregation == "pointwise":
        sign = 2 * Y - 1
        losses = {"logistic": cvxpy.logistic(-cvxpy.multiply(sign, S))}
        losses["hinge"] = cvxpy.pos(1 - cvxpy.multiply(sign, S))
        return term.weight * cvxpy.sum(losses[term.base]) / Y.size
    if term.aggregation == "mean":
        return term.weight * pair_terms(Y, S, term.base)
    if term.view == "columns":
        Y, S = Y.T, S.T
    if term.view == "entries":
        Y, S = Y.reshape(1, -1), cvxpy.reshape(S, (1, Y.size), order="C")
    rows = [
        row_expression(Y[i], S[i], term.aggregation)
        for i in range(len(Y))
        if 0 < Y[i].sum() < Y.shape[1]
    ]
    return term.weight * sum(rows) / len(rows)


@pytest.mark.filterwarnings("ignore::UserWarning:cvxpy")
@pytest.mark.parametrize(
    "terms",
    [
        *(
            [Term(view, kind)]
            for view in ("rows", "columns", "entries")
            for kind in ("top", "bottom", "worst")
        ),
        [Term("entries", "pointwise")],
        [Term("rows", "mean", "hinge"), Term("entries", "pointwise", "hinge", 0.5)],
        [Term("rows", "top"), Term("entries", "pointwise", weight=2.0), Term("rows", "mean")],
    ],
    ids=lambda terms: "+".join(f"{term.view}-{term.aggregation}" for term in terms),
)
def test_any_terms_within_the_certified_gap_of_the_optimum(terms):
    X, Y = arrays(m=8)
    full = np.hstack([X, np.ones((len(X), 1))])
    W = cvxpy.Variable((full.shape[1], Y.shape[1]))
    goal = 0.05 * cvxpy.sum_squares(W) + sum(term_expression(Y, full @ W, t) for t in terms)
    best = cvxpy.Problem(cvxpy.Minimize(goal)).solve(
        solver="CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10
    )
    given = problem_of(X, Y, terms)
    for memory in (None, 1e-3):
        for tol in (1e-2, 1e-5 if given.is_smooth else 2e-3):
            found = solve(given, tol=tol, working_memory=memory)
            assert found.converged
            assert best - 1e-6 <= found.objective <= best + found.gap + 1e-6


def test_pointwise_logistic_is_logistic_regression():
    """Of each label: C sum log(1 + exp(-z)) + |w|^2 / 2, with C = 1 / (alpha m l)."""
    X, Y = arrays(m=60, d=6, l=3)
    alpha = 1e-3
    found = solve(
        problem_of(X, Y, [Term("entries", "pointwise")], alpha=alpha, constant=0.0), tol=1e-12
    )
    assert found.relative_gap < 1e-10
    for j in range(Y.shape[1]):
        rival = LogisticRegression(
            C=1 / (alpha * Y.size), fit_intercept=False, tol=1e-10, max_iter=10_000
        )
        np.testing.assert_allclose(found.W[:, j], rival.fit(X, Y[:, j]).coef_[0], atol=1e-6)


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
@pytest.mark.parametrize("scheme", ["measure", "uniform"])
def test_dense_sparse_and_streaming_agree(loss, scheme):
    X, Y = arrays(m=40, d=6, l=5)
    given = {"loss": loss, "scheme": scheme}
    tol = 1e-3
    resident = solve(problem(X, Y, **given), tol=tol)
    lean = solve(problem(sparse.csr_array(X), Y, **given), tol=tol)
    streamed = solve(problem(X, Y, **given), tol=tol, working_memory=1e-3)
    for other in (lean, streamed):
        assert other.objective == pytest.approx(resident.objective, rel=2 * tol)
        assert other.converged
    assert streamed.passes > resident.passes


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_the_objective_reported_is_that_of_the_weights(loss):
    X, Y = arrays()
    given = problem(X, Y, loss=loss)
    found = solve(given)
    assert found.objective == pytest.approx(Resident(given).start(found.W).value)


def test_a_warm_start_saves_work():
    X, Y = arrays(m=60, d=8)
    first = solve(problem(X, Y, alpha=1e-3), tol=1e-4)
    again = solve(problem(X, Y, alpha=1e-3), tol=1e-4, start=first)
    assert again.iterations == 0
    assert again.objective == pytest.approx(first.objective)


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_a_strong_ridge_is_solved_as_well(loss):
    """J(0) alone is within 1 % of the minimum here, but no model: the weights must be right, too."""
    X, Y = arrays(m=60, d=8)
    rough, fine = (solve(problem(X, Y, alpha=2000.0, loss=loss), tol=tol) for tol in (1e-2, 1e-3))
    assert fine.objective > 0.99 * 3.5  # weights 0.5, 1 and 2
    assert rough.converged
    np.testing.assert_allclose(rough.W, fine.W, atol=0.2 * np.abs(fine.W).max())


def test_no_pairs_no_weights():
    X, _ = arrays()
    found = solve(problem(X, np.zeros((12, 3), int)))
    assert not found.W.any()
    assert (found.objective, found.relative_gap, found.converged) == (0, 0, True)


def test_features_of_zeros_only():
    _, Y = arrays()
    found = solve(problem(np.zeros((12, 2)), Y, constant=0.0))
    assert not found.W.any()
    assert found.converged


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_out_of_iterations_is_said_with_the_gap_reached(loss):
    X, Y = arrays(m=60, d=8)
    found = solve(problem(X, Y, alpha=1e-5, loss=loss), tol=1e-6, max_iter=3)
    assert found.status == Status.OUT_OF_ITERATIONS.value
    assert not found.converged
    assert found.iterations == 3
    assert found.relative_gap > 1e-6
    assert "raise max_iter or alpha" in str(found)


def test_a_hinge_too_sharp_to_certify():
    X, Y = arrays(m=8)
    found = solve(problem(X, Y, loss="hinge"), tol=1e-12, max_iter=100_000)
    assert found.status in (Status.STALLED.value, Status.OUT_OF_ITERATIONS.value)
    assert found.relative_gap < 1e-2


@pytest.mark.parametrize("wrong", [-1, 0, float("nan"), "much"])
def test_working_memory_must_be_positive(wrong):
    with pytest.raises(ValueError, match="working_memory must be a number above 0, got"):
        solve(problem(*arrays(m=8)), working_memory=wrong)
