import json
import math

import numpy as np
import pandas as pd
import pytest

from limo.experiment import _statistics as statistics
from limo.report import comparison_document, comparison_part, document_from_parts
from limo.report._comparison import average_ranks, beside_printed, differences
from report.rows import METHODS, make_rows


def test_a_comparison_is_plain_json():
    document = comparison_document(make_rows())
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    assert document["format"] == "limo-report/2"
    assert document["title"] == "3 methods compared"
    assert document["provenance"]["seeds"] == [0, 1, 2]
    assert document["provenance"]["rows"] == 54
    assert comparison_document(make_rows(), provenance={"x": 1}, title="Mine")["provenance"] == {
        "x": 1
    }


def test_means_by_hand():
    rows = make_rows()
    part = comparison_part(rows)
    line = next(x for x in part["means"] if (x["dataset"], x["measure"]) == ("e", "ranking_loss"))
    own = rows[(rows["dataset"] == "e") & (rows["measure"] == "ranking_loss")]
    means = [own.loc[own["method"] == m, "value"].mean() for m in METHODS]
    assert [cell["mean"] for cell in line["cells"]] == pytest.approx(means)
    best, worst = min(means), max(means)
    assert (line["best"], line["worst"]) == pytest.approx((best, worst))
    relative = [(worst - mean) / (worst - best) for mean in means]
    assert [cell["relative"] for cell in line["cells"]] == pytest.approx(relative)
    assert [cell["first"] for cell in line["cells"]] == [mean == best for mean in means]
    assert [x["measure"] for x in part["means"]] == ["ranking_loss", "macro_f1"] * 3


def test_the_best_value_is_highest_or_lowest_by_measure():
    line = comparison_part(make_rows(datasets=["d"], measures=["macro_f1"]))["means"][0]
    means = [cell["mean"] for cell in line["cells"]]
    assert line["best"] == max(means)
    assert line["cells"][means.index(max(means))]["relative"] == 1


def test_equal_methods_are_all_best():
    rows = make_rows(datasets=["d"], measures=["macro_f1"]).assign(value=0.5)
    (line,) = comparison_part(rows)["means"]
    assert [cell["relative"] for cell in line["cells"]] == [1, 1, 1]
    assert all(cell["first"] for cell in line["cells"])


def test_failures_are_listed():
    rows = make_rows()
    lost = (rows["method"] == "C") & (rows["dataset"] == "d")
    rows.loc[lost, ["value", "status", "error"]] = [np.nan, "failed", "out of memory"]
    part = comparison_part(rows)
    assert part["missing"] == [
        {"dataset": "d", "method": "C", "reason": "failed: out of memory", "values": 6}
    ]
    assert part["means"][0]["cells"][2] is None


def test_only_some_columns_are_needed():
    rows = make_rows()[["dataset", "split", "method", "measure", "value"]]
    part = comparison_part(rows, title="T", note="N")
    assert (part["seconds"], part["seeds"], part["title"], part["note"]) == (None, None, "T", "N")
    assert comparison_part(make_rows())["seconds"][0] == {"dataset": "d", "cells": [0.5, 0.5, 0.5]}


def test_printed_numbers_beside_measured_ones():
    rows = make_rows(datasets=["d"], measures=["macro_f1"])
    mean = rows.loc[rows["method"] == "A", "value"].mean()
    printed = pd.DataFrame(
        [{"dataset": "d", "method": "A", "measure": "macro_f1", "mean": mean, "std": 0.01}]
    )
    document = comparison_document(rows, printed=printed)
    assert document["comparisons"][0]["printed"][0]["cells"][0]["within"]
    assert document["verdict"][-1].endswith("deviations: 1 of 1 printed value.")


def test_a_document_from_parts():
    table = {"title": "T", "note": "", "columns": ["a"], "rows": [[np.float64(1.5)], [np.nan]]}
    document = document_from_parts("P", verdict=["So."], tables=[table])
    assert document["tables"][0]["rows"] == [[1.5], [None]]
    assert document["verdict"] == ["So."]
    assert "versions" in document["provenance"]


def test_average_ranks_are_those_of_the_statistics():
    rows = make_rows()
    lines = average_ranks(rows, METHODS)
    expected = statistics.average_ranks(rows)
    assert [line["measure"] for line in lines] == ["ranking_loss", "macro_f1", None]
    for line in lines[:-1]:
        assert line["average"] == expected.loc[line["measure"], METHODS].tolist()
    whole = statistics.average_ranks(rows, by=None)
    assert lines[-1]["average"] == whole.loc["all", METHODS].tolist()


def test_tests_are_those_of_the_statistics():
    rows = make_rows()
    found = differences(rows)
    assert [t["measure"] for t in found] == ["ranking_loss", "macro_f1"]
    expected = statistics.compare_methods(rows, "macro_f1")
    assert found[1]["p_value"] == expected.friedman.p_value
    assert found[1]["average_ranks"] == expected.average_ranks
    assert found[1]["critical_difference"] == expected.critical_difference
    assert found[1]["blocks"] == "dataset"
    assert found[1]["n_blocks"] == 3


def test_one_data_set_is_tested_by_its_splits():
    (found,) = differences(make_rows(datasets=["d"], measures=["macro_f1"]))
    assert (found["blocks"], found["n_blocks"]) == ("split", 3)
    assert any("share instances" in note for note in found["notes"])


@pytest.mark.parametrize("rows", [make_rows(methods=["A"]), make_rows(datasets=["d"], splits=1)])
def test_nothing_to_test(rows):
    assert differences(rows) == []


CELL = {"dataset": "d", "measure": "macro_f1"}
MEANS = pd.DataFrame(
    [CELL | {"method": m, "mean": v, "std": 0.5} for m, v in {"A": 1.0, "B": 2.0, "C": 3.0}.items()]
)


def test_distances_are_in_printed_deviations():
    printed = [
        CELL | {"method": "A", "mean": 1.5, "std": 0.25},
        CELL | {"method": "B", "mean": 2.75, "std": 0.25},
        CELL | {"method": "C", "mean": 3.0, "std": 0.0},
        CELL | {"method": "D", "mean": 3.0, "std": 0.0},
    ]
    (line,) = beside_printed(MEANS, printed, ["A", "B", "C", "E"])
    a, b, c, none = line["cells"]
    assert (a["distance"], a["within"]) == (2.0, True)
    assert (b["distance"], b["within"]) == (3.0, False)
    assert math.isnan(c["distance"])
    assert c["within"] is None
    assert none is None
    assert (a["printed"], a["measured"], line["title"]) == (1.5, 1.0, "macro-F1")


def test_missing_columns_are_named():
    with pytest.raises(ValueError, match="printed must have the columns .*; missing: std"):
        beside_printed(MEANS, [CELL | {"method": "A", "mean": 1.0}], ["A"])


def test_measures_that_are_not_in_the_default_set_are_kept():
    rows = make_rows(measures=("precision_at_7", "macro_f1"))
    part = comparison_part(rows)
    names = ["macro_f1", "precision_at_7"]
    assert [m["name"] for m in part["measures"]] == names
    assert {line["measure"] for line in part["means"]} == set(names)
    assert [line["measure"] for line in part["ranks"]][:2] == names
    assert [test["measure"] for test in part["tests"]] == names
