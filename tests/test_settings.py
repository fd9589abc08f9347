"""Settings: unknown names get a suggestion, numbers keep their bounds."""

import re

import numpy as np
import pytest

import limo
from limo._settings import check_n_jobs, check_name, check_number, generator


def test_unknown_names_get_a_suggestion():
    with pytest.raises(ValueError, match="Unknown measure 'macro_ac'. Did you mean 'macro_auc'?"):
        limo.make_scorer("macro_ac")
    with pytest.raises(
        ValueError, match="Unknown conventions 'x'. Choose from: standard, paper, sklearn"
    ):
        limo.macro_auc([[1], [0]], [[0.5], [0.2]], conventions="x")
    with pytest.raises(ValueError, match="Unknown thing None. Choose from: a."):
        check_name(None, ["a"], "thing")


@pytest.mark.parametrize(
    ("value", "bounds", "sentence"),
    [
        (0, {"above": 0}, "k must be a number above 0, got 0."),
        (-1, {"least": 0}, "k must be a number from 0 up, got -1."),
        (1.5, {"least": 0, "most": 1}, "k must be a number from 0 to 1, got 1.5."),
        (2.0, {"least": 1, "integer": True}, "k must be an integer from 1 up, got 2.0."),
        (True, {"least": 0}, "k must be a number from 0 up, got True."),
        (float("inf"), {"least": 0}, "k must be a number from 0 up, got inf."),
        (float("nan"), {"above": 0}, "k must be a number above 0, got nan."),
        ("3", {"least": 0}, "k must be a number from 0 up, got '3'."),
    ],
)
def test_numbers_out_of_bounds_are_named(value, bounds, sentence):
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        check_number(value, "k", **bounds)


def test_numbers_within_their_bounds_pass_as_they_are():
    assert check_number(np.int64(3), "k", least=1, integer=True) == 3
    assert check_number(1, "k", least=0, most=1) == 1
    assert check_number(np.float32(0.5), "k", above=0) == 0.5


@pytest.mark.parametrize("bad", [0, 1.5, "2", True])
def test_threads_are_counted_as_joblib_does(bad):
    assert [check_n_jobs(n) for n in (None, 1, 4, -1)] == [None, 1, 4, -1]
    with pytest.raises(ValueError, match="n_jobs must be"):
        check_n_jobs(bad)


def test_a_seed_gives_the_same_numbers_and_a_generator_goes_on():
    assert generator(3).random() == generator(3).random()
    own = np.random.default_rng(3)
    assert generator(own) is own
    with pytest.raises(ValueError, match="seed must be an integer from 0 up, got -1"):
        generator(-1)
