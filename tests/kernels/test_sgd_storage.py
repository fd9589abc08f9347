import numpy as np
import pytest
from numba import types
from scipy import sparse

from limo._kernels import kernel
from limo._kernels import sgd as storage
from limo._kernels.sgd import CSR, row_add, row_dot


@kernel
def dot_then_add(X, i, a, w):
    value = row_dot(X, i, w)
    row_add(X, i, a, w)
    return value


@pytest.fixture(params=["dense", "CSR"])
def stored(request):
    X = np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 0.0], [0.0, -1.0, 0.5]])
    csr = sparse.csr_array(X)
    return X, X if request.param == "dense" else CSR(csr.data, csr.indices, csr.indptr)


@pytest.mark.parametrize("call", [dot_then_add, getattr(dot_then_add, "py_func", dot_then_add)])
def test_rows_are_multiplied_and_added(stored, call):
    X, storage = stored
    for i in range(3):
        w = np.array([3.0, 5.0, 7.0])
        assert call(storage, i, 0.5, w) == X[i] @ [3.0, 5.0, 7.0]
        assert w.tolist() == ([3.0, 5.0, 7.0] + 0.5 * X[i]).tolist()


def test_equal_columns_of_a_row_add_up():
    X = CSR(np.array([1.0, 2.0]), np.array([1, 1]), np.array([0, 2]))
    w = np.array([1.0, 10.0])
    assert dot_then_add(X, 0, 1.0, w) == 30
    assert w.tolist() == [1, 13]


def test_the_compiler_chooses_by_type():
    dense, csr = types.float64[:, ::1], types.NamedTuple([types.float64[::1]] * 3, CSR)
    assert storage._compiled_dot(dense, None, None) is storage._dense_dot
    assert storage._compiled_dot(csr, None, None) is storage._csr_dot
    assert storage._compiled_add(dense, None, None, None) is storage._dense_add
    assert storage._compiled_add(csr, None, None, None) is storage._csr_add
