"""GFM: the label set of highest expected F1, from the label sets of the neighbours."""

from typing import Any

import numpy as np

from limo._checks import check_number
from limo._kernels.gfm import best_label_sets
from limo._types import Integers, Values
from limo.models.multilabel import MultiLabelClassifier
from limo.models.neighbours import count_labels, nearest_neighbours, pack, unpack

__all__ = ["GFMClassifier"]


class GFMClassifier(MultiLabelClassifier):
    """General F-measure maximiser on nearest neighbours (Waegeman et al., 2014).

    P(y_j = 1, |y| = s) is the share of the k nearest neighbours that have label j and s labels in
    all. The expected F1 of a set h of r labels is then

        E[F1(y, h)] = sum over j in h, over s, of  2 P(y_j = 1, |y| = s) / (s + r)

    and ``predict`` gives the set for which it is highest: exactly, without taking labels for
    independent. It follows that a label can be predicted with less than half of the neighbours,
    or left out with more. Neighbours are Euclidean; of equally distant ones the one of lower index
    is nearer, of equally good labels the first is taken, of equally good sizes the smallest.

    Parameters
    ----------
    k : int, default=10
        How many neighbours; all instances if training has fewer.
    f1_of_nothing : float, default=0.0
        What F1 is worth where nothing is true and nothing predicted. With 0, as limo's
        measures have it, nothing is predicted only if no neighbour has a label.
    n_jobs : int or None, default=None
        Threads for the search; -1 for all cores.

    Attributes
    ----------
    n_neighbors_ : int
        Neighbours really used.
    classes_ : array
        The numbers of the labels or, for a one-dimensional y, its two classes.

    Notes
    -----
    ``predict_proba`` gives the share of the neighbours with each label: a ranking with at
    most k + 1 different values. ``predict`` does not round it.

    References
    ----------
    Waegeman, Dembczynski, Jachnik, Cheng and Huellermeier, "On the Bayes-optimality of
    F-measure maximizers", 2014.

    Examples
    --------
    >>> import limo
    >>> X, Y = [[0.0], [0.0], [0.0]], [[1, 1, 0], [0, 0, 1], [1, 0, 0]]
    >>> model = limo.GFMClassifier(k=3).fit(X, Y)
    >>> model.predict_proba([[0.0]]).round(2)
    array([[0.67, 0.33, 0.33]])
    >>> model.predict([[0.0]])
    array([[1, 0, 1]])
    """

    def __init__(
        self, k: int = 10, *, f1_of_nothing: float = 0.0, n_jobs: int | None = None
    ) -> None:
        self.k = k
        self.f1_of_nothing = f1_of_nothing
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> "GFMClassifier":
        """Keep the training instances.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances.
        y : array-like or sparse matrix of shape (n_samples, n_labels)
            Labels, 0 or 1; or one label with two classes, of shape (n_samples,).

        Returns
        -------
        GFMClassifier
        """
        check_number(self.k, "k", least=1, integer=True)
        check_number(self.f1_of_nothing, "f1_of_nothing", least=0, most=1)
        X, Y = self._check_training(X, y)
        self.n_neighbors_ = min(self.k, X.shape[0])
        self._X, self._Y = pack(X), pack(Y.csr)
        return self

    def predict_proba(self, X: Any) -> Values:
        """The share of the neighbours that have each label.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        array of shape (n_samples, n_labels)
            For a one-dimensional y: of its two classes.
        """
        counts = count_labels(self._neighbours(X), unpack(self._Y)).toarray()
        return self._probabilities(counts / self.n_neighbors_)

    def predict(self, X: Any) -> Any:
        """The label sets of highest expected F1.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        array or CSR array of shape (n_samples, n_labels)
            In the form of the training labels.
        """
        neighbours, Y = self._neighbours(X), unpack(self._Y)
        chosen = np.zeros((neighbours.shape[0], Y.shape[1]), dtype=np.bool_)
        best_label_sets(neighbours, Y.indptr, Y.indices, float(self.f1_of_nothing), chosen)
        return self._labels(chosen)

    def _neighbours(self, X: Any) -> Integers:
        X = self._check_instances(X)
        return nearest_neighbours(unpack(self._X), self.n_neighbors_, X, self.n_jobs)
