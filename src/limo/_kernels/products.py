"""Sparse matrix times dense matrix, a range of rows at a time so that threads can share."""

from limo._kernels import kernel
from limo._types import Integers, Values

__all__ = ["add_transposed", "multiply_rows"]


@kernel
def multiply_rows(
    indptr: Integers, indices: Integers, data: Values, B: Values, out: Values, start: int, stop: int
) -> None:
    """Out = A B for the rows ``start`` to ``stop`` of the CSR matrix A."""
    for i in range(start, stop):
        row = out[i]
        row[:] = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            factor = data[k]
            other = B[indices[k]]
            for j in range(row.size):
                row[j] += factor * other[j]


@kernel
def add_transposed(block: Values, start: int, matrix: Values) -> None:
    """Add the rows of ``block`` to the columns of ``matrix`` from ``start`` on, in tiles."""
    n_columns, n_rows = block.shape
    for top in range(0, n_rows, 64):
        for j in range(n_columns):
            for i in range(top, min(top + 64, n_rows)):
                matrix[i, start + j] += block[j, i]
