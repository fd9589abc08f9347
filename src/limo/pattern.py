"""Where the ones of a 0/1 matrix are: the one form labels have below the door.

Dense or sparse, labels arrive here as row pointers and column indices. Nothing in this room
knows what the ones mean.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from limo._types import Integers

__all__ = ["Pattern"]


@dataclass(frozen=True, eq=False)
class Pattern:
    """The ones of a 0/1 matrix, row by row, each row's columns ascending."""

    indptr: Integers
    indices: Integers
    shape: tuple[int, int]

    @classmethod
    def from_flat(cls, flat: Integers, shape: tuple[int, int]) -> "Pattern":
        """Build from ascending positions in the matrix read row by row."""
        n_rows, n_columns = shape
        indptr = np.searchsorted(flat, np.arange(n_rows + 1, dtype=np.int64) * n_columns)
        return cls(indptr.astype(np.int64), flat % n_columns, shape)

    @classmethod
    def from_csr(cls, matrix: sparse.csr_array) -> "Pattern":
        """Build from a canonical CSR matrix without stored zeros."""
        indptr, indices = (a.astype(np.int64, copy=False) for a in (matrix.indptr, matrix.indices))
        return cls(indptr, indices, matrix.shape)

    @cached_property
    def csr(self) -> sparse.csr_array:
        """The matrix itself, as bytes."""
        ones = np.ones(self.indices.size, dtype=np.int8)
        return sparse.csr_array((ones, self.indices, self.indptr), shape=self.shape)

    @cached_property
    def T(self) -> "Pattern":
        """The transposed matrix."""
        return Pattern.from_csr(self.csr.T.tocsr())

    @property
    def n_ones(self) -> int:
        """How many ones there are."""
        return self.indices.size

    @property
    def ones_per_row(self) -> Integers:
        """How many ones each row has."""
        return np.diff(self.indptr)

    @property
    def ones_per_column(self) -> Integers:
        """How many ones each column has."""
        return np.bincount(self.indices, minlength=self.shape[1])

    @property
    def flat(self) -> Integers:
        """Positions of the ones in the matrix read row by row."""
        starts = np.arange(self.shape[0], dtype=np.int64) * self.shape[1]
        return np.repeat(starts, self.ones_per_row) + self.indices

    def rows(self, start: int, stop: int) -> "Pattern":
        """Rows ``start`` to ``stop`` as a matrix of their own."""
        first, last = self.indptr[start], self.indptr[stop]
        indptr = self.indptr[start : stop + 1] - first
        return Pattern(indptr, self.indices[first:last], (stop - start, self.shape[1]))

    def overlap(self, other: "Pattern") -> "Pattern":
        """The ones both matrices share."""
        shared = self.csr.multiply(other.csr).tocsr()
        shared.eliminate_zeros()
        return Pattern.from_csr(shared)
