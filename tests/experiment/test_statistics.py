import math

import pandas as pd
import pytest
from scipy.stats import chi2

from experiment.cases import DEMSAR, cell, rows_of
from limo.experiment import compare_methods, groups


def test_the_published_example_as_one_record():
    found = compare_methods(rows_of(DEMSAR), "macro_auc", alpha=0.1)
    assert list(found.average_ranks) == ["C4.5+m+cf", "C4.5+m", "C4.5+cf", "C4.5"]
    assert found.average_ranks["C4.5"] == pytest.approx(3.143, abs=0.001)
    assert found.n_blocks == 14
    assert round(found.critical_difference, 2) == 1.12
    # Demsar: C4.5 differs from both that tune m at 10 %, nothing is known of C4.5+cf
    assert found.groups == (("C4.5+m+cf", "C4.5+m", "C4.5+cf"), ("C4.5+cf", "C4.5"))
    assert found.left_out == ()
    text = str(found)
    assert text.startswith("macro-AUC, average ranks: C4.5+m+cf 1.96, C4.5+m 2.00")
    assert "Critical difference at 0.1: 1.12." in text


def test_the_effect_of_every_tie_convention_is_stated():
    note, zeros = compare_methods(rows_of(DEMSAR), "macro_auc").notes
    # ties: iris .931 twice, lung cancer .583 twice, mushroom four, primary tumor .962 twice
    assert note.startswith("Ties: methods are equal in 4 of 14 blocks")
    best = DEMSAR.rank(axis=1, ascending=False, method="min").mean()
    shared = DEMSAR.rank(axis=1, ascending=False).mean()
    assert f"change by up to {(best - shared).abs().max():.2f}, with the worst" in note
    assert f"Friedman's p would be {chi2.sf(9.28, 3):.3g}." in note
    assert zeros.startswith("Zero differences occur in 6 of 6 pairs (rule 'zsplit')")


def test_without_ties_nothing_depends_on_conventions():
    values = pd.DataFrame({"A": [0.1, 0.2], "B": [0.3, 0.5]})
    tie, zero, few = compare_methods(rows_of(values), "macro_auc").notes
    assert tie == "No two methods tie, so the convention for ties changes nothing."
    assert zero.startswith("No zero differences")
    assert few.startswith(
        "With 2 blocks Wilcoxon's test cannot find a difference in any of 1 pairs"
    )


def test_what_failed_is_named_and_not_counted():
    rows = [cell(d, k, m, v, status="ok", error="") for d, k, m, v in [
        ("a", 0, "A", 0.1), ("a", 0, "B", 0.2), ("a", 1, "A", 0.1), ("b", 0, "A", 0.1),
        ("c", 0, "A", 0.3), ("c", 0, "B", 0.1)]]  # fmt: skip
    rows.append(cell("a", 1, "B", math.nan, status="failed", error="ValueError: odd"))
    rows.append(cell("b", 0, "B", math.nan, status="failed", error="ValueError: odd"))
    found = compare_methods(rows, "one_error")
    assert found.n_blocks == 2
    assert found.average_ranks == {"A": 1.5, "B": 1.5}
    assert found.left_out == ("b (no value of B)", "a split 1 (B: failed: ValueError: odd)")
    assert "Left out: b (no value of B)." in str(found)


def test_nothing_whole_gives_nan_and_says_so():
    rows = [cell("a", 0, "A", 0.1), cell("a", 0, "B", math.nan)]
    found = compare_methods(rows, "one_error")
    assert found.n_blocks == 0
    assert all(math.isnan(value) for value in found.average_ranks.values())
    assert math.isnan(found.friedman.p_value)


def test_splits_as_blocks_are_owned_up_to():
    rows = [cell("a", k, m, v) for k in range(6) for m, v in (("A", 0.1 + k), ("B", 0.2 + 2 * k))]
    found = compare_methods(rows, "one_error", blocks="split")
    assert found.n_blocks == 6
    assert found.pairs.loc[0, "p"] == pytest.approx(2 / 2**6)
    assert found.pairs.loc[0, "differs"]
    assert found.wilcoxon_groups == ()
    assert "the tests are overconfident" in found.notes[-1]
    rows[0]["value"] = math.nan
    assert (
        compare_methods(rows, "one_error", blocks="split").left_out[0]
        == "a split 0 (no value of A)"
    )


def test_groups_are_the_longest_runs():
    place = {"A": 1.0, "B": 1.4, "C": 1.8, "D": 2.6, "E": 5.0}
    assert groups(place, lambda a, b: abs(place[a] - place[b]) > 1) == (("A", "B", "C"), ("C", "D"))
    assert groups(place, lambda a, b: True) == ()
    assert groups(place, lambda a, b: False) == (("A", "B", "C", "D", "E"),)


def test_wrong_questions_are_refused():
    rows = rows_of(DEMSAR)
    with pytest.raises(ValueError, match="rows have no one_error: expected one of macro_auc"):
        compare_methods(rows, "one_error")
    with pytest.raises(ValueError, match="Unknown kind of block 'fold'"):
        compare_methods(rows, "macro_auc", blocks="fold")
    with pytest.raises(ValueError, match="Unknown measure 'auc'"):
        compare_methods(rows, "auc")
