import pytest

from limo.experiment import diagram_layout
from limo.report._drawings import (
    Scale,
    curves,
    diagram,
    dumbbells,
    histogram,
    mark,
    named_dots,
    scatter,
    shares,
    skills,
    splits,
    strip,
    ticks,
)


def test_bars_stand_where_their_bins_are():
    drawn = histogram({"low": -1.0, "width": 0.5, "counts": [2, 0, 1, 4]}, height=100)
    places = [(b["x"], b["w"], b["h"], b["sign"]) for b in drawn["bars"]]
    assert places == [(0, 25, 50, "bad"), (50, 25, 25, "good"), (75, 25, 100, "good")]
    assert drawn["zero"] == 50


def test_lines_of_curves():
    found = {
        "thresholds": [0, 1, 200],
        "above": [1, 0.5, 0],
        "macro_f1": [0, 1, 0.5],
        "instance_f1": [0, 0, 0],
        "micro_f1": [1, 1, 1],
        "peaks": {
            n: {"threshold": 1, "above": 0.5, "value": 1}
            for n in ("macro_f1", "instance_f1", "micro_f1")
        },
    }
    drawn = curves(found, height=100)
    assert drawn["lines"][0]["path"] == "M0 100L50 0L100 50"
    assert drawn["lines"][0]["peak"] == {"x": 50, "y": 0}
    assert [line["name"] for line in drawn["lines"]] == ["macro_f1", "instance_f1", "micro_f1"]
    ends = [(t["text"], t["threshold"]) for t in drawn["x_ticks"]]
    assert (ends[0], ends[2], ends[-1]) == (("100%", "0"), ("50%", "1"), ("0%", "200"))
    alone = curves({**found, "peaks": {"micro_f1": found["peaks"]["micro_f1"]}}, height=100)
    assert alone["lines"] == drawn["lines"][2:]


def cell(value, skill, interval=None):
    return {"value": value, "skill": skill, "skill_interval": interval}


def test_skill_goes_from_blind_to_best():
    measures = [{"name": "a", "title": "A"}, {"name": "b", "title": "B"}]
    one = {"name": "m", "measures": {"a": cell(3, 0.5, [0.25, 0.75])}}
    drawn = skills(measures, [one])
    (dot,) = drawn["rows"][0]["marks"]
    assert (drawn["zero"], dot["x"], dot["x1"], dot["x2"]) == (0, 50, 25, 75)
    assert drawn["rows"][0]["value"] == 3
    assert drawn["rows"][1]["marks"] == []
    worse = {"name": "n", "measures": {"a": cell(3, -1.0), "b": cell(1, None)}}
    drawn = skills(measures, [one, worse])
    # from -25 % to 100 %; what is worse is an arrow at the edge, and named
    assert [(m["x"], m["beyond"]) for m in drawn["rows"][0]["marks"]] == [(60, False), (0, True)]
    assert drawn["zero"] == 20
    assert drawn["beyond"] == [{"title": "A", "low": -1.0, "high": -1.0}]
    assert drawn["rows"][1]["marks"] == []
    assert len(skills(measures, [one] * 20)["rows"][0]["marks"]) == 6


def test_dumbbells_join_what_is_known():
    lines = [
        {"title": "A", "now": 0.25, "held_out": 0.5, "limit": 0.75},
        {"title": "B", "now": None, "held_out": None, "limit": None},
    ]
    first, second = dumbbells(lines)["rows"]
    assert first["places"] == {"now": 25, "held_out": 50, "limit": 75}
    assert (first["x1"], first["x2"]) == (25, 75)
    assert second["places"] == {}


def test_named_dots_start_with_the_lowest_of_the_first_model():
    drawn = named_dots(["a", "b", "c", "a"], [[0.75, None, 0.5, 1.0], [0.0, None, 1.0, None]])
    places = [(r["title"], [m["x"] for m in r["marks"]]) for r in drawn["rows"]]
    assert places == [("c", [50, 100]), ("a", [75, 0]), ("a", [100])]
    assert [t["text"] for t in drawn["ticks"]] == ["0%", "50%", "100%"]
    upper = named_dots(["a"], [[0.75]])
    assert (upper["rows"][0]["marks"][0]["x"], upper["ticks"][0]["text"]) == (50, "50%")


def test_shares_fill_the_width():
    bars = shares({"counts": [0, 2, 0, 4]}, height=100)["bars"]
    assert [(b["x"], b["h"]) for b in bars] == [(25, 50), (75, 100)]


def test_a_dot_for_each_label_that_occurs():
    drawn = scatter([100, 0, 10, 1], [1.0, 0.5, 0.0, None], list("abcd"), height=100)
    assert [(d["name"], d["y"]) for d in drawn["dots"]] == [("a", 0), ("c", 100)]
    assert drawn["dots"][0]["x"] == 100
    many = scatter([10] * 400, [0.5] * 400, ["x"] * 400)
    assert many["dots"] == []
    assert many["path"].count("M") == 400


def test_better_splits_are_further_left():
    line = {"values": [[0.5, 0.7], [0.3, None], []], "cells": [{"mean": 0.6}, {"mean": 0.3}, None]}
    high = splits(line, list("abc"), "high")["methods"]
    assert [(m["name"], m["dots"], m["x"]) for m in high] == [("a", [50, 0], 25), ("b", [100], 100)]
    assert splits(line, list("abc"), "low")["methods"][0]["dots"] == [50, 100]


def test_the_first_36_marks_all_differ():
    assert len({(m["colour"], m["shape"]) for m in map(mark, range(36))}) == 36


def test_marks_have_levels_of_their_own():
    drawn = strip({"a": 1.0, "b": None, "c": 3.0}, ["a", "b", "c"], 1, 3)
    assert [(m["name"], m["x"]) for m in drawn["marks"]] == [("a", 0), ("c", 100)]
    assert len({m["y"] for m in drawn["marks"]}) == 2


def test_diagram():
    ranks = {"a": 1.0, "b": 2.0, "c": 3.0}
    drawn = diagram(diagram_layout(ranks, (("a", "b"), ("b", "c")), 1.0), ["c", "b", "a"])
    assert [(b["x1"], b["x2"]) for b in drawn["bars"]] == [(0, 50), (50, 100)]
    assert drawn["bars"][0]["y"] != drawn["bars"][1]["y"]
    assert [(m["name"], m["x"], m["left"]) for m in drawn["names"]] == [
        ("a", 0, True),
        ("b", 50, True),
        ("c", 100, False),
    ]
    assert drawn["names"][0]["colour"] == mark(2)["colour"]


def test_scale():
    x = Scale(-1.0, 3.0)
    assert [x(v) for v in (-1, 0, 3)] == [0, 25, 100]
    assert [x(v) for v in (-9, 9)] == [0, 100]
    assert Scale(2, 2)(2) == 50
    assert Scale(1.0, 0.0, 150)(1.0) == 0


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-5.3, 11.2), (-1e-7, 3e-8), (1e6, 1.5e6)])
def test_ticks_are_few_round_and_inside(low, high):
    found = ticks(low, high)
    assert 2 <= len(found) <= 5
    assert all(low <= t <= high for t in found)
    if low < 0 < high:
        assert 0 in found


def test_ticks_of_an_empty_range():
    assert ticks(2.0, 2.0) == [2.0]
