from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse

import limo
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


def _out_of_order(A, rng):
    """The same matrix with its columns out of order, and flags that deny it."""
    made = sparse.csr_array(A)
    order = np.concatenate(
        [start + rng.permutation(stop - start) for start, stop in pairwise(made.indptr)]
    )
    parts = made.data[order], made.indices[order], made.indptr
    made = sparse.csr_array(parts, shape=made.shape)
    made.has_sorted_indices = made.has_canonical_format = True
    return made


def test_indices_out_of_order_are_sorted_at_every_entrance():
    rng = np.random.default_rng(0)
    Y = (rng.random((40, 6)) < 0.4).astype(int)
    S = np.round(rng.normal(size=Y.shape), 1) + 0.05
    P = (S > 0).astype(int)
    mixed_Y, mixed_S, mixed_P = (_out_of_order(one, rng) for one in (Y, S, P))
    assert limo.evaluate(mixed_Y, S, mixed_P).to_json() == limo.evaluate(Y, S, P).to_json()
    expected = limo.evaluate(Y, sparse.csr_array(S)).to_json()
    assert limo.evaluate(mixed_Y, mixed_S).to_json() == expected
    assert limo.Evaluator().update(mixed_Y, mixed_S).compute().to_json() == expected
    folds = limo.datasets.StratifiedFolds(3)
    for found, right in zip(folds.split(S, mixed_Y), folds.split(S, Y), strict=True):
        assert np.array_equal(found[1], right[1])
    for model in (limo.LIMOClassifier(threshold_measure=None), limo.MLKNNClassifier(3)):
        right = limo.scores_of(model.fit(S, Y), S)
        found = limo.scores_of(model.fit(mixed_S, mixed_Y), mixed_S)
        np.testing.assert_allclose(found, right, rtol=0, atol=1e-9)
