import numpy as np
import pytest
from scipy import sparse

from limo.models import _neighbours as neighbours
from limo.models._neighbours import count_labels, nearest_neighbours, pack, unpack
from naive import neighbours as naive

STORAGES = [np.asarray, sparse.csr_array, sparse.csr_matrix]


def features(kind, seed=0):
    rng = np.random.default_rng(seed)
    if kind == "grid":  # many equal distances and equal rows
        return rng.integers(0, 2, (25, 4)).astype(float)
    X = rng.normal(size=(25, 4)) * 0.1 + 3.0
    X[5:9] = X[4]
    return X


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("kind", ["grid", "numbers"])
def test_equals_brute_force(storage, kind, monkeypatch):
    monkeypatch.setattr(neighbours, "_BLOCK_CELLS", 25 * 7)  # several blocks
    X, queries = features(kind), features(kind, seed=1)
    found = nearest_neighbours(storage(X), 6, storage(queries))
    assert found.tolist() == [naive.nearest(X, 6, q) for q in queries]
    own = nearest_neighbours(storage(X), 6, n_jobs=2)
    assert own.tolist() == [naive.nearest(X, 6, x, leave_out=i) for i, x in enumerate(X)]


def test_storage_of_instances_and_queries_may_differ():
    X = features("numbers")
    expected = nearest_neighbours(X, 3, X[:5])
    assert np.array_equal(nearest_neighbours(X, 3, sparse.csr_array(X[:5])), expected)
    assert np.array_equal(nearest_neighbours(sparse.csr_array(X), 3, X[:5]), expected)


def test_an_instance_is_never_its_own_neighbour_but_its_duplicates_are():
    X = np.ones((6, 2))
    found = nearest_neighbours(X, 5)
    assert [sorted(row) for row in found.tolist()] == [
        [j for j in range(6) if j != i] for i in range(6)
    ]


def test_no_neighbours_at_all():
    found = nearest_neighbours(np.ones((1, 2)), 0)
    assert found.shape == (1, 0)
    assert count_labels(found, sparse.csr_array([[1, 1]])).toarray().tolist() == [[0, 0]]


def test_labels_of_neighbours_are_counted():
    Y = sparse.csr_array(np.array([[1, 0], [1, 1], [0, 0]], dtype=np.int8))
    assert count_labels(np.array([[0, 1], [2, 1]]), Y).toarray().tolist() == [[2, 1], [1, 1]]
    many = sparse.csr_array(np.ones((300, 1), dtype=np.int8))
    assert count_labels(np.arange(300)[None], many).toarray().tolist() == [[300]]


def test_matrices_are_packed_into_plain_arrays_and_back():
    X = np.eye(3, 4)
    assert unpack(pack(X)) is X
    parts = pack(sparse.csr_matrix(X))
    assert {type(part) for part in parts} == {np.ndarray, tuple}
    assert np.array_equal(unpack(parts).toarray(), X)
