import pytest

from limo.reproduce._benchmark_plans import OURS, PAPER
from limo.reproduce._benchmark_tables import (
    agreement_table,
    benchmark_cells,
    benchmark_table,
    difference_table,
    extended_table,
    macro_f1_table,
    printed_ranks,
    rank_table,
)
from reproduce.fabricated import benchmark_rows


@pytest.fixture(scope="module")
def rows():
    return benchmark_rows(("CAL500",))


def test_the_benchmark_table_prints_cells_as_the_paper_does(rows):
    shown = benchmark_table(benchmark_cells(rows)).shown
    assert len(shown) == 12
    assert list(shown.columns[:4]) == ["data set", "method", "Hamming loss ↓", "ranking loss ↓"]
    line = shown.set_index("method").loc["LIMO"]
    assert line["ranking loss ↓"] == ".178±.004(1)"
    assert line["coverage ↓"] == "129.323±2.672(1)"
    assert line["macro-F1 ↑"].endswith("*")
    assert shown.set_index("method").loc["LIMO, printed", "macro-F1 ↑"] == ".288±.006(2)"


def test_differences_carry_reasons_and_the_value_with_thresholds_as_printed(rows):
    shown = difference_table(benchmark_cells(rows)).shown.set_index(["method", "measure"])
    line = shown.loc[("LIMO", "macro-F1")]
    assert line["printed"] == ".288"
    assert line["ours"] == ".144"
    assert line["thresholds as printed"] in (".288 (+0.0)", ".288 (-0.0)")
    assert "test labels" in line["reason"]


def test_small_tables(rows):
    counted = agreement_table(benchmark_cells(rows)).shown
    assert list(counted.columns) == [
        "methods", "measures", "cells", "within two sd", "thresholds as printed",
    ]  # fmt: skip
    both = macro_f1_table(rows).shown.set_index("method")
    assert both.loc["LIMO", "printed"] == ".288±.006"
    assert both.loc["LIMO", "thresholds chosen on test labels"] == ".288"


def test_ranks_stand_side_by_side(rows):
    printed = printed_ranks(["CAL500"])
    table = rank_table("r", "R", "", {"a": printed, "b": printed + 1})
    assert table.shown.set_index("measure").loc["ranking loss", "LIMO"] == "1.0 / 2.0"
    assert len(table.facts) == 2 * 11 * 6


def test_our_methods_are_ranked_with_the_others(rows):
    table = extended_table(rows, (*PAPER, *OURS))
    assert len(table.shown) == 8
    # three equal to LIMO's printed ranking loss, the best of CAL500: they share places 1 to 3
    line = table.shown.set_index("method").loc["LIMO, aimed", "ranking loss ↓"]
    assert line == ".178±.004(2)"
