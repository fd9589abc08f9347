import numpy as np
from scipy import sparse

from limo._kernels.losses import add_sparse_product, add_transposed, multiply_rows

rng = np.random.default_rng(0)


def test_rows_of_a_product():
    A = sparse.random_array((9, 12), density=0.5, rng=rng, format="csr")
    assert {0, 1, 2} <= set(np.diff(A.indptr) % 4)  # four at a time, and what is left
    B = rng.normal(size=(12, 3))
    out = np.full((9, 3), 7.0)
    multiply_rows(A.indptr.astype(np.int64), A.indices.astype(np.int64), A.data, B, out, 2, 8)
    np.testing.assert_allclose(out[2:8], (A @ B)[2:8])
    assert (out[[0, 1, 8]] == 7).all()


def test_products_of_sparse_matrices_are_added():
    A, B = (sparse.random_array((9, n), density=0.4, rng=rng, format="csr") for n in (5, 4))
    out = rng.normal(size=(5, 4))
    expected = out + A.toarray().T @ B.toarray()
    parts = [(M.indptr.astype(np.int64), M.indices.astype(np.int64), M.data) for M in (A, B)]
    add_sparse_product(*parts[0], *parts[1], out)
    np.testing.assert_allclose(out, expected)


def test_rows_are_added_to_columns():
    matrix = rng.normal(size=(70, 5))
    block = rng.normal(size=(2, 70))
    expected = matrix.copy()
    expected[:, 3:5] += block.T
    add_transposed(block, 3, matrix)
    np.testing.assert_allclose(matrix, expected)
