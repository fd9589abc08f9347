import numpy as np
import pytest

import limo
from limo.measures._measure import Optimised
from limo.reproduce._theory_facts import SIZES, bound_facts, table2_facts, theorem3_facts


def test_ticks_are_whole_and_crosses_have_counterexamples():
    facts = table2_facts(6)
    assert len(facts) == 4 * len(limo.MEASURES)
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
