import importlib
import json

import pytest

import limo
from limo.reproduce import draw_synthetic, synthetic
from reproduce.fabricated import synthetic_rows

# the package's function of the same name hides the module
ROOM = importlib.import_module("limo.reproduce._synthetic")


@pytest.fixture
def said(monkeypatch):
    """Draw nothing: only findings are asked for."""
    monkeypatch.setattr(ROOM, "write", lambda *args, **parts: parts["findings"])
    monkeypatch.setattr(ROOM, "comparison_part", lambda rows, **more: {})


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    return draw_synthetic(tmp_path_factory.mktemp("synthetic"), synthetic_rows())


def test_values_as_printed_agree_everywhere(found):
    assert found.findings[0] == (
        "Measures of scores: 21 of 21 cells lie within 3 standard deviations of the printed."
    )
    assert "at most 0.000" in found.findings[1]
    for name in ("ranking", "classification"):
        assert found.tables[name]["difference"].abs().max() == pytest.approx(0, abs=1e-9)


def test_the_document_is_fit_for_a_report(found):
    json.dumps(found.document, allow_nan=False)
    scores, labels = found.document["comparisons"]
    assert scores["methods"] == ["LIMO-inst", "LIMO-label", "LIMO"]
    assert scores["splits"] == 4
    assert len(labels["methods"]) == 6
    assert found.document["verdict"] == list(found.findings)
    assert "<html" in limo.report.render(found.document)


def test_every_format_is_written(found):
    names = {path.name for path in found.paths}
    wanted = {f"figure{k}.{kind}" for k in (1, 2, 3) for kind in ("svg", "png")}
    wanted |= {f"{t}.{kind}" for t in ("ranking", "classification") for kind in ("csv", "tex")}
    assert names == wanted | {"synthetic.md"}
    page = found.paths[0].read_text()
    assert "| ranking loss      | LIMO-inst  | 0.027   | 0.0270 ± 0.0007 | +0.0" in page


@pytest.mark.usefixtures("said")
def test_cells_outside_are_named():
    rows = synthetic_rows()
    off = rows["method"].eq("LIMO") & rows["measure"].eq("micro_auc")
    rows.loc[off, "value"] -= 0.01  # the deviation there is .0028
    findings = draw_synthetic("nowhere", rows)
    assert "20 of 21" in findings[0]
    assert findings[0].endswith("; outside: LIMO, micro-AUC -3.6.")


@pytest.mark.usefixtures("said")
def test_both_plans_run_into_one_store(tmp_path, monkeypatch):
    asked = []

    def run(plan, store, *, n_jobs, progress):
        asked.append((len(plan.jobs()), store, n_jobs, progress))
        rows = synthetic_rows()
        return rows[rows["method"].isin([method.name for method in plan.methods])]

    monkeypatch.setattr(ROOM, "run", run)
    findings = synthetic(tmp_path / "new", n_experiments=2, n_splits=3, n_jobs=1)
    assert [jobs for jobs, *_ in asked] == [2 * 3 * 3, 2 * 3 * 6]
    assert {store for _, store, *_ in asked} == {tmp_path / "new" / "rows.sqlite"}
    assert "21 of 21" in findings[0]


@pytest.mark.slow
def test_a_small_experiment_really_comes_near_the_printed_tables(tmp_path):
    told = []
    found = synthetic(tmp_path, n_experiments=2, n_splits=2, n_jobs=2, progress=told.append)
    assert told[-1].left == 0
    outside = found.tables["ranking"].query("abs(difference) > 4")
    assert len(outside) <= 2
    cuts = found.tables["classification"]
    assert (cuts["ours"] - cuts["printed"]).abs().max() < 0.04
    store = tmp_path / "rows.sqlite"
    before = store.stat().st_mtime_ns
    again = synthetic(tmp_path, n_experiments=2, n_splits=2, n_jobs=2)
    assert store.stat().st_mtime_ns == before
    assert again.tables["ranking"].equals(found.tables["ranking"])
    rows = limo.experiment.read_rows(store)
    assert set(rows["status"]) == {"ok"}
