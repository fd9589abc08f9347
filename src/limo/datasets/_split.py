"""Splits by iterative stratification, from stored permutations or given parts.

All are splitters as scikit-learn expects them. For random splits, use scikit-learn's own
``KFold(shuffle=True)`` and ``ShuffleSplit``. Stratification is our own because the package
iterative-stratification needs a dense ``Y`` and takes minutes where this takes a second
(``benchmarks/data.py``).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from limo._checks import check_known_labels
from limo._kernels.sampling import FoldAssignment, assign_folds
from limo._settings import generator
from limo._system import Later, as_path
from limo._types import check_kind
from limo.datasets._catalogue import data_folders, load
from limo.datasets._dataset import Dataset, check_dataset
from limo.datasets._options import DataError

RowNumbers = NDArray[np.intp]
Seed = int | np.random.Generator | None


routing = Later("sklearn.utils.metadata_routing")


class _TakesGroups:
    """A splitter whose ``split`` takes groups, wherever scikit-learn passes them on."""

    def get_metadata_routing(self) -> Any:
        """Tell scikit-learn's metadata routing that groups are used if they are given."""
        request = routing.MetadataRequest(owner=self)
        request.split.add_request(param="groups", alias=True)
        return request


@dataclass(frozen=True)
class StratifiedFolds(_TakesGroups):
    """K folds, in each of which every label is about as frequent as in the whole data set.

    Iterative stratification (Sechidis et al., 2011); fold sizes differ by at most one. With
    ``groups``, all instances of a group are in the same fold, and sizes and frequencies are as
    close as the groups allow.

    Parameters
    ----------
    n_splits : int, default=5
        How many folds.
    seed : int, generator or None, default=0
        The same seed gives the same folds.

    Examples
    --------
    >>> import limo
    >>> data = limo.datasets.figure1(100)
    >>> folds = StratifiedFolds(4)
    >>> [int(data.Y[test, 3].sum()) for _, test in folds.split(data.X, data.Y)]
    [12, 12, 12, 12]

    Instances of one patient stay together:

    >>> patient = [k // 4 for k in range(100)]
    >>> parts = [set(np.take(patient, test)) for _, test in folds.split(data.X, data.Y, patient)]
    >>> parts[0] & parts[1]
    set()
    """

    n_splits: int = 5
    seed: Seed = 0

    def split(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[RowNumbers, RowNumbers]]:
        """Yield training rows and test rows, fold by fold.

        Parameters
        ----------
        X : array-like
            Instances; only their number is used.
        y : array-like or sparse matrix of shape (n_samples, n_labels)
            Labels, 0 or 1.
        groups : array-like of shape (n_samples,), optional
            The group of each instance; a group is never divided.

        Yields
        ------
        train, test : arrays of int
        """
        Y = _label_rows(y, X)
        if not 2 <= self.n_splits <= Y.shape[0]:
            raise ValueError(
                f"n_splits must be between 2 and the number of rows, {Y.shape[0]}; "
                f"got {self.n_splits}"
            )
        fold = _stratify(Y, np.full(self.n_splits, 1 / self.n_splits), self.seed, groups)
        for k in range(self.n_splits):
            yield np.flatnonzero(fold != k), np.flatnonzero(fold == k)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """How many splits there are."""
        return self.n_splits


@dataclass(frozen=True)
class StratifiedSplits(_TakesGroups):
    """Repeated splits into training and test data with every label distributed in proportion.

    Parameters
    ----------
    n_splits : int, default=10
        How many splits.
    test_size : float, default=0.3
        The share of test rows; exactly ``round(test_size * n_samples)`` rows without ``groups``,
        and as close to it as whole groups come with them.
    seed : int, generator or None, default=0
        The same seed gives the same splits.

    Examples
    --------
    >>> import limo
    >>> data = limo.datasets.figure1(100)
    >>> [len(test) for _, test in StratifiedSplits(3).split(data.X, data.Y)]
    [30, 30, 30]
    """

    n_splits: int = 10
    test_size: float = 0.3
    seed: Seed = 0

    def split(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[RowNumbers, RowNumbers]]:
        """Yield training rows and test rows, split by split.

        The arguments are those of :meth:`StratifiedFolds.split`.
        """
        Y = _label_rows(y, X)
        shares = np.array([1 - _share(self.test_size), self.test_size])
        for child in generator(self.seed).spawn(self.n_splits):
            fold = _stratify(Y, shares, child, groups)
            yield np.flatnonzero(fold == 0), np.flatnonzero(fold == 1)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """How many splits there are."""
        return self.n_splits


@dataclass(frozen=True, eq=False)
class StoredSplits:
    """Splits stored as permutations, so that results can be compared with published ones.

    Parameters
    ----------
    permutations : array of shape (n_splits, n_samples)
        A permutation of 0 to n_samples - 1 in each row.
    test_size : float, default=0.3
        The first ``round(test_size * n_samples)`` entries are the test rows, the others the
        training rows.

    Examples
    --------
    >>> splits = StoredSplits([[2, 0, 1], [1, 2, 0]])
    >>> [(train.tolist(), test.tolist()) for train, test in splits.split(range(3))]
    [([0, 1], [2]), ([2, 0], [1])]
    """

    permutations: Any
    test_size: float = 0.3

    def __post_init__(self) -> None:
        rows = _permutations(self.permutations)
        numbers = np.arange(rows.shape[1])
        for k, row in enumerate(rows):
            if not np.array_equal(np.sort(row), numbers):
                raise DataError(
                    f"expected a permutation of 0 to n - 1 in each row; row {k + 1} is not one"
                )
        _share(self.test_size)
        object.__setattr__(self, "permutations", rows)

    def split(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[RowNumbers, RowNumbers]]:
        """Yield training rows and test rows, split by split."""
        n_rows, n_stored = _n_rows(X), self.permutations.shape[1]
        if n_rows != n_stored:
            raise ValueError(f"the stored splits are for {n_stored} rows, the data have {n_rows}")
        n_test = round(self.test_size * n_rows)
        for row in self.permutations:
            yield row[n_test:], row[:n_test]

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """How many splits there are."""
        return len(self.permutations)


@dataclass(frozen=True, eq=False)
class GivenSplit:
    """One split with the given rows.

    Parameters
    ----------
    train, test : array of int
        The training rows and the test rows.

    Examples
    --------
    >>> [(train, test)] = GivenSplit([0, 1], [2]).split(range(3))
    >>> train, test
    (array([0, 1]), array([2]))
    """

    train: Any
    test: Any

    def split(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[RowNumbers, RowNumbers]]:
        """Yield training rows and test rows, once."""
        yield np.asarray(self.train), np.asarray(self.test)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """One."""
        return 1


def split(
    dataset: Dataset,
    test_size: float = 0.3,
    *,
    stratify: bool = True,
    seed: Seed = 0,
    groups: Any = None,
) -> tuple[Dataset, Dataset]:
    """Split a data set into training and test data.

    Parameters
    ----------
    dataset : Dataset
        The data to split.
    test_size : float, default=0.3
        The share of test rows; exactly ``round(test_size * n_samples)`` rows.
    stratify : bool, default=True
        Whether to distribute every label in proportion; if not, rows are drawn at random.
    seed : int, generator or None, default=0
        The same seed gives the same split.
    groups : array-like of shape (n_samples,), optional
        The group of each instance, such as its patient; a group is never divided. Needs
        ``stratify``.

    Returns
    -------
    train, test : Dataset
        Both keep the order of the rows.

    Examples
    --------
    >>> import limo
    >>> train, test = limo.datasets.split(limo.datasets.figure1(100))
    >>> train, test
    (Dataset(70 instances, 2 features, 4 labels, from figure1),
     Dataset(30 instances, 2 features, 4 labels, from figure1))
    """
    check_dataset(dataset)
    check_kind(stratify, bool, "stratify must be True or False")
    if stratify:
        parts = StratifiedSplits(1, test_size, seed).split(dataset.X, dataset.Y, groups)
        [(train, test)] = parts
    elif groups is not None:
        raise ValueError("groups need stratify=True; scikit-learn's GroupShuffleSplit draws groups")
    else:
        n_rows = dataset.X.shape[0]
        order = generator(seed).permutation(n_rows)
        n_test = round(_share(test_size) * n_rows)
        train, test = np.sort(order[n_test:]), np.sort(order[:n_test])
    return dataset.take(train), dataset.take(test)


def load_split(name: str) -> tuple[Dataset, GivenSplit]:
    """Load a known data set that has separate training and test files, and their split.

    Parameters
    ----------
    name : str
        A name of :func:`limo.datasets.catalogue` with the parts train and test.

    Returns
    -------
    dataset : Dataset
        The training rows, then the test rows.
    split : GivenSplit
        The split into the two.

    Examples
    --------
    >>> import limo
    >>> if limo.datasets.is_at_hand("medical", "train"):
    ...     data, given = limo.datasets.load_split("medical")
    ...     assert len(given.train) == 333
    """
    train, test = load(name, "train"), load(name, "test")
    n_train, n_test = train.X.shape[0], test.X.shape[0]
    rows = np.arange(n_train + n_test)
    return train.stack(test), GivenSplit(rows[:n_train], rows[n_train:])


def stored_splits(name: str, test_size: float = 0.3) -> StoredSplits:
    """The permutations stored for a data set, from ``splits/<name>.csv`` in a data folder.

    Parameters
    ----------
    name : str
        The data set, or the path of a file with one permutation per line.
    test_size : float, default=0.3
        The first ``round(test_size * n_samples)`` entries are the test rows.

    Returns
    -------
    StoredSplits
        A scikit-learn splitter.

    Examples
    --------
    >>> import limo, numpy as np, tempfile
    >>> file = f"{tempfile.mkdtemp()}/mine.csv"
    >>> np.savetxt(file, [[2, 0, 1], [1, 2, 0]], delimiter=",", fmt="%d")
    >>> limo.datasets.stored_splits(file).get_n_splits()
    2
    """
    places = [
        as_path(name, "name"),
        *(folder / "splits" / f"{name}.csv" for folder in data_folders()),
    ]
    file = next((place for place in places if place.is_file()), None)
    if file is None:
        raise DataError(
            f"no splits are stored for {name!r}: expected {' or '.join(map(str, places[1:]))}, "
            "with one permutation of 0 to n - 1 per line"
        )
    try:
        rows = np.loadtxt(file, delimiter=",", dtype=np.int64, ndmin=2, comments=None)
    except ValueError as error:
        raise DataError(f"expected whole numbers and commas, but {error}", path=str(file)) from None
    return StoredSplits(rows, test_size)


def _permutations(given: Any) -> Any:
    """A matrix of whole numbers."""
    try:
        rows = np.asarray(given)
    except ValueError:  # rows of different lengths
        rows = np.empty(0)
    if rows.ndim != 2 or rows.dtype.kind not in "iu":
        raise DataError("permutations must be whole numbers, one permutation of 0 to n - 1 per row")
    return rows


def _stratify(Y: Any, shares: Any, seed: Seed, groups: Any = None) -> Any:
    """The fold of each row, by iterative stratification with exact fold sizes."""
    rng = generator(seed)
    if groups is not None:
        return _stratify_groups(Y, shares, rng, _group_numbers(groups, Y.shape[0], len(shares)))
    n_rows = Y.shape[0]
    order = rng.permutation(n_rows)
    columns = sparse.csc_array(Y[order])
    counts = np.diff(columns.indptr)
    state = FoldAssignment(
        Y.indptr.astype(np.int64),
        Y.indices.astype(np.int64),
        columns.indptr.astype(np.int64),
        order[columns.indices],
        counts.astype(np.int64),
        _sizes(n_rows, shares),
        counts[:, None] * shares,
        rng.random((n_rows, len(shares))),
        np.full(n_rows, -1, dtype=np.int64),
    )
    assign_folds(state, order)
    return state.fold


def _stratify_groups(Y: Any, shares: Any, rng: np.random.Generator, groups: Any) -> Any:
    """The fold of each row, whole groups at a time: the largest first, where they lack most.

    A group has a number for each label and one for its size. For each number, a fold lacks the
    difference from its share, relative to the total, so that rare labels count as much as others.
    """
    n_groups = int(groups.max()) + 1
    member = sparse.csr_array((np.ones(len(groups)), (groups, np.arange(len(groups)))))
    sizes = np.bincount(groups)
    parts = sparse.csr_array(sparse.hstack([member @ Y, sizes[:, np.newaxis]]))
    totals = np.maximum(parts.sum(axis=0), 1.0)
    lacks = np.outer(shares, totals)
    fold, empty = np.empty(n_groups, dtype=np.int64), np.ones(len(shares), dtype=bool)
    for place, group in enumerate(np.lexsort((rng.random(n_groups), -sizes))):
        start, end = parts.indptr[group : group + 2]
        columns, values = parts.indices[start:end], parts.data[start:end]
        fits = lacks[:, columns] @ (values / totals[columns])
        if empty.sum() == n_groups - place:  # the last groups go to folds that have none
            fits = np.where(empty, fits, -np.inf)
        chosen = int(np.argmax(fits))
        fold[group], empty[chosen] = chosen, False
        lacks[chosen, columns] -= values
    return fold[groups]


def _group_numbers(groups: Any, n_rows: int, n_folds: int) -> Any:
    """The groups as numbers from 0, checked."""
    try:
        values = np.asarray(groups)
    except ValueError:  # lists of different lengths
        values = np.empty(0)
    if values.shape != (n_rows,):
        raise ValueError(
            f"groups must name the group of each row: expected {n_rows}, got {values.shape}"
        )
    names, numbers = np.unique(values, return_inverse=True)
    if len(names) < n_folds:
        raise ValueError(f"{n_folds} folds need at least as many groups; got {len(names)}")
    return numbers


def _sizes(n_rows: int, shares: Any) -> Any:
    """Whole numbers near ``n_rows * shares`` that add up to ``n_rows``."""
    ends = np.rint(n_rows * np.cumsum(shares[::-1])).astype(np.int64)
    return np.diff(ends, prepend=0)[::-1].copy()


def _label_rows(y: Any, X: Any) -> Any:
    """The labels as a checked CSR array of ones."""
    if y is None:
        raise ValueError("stratification needs the labels: split(X, Y)")
    Y = check_known_labels(y, "Y", math.nan).csr  # a missing label is in no fold
    if Y.shape[0] != _n_rows(X):
        raise ValueError(f"X has {_n_rows(X)} rows, Y has {Y.shape[0]}; they must agree")
    return Y


def _n_rows(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def _share(test_size: Any) -> float:
    if not isinstance(test_size, Real) or not 0 < float(test_size) < 1:
        raise ValueError(f"test_size must be between 0 and 1, got {test_size}")
    return float(test_size)
