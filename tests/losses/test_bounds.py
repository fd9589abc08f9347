"""Each loss bounds the measures that the registry names, and no other."""

import functools
import itertools
from dataclasses import replace

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
ROW_TERMS = [term for term in TERMS if term.view == "rows" or term.share == "uniform"]


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


@pytest.mark.slow
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


# Scores at which the loss is as low as it can be for the measure's value. log 2 is the loss of a
# tie; scores FAR away stand for a limit.
FAR = 60.0
LAST, ALL = [[FAR, 0.0, 0.0, -FAR]], [[0.0, 0.0, 0.0, 0.0]]
PAIR, FIRST, OTHER = [[0.0, 0.0]], [[0.0, 0.0, -FAR]], [[0.0, 1.0, 0.0]]
ATTAINED = [
    (Term("rows", "mean"), "ranking_loss", [[1, 1, 0]], OTHER),
    (Term("rows", "mean"), "auc", [[1, 1, 0]], OTHER),
    (Term("rows", "mean", "hinge"), "ranking_loss", [[1, 1, 0]], OTHER),
    (Term("rows", "mean", "hinge"), "auc", [[1, 1, 0]], OTHER),
    (Term("rows", "top"), "one_error", [[1, 0, 0]], FIRST),
    (Term("rows", "top"), "average_precision", [[1, 0, 0]], FIRST),
    (Term("rows", "bottom"), "coverage", [[1, 1, 0, 0]], LAST),
    (Term("rows", "bottom"), "f1", [[1, 1, 0, 0]], LAST),
    (Term("rows", "worst"), "ranking_loss", [[1, 1, 0, 0]], ALL),
    (Term("rows", "worst"), "auc", [[1, 1, 0, 0]], ALL),
    (Term("rows", "worst"), "one_error", [[1, 0, 0]], FIRST),
    (Term("rows", "worst"), "coverage", [[1, 1, 0, 0]], [[FAR, 0.0, 0.0, 0.0]]),
    (Term("rows", "worst"), "average_precision", [[1, 0, 0]], FIRST),
    (Term("rows", "worst"), "f1", [[1, 0, 0]], FIRST),
    *((Term("rows", "pointwise", base), name, [[1, 0, 0, 0]], ALL)
      for base in ("logistic", "hinge", "squared_hinge") for name in ("ranking_loss", "auc")),
    *((Term("rows", "pointwise", base, share="pairs"), name, [[1, 0, 0, 0]], [[s] * 4])
      for base, s in (("logistic", -np.log(3)), ("hinge", -1.0), ("squared_hinge", -0.5))
      for name in ("ranking_loss", "auc")),
    (Term("entries", "pointwise"), "hamming_loss", [[1, 0]], [[0.0, -FAR]]),
    (Term("entries", "pointwise", "hinge"), "hamming_loss", [[1, 0]], [[0.0, -1.0]]),
    (Term("entries", "pointwise", "squared_hinge"), "hamming_loss", [[1, 0]], [[0.0, -1.0]]),
]  # fmt: skip


def test_every_bound_has_a_case_that_attains_it():
    kept = {(text(term), name) for term, name, _, _ in ATTAINED}
    for term in ROW_TERMS:
        for name in bounds([[1, 0]], PAIR, term):
            assert (text(term), name.removeprefix("instance_")) in kept


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize(
    ("term", "family", "Y", "S"),
    ATTAINED,
    ids=lambda value: text(value) if isinstance(value, Term) else "",
)
def test_bounds_are_attained(term, family, Y, S, view):
    """In every view: a row, a column and a matrix of one row have the same loss."""
    if view == "columns" and family != "hamming_loss":
        Y, S = np.transpose(Y), np.transpose(S)
    own = term if family == "hamming_loss" else replace(term, view=view)
    names = {family, f"{VIEWS[view].average}_{family}"}
    found = {name: bound for name, bound in bounds(Y, S, own).items() if name in names}
    assert found or view != "rows"
    for name, bound in found.items():
        assert bound == pytest.approx(actual(Y, S)[name]), name


@functools.cache
def actual_of_row(labels, scores):
    """The measures of one row, which all terms share."""
    return actual([labels], [scores])


def check_all_orders(term, most):
    """One row for each order of up to so many items, with scores from all tied to far apart."""
    for total in range(2, most + 1):
        for labels in itertools.product((0, 1), repeat=total):
            if 0 < sum(labels) < total:
                for scale in (0.0, 0.3, 1.0, FAR):
                    scores = tuple(-scale * (i - (total - 1) / 2) for i in range(total))
                    values = actual_of_row(labels, scores)
                    for name, bound in bounds([labels], [scores], term).items():
                        assert holds(name, bound, values[name]), (name, labels, scale)


@pytest.mark.parametrize("term", ROW_TERMS, ids=text)
def test_bounds_hold_for_all_short_orders(term):
    check_all_orders(term, 3)


@pytest.mark.slow
@pytest.mark.parametrize("term", ROW_TERMS, ids=text)
def test_bounds_hold_for_all_orders(term):
    check_all_orders(term, 9)


def test_without_factors_a_bound_is_the_loss():
    rng = np.random.default_rng(82)
    Y, S = (rng.random((8, 5)) < 0.5).astype(int), rng.normal(size=(8, 5))
    Y[:, 0], Y[:, 1] = 1, 0
    term = Term("rows", "mean", weight=3.0)
    assert bounds(Y, S, term)["ranking_loss"] == pytest.approx(loss(Y, S, term) / 3)
    term = Term("rows", "worst")
    assert bounds(Y, S, term)["average_precision"] == pytest.approx(
        1 - loss(Y, S, term) / (2 * np.log(2))
    )


def test_the_mean_over_all_pairs_alike_bounds_no_measure_of_rows():
    assert bounds([[1, 0]], [[0.0, 1.0]], Term("rows", "mean", share="uniform")) == {}
    assert bounds([[1, 0]], [[0.0, 1.0]], Term("entries", "mean", share="uniform"))


def test_nothing_relevant():
    assert np.isnan(bounds([[0, 0]], [[0.0, 1.0]], Term("rows", "top"))["one_error"])
