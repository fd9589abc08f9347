"""Sparse matrices that fit together, and sparse scores: absent ones are below all others, and tied.

Models with very many labels give scores to a few labels of each instance. An absent score has one
meaning everywhere in limo: lower than every stored score, and equal to every other absent one. A
sparse matrix of scores never becomes a dense one.
"""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from limo._system import Later
from limo._types import Floats, Integers

sparse = Later("scipy.sparse")  # too slow for shell completion, which reads the measures


@dataclass(frozen=True, eq=False)
class SparseScores:
    """Scores of some items only, all others being -inf: a CSR matrix with ascending columns."""

    matrix: Any

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and items of a row."""
        return self.matrix.shape[0], self.matrix.shape[1]

    @property
    def size(self) -> int:
        """How many scores are stored."""
        return int(self.matrix.nnz)

    @property
    def dtype(self) -> Any:
        """The type of the scores."""
        return self.matrix.data.dtype

    @property
    def T(self) -> Self:
        """The same scores with rows and columns exchanged."""
        return replace(self, matrix=canonical(self.matrix.T.tocsr()))

    def as_one_row(self) -> Self:
        """All items in one row."""
        starts = np.arange(self.shape[0], dtype=np.int64) * self.shape[1]
        places = np.repeat(starts, np.diff(self.matrix.indptr)) + self.matrix.indices
        ends = np.array([0, places.size])
        shape = (1, self.shape[0] * self.shape[1])
        return replace(self, matrix=sparse.csr_array((self.matrix.data, places, ends), shape=shape))

    def rows(self, start: int, stop: int) -> tuple[Integers, Integers, Floats]:
        """Row ends, columns and scores of the rows from ``start`` to ``stop``."""
        first, last = self.matrix.indptr[[start, stop]]
        indptr = (self.matrix.indptr[start : stop + 1] - first).astype(np.int64)
        indices = self.matrix.indices[first:last].astype(np.int64, copy=False)
        return indptr, indices, self.matrix.data[first:last]


def largest_score(dtype: Any) -> float:
    """The largest score of a type: sums, differences and squares of larger ones overflow."""
    return min(1e150, float(np.finfo(dtype).max))


def check_sparse_scores(y_score: Any, name: str = "y_score") -> SparseScores:
    """Check sparse scores; absent ones are below all others."""
    if y_score.ndim != 2 or 0 in y_score.shape:
        raise ValueError(
            f"{name} must have two non-empty dimensions, instances x labels, "
            f"got shape {y_score.shape}."
        )
    check_sparse(y_score, name)
    matrix = canonical(sparse.csr_array(y_score), name)
    wrong = np.flatnonzero(~(np.abs(matrix.data) <= largest_score(matrix.dtype)))
    if wrong.size:
        k = int(wrong[0])
        i = int(np.searchsorted(matrix.indptr, k, side="right")) - 1
        raise ValueError(
            f"{name} must hold finite numbers up to 1e150: found {matrix.data[k]} at row {i}, "
            f"column {matrix.indices[k]}. Leave such an entry out: an absent score is below all "
            "others."
        )
    return SparseScores(matrix)


def canonical(matrix: Any, name: str = "y_score") -> Any:
    """Make columns ascend within each row and scores floats; reject an entry given twice."""
    if matrix.data.dtype not in (np.float32, np.float64):
        matrix = matrix.astype(np.float64)
    if not matrix.has_sorted_indices:
        matrix = matrix.sorted_indices()
    if not matrix.has_canonical_format:
        raise ValueError(
            f"{name} gives some entries twice. Keep one score for each, or add them up with "
            "sum_duplicates()."
        )
    return matrix


def check_sparse(A: Any, name: str) -> None:
    """Reject a sparse matrix whose parts do not fit together; compiled loops would crash on it.

    Dense input passes. Every index is compared with the shape, which costs less than one copy.
    """
    if not sparse.issparse(A):
        return
    if A.format in ("csr", "csc", "bsr"):
        problem = _compressed_problem(A)
    elif A.format == "coo" and A.ndim == 2:
        problem = next(filter(None, map(_index_problem, A.coords, A.shape)), "")
    else:
        problem = ""
    if A.dtype.kind not in "biuf":
        raise ValueError(f"{name} must hold numbers, got values of type {A.dtype}.")
    if problem:
        raise ValueError(
            f"{name} is a malformed {A.format} matrix of shape {A.shape}: {problem}. Indices count "
            "from 0; labels that count from 1 need one subtracted."
        )


def _compressed_problem(A: Any) -> str:
    """What is wrong with a CSR, CSC or BSR matrix; empty if nothing is."""
    indptr, block = np.asarray(A.indptr), A.blocksize if A.format == "bsr" else (1, 1)
    n_lines, width = (size // side for size, side in zip(A.shape, block, strict=True))
    if A.format == "csc":
        n_lines, width = width, n_lines
    if indptr.ndim != 1 or indptr.dtype.kind not in "iu" or len(indptr) != n_lines + 1:
        return f"indptr must hold {n_lines + 1} integers"
    if indptr[0] != 0 or (indptr[1:] < indptr[:-1]).any():
        return "indptr must start at 0 and never fall"
    if not len(A.indices) == len(A.data) >= indptr[-1]:
        return (
            f"indptr counts {indptr[-1]} entries, but there are {len(A.indices)} indices and "
            f"{len(A.data)} values"
        )
    return _index_problem(np.asarray(A.indices)[: indptr[-1]], width)


def _index_problem(indices: Any, width: int) -> str:
    if indices.ndim != 1 or indices.dtype.kind not in "iu":
        return f"its indices must be one list of integers, got {indices.dtype}"
    if indices.size and not 0 <= indices.min() <= indices.max() < width:
        wrong = indices[(indices < 0) | (indices >= width)][0]
        return f"expected indices from 0 to {width - 1}, got {wrong}"
    return ""
