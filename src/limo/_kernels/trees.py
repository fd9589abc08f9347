"""Kernels for decision trees as plain arrays.

Node i goes left where ``X[r, feature[i]] <= threshold[i]``, otherwise right. A leaf has feature -1.
Children come after their parent, so that every walk ends. Callers have checked all of this.
"""

from limo._kernels import kernel
from limo._types import Anything, Floats, Integers, Values


@kernel
def _leaf(
    x: Floats,
    feature: Integers,
    threshold: Values,
    children: Anything,
    node: int,
) -> int:
    """The leaf that an instance reaches from a node."""
    while feature[node] >= 0:
        node = children[node, 0] if x[feature[node]] <= threshold[node] else children[node, 1]
    return node


@kernel
def sum_leaf_values(
    X: Floats,
    feature: Integers,
    threshold: Values,
    children: Anything,
    values: Values,
    first: Integers,
    last: Integers,
    roots: Integers,
    sums: Values,
) -> None:
    """Add to ``sums[r, j]`` the leaf values of the trees ``first[j]`` up to ``last[j]``."""
    for r in range(X.shape[0]):
        for j in range(first.size):
            total = 0.0
            for tree in range(first[j], last[j]):
                total += values[_leaf(X[r], feature, threshold, children, roots[tree])]
            sums[r, j] += total


@kernel
def sum_leaf_labels(
    X: Floats,
    feature: Integers,
    threshold: Values,
    children: Anything,
    roots: Integers,
    rows: Integers,
    shares: Floats,
    indptr: Integers,
    indices: Integers,
    sums: Values,
) -> None:
    """Add to ``sums[r, j]`` how often label j occurs in the leaves of an instance.

    The children of a leaf are the first and last position of its training rows in ``rows``;
    ``shares`` are their weights, which add up to 1 in each leaf. The labels of training row i are
    ``indices[indptr[i] : indptr[i + 1]]``.
    """
    for r in range(X.shape[0]):
        for root in roots:
            leaf = _leaf(X[r], feature, threshold, children, root)
            for k in range(children[leaf, 0], children[leaf, 1]):
                for label in range(indptr[rows[k]], indptr[rows[k] + 1]):
                    sums[r, indices[label]] += shares[k]
