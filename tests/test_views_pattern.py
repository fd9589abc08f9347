import numpy as np
from scipy import sparse

from limo._views import Pattern

rng = np.random.default_rng(0)
A, B = rng.integers(0, 2, (2, 6, 4))


def pattern(matrix):
    return Pattern.from_flat(np.flatnonzero(matrix), matrix.shape)


def test_both_ways_in_agree():
    for one in (pattern(A), Pattern.from_csr(sparse.csr_array(A))):
        assert one.csr.toarray().tolist() == A.tolist()
        assert one.T.csr.toarray().tolist() == A.T.tolist()
        assert one.flat.tolist() == np.flatnonzero(A).tolist()


def test_counts():
    assert pattern(A).n_ones == A.sum()
    assert pattern(A).ones_per_row.tolist() == A.sum(axis=1).tolist()
    assert pattern(A).ones_per_column.tolist() == A.sum(axis=0).tolist()


def test_rows_and_overlap():
    assert pattern(A).rows(2, 5).csr.toarray().tolist() == A[2:5].tolist()
    assert pattern(A).overlap(pattern(B)).csr.toarray().tolist() == (A & B).tolist()
