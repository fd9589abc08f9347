import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import limo
from estimators import quietly
from limo.models import KernelFeatures, UnitRows

DATA = limo.datasets.figure1(120, seed=4)


@parametrize_with_checks([KernelFeatures(random_state=0)])
def test_it_is_a_scikit_learn_transformer(estimator, check):
    quietly(check, estimator)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_inner_products_of_features_are_the_kernel(form):
    X = form(DATA.X)
    features = KernelFeatures(2.0).fit(X)
    assert features.exact_
    squares = np.square(DATA.X[:, None] - DATA.X).sum(axis=2)
    median = np.median(squares[np.triu_indices(120, 1)])
    assert features.gamma_ == pytest.approx(2.0 / median)
    Z = features.transform(X)
    expected = rbf_kernel(DATA.X, gamma=2.0 / median)
    np.testing.assert_allclose(Z @ Z.T, expected, atol=1e-6)


def test_landmarks_give_the_kernel_projected_on_them():
    features = KernelFeatures(n_landmarks=30, random_state=0).fit(DATA.X)
    assert not features.exact_
    assert features.n_components_ <= 30
    Z = features.transform(DATA.X)
    K = rbf_kernel(DATA.X, gamma=features.gamma_)
    assert np.abs(Z @ Z.T - K).max() < 0.05
    again = KernelFeatures(n_landmarks=30, random_state=0).fit(DATA.X).transform(DATA.X)
    assert np.array_equal(Z, again)


@pytest.mark.parametrize(
    "X", [np.zeros((3, 2)), np.ones((1, 2)), np.repeat([[0.0, 1.0]], 9, axis=0)]
)
def test_equal_rows_have_one_feature(X):
    Z = KernelFeatures().fit(X).transform(X)
    np.testing.assert_allclose(Z, np.sign(Z[0, 0]) * np.ones((len(X), 1)))


def test_wrong_settings_are_explained():
    with pytest.raises(ValueError, match="gamma must be a number above 0"):
        KernelFeatures(0).fit(DATA.X)
    with pytest.raises(ValueError, match="n_landmarks"):
        KernelFeatures(n_landmarks=0).fit(DATA.X)


def test_hostile_landmarks_are_rejected():
    features = KernelFeatures().fit(sparse.csr_array(DATA.X))
    values, indices, indptr, shape = features._landmarks
    for bad, sentence in (
        ((values, indices + 99, indptr, shape), "indices"),
        ((values, indices, indptr, (shape[0], 9)), "must fit"),
        ((values, indices, indptr + 9, shape), "index pointer|indptr"),
    ):
        state = features.__getstate__() | {"_landmarks": bad}
        with pytest.raises(ValueError, match=sentence):
            KernelFeatures.__new__(KernelFeatures).__setstate__(state)


def kernel_limo(K, Y, alpha, c):
    """The least objective over functions of the kernel, f = K A + b, by an interior-point solver."""
    n, n_labels = Y.shape
    values, vectors = np.linalg.eigh(K)
    root = vectors * np.sqrt(np.maximum(values, 0))
    A, b = cp.Variable((n, n_labels)), cp.Variable(n_labels)
    S = K @ A + cp.reshape(b, (1, n_labels), order="C")
    penalty = cp.sum_squares(root.T @ A) + cp.sum_squares(b / c)
    terms = []
    for matrix, marks in ((S, Y), (S.T, Y.T)):
        rows = [i for i in range(len(marks)) if 0 < marks[i].sum() < marks.shape[1]]
        for i in rows:
            pairs = [
                (u, v) for u in np.flatnonzero(marks[i]) for v in np.flatnonzero(marks[i] == 0)
            ]
            losses = [cp.square(cp.pos(1 - matrix[i, u] + matrix[i, v])) for u, v in pairs]
            terms.append(cp.sum(cp.hstack(losses)) / (len(pairs) * len(rows)))
    problem = cp.Problem(cp.Minimize(alpha / 2 * penalty + sum(terms)))
    problem.solve(solver="CLARABEL")
    return problem.value, K @ A.value + b.value


@pytest.mark.parametrize("seed", [0, 1])
def test_kernel_limo_equals_an_independent_solution(seed):
    """LIMO on these features is LIMO in the space of the kernel, with its certificate."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(14, 2))
    Y = (rng.random((14, 3)) < 0.4).astype(int)
    Y[0], Y[1] = 1, 0
    model = make_pipeline(
        KernelFeatures(1.5), limo.LIMOClassifier(alpha=0.05, tol=1e-8, threshold_measure=None)
    ).fit(X, Y)
    K = rbf_kernel(X, gamma=model[0].gamma_)
    value, S = kernel_limo(K, Y, 0.05, 3.0)
    assert model[-1].solution_.objective == pytest.approx(value, rel=1e-5)
    assert model[-1].solution_.relative_gap <= 1e-8
    found = model.decision_function(X)
    # a common offset of all scores is free in pairs, and fixed only by the small penalty on b
    np.testing.assert_allclose(found, S, atol=5e-3)


@pytest.mark.slow
def test_a_kernel_ranks_better_than_a_line_where_labels_are_not_linear():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    Y = np.column_stack([np.linalg.norm(X, axis=1) < 1, np.abs(X[:, 0]) > 1, X[:, 1] > 0]).astype(
        int
    )
    train, test = slice(0, 200), slice(200, 300)
    line, kernel = (
        make_pipeline(*steps, limo.LIMOClassifier()).fit(X[train], Y[train])
        for steps in ([UnitRows()], [UnitRows(), KernelFeatures()])
    )
    values = [limo.macro_auc(Y[test], m.decision_function(X[test])) for m in (line, kernel)]
    assert values[1] > values[0] + 0.1
