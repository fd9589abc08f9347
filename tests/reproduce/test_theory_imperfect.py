import pandas as pd
import pytest

from limo.reproduce._theory_imperfect import data_parts, map_parts, violation_parts
from limo.reproduce._theory_limits import violation_facts
from limo.reproduce._theory_worlds import map_facts


def test_violations_in_a_sentence_a_table_and_a_picture():
    parts = violation_parts(violation_facts(2))
    assert "only if margins of labels are violated" in parts.findings[0]
    assert len(parts.tables[0].shown) == 4
    assert parts.pictures[0].draw().axes


def test_the_map_names_what_disagrees_with_the_literature():
    cells = map_facts(6)
    cells.loc[cells["measure"].eq("macro_auc"), "with_regret"] = 1
    finding = map_parts(cells).findings[0]
    assert "disagree with the literature: " in finding
    assert "columns mean for macro_auc" in finding


@pytest.mark.slow
def test_the_map_as_a_table():
    parts = map_parts(map_facts(90))
    assert "agree with the literature" in parts.findings[0]
    shown = parts.tables[0].shown.set_index("loss")
    assert shown.loc["rows pointwise, pairs", "ranking loss"] == "0 (proven)"
    assert shown.loc["rows mean", "ranking loss"].startswith("✗")
    assert shown.loc["rows mean", "macro-AUC"] == ""
    assert parts.pictures[0].draw().axes


@pytest.mark.parametrize(("asked", "why"), [(True, "LIMO_DATA names"), (False, "not asked for")])
def test_without_data_the_part_is_skipped_and_says_so(asked, why):
    parts = data_parts([], [], asked=asked)
    assert parts.findings[0].startswith("Real data: skipped, as ")
    assert why in parts.findings[0]
    assert not parts.tables


def models():
    names = ["ranking_loss", "one_error", "coverage", "average_precision", "instance_f1"]
    more = ["instance_auc", "macro_auc", "macro_f1", "micro_auc", "micro_f1"]
    ends = {
        f"{end}_{name}": v for end, v in (("lowest", 0), ("highest", 1)) for name in names + more
    }
    rows = [
        {"data": "one", "loss": "rows mean", "path": path, "alpha": 1e-2, "instances": 9, **ends,
         **dict.fromkeys(names, x), **dict.fromkeys(more, 1 - x),
         **{f"fixed_{name}": 0.5 for name in names}}
        for path in ("alpha", "training") for x in (0.2, 0.4)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def bands(high):
    return pd.DataFrame(
        [
            {"data": "one", "measure": name, "end": end, "ranking_loss": x, "value": value}
            for name in ("one_error", "coverage", "average_precision", "instance_f1")
            for end, value in (("lowest", 0.0), ("highest", high))
            for x in (0.0, 1.0)
        ]
    )


def test_models_within_and_outside_their_intervals():
    parts = data_parts([models()], [bands(1.0)], asked=True)
    assert "4 models of 1 data sets; 0 of their measures are outside" in parts.findings[0]
    assert parts.findings[1].startswith("Redundancy: instance-AUC is 1 minus ranking loss.")
    assert [table.name for table in parts.tables] == ["fixed", "redundancy"]
    assert all(picture.draw().axes for picture in parts.pictures)
    outside = data_parts([models()], [bands(0.3)], asked=True)
    assert "8 of their measures are outside" in outside.findings[0]
