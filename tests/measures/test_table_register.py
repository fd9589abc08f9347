"""A registered measure is one record, and is then known everywhere."""

import json
from dataclasses import replace

import numpy as np
import pytest

import limo
from cases import cases
from cli.running import printed_json, run
from limo._cli.options import complete_measure, known_measure
from limo.measures import ENTRIES, ROWS, Measure, Optimised, register, unregister
from limo.measures._table import PAPER_MEASURES
from limo.reproduce._benchmark_plans import own_plan, paper_plan
from limo.reproduce._benchmark_tables import printed_ranks
from limo.reproduce._pictures import plot_table2
from limo.reproduce._theory import _table2
from limo.reproduce._theory_facts import table2_facts
from naive import thresholds as naive


def precision_at_one(profile, conventions):
    """1 if a relevant item alone has the highest score of the row, else 0."""
    ahead = profile.first(profile.above + profile.tied)
    return np.where(np.isnan(ahead), np.nan, ahead == 0)


def zero_one(counts, conventions):
    """1 if any item of the row is wrong, else 0."""
    return (counts.wrong > 0).astype(float)


def blind_zero_one(relevant, n_items, conventions):
    """Every set of items is as likely as any other."""
    return np.full(relevant.shape, 1 - 2.0**-n_items)


TICKS = {"label-wise": Optimised.YES, "double": Optimised.YES, "entry-wise": Optimised.YES}
RANKING = Measure(
    "precision_at_top", "P@1", precision_at_one, ROWS, "scores", "high", optimised_by=TICKS,
    meaning="Whether the top of the ranking is relevant.", formula="[s₁ is relevant]",
)  # fmt: skip
LABELS = Measure(
    "instance_zero_one", "subset 0/1 loss", zero_one, ROWS, "labels", "low", optimised_by=TICKS,
    meaning="Whether any label of an instance is wrong.", formula="[#{wrong} > 0]",
    blind=blind_zero_one,
)  # fmt: skip
NAMES = {RANKING.name, LABELS.name}

Y = np.array([[1, 0, 0], [0, 1, 1], [0, 1, 0], [1, 1, 0]])
S = np.array([[0.9, 0.1, 0.3], [0.8, 0.2, 0.1], [0.3, 0.4, 0.5], [0.7, 0.6, 0.1]])
P = (S > 0.5).astype(int)


@pytest.fixture(autouse=True)
def registered():
    for measure in (RANKING, LABELS):
        assert register(measure) is measure
    yield
    for name in NAMES:
        unregister(name)
        assert name not in limo.MEASURES
        assert name not in limo.thresholds.TARGETS
        assert name not in limo.evaluate(Y, S, P)
        assert complete_measure(name) == []


def top_is_relevant(y, s):
    top = [a for a, b in zip(y, s, strict=True) if b == max(s)]
    return float(all(top)) if any(y) else None


def mean(values):
    defined = [value for value in values if value is not None]
    return np.mean(defined) if defined else np.nan


def test_evaluate_equals_the_twins():
    for A, B, C in cases(100, seed=42):
        found = limo.evaluate(A, B, C)
        tops = [top_is_relevant(y, s) for y, s in zip(A.tolist(), B.tolist(), strict=True)]
        np.testing.assert_allclose(found["precision_at_top"], mean(tops))
        assert found["instance_zero_one"] == pytest.approx(np.mean((A != C).any(axis=1)))


def test_texts_and_tables():
    found = limo.evaluate(Y, S, P)
    assert "P@1" in str(found)
    assert "subset 0/1 loss" in str(found)
    assert "P@1" in limo.explain(found)
    assert set(found.to_frame().index) >= NAMES
    assert set(json.loads(found.to_json())["measures"]) >= NAMES


class Model:
    def decision_function(self, X):
        return S

    def predict(self, X):
        return P


def test_scorers():
    assert limo.make_scorer("precision_at_top")(Model(), None, Y) == 0.5
    assert limo.make_scorer("instance_zero_one")(Model(), None, Y) == -0.5


def test_the_threshold_report():
    report = limo.threshold_report(Y, S, P)
    loss = report.measures["instance_zero_one"]
    # instances 0 and 3 are right; no threshold can make 1 and 2 right
    assert (loss.found[0], loss.best_threshold[0], loss.possible[0]) == (0.5, 0.5, 0)
    assert "subset 0/1 loss" in str(report)
    assert report.to_frame().loc["instance_zero_one", "lost_to_ranking"] == 0.5
    assert "zero_one_best_threshold" in report.to_frame("labels")
    assert json.loads(report.to_json())["measures"]["instance_zero_one"]["bound"] is None


def test_targets_of_thresholds_are_searched_exactly():
    def wrong(tp, fp, fn, tn):
        return -float(fp + fn > 0)

    for A, B, _ in cases(40, seed=43):
        t = limo.thresholds.best_instance_thresholds(A, B, "instance_zero_one")
        reached = naive.value(wrong, "instance", A.tolist(), naive.cut(B.tolist(), t, "instance"))
        rows = [
            naive.best_value(wrong, "instance", "instance", [y], [s])
            for y, s in zip(A.tolist(), B.tolist(), strict=True)
        ]
        assert reached == pytest.approx(np.mean(rows))


def test_thresholds_are_suggested_and_fitted():
    assert repr(limo.suggest_threshold("instance_zero_one")) == (
        "InstanceThreshold(target='instance_zero_one')"
    )
    with pytest.raises(ValueError, match="precision_at_top judges scores"):
        limo.suggest_threshold("precision_at_top")
    for name in ("zero_one", "macro_zero_one", "instance_zero_one", "micro_zero_one"):
        assert name in limo.thresholds.TARGETS
    rule = limo.GlobalThreshold("instance_zero_one").fit(Y, S)
    assert limo.evaluate(Y, y_pred=rule.predict(S))["instance_zero_one"] <= 0.5


def test_the_document_and_the_page():
    document = limo.report.evaluation_document(Y, {"mine": S}, {"mine": P})
    entries = {entry["name"]: entry for entry in document["measures"]}
    assert entries["instance_zero_one"]["meaning"] == LABELS.meaning
    assert entries["instance_zero_one"]["blind"] == 1 - 2**-3
    assert entries["instance_zero_one"]["convention"] == "always defined"
    assert entries["precision_at_top"]["blind"] is None
    (model,) = document["models"]
    assert model["measures"]["precision_at_top"]["value"] == 0.5
    assert model["thresholds"]["measures"]["instance_zero_one"]["best_threshold"] == 0.5
    page = limo.report.render(document)
    for text in ("P@1", "subset 0/1 loss", RANKING.meaning, LABELS.meaning, RANKING.formula):
        assert text in page
    assert "Optimised by label-wise or double or entry-wise effectiveness with the right" in page
    alone = limo.report.evaluation_document(Y, {"mine": S})["models"][0]["thresholds"]["measures"]
    assert alone["instance_zero_one"]["best_threshold"] == 0.5


def test_a_measure_that_nothing_optimises_has_no_such_sentence():
    register(replace(LABELS, name="micro_zero_one", view=ENTRIES, optimised_by={}, threshold=None))
    try:
        page = limo.report.render(limo.report.evaluation_document(Y, {"mine": S}, {"mine": P}))
    finally:
        unregister("micro_zero_one")
    about = page.partition('id="about-micro_zero_one"')[2].partition("</div>")[0]
    assert "Always defined.</dd>" in about
    assert "Optimised" not in about


def test_the_limit_of_thresholds_is_known_for_registered_measures():
    truth, scores = np.array([[1, 0, 0], [0, 1, 0]]), np.array([[3.0, 1.0, 0.0], [0.0, 3.0, 1.0]])
    labels = (scores > 0.5).astype(int)
    (model,) = limo.report.evaluation_document(truth, {"m": scores}, {"m": labels})["models"]
    lines = model["thresholds"]["measures"]
    assert lines["instance_zero_one"]["lost_to_threshold"] == 1
    assert max(lines[name]["lost_to_threshold"] for name in lines if name.endswith("f1")) < 1


def overlap(counts, conventions):
    """Share of the true or predicted labels that are both; 1 if there are none."""
    either = counts.true + counts.predicted - counts.both
    return np.where(either > 0, counts.both / np.maximum(either, 1e-9), 1.0)


def test_advice_is_about_a_registered_measure_if_it_counts():
    """Scores from -1.1 to -0.9 and from 0.9 to 1.1: a threshold between makes no error."""
    rng = np.random.default_rng(0)
    truth = (rng.random((60, 3)) < 0.4).astype(int)
    scores = 2 * truth - 1 + rng.uniform(-0.1, 0.1, truth.shape)
    register(
        Measure(
            "label_overlap",
            "overlap of labels",
            overlap,
            ROWS,
            "labels",
            "high",
            fractional=True,
            meaning="How much of the labels is shared.",
            formula="#both / #either",
        )
    )
    try:
        given = {"measure": "label_overlap"}
        found, perfect = (
            limo.report.evaluation_document(truth, {"m": scores}, {"m": P}, **given)["models"][0]
            for P in (np.zeros_like(truth), truth)
        )
    finally:
        unregister("label_overlap")
    (advice,) = [one for one in found["advice"] if one["measure"] == "label_overlap"]
    assert advice["change"] == "thresholds"
    assert advice["found"] == pytest.approx((~truth.any(axis=1)).mean())
    assert advice["expected"] > 0.95
    assert advice["helps"]
    assert "overlap of labels" in " ".join(found["verdict"])
    assert not [one for one in perfect["advice"] if one["helps"]]


def test_the_papers_tables_have_the_papers_measures():
    facts = table2_facts(2)
    assert set(facts["measure"]) == set(PAPER_MEASURES) == set(limo.MEASURES) - NAMES
    assert len(_table2(facts).shown) == len(PAPER_MEASURES) == 11
    (axes,) = plot_table2(facts).axes
    assert len(axes.get_yticks()) == 11
    assert len(printed_ranks(["CAL500"])) == 11
    for plan in (paper_plan(["CAL500"], 1), own_plan(["CAL500"], 1)):
        assert set(plan.measures) == set(PAPER_MEASURES)


def test_the_command_line_and_completion(tmp_path, monkeypatch):
    assert {entry["name"] for entry in printed_json(run("measures", "--json"))} >= NAMES
    assert "precision_at_top" in run("measures").stdout
    assert complete_measure("precision_at_t") == ["precision_at_top"]
    assert complete_measure("macro_f1,instance_z") == ["macro_f1,instance_zero_one"]
    assert known_measure("instance_zero_one") == "instance_zero_one"
    monkeypatch.chdir(tmp_path)
    for name, matrix in {"Y": Y, "S": S, "P": P}.items():
        np.save(f"{name}.npy", matrix)
    files = ("-y", "Y.npy", "-s", "S.npy", "-p", "P.npy")
    assert "subset 0/1 loss" in run("evaluate", *files, "--report", "page.html").stdout
    assert "subset 0/1 loss" in (tmp_path / "page.html").read_text()
