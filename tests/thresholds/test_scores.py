import numpy as np
import pytest
from scipy import sparse

from cases import cases
from limo._checks import check_labels
from limo._views import COLUMNS, ENTRIES, ROWS
from limo.thresholds._scores import DenseScores, StoredScores, check_pair, read_scores, through
from thresholds_cases import stored_case

ABSENT = -np.inf


@pytest.mark.parametrize("view", [ROWS, COLUMNS, ENTRIES], ids=lambda v: v.name)
@pytest.mark.parametrize("order", ["C", "F"])
def test_dense_rows_are_parted_and_sorted(view, order):
    for Y, S, _ in cases(50, seed=50):
        A, B = {"rows": (Y, S), "columns": (Y.T, S.T)}.get(
            view.name, (Y.reshape(1, -1), S.reshape(1, -1))
        )
        seen, scores = through(view, check_labels(Y, "y"), DenseScores(np.array(S, order=order)))
        ranked = scores.sorted_rows(seen, 0, len(A))
        check_ranked(ranked, A, B)


@pytest.mark.parametrize("view", [ROWS, COLUMNS, ENTRIES], ids=lambda v: v.name)
def test_stored_rows_are_parted_and_sorted(view):
    rng = np.random.default_rng(51)
    for _ in range(50):
        Y, T, S = stored_case(rng)
        A, B = {"rows": (Y, S), "columns": (Y.T, S.T)}.get(
            view.name, (Y.reshape(1, -1), S.reshape(1, -1))
        )
        seen, scores = through(view, *check_pair(Y, T))
        check_ranked(scores.sorted_rows(seen, 0, len(A)), A, B)


def check_ranked(ranked, A, B):
    (good, a, b), (bad, c, d) = ranked.relevant, ranked.irrelevant
    for i, (y, s) in enumerate(zip(A, B, strict=True)):
        present = s > ABSENT
        assert good[a[i] : b[i]].tolist() == sorted(s[present & (y == 1)], reverse=True)
        assert bad[c[i] : d[i]].tolist() == sorted(s[present & (y == 0)])
        assert ranked.n_true[i] == y.sum()
        assert ranked.n_items == s.size


def test_dense_and_stored_answer_alike():
    rng = np.random.default_rng(52)
    for _ in range(30):
        m, l = rng.integers(1, 6, 2)
        S = rng.integers(-2, 3, (m, l)) / 2.0
        everywhere = np.nonzero(np.ones((m, l)))
        dense = read_scores(S)
        stored = read_scores(sparse.csr_array((S.ravel(), everywhere), shape=(m, l)))
        assert isinstance(stored, StoredScores)
        t = rng.choice([-1.0, 0.0, 0.5], size=(1, l))
        assert (stored.cut(t).toarray() == dense.cut(t)).all()
        assert (stored.lowest() == dense.lowest()).all()
        assert (stored.highest() == dense.highest()).all()
        assert (stored.worst_ranks().matrix.toarray() == dense.worst_ranks().S).all()
        assert stored.width == dense.width == l
        low = dense.lowest()
        assert (stored.descending(l, low) == dense.descending(l, low)).all()


def test_rows_without_scores():
    empty = read_scores(sparse.csr_array((2, 3)))
    assert empty.lowest().tolist() == [0, 0]
    assert empty.width == 1
    assert empty.cut(np.asarray(-np.inf)).nnz == 0
    assert empty.descending(2, np.zeros(2)).tolist() == [[0, 0], [0, 0]]


def test_float32_scores_are_not_rounded_to_the_threshold():
    S = np.array([[0.1, 0.2]], dtype=np.float32)
    t = np.float64(np.float32(0.1)) - 1e-12
    assert DenseScores(S).cut(t).tolist() == [[1, 1]]
    assert read_scores(sparse.csr_array(S)).cut(t).toarray().tolist() == [[1, 1]]


def test_integers_become_floats():
    assert read_scores(sparse.csr_array(np.array([[0, 3]]))).values.dtype == np.float64


def test_wrong_sparse_scores_are_refused():
    with pytest.raises(ValueError, match="found nan at row 1, column 2. Leave such an entry out"):
        read_scores(sparse.csr_array(np.array([[0, 0, 1.0], [0, 0, np.nan]])))
    with pytest.raises(
        ValueError, match=r"two non-empty dimensions, instances x labels, got shape \(0, 3\)"
    ):
        read_scores(sparse.csr_array((0, 3)))
    with pytest.raises(ValueError, match=r"shape of y_true: expected \(1, 2\), got \(2, 2\)"):
        check_pair([[1, 0]], sparse.csr_array(np.eye(2)))
    twice = sparse.csr_array((np.ones(2), np.array([1, 1]), np.array([0, 2])), shape=(1, 3))
    with pytest.raises(ValueError, match="gives some entries twice"):
        read_scores(twice)


def test_unsorted_columns_are_sorted_without_touching_the_input():
    given = sparse.csr_array(
        (np.array([2.0, 1.0]), np.array([2, 0]), np.array([0, 2])), shape=(1, 3)
    )
    assert read_scores(given).values.tolist() == [1.0, 2.0]
    assert given.data.tolist() == [2.0, 1.0]
