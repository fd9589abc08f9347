import pickle

import pytest

import limo
from limo.experiment import PlanError, Procedure
from limo.experiment._judge import Score


def constant(data, train, test, seed, value=0.25):
    """Gives a value, a threshold and a record."""
    yield "one_error", value
    yield "macro_f1", value, "none"
    yield Score("coverage", seed + len(train) + len(test))


def nothing(data, train, test, seed, **anything):
    return []


DATA = limo.datasets.figure1(10)


def test_values_come_in_the_order_asked_for_and_the_missing_have_failed():
    procedure = Procedure("c", constant, {"value": 0.5})
    asked = ["macro_f1", "one_error", "coverage", "micro_f1"]
    found = procedure.scores(DATA, range(7), range(3), asked, seed=2)
    assert [(s.measure, s.value, s.threshold) for s in found[:3]] == [
        ("macro_f1", 0.5, "none"), ("one_error", 0.5, ""), ("coverage", 12, ""),
    ]  # fmt: skip
    assert found[3].error == "procedure 'c' returned no value for this measure"
    assert Procedure("n", nothing, {"any": 1}).scores(DATA, [0], [1], ["coverage"], 0)[0].error


def test_settings_and_code_decide_and_it_can_be_pickled():
    one, other = Procedure("c", constant), Procedure("c", constant, {"value": 1.0})
    assert one.describe() != other.describe()
    assert pickle.loads(pickle.dumps(other)).describe() == other.describe()
    by_path = Procedure("c", "experiment.test_plan_procedure:constant")
    assert by_path.describe() != one.describe()
    assert by_path.scores(DATA, [0], [1], ["one_error"], 0)[0].value == 0.25


def test_what_is_wrong_is_said():
    with pytest.raises(PlanError, match="a procedure needs a name, got ''"):
        Procedure("", constant)
    with pytest.raises(PlanError, match="procedure 'c' needs a function, got 3"):
        Procedure("c", 3)
    with pytest.raises(
        PlanError, match="procedure 'c' has no setting 'vale'. Did you mean 'value'"
    ):
        Procedure("c", constant, {"vale": 1})
