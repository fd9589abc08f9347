from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from limo._checks import check_labels
from limo._kernels.sgd import draw_pair
from limo._solvers.sgd import SAMPLINGS, SGD, _draws, steps_per_pass
from naive import sgd as naive


def problem(seed=0, m=12, l=5, d=4):
    """Features with zeros; labels with an empty and a full row, a constant label of each kind."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d)) * (rng.random((m, d)) < 0.7)
    Y = (rng.random((m, l)) < 0.4).astype(int)
    Y[0], Y[1] = 0, 1
    Y[:, 0], Y[:, 1] = 0, 1
    return X, Y


def replay(solver, Y, rng, n_steps):
    """The pairs the solver draws, in its order."""
    pattern = check_labels(Y, "y")
    halves = (
        _draws(pattern, solver.sampling, by_label=False, wanted=solver.label_weight > 0),
        _draws(pattern, solver.sampling, by_label=True, wanted=solver.instance_weight > 0),
    )
    return [
        tuple(draw_pair(half, rng) if half.rows.size else None for half in halves)
        for _ in range(n_steps)
    ]


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize(
    ("weights", "step", "shrinkage"),
    [((1, 1), 0.01, 1), ((2, 0), 0.1, 1), ((0, 3), 0.3, 1), ((1, 0.5), 0.1, 0), ((1, 1), 0.9, 1)],
)
def test_equals_the_plain_algorithm_step_for_step(storage, sampling, weights, step, shrinkage):
    X, Y = problem()
    d, l, n_steps = X.shape[1], Y.shape[1], 90
    solver = SGD(*weights, step, shrinkage, sampling, n_steps=n_steps)
    found = solver.solve(storage(X), check_labels(Y, "y"), np.random.default_rng(3))
    rng = np.random.default_rng(3)
    W = rng.standard_normal((l, d)) / np.sqrt(d)
    pairs = replay(solver, Y, rng, n_steps)
    iterates = naive.steps(X, W, pairs, step, *weights, shrinkage)
    np.testing.assert_allclose(found.last, iterates[-1], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(found.total, sum(iterates), rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(found.coef, sum(iterates) / n_steps, rtol=1e-8, atol=1e-10)
    assert found.n_steps == n_steps


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("by_label", [False, True])
def test_pairs_have_the_probabilities_promised(sampling, by_label):
    """Exactly, from the table of draws; rows and labels without pairs are never drawn."""
    for seed in range(5):
        _, Y = problem(seed)
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


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_the_expected_step_is_the_gradient(sampling):
    """Theorem 6: without shrinking, the mean of many first steps is minus step times gradient."""
    X, Y = problem(m=6, l=4, d=3)
    pattern, rng = check_labels(Y, "y"), np.random.default_rng(0)
    solver = SGD(2.0, 0.5, step=1e-6, shrinkage=0, sampling=sampling, n_steps=1)
    start = SGD(n_steps=0).solve(X, pattern, rng)
    moves = np.array(
        [
            (solver.solve(X, pattern, rng, start).last - start.last) / -solver.step
            for _ in range(3000)
        ]
    )
    expected = naive.hinge_gradient(X, Y, start.last, sampling, 2.0, 0.5)
    error = np.abs(moves.mean(0) - expected)
    assert (error <= 5 * moves.std(0) / np.sqrt(len(moves)) + 1e-8).all()
    assert np.abs(expected).max() > 0.1


def test_only_weights_of_a_violating_pair_shrink():
    X, Y = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[1, 0, 0], [0, 1, 0]])
    pattern = check_labels(Y, "y")
    start = SGD(n_steps=0).solve(X, pattern, np.random.default_rng(0))
    far = np.array([[9.0, -9.0], [-9.0, 9.0], [-9.0, -9.0]])  # every pair beyond its margin
    object.__setattr__(start, "last", far)
    same = SGD(n_steps=50).solve(X, pattern, np.random.default_rng(0), start)
    assert np.array_equal(same.last, far)
    assert same.n_violations == (0, 0)
    object.__setattr__(start, "last", np.zeros((3, 2)) + far * [[1], [1], [0]])
    moved = SGD(label_weight=1, instance_weight=0, n_steps=200, step=0.1).solve(
        X, pattern, np.random.default_rng(0), start
    )
    assert np.array_equal(moved.last, np.zeros((3, 2)) + far * [[1], [1], [0]])


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_the_same_seed_gives_the_same_result(sampling):
    X, Y = problem()
    pattern = check_labels(Y, "y")
    runs = [SGD(sampling=sampling).solve(X, pattern, np.random.default_rng(5)) for _ in range(2)]
    assert np.array_equal(runs[0].coef, runs[1].coef)
    other = SGD(sampling=sampling).solve(X, pattern, np.random.default_rng(6))
    assert not np.array_equal(runs[0].coef, other.coef)


def test_going_on_equals_one_long_run():
    X, Y = problem()
    pattern = check_labels(Y, "y")
    whole = SGD(n_steps=150).solve(X, pattern, np.random.default_rng(1))
    rng = np.random.default_rng(1)
    part = SGD(n_steps=100).solve(X, pattern, rng)
    before = part.last.copy(), part.total.copy()
    rest = SGD(n_steps=50).solve(X, pattern, rng, part)
    np.testing.assert_allclose(rest.coef, whole.coef, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(rest.last, whole.last, rtol=1e-10, atol=1e-13)
    assert rest.n_steps == 150
    assert np.array_equal(part.last, before[0])  # a start is not written into
    assert np.array_equal(part.total, before[1])


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_features_that_do_not_occur_only_shrink(storage):
    """And all others learn as if those were not there; also when a run is continued."""
    X, Y = problem()
    wide = np.hstack([0 * X, X, 0 * X])
    pattern, solver = check_labels(Y, "y"), SGD(n_steps=400, step=0.1)
    start = SGD(n_steps=30, step=0.1).solve(storage(wide), pattern, np.random.default_rng(0))
    narrow = replace(start, last=start.last[:, 4:8], total=start.total[:, 4:8])
    expected = solver.solve(X, pattern, np.random.default_rng(1), narrow)
    found = solver.solve(storage(wide), pattern, np.random.default_rng(1), start)
    np.testing.assert_allclose(found.coef[:, 4:8], expected.coef, rtol=1e-8)
    np.testing.assert_allclose(found.last[:, 4:8], expected.last, rtol=1e-9)
    plain = solver.solve(wide, pattern, np.random.default_rng(1), start)
    np.testing.assert_allclose(found.coef, plain.coef, rtol=1e-8)
    np.testing.assert_allclose(found.last, plain.last, rtol=1e-9)


def test_a_pass_and_the_callback():
    X, Y = problem()
    pattern = check_labels(Y, "y")
    assert steps_per_pass(pattern) == 12 * round(Y.sum() / 12)
    assert steps_per_pass(check_labels(np.eye(3, 4, 1)[:2] * [[1], [0]], "y")) == 2
    seen = []
    found = SGD(n_passes=2.5).solve(
        X, pattern, np.random.default_rng(0), callback=lambda done, of: seen.append((done, of))
    )
    a_pass, n_steps = steps_per_pass(pattern), round(2.5 * steps_per_pass(pattern))
    assert seen == [(a_pass, n_steps), (2 * a_pass, n_steps), (n_steps, n_steps)]
    assert found.n_steps == n_steps


def test_the_last_iterate_instead_of_the_mean():
    X, Y = problem()
    found = SGD(average=False).solve(X, check_labels(Y, "y"), np.random.default_rng(0))
    assert np.array_equal(found.coef, found.last)


def test_the_status_tells_what_happened():
    X, Y = problem()
    pattern = check_labels(Y, "y")
    both = SGD(n_steps=40).solve(X, pattern, np.random.default_rng(0))
    shares = [f"{n / 40:.0%}" for n in both.n_violations]
    assert both.status == (
        f"Made 40 steps: {shares[0]} of the label pairs and {shares[1]} of the instance pairs "
        "drawn violated their margin."
    )
    one = SGD(1, 0, n_steps=40).solve(X, pattern, np.random.default_rng(0))
    assert "instance pairs" not in one.status
    assert one.n_violations[1] == 0


def test_without_pairs_nothing_happens():
    X, Y = problem()
    alone = check_labels(Y[:, :1] + [[1]] * 12, "y")
    single = check_labels(Y[:, 2:3], "y")  # one label has instance pairs only
    for settings, labels in ((SGD(), alone), (SGD(1, 0), single)):
        nothing = settings.solve(X, labels, np.random.default_rng(0))
        assert not nothing.coef.any()
        assert nothing.n_steps == 0
    start = SGD().solve(X, single, np.random.default_rng(0))
    same = SGD().solve(X, alone, np.random.default_rng(0), start)
    assert np.array_equal(same.coef, start.coef)
    assert same.status == "Made no steps: there is no pair to learn from."


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"sampling": "pair"}, "Unknown sampling 'pair'. Did you mean 'pairs'?"),
        ({"label_weight": -1}, "label_weight must be a number from 0 up, got -1"),
        ({"step": 0}, "step must be a number above 0, got 0"),
        ({"step": "fast"}, "step must be a number above 0, got 'fast'"),
        ({"step": 1.0}, "Take a smaller step"),
        ({"n_passes": float("nan")}, "n_passes must be a number from 0 up, got nan"),
        ({"n_steps": 2.5}, "n_steps must be an integer from 0 up, got 2.5"),
        ({"n_steps": -2}, "n_steps must be an integer from 0 up, got -2"),
        ({"label_weight": 0, "instance_weight": 0}, "both 0: nothing would be learnt"),
    ],
)
def test_wrong_settings_are_explained(wrong, sentence):
    with pytest.raises(ValueError, match=sentence.replace("?", r"\?")):
        SGD(**wrong)
