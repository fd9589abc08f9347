import importlib
import json
import os

import pandas as pd
import pytest

import limo
from limo.experiment import run
from limo.reproduce import benchmark, draw_benchmark
from limo.reproduce._benchmark_plans import LIMOS, PAPER, cut_plan, paper_plan
from limo.reproduce._benchmark_tables import cells, ranks, rows_as_printed
from reproduce.fabricated import benchmark_rows

# the package's function of the same name hides the module
ROOM = importlib.import_module("limo.reproduce._benchmark")


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    return draw_benchmark(tmp_path_factory.mktemp("benchmark"), benchmark_rows())


def test_the_findings_count_what_agrees(found):
    scores, labels, everything = found.findings[:3]
    assert scores.endswith(
        "measures of scores: 42 of 42 cells lie within two printed standard deviations."
    )
    assert "24 under the cut behind the printed value" in labels
    assert "0 none" in everything


def test_the_conclusions_are_drawn_from_our_ranks(found):
    same, training, moved = found.findings[3:6]
    assert "first on macro-F1 LIMO-inst, on macro-AUC LIMO-inst" in same
    assert same.startswith("Average ranks (ours, cut as the printed)")
    assert training.startswith("Average ranks (ours, cuts from training)")
    assert "(LIMO-inst)" in moved
    assert (
        # macro-F1, where training cuts halve the paper's best
        "LIMO aimed at each measure is ahead of all six methods of the paper in 2 of 22"
        in found.findings[-1]
    )


def test_the_document_is_fit_for_a_report(found):
    json.dumps(found.document, allow_nan=False)
    six, eight = found.document["comparisons"]
    assert six["methods"] == list(PAPER)
    assert len(eight["methods"]) == 8
    assert six["printed"] is not None
    assert "<html" in limo.report.render(found.document)


def test_every_format_is_written(found):
    names = {path.name for path in found.paths}
    for stem in ("figure4", "ranks_extended"):
        assert {f"{stem}.svg", f"{stem}.png"} <= names
    for stem in (
        "benchmark",
        "differences",
        "agreement",
        "macro_f1_both_ways",
        "average_ranks",
        "extended",
    ):
        assert {f"{stem}.csv", f"{stem}.tex"} <= names


@pytest.fixture
def said(monkeypatch):
    """Draw nothing: only findings are asked for."""
    monkeypatch.setattr(ROOM, "write", lambda *args, **parts: parts["findings"])
    monkeypatch.setattr(ROOM, "comparison_part", lambda rows, **more: {})


@pytest.mark.usefixtures("said")
def test_what_is_missing_is_said():
    rows = benchmark_rows(("CAL500",), extended=False)
    lost = rows["method"].eq("GFM") & rows["split"].eq(1)
    rows.loc[lost, ["value", "status", "error"]] = (
        float("nan"),
        "failed",
        "MemoryError: too large",
    )
    findings = draw_benchmark("nowhere", rows)
    assert findings[-1] == (
        "11 values are missing and left out, the first of GFM on CAL500, split 1: "
        "failed: MemoryError: too large."
    )


@pytest.mark.usefixtures("said")
def test_plans_run_with_the_data_folder_given(tmp_path, monkeypatch):
    monkeypatch.delenv("LIMO_DATA", raising=False)
    seen = []
    monkeypatch.setattr(ROOM, "load", lambda name, progress: seen.append(name))

    def fake(plan, store, *, n_jobs, progress):
        assert os.environ["LIMO_DATA"] == str(tmp_path / "data")
        rows = benchmark_rows(("CAL500", "medical", "enron"))
        return rows[rows["method"].isin([method.name for method in plan.methods])]

    monkeypatch.setattr(ROOM, "run", fake)
    findings = benchmark(tmp_path / "out", data=tmp_path / "data", quick=True)
    assert seen == ["CAL500", "medical", "enron"]
    assert "63 of 63" in findings[0]
    assert "LIMO_DATA" not in os.environ
    short = benchmark(tmp_path / "out", data=tmp_path / "data", quick=True, extended=False)
    assert len(short) == len(findings) - 1


def test_without_data_it_is_said_what_to_do(tmp_path, monkeypatch):
    def refuse(name, progress):
        return limo.datasets.load(name, download=False)

    monkeypatch.setattr(ROOM, "load", refuse)
    monkeypatch.setattr("pooch.os_cache", lambda name: tmp_path / "cache")
    with pytest.raises(
        limo.datasets.DataError, match="CAL500 is not at hand.*Put(.|\n)*set LIMO_DATA"
    ):
        benchmark(tmp_path, data=tmp_path / "none", quick=True)
    assert not (tmp_path / "rows.sqlite").exists()


@pytest.mark.slow
def test_the_papers_conclusion_holds_on_our_own_rows(tmp_path):
    """One split of the three smaller sets: LIMO-inst best on macro-F1 and macro-AUC, and so on."""
    sets = ("CAL500", "medical", "enron")
    try:
        for name in sets:
            limo.datasets.load(name, download=False)
    except limo.datasets.DataError as error:
        pytest.skip(str(error).partition("\n")[0])
    plans = (paper_plan(sets, 1), cut_plan(sets, 1))
    rows = pd.concat([run(plan, tmp_path / "rows.sqlite", n_jobs=2) for plan in plans])
    assert set(rows["status"]) == {"ok"}
    table = cells(rows)
    limos = table[table["method"].isin(LIMOS)]
    of_scores = limos["measure"].map(lambda name: limo.MEASURES[name].needs == "scores")
    assert limos.loc[of_scores, "difference"].abs().median() < 1.5
    for version in (rows, rows_as_printed(rows)):
        found = ranks(version, PAPER)
        assert found.loc["macro_auc"].idxmin() == "LIMO-inst"
        assert found.loc["macro_f1", "LIMO-inst"] <= 2
        others = found.drop(index=["macro_f1", "macro_auc"]).mean()
        assert others["LIMO-label"] < others[["BR", "ML-kNN", "GFM"]].min()
        assert others["LIMO-label"] < others["LIMO-inst"]
        assert found.mean().idxmin() == "LIMO"
