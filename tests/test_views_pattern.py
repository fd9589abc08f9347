from dataclasses import replace

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


def test_columns_ascend_whatever_the_order_in_the_matrix():
    given = sparse.csr_array(([1, 1, 1], [3, 0, 1], [0, 2, 3]), shape=(2, 4))
    assert Pattern.from_csr(given).flat.tolist() == [0, 3, 5]


def test_counts():
    assert pattern(A).n_ones == A.sum()
    assert pattern(A).ones_per_row.tolist() == A.sum(axis=1).tolist()
    assert pattern(A).ones_per_column.tolist() == A.sum(axis=0).tolist()


def test_rows_in_any_order():
    rows = np.array([4, 0, 2])
    weights = np.arange(1.0, len(A) + 1)
    gaps = replace(pattern(A), unknown=pattern(B & ~A), row_weights=weights)
    found = gaps.take(rows)
    assert found.csr.toarray().tolist() == A[rows].tolist()
    assert found.unknown.csr.toarray().tolist() == (B & ~A)[rows].tolist()
    assert found.row_weights.tolist() == weights[rows].tolist()
    assert pattern(A).take(rows).is_plain


def test_rows_and_overlap():
    assert pattern(A).rows(2, 5).csr.toarray().tolist() == A[2:5].tolist()
    assert pattern(A).overlap(pattern(B)).csr.toarray().tolist() == (A & B).tolist()
