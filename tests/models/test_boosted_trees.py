import time

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import limo
from estimators import OTHER_FOLDS, MultiLabelContract, quietly
from limo._system import OutOfTimeError, stopping_at
from limo.models import BoostingClassifier, _boosted_trees
from limo.models._boosted_trees import trees_of_text
from naive import trees as naive

DATA = limo.datasets.figure1(150, seed=2)
SMALL = {"n_rounds": 8, "min_samples_leaf": 3, "random_state": 0}


@pytest.mark.slow
@parametrize_with_checks([BoostingClassifier(**SMALL)])
def test_it_is_a_scikit_learn_estimator(estimator, check):
    quietly(check, estimator, OTHER_FOLDS)


class TestContract(MultiLabelContract):
    grid = property(lambda self: {"n_rounds": [2, 8]})

    def model(self):
        return BoostingClassifier(**SMALL)


def test_lightgbm_itself_gives_the_same_scores():
    lightgbm = pytest.importorskip("lightgbm")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4)) * (rng.random((200, 4)) < 0.7)
    y = (X[:, 0] + X[:, 1] ** 2 > 0.5).astype(float)
    settings = {"objective": "binary", "verbosity": -1, "num_threads": 1, "use_missing": False}
    model = lightgbm.train(settings, lightgbm.Dataset(X, y), 15)
    trees = trees_of_text(model.model_to_string())
    assert len(trees) == 15
    found = sum(
        naive.leaf_values(X, tree.feature, tree.threshold, tree.children, values, [tree.roots])
        for tree, values in trees
    )
    np.testing.assert_allclose(found[:, 0], model.predict(X, raw_score=True), atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["lightgbm", "sklearn"])
def test_missing_labels_and_instances_of_weight_0_play_no_part(engine):
    if engine == "lightgbm":
        pytest.importorskip("lightgbm")
    rng = np.random.default_rng(0)
    noise = 1.0 - DATA.Y
    X, Y = np.concatenate([DATA.X, DATA.X]), np.concatenate([DATA.Y, noise])
    gaps = Y.copy()
    gaps[150:] = np.nan
    settings = {**SMALL, "engine": engine, "n_rounds": 30}
    weights = np.repeat([1.0, 0.0], 150)
    by_weight = BoostingClassifier(**settings).fit(X, Y, weights)
    by_gap = BoostingClassifier(**settings, missing=np.nan).fit(X, gaps)
    S = by_gap.decision_function(DATA.X)
    np.testing.assert_allclose(S, by_weight.decision_function(DATA.X), atol=1e-6)
    assert limo.macro_auc(DATA.Y, S) > 0.95
    some = np.where(rng.random(DATA.Y.shape) < 0.3, np.nan, DATA.Y)
    S = BoostingClassifier(**settings, missing=np.nan).fit(DATA.X, some).decision_function(DATA.X)
    assert limo.macro_auc(DATA.Y, S) > 0.9


@pytest.mark.slow
def test_scikit_learn_itself_gives_the_same_scores():
    model = BoostingClassifier(**SMALL, engine="sklearn", feature_share=1.0).fit(DATA.X, DATA.Y)
    peer = HistGradientBoostingClassifier(
        max_iter=8, learning_rate=0.05, max_leaf_nodes=15, min_samples_leaf=3, early_stopping=False
    )
    S = model.decision_function(DATA.X)
    for j in range(4):
        expected = peer.fit(DATA.X, DATA.Y[:, j]).decision_function(DATA.X)
        np.testing.assert_allclose(S[:, j], expected, atol=1e-6)


def test_fewer_rounds_need_no_new_fit():
    long = BoostingClassifier(**(SMALL | {"n_rounds": 20})).fit(DATA.X, DATA.Y)
    short = BoostingClassifier(**SMALL).fit(DATA.X, DATA.Y)
    found = long.set_params(n_rounds=8).decision_function(DATA.X)
    np.testing.assert_allclose(found, short.decision_function(DATA.X), atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["lightgbm", "sklearn"])
def test_both_engines_learn(engine):
    if engine == "lightgbm":
        pytest.importorskip("lightgbm")
    train, test = limo.datasets.split(limo.datasets.figure1(400, seed=1))
    model = BoostingClassifier(60, engine=engine, random_state=0)
    S = model.fit(sparse.csr_array(train.X), train.Y).decision_function(test.X)
    assert limo.macro_auc(test.Y, S) > 0.9


def test_without_lightgbm_scikit_learn_boosts(monkeypatch):
    monkeypatch.setattr(_boosted_trees, "has_lightgbm", lambda: False)
    assert BoostingClassifier(**SMALL).fit(DATA.X, DATA.Y).engine_ == "sklearn"
    monkeypatch.undo()
    pytest.importorskip("lightgbm")
    assert BoostingClassifier(**SMALL).fit(DATA.X, DATA.Y).engine_ == "lightgbm"


def test_time_can_run_out():
    Y = np.tile(DATA.Y, (1, 10))
    with (
        stopping_at(time.monotonic()),
        pytest.raises(OutOfTimeError, match="time limit was reached"),
    ):
        BoostingClassifier(**SMALL).fit(DATA.X, Y)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [({"engine": "catboost"}, "engine"), ({"n_rounds": 0}, "n_rounds"), ({"learning_rate": 0}, "learning_rate")],
)  # fmt: skip
def test_wrong_settings_are_explained(settings, sentence):
    with pytest.raises(ValueError, match=sentence):
        BoostingClassifier(**settings).fit(DATA.X, DATA.Y)


@pytest.mark.parametrize(
    ("name", "change", "sentence"),
    [
        ("feature_", lambda a: np.where(a >= 0, 99, a).astype(np.int32), "features of trees"),
        ("children_", lambda a: a * 0, "after their parent"),
        ("values_", lambda a: a + np.inf, "finite"),
        ("values_", lambda a: a[:-1].copy(), "values must be"),
        ("base_", lambda a: a[:-1].copy(), "base must be"),
        ("first_", lambda a: a[:-1].copy(), "first must be"),
        ("first_", lambda a: a + 10**6, "first trees of labels"),
        ("roots_", lambda a: a + 10**6, "roots of trees"),
    ],
)
def test_hostile_arrays_are_rejected(name, change, sentence):
    model = BoostingClassifier(**SMALL).fit(DATA.X, DATA.Y)
    state = model.__getstate__() | {name: change(getattr(model, name))}
    with pytest.raises(ValueError, match=sentence):
        BoostingClassifier.__new__(BoostingClassifier).__setstate__(state)
