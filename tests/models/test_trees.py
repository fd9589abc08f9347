import time

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import limo
from estimators import OTHER_FOLDS, MultiLabelContract, data, quietly
from limo._system import OutOfTimeError, stopping_at
from limo.models import ForestClassifier, _trees
from limo.models._trees import _SHARE
from naive import trees as naive

DATA = limo.datasets.figure1(150, seed=2)


@pytest.mark.slow
@parametrize_with_checks([ForestClassifier(n_estimators=10, random_state=0)])
def test_it_is_a_scikit_learn_estimator(estimator, check):
    quietly(check, estimator, OTHER_FOLDS)


class TestContract(MultiLabelContract):
    grid = property(lambda self: {"min_samples_leaf": [1, 5]})

    def model(self):
        return ForestClassifier("extra", n_estimators=20, random_state=0)


@pytest.mark.parametrize("kind", ["random", "extra"])
def test_votes_are_the_means_of_leaves(kind):
    forest = ForestClassifier(kind, n_estimators=7, random_state=3).fit(DATA.X, DATA.Y)
    arrays = (forest.feature_, forest.threshold_, forest.children_)
    X = DATA.X[:40].astype(np.float32)
    sums = naive.votes(X, *arrays, forest.roots_, forest.rows_, forest.shares_, DATA.Y)
    P = 0.99 * sums / 7 + 0.01 * DATA.Y.mean(axis=0)
    np.testing.assert_allclose(forest.predict_proba(DATA.X[:40]), P, atol=1e-6)
    assert np.array_equal(forest.predict(DATA.X[:40]), P > 0.5)
    leaf_sums = [
        forest.shares_[first:last].sum() for first, last in forest.children_[forest.feature_ < 0]
    ]
    np.testing.assert_allclose(leaf_sums, 1, rtol=1e-5)


@pytest.mark.parametrize("kind", ["random", "extra"])
def test_out_of_bag_scores_come_from_trees_that_left_a_row_out(kind):
    forest = ForestClassifier(kind, n_estimators=12, random_state=1).fit(DATA.X, DATA.Y)
    arrays = (forest.feature_, forest.threshold_, forest.children_)
    X, n = DATA.X.astype(np.float32), len(DATA.X)
    ends = [*forest.roots_[1:], forest.feature_.size]
    sums, n_trees = np.zeros(DATA.Y.shape), np.zeros((n, 1))
    for root, end in zip(forest.roots_, ends, strict=True):
        leaves = forest.children_[root:end][forest.feature_[root:end] < 0]
        inside = {row for first, last in leaves for row in forest.rows_[first:last]}
        if kind == "extra":
            assert len(inside) == round(_SHARE * n)
        out = [i for i in range(n) if i not in inside]
        sums[out] += naive.votes(X[out], *arrays, [root], forest.rows_, forest.shares_, DATA.Y)
        n_trees[out] += 1
    often = DATA.Y.mean(axis=0)
    votes = np.where(n_trees > 0, sums / np.maximum(n_trees, 1), often)
    P = 0.99 * votes + 0.01 * often
    np.testing.assert_allclose(forest.out_of_bag_scores_, np.log(P / (1 - P)), rtol=1e-5)


def test_it_is_as_good_as_scikit_learns_forest():
    train, test = limo.datasets.split(limo.datasets.figure1(600, seed=1))
    own = ForestClassifier(n_estimators=100, random_state=0).fit(train.X, train.Y)
    peer = RandomForestClassifier(100, random_state=0).fit(train.X, train.Y)
    values = [limo.macro_auc(test.Y, limo.scores_of(m, test.X)) for m in (own, peer)]
    assert values[0] == pytest.approx(values[1], abs=0.02)


def test_many_labels_are_projected():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 5))
    Y = (X @ rng.normal(size=(5, 90)) > 1).astype(int)
    forest = ForestClassifier("extra", n_estimators=60, random_state=0).fit(X, Y)
    assert limo.macro_auc(Y, forest.out_of_bag_scores_) > 0.75


def test_very_large_sparse_data_stay_sparse(monkeypatch):
    X, Y = data(m=60)
    dense = ForestClassifier(n_estimators=5, random_state=0).fit(sparse.csr_array(X), Y)
    monkeypatch.setattr(_trees, "_MOST_DENSE", 10)
    found = ForestClassifier(n_estimators=5, random_state=0).fit(sparse.csr_array(X), Y)
    assert np.array_equal(found.decision_function(X), dense.decision_function(X))
    assert np.array_equal(found.out_of_bag_scores_, dense.out_of_bag_scores_)


def test_balance_lets_rare_labels_count():
    X, Y = data(m=60)
    plain, balanced = (
        ForestClassifier(n_estimators=5, balance=b, random_state=0).fit(X, Y) for b in (0, 1)
    )
    assert not np.array_equal(plain.decision_function(X), balanced.decision_function(X))


def test_weights_count_in_splits_and_votes():
    """Whole weights equal repeated rows where every tree sees all rows: one leaf, all votes."""
    weights = np.where(DATA.Y[:, 0] == 1, 3.0, 1.0)
    stump = ForestClassifier("extra", n_estimators=400, min_samples_leaf=10_000, random_state=0)
    P = stump.fit(DATA.X, DATA.Y, weights).predict_proba(DATA.X[:1])
    np.testing.assert_allclose(P[0], np.average(DATA.Y, axis=0, weights=weights), atol=0.01)
    forest = ForestClassifier(n_estimators=30, random_state=0)
    noise = np.random.default_rng(0).permutation(DATA.Y)
    X, Y = np.concatenate([DATA.X, DATA.X]), np.concatenate([DATA.Y, noise])
    S = forest.fit(X, Y, np.repeat([1.0, 0.0], len(DATA.X))).decision_function(DATA.X)
    assert limo.macro_auc(DATA.Y, S) > 0.95


def test_threads_make_no_difference():
    one, two = (
        ForestClassifier(n_estimators=20, n_jobs=n, random_state=0).fit(DATA.X, DATA.Y)
        for n in (1, 2)
    )
    assert np.array_equal(one.decision_function(DATA.X), two.decision_function(DATA.X))


@pytest.mark.parametrize("kind", ["random", "extra"])
def test_a_tree_is_grown_on_some_of_many_rows(kind, monkeypatch):
    monkeypatch.setattr(_trees, "_MOST_ROWS", 50)
    forest = ForestClassifier(kind, n_estimators=40, random_state=0).fit(DATA.X, DATA.Y)
    assert forest.rows_.size <= 40 * 50
    assert np.isfinite(forest.out_of_bag_scores_).all()
    assert limo.macro_auc(DATA.Y, forest.out_of_bag_scores_) > 0.8


def test_time_can_run_out():
    with (
        stopping_at(time.monotonic()),
        pytest.raises(OutOfTimeError, match="time limit was reached"),
    ):
        ForestClassifier(n_estimators=100).fit(DATA.X, DATA.Y)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [({"kind": "pine"}, "kind of forest"), ({"n_estimators": 0}, "n_estimators"), ({"balance": -1}, "balance")],
)  # fmt: skip
def test_wrong_settings_are_explained(settings, sentence):
    with pytest.raises(ValueError, match=sentence):
        ForestClassifier(**settings).fit(DATA.X, DATA.Y)


def forged(model, **changes):
    state = model.__getstate__() | changes
    return type(model).__new__(type(model)), state


HOSTILE = [
    ("feature_", lambda a: np.where(a >= 0, 99, a).astype(np.int32), "features of trees"),
    ("feature_", lambda a: np.where(a >= 0, a, -2).astype(np.int32), "features of trees"),
    ("feature_", lambda a: a.astype(np.int64), "array of int32"),
    ("feature_", lambda a: a.tolist(), "."),
    ("threshold_", lambda a: a * np.nan, "found nan"),
    ("threshold_", lambda a: a[:-1].copy(), "threshold must be"),
    ("children_", lambda a: a * 0, "after their parent"),
    ("children_", lambda a: a + 10**6, "exist|rows of leaves"),
    ("children_", lambda a: np.asfortranarray(a), "children must be"),
    ("roots_", lambda a: a + 10**6, "roots of trees"),
    ("roots_", lambda a: a - 1, "roots of trees"),
    ("rows_", lambda a: (a + 10**6).astype(np.int32), "rows of leaves"),
    ("shares_", lambda a: a * np.float32(np.inf), "finite"),
    ("labels_", lambda a: (a[0] + 10**6, a[1]), "labels"),
    ("labels_", lambda a: (a[0], a[1] + 10**6), "labels"),
    ("prior_", lambda a: a[:1].copy(), "labels"),
]


@pytest.mark.parametrize(("name", "change", "sentence"), HOSTILE)
def test_hostile_arrays_are_rejected(name, change, sentence):
    """What a file says is checked before a kernel follows it."""
    forest = ForestClassifier(n_estimators=3, random_state=0).fit(DATA.X, DATA.Y)
    empty, state = forged(forest, **{name: change(getattr(forest, name))})
    with pytest.raises((ValueError, AttributeError), match=sentence):
        empty.__setstate__(state)
