import numpy as np
import pytest
from scipy import sparse

from limo._kernels.expected_f1 import best_neighbour_sets
from naive.neighbours import best_set, f1


def choose(Y, neighbours, nothing=0.0):
    csr = sparse.csr_array(np.asarray(Y))
    chosen = np.zeros((len(neighbours), csr.shape[1]), dtype=bool)
    places = csr.indptr.astype(np.int64), csr.indices.astype(np.int64)  # as limo keeps labels
    best_neighbour_sets(np.asarray(neighbours), *places, nothing, chosen)
    return [set(np.flatnonzero(row)) for row in chosen]


@pytest.mark.parametrize("nothing", [0.0, 0.5, 1.0])
def test_equals_the_enumeration_of_all_label_sets(nothing):
    rng = np.random.default_rng(0)
    for l in (1, 2, 4, 6):
        for density in (0.1, 0.4, 0.9):
            Y = (rng.random((12, l)) < density).astype(int)
            neighbours = rng.integers(0, 12, (4, 5))
            for found, near in zip(choose(Y, neighbours, nothing), neighbours, strict=True):
                sets = [set(np.flatnonzero(Y[n])) for n in near]
                value, best = best_set(sets, l, nothing)
                expected = sum(f1(truth, found, nothing) for truth in sets) / len(sets)
                assert expected == pytest.approx(value, abs=1e-12)
                assert len(found) == len(best)  # of equally good sizes the smallest


def test_labels_that_seldom_come_together_are_predicted_together():
    assert choose([[1, 0], [0, 1]], [[0, 1]]) == [{0, 1}]  # 2/3 against 1/2
    assert choose([[0, 1, 0], [0, 0, 1], [0, 0, 0]], [[0, 1, 2]]) == [{1, 2}]


def test_of_equally_good_sizes_the_smallest_is_taken():
    Y = [[1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 0, 1]]  # every size is worth 2/3
    assert choose(Y, [[0, 1, 2]]) == [{0}]


def test_nothing_is_predicted_where_nothing_is_likely():
    assert choose([[0, 0], [0, 0]], [[0, 1]]) == [set()]
    assert choose([[0, 0], [0, 0], [0, 1]], [[0, 1, 2]]) == [{1}]
    assert choose([[0, 0], [0, 0], [0, 1]], [[0, 1, 2]], nothing=1.0) == [set()]


def test_one_instance_leaves_no_trace_in_the_next():
    Y = [[1, 1, 1, 0], [0, 0, 0, 1]]
    assert choose(Y, [[0], [1], [0], [1]]) == [{0, 1, 2}, {3}, {0, 1, 2}, {3}]
