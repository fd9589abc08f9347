import importlib
import json
import os

import pandas as pd
import pytest

import limo
from limo.experiment import run
from limo.reproduce import benchmark, draw_benchmark
from limo.reproduce._benchmark_plans import LIMOS, PAPER, paper_plan, threshold_plan
from limo.reproduce._benchmark_tables import benchmark_cells, ranks, rows_as_printed
from reproduce.fabricated import benchmark_rows

# the package's function of the same name hides the module
MODULE = importlib.import_module("limo.reproduce._benchmark")
REPRODUCTION = importlib.import_module("limo.reproduce._reproduction")


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    return draw_benchmark(tmp_path_factory.mktemp("benchmark"), benchmark_rows())


@pytest.mark.slow
def test_the_findings_count_what_agrees(found):
    scores, labels, everything = found.findings[:3]
    assert scores.endswith(
        "measures of scores: 42 of 42 cells are within two printed standard deviations."
    )
    assert "24 with the thresholds behind the printed values" in labels
    assert "0 have none" in everything


@pytest.mark.slow
def test_the_conclusions_are_drawn_from_our_ranks(found):
    same, training, moved = found.findings[3:6]
    assert "on macro-F1: LIMO-inst; on macro-AUC: LIMO-inst." in same
    assert same.startswith("Best average rank (ours, thresholds as printed)")
    assert training.startswith("Best average rank (ours, thresholds from training)")
    assert "(LIMO-inst)" in moved
    assert (
        # macro-F1, where thresholds from training halve the paper's best
        "LIMO tuned for each measure beats all six methods of the paper in 2 of 22"
        in found.findings[-1]
    )


@pytest.mark.slow
def test_the_document_is_fit_for_a_report(found):
    json.dumps(found.document, allow_nan=False)
    six, eight = found.document["comparisons"]
    assert six["methods"] == list(PAPER)
    assert len(eight["methods"]) == 8
    assert six["printed"] is not None
    assert "<html" in limo.report.render(found.document)


@pytest.mark.slow
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
def only_findings(monkeypatch):
    """Write nothing, and return the findings."""
    monkeypatch.setattr(MODULE, "write_page", lambda *args, **parts: parts["findings"])
    monkeypatch.setattr(MODULE, "comparison_part", lambda rows, **more: {})


@pytest.mark.usefixtures("only_findings")
def test_missing_values_are_reported():
    rows = benchmark_rows(("CAL500",), extended=False)
    lost = rows["method"].eq("GFM") & rows["split"].eq(1)
    rows.loc[lost, ["value", "status", "error"]] = (
        float("nan"),
        "failed",
        "MemoryError: too large",
    )
    findings = draw_benchmark("nowhere", rows)
    assert findings[-1] == (
        "11 values are missing and left out. The first: GFM on CAL500, split 1: "
        "failed: MemoryError: too large."
    )


@pytest.mark.slow
@pytest.mark.usefixtures("only_findings")
def test_plans_run_with_the_data_folder_given(tmp_path, monkeypatch):
    monkeypatch.delenv("LIMO_DATA", raising=False)
    seen = []
    monkeypatch.setattr(MODULE, "load", lambda name, progress: seen.append(name))

    def fake(plan, store, *, n_jobs, progress):
        assert os.environ["LIMO_DATA"] == str(tmp_path / "data")
        rows = benchmark_rows(("CAL500", "medical", "enron"))
        return rows[rows["method"].isin([method.name for method in plan.methods])]

    monkeypatch.setattr(REPRODUCTION, "run", fake)
    findings = benchmark(tmp_path / "out", data=tmp_path / "data", quick=True)
    assert seen == ["CAL500", "medical", "enron"]
    assert "63 of 63" in findings[0]
    assert "LIMO_DATA" not in os.environ
    short = benchmark(tmp_path / "out", data=tmp_path / "data", quick=True, extended=False)
    assert len(short) == len(findings) - 1


def test_without_data_the_error_says_what_to_do(tmp_path, monkeypatch):
    def refuse(name, progress):
        return limo.datasets.load(name, download=False)

    monkeypatch.setattr(MODULE, "load", refuse)
    monkeypatch.setattr("pooch.os_cache", lambda name: tmp_path / "cache")
    with pytest.raises(
        limo.datasets.DataError, match="CAL500 is not available locally.*Put(.|\n)*set LIMO_DATA"
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
    plans = (paper_plan(sets, 1), threshold_plan(sets, 1))
    rows = pd.concat([run(plan, tmp_path / "rows.sqlite", n_jobs=2) for plan in plans])
    assert set(rows["status"]) == {"ok"}
    table = benchmark_cells(rows)
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
