import dataclasses
import itertools

import numpy as np
import pytest

from cases import cases
from limo._views import VIEWS, Pattern
from limo.losses import Term
from limo.losses._term import Weighted, base_of, check_terms
from naive import losses as naive


def test_defaults_suit_the_aggregation():
    assert Term() == Term("rows", "mean", "squared_hinge", 1.0, "measure")
    assert Term("columns", "bottom") == Term("columns", "bottom", "logistic", 1.0, "measure")
    assert Term("rows", "pointwise").share == "balanced"
    assert Term("entries", "pointwise") == Term("entries", "pointwise", "logistic", 1.0, "uniform")
    with pytest.raises(dataclasses.FrozenInstanceError):
        Term().weight = 2.0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"view": "row"}, "Unknown view 'row'. Did you mean 'rows'"),
        ({"aggregation": "tops"}, "Unknown aggregation 'tops'. Did you mean 'top'"),
        ({"base": "log"}, "Unknown base loss 'log'"),
        ({"share": "even"}, "Unknown share 'even'"),
        ({"weight": -1}, "The weight of a term must be a number from 0 up, got -1"),
        ({"base": "logistic"}, "cannot have the base 'logistic', only: squared_hinge, hinge"),
        ({"aggregation": "top", "base": "hinge"}, "only: logistic. It is a log-sum-exp"),
        ({"aggregation": "worst", "share": "uniform"}, "cannot have the share 'uniform'"),
        ({"share": "balanced"}, "cannot have the share 'balanced', only: measure, uniform"),
        ({"aggregation": "pointwise", "share": "measure"}, "cannot have the share 'measure'"),
        ({"aggregation": "pointwise", "share": "uniform"}, 'give it the view "entries", got'),
    ],
)
def test_combinations_without_meaning_are_rejected(given, message):
    with pytest.raises(ValueError, match=message):
        Term(**given)


def test_one_term_is_a_list_of_one():
    assert check_terms(Term()) == check_terms([Term()]) == (Term(),)


@pytest.mark.parametrize("width", [0.0, 0.5])
def test_the_value_at_equal_scores(width):
    """Pairs of equal scores lose phi(1), or log(1 + the pairs they have); entries lose phi(0)."""
    terms = [
        *(Term(v, a) for v, a in itertools.product(VIEWS, ("mean", "top", "bottom", "worst"))),
        *(Term(v, "pointwise", share=s) for v in VIEWS for s in ("balanced", "pairs")),
        *(Term("entries", "pointwise", b, 3.0) for b in ("logistic", "hinge", "squared_hinge")),
    ]
    for Y, _, _ in cases(30, seed=91):
        pattern = Pattern.from_flat(np.flatnonzero(Y), Y.shape)
        for term in terms:
            expected = naive.loss(Y, np.zeros(Y.shape), [term])
            if term.base == "hinge":
                expected *= 1 - width / 2
            found = Weighted.of(term, pattern).at_equal_scores(width)
            assert found == pytest.approx(expected, abs=1e-14)


def test_bases_by_hand():
    assert base_of(Term("rows", "mean"))(1.5) == 2.25
    assert base_of(Term("rows", "mean", "hinge"))(1.5) == 1.5
    assert base_of(Term("rows", "mean", "hinge"), 0.5)(0.25) == 0.0625
    assert base_of(Term("rows", "top"))(1.0) == pytest.approx(np.log(2))
    assert base_of(Term("entries", "pointwise"))(3.0) == pytest.approx(np.log(1 + np.exp(2)))


def test_names_stand_for_terms():
    assert check_terms("rows top") == (Term("rows", "top"),)
    assert check_terms(["pointwise", "columns mean hinge", Term()]) == (
        Term("entries", "pointwise"),
        Term("columns", "mean", "hinge"),
        Term(),
    )
    with pytest.raises(ValueError, match="A name consists of a view, an aggregation"):
        check_terms("rows mean hinge uniform")
    with pytest.raises(ValueError, match="Unknown aggregation 'toop'. Did you mean"):
        check_terms("rows toop")
