import limo
from limo.reproduce._benchmark_plans import (
    DATASETS,
    PAPER,
    QUICK,
    own_plan,
    paper_plan,
    threshold_plan,
)
from limo.reproduce._benchmark_tables import printed_benchmark


def test_the_plan_covers_the_printed_table():
    plan = paper_plan(DATASETS, 10)
    table = printed_benchmark()
    assert {data.name for data in plan.datasets} == set(table["dataset"])
    assert {method.name for method in plan.methods} == set(table["method"]) == set(PAPER)
    assert tuple(plan.measures) == tuple(limo.MEASURES)
    assert len(plan.jobs()) == 5 * 10 * 6


def test_stored_splits_are_used_where_there_are_some(tmp_path, monkeypatch):
    monkeypatch.setenv("LIMO_DATA", str(tmp_path))
    monkeypatch.setattr("limo.datasets._split.data_folders", lambda: [tmp_path])
    (tmp_path / "splits").mkdir()
    line = ",".join(map(str, range(502)))
    (tmp_path / "splits" / "CAL500.csv").write_text(f"{line}\n{line}\n")
    kinds = {data.name: data.splits.kind for data in paper_plan(QUICK, 2).datasets}
    assert kinds == {"CAL500": "stored", "medical": "random", "enron": "random"}


def test_other_thresholds_give_f1_only_and_our_methods_everything():
    assert set(threshold_plan(QUICK, 1).measures) == {"instance_f1", "macro_f1", "micro_f1"}
    assert [m.name for m in own_plan(QUICK, 1).methods] == ["LIMO, aimed", "logistic, tuned"]
    assert tuple(own_plan(QUICK, 1).measures) == tuple(limo.MEASURES)
