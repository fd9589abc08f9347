import pytest

import limo
from limo.thresholds._fit import make_rule

SUITED = {
    "macro_f1": limo.LabelThreshold,
    "hamming_loss": limo.LabelThreshold,
    "instance_f1": limo.InstanceThreshold,
    "micro_f1": limo.GlobalThreshold,
}


@pytest.mark.parametrize("measure", list(SUITED))
def test_the_rule_that_suits(measure):
    rule = limo.suggest_threshold(measure)
    assert type(rule) is SUITED[measure]
    assert rule.target == measure
    assert rule.fit([[1, 0], [0, 1]], [[0.75, 0.25], [0.5, 1.0]]).predict([[0.5, 0.5]]).shape == (
        1,
        2,
    )


def test_every_measure_has_an_answer():
    for name, measure in limo.MEASURES.items():
        if measure.needs == "labels":
            assert name in SUITED
        else:
            with pytest.raises(
                ValueError, match=f"{name} judges scores, so no threshold is needed"
            ):
                limo.suggest_threshold(name)
    with pytest.raises(ValueError, match="Unknown measure 'makro_f1'. Did you mean 'macro_f1'"):
        limo.suggest_threshold("makro_f1")


def test_rules_from_names_records_or_nothing():
    assert type(make_rule(None, None)) is limo.LabelThreshold
    assert make_rule("global", "macro_f1").target == "macro_f1"
    assert make_rule(limo.LabelThreshold("jaccard"), "macro_f1").target == "jaccard"
    assert type(make_rule("expected_f1", "instance_f1")) is limo.ExpectedF1
    given = limo.LabelThreshold()
    assert make_rule(given, "hamming_loss").target == "hamming_loss"
    assert given.target is None


def test_what_is_no_rule():
    with pytest.raises(
        TypeError,
        match=r"must be a rule such as LabelThreshold\(\).*got 0.5. For a number t, use FixedThreshold",
    ):
        make_rule(0.5, None)
    with pytest.raises(ValueError, match="Unknown threshold rule 'labels'. Did you mean 'label'"):
        make_rule("labels", None)
