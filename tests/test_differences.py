"""Paired differences: their errors, decisions, groups and tables."""

import json

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics

import limo

RNG = np.random.default_rng(0)
Y = (RNG.random((300, 5)) < 0.3).astype(int)
A = 1.5 * Y + RNG.standard_normal(Y.shape)
B = A + 0.02 * RNG.standard_normal(Y.shape)
C = RNG.standard_normal(Y.shape)
RNG_OF_TEST = np.random.default_rng(11)
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


@pytest.mark.slow
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


def left_out(measure, S, P, blocks):
    """The values of a measure by scikit-learn without each block of instances."""
    kept = [np.flatnonzero(blocks != k) for k in range(blocks.max() + 1)]
    return np.array([measure(Y[i], (P if "f1" in measure.__name__ else S)[i]) for i in kept])


def macro_auc(Y, S):
    return metrics.roc_auc_score(Y, S, average="macro")


def micro_auc(Y, S):
    return metrics.roc_auc_score(Y, S, average="micro")


def macro_f1(Y, P):
    return metrics.f1_score(Y, P, average="macro")


def micro_f1(Y, P):
    return metrics.f1_score(Y, P, average="micro")


def p_values_by_hand(A, C, cut):
    """Paired t-tests of the seven means over instances; for the others a jackknife of 20 blocks."""
    values = {n: limo.evaluate(Y, S, cut[n]).per_instance for n, S in (("a", A), ("c", C))}
    found = {}
    for name in values["a"]:
        if name in limo.MEASURES:
            a, c = values["a"][name], values["c"][name]
            known = ~np.isnan(a)
            found[name] = stats.ttest_rel(a[known], c[known]).pvalue
    blocks = np.arange(len(Y)) % 20
    for measure in (macro_auc, micro_auc, macro_f1, micro_f1):
        a, c = (left_out(measure, S, cut[n], blocks) for n, S in (("a", A), ("c", C)))
        error = np.sqrt(19 / 20 * ((a - c - (a - c).mean()) ** 2).sum())
        whole = [
            measure(Y, cut[n] if "f1" in measure.__name__ else S) for n, S in (("a", A), ("c", C))
        ]
        found[measure.__name__] = 2 * stats.t.sf(abs(whole[0] - whole[1]) / error, 19)
    return found


def test_the_verdict_counts_what_holm_finds_significant():
    """C is a little weaker than A: better on some measures beyond noise, not on others."""
    mixed = A + 0.25 * RNG_OF_TEST.standard_normal(A.shape)
    cut = {"a": A > 0.8, "c": mixed > 0.9}
    p = p_values_by_hand(A, mixed, cut)
    assert set(p) == set(limo.MEASURES)
    order = sorted(p, key=p.get)
    steps = [(11 - k) * p[name] for k, name in enumerate(order)]
    adjusted = {name: max(steps[: k + 1]) for k, name in enumerate(order)}  # Holm
    document = limo.report.evaluation_document(Y, {"a": A, "c": mixed}, cut)
    better = {d["measure"]: d["better"] for d in document["differences"]}
    values = {m["name"]: m["measures"] for m in document["models"]}
    alone = [name for name in better if adjusted[name] < 0.05]
    assert 0 < len(alone) < 11
    clear = [
        name for name in p if not 0.02 < adjusted[name] < 0.12
    ]  # errors by hand differ a little
    assert len(clear) >= 8
    for name in clear:
        sign = limo.MEASURES[name].sign
        ahead = sign * (values["a"][name]["value"] - values["c"][name]["value"]) > 0
        winner = ("a" if ahead else "c") if name in alone else None
        assert better[name] == winner, name
        assert values["a"][name]["first"] == (winner != "c")
        assert values["c"][name]["first"] == (winner != "a")


def test_intervals_of_the_document_are_those_of_the_level():
    loss = limo.evaluate(Y, A).per_instance["coverage"]
    known = loss[~np.isnan(loss)]
    error = known.std(ddof=1) / np.sqrt(known.size)
    for given, level in ((None, 0.95), (0.9, 0.9)):
        document = limo.report.evaluation_document(Y, {"a": A}, intervals=given)
        assert document["level"] == level
        line = document["models"][0]["measures"]["coverage"]
        reach = stats.t.ppf(0.5 + level / 2, len(Y) - 1) * error
        assert line["low"] == pytest.approx(known.mean() - reach, rel=2e-3)
        assert line["high"] == pytest.approx(known.mean() + reach, rel=2e-3)


def test_one_model_has_intervals_unless_they_are_declined():
    document = limo.report.evaluation_document(Y, {"a": A}, intervals=0)
    assert (document["level"], document["differences"]) == (None, [])
    assert 'class="interval soft"' not in limo.report.render(document)
    assert limo.report.evaluation_document(Y, {"a": A})["level"] == 0.95
    document = limo.report.evaluation_document(Y, {"a": A}, intervals=0.9)
    assert 'class="interval soft"' in limo.report.render(document)
    older = {k: v for k, v in document.items() if k not in ("level", "differences")}
    assert limo.report.render(older)
