import numpy as np
import pytest

from limo.reproduce._benchmark_plans import PAPER
from limo.reproduce._benchmark_tables import (
    agreement,
    both_cuts,
    cells,
    printed_ranks,
    ranks,
    rows_as_printed,
)
from reproduce.fabricated import benchmark_rows


@pytest.fixture(scope="module")
def rows():
    return benchmark_rows(("CAL500", "medical", "enron"))


def test_under_the_printed_cut_everything_agrees(rows):
    table = cells(rows)
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
    table = cells(rows).set_index(["method", "measure"])
    assert table.loc[("GFM", "one_error"), "difference"] == pytest.approx(2.0)
    assert table.loc[("BR", "coverage"), "std"] == pytest.approx(2.319)


def test_agreement_is_counted_by_kind(rows):
    found = agreement(cells(rows)).set_index(["methods", "measures"])
    limos = found.loc[("LIMO, LIMO-inst, LIMO-label", "labels")]
    # halved: macro-F1 of LIMO, three F1s of LIMO-inst on three sets; two and three on medical
    assert limos["cells"] == 36
    assert limos["agree_as_printed"] == 36
    assert limos["agree"] >= 36 - 3 - 9 - 5
    assert found.loc[("BR", "scores"), "agree"] == 21


def test_macro_f1_both_ways(rows):
    found = both_cuts(rows).set_index(["dataset", "method"])
    line = found.loc[("CAL500", "LIMO")]
    assert line["printed"] == line["test_labels"] == pytest.approx(0.288)
    assert line["training"] == pytest.approx(0.144)
    assert both_cuts(rows[~rows["method"].str.contains("cut")])["test_labels"].isna().all()


def test_ranks_of_rows_as_printed_are_the_printed_ones(rows):
    """Where three digits tell methods apart, our ranks from the printed means are the printed."""
    ours, theirs = (
        ranks(rows_as_printed(rows), PAPER),
        printed_ranks(["CAL500", "medical", "enron"]),
    )
    assert ours.shape == theirs.shape == (11, 6)
    assert np.abs(ours - theirs).max(axis=None) <= 0.5
    assert ours.loc["macro_auc", "LIMO-inst"] == 1
