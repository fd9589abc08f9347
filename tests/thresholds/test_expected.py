import numpy as np
import pytest
from scipy import sparse

import limo
from limo.thresholds import expected_f1_labels, gfm_labels
from naive import thresholds as naive


@pytest.mark.parametrize("nothing", [0.0, 1.0])
def test_independent_labels_equal_enumeration(nothing):
    rng = np.random.default_rng(80)
    for _ in range(60):
        p = rng.random(rng.integers(1, 6)) ** rng.choice([1, 4])
        chance = naive.independent(p)
        [found] = expected_f1_labels([p], f1_of_nothing=nothing).tolist()
        best = max(naive.expected_f1(chance, h, nothing) for h in chance)
        assert naive.expected_f1(chance, found, nothing) == pytest.approx(best, abs=1e-12)


def test_ties_are_treated_alike_and_cost_nothing():
    """Equal probabilities are predicted together or not at all, at no loss of expected F1."""
    rng = np.random.default_rng(81)
    for _ in range(60):
        p = rng.choice([0.0, 0.2, 0.5, 0.8, 1.0], size=rng.integers(1, 6))
        chance = naive.independent(p)
        [found] = expected_f1_labels([p]).tolist()
        assert len({(q, mark) for q, mark in zip(p, found, strict=True)}) == len(set(p))
        best = max(naive.expected_f1(chance, h, 0.0) for h in chance)
        assert naive.expected_f1(chance, found, 0.0) == pytest.approx(best, abs=1e-12)


def test_absent_probabilities_are_zero():
    rng = np.random.default_rng(82)
    P = rng.random((30, 8)) * (rng.random((30, 8)) < 0.4)
    P[3] = 0
    found = expected_f1_labels(sparse.csr_array(P))
    assert sparse.issparse(found)
    assert (found.toarray() == expected_f1_labels(P)).all()


def test_threads_change_nothing():
    P = np.random.default_rng(83).random((600, 30)) ** 4
    alone = np.vstack([expected_f1_labels(P[i : i + 1]) for i in range(600)])
    assert (expected_f1_labels(P) == alone).all()


def random_distribution(rng, n):
    sets = naive.label_sets(n)
    weights = rng.dirichlet(np.full(len(sets), 0.3))
    return dict(zip(sets, weights, strict=True))


def gfm_matrix(chance, n):
    joint = np.zeros((n, n))
    for y, c in chance.items():
        for j in range(n):
            if y[j]:
                joint[j, sum(y) - 1] += c
    return joint


@pytest.mark.parametrize("nothing", [0.0, 1.0])
def test_gfm_equals_enumeration_for_dependent_labels(nothing):
    rng = np.random.default_rng(84)
    beaten = 0
    for _ in range(60):
        n = rng.integers(1, 5)
        chance = random_distribution(rng, n)
        joint = gfm_matrix(chance, n)
        [found] = gfm_labels([joint], f1_of_nothing=nothing).tolist()
        best = max(naive.expected_f1(chance, h, nothing) for h in chance)
        assert naive.expected_f1(chance, found, nothing) == pytest.approx(best, abs=1e-12)
        [alone] = expected_f1_labels([joint.sum(axis=1).clip(0, 1)], f1_of_nothing=nothing).tolist()
        beaten += naive.expected_f1(chance, alone, nothing) < best - 1e-9
    assert beaten > 0  # independence is an assumption


def test_rows_of_the_gfm_matrix_do_not_depend_on_each_other():
    rng = np.random.default_rng(85)
    J = np.stack([gfm_matrix(random_distribution(rng, 3), 3) for _ in range(20)])
    alone = np.vstack([gfm_labels(J[i : i + 1]) for i in range(20)])
    assert (gfm_labels(J) == alone).all()
    assert (gfm_labels(np.asfortranarray(J)) == alone).all()


def test_gfm_of_neighbours_is_gfm_of_their_shares():
    """One maximiser: the classifier's prediction is that of the GFM matrix it implies."""
    data = limo.datasets.figure1(80)
    model = limo.GFMClassifier(k=7).fit(data.X, data.Y)
    neighbours = [np.argsort(((data.X - x) ** 2).sum(axis=1), kind="stable")[:7] for x in data.X]
    J = np.zeros((80, 4, 4))
    for i, rows in enumerate(neighbours):
        for y in data.Y[rows]:
            J[i, y == 1, y.sum() - 1] += 1 / 7
    assert np.array_equal(model.predict(data.X), gfm_labels(J))


def test_wrong_probabilities_are_refused():
    with pytest.raises(
        ValueError, match="numbers from 0 to 1: got scores from -2 to 1.5. Take predict_proba"
    ):
        expected_f1_labels([[-2.0, 1.5]])
    with pytest.raises(
        ValueError, match=r"instances x labels x sizes of the label set, got shape \(1, 2\)"
    ):
        gfm_labels([[0.5, 0.5]])
    for wrong in ([[[0.9, 0.9], [0.9, 0.9]]], [[[-0.1]]], [[[np.nan]]]):
        with pytest.raises(
            ValueError, match=r"must hold the probabilities P\(y_j = 1, \|y\| = s\)"
        ):
            gfm_labels(wrong)
