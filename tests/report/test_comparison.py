import json

import numpy as np
import pandas as pd
import pytest

from limo.report import comparison_document, comparison_part, document_from_parts
from report.rows import METHODS, make_rows


def test_a_comparison_is_plain_json():
    document = comparison_document(make_rows())
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    assert document["format"] == "limo-findings/1"
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


def test_higher_is_better_where_it_is():
    line = comparison_part(make_rows(datasets=["d"], measures=["macro_f1"]))["means"][0]
    means = [cell["mean"] for cell in line["cells"]]
    assert line["best"] == max(means)
    assert line["cells"][means.index(max(means))]["relative"] == 1


def test_equal_methods_are_all_best():
    rows = make_rows(datasets=["d"], measures=["macro_f1"]).assign(value=0.5)
    (line,) = comparison_part(rows)["means"]
    assert [cell["relative"] for cell in line["cells"]] == [1, 1, 1]
    assert all(cell["first"] for cell in line["cells"])


def test_what_failed_is_told():
    rows = make_rows()
    lost = (rows["method"] == "C") & (rows["dataset"] == "d")
    rows.loc[lost, ["value", "status", "error"]] = [np.nan, "failed", "out of memory"]
    part = comparison_part(rows)
    assert part["missing"] == [
        {"dataset": "d", "method": "C", "reason": "failed: out of memory", "values": 6}
    ]
    assert part["means"][0]["cells"][2] is None


def test_only_the_columns_that_matter_are_needed():
    rows = make_rows()[["dataset", "split", "method", "measure", "value"]]
    part = comparison_part(rows, title="T", note="N")
    assert (part["seconds"], part["seeds"], part["title"], part["note"]) == (None, None, "T", "N")
    assert comparison_part(make_rows())["seconds"][0] == {"dataset": "d", "cells": [0.5, 0.5, 0.5]}


def test_printed_numbers_stand_beside():
    rows = make_rows(datasets=["d"], measures=["macro_f1"])
    mean = rows.loc[rows["method"] == "A", "value"].mean()
    printed = pd.DataFrame(
        [{"dataset": "d", "method": "A", "measure": "macro_f1", "mean": mean, "std": 0.01}]
    )
    document = comparison_document(rows, printed=printed)
    assert document["comparisons"][0]["printed"][0]["cells"][0]["within"]
    assert document["verdict"][-1].endswith("deviations: 1 of 1 printed value.")


def test_a_page_holds_what_it_is_given():
    table = {"title": "T", "note": "", "columns": ["a"], "rows": [[np.float64(1.5)], [np.nan]]}
    document = document_from_parts("P", verdict=["So."], tables=[table])
    assert document["tables"][0]["rows"] == [[1.5], [None]]
    assert document["verdict"] == ["So."]
    assert "versions" in document["provenance"]
