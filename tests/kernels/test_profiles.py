import numpy as np
import pytest

from limo._kernels.profiles import (
    _boundary,
    _first_below,
    add_steps,
    copy_columns,
    count_irrelevant,
    sum_steps,
    take_relevant,
)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_relevant_scores_are_taken_out_in_order(dtype):
    rows = np.array([[3.0, 1.0, 2.0], [5.0, 4.0, 6.0], [7.0, 8.0, 9.0]], dtype=dtype)
    relevant = np.empty(3, dtype=dtype)
    take_relevant(rows, np.array([0, 2, 2, 3]), np.array([1, 2, 0]), relevant)
    assert relevant.tolist() == [2, 1, 7]
    assert rows.tolist() == [[3, -np.inf, -np.inf], [5, 4, 6], [-np.inf, 8, 9]]


@pytest.mark.parametrize("shape", [(1, 1), (63, 5), (64, 16), (131, 37)])
def test_columns_become_rows(shape):
    matrix = np.random.default_rng(0).normal(size=shape)
    for start in range(0, shape[1], 3):
        columns = np.empty((min(20, shape[1] - start), shape[0]))
        copy_columns(matrix, start, columns)
        assert np.array_equal(columns, matrix[:, start : start + len(columns)].T)


@pytest.mark.parametrize("strict", [True, False])
def test_boundary_equals_a_walk(strict):
    rng = np.random.default_rng(0)
    for _ in range(300):
        ordered = np.sort(rng.integers(0, 6, rng.integers(1, 40))).astype(float)
        value = float(rng.integers(-1, 7))
        end = int(rng.integers(0, ordered.size + 1))
        expected = end
        while expected and (
            ordered[expected - 1] > value or (not strict and ordered[expected - 1] == value)
        ):
            expected -= 1
        assert _boundary(ordered, value, end, strict) == expected


def test_counts_are_added_to_what_is_there():
    ordered = np.array([[-np.inf, 1.0, 2.0, 2.0, 5.0]])
    relevant = np.array([4.0, 2.0, 2.0, 0.0])
    above, tied = np.full(4, 10), np.full(4, 20)
    count_irrelevant(ordered, np.array([0, 4]), relevant, above, tied)
    assert above.tolist() == [11, 11, 11, 14]
    assert tied.tolist() == [20, 22, 22, 20]


@pytest.mark.parametrize("strict", [True, False])
def test_first_below_equals_a_walk(strict):
    rng = np.random.default_rng(0)
    for _ in range(300):
        descending = -np.sort(rng.integers(0, 6, rng.integers(1, 40))).astype(float)
        value = -float(rng.integers(-1, 7))
        start = expected = int(rng.integers(0, descending.size + 1))
        while expected < descending.size and (
            descending[expected] > value or (strict and descending[expected] == value)
        ):
            expected += 1
        assert _first_below(descending, value, start, strict) == expected


@pytest.mark.parametrize("n_relevant", [0, 3, 200])  # fewer and more than irrelevant ones
def test_steps_of_blocks_add_up_to_counts(n_relevant):
    rng = np.random.default_rng(n_relevant)
    relevant = -np.sort(rng.integers(0, 30, (2, n_relevant)).astype(np.float32))
    relevant[:, n_relevant - n_relevant // 3 :] = -np.inf  # absent from sparse scores
    blocks = [-rng.integers(-1, 32, (2, size)).astype(np.float32) for size in (1, 20, 7, 0)]
    indptr = np.array([0, n_relevant, 2 * n_relevant])
    steps = np.zeros((2, 2 * n_relevant), np.uint32)
    for block in blocks:
        ends = np.array([0, block.shape[1], 2 * block.shape[1]])
        add_steps(np.sort(block).ravel(), ends[:-1], ends[1:], indptr, relevant.ravel(), *steps)
    above, tied = np.empty((2, 2 * n_relevant), np.int64)
    sum_steps(*steps, indptr, above, tied)
    others = np.concatenate(blocks, axis=1)
    assert above.tolist() == [int((others[i] > r).sum()) for i in (0, 1) for r in relevant[i]]
    assert tied.tolist() == [int((others[i] == r).sum()) for i in (0, 1) for r in relevant[i]]
