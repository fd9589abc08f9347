"""Trees walked node by node, as slowly as their definition reads."""

import numpy as np


def leaf(x, feature, threshold, children, node):
    while feature[node] >= 0:
        goes_left = x[feature[node]] <= threshold[node]
        node = int(children[node][0 if goes_left else 1])
    return node


def leaf_values(X, feature, threshold, children, values, trees_of_label):
    """The sum over the trees of each label of the value of the leaf."""
    return np.array(
        [
            [sum(values[leaf(x, feature, threshold, children, root)] for root in roots) for roots in trees_of_label]
            for x in X
        ]
    )  # fmt: skip


def votes(X, feature, threshold, children, roots, rows, shares, Y):
    """The sum over trees of the weighted mean labels of the leaf."""
    found = np.zeros((len(X), Y.shape[1]))
    for i, x in enumerate(X):
        for root in roots:
            first, last = children[leaf(x, feature, threshold, children, root)]
            for k in range(first, last):
                found[i] += shares[k] * Y[rows[k]]
    return found
