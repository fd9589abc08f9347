"""Rows of a feature matrix, dense or CSR: storage is a type here, not a suffix.

A kernel that touches features only through :func:`row_dot` and :func:`row_add` is written once
and compiled for both.
"""

# An overload and its bodies must have equal signatures, annotations included; theirs have none.
# mypy: allow-untyped-defs, allow-untyped-calls

from typing import NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from limo._types import Integers, Values

__all__ = ["CSR", "Storage", "row_add", "row_dot"]


class CSR(NamedTuple):
    """The three arrays of a sparse matrix, row by row; equal columns in a row add up."""

    data: Values
    indices: Integers
    indptr: Integers


Storage = Values | CSR


def _dense_dot(X, i, w):
    return np.dot(X[i], w)


def _csr_dot(X, i, w):
    total = 0.0
    for e in range(X.indptr[i], X.indptr[i + 1]):
        total += X.data[e] * w[X.indices[e]]
    return total


def _dense_add(X, i, a, w):
    w += a * X[i]


def _csr_add(X, i, a, w):
    for e in range(X.indptr[i], X.indptr[i + 1]):
        w[X.indices[e]] += a * X.data[e]


def row_dot(X: Storage, i: int, w: Values) -> float:
    """The product of row ``i`` and ``w``. O(nonzeros of the row)."""
    value: float = _csr_dot(X, i, w) if isinstance(X, CSR) else _dense_dot(X, i, w)
    return value


def row_add(X: Storage, i: int, a: float, w: Values) -> None:
    """Add ``a`` times row ``i`` to ``w``. O(nonzeros of the row)."""
    if isinstance(X, CSR):
        _csr_add(X, i, a, w)
    else:
        _dense_add(X, i, a, w)


# Inside compiled code the same two names stand for the body that suits the type of X.


@overload(row_dot)
def _compiled_dot(X, i, w):
    return _dense_dot if isinstance(X, types.Array) else _csr_dot


@overload(row_add)
def _compiled_add(X, i, a, w):
    return _dense_add if isinstance(X, types.Array) else _csr_add
