"""The custom objective against limo.losses, and what it does not take."""

import sys

import numpy as np
import pytest
from scipy import sparse

from limo.losses import Term, derivatives
from limo.objectives import MarginObjective, catboost_objective
from limo.objectives._objective import InstanceDerivatives

RNG = np.random.default_rng(0)
Y = (RNG.random((12, 4)) < 0.4).astype(int)
S = RNG.normal(size=Y.shape)


@pytest.mark.parametrize("terms", ["pointwise", "rows top", ["rows mean", "columns bottom"]])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_derivatives_are_those_of_the_loss_times_the_number_of_entries(terms, form):
    objective = MarginObjective(form(Y), terms)
    found = derivatives(Y, S, objective.terms)
    gradient, hessian = objective(S, "the data set is not used")
    np.testing.assert_allclose(gradient, Y.size * found.gradient)
    np.testing.assert_allclose(hessian, np.maximum(Y.size * found.hessian_diagonal, 1e-6))
    assert objective.value(S) == found.value


def test_pointwise_is_the_binary_logistic_objective():
    gradient, hessian = MarginObjective(Y, "pointwise")(S)
    P = 1 / (1 + np.exp(-S))
    np.testing.assert_allclose(gradient, P - Y)
    np.testing.assert_allclose(hessian, P * (1 - P))


def test_scores_come_in_the_order_of_either_library():
    """XGBoost passes rows one after the other, LightGBM columns; one label is one-dimensional."""
    objective = MarginObjective(Y)
    expected = objective(S)
    single = objective(np.asfortranarray(S.astype(np.float32)))
    for one, other in zip(expected, single, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)
    for result in MarginObjective(Y[:, :1], "pointwise")(S[:, 0]):
        assert result.shape == (12,)


def test_an_offset_is_added_to_the_scores():
    offset = np.arange(4.0)
    moved = MarginObjective(Y, offset=offset)(S)
    for one, other in zip(moved, MarginObjective(Y)(S + offset), strict=True):
        np.testing.assert_allclose(one, other)


def test_wrong_input():
    with pytest.raises(ValueError, match="Boosting needs second derivatives.*squared_hinge"):
        MarginObjective(Y, Term("rows", "mean", "hinge"))
    with pytest.raises(ValueError, match=r"expected 4, got shape \(3,\)"):
        MarginObjective(Y, offset=np.zeros(3))
    with pytest.raises(ValueError, match=r"expected \(12, 4\), got \(5, 4\)"):
        MarginObjective(Y)(S[:5])


@pytest.mark.parametrize("terms", ["pointwise", ["rows mean", "pointwise"], "rows top"])
def test_catboost_gets_minus_the_derivatives_instance_by_instance(terms):
    rows = np.flatnonzero((Y.sum(axis=1) > 0) & (Y.sum(axis=1) < 4))  # a loss counts no others
    gradient, hessian = MarginObjective(Y[rows], terms)(S[rows])
    objective = InstanceDerivatives(terms)
    for k, row in enumerate(rows):
        first, second = objective.calc_ders_multi(S[row], Y[row], None)
        np.testing.assert_allclose(first, -gradient[k])
        np.testing.assert_allclose(second, np.diag(-hessian[k]))
        twice, _ = objective.calc_ders_multi(S[row], Y[row], 2.0)
        np.testing.assert_allclose(twice, -2 * gradient[k])


def test_catboost_takes_no_terms_that_compare_instances():
    with pytest.raises(ValueError, match="the loss cannot compare instances, got columns mean"):
        catboost_objective(["pointwise", "columns mean"])
    with pytest.raises(ValueError, match="second derivatives"):
        catboost_objective(Term("rows", "mean", base="hinge"))


def test_catboost_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "catboost", None)
    with pytest.raises(ModuleNotFoundError, match="Install it with pip install catboost"):
        catboost_objective()


def test_pointwise_is_the_loss_of_catboost():
    catboost = pytest.importorskip("catboost")
    X = RNG.normal(size=(60, 3))
    labels = (X @ RNG.normal(size=(3, 4)) > 0).astype(int)
    plain = {
        "iterations": 5, "learning_rate": 0.1, "boost_from_average": False, "verbose": 0,
        "leaf_estimation_method": "Gradient", "leaf_estimation_iterations": 1,
        "bootstrap_type": "No", "random_strength": 0, "thread_count": 1,
    }  # fmt: skip
    theirs = catboost.CatBoostClassifier(loss_function="MultiLogloss", **plain).fit(X, labels)
    ours = catboost.CatBoostRegressor(
        loss_function=catboost_objective("pointwise"), eval_metric="MultiRMSE", **plain
    ).fit(X, labels)
    expected = theirs.predict(X, prediction_type="RawFormulaVal")
    np.testing.assert_allclose(ours.predict(X), expected, atol=1e-6)
