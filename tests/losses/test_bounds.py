"""Each loss bounds the measures that the registry names, and no other."""

import functools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import limo
from cases import cases
from limo._views import VIEWS
from limo.losses import Term, bounds, loss

TERMS = [
    *(Term(view, kind) for view in VIEWS for kind in ("mean", "top", "bottom", "worst")),
    *(Term(view, "mean", "hinge") for view in VIEWS),
    *(Term(view, "pointwise", base, share=share)
      for view in VIEWS for base in ("logistic", "hinge", "squared_hinge")
      for share in ("balanced", "pairs")),
    *(Term("entries", "pointwise", base) for base in ("logistic", "hinge", "squared_hinge")),
]  # fmt: skip


def text(term):
    return f"{term.view} {term.aggregation} {term.base} {term.share}"


def actual(Y, S):
    """The measures with ties as errors, F1 with the best thresholds, Hamming loss at 0."""
    found = {name: one.value for name, one in limo.guarantees(Y, S).items()}
    return found | {"hamming_loss": limo.hamming_loss(Y, (np.asarray(S) > 0).astype(int))}


def holds(name, bound, value):
    sign = limo.MEASURES[name].sign
    return (np.isnan(bound) and np.isnan(value)) or sign * value >= sign * bound - 1e-9


@functools.cache
def judged_cases():
    return [(Y, S, actual(Y, S)) for Y, S, _ in cases(60, seed=81)]


@pytest.mark.parametrize("term", TERMS, ids=text)
def test_bounds_hold_with_ties_and_constant_rows(term):
    for Y, S, values in judged_cases():
        for name, bound in bounds(Y, S, term).items():
            assert holds(name, bound, values[name]), name


@settings(deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.sampled_from(TERMS), st.sampled_from([0.0, 0.1, 1.0, 20.0]))
def test_bounds_hold_at_every_scale_of_the_scores(seed, term, scale):
    rng = np.random.default_rng(seed)
    Y = (rng.random((6, 5)) < 0.4).astype(int)
    S = scale * (rng.normal(size=Y.shape) + Y)
    values = actual(Y, S)
    for name, bound in bounds(Y, S, term).items():
        assert holds(name, bound, values[name]), name


def test_the_registry_names_the_terms_that_bound_a_measure():
    found = {name: set() for name in limo.MEASURES}
    Y, S = [[1, 0, 0], [0, 1, 1]], [[1.0, 0.0, 2.0], [0.5, 0.0, 1.0]]
    for term in TERMS:
        for name in bounds(Y, S, term):
            found[name].add(f"{term.view} {term.aggregation}")
    assert found == {name: set(m.bounded_by) for name, m in limo.MEASURES.items()}


# One misordered pair or entry, with scores at which the loss is as low as it can be for that.
# log 2 is the loss of a tie; scores FAR away stand for a limit.
FAR = 60.0


@pytest.mark.parametrize(
    ("term", "name", "Y", "S"),
    [
        (Term("rows", "mean"), "ranking_loss", [[1, 1, 0]], [[0.0, 1.0, 0.0]]),
        (Term("rows", "mean"), "instance_auc", [[1, 1, 0]], [[0.0, 1.0, 0.0]]),
        (Term("columns", "mean"), "macro_auc", [[1], [1], [0]], [[0.0], [1.0], [0.0]]),
        (Term("entries", "mean"), "micro_auc", [[1, 1, 0]], [[0.0, 1.0, 0.0]]),
        (Term("rows", "top"), "one_error", [[1, 0, 0]], [[0.0, 0.0, -FAR]]),
        (Term("rows", "bottom"), "coverage", [[1, 1, 0, 0]], [[FAR, 0.0, 0.0, -FAR]]),
        (Term("rows", "bottom"), "instance_f1", [[1, 1, 0, 0]], [[FAR, 0.0, 0.0, -FAR]]),
        (Term("columns", "bottom"), "macro_f1", [[1], [0], [0]], [[0.0], [0.0], [-FAR]]),
        (Term("entries", "bottom"), "micro_f1", [[1, 1, 0, 0]], [[FAR, 0.0, 0.0, -FAR]]),
        (Term("rows", "worst"), "one_error", [[1, 0, 0]], [[0.0, 0.0, -FAR]]),
        (Term("rows", "worst"), "ranking_loss", [[1, 0]], [[0.0, 0.0]]),
        (Term("rows", "top"), "average_precision", [[1, 0, 0]], [[0.0, 0.0, -FAR]]),
        (Term("rows", "pointwise"), "ranking_loss", [[1, 0]], [[0.0, 0.0]]),
        (Term("rows", "pointwise", share="pairs"), "instance_auc", [[1, 0]], [[0.0, 0.0]]),
        (Term("columns", "pointwise", "hinge"), "macro_auc", [[1], [0]], [[0.0], [0.0]]),
        (Term("entries", "pointwise"), "hamming_loss", [[1, 0]], [[0.0, -FAR]]),
        (Term("entries", "pointwise", "hinge"), "hamming_loss", [[1, 0]], [[0.0, -1.0]]),
    ],
    ids=lambda value: text(value) if isinstance(value, Term) else "",
)
def test_bounds_are_attained(term, name, Y, S):
    assert bounds(Y, S, term)[name] == pytest.approx(actual(Y, S)[name])


def test_without_factors_a_bound_is_the_loss():
    rng = np.random.default_rng(82)
    Y, S = (rng.random((8, 5)) < 0.5).astype(int), rng.normal(size=(8, 5))
    Y[:, 0], Y[:, 1] = 1, 0
    term = Term("rows", "mean", weight=3.0)
    assert bounds(Y, S, term)["ranking_loss"] == pytest.approx(loss(Y, S, term) / 3)
    term = Term("columns", "worst")
    assert bounds(Y[:, 2:], S[:, 2:], term)["macro_auc"] == pytest.approx(
        1 - loss(Y[:, 2:], S[:, 2:], term) / np.log(2)
    )


def test_the_mean_over_all_pairs_alike_bounds_no_measure_of_rows():
    assert bounds([[1, 0]], [[0.0, 1.0]], Term("rows", "mean", share="uniform")) == {}
    assert bounds([[1, 0]], [[0.0, 1.0]], Term("entries", "mean", share="uniform"))


def test_nothing_relevant():
    assert np.isnan(bounds([[0, 0]], [[0.0, 1.0]], Term("rows", "top"))["one_error"])
