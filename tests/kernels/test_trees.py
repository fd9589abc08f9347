import numpy as np

from limo._kernels.trees import sum_leaf_labels, sum_leaf_values
from naive import trees as naive


def drawn(rng, n_features, n_inner, n_trees):
    """Random trees: every inner node splits a leaf, so that children come after parents."""
    feature, threshold, children, roots = [], [], [], []
    for _ in range(n_trees):
        start = len(feature)
        roots.append(start)
        leaves = [start]
        feature.append(-1)
        threshold.append(0.0)
        children.append([0, 0])
        for _ in range(n_inner):
            node = leaves.pop(int(rng.integers(len(leaves))))
            feature[node] = int(rng.integers(n_features))
            threshold[node] = float(rng.integers(-2, 3))
            children[node] = [len(feature), len(feature) + 1]
            for _ in range(2):
                leaves.append(len(feature))
                feature.append(-1)
                threshold.append(0.0)
                children.append([0, 0])
    kinds = (np.int32, np.float64, np.int32, np.int64)
    parts = (feature, threshold, children, roots)
    return [np.array(part, dtype=kind) for part, kind in zip(parts, kinds, strict=True)]


def test_values_of_leaves_add_up():
    rng = np.random.default_rng(0)
    feature, threshold, children, roots = drawn(rng, 4, 6, 5)
    X = rng.integers(-2, 3, size=(30, 4)).astype(float)  # many values equal a threshold
    values = rng.normal(size=feature.size)
    first, last = np.array([0, 2, 2]), np.array([2, 2, 5])  # the second label has no tree
    sums = np.ones((30, 3))
    sum_leaf_values(X, feature, threshold, children, values, first, last, roots, sums)
    by_label = [roots[a:b] for a, b in zip(first, last, strict=True)]
    expected = 1 + naive.leaf_values(X, feature, threshold, children, values, by_label)
    np.testing.assert_allclose(sums, expected, atol=1e-12)


def test_labels_of_leaves_add_up():
    rng = np.random.default_rng(1)
    feature, threshold, children, roots = drawn(rng, 3, 4, 6)
    X = rng.integers(-2, 3, size=(20, 3)).astype(np.float32)
    Y = (rng.random((12, 5)) < 0.3).astype(int)
    leaves = np.flatnonzero(feature < 0)
    bounds = np.sort(rng.integers(0, 41, size=leaves.size + 1))
    children[leaves, 0], children[leaves, 1] = bounds[:-1], bounds[1:]  # some leaves are empty
    rows = rng.integers(12, size=40).astype(np.int32)
    shares = rng.random(40).astype(np.float32)
    indptr = np.concatenate([[0], np.cumsum(Y.sum(axis=1))])
    sums = np.zeros((20, 5))
    sum_leaf_labels(
        X, feature, threshold, children, roots, rows, shares, indptr, np.nonzero(Y)[1], sums
    )
    expected = naive.votes(X, feature, threshold, children, roots, rows, shares, Y)
    np.testing.assert_allclose(sums, expected, rtol=1e-6)
