"""Synthetic data: the paper's Figure 1, and sparse data of any size."""

from typing import Any

import numpy as np

from limo._kernels.sampling import SparseRows, draw_features, draw_labels
from limo._settings import check_number, generator
from limo.datasets._dataset import Dataset, NumberedNames, csr

# The labels A, B, C, D of the four triangles into which the diagonals divide the square.
_REGION_LABELS = np.array(
    [
        [1, 0, 0, 0],  # right:  x > |y|
        [1, 1, 1, 0],  # top:    y > |x|
        [0, 1, 0, 1],  # left:  -x > |y|
        [1, 1, 1, 1],  # bottom: -y > |x|
    ],
    dtype=np.int64,
)
REGIONS = ("right", "top", "left", "bottom")

_GROUP_SIZE = 8  # labels that tend to occur together
_TOPIC_SIZE = 30  # features that indicate a label


def figure1(n: int = 2000, *, seed: int | np.random.Generator | None = 0) -> Dataset:
    """Points in a square whose four triangles have four different label sets.

    The synthetic data of the paper (its Figure 1): points uniform in (-1, 1)², which the two
    diagonals divide into triangles: right {A}, top {A, B, C}, left {B, D}, bottom {A, B, C, D}.
    No linear model separates label C, because its two triangles are opposite each other.

    Parameters
    ----------
    n : int, default=2000
        How many points.
    seed : int, generator or None, default=0
        The same seed gives the same data; None gives new data each time.

    Returns
    -------
    Dataset
        ``X`` of shape (n, 2), ``Y`` of shape (n, 4).

    Examples
    --------
    >>> data = figure1(1000, seed=1)
    >>> data.X.shape, data.Y.shape, data.label_names
    ((1000, 2), (1000, 4), ('A', 'B', 'C', 'D'))
    """
    check_number(n, "n", least=0, most=2**31, integer=True)
    X = generator(seed).uniform(-1.0, 1.0, size=(n, 2))
    x, y = X.T
    region = np.select([x > np.abs(y), y > np.abs(x), -x > np.abs(y)], [0, 1, 2], default=3)
    return Dataset(X, _REGION_LABELS[region], ("x", "y"), tuple("ABCD"), "figure1")


def make_multilabel(
    m: int = 1000,
    d: int = 500,
    l: int = 20,  # noqa: E741  (the letter of the formulas)
    *,
    cardinality: float = 2.5,
    density_of_X: float = 0.05,
    label_correlation: float = 0.5,
    seed: int | np.random.Generator | None = 0,
) -> Dataset:
    """Sparse multi-label data of any size, with a long tail of rare labels as in real data.

    Label frequencies follow Zipf's law (label0 is the most frequent). Labels form groups of about
    eight that tend to occur together. Each label has a topic, a set of features; half of the
    features of an instance come from the topics of its labels, the others are noise. The time is
    proportional to the number of stored values.

    Parameters
    ----------
    m, d, l : int
        How many instances, features and labels.
    cardinality : float, default=2.5
        The mean number of labels per instance, 0 to ``l``; if it is at least 1, every instance
        has a label.
    density_of_X : float, default=0.05
        The mean share of features that are not 0.
    label_correlation : float, default=0.5
        The probability that a further label is drawn from the group of the first, 0 to 1.
    seed : int, generator or None, default=0
        The same seed gives the same data.

    Returns
    -------
    Dataset
        ``X`` and ``Y`` as CSR arrays.

    Examples
    --------
    >>> import limo
    >>> data = limo.datasets.make_multilabel(2000, 300, 50, cardinality=3, seed=1)
    >>> data
    Dataset(2000 instances, 300 features, 50 labels, from make_multilabel)
    >>> round(float(data.Y.sum() / 2000), 1)
    3.0
    """
    for name, size, least in (("m", m, 0), ("d", d, 1), ("l", l, 1)):
        check_number(size, name, least=least, most=2**31, integer=True)
    check_number(cardinality, "cardinality", least=0, most=l)
    check_number(density_of_X, "density_of_X", least=0, most=1)
    check_number(label_correlation, "label_correlation", least=0, most=1)
    rng = generator(seed)
    labels = _empty_rows(_label_counts(rng, m, l, cardinality), l)
    draw_labels(rng, labels, max(l // _GROUP_SIZE, 1), label_correlation)
    features = _empty_rows(rng.binomial(d, density_of_X, size=m), d)
    topics = rng.integers(0, d, size=(l, min(_TOPIC_SIZE, d)))
    draw_features(rng, features, labels, topics)
    X = csr(rng.exponential(size=len(features.indices)), features.indices, features.indptr, (m, d))
    Y = csr(np.ones(len(labels.indices), dtype=np.int64), labels.indices, labels.indptr, (m, l))
    return Dataset(X, Y, NumberedNames("x", d), NumberedNames("label", l), "make_multilabel")


def _label_counts(rng: np.random.Generator, m: int, n_labels: int, cardinality: float) -> Any:
    """The number of labels of each instance: ``cardinality`` on average, at most ``n_labels``."""
    if cardinality < 1 or n_labels == 1:
        return rng.binomial(1, cardinality, size=m)
    return 1 + rng.binomial(n_labels - 1, (cardinality - 1) / (n_labels - 1), size=m)


def _empty_rows(counts: Any, n_columns: int) -> SparseRows:
    """Sparse rows to fill, with the given number of entries each."""
    indptr = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    last_row = np.full(n_columns, -1, dtype=np.int64)
    return SparseRows(indptr, np.empty(indptr[-1], dtype=np.int32), last_row)
