"""Sample weights and missing labels in every term: loops, repetition, and finite differences."""

import numpy as np
import pytest

from cases import cases
from limo.losses import Term, derivatives, loss
from losses.test_sums import CORNERS, TERMS, differences, name
from naive import losses as naive


def some_missing(Y, rng):
    """The labels with nan for a quarter of the entries."""
    return np.where(rng.random(Y.shape) < 0.25, np.nan, Y)


def small(S):
    return S / 10 if S.max() > 10 else S


@pytest.mark.parametrize("term", TERMS + CORNERS, ids=name)
def test_the_value_is_that_of_the_definition(term):
    """Weights of 0 and missing labels take no part."""
    rng = np.random.default_rng(0)
    for Y, S, _ in cases(30, seed=93):
        weights = rng.choice([0.0, 0.3, 1.0, 2.5], len(Y))
        weights[rng.integers(len(Y))] = 1.5
        Y = some_missing(Y, rng)
        if np.isnan(Y[weights > 0]).all():
            continue
        expected = naive.weighted_term(Y, small(S), term, weights)
        found = loss(Y, small(S), term, missing=np.nan, sample_weight=weights)
        assert found == pytest.approx(expected, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("term", TERMS, ids=name)
def test_integer_weights_equal_repetition(term):
    rng = np.random.default_rng(1)
    Y = some_missing((rng.random((9, 5)) < 0.4).astype(float), rng)
    S, T = rng.normal(size=(2, *Y.shape))
    weights = rng.integers(0, 4, len(Y))
    rows = np.repeat(np.arange(len(Y)), weights)
    one = derivatives(Y, S, term, missing=np.nan, sample_weight=weights)
    many = derivatives(Y[rows], S[rows], term, missing=np.nan)
    assert one.value == pytest.approx(many.value, rel=1e-12)
    for found, repeated in (
        (one.gradient, many.gradient),
        (one.hessian_product(T), many.hessian_product(T[rows])),
    ):
        together = np.zeros_like(S)
        np.add.at(together, rows, repeated)
        np.testing.assert_allclose(found, together, atol=1e-12)


@pytest.mark.parametrize("term", TERMS, ids=name)
def test_derivatives_are_limits_of_differences(term):
    rng = np.random.default_rng(2)
    Y = some_missing((rng.random((6, 4)) < 0.5).astype(float), rng)
    S, T = rng.normal(size=(2, *Y.shape))
    given = {"missing": np.nan, "sample_weight": rng.uniform(0.2, 3.0, len(Y))}
    found = derivatives(Y, S, term, **given)
    slopes = differences(lambda S: loss(Y, S, term, **given), S, 1e-6)
    np.testing.assert_allclose(found.gradient, slopes, atol=1e-8)
    assert not found.gradient[np.isnan(Y)].any()
    hessian = differences(lambda S: derivatives(Y, S, term, **given).gradient, S, 1e-5)
    product = np.einsum("ijkl,kl", hessian, T)
    np.testing.assert_allclose(found.hessian_product(T), product, atol=1e-8)
    diagonal = np.einsum("ijij->ij", hessian)
    np.testing.assert_allclose(found.hessian_diagonal, diagonal, atol=1e-8)


@pytest.mark.parametrize("term", TERMS + CORNERS, ids=name)
def test_long_rows(term):
    """More than 128 relevant and irrelevant items, which are sorted, in several blocks."""
    rng = np.random.default_rng(3)
    Y = some_missing((rng.random((320, 60)) < np.linspace(0.02, 0.95, 60)).astype(float), rng)
    S = rng.normal(size=Y.shape)
    weights = rng.integers(0, 3, len(Y))
    rows = np.repeat(np.arange(len(Y)), weights)
    found = loss(Y, S, term, missing=np.nan, sample_weight=weights)
    assert found == pytest.approx(loss(Y[rows], S[rows], term, missing=np.nan), rel=1e-10)


def test_masks_and_masked_arrays():
    Y, S = np.array([[1, 0, 0], [0, 1, 1]]), np.array([[0.1, 0.4, 0.2], [0.3, 0.0, 0.5]])
    mask = np.array([[False, True, False], [False, False, True]])
    expected = loss(np.where(mask, np.nan, Y), S, Term(), missing=np.nan)
    assert loss(Y, S, Term(), missing=mask) == expected
    assert loss(np.ma.masked_array(Y, mask), S, Term()) == expected
    assert loss(np.where(mask, -1, Y), S, Term(), missing=-1) == expected
