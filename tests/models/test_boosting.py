"""Boosted trees with limo's losses, by both libraries."""

import sys

import lightgbm
import numpy as np
import pytest
import xgboost
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

import limo
from estimators import MultiLabelContract, data, quietly
from limo.objectives import MarginObjective

SMALL = {"min_data_in_leaf": 2, "min_data_in_bin": 1}


def boosted(**settings):
    return limo.BoostedMarginClassifier(**{"n_estimators": 5, "n_jobs": 1} | settings)


@parametrize_with_checks([boosted(settings=SMALL)])
def test_it_is_a_scikit_learn_estimator(estimator, check):
    quietly(check, estimator)


class TestContract(MultiLabelContract):
    grid = property(lambda self: {"learning_rate": [0.1, 0.3]})

    def model(self):
        return boosted(settings=SMALL)

    def test_is_saved_and_loaded_without_pickle(self, tmp_path):
        """Trees of other libraries are rejected when they are saved, not when they are loaded."""
        X, Y = data()
        for library in ("lightgbm", "xgboost"):
            model = boosted(library=library).fit(X, Y)
            with pytest.raises(limo.ModelFileError, match="does not store the trees of other"):
                limo.save_model(model, tmp_path / "model.skops")
            assert not list(tmp_path.iterdir())

    def test_a_fresh_process_predicts_the_same(self):
        """It is not saved."""


DATA = limo.datasets.figure1(400)


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
@pytest.mark.parametrize("terms", ["pointwise", ["pointwise", "rows mean"], "rows top"])
def test_more_rounds_lower_the_loss(library, terms):
    losses = []
    for rounds in (1, 10, 40):
        model = boosted(terms=terms, library=library, n_estimators=rounds).fit(DATA.X, DATA.Y)
        assert model.best_iteration_ == rounds
        losses.append(limo.losses.loss(DATA.Y, model.decision_function(DATA.X), terms))
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < losses[0] / 2


def test_pointwise_equals_a_booster_for_each_label():
    """XGBoost's own binary objective, with the log-odds of the label as the start."""
    X, Y = DATA.X, np.asarray(DATA.Y)
    settings = {"max_depth": 3, "tree_method": "exact"}
    model = boosted(terms="pointwise", library="xgboost", settings=settings).fit(X, Y)
    for j, start in enumerate(model.offset_):
        start_of_all = np.full(len(X), start)
        own = xgboost.train(
            settings | {"learning_rate": 0.1, "objective": "binary:logistic"},
            xgboost.DMatrix(X, label=Y[:, j], base_margin=start_of_all),
            5,
        )
        expected = own.predict(xgboost.DMatrix(X, base_margin=start_of_all), output_margin=True)
        np.testing.assert_allclose(model.decision_function(X)[:, j], expected, atol=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
@pytest.mark.parametrize("measure", ["macro_auc", "ranking_loss", "hamming_loss"])
def test_early_stopping_keeps_the_best_round(library, measure):
    rng = np.random.default_rng(0)
    X = DATA.X + rng.normal(scale=0.5, size=DATA.X.shape)
    model = boosted(library=library, n_estimators=300, early_stopping=measure, patience=5)
    model.fit(X, DATA.Y)
    assert model.best_iteration_ < 295
    again = boosted(library=library, n_estimators=300, early_stopping=measure, patience=5)
    assert np.array_equal(again.fit(X, DATA.Y).decision_function(X), model.decision_function(X))


def test_early_stopping_needs_a_measure_that_is_defined():
    X, Y = data(m=8)
    with pytest.raises(ValueError, match="macro_auc is not defined.*which are 1. Hold out more"):
        boosted(early_stopping="macro_auc", settings=SMALL).fit(X, Y)
    one = boosted(early_stopping="macro_auc").fit(X[:1], Y[:1])
    assert one.booster_ is None


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_sparse_features_and_settings(library):
    X, Y = data()
    model = boosted(library=library, settings={"max_depth": 1}).fit(sparse.csr_array(X), Y)
    trees = model.booster_.trees_to_dataframe()
    depth = "node_depth" if library == "lightgbm" else "Node"
    assert trees[depth].max() <= 2
    assert np.isfinite(model.decision_function(sparse.csc_matrix(X))).all()


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_features_that_say_nothing(library):
    """The scores are the log-odds of the labels, with half an instance added to both sides."""
    Y = np.array([[1, 0], [1, 1], [1, 0], [0, 0]])
    S = boosted(library=library).fit(np.zeros((4, 3)), Y).decision_function(np.ones((1, 3)))
    np.testing.assert_allclose(S, np.log([[3.5 / 1.5, 1.5 / 3.5]]), atol=1e-6)


@pytest.mark.slow
def test_the_objective_works_with_the_libraries_themselves():
    """The two calls that the docstring of MarginObjective shows."""
    X, Y = DATA.X, np.asarray(DATA.Y)
    objective = MarginObjective(Y)
    start = objective.value(np.zeros(Y.shape))
    trees = xgboost.train({"base_score": 0.0}, xgboost.DMatrix(X, label=Y), 10, obj=objective)
    assert objective.value(trees.predict(xgboost.DMatrix(X), output_margin=True)) < start / 2
    own = {"objective": objective, "num_class": Y.shape[1], "verbosity": -1}
    trees = lightgbm.train(own, lightgbm.Dataset(X, label=np.zeros(len(X))), 10)
    assert objective.value(trees.predict(X)) < start / 2


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"library": "catboost"}, "Unknown library 'catboost'"),
        ({"n_estimators": 0}, r"n_estimators must be an integer from 1 to 1e\+06"),
        ({"n_estimators": 10**30}, r"n_estimators must be an integer from 1 to 1e\+06"),
        ({"n_jobs": 2.5}, "n_jobs must be an integer"),
        ({"n_jobs": 10**30}, "n_jobs must be an integer"),
        ({"settings": ["max_depth"]}, "settings must be a dict of settings of lightgbm"),
        ({"early_stopping": "macro_auk"}, "Unknown measure 'macro_auk'"),
        ({"terms": "rows mean hinge"}, "Boosting needs second derivatives"),
    ],
)
def test_wrong_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        boosted(**settings).fit(DATA.X, DATA.Y)


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_a_missing_library_is_named_with_its_extra(library, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ImportError, match=rf"needs {library}.*limo-ml\[boosting\]"):
        boosted(library=library).fit(DATA.X, DATA.Y)
