import json
import math

import numpy as np
import pytest
from scipy import stats

import limo
from limo.report import changes, evaluation_document

RNG = np.random.default_rng(0)
Y = (RNG.random((400, 5)) < 0.3).astype(int)


def document(noise, seed, names=("mine",), intervals=0.95, **options):
    rng = np.random.default_rng(seed)
    S = {name: Y + noise * rng.normal(size=Y.shape) for name in names}
    P = {name: one > 0.5 for name, one in S.items()}
    made = evaluation_document(Y, S, P, intervals=intervals, **options)
    return json.loads(json.dumps(made))


def by_measure(found, model=0):
    return {line["measure"]: line for line in found["models"][model]["measures"]}


def naive_holm(p):
    """Holm's method from its definition: the k-th smallest times what is left, never falling."""
    order, found, largest = sorted(range(len(p)), key=p.__getitem__), [0.0] * len(p), 0.0
    for k, place in enumerate(order):
        largest = max(largest, min(1.0, (len(p) - k) * p[place]))
        found[place] = largest
    return found


def test_values_errors_and_p_values_by_definition():
    old, new = document(0.6, 1), document(0.5, 2)
    lines = changes(old, new)["models"][0]["measures"]
    p = []
    for line in lines:
        before, after = (d["models"][0]["measures"][line["measure"]] for d in (old, new))
        assert line["change"] == after["value"] - before["value"]
        assert line["error"] == pytest.approx(math.sqrt(before["error"] ** 2 + after["error"] ** 2))
        p.append(2 * stats.norm.sf(abs(line["change"]) / line["error"]))
    assert [line["p_holm"] for line in lines] == pytest.approx(naive_holm(p))


def test_pairs_are_those_of_compare_predictions():
    """The same errors and p-values as if both models were compared at once."""
    rng = np.random.default_rng(5)
    first = Y + 0.6 * rng.normal(size=Y.shape)
    S = {"old": first, "new": first + 0.2 * rng.normal(size=Y.shape)}
    P = {name: one > 0.5 for name, one in S.items()}
    old, new = (
        evaluation_document(Y, {"mine": S[name]}, {"mine": P[name]}, keep_instances=True)
        for name in S
    )
    lines = by_measure(changes(old, new))
    expected = limo.compare_predictions(Y, S, P)
    for one in expected:
        line = lines[one.measure]
        assert line["paired"]
        assert line["change"] == pytest.approx(-one.difference)
        assert line["error"] == pytest.approx(one.interval.error, rel=1e-4)
        assert line["p_holm"] == pytest.approx(one.adjusted, rel=1e-3)
    plain = [evaluation_document(Y, {"mine": S[name]}, {"mine": P[name]}) for name in S]
    unpaired = by_measure(changes(*plain))
    assert not any(line["paired"] for line in unpaired.values())
    assert unpaired["micro_auc"]["error"] > 1.5 * lines["micro_auc"]["error"]


def test_groups_are_pairs_of_groups():
    groups = np.arange(400) // 4
    old, new = (document(noise, 1, keep_instances=True, groups=groups) for noise in (0.6, 0.7))
    assert len(old["models"][0]["influence"]["macro_f1"]) == 100
    S = {n: Y + n * np.random.default_rng(1).normal(size=Y.shape) for n in (0.6, 0.7)}
    by_name = {str(n): one for n, one in S.items()}
    expected = limo.compare_predictions(
        Y, by_name, {n: one > 0.5 for n, one in by_name.items()}, groups=groups
    )
    lines = by_measure(changes(old, new))
    for one in expected:
        assert lines[one.measure]["error"] == pytest.approx(one.interval.error, rel=1e-4)


def test_only_the_same_instances_are_paired():
    old = document(0.5, 1, keep_instances=True)
    other = evaluation_document(1 - Y, {"mine": Y + 0.0}, keep_instances=True)
    assert not any(line["paired"] for line in by_measure(changes(old, other)).values())
    damaged = document(0.6, 2, keep_instances=True)
    damaged["models"][0]["influence"]["macro_auc"] = ["no", {}]
    lines = by_measure(changes(old, damaged))
    assert lines["micro_auc"]["paired"]
    assert not lines["macro_auc"]["paired"]


def test_better_worse_and_noise():
    good, alike, bad = document(0.4, 1), document(0.4, 2), document(1.2, 3)
    assert {line["verdict"] for line in by_measure(changes(good, alike)).values()} == {
        "within noise"
    }
    for old, new, verdict in ((bad, good, "better"), (good, bad, "worse")):
        found = by_measure(changes(old, new))
        assert {found[name]["verdict"] for name in ("macro_f1", "hamming_loss", "macro_auc")} == {
            verdict
        }
    assert {line["verdict"] for line in by_measure(changes(good, good)).values()} == {"same"}


@pytest.mark.slow
def test_the_rate_of_false_alarms_is_kept():
    """No difference in truth: at most about 5 % of the comparisons may call one."""
    alarms = sum(
        any(
            line["verdict"] in ("better", "worse")
            for line in by_measure(changes(document(0.6, 2 * k), document(0.6, 2 * k + 1))).values()
        )
        for k in range(20)
    )
    assert alarms <= 3


def test_without_intervals_nobody_can_tell():
    old, new = document(0.4, 1, intervals=0), document(1.2, 2)
    assert {line["verdict"] for line in by_measure(changes(old, new)).values()} == {"cannot tell"}


def test_models_are_matched_by_name_or_alone():
    old, new = document(0.5, 1, ("a", "b")), document(0.5, 2, ("b", "c"))
    found = changes(old, new)
    assert [(one["old"], one["new"]) for one in found["models"]] == [("b", "b")]
    alone = changes(document(0.5, 1, ("x",)), document(0.5, 2, ("y",)))
    assert (alone["models"][0]["old"], alone["models"][0]["new"]) == ("x", "y")
    with pytest.raises(
        ValueError, match="No model is in both documents: the old one has (a, b|b, a)"
    ):
        changes(old, document(0.5, 2, ("c", "d")))


def test_it_says_whether_truth_and_conventions_are_the_same():
    old = document(0.5, 1)
    other = evaluation_document(1 - Y, {"mine": Y + 0.0}, intervals=0.95, conventions="paper")
    assert changes(old, old)["same_truth"] is True
    found = changes(old, other)
    assert (found["same_truth"], found["same_conventions"]) == (False, False)


@pytest.mark.parametrize("wrong", [None, [], {}, {"format": "limo-report/2"}, {"models": []}])
def test_other_documents_are_rejected(wrong):
    with pytest.raises(ValueError, match="Expected the document of an evaluation"):
        changes(wrong, document(0.5, 1))
