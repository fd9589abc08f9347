import pytest

import limo
from limo._views import ROWS
from limo.measures._measure import Measure
from limo.measures._table import EITHER, MEASURES, explain_measure


def about(name, conventions="standard"):
    return explain_measure(MEASURES[name], limo.CONVENTIONS[conventions])


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize("conventions", limo.CONVENTIONS)
def test_every_measure_is_explained(name, conventions):
    found = about(name, conventions)
    assert found["title"] == MEASURES[name].title
    for key in ("meaning", "formula", "mean", "convention"):
        assert found[key], key


def test_formulas_show_what_ties_count():
    assert about("macro_auc")["formula"] == "(#{sᵣ > sᵥ} + 0.5 #{sᵣ = sᵥ}) / pn"
    assert about("macro_auc", "paper")["formula"] == "(#{sᵣ > sᵥ} + #{sᵣ = sᵥ}) / pn"
    assert about("coverage")["formula"] == "max over r of #{s ≥ sᵣ} − 1"
    strict = limo.Conventions(auc_tie=0.0, coverage_offset=0.0, tied_rank="best")
    assert explain_measure(MEASURES["micro_auc"], strict)["formula"] == "(#{sᵣ > sᵥ}) / pn"
    assert (
        explain_measure(MEASURES["coverage"], strict)["formula"] == "max over r of (1 + #{s > sᵣ})"
    )


def test_conventions_are_told():
    assert about("ranking_loss")["convention"] == "a tie is a full error; undefined left out"
    assert (
        about("ranking_loss", "sklearn")["convention"]
        == "a tie is a full error; undefined counts 0"
    )
    assert (
        about("macro_auc", "paper")["convention"] == "a tie earns full credit; undefined left out"
    )
    assert about("macro_f1")["convention"] == "0/0 is 0"
    assert about("hamming_loss")["convention"] == "always defined"
    odd = limo.Conventions(ranking_loss_tie=0.25, auc_tie=0.75, f1_of_nothing=float("nan"))
    assert explain_measure(MEASURES["ranking_loss"], odd)["convention"].startswith(
        "a tie is 0.25 of an"
    )
    assert explain_measure(MEASURES["macro_auc"], odd)["convention"].startswith("a tie earns 0.75")
    assert (
        explain_measure(MEASURES["macro_f1"], odd)["convention"] == "0/0 is nan; undefined left out"
    )


def test_means_name_the_rows():
    assert about("macro_f1")["mean"] == "mean over labels"
    assert about("instance_f1")["mean"] == "mean over instances"
    assert about("micro_f1")["mean"].startswith("over all entries")


def test_a_new_measure_is_explained_by_its_docstring():
    def novelty(rows, conventions):
        """Something new: #{new} / pn.

        With more to say.
        """

    new = Measure("novelty", "novelty", novelty, ROWS, "scores", "high", (0, 1), EITHER)
    found = explain_measure(new, limo.CONVENTIONS["standard"])
    assert found["meaning"] == found["formula"] == "Something new: #{new} / pn."
