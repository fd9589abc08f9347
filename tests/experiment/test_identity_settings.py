import pytest

from limo._text import did_you_mean
from limo.experiment._identity import PlanError, check_keys, parameters_of


def test_the_nearest_name_is_offered():
    assert did_you_mean("medod", ["method", "measure"]) == " Did you mean 'method'?"
    assert did_you_mean("zzz", ["method"]) == ""


def test_an_unknown_setting_is_rejected():
    check_keys({"seed": 1}, ["seed"], "a plan")
    check_keys({"anything": 1}, None, "a function of any settings")
    with pytest.raises(PlanError) as error:
        check_keys({"sed": 1}, ["seed", "splits"], "a plan")
    assert str(error.value) == (
        "a plan has no setting 'sed'. Did you mean 'seed'? Choose from: seed, splits"
    )


def test_parameters_of_a_function():
    assert parameters_of(lambda a, b, c=1: 0, ["a"]) == ["b", "c"]
    assert parameters_of(lambda a, **more: 0) is None
