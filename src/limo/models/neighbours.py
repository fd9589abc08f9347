"""The nearest training instances, the same on every machine and for every storage.

scikit-learn's search leaves equal distances, common among 0/1 features, to chance: to the number of
threads and the last bit of a product. Here the lower index wins, which makes learners that count
neighbours reproducible, and costs no more.
"""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.extmath import row_norms
from sklearn.utils.parallel import Parallel, delayed

from limo._kernels.neighbours import nearest
from limo._types import Integers

__all__ = ["count_labels", "nearest_neighbours", "pack", "unpack"]

_BLOCK_CELLS = 1 << 22
_ROUNDING = 1e-12


def nearest_neighbours(X: Any, k: int, queries: Any = None, n_jobs: int | None = None) -> Integers:
    """Find the ``k`` rows of X nearest to each query by Euclidean distance, nearest first.

    Without ``queries``, for the rows of X themselves; no row is then its own neighbour, but rows
    equal to it are. Of equally distant rows the one of lower index is nearer.

    Returns an array of shape (n_queries, k). O(n_queries n_rows d), in blocks.
    """
    own, queries = (True, X) if queries is None else (False, queries)
    found = np.zeros((queries.shape[0], k), dtype=np.int64)
    if k == 0:
        return found
    norms = row_norms(X, squared=True)
    step = max(1, _BLOCK_CELLS // X.shape[0])

    def search(start: int) -> None:
        block = queries[start : start + step]
        lengths = row_norms(block, squared=True)
        # the query's own length is the same for all rows, so it takes no part
        distances = norms - 2.0 * _product(block, X)
        close = _ROUNDING * (lengths + norms.max())
        nearest(distances, close, start if own else -1, found[start : start + step])

    starts = range(0, queries.shape[0], step)
    Parallel(n_jobs=n_jobs, require="sharedmem")(delayed(search)(start) for start in starts)
    return found


def count_labels(neighbours: Integers, Y: sparse.csr_array) -> sparse.csr_array:
    """How many of each instance's neighbours have each label, of shape (n_queries, n_labels)."""
    n_queries, k = neighbours.shape
    indptr = k * np.arange(n_queries + 1)
    chosen = sparse.csr_array(
        (np.ones(neighbours.size, dtype=np.int64), neighbours.reshape(-1), indptr),
        shape=(n_queries, Y.shape[0]),
    )
    return chosen @ Y


def pack(A: Any) -> tuple[Any, ...]:
    """The plain arrays a matrix is made of, so that skops need not be told to trust any other."""
    return (A.data, A.indices, A.indptr, A.shape) if sparse.issparse(A) else (A,)


def unpack(parts: tuple[Any, ...]) -> Any:
    """The matrix that was packed, without a copy."""
    if len(parts) == 1:
        return parts[0]
    data, indices, indptr, shape = parts
    return sparse.csr_array((data, indices, indptr), shape=shape)


def _product(block: Any, X: Any) -> Any:
    """Inner products of rows, dense and C-contiguous."""
    if sparse.issparse(X):
        dense = block.toarray() if sparse.issparse(block) else block
        return np.ascontiguousarray((X @ dense.T).T)
    return block @ X.T
