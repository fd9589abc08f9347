"""Stratification by itself; the splits are tested in tests/datasets/test_split.py."""

import numpy as np
from scipy import sparse

from limo._kernels.sampling import FoldAssignment, assign_folds


def share(Y: np.ndarray, sizes: list[int]) -> list[int]:
    """Fold of each row, nothing left to chance: ties go to the first fold."""
    rows, columns = sparse.csr_array(Y), sparse.csc_array(Y)
    counts = np.diff(columns.indptr).astype(np.int64)
    shares = np.array(sizes) / sum(sizes)
    tie = np.tile(-np.arange(len(sizes), dtype=float), (len(Y), 1))
    parts = (rows.indptr, rows.indices, columns.indptr, columns.indices, counts, np.array(sizes))
    ints = [part.astype(np.int64) for part in parts]
    state = FoldAssignment(
        *ints, counts[:, None] * shares, tie, np.full(len(Y), -1, dtype=np.int64)
    )
    assign_folds(state, np.arange(len(Y)))
    assert state.left.tolist() == [0] * len(sizes)
    assert state.rest.tolist() == [0] * Y.shape[1]
    return state.fold.tolist()


def test_the_rarest_label_goes_first() -> None:
    # Label 1 (rows 2 and 3) is distributed first: one each. Label 0 has rows 0, 1, 2 left to balance.
    Y = np.array([[1, 0], [1, 0], [1, 1], [0, 1]])
    fold = share(Y, [2, 2])
    assert fold[2] != fold[3]
    assert sorted(fold) == [0, 0, 1, 1]
    assert 1 <= sum(fold[i] == 0 for i in range(3)) <= 2


def test_a_full_fold_takes_no_more() -> None:
    assert sorted(share(np.ones((5, 1)), [1, 4])) == [0, 1, 1, 1, 1]


def test_rows_without_labels_fill_up() -> None:
    assert sorted(share(np.zeros((3, 2)), [1, 2])) == [0, 1, 1]
