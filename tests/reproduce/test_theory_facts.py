import numpy as np
import pytest

import limo
from limo.measures._measure import Optimised
from limo.measures._table import EFFECTIVENESS
from limo.reproduce._theory_facts import (
    COUNTEREXAMPLES,
    SIZES,
    best_reachable,
    bound_facts,
    correct_thresholds,
    draw_labels,
    draw_predictor,
    draw_theorem3,
    table2_facts,
    theorem3_facts,
    wrong_thresholds,
)


def test_ticks_are_whole_and_crosses_have_counterexamples():
    facts = table2_facts(6)
    assert len(facts) == 5 * len(limo.MEASURES)
    for fact in facts.to_dict("records"):
        claim = limo.MEASURES[fact["measure"]].optimised_by[fact["effectiveness"]]
        assert fact["optimised"] == claim.name.lower()
        if claim is Optimised.YES:
            assert fact["perfect"] == fact["predictors"] == 6
            assert np.isnan(fact["counterexample"])
        else:
            assert fact["perfect"] < 6
            assert fact["counterexample"] != fact["best"]


def test_theorem_3_rises_to_one_above_its_bound():
    facts = theorem3_facts(3)
    assert len(facts) == 3 * len(SIZES)
    assert (facts["low"] <= facts["median"]).all()
    last = facts[facts["instances"] == max(SIZES)]
    assert (last["mean"] > 0.99).all()
    assert (last["mean"] > last["bound"]).all()
    one = facts.iloc[-1]
    assert one["bound"] == pytest.approx(limo.micro_auc_bound(4000, 5, 10_000), abs=1e-3)


def test_bounds_hold_and_the_printed_one_of_micro_f1_does_not():
    facts = bound_facts(60, seed=1)
    for name, own in facts.groupby("measure"):
        sign = limo.MEASURES[name].sign
        assert (sign * own["value"] >= sign * own["bound"] - 1e-12).all()
    micro = facts[facts["measure"] == "micro_f1"]
    assert set(micro["theorem"]) == {"Theorem 4"}
    assert (micro["value"] < micro["printed"] - 1e-12).any()
    f1 = facts[facts["measure"].str.endswith("_f1")]
    assert (f1["value"] < 1).any()  # thresholds do miss


@pytest.mark.parametrize("example", COUNTEREXAMPLES, ids=lambda e: e.kind)
def test_each_is_effective_and_yet_not_perfect(example):
    assert getattr(limo.effectiveness(example.Y, example.S), example.kind.replace("-", "_"))
    best = limo.evaluate(example.Y, example.Y.astype(float), example.Y)
    for name in example.measures:
        assert limo.MEASURES[name].optimised_by[example.kind] is not Optimised.YES
        assert abs(best_reachable(example, name) - best[name]) > 0.01
    assert example.why.endswith(".")


def test_values_by_hand():
    label, instance, double = COUNTEREXAMPLES
    assert best_reachable(label, "micro_auc") == 0.75  # 1 > 0, 6 > 0, 6 > 5, but not 1 > 5
    # one column separated correctly (F1 1), the other all or the wrong one: 2/3
    assert best_reachable(label, "macro_f1") == pytest.approx(5 / 6)
    assert best_reachable(instance, "one_error") == 0.5
    assert best_reachable(double, "micro_auc") == pytest.approx(17 / 18)


THRESHOLDS = {
    "label-wise": "instance",
    "instance-wise": "label",
    "entry-wise": "global",
    "absolute": "zero",
}
STRONGER = {
    "label-wise": "double",
    "instance-wise": "double",
    "double": "entry_wise",
    "entry-wise": "absolute",
}


@pytest.mark.parametrize("kind", EFFECTIVENESS)
def test_predictors_are_effective_in_their_way_and_mostly_in_no_stronger_one(kind):
    rng = np.random.default_rng(0)
    found = [limo.effectiveness(*draw_predictor(rng, kind)) for _ in range(60)]
    assert all(getattr(one, kind.replace("-", "_")) for one in found)
    if kind in STRONGER:
        assert sum(getattr(one, STRONGER[kind]) for one in found) < 30


def test_labels_leave_no_row_and_no_column_without_pairs():
    rng = np.random.default_rng(1)
    for _ in range(50):
        Y = draw_labels(rng)
        assert all(Y.sum(a).min() > 0 and Y.sum(a).max() < Y.shape[a] for a in (0, 1))


def test_the_model_of_theorem_3_lies_below_row_and_column():
    rng = np.random.default_rng(2)
    Y = draw_labels(rng)
    S = draw_theorem3(rng, Y)
    for i, j in zip(*np.nonzero(Y == 0), strict=True):
        assert 0 <= S[i, j] < min(S[i, Y[i] == 1].min(), S[Y[:, j] == 1, j].min())


@pytest.mark.parametrize(("kind", "by"), THRESHOLDS.items())
def test_correct_thresholds_give_the_labels(kind, by):
    rng = np.random.default_rng(3)
    for _ in range(20):
        Y, S = draw_predictor(rng, kind)
        assert np.array_equal(correct_thresholds(Y, S, by) < S, Y == 1)


@pytest.mark.parametrize("by", ["instance", "label"])
def test_wrong_thresholds_miss_to_both_sides_and_not_always(by):
    rng = np.random.default_rng(4)
    kind = {"instance": "label-wise", "label": "instance-wise"}[by]
    above, below, right = 0, 0, 0
    for _ in range(60):
        Y, S = draw_predictor(rng, kind)
        t = wrong_thresholds(rng, Y, S, by)
        axis = 1 if by == "instance" else 0
        predicted = ((t[:, None] if axis else t) < S).sum(axis=axis)
        above += (predicted < Y.sum(axis=axis)).sum()
        below += (predicted > Y.sum(axis=axis)).sum()
        right += (predicted == Y.sum(axis=axis)).sum()
    assert min(above, below, right) > 20


def test_unknown_kinds_are_refused():
    with pytest.raises(ValueError, match="Unknown kind of effectiveness 'labelwise'"):
        draw_predictor(np.random.default_rng(0), "labelwise")
