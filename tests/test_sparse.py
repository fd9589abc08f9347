import numpy as np
import pytest
from scipy import sparse

from limo._sparse import check_sparse, check_sparse_scores


def test_scores_become_canonical():
    given = sparse.csc_array([[0, 3, 0], [2, 0, 1]])
    scores = check_sparse_scores(given)
    assert scores.dtype == np.float64
    assert scores.shape == (2, 3)
    assert scores.size == 3
    assert scores.T.matrix.toarray().tolist() == given.T.toarray().tolist()
    assert scores.as_one_row().matrix.indices.tolist() == [1, 3, 5]
    indptr, indices, data = scores.rows(1, 2)
    assert (indptr.tolist(), indices.tolist(), data.tolist()) == ([0, 2], [0, 2], [2, 1])


def test_malformed_matrices():
    twice = sparse.csr_array(([1.0, 2.0], [1, 1], [0, 2]), shape=(1, 2))
    with pytest.raises(ValueError, match="gives some entries twice"):
        check_sparse_scores(twice)
    with pytest.raises(ValueError, match="two non-empty dimensions"):
        check_sparse_scores(sparse.csr_array((0, 3)))
    broken = sparse.csr_array([[1.0, 2.0]])
    broken.indices = np.array([0, 7])
    with pytest.raises(ValueError, match="expected indices from 0 to 1, got 7"):
        check_sparse(broken, "y_score")
    with pytest.raises(
        ValueError, match="y_score must hold numbers, got values of type complex128"
    ):
        check_sparse_scores(sparse.csr_array([[1 + 2j, 0]]))
    for wrong in (np.inf, 1e308):
        with pytest.raises(ValueError, match=r"finite numbers up to 1e150: found .* at row 0, col"):
            check_sparse_scores(sparse.csr_array([[wrong, 0]]))
