from limo.report._drawings import curves, diagram, histogram, mark, strip


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


def test_no_two_of_36_marks_are_alike():
    assert len({(m["colour"], m["shape"]) for m in map(mark, range(36))}) == 36


def test_marks_have_levels_of_their_own():
    drawn = strip({"a": 1.0, "b": None, "c": 3.0}, ["a", "b", "c"], 1, 3)
    assert [(m["name"], m["x"]) for m in drawn["marks"]] == [("a", 0), ("c", 100)]
    assert len({m["y"] for m in drawn["marks"]}) == 2


def test_diagram():
    found = {
        "average_ranks": {"a": 1.0, "b": 2.0, "c": 3.0},
        "critical_difference": 1.0,
        "groups": [["a", "b"], ["b", "c"]],
    }
    drawn = diagram(found, ["c", "b", "a"])
    assert [(b["x1"], b["x2"]) for b in drawn["bars"]] == [(0, 50), (50, 100)]
    assert drawn["bars"][0]["y"] != drawn["bars"][1]["y"]
    assert [(m["name"], m["x"], m["left"]) for m in drawn["lines"]] == [
        ("a", 0, True),
        ("b", 50, True),
        ("c", 100, False),
    ]
    assert drawn["lines"][0]["colour"] == mark(2)["colour"]
