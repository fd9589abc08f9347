"""ML-kNN: what the labels of the neighbours say about a label, learnt by counting."""

from typing import Any

import numpy as np
from scipy import sparse

from limo._checks import check_number
from limo._types import Integers, Values
from limo.models.multilabel import MultiLabelClassifier
from limo.models.neighbours import count_labels, nearest_neighbours, pack, unpack
from limo.pattern import Pattern

__all__ = ["MLKNNClassifier"]


class MLKNNClassifier(MultiLabelClassifier):
    """Multi-label k nearest neighbours (Zhang and Zhou, 2007).

    Of the k neighbours of an instance, c have label j. With what was counted in training,

        P(y_j = 1 | c) = P(y_j = 1) P(c | y_j = 1) / sum over b of P(y_j = b) P(c | y_j = b)
        P(y_j = 1) = (smoothing + instances with j) / (2 smoothing + m)
        P(c | y_j = b) = (smoothing + instances with y_j = b and c neighbours with j)
                         / ((k + 1) smoothing + instances with y_j = b)

    and a label is predicted if P(y_j = 1 | c) > 1/2. Neighbours are Euclidean; an instance is never
    its own neighbour in training, while a duplicate of it may be; of equally distant neighbours
    the one of lower index is nearer.

    Parameters
    ----------
    k : int, default=10
        How many neighbours; all others if training has fewer than k + 1 instances.
    smoothing : float, default=1.0
        Laplace smoothing. With 0, counts that training never saw give the share of the label.
    n_jobs : int or None, default=None
        Threads for the search; -1 for all cores.

    Attributes
    ----------
    posterior_ : array of shape (n_labels, n_neighbors_ + 1)
        P(y_j = 1 | c) for each label and count.
    n_neighbors_ : int
        Neighbours really used.
    classes_ : array
        The numbers of the labels or, for a one-dimensional y, its two classes.

    References
    ----------
    Zhang and Zhou, "ML-kNN: A lazy learning approach to multi-label learning", 2007.

    Examples
    --------
    >>> import limo
    >>> data = limo.datasets.figure1(200)
    >>> model = limo.MLKNNClassifier().fit(data.X, data.Y)
    >>> model.predict([[0.9, 0.0], [0.0, 0.9]])
    array([[1, 0, 0, 0],
           [1, 1, 1, 0]])
    """

    def __init__(self, k: int = 10, *, smoothing: float = 1.0, n_jobs: int | None = None) -> None:
        self.k = k
        self.smoothing = smoothing
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> "MLKNNClassifier":
        """Count the neighbours of every training instance.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances.
        y : array-like or sparse matrix of shape (n_samples, n_labels)
            Labels, 0 or 1; or one label with two classes, of shape (n_samples,).

        Returns
        -------
        MLKNNClassifier
        """
        check_number(self.k, "k", least=1, integer=True)
        check_number(self.smoothing, "smoothing", least=0)
        X, Y = self._check_training(X, y)
        self.n_neighbors_ = min(self.k, X.shape[0] - 1)
        neighbours = nearest_neighbours(X, self.n_neighbors_, n_jobs=self.n_jobs)
        self.posterior_ = _posterior(
            count_labels(neighbours, Y.csr), Y, self.n_neighbors_, self.smoothing
        )
        self._X, self._Y = pack(X), pack(Y.csr)
        return self

    def predict_proba(self, X: Any) -> Values:
        """The probability of every label.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        array of shape (n_samples, n_labels)
            For a one-dimensional y: of its two classes.
        """
        return self._probabilities(self._posteriors(X))

    def predict(self, X: Any) -> Any:
        """The labels more probable than not.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        array or CSR array of shape (n_samples, n_labels)
            In the form of the training labels.
        """
        return self._labels(self._posteriors(X) > 0.5)

    def _posteriors(self, X: Any) -> Values:
        X = self._check_instances(X)
        neighbours = nearest_neighbours(unpack(self._X), self.n_neighbors_, X, self.n_jobs)
        counts = count_labels(neighbours, unpack(self._Y)).toarray()
        return np.take_along_axis(self.posterior_.T, counts, axis=0)


def _posterior(counts: sparse.csr_array, Y: Pattern, k: int, smoothing: float) -> Values:
    """P(label | count), of shape (n_labels, k + 1), from the counts of the training instances."""
    n_rows = Y.shape[0]
    having = Y.ones_per_column
    lacking = n_rows - having
    all_counts = _histogram(counts, k, np.full(Y.shape[1], n_rows))
    counts_having = _histogram(counts.multiply(Y.csr).tocsr(), k, having)
    prior = (smoothing + having) / (2 * smoothing + n_rows)
    joint_having = prior * _shares(counts_having, having, smoothing)
    joint_lacking = (1 - prior) * _shares(all_counts - counts_having, lacking, smoothing)
    total = joint_having + joint_lacking
    unseen = total == 0
    return np.where(unseen, prior, joint_having / np.where(unseen, 1, total)).T


def _histogram(counts: sparse.csr_array, k: int, n_instances: Integers) -> Integers:
    """How many instances have each count of each label, of shape (k + 1, n_labels)."""
    n_labels = counts.shape[1]
    places = counts.data * n_labels + counts.indices
    table = np.bincount(places, minlength=(k + 1) * n_labels).reshape(k + 1, n_labels)
    table[0] = n_instances - table[1:].sum(axis=0)
    return table


def _shares(table: Integers, n_instances: Integers, smoothing: float) -> Values:
    """Smoothed shares of the counts; 0 where there is nothing to share."""
    total = len(table) * smoothing + n_instances
    return (smoothing + table) / np.where(total == 0, 1, total)
