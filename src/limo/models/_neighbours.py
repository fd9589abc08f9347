"""ML-kNN and GFM: learners that count the labels of the nearest training instances.

The search for neighbours gives the same result on every machine and for every storage of X. In
scikit-learn's search, the order of equal distances, common among 0/1 features, depends on the
number of threads and the last bit of a product. Here ties are broken by the lower index, at no
extra cost.
"""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.extmath import row_norms
from sklearn.utils.parallel import Parallel, delayed

from limo._kernels.expected_f1 import best_neighbour_sets
from limo._kernels.profiles import nearest
from limo._settings import check_n_jobs, check_number
from limo._sparse import check_sparse
from limo._system import check_time, current_deadline, stopping_at
from limo._types import Integers, Values
from limo._views import Pattern
from limo.models._base import MultiLabelClassifier, pack, unpack

_BLOCK_CELLS = 1 << 22
_ROUNDING = 1e-12


def nearest_neighbours(X: Any, k: int, queries: Any = None, n_jobs: int | None = None) -> Integers:
    """Find the ``k`` rows of X nearest to each query by Euclidean distance, nearest first.

    Without ``queries``, for the rows of X themselves; no row is then its own neighbour, but rows
    equal to it are. Ties are broken by the lower index.

    Returns an array of shape (n_queries, k). O(n_queries n_rows d), in blocks.
    """
    own, queries = (True, X) if queries is None else (False, queries)
    neighbours = np.zeros((queries.shape[0], k), dtype=np.int64)
    if k == 0:
        return neighbours
    norms = row_norms(X, squared=True)
    step = max(1, _BLOCK_CELLS // X.shape[0])
    deadline = current_deadline()

    def search(start: int) -> None:
        with stopping_at(deadline):
            check_time()
        block = queries[start : start + step]
        lengths = row_norms(block, squared=True)
        # The query's own length is the same for all rows, so it is left out.
        distances = norms - 2.0 * _product(block, X)
        close = _ROUNDING * (lengths + norms.max())
        nearest(distances, close, start if own else -1, neighbours[start : start + step])

    starts = range(0, queries.shape[0], step)
    Parallel(n_jobs=n_jobs, require="sharedmem")(delayed(search)(start) for start in starts)
    return neighbours


def count_labels(neighbours: Integers, Y: sparse.csr_array) -> sparse.csr_array:
    """How many of each instance's neighbours have each label, of shape (n_queries, n_labels)."""
    n_queries, k = neighbours.shape
    indptr = k * np.arange(n_queries + 1)
    chosen = sparse.csr_array(
        (np.ones(neighbours.size, dtype=np.int64), neighbours.reshape(-1), indptr),
        shape=(n_queries, Y.shape[0]),
    )
    return chosen @ Y


def check_stored(model: Any) -> None:
    """Raise unless the training data of a model from a file fit each other and the model."""
    X, Y = unpack(model._X), unpack(model._Y)
    for A, name in ((X, "the stored X"), (Y, "the stored labels")):
        check_sparse(A, name)
    if sparse.issparse(Y):
        Y.check_format(full_check=True)
    n_neighbors = check_number(
        model.n_neighbors_, "n_neighbors_", least=0, most=X.shape[0], integer=True
    )
    values = X.data if sparse.issparse(X) else X
    expected = (X.shape[0], len(model.classes_) if model.target_form_ != "classes" else 1)
    if X.shape[1] != model.n_features_in_ or values.dtype != np.float64:
        raise ValueError(f"expected {model.n_features_in_} features, got {X.shape[1]}")
    if not sparse.issparse(Y) or Y.shape != expected or not (Y.data == 1).all():
        raise ValueError(f"expected a sparse 0/1 matrix of labels of shape {expected}")
    posterior = getattr(model, "posterior_", None)
    if posterior is not None and posterior.shape != (Y.shape[1], n_neighbors + 1):
        raise ValueError(f"posterior_ has the shape {posterior.shape}")


def _product(block: Any, X: Any) -> Any:
    """Inner products of rows, dense and C-contiguous."""
    if sparse.issparse(X):
        dense = block.toarray() if sparse.issparse(block) else block
        return np.ascontiguousarray((X @ dense.T).T)
    return block @ X.T


# ML-kNN


class MLKNNClassifier(MultiLabelClassifier):
    """Multi-label k nearest neighbours (Zhang and Zhou, 2007).

    Of the k neighbours of an instance, c have label j. With counts from training,

        P(y_j = 1 | c) = P(y_j = 1) P(c | y_j = 1) / sum over b of P(y_j = b) P(c | y_j = b)
        P(y_j = 1) = (smoothing + instances with j) / (2 smoothing + m)
        P(c | y_j = b) = (smoothing + instances with y_j = b and c neighbours with j)
                         / ((k + 1) smoothing + instances with y_j = b)

    and a label is predicted if P(y_j = 1 | c) > 1/2. Neighbours are Euclidean; an instance is never
    its own neighbour in training, while a duplicate of it may be. Equal distances are ordered by
    index.

    Parameters
    ----------
    k : int, default=10
        The number of neighbours; all others if training has fewer than k + 1 instances.
    smoothing : float, default=1.0
        Laplace smoothing. With 0, a count that did not occur in training gives P(y_j = 1).
    n_jobs : int or None, default=None
        Threads for the search; -1 for all cores.

    Attributes
    ----------
    posterior_ : array of shape (n_labels, k + 1), k being at most m - 1
        P(y_j = 1 | c) for each label and count.
    n_neighbors_ : int
        The number of neighbours in use.
    classes_ : array
        The indices of the labels or, for a one-dimensional y, its two classes.

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

    __module__ = "limo"  # the public name, which model files contain

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
            Labels, 0 or 1 (or -1 and 1, or two strings); or one label with two classes, of
            shape (n_samples,).

        Returns
        -------
        MLKNNClassifier
        """
        check_number(self.k, "k", least=1, integer=True)
        check_n_jobs(self.n_jobs)
        check_number(self.smoothing, "smoothing", least=0)
        X, Y = self._check_training(X, y)
        self.n_neighbors_ = min(self.k, X.shape[0] - 1)
        neighbours = nearest_neighbours(X, self.n_neighbors_, n_jobs=self.n_jobs)
        self.posterior_ = _posterior(
            count_labels(neighbours, Y.csr), Y, self.n_neighbors_, float(self.smoothing)
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
    """The number of instances with each count of each label, of shape (k + 1, n_labels)."""
    n_labels = counts.shape[1]
    places = counts.data * n_labels + counts.indices
    table = np.bincount(places, minlength=(k + 1) * n_labels).reshape(k + 1, n_labels)
    table[0] = n_instances - table[1:].sum(axis=0)
    return table


def _shares(table: Integers, n_instances: Integers, smoothing: float) -> Values:
    """Smoothed shares of the counts; 0 where there are none."""
    total = len(table) * smoothing + n_instances
    return (smoothing + table) / np.where(total == 0, 1, total)


# GFM


class GFMClassifier(MultiLabelClassifier):
    """General F-measure maximiser on nearest neighbours (Waegeman et al., 2014).

    P(y_j = 1, |y| = s) is the share of the k nearest neighbours that have label j and s labels in
    all. The expected F1 of a set h of r labels is then

        E[F1(y, h)] = sum over j in h, over s, of  2 P(y_j = 1, |y| = s) / (s + r)

    and ``predict`` gives the set for which it is highest, exactly and without assuming that labels
    are independent. So it may predict a label that fewer than half of the neighbours have, and
    leave out one that more of them have. Neighbours are Euclidean; equal distances are ordered by
    index. Of equally good labels the first is taken, of equally good sizes the smallest.

    Parameters
    ----------
    k : int, default=10
        The number of neighbours; all instances if training has fewer.
    f1_of_nothing : float, default=0.0
        F1 where nothing is true and nothing predicted. With 0, as in limo's measures, nothing is
        predicted only if no neighbour has a label.
    n_jobs : int or None, default=None
        Threads for the search; -1 for all cores.

    Attributes
    ----------
    n_neighbors_ : int
        The number of neighbours in use.
    classes_ : array
        The indices of the labels or, for a one-dimensional y, its two classes.

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

    __module__ = "limo"  # the public name, which model files contain

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
            Labels, 0 or 1 (or -1 and 1, or two strings); or one label with two classes, of
            shape (n_samples,).

        Returns
        -------
        GFMClassifier
        """
        check_number(self.k, "k", least=1, integer=True)
        check_n_jobs(self.n_jobs)
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
        best_neighbour_sets(neighbours, Y.indptr, Y.indices, float(self.f1_of_nothing), chosen)
        return self._labels(chosen)

    def _neighbours(self, X: Any) -> Integers:
        X = self._check_instances(X)
        return nearest_neighbours(unpack(self._X), self.n_neighbors_, X, self.n_jobs)
