from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from limo._checks import check_labels
from limo._kernels.sgd import draw_pair
from limo._solvers.problem import Features, Problem
from limo._solvers.sgd import SAMPLINGS, _draws, solve, steps_per_pass
from limo.models._limo import mean_terms
from naive import sgd as naive


def arrays(seed=0, m=12, l=5, d=4):
    """Features with zeros; labels with an empty and a full row, a constant label of each kind."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d)) * (rng.random((m, d)) < 0.7)
    Y = (rng.random((m, l)) < 0.4).astype(int)
    Y[0], Y[1] = 0, 1
    Y[:, 0], Y[:, 1] = 0, 1
    return X, Y


def run(X, Y, rng, weights=(1, 1), alpha=1.0, constant=0.0, **settings):
    """Solve the problem of these arrays; ``rng`` is a generator or a seed."""
    features = Features(X, constant)
    problem = Problem(features, check_labels(Y, "y"), mean_terms(*weights, base="hinge"), alpha)
    return solve(problem, np.random.default_rng(rng), **settings)


def replay(weights, sampling, Y, rng, n_steps):
    """The pairs the solver draws, in its order."""
    pattern = check_labels(Y, "y")
    halves = [
        _draws(pattern, sampling, by_label=by_label, wanted=weight > 0)
        for by_label, weight in zip((False, True), weights, strict=True)
    ]
    return [
        tuple(draw_pair(half, rng) if half.rows.size else None for half in halves)
        for _ in range(n_steps)
    ]


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize(
    ("weights", "step", "alpha"),
    [((1, 1), 0.01, 1), ((2, 0), 0.1, 1), ((0, 3), 0.3, 1), ((1, 0.5), 0.1, 0), ((1, 1), 0.9, 1)],
)
def test_equals_the_plain_algorithm_step_for_step(storage, sampling, weights, step, alpha):
    X, Y = arrays()
    d, l, n_steps = X.shape[1], Y.shape[1], 90
    settings = {"step": step, "sampling": sampling, "n_steps": n_steps}
    found = run(storage(X), Y, 3, weights, alpha, **settings)
    rng = np.random.default_rng(3)
    W = rng.standard_normal((l, d)) / np.sqrt(d)
    pairs = replay(weights, sampling, Y, rng, n_steps)
    iterates = naive.steps(X, W, pairs, step, *weights, alpha)
    np.testing.assert_allclose(found.iterates.last.T, iterates[-1], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(found.iterates.total.T, sum(iterates), rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(found.W.T, sum(iterates) / n_steps, rtol=1e-8, atol=1e-10)
    assert found.iterations == n_steps


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_a_constant_feature_is_a_last_column(storage):
    X, Y = arrays()
    by_hand = np.hstack([X, np.full((12, 1), 2.0)])
    expected = run(by_hand, Y, 0, n_steps=50)
    found = run(storage(X), Y, 0, constant=2.0, n_steps=50)
    np.testing.assert_allclose(found.W, expected.W, rtol=1e-12)


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("by_label", [False, True])
def test_pairs_have_the_probabilities_promised(sampling, by_label):
    """Exactly, from the table of draws; rows and labels without pairs are never drawn."""
    for seed in range(5):
        _, Y = arrays(seed)
        draws = _draws(check_labels(Y, "y"), sampling, by_label=by_label, wanted=True)
        keep, other = draws.table
        mass = keep / keep.size
        np.add.at(mass, other, (1 - keep) / keep.size)
        view = Y.T if by_label else Y
        found = {
            (row, item, zero): p / (view[row] == 0).sum()
            for row, item, p in zip(draws.rows, draws.items, mass, strict=True)
            for zero in np.flatnonzero(view[row] == 0)
        }
        expected = (naive.instance_pairs if by_label else naive.label_pairs)(Y, sampling)
        assert found.keys() == expected.keys()
        for pair, probability in expected.items():
            assert found[pair] == pytest.approx(probability, rel=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_the_expected_step_is_the_gradient(sampling):
    """Theorem 6: without shrinking, the mean of many first steps is minus step times gradient."""
    X, Y = arrays(m=6, l=4, d=3)
    rng = np.random.default_rng(0)
    step = 1e-6
    settings = {"weights": (2.0, 0.5), "alpha": 0, "step": step, "sampling": sampling, "n_steps": 1}
    start = run(X, Y, rng, n_steps=0)
    first = start.iterates.last
    moves = np.array(
        [
            (run(X, Y, rng, **settings, start=start).iterates.last - first).T / -step
            for _ in range(1500)
        ]
    )
    expected = naive.hinge_gradient(X, Y, first.T, sampling, 2.0, 0.5)
    error = np.abs(moves.mean(0) - expected)
    assert (error <= 5 * moves.std(0) / np.sqrt(len(moves)) + 1e-8).all()
    assert np.abs(expected).max() > 0.1


def started(start, last):
    """The same solution with other last weights, given by label."""
    return replace(start, iterates=replace(start.iterates, last=last.T))


def test_only_weights_of_a_violating_pair_shrink():
    X, Y = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[1, 0, 0], [0, 1, 0]])
    start = run(X, Y, 0, n_steps=0)
    far = np.array([[9.0, -9.0], [-9.0, 9.0], [-9.0, -9.0]])  # every pair beyond its margin
    same = run(X, Y, 0, n_steps=50, start=started(start, far))
    assert np.array_equal(same.iterates.last.T, far)
    assert same.iterates.n_violations == (0, 0)
    zero = far * [[1], [1], [0]]
    moved = run(X, Y, 0, (1, 0), n_steps=200, step=0.1, start=started(start, zero))
    assert np.array_equal(moved.iterates.last.T, zero)


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_the_same_seed_gives_the_same_result(sampling):
    X, Y = arrays()
    runs = [run(X, Y, 5, sampling=sampling) for _ in range(2)]
    assert np.array_equal(runs[0].W, runs[1].W)
    assert not np.array_equal(runs[0].W, run(X, Y, 6, sampling=sampling).W)


def test_continuing_equals_one_long_run():
    X, Y = arrays()
    whole = run(X, Y, 1, n_steps=150)
    rng = np.random.default_rng(1)
    part = run(X, Y, rng, n_steps=100)
    before = part.iterates.last.copy(), part.iterates.total.copy()
    rest = run(X, Y, rng, n_steps=50, start=part)
    np.testing.assert_allclose(rest.W, whole.W, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(rest.iterates.last, whole.iterates.last, rtol=1e-10, atol=1e-13)
    assert rest.iterations == 150
    assert np.array_equal(part.iterates.last, before[0])  # a start is not written into
    assert np.array_equal(part.iterates.total, before[1])


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_features_that_do_not_occur_only_shrink(storage):
    """And all others learn as if those were not there; also when a run is continued."""
    X, Y = arrays()
    wide = np.hstack([0 * X, X, 0 * X])
    settings = {"n_steps": 400, "step": 0.1}
    start = run(storage(wide), Y, 0, n_steps=30, step=0.1)
    some = replace(start.iterates, last=start.iterates.last[4:8], total=start.iterates.total[4:8])
    expected = run(X, Y, 1, **settings, start=replace(start, iterates=some))
    found = run(storage(wide), Y, 1, **settings, start=start)
    np.testing.assert_allclose(found.W[4:8], expected.W, rtol=1e-8)
    np.testing.assert_allclose(found.iterates.last[4:8], expected.iterates.last, rtol=1e-9)
    plain = run(wide, Y, 1, **settings, start=start)
    np.testing.assert_allclose(found.W, plain.W, rtol=1e-8)
    np.testing.assert_allclose(found.iterates.last, plain.iterates.last, rtol=1e-9)


def test_a_pass_and_the_callback():
    X, Y = arrays()
    pattern = check_labels(Y, "y")
    assert steps_per_pass(pattern) == 12 * round(Y.sum() / 12)
    assert steps_per_pass(check_labels(np.eye(3, 4, 1)[:2] * [[1], [0]], "y")) == 2
    seen = []
    found = run(X, Y, 0, n_passes=2.5, callback=seen.append)
    a_pass, n_steps = steps_per_pass(pattern), round(2.5 * steps_per_pass(pattern))
    assert [(p.iteration, p.most) for p in seen] == [
        (a_pass, n_steps),
        (2 * a_pass, n_steps),
        (n_steps, n_steps),
    ]
    assert found.iterations == n_steps
    assert found.passes == 3
    assert not found.converged  # nothing is proven


def test_the_callback_may_stop():
    X, Y = arrays()
    a_pass = steps_per_pass(check_labels(Y, "y"))
    found = run(X, Y, 0, n_passes=5, callback=lambda progress: progress.iteration >= 2 * a_pass)
    assert found.iterations == 2 * a_pass
    assert np.array_equal(found.W, run(X, Y, 0, n_passes=2).W)
    assert found.status.endswith("margin. The callback asked to stop.")


def test_the_last_iterate_instead_of_the_mean():
    X, Y = arrays()
    found = run(X, Y, 0, average=False)
    assert np.array_equal(found.W, found.iterates.last)


def test_the_status_says_what_happened():
    X, Y = arrays()
    both = run(X, Y, 0, n_steps=40)
    shares = [f"{n / 40:.0%}" for n in both.iterates.n_violations]
    assert both.status == (
        f"Made 40 steps: {shares[0]} of the label pairs and {shares[1]} of the instance pairs "
        "drawn violated their margin."
    )
    one = run(X, Y, 0, (1, 0), n_steps=40)
    assert "instance pairs" not in one.status
    assert one.iterates.n_violations[1] == 0


def test_without_pairs_nothing_happens():
    X, Y = arrays()
    alone = np.ones((12, 1), int)
    single = Y[:, 2:3]  # one label has instance pairs only
    for weights, labels in (((1, 1), alone), ((1, 0), single)):
        nothing = run(X, labels, 0, weights)
        assert not nothing.W.any()
        assert nothing.W.shape == (4, 1)
        assert nothing.iterations == 0
    start = run(X, single, 0)
    same = run(X, alone, 0, start=start)
    assert np.array_equal(same.W, start.W)
    assert same.status == "Made no steps: there is no pair to learn from."
