import numpy as np
import pytest
from scipy import sparse

from limo._checks import check_labels
from limo._solvers.problem import Features, principal_axes

rng = np.random.default_rng(0)
A = np.where(rng.random((40, 7)) < 0.3, rng.normal(size=(40, 7)), 0.0)
W = rng.normal(size=(8, 5))
G = rng.normal(size=(40, 5))


@pytest.mark.parametrize(
    "make", [np.asarray, np.asfortranarray, sparse.csr_array, sparse.csc_matrix]
)
@pytest.mark.parametrize("constant", [3.0, 1.0, 0.0])
def test_products(make, constant):
    features = Features(make(A), constant)
    full = np.hstack([A, np.full((40, 1), constant)]) if constant else A
    weights = W if constant else W[:7]
    assert features.shape == full.shape
    np.testing.assert_allclose(features.times(weights), full @ weights, atol=1e-14)
    np.testing.assert_allclose(features.transposed_times(G), full.T @ G, atol=1e-13)
    assert features.passes == 2
    matrix = features.matrix
    assert np.array_equal(matrix.toarray() if sparse.issparse(matrix) else matrix, full)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("constant", [3.0, 0.0])
def test_slopes_at_relevant_entries(make, constant):
    features = Features(make(A), constant)
    full = np.hstack([A, np.full((40, 1), constant)]) if constant else A
    Y = rng.random((40, 5)) < 0.3
    Y[3], Y[4] = False, True
    out = rng.normal(size=(full.shape[1], 5))
    expected = out + full.T @ np.where(Y, G, 0.0)
    features.add_at_relevant(check_labels(Y, "y"), G[Y], out)
    np.testing.assert_allclose(out, expected, atol=1e-12)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("constant", [3.0, 0.0])
def test_weighted_squares(make, constant):
    features = Features(make(A), constant)
    full = np.hstack([A, np.full((40, 1), constant)]) if constant else A
    Y = (rng.random((40, 5)) < 0.3).astype(int)
    by_row, by_column = rng.random((40, 2)), rng.random((5, 2))
    expected = np.zeros((full.shape[1], 5))
    for i in range(40):
        for j in range(5):
            k = 0 if Y[i, j] else 1
            expected[:, j] += full[i] ** 2 * by_row[i, k] * by_column[j, k]
    found = features.weighted_squares(check_labels(Y, "y"), by_row, by_column)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_large_products_are_shared_out():
    X = sparse.random_array((3000, 50), density=0.2, rng=rng, format="csr")
    B = rng.normal(size=(50, 20))
    for kind in (X, X.toarray()):
        features = Features(kind, constant=0.0)
        np.testing.assert_allclose(features.times(B), X @ B, atol=1e-12)


@pytest.mark.parametrize("shape", [(40, 7), (7, 40)])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_weights_along_principal_axes_give_the_same_scores_and_norm(shape, make):
    X = rng.normal(size=shape)
    axes = principal_axes(make(X))
    assert axes.shape == (shape[1], 7)
    np.testing.assert_allclose(axes.T @ axes, np.eye(7), atol=1e-12)
    rotated = X @ axes
    products = rotated.T @ rotated
    np.testing.assert_allclose(products, np.diag(np.diag(products)), atol=1e-11)
    # no row of X has a component that the axes lack
    np.testing.assert_allclose(rotated @ axes.T, X, atol=1e-12)


def test_principal_axes_weigh_instances():
    weights = np.array([0.0, 1.0, 2.0, 3.0])
    X = rng.normal(size=(4, 3))
    repeated = principal_axes(np.repeat(X, [0, 1, 2, 3], axis=0))
    np.testing.assert_allclose(np.abs(principal_axes(X, weights)), np.abs(repeated), atol=1e-12)


def test_no_axes_of_sparse_or_empty_features():
    assert principal_axes(np.eye(6)) is None
    assert principal_axes(np.zeros((3, 2))) is None
    assert principal_axes(np.zeros((3, 0))) is None
    assert principal_axes(sparse.csr_array(np.eye(4))).shape == (4, 4)
