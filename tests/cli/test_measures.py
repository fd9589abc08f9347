import limo
from cli.running import printed_json, run


def test_as_a_table():
    found = run("measures").stdout
    line = next(line for line in found.splitlines() if "micro_auc" in line)
    ticks = ["-", "-", "limit", "yes", "yes"]
    losses = ["entries", "mean,", "pointwise,", "worst"]
    assert line.split() == ["micro_auc", "scores", "high", "-", *ticks, *losses]


def test_for_programs():
    found = printed_json(run("measures", "--json"))
    assert [m["name"] for m in found] == list(limo.MEASURES)
    assert found[0]["optimised_by"]["label-wise"] == "yes"
    assert found[2]["bounded_by"] == ["rows top", "rows worst"]


def test_the_further_measures_are_listed_on_request():
    found = printed_json(run("measures", "--all", "--json"))
    assert [m["name"] for m in found] == [*limo.MEASURES, *limo.MEASURES.further]
    assert "precision_at_5" in run("measures", "--all").stdout
