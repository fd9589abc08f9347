import pytest

from limo.experiment import diagram_layout
from limo.report._drawings import Scale, curves, diagram, histogram, mark, strip, ticks


def test_bars_stand_where_their_bins_are():
    drawn = histogram({"low": -1.0, "width": 0.5, "counts": [2, 0, 1, 4]}, height=100)
    places = [(b["x"], b["w"], b["h"], b["sign"]) for b in drawn["bars"]]
    assert places == [(0, 25, 50, "bad"), (50, 25, 25, "good"), (75, 25, 100, "good")]
    assert drawn["zero"] == 50


def test_lines_of_curves():
    found = {
        "thresholds": [0, 1, 2],
        "macro_f1": [0, 1, 0.5],
        "instance_f1": [0, 0, 0],
        "micro_f1": [1, 1, 1],
        "peaks": {n: {"threshold": 1, "value": 1} for n in ("macro_f1", "instance_f1", "micro_f1")},
    }
    drawn = curves(found, height=100)
    assert drawn["lines"][0]["path"] == "M0 100L50 0L100 50"
    assert drawn["lines"][0]["peak"] == {"x": 50, "y": 0}
    assert [line["name"] for line in drawn["lines"]] == ["macro_f1", "instance_f1", "micro_f1"]
    alone = curves({**found, "peaks": {"micro_f1": found["peaks"]["micro_f1"]}}, height=100)
    assert alone["lines"] == drawn["lines"][2:]


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
