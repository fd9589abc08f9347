"""The custom objective against limo.losses, and what it does not take."""

import numpy as np
import pytest
from scipy import sparse

from limo.losses import Term, derivatives
from limo.objectives import MarginObjective

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
