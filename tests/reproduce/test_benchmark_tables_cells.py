import numpy as np
import pytest

from limo.reproduce._benchmark_plans import PAPER
from limo.reproduce._benchmark_tables import (
    UNKNOWN,
    agreement_counts,
    benchmark_cells,
    macro_f1_both_ways,
    method_behind,
    printed_ranks,
    ranks,
    reason,
    rows_as_printed,
)
from reproduce.fabricated import benchmark_rows


@pytest.fixture(scope="module")
def rows():
    return benchmark_rows(("CAL500", "medical", "enron"))


def test_with_thresholds_as_printed_everything_agrees(rows):
    table = benchmark_cells(rows)
    assert len(table) == 3 * 6 * 11
    assert table["as_printed_difference"].abs().max() < 1e-6
    assert table["agrees_as_printed"].all()
    halved = table[~table["agrees"]]
    assert set(halved["method"]) == {"LIMO", "LIMO-inst", "LIMO-label"}
    assert halved["measure"].str.endswith("_f1").all()
    assert (halved["reason"] != "").all()
    assert (table.loc[table["agrees"], "reason"] == "").all()


def test_deviations_are_those_printed_and_never_finer_than_the_print():
    rows = benchmark_rows(("CAL500",))
    own = rows["method"].eq("GFM") & rows["measure"].eq("one_error")
    rows.loc[own, "value"] = 0.001  # printed .000 ± .000
    table = benchmark_cells(rows).set_index(["method", "measure"])
    assert table.loc[("GFM", "one_error"), "difference"] == pytest.approx(2.0)
    assert table.loc[("BR", "coverage"), "std"] == pytest.approx(2.319)


def test_agreement_is_counted_by_kind(rows):
    found = agreement_counts(benchmark_cells(rows)).set_index(["methods", "measures"])
    limos = found.loc[("LIMO, LIMO-inst, LIMO-label", "labels")]
    # halved: macro-F1 of LIMO, three F1s of LIMO-inst on three sets; two and three on medical
    assert limos["cells"] == 36
    assert limos["agree_as_printed"] == 36
    assert limos["agree"] >= 36 - 3 - 9 - 5
    assert found.loc[("BR", "scores"), "agree"] == 21


def test_macro_f1_both_ways(rows):
    found = macro_f1_both_ways(rows).set_index(["dataset", "method"])
    line = found.loc[("CAL500", "LIMO")]
    assert line["printed"] == line["test_labels"] == pytest.approx(0.288)
    assert line["training"] == pytest.approx(0.144)
    assert macro_f1_both_ways(rows[~rows["method"].str.contains("cut")])["test_labels"].isna().all()


def test_ranks_of_rows_as_printed_are_the_printed_ones(rows):
    """Where three digits tell methods apart, our ranks from the printed means are the printed."""
    ours, theirs = (
        ranks(rows_as_printed(rows), PAPER),
        printed_ranks(["CAL500", "medical", "enron"]),
    )
    assert ours.shape == theirs.shape == (11, 6)
    assert np.abs(ours - theirs).max(axis=None) <= 0.5
    assert ours.loc["macro_auc", "LIMO-inst"] == 1


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        (("CAL500", "LIMO", "macro_f1"), "LIMO, test cuts"),
        (("corel5k", "LIMO-inst", "micro_f1"), "LIMO-inst, test cuts"),
        (("bibtex", "LIMO-inst", "macro_f1"), "LIMO-inst"),
        (("enron", "LIMO", "instance_f1"), "LIMO"),
        (("medical", "LIMO", "instance_f1"), "LIMO, global cut"),
        (("medical", "LIMO-label", "macro_f1"), "LIMO-label, global cut"),
        (("medical", "LIMO-label", "hamming_loss"), "LIMO-label"),
        (("enron", "GFM", "macro_f1"), "GFM"),
    ],
)
def test_the_thresholds_behind_each_cell(cell, expected):
    assert method_behind(*cell) == expected


@pytest.mark.parametrize(
    ("cell", "part"),
    [
        (("CAL500", "LIMO", "macro_f1"), "chosen on test labels"),
        (("medical", "LIMO", "micro_f1"), "one global threshold"),
        (("CAL500", "GFM", "one_error"), "ties"),
        (("medical", "BR", "one_error"), "computed wrongly"),
        (("bibtex", "BR", "hamming_loss"), "does not say"),
        (("enron", "LIMO-label", "instance_auc"), UNKNOWN),
        (("CAL500", "GFM", "hamming_loss"), UNKNOWN),
    ],
)
def test_reasons_that_are_known(cell, part):
    assert part in reason(*cell)
