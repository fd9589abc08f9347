import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from limo.datasets._dataset import csr, row_keys, without_repeats


def test_small_indices() -> None:
    A = csr(np.ones(2), np.array([0, 1]), np.array([0, 1, 2]), (2, 2))
    assert A.indices.dtype == A.indptr.dtype == np.int32
    wide = csr(np.ones(1), np.array([2**33]), np.array([0, 1]), (1, 2**34))
    assert wide.indices.dtype == np.int64


def test_repeats_count_once_and_never_add_up() -> None:
    A = csr(
        np.array([2.0, 1, 2, np.nan, np.nan]),
        np.array([3, 0, 3, 1, 1]),
        np.array([0, 3, 3, 5]),
        (3, 4),
    )
    B = without_repeats(A, lambda row, column: AssertionError())
    assert np.array_equal(
        B.toarray(), [[1, 0, 0, 2], [0, 0, 0, 0], [0, np.nan, 0, 0]], equal_nan=True
    )
    clash = csr(np.array([1.0, 2]), np.array([1, 1]), np.array([0, 0, 2]), (2, 2))
    with pytest.raises(KeyError, match=r"\(1, 1\)"):
        without_repeats(clash, lambda row, column: KeyError((row, column)))


@given(
    st.lists(st.lists(st.sampled_from([0.0, -0.0, 1.0, 2.0]), min_size=3, max_size=3), min_size=1)
)
def test_keys_are_equal_when_rows_are(rows: list[list[float]]) -> None:
    A = np.array(rows)
    assert row_keys(A) == row_keys(sparse.csr_array(A))
    for keys in (row_keys(A), row_keys(sparse.csr_array(A))):
        for i in range(len(rows)):
            for k in range(len(rows)):
                assert (keys[i] == keys[k]) == (rows[i] == rows[k])
