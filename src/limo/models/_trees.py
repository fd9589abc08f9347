"""Decision trees as plain arrays, and the forests made of them.

Trees are grown by scikit-learn or LightGBM and kept as arrays: small, fast to evaluate, and safe to
read from a file, because everything in them can be checked. :class:`ForestClassifier` is here,
:class:`limo.models.BoostingClassifier` in ``_boosted_trees``.
"""

import reprlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.tree import DecisionTreeRegressor, ExtraTreeRegressor
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed

from limo._checks import check_weights
from limo._kernels.trees import sum_leaf_labels
from limo._settings import check_n_jobs, check_name, check_number
from limo._system import OutOfTimeError, at_most, check_time, workers
from limo._types import Anything, Integers, Values
from limo._views import Pattern
from limo.models._base import MOST_TREES, MultiLabelClassifier

_BLOCK_CELLS = 1 << 20


@dataclass(frozen=True, eq=False)
class Trees:
    """Trees as arrays of nodes.

    Attributes
    ----------
    feature : array of int32
        The feature that each node compares; -1 for a leaf.
    threshold : array of float64
        A node sends instances with at most this value to its first child.
    children : array of int32 of shape (n_nodes, 2)
        The nodes to go to. In a forest, the first and last position of a leaf's training rows.
    roots : array of int64
        The first node of each tree.
    """

    feature: Anything
    threshold: Values
    children: Anything
    roots: Integers

    @classmethod
    def joined(cls, parts: "Sequence[Trees]") -> "Trees":
        """The trees of all parts; children that are nodes are renumbered, leaves kept."""
        sizes = np.array([part.feature.size for part in parts])
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
        children = [
            part.children + np.where(part.feature >= 0, start, 0)[:, np.newaxis]
            for part, start in zip(parts, starts, strict=True)
        ]
        return cls(
            np.concatenate([part.feature for part in parts]).astype(np.int32),
            np.concatenate([part.threshold for part in parts]).astype(np.float64),
            np.concatenate(children).astype(np.int32),
            np.concatenate([p.roots + s for p, s in zip(parts, starts, strict=True)]),
        )

    def check(self, n_features: int) -> None:
        """Reject nodes that a walk could not follow: a file may hold anything."""
        n_nodes = self.feature.size
        check_array(self.feature, np.int32, (n_nodes,), "feature")
        check_array(self.threshold, np.float64, (n_nodes,), "threshold")
        check_array(self.children, np.int32, (n_nodes, 2), "children")
        check_array(self.roots, np.int64, self.roots.shape[:1], "roots")
        check_range(self.feature, -1, n_features, "features of trees")
        check_range(self.roots, 0, n_nodes, "roots of trees")
        if np.isnan(self.threshold).any():
            raise ValueError("thresholds of trees must be numbers, found nan")
        inner = np.flatnonzero(self.feature >= 0)
        below = self.children[inner]
        if (below <= inner[:, np.newaxis]).any() or (below >= n_nodes).any():
            raise ValueError("children of trees must come after their parent, and exist")

    @property
    def leaves(self) -> Integers:
        """The nodes that are leaves."""
        return np.flatnonzero(self.feature < 0)


def check_array(array: Any, kind: Any, shape: tuple[int, ...], name: str) -> None:
    """Reject what is not a contiguous array of this type and shape, as kernels need."""
    good = isinstance(array, np.ndarray) and array.dtype == kind and array.shape == shape
    if not (good and array.flags.c_contiguous):
        raise ValueError(f"{name} must be an array of {np.dtype(kind)} of shape {shape}")


def check_range(array: Any, low: int, high: int, name: str) -> None:
    """Reject whole numbers outside low <= n < high."""
    if array.size and not (low <= array.min() and array.max() < high):
        raise ValueError(f"{name} must be from {low} to {high - 1}")


def in_blocks(X: Any, kind: Any, n_labels: int, add: Callable[[Anything, Values], None]) -> Values:
    """Sums of shape (n_rows, n_labels) that ``add`` fills, block by block, in several threads."""
    sums = np.zeros((X.shape[0], n_labels))
    step = max(16, _BLOCK_CELLS // max(1, X.shape[1]))

    def work(start: int) -> None:
        block = X[start : start + step]
        block = block.toarray() if sparse.issparse(block) else block
        add(np.ascontiguousarray(block, dtype=kind), sums[start : start + step])

    starts = range(0, X.shape[0], step)
    with workers(enough=len(starts) > 1) as run:
        for _ in run(work, starts):
            pass
    return sums


def log_odds(P: Values) -> Values:
    """log(p / (1 - p)), finite for 0 and 1."""
    clipped = np.clip(P, _SMALLEST, 1 - _SMALLEST)
    odds: Values = np.log(clipped) - np.log1p(-clipped)
    return odds


_SMALLEST = 1e-6


# Forests

_KINDS = {"random": DecisionTreeRegressor, "extra": ExtraTreeRegressor}
# Each tree of extra trees leaves out a fifth of the rows, which gives them out-of-bag scores.
_SHARE = 0.8
# How much the frequency of a label counts beside the votes of the trees.
_PRIOR_SHARE = 0.01
# More labels than this are projected at random before a tree is grown.
_MOST_TARGETS = 64
_TREES_AT_ONCE = 8
# With at least this many trees, a forest that is stopped is kept.
_FEWEST_TREES = 24
# A tree is grown on at most so many rows: more trees are worth more than larger ones.
_MOST_ROWS = 20_000
_MOST_DENSE = 50_000_000


class ForestClassifier(MultiLabelClassifier):
    """One forest for all labels: random forest or extra trees.

    Every tree splits by the labels together. A leaf holds its training rows, so that a forest takes
    little memory however many labels there are. With more than 64 labels, each tree is grown on 64
    random projections of them (Joly et al., 2014), which is faster and as good.

    Every tree leaves out some rows: those not drawn by the bootstrap, or a fifth in extra trees. No
    tree is grown on more than 20 000 rows.
    ``out_of_bag_scores_`` are the scores of the training rows by the trees that left them out, so
    that no cross-validation is needed.

    Parameters
    ----------
    kind : {"random", "extra"}, default="random"
        Random forest, or extra trees, whose thresholds are drawn at random.
    n_estimators : int, default=500
        The number of trees.
    max_features : float, int or "sqrt", default="sqrt"
        How many features each split considers, as in scikit-learn.
    min_samples_leaf : int, default=1
        The smallest leaf.
    balance : float, default=0
        0: common labels determine the splits. 1: all labels have the same variance, so that rare
        ones count as much.
    n_jobs : int or None, default=None
        The number of threads; None or -1 for one per core.
    random_state : int, RandomState or None, default=None
        For the draws.

    Attributes
    ----------
    out_of_bag_scores_ : array of shape (n_samples, n_labels)
        Log-odds of the labels of training instances, by trees that have not seen them.
    n_estimators_ : int
        The number of trees grown: fewer than asked for if a time limit stopped the forest.

    Examples
    --------
    >>> import limo
    >>> train, test = limo.datasets.split(limo.datasets.figure1(300))
    >>> forest = limo.models.ForestClassifier(n_estimators=100, random_state=0)
    >>> S = forest.fit(train.X, train.Y).decision_function(test.X)
    >>> limo.macro_auc(test.Y, S) > 0.9
    True
    """

    __module__ = "limo.models"  # the public name, which model files contain

    def __init__(
        self,
        kind: str = "random",
        *,
        n_estimators: int = 500,
        max_features: Any = "sqrt",
        min_samples_leaf: int = 1,
        balance: float = 0.0,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.kind = kind
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.min_samples_leaf = min_samples_leaf
        self.balance = balance
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances.
        y : array-like or sparse matrix of shape (n_samples, n_labels)
            Labels, 0 or 1 (or -1 and 1, or two strings); or one label with two classes.
        sample_weight : array-like of shape (n_samples,), optional
            How much each instance counts, when a tree is split and in the votes of its leaves.

        Returns
        -------
        self
        """
        check_name(self.kind, _KINDS, "kind of forest")
        check_number(self.n_estimators, "n_estimators", least=1, most=MOST_TREES, integer=True)
        check_number(self.min_samples_leaf, "min_samples_leaf", least=1, most=2**30, integer=True)
        _check_max_features(self.max_features)
        check_n_jobs(self.n_jobs)
        check_number(self.balance, "balance", least=0)
        X, Y = self._check_training(X, y)
        weights = check_weights(sample_weight, Y.shape[0])
        self.labels_ = _label_arrays(Y)
        self.prior_ = np.asarray(Y.ones_per_column / Y.shape[0])
        if weights is not None:
            self.prior_ = np.asarray(weights @ Y.csr / weights.sum(), dtype=np.float64)
        X = _for_growing(X)
        with at_most(self.n_jobs):
            grown = self._grow(X, Y, weights)
        self._keep([tree for tree, _ in grown])
        self.out_of_bag_scores_ = self._out_of_bag(Y, grown)
        return self

    def decision_function(self, X: Any) -> Values:
        """Log-odds of the labels, from the share of trees that vote for each."""
        return self._scores(self._log_odds(X))

    def predict_proba(self, X: Any) -> Values:
        """The share of trees that vote for each label; 1 / (1 + exp(-score))."""
        return self._probabilities(1.0 / (1.0 + np.exp(-self._log_odds(X))))

    def predict(self, X: Any) -> Any:
        """Labels that are more likely than not."""
        return self._labels((self._log_odds(X) > 0).astype(np.int64))

    def _log_odds(self, X: Any) -> Values:
        X = self._check_instances(X)
        trees, (indptr, indices) = self._trees, self.labels_

        def add(block: Anything, sums: Values) -> None:
            sum_leaf_labels(
                block, trees.feature, trees.threshold, trees.children, trees.roots,
                self.rows_, self.shares_, indptr, indices, sums,
            )  # fmt: skip

        sums = in_blocks(X, np.float32, self.prior_.size, add)
        return self._smoothed(sums / self.roots_.size)

    def _smoothed(self, votes: Values) -> Values:
        """Log-odds of the mean vote, to which the frequency of the label contributes a hundredth.

        The frequency ranks labels that no tree votes for: the common before the rare. Its share
        does not depend on the number of trees: out-of-bag scores come from fewer trees, and must be
        comparable. Constant labels keep 0 and 1, beyond all others.
        """
        return log_odds((1.0 - _PRIOR_SHARE) * votes + _PRIOR_SHARE * self.prior_)

    @property
    def _trees(self) -> Trees:
        return Trees(self.feature_, self.threshold_, self.children_, self.roots_)

    def _grow(self, X: Any, Y: Pattern, weights: Values | None) -> "list[tuple[_Grown, Integers]]":
        """The trees, each with the rows it left out, in chunks so that time can run out."""
        rng = check_random_state(self.random_state)
        targets = _Targets(Y, self.balance)
        seeds = rng.randint(np.iinfo(np.int32).max, size=self.n_estimators)
        trees: list[tuple[_Grown, Integers]] = []
        with Parallel(n_jobs=self.n_jobs or -1, prefer="threads") as parallel:
            for chunk in _chunks(seeds):
                if trees and self._stops(len(trees)):
                    break
                trees += parallel(delayed(self._tree)(X, targets, weights, seed) for seed in chunk)
        return trees

    @staticmethod
    def _stops(n_trees: int) -> bool:
        """Whether the time limit is reached; raise if the forest has too few trees by then."""
        try:
            check_time()
        except OutOfTimeError:
            if n_trees < _FEWEST_TREES:
                raise
            return True
        return False

    def _tree(
        self, X: Any, targets: "_Targets", weights: Values | None, seed: int
    ) -> "tuple[_Grown, Integers]":
        rng = np.random.RandomState(seed)
        n_rows = X.shape[0]
        if self.kind == "random":
            n_drawn = min(n_rows, _MOST_ROWS)
            counts = np.bincount(rng.randint(n_rows, size=n_drawn), minlength=n_rows)
        else:
            n_drawn = min(max(1, round(_SHARE * n_rows)), _MOST_ROWS)
            counts = np.zeros(n_rows, dtype=np.int64)
            counts[rng.permutation(n_rows)[:n_drawn]] = 1
        drawn = self._weighted(counts, weights)
        tree = _KINDS[self.kind](
            max_features=self.max_features,
            min_samples_leaf=self.min_samples_leaf,
            random_state=rng,
        )
        tree.fit(X, targets.draw(rng), sample_weight=drawn, check_input=False)
        leaves = tree.tree_.apply(X.tocsr() if sparse.issparse(X) else X)
        return _Grown.of(tree.tree_, leaves, drawn), leaves

    @staticmethod
    def _weighted(counts: Integers, weights: Values | None) -> Values:
        """The weights of the rows of a tree; if all drawn rows weigh 0, they count alike."""
        shares = counts.astype(np.float64)
        if weights is not None and (counts * weights).any():
            shares = counts * weights
        return shares

    def _keep(self, grown: "list[_Grown]") -> None:
        parts = []
        start = 0
        for one in grown:
            leaf = one.trees.feature < 0
            one.trees.children[leaf] += start
            start += one.rows.size
            parts.append(one.trees)
        trees = Trees.joined(parts)
        self.feature_, self.threshold_ = trees.feature, trees.threshold
        self.children_, self.roots_ = trees.children, trees.roots
        self.rows_ = np.concatenate([one.rows for one in grown])
        self.shares_ = np.concatenate([one.shares for one in grown])
        self.n_estimators_ = len(grown)

    def _out_of_bag(self, Y: Pattern, grown: "list[tuple[_Grown, Integers]]") -> Values:
        """Scores by trees that left a row out; a row that none left out gets the prior."""
        sums, n_trees = np.zeros(Y.shape), np.zeros((Y.shape[0], 1))
        labels = Y.csr.astype(np.float64)
        for one, leaves in grown:
            out = np.ones(Y.shape[0], dtype=bool)
            out[one.rows] = False
            means = one.leaf_means(labels, leaves)
            sums[out] += means[out]
            n_trees[out] += 1
        votes = np.where(n_trees > 0, sums / np.maximum(n_trees, 1.0), self.prior_)
        return self._scores(self._smoothed(votes))

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "roots_" in state:
            self._check_arrays()

    def _check_arrays(self) -> None:
        """The nodes, rows and labels of a file, checked before a kernel reads them."""
        self._trees.check(int(self.n_features_in_))
        n_kept = self.rows_.size
        check_array(self.rows_, np.int32, (n_kept,), "rows")
        check_array(self.shares_, np.float32, (n_kept,), "shares")
        if not np.isfinite(self.shares_).all():
            raise ValueError("shares of rows must be finite")
        leaves = self.children_[self._trees.leaves]
        check_range(leaves, 0, n_kept + 1, "rows of leaves")
        check_array(self.prior_, np.float64, self.prior_.shape[:1], "prior")
        indptr, indices = self.labels_
        check_array(indptr, np.int64, indptr.shape[:1], "labels")
        check_array(indices, np.int64, indices.shape[:1], "labels")
        check_range(self.rows_, 0, indptr.size - 1, "rows of leaves")
        check_range(indices, 0, self.prior_.size, "labels")
        check_range(indptr, 0, indices.size + 1, "labels")


def _for_growing(X: Any) -> Any:
    """Features as trees are grown on: dense if they fit, which is many times faster."""
    if sparse.issparse(X) and X.shape[0] * X.shape[1] > _MOST_DENSE:
        return sparse.csc_array(X, dtype=np.float32)
    dense = X.toarray() if sparse.issparse(X) else X
    return np.ascontiguousarray(dense, dtype=np.float32)


def _check_max_features(share: Any) -> None:
    """Reject what scikit-learn's trees would, before any of them is grown."""
    if share is None or (isinstance(share, str) and share in ("sqrt", "log2")):
        return
    kind = np.asarray(share).dtype.kind if isinstance(share, Real) else "other"
    whole = kind in ("i", "u") and 1 <= share <= 2**31
    if not whole and not (kind == "f" and 0 < share <= 1):
        raise ValueError(
            "max_features must be 'sqrt', 'log2', a number of features from 1 up, a share such as "
            f"0.5, or None for all, got {reprlib.repr(share)}."
        )


def _label_arrays(Y: Pattern) -> tuple[Integers, Integers]:
    return Y.indptr.astype(np.int64), Y.indices.astype(np.int64)


def _chunks(seeds: Integers) -> Iterator[list[int]]:
    """A few trees at a time, so that their memory is freed and the time is checked."""
    for start in range(0, seeds.size, _TREES_AT_ONCE):
        yield seeds[start : start + _TREES_AT_ONCE].tolist()


class _Targets:
    """The targets of the trees: the labels, or random projections of them."""

    def __init__(self, Y: Pattern, balance: float) -> None:
        share = Y.ones_per_column / Y.shape[0]
        spread = np.maximum(share * (1 - share), 1.0 / max(1, Y.shape[0]) ** 2)
        self.scale = spread ** (-balance / 2)
        self.labels = Y.csr.astype(np.float64)
        few = Y.shape[1] <= _MOST_TARGETS
        self.dense: Values | None = self.labels.toarray() * self.scale if few else None

    def draw(self, rng: Any) -> Values:
        """The targets of one tree."""
        if self.dense is not None:
            return self.dense
        mix = rng.normal(size=(self.scale.size, _MOST_TARGETS)) * self.scale[:, np.newaxis]
        targets: Values = np.ascontiguousarray(self.labels @ mix)
        return targets


@dataclass(frozen=True, eq=False)
class _Grown:
    """One tree, and the training rows of its leaves with their shares."""

    trees: Trees
    rows: Anything
    shares: Anything

    @classmethod
    def of(cls, tree: Any, leaves: Integers, counts: Values) -> "_Grown":
        """From scikit-learn's tree, the leaf of every row, and what the row weighs in the tree."""
        inside = np.flatnonzero(counts)
        order = inside[np.argsort(leaves[inside], kind="stable")]
        held = leaves[order]
        totals = np.bincount(leaves, weights=counts, minlength=tree.node_count)
        nodes = np.arange(tree.node_count)
        spans = np.searchsorted(held, nodes, "left"), np.searchsorted(held, nodes, "right")
        inner = tree.children_left >= 0
        children = np.column_stack([tree.children_left, tree.children_right])
        children = np.where(inner[:, np.newaxis], children, np.column_stack(spans))
        feature = np.where(inner, tree.feature, -1)
        threshold = np.where(inner, tree.threshold, 0.0)
        trees = Trees(feature, threshold, children.astype(np.int64), np.zeros(1, dtype=np.int64))
        shares = (counts[order] / totals[held]).astype(np.float32)
        return cls(trees, order.astype(np.int32), shares)

    def leaf_means(self, labels: Any, leaves: Integers) -> Values:
        """The mean labels of the leaf of every row."""
        n_nodes = self.trees.feature.size
        place = (leaves[self.rows], self.rows)
        held = sparse.csr_array((self.shares, place), shape=(n_nodes, labels.shape[0]))
        return (held @ labels)[leaves].toarray()  # type: ignore[no-any-return]
