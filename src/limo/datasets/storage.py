"""CSR matrices built and compared: one place for index types, order and repeated cells."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

__all__ = ["csr", "row_keys", "without_repeats"]

_INT32 = np.iinfo(np.int32).max


def csr(data: Any, indices: Any, indptr: Any, shape: tuple[int, int]) -> Any:
    """A CSR array with 32-bit indices where they suffice (many solvers know no others)."""
    small = len(data) <= _INT32 and shape[1] <= _INT32
    kind = np.int32 if small else np.int64
    return sparse.csr_array((data, indices.astype(kind), indptr.astype(kind)), shape=shape)


def without_repeats(matrix: Any, clash: Callable[[int, int], Exception]) -> Any:
    """Sort the indices of each row; a cell given twice counts once.

    Two different values for one cell raise ``clash(row, column)``: adding them up, as sparse
    matrices do by default, would invent a third.
    """
    matrix.sort_indices()
    if matrix.has_canonical_format:
        return matrix
    data, indices = matrix.data, matrix.indices
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    repeated = (indices[1:] == indices[:-1]) & (rows[1:] == rows[:-1])
    equal = (data[1:] == data[:-1]) | (np.isnan(data[1:]) & np.isnan(data[:-1]))
    different = np.flatnonzero(repeated & ~equal)
    if len(different):
        raise clash(int(rows[different[0]]), int(indices[different[0]]))
    first = np.concatenate([[True], ~repeated])
    lengths = np.bincount(rows[first], minlength=matrix.shape[0])
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    return csr(data[first], indices[first], indptr, matrix.shape)


def row_keys(A: Any) -> list[bytes]:
    """A key for each row, equal exactly when the rows are, however they are stored."""
    A = sparse.csr_array(A, dtype=np.float64, copy=True)
    A.sum_duplicates()
    A.eliminate_zeros()
    indices, spans = A.indices.astype(np.int64), itertools.pairwise(A.indptr.tolist())
    return [indices[a:b].tobytes() + A.data[a:b].tobytes() for a, b in spans]
