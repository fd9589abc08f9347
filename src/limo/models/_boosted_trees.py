"""Boosted trees, one sequence for each label, kept as plain arrays.

LightGBM grows them if it can be imported, scikit-learn otherwise. Predictions need neither.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.utils import check_random_state
from threadpoolctl import threadpool_limits

from limo._checks import weighted
from limo._kernels.trees import sum_leaf_values
from limo._settings import check_n_jobs, check_name, check_number
from limo._system import (
    Later,
    at_most,
    check_time,
    current_deadline,
    importable,
    n_workers,
    stopping_at,
    workers,
)
from limo._types import Anything, Integers, Values
from limo._views import Pattern
from limo.models._base import MOST_TREES, MultiLabelClassifier
from limo.models._trees import Trees, check_array, check_range, in_blocks
from limo.thresholds._fit import ConstantLabels

lightgbm = Later("lightgbm")

_ENGINES = ("auto", "lightgbm", "sklearn")
_LABELS_AT_ONCE = 16


def has_lightgbm() -> bool:
    """Whether LightGBM can be used."""
    return importable("lightgbm")


class BoostingClassifier(MultiLabelClassifier):
    """Gradient boosting with the logistic loss, one sequence of trees for each label.

    Parameters
    ----------
    n_rounds : int, default=200
        The number of trees for each label. After ``fit`` it can be lowered: predictions then use
        the first trees only.
    learning_rate : float, default=0.05
        The weight of each tree.
    max_leaves : int, default=15
        The largest number of leaves of a tree.
    min_samples_leaf : int, default=10
        The smallest leaf.
    feature_share : float, default=0.5
        The share of the features that each tree (LightGBM) or split (scikit-learn) considers.
    engine : {"auto", "lightgbm", "sklearn"}, default="auto"
        What grows the trees: by default LightGBM if it can be imported
        (``pip install limo-ml[boosting]``), otherwise scikit-learn's histogram gradient boosting.
    n_jobs : int or None, default=None
        The number of threads; None or -1 for one per core.
    random_state : int, RandomState or None, default=None
        For the features drawn.
    missing : number, optional
        The number that stands for a missing label in ``y``: nan or -1. Each label is then learnt
        from the instances where it is known.

    Attributes
    ----------
    engine_ : str
        What grew the trees.
    never_, always_ : array of bool of shape (n_labels,)
        Labels that no training instance has, and labels that all have. They get the lowest and the
        highest score of each instance.

    Examples
    --------
    >>> import limo
    >>> train, test = limo.datasets.split(limo.datasets.figure1(300))
    >>> model = limo.models.BoostingClassifier(n_rounds=50, random_state=0).fit(train.X, train.Y)
    >>> limo.macro_auc(test.Y, model.decision_function(test.X)) > 0.9
    True
    """

    __module__ = "limo.models"  # the public name, which model files contain

    def __init__(
        self,
        n_rounds: int = 200,
        *,
        learning_rate: float = 0.05,
        max_leaves: int = 15,
        min_samples_leaf: int = 10,
        feature_share: float = 0.5,
        engine: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        missing: float | None = None,
    ) -> None:
        self.n_rounds = n_rounds
        self.learning_rate = learning_rate
        self.max_leaves = max_leaves
        self.min_samples_leaf = min_samples_leaf
        self.feature_share = feature_share
        self.engine = engine
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.missing = missing

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Boost a sequence of trees for each label.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances.
        y : array-like or sparse matrix of shape (n_samples, n_labels)
            Labels, 0 or 1 (or -1 and 1, or two strings); or one label with two classes. Only with
            ``missing`` may labels be missing.
        sample_weight : array-like of shape (n_samples,), optional
            How much each instance counts.

        Returns
        -------
        self
        """
        check_name(self.engine, _ENGINES, "engine")
        check_number(self.n_rounds, "n_rounds", least=1, most=MOST_TREES, integer=True)
        check_number(self.max_leaves, "max_leaves", least=2, most=2**17, integer=True)
        check_number(self.min_samples_leaf, "min_samples_leaf", least=1, most=2**30, integer=True)
        check_number(self.feature_share, "feature_share", above=0, most=1)
        check_n_jobs(self.n_jobs)
        check_number(self.learning_rate, "learning_rate", above=0)
        X, Y = self._check_training(X, y, missing=self.missing)
        Y = weighted(Y, sample_weight)
        n_unknown = 0 if Y.unknown is None else Y.unknown.ones_per_column
        constant = ConstantLabels.of(Y.ones_per_column, Y.shape[0] - n_unknown)
        self.never_, self.always_ = constant.never, constant.always
        chosen = "lightgbm" if has_lightgbm() else "sklearn"
        self.engine_ = chosen if self.engine == "auto" else self.engine
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        with at_most(self.n_jobs):
            self._keep(self._boost(X, Y, np.flatnonzero(constant.varying), seed))
        return self

    def decision_function(self, X: Any) -> Values:
        """Log-odds of the labels."""
        return self._scores(self._log_odds(X))

    def predict_proba(self, X: Any) -> Values:
        """1 / (1 + exp(-score)); 0 and 1 for constant labels."""
        P = 1.0 / (1.0 + np.exp(-self._log_odds(X)))
        P[:, self.never_], P[:, self.always_] = 0.0, 1.0
        return self._probabilities(P)

    def predict(self, X: Any) -> Any:
        """Labels that are more likely than not."""
        marks = (self._log_odds(X) > 0).astype(np.int64)
        return self._labels(self._constant_labels.correct(marks))

    def _log_odds(self, X: Any) -> Values:
        X = self._check_instances(X)
        trees, first = self._trees, self.first_[:-1]
        last = np.minimum(first + int(self.n_rounds), self.first_[1:])

        def add(block: Anything, sums: Values) -> None:
            sum_leaf_values(
                block, trees.feature, trees.threshold, trees.children, self.values_,
                first, last, trees.roots, sums,
            )  # fmt: skip

        S = in_blocks(X, np.float64, first.size, add) + self.base_
        # the same leaf values in another order must give a tie
        return self._constant_labels.complete(np.round(S, 12))

    @property
    def _trees(self) -> Trees:
        return Trees(self.feature_, self.threshold_, self.children_, self.roots_)

    @property
    def _constant_labels(self) -> ConstantLabels:
        return ConstantLabels(self.never_, self.always_)

    def _keep(self, grown: "list[tuple[float, list[tuple[Trees, Values]]]]") -> None:
        """Store the trees of all labels one after the other."""
        none = Trees(
            np.empty(0, dtype=np.int64), np.empty(0), np.empty((0, 2)), np.empty(0, dtype=np.int64)
        )
        parts = [tree for _, sequence in grown for tree, _ in sequence]
        trees = Trees.joined([none, *parts])
        self.feature_, self.threshold_ = trees.feature, trees.threshold
        self.children_, self.roots_ = trees.children, trees.roots
        values = [values for _, sequence in grown for _, values in sequence]
        self.values_ = np.concatenate([np.empty(0), *values])
        self.base_ = np.array([base for base, _ in grown], dtype=np.float64)
        sizes = np.array([len(sequence) for _, sequence in grown], dtype=np.int64)
        self.first_ = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    def _lightgbm(self, X: Any, marks: Any, weights: Any, seed: int) -> Iterator[Any]:
        """LightGBM: the features are binned once for several labels."""
        settings = {
            "objective": "binary",
            "learning_rate": self.learning_rate,
            "num_leaves": self.max_leaves,
            "min_data_in_leaf": self.min_samples_leaf,
            "feature_fraction": self.feature_share,
            "use_missing": False,
            "seed": seed,
            "deterministic": True,
            "force_row_wise": True,
            "num_threads": 1,
            "verbosity": -1,
        }
        data = lightgbm.Dataset(X, marks[:, 0], params=settings, free_raw_data=False)
        for j in range(marks.shape[1]):
            data.set_label(marks[:, j])
            if weights is not None:
                data.set_weight(weights[:, j])
            grown = lightgbm.train(settings, data, self.n_rounds)
            yield 0.0, trees_of_text(grown.model_to_string())

    def _sklearn(self, X: Any, marks: Any, weights: Any, seed: int) -> Iterator[Any]:
        dense = X.toarray() if sparse.issparse(X) else X
        learner = HistGradientBoostingClassifier(
            max_iter=self.n_rounds,
            learning_rate=self.learning_rate,
            max_leaf_nodes=self.max_leaves,
            min_samples_leaf=self.min_samples_leaf,
            max_features=self.feature_share,
            early_stopping=False,
            random_state=seed,
        )
        for j in range(marks.shape[1]):
            own = None if weights is None else weights[:, j]
            grown = learner.fit(dense, marks[:, j], own)
            sequence = [_tree_of_nodes(one[0].nodes) for one in grown._predictors]
            yield float(grown._baseline_prediction.item()), sequence

    def _boost(self, X: Any, Y: Pattern, labels: Integers, seed: int) -> list[Any]:
        """A sequence of trees per label; some labels at a time, to save memory."""
        boost = self._lightgbm if self.engine_ == "lightgbm" else self._sklearn
        columns, deadline = sparse.csc_array(Y.csr), current_deadline()

        def work(chosen: Integers) -> list[Any]:
            marks = columns[:, chosen].toarray().astype(np.float64)
            found = []
            with stopping_at(deadline):
                for sequence in boost(X, marks, _entry_weights(Y, chosen), seed):
                    found.append(sequence)
                    check_time()
            return found

        sequences: list[Any] = []
        # Small data: the threads of the libraries would mostly wait for each other.
        with threadpool_limits(1), workers() as run:
            for start in range(0, labels.size, _LABELS_AT_ONCE):
                chunk = labels[start : start + _LABELS_AT_ONCE]
                for part in run(work, np.array_split(chunk, min(n_workers(), chunk.size))):
                    sequences += part
        return sequences

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "roots_" in state:
            self._check_arrays()

    def _check_arrays(self) -> None:
        """The nodes and labels of a file, checked before a kernel reads them."""
        self._trees.check(int(self.n_features_in_))
        check_array(self.values_, np.float64, self.feature_.shape, "values")
        if not (np.isfinite(self.values_).all() and np.isfinite(self.base_).all()):
            raise ValueError("values of leaves must be finite")
        n_labels = int((~(self.never_ | self.always_)).sum())
        check_array(self.base_, np.float64, (n_labels,), "base")
        check_array(self.first_, np.int64, (n_labels + 1,), "first")
        check_range(self.first_, 0, self.roots_.size + 1, "first trees of labels")


def _entry_weights(Y: Pattern, labels: Integers) -> Values | None:
    """The weight of each entry of some labels, 0 where it is missing; None if all are 1."""
    if Y.is_plain:
        return None
    own = np.ones(Y.shape[0]) if Y.row_weights is None else Y.row_weights
    weights: Values = np.repeat(own[:, np.newaxis], labels.size, axis=1)
    if Y.unknown is not None:
        weights[sparse.csc_array(Y.unknown.csr)[:, labels].toarray() == 1] = 0.0
    return weights


def _tree_of_nodes(nodes: Any) -> tuple[Trees, Values]:
    """A tree of scikit-learn's histogram gradient boosting."""
    inner = nodes["is_leaf"] == 0
    feature = np.where(inner, nodes["feature_idx"].astype(np.int64), -1)
    threshold = np.where(inner, nodes["num_threshold"], 0.0)
    children = np.column_stack([nodes["left"], nodes["right"]]).astype(np.int64)
    return _tree(feature, threshold, children), nodes["value"].astype(np.float64)


def trees_of_text(text: str) -> list[tuple[Trees, Values]]:
    """The trees of a model that LightGBM wrote as text, and the values of their nodes."""
    trees = []
    for part in text.split("\nTree=")[1:]:
        lines = dict(line.split("=", 1) for line in part.split("\n\n")[0].splitlines()[1:])
        trees.append(_tree_of_lines(lines))
    return trees


def _tree_of_lines(lines: dict[str, str]) -> tuple[Trees, Values]:
    leaf_values = _numbers(lines["leaf_value"], np.float64)
    n_inner = int(lines["num_leaves"]) - 1
    feature = np.full(n_inner + leaf_values.size, -1, dtype=np.int64)
    threshold, values = np.zeros(feature.size), np.zeros(feature.size)
    children = np.zeros((feature.size, 2), dtype=np.int64)
    values[n_inner:] = leaf_values
    if n_inner:
        feature[:n_inner] = _numbers(lines["split_feature"], np.int64)
        threshold[:n_inner] = _numbers(lines["threshold"], np.float64)
        for side, name in enumerate(("left_child", "right_child")):
            to = _numbers(lines[name], np.int64)
            children[:n_inner, side] = np.where(to >= 0, to, n_inner + ~to)  # ~k is leaf k
    return _tree(feature, threshold, children), values


def _tree(feature: Integers, threshold: Values, children: Anything) -> Trees:
    return Trees(feature, threshold, children, np.zeros(1, dtype=np.int64))


def _numbers(text: str, kind: Any) -> Anything:
    words: Sequence[str] = text.split()
    return np.array(words, dtype=kind)
