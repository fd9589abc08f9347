import numpy as np
import pytest

from limo._checks import check_labels
from limo.losses import Term
from limo.measures._table import MEASURES
from limo.models._limo_plan import LOGISTIC, candidates_for, default_alphas

Y = check_labels(np.array([[1, 0, 0, 1], [0, 1, 0, 1], [1, 0, 0, 0]]), "y")
ALL = list(MEASURES.values())


def test_every_measure_tries_logistic_regression_and_others():
    found = candidates_for(ALL, Y)
    assert list(found) == list(MEASURES)
    for candidates in found.values():
        assert candidates[0].terms == LOGISTIC
        assert len({c.terms for c in candidates}) == len(candidates) > 3


def test_any_other_measure_tries_the_losses_of_its_rows():
    further = [MEASURES[name] for name in MEASURES.further]
    found = candidates_for([*ALL, *further], Y)
    for name, like in {
        "macro_jaccard": "macro_f1",
        "micro_average_precision": "micro_auc",
        "precision_at_3": "one_error",
        "subset_accuracy": "instance_f1",
    }.items():
        assert found[name] == found[like]


def test_the_papers_margins_are_among_them():
    tried = {c.terms for found in candidates_for(ALL, Y).values() for c in found}
    mean = {view: Term(view, "mean") for view in ("rows", "columns", "entries")}
    assert {(mean["rows"],), (mean["columns"],), (mean["entries"],)} <= tried
    assert {(mean["rows"], mean["columns"]), tuple(mean.values())} <= tried


def test_losses_without_pairs_are_left_out():
    """One label has no label pairs; where all labels are constant, the entries are left."""
    one = candidates_for(ALL, check_labels(np.array([[1], [0], [1]]), "y"))
    assert {c.terms for c in one["ranking_loss"]} == {LOGISTIC}
    assert len(one["macro_auc"]) > 3
    constant = candidates_for(ALL, check_labels(np.ones((3, 1), int), "y"))
    assert {c.terms for found in constant.values() for c in found} == {LOGISTIC}


def test_alphas_fall_by_half_decades_in_proportion_to_what_each_label_weighs():
    alphas = default_alphas((Term("rows", "mean"),), 10)
    assert alphas == pytest.approx(np.logspace(-0.5, -4.5, 9))
    assert default_alphas((Term("rows", "mean", weight=100.0),), 10) == pytest.approx(
        100 * np.array(alphas)
    )
    assert default_alphas(LOGISTIC, 10) == pytest.approx(np.logspace(-2, -6, 9))
    both = default_alphas((*LOGISTIC, Term("rows", "mean")), 10)
    assert (both[0], both[-1]) == pytest.approx((10**-0.5, 1e-6))


def test_given_losses_and_alphas():
    given = ["rows top", "rows mean+columns mean", Term("rows", "worst"), [Term(), Term("columns")]]
    found = candidates_for(ALL[:2], Y, given, [0.1, 1.0])
    for candidates in found.values():
        assert [len(c.terms) for c in candidates] == [1, 2, 1, 2]
        assert candidates[1].terms == candidates[3].terms
        assert {c.alphas for c in candidates} == {(1.0, 0.1)}


@pytest.mark.parametrize(
    ("terms", "alphas", "message"),
    [
        ([], None, "terms must hold at least one loss to try"),
        (None, [], "alphas must hold at least one value"),
        (None, [0.0], "each of alphas must be a number above 0"),
        (Term(), None, "terms must be a list of losses to try"),
        ("rows top", None, "terms must be a list of losses to try"),
        (["top"], None, "view and its aggregation, such as 'rows top', got 'top'"),
        (["rows best"], None, "Unknown aggregation 'best'"),
        ([[Term(weight=0.0)]], None, "a term whose weight is above 0"),
    ],
)
def test_wrong_losses_and_alphas(terms, alphas, message):
    with pytest.raises(ValueError, match=message):
        candidates_for(ALL, Y, terms, alphas)
