"""Paired differences: their errors, decisions, groups and tables."""

import json

import numpy as np
import pytest
from scipy import stats

import limo

RNG = np.random.default_rng(0)
Y = (RNG.random((300, 5)) < 0.3).astype(int)
A = 1.5 * Y + RNG.standard_normal(Y.shape)
B = A + 0.02 * RNG.standard_normal(Y.shape)
C = RNG.standard_normal(Y.shape)
CUT = {"a": A > 0.8, "c": C > 0.8}


def test_a_mean_over_instances_has_the_paired_t_test():
    found = limo.compare_predictions(Y, {"a": A, "c": C}, measures=["instance_auc"])[0]
    a, c = (limo.evaluate(Y, S).per_instance["instance_auc"] for S in (A, C))
    known = ~np.isnan(a)
    expected = stats.ttest_rel(a[known], c[known])
    assert found.interval.error == pytest.approx(
        (a - c)[known].std(ddof=1) / np.sqrt(known.sum()), rel=0.01
    )
    assert found.difference == pytest.approx(a[known].mean() - c[known].mean())
    assert found.p_value == pytest.approx(expected.pvalue, abs=1e-6)


def test_only_differences_beyond_noise_make_a_model_better():
    found = limo.compare_predictions(Y, {"a": A, "b": B, "c": C})
    assert len(found) == 3 * 7
    assert found.of("macro_auc", "a", "c").better == "a"
    assert found.of("ranking_loss", "b", "c").better == "b"
    near = found.of("macro_auc", "a", "b")
    assert near.better is None
    assert near.interval.low < 0 < near.interval.high
    assert all(one.adjusted >= one.p_value for one in found)
    text = str(found)
    assert "not distinguishable" in text
    assert text.startswith("300 instances x 5 labels, 3 predictors: ")


def test_a_model_does_not_differ_from_itself():
    for one in limo.compare_predictions(Y, {"a": A, "same": A}):
        assert (one.difference, one.p_value, one.better) == (0.0, 1.0, None)


def test_bootstrap_of_differences_is_paired():
    options = {"measures": ["macro_auc", "micro_auc", "coverage"]}
    exact = limo.compare_predictions(Y, {"a": A, "c": C}, **options)
    drawn = limo.compare_predictions(Y, {"a": A, "c": C}, method="bootstrap", **options)
    for one, other in zip(exact, drawn, strict=True):
        assert one.interval.error == pytest.approx(other.interval.error, rel=0.12)
        assert other.better == "a"


def test_groups_make_errors_larger_where_instances_repeat():
    copies = [np.repeat(matrix, 3, axis=0) for matrix in (Y, A, C)]
    groups = np.repeat(np.arange(300), 3)
    scores = {"a": copies[1], "c": copies[2]}
    grouped = limo.compare_predictions(copies[0], scores, groups=groups)
    single = limo.compare_predictions(Y, {"a": A, "c": C})
    for one, other in zip(grouped, single, strict=True):
        assert one.interval.error == pytest.approx(other.interval.error, rel=0.02)


def test_false_alarms_are_rare():
    """Two models of equal quality: at most 5 % of tables may name a better one."""
    alarms = 0
    rng = np.random.default_rng(5)
    for _ in range(100):
        labels = (rng.random((100, 3)) < 0.4).astype(int)
        one, other = (labels + rng.standard_normal(labels.shape) for _ in range(2))
        found = limo.compare_predictions(labels, {"a": one, "b": other})
        alarms += any(d.better is not None for d in found)
    assert alarms <= 10  # the binomial law allows 10 of 100 at 5 % in 98.9 % of runs


def test_frames_json_and_html(tmp_path):
    found = limo.compare_predictions(Y, {"a": A, "c": C}, CUT)
    frame = found.to_frame()
    assert list(frame["measure"]) == list(limo.MEASURES)
    assert list(frame.columns[-4:]) == ["high", "p", "p_holm", "better"]
    document = json.loads(found.to_json(tmp_path / "found.json"))
    assert document["differences"][0]["first"] == "a"
    assert json.loads((tmp_path / "found.json").read_text()) == document
    assert "<table>" in found._repr_html_()
    assert found.evaluations["a"].intervals["macro_f1"].low > 0
    assert len(found[:2]) == 2


def test_models_are_compared_on_what_both_have():
    found = limo.compare_predictions(Y, {"a": A, "b": B}, {"a": A > 1})
    assert {one.measure for one in found} == {
        name for name, m in limo.MEASURES.items() if m.needs == "scores"
    }


def test_wrong_input_is_a_sentence():
    with pytest.raises(ValueError, match="at least two predictors by name: got 1"):
        limo.compare_predictions(Y, {"a": A})
    with pytest.raises(KeyError, match="no difference of 'macro_f1', 'a', 'x'"):
        limo.compare_predictions(Y, {"a": A, "b": B}).of("macro_f1", "a", "x")


def test_the_document_calls_no_model_better_within_noise():
    document = limo.report.evaluation_document(Y, {"a": A, "b": B})
    assert document["verdict"][0] == "On no measure do the 2 models differ beyond noise."
    assert all(r["first"] for m in document["models"] for r in m["measures"].values())
    assert document["level"] == 0.95
    document = limo.report.evaluation_document(Y, {"a": A, "c": C}, CUT)
    assert document["verdict"][0] == (
        "a is best, or within noise of the best, on all 11 measures, and alone best on all 11 "
        "measures."
    )
    page = limo.report.render(document)
    assert "Which differences are beyond noise" in page
    assert 'class="interval soft"' in page


def test_one_model_has_intervals_unless_they_are_declined():
    document = limo.report.evaluation_document(Y, {"a": A}, intervals=0)
    assert (document["level"], document["differences"]) == (None, [])
    assert 'class="interval soft"' not in limo.report.render(document)
    assert limo.report.evaluation_document(Y, {"a": A})["level"] == 0.95
    document = limo.report.evaluation_document(Y, {"a": A}, intervals=0.9)
    assert 'class="interval soft"' in limo.report.render(document)
    older = {k: v for k, v in document.items() if k not in ("level", "differences")}
    assert limo.report.render(older)
