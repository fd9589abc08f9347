import json

import numpy as np
import pandas
import pytest

import limo
from limo.thresholds import rule_from_json, rule_to_json

RNG = np.random.default_rng(95)
Y = (RNG.random((40, 4)) < 0.4).astype(int)
S = RNG.random((40, 4))
RULES = [
    limo.FixedThreshold(0.5),
    limo.FixedThreshold([0.1, 0.2, np.inf, -np.inf]),
    limo.TopK(2),
    limo.TopK(),
    limo.GlobalThreshold(),
    limo.LabelThreshold("hamming_loss"),
    limo.LabelThreshold(limo.thresholds.f_beta(2.0)),
    limo.ExpectedF1(f1_of_nothing=1.0),
    limo.InstanceThreshold(),
    limo.InstanceThreshold("macro_f1", offset="label"),
    limo.AutoThreshold("micro_f1"),
]


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_there_and_back(rule, tmp_path):
    rule.fit(Y, pandas.DataFrame(S, columns=list("abcd")))
    text = rule_to_json(rule, tmp_path / "rule.json")
    for again in (rule_from_json(text), rule_from_json(tmp_path / "rule.json")):
        assert type(again) is type(rule)
        assert again.predict(S).tolist() == rule.predict(S).tolist()
        assert again.label_names_ == tuple("abcd")
        with pytest.raises(ValueError, match="fitted on 4 labels"):
            again.predict(S[:, :3])


def test_rules_that_need_no_fitting():
    again = rule_from_json(rule_to_json(limo.FixedThreshold(0.5)))
    assert again.predict(S[:, :2]).shape == (40, 2)


def test_what_cannot_be_written_or_read():
    for rule in (
        limo.InstanceThreshold(source="features"),
        limo.InstanceThreshold(regressor="svr"),
    ):
        with pytest.raises(TypeError, match="InstanceThreshold cannot be written as JSON"):
            rule_to_json(rule.fit(Y, S, S))
    with pytest.raises(ValueError, match="has not been fitted"):
        rule_to_json(limo.LabelThreshold())
    with pytest.raises(
        ValueError, match="Unknown rule 'LabelThresold'. Did you mean 'LabelThreshold'"
    ):
        rule_from_json(json.dumps({"rule": "LabelThresold"}))
