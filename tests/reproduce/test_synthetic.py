import importlib
import json

import numpy as np
import pandas as pd
import pytest

import limo
from limo.reproduce import draw_synthetic, synthetic
from limo.reproduce._synthetic import (
    beside_printed,
    classification_plan,
    experiment_means,
    printed_synthetic,
    ranking_plan,
    relative,
)
from reproduce.fabricated import synthetic_rows

# the package's function of the same name hides the module
MODULE = importlib.import_module("limo.reproduce._synthetic")
REPRODUCTION = importlib.import_module("limo.reproduce._reproduction")


@pytest.fixture
def only_findings(monkeypatch):
    """Write nothing, and return the findings."""
    monkeypatch.setattr(MODULE, "write_page", lambda *args, **parts: parts["findings"])
    monkeypatch.setattr(MODULE, "comparison_part", lambda rows, **more: {})


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    return draw_synthetic(tmp_path_factory.mktemp("synthetic"), synthetic_rows())


@pytest.mark.slow
def test_values_as_printed_agree_everywhere(found):
    assert found.findings[0] == (
        "Measures of scores: 21 of 21 cells are within 3 standard deviations of the printed values."
    )
    assert "by at most 0.000" in found.findings[1]
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


@pytest.mark.slow
def test_every_format_is_written(found):
    names = {path.name for path in found.paths}
    wanted = {f"figure{k}.{kind}" for k in (1, 2, 3) for kind in ("svg", "png")}
    wanted |= {f"{t}.{kind}" for t in ("ranking", "classification") for kind in ("csv", "tex")}
    assert names == wanted | {"synthetic.md"}
    page = found.paths[0].read_text()
    assert "| ranking loss      | LIMO-inst  | 0.027   | 0.0270 ± 0.0007 | +0.0" in page


@pytest.mark.usefixtures("only_findings")
def test_cells_outside_are_named():
    rows = synthetic_rows()
    off = rows["method"].eq("LIMO") & rows["measure"].eq("micro_auc")
    rows.loc[off, "value"] -= 0.01  # the deviation there is .0028
    findings = draw_synthetic("nowhere", rows)
    assert "20 of 21" in findings[0]
    assert findings[0].endswith("; outside: LIMO, micro-AUC -3.6.")


@pytest.mark.usefixtures("only_findings")
def test_both_plans_run_into_one_store(tmp_path, monkeypatch):
    asked = []

    def run(plan, store, *, n_jobs, progress):
        asked.append((len(plan.jobs()), store, n_jobs, progress))
        rows = synthetic_rows()
        return rows[rows["method"].isin([method.name for method in plan.methods])]

    monkeypatch.setattr(REPRODUCTION, "run", run)
    findings = synthetic(tmp_path / "new", n_experiments=2, n_splits=3, n_jobs=1)
    assert [jobs for jobs, *_ in asked] == [2 * 3 * 3, 2 * 3 * 6]
    assert {store for _, store, *_ in asked} == {tmp_path / "new" / "rows.sqlite"}
    assert "21 of 21" in findings[0]


@pytest.mark.slow
def test_a_small_experiment_really_comes_near_the_printed_tables(tmp_path):
    reports = []
    found = synthetic(tmp_path, n_experiments=2, n_splits=2, n_jobs=2, progress=reports.append)
    assert reports[-1].left == 0
    outside = found.tables["ranking"].query("abs(difference) > 4")
    assert len(outside) <= 2
    labels = found.tables["classification"]
    assert (labels["ours"] - labels["printed"]).abs().max() < 0.04
    store = tmp_path / "rows.sqlite"
    before = store.stat().st_mtime_ns
    again = synthetic(tmp_path, n_experiments=2, n_splits=2, n_jobs=2)
    assert store.stat().st_mtime_ns == before
    assert again.tables["ranking"].equals(found.tables["ranking"])
    rows = limo.experiment.read_rows(store)
    assert set(rows["status"]) == {"ok"}


def test_rescaling_the_printed_values_gives_the_printed_relative_ones():
    printed = printed_synthetic()
    found = relative(printed, "value")
    gap = printed.groupby("measure")["value"].transform(lambda v: v.max() - v.min())
    # values are printed to three digits: a relative one can be off by what that hides
    hidden = 0.0005 * 2 / gap.where(gap > 0)
    assert ((found - printed["relative"]).abs() <= hidden.fillna(1.0) + 0.005).all()


def test_equal_values_are_all_best():
    values = pd.DataFrame({"measure": ["one_error"] * 2, "value": [0.5, 0.5]})
    assert relative(values, "value").tolist() == [1, 1]


def test_experiments_are_averaged_over_splits_first():
    rows = pd.DataFrame(
        [
            {"dataset": d, "split": k, "method": "LIMO", "measure": "one_error", "value": v}
            for d, values in {"sample 0": (0.0, 0.2), "sample 1": (0.2, 0.4)}.items()
            for k, v in enumerate(values)
        ]
    )
    found = experiment_means(rows).iloc[0]
    assert found["ours"] == pytest.approx(0.2)
    assert found["our_sd"] == pytest.approx(np.std([0.1, 0.3], ddof=1))
    assert found["experiments"] == 2


def test_differences_count_the_given_deviations_or_our_own():
    printed = printed_synthetic().iloc[:3]
    found = experiment_means(synthetic_rows(shift=0.01))
    spread = printed[["measure", "method"]].assign(sd=0.005)
    table = beside_printed(found, printed, spread)
    assert table["difference"].tolist() == pytest.approx([2.0] * 3)
    own = beside_printed(found, printed)
    assert own["difference"].tolist() == pytest.approx([0.01 / np.std([0, 0.001], ddof=1)] * 3)
    assert table["relative"].tolist() == pytest.approx([0.0, 1.0, 1.0])


def test_the_plans_cover_both_printed_tables_exactly():
    wanted = set(map(tuple, printed_synthetic()[["measure", "method"]].to_numpy()))
    planned = set()
    for plan in (ranking_plan(1, 1), classification_plan(1, 1)):
        planned |= {(measure, method.name) for measure in plan.measures for method in plan.methods}
    assert planned == wanted


def test_an_experiment_is_a_sample_split_in_half_again_and_again():
    plan = ranking_plan(3, 4)
    assert len(plan.jobs()) == 3 * 4 * 3
    data = plan.datasets[1].load()
    assert data.X.shape == (2000, 2)
    train, test = plan.jobs()[0].split.instances(data)
    assert len(train) == len(test) == 1000
    assert (data.X != plan.datasets[2].load().X).any()


def test_instances_with_every_label_are_left_out_as_in_print():
    assert not ranking_plan(1, 1).conventions.full_rows_in_average_precision


def test_the_thresholds_behind_the_printed_columns():
    plan = classification_plan(1, 1)
    per_label, per_instance = (m.thresholds(plan.measures) for m in plan.methods[:2])
    assert str(per_label["micro_f1"]).startswith("GlobalThreshold(target='micro_f1')")
    assert str(per_label["macro_f1"]).startswith("LabelThreshold(")
    assert all("hamming_loss" in str(setting) for setting in per_instance.values())
    assert all("fitted on training scores" in str(setting) for setting in per_label.values())
