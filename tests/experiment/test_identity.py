import functools
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import limo
from experiment.estimators import Frequency
from limo.experiment import PlanError
from limo.experiment._identity import content_hash, describe, seed_from

A = np.arange(6.0).reshape(2, 3)
ONE = lambda: 1  # noqa: E731
TWO = lambda: 2  # noqa: E731
DIFFERENT = [
    None, 0, False, 1, 1.0, "1", math.nan, math.inf, [1], [[1]], {"a": 1}, {"a": 2}, {}, [],
    Path("a"), A, A.T, A.astype(int), sparse.csr_array(A), int, limo.evaluate,
    Frequency(), Frequency(-1), limo.LIMOClassifier(), limo.LIMOClassifier(alpha=2),
    limo.Conventions(), limo.Conventions(auc_tie=1), np.random.RandomState(0),
    functools.partial(int, base=2), functools.partial(int, base=3), ONE, TWO, "1.0",
]  # fmt: skip


def test_what_differs_has_another_hash():
    assert len({content_hash(value) for value in DIFFERENT}) == len(DIFFERENT)


def test_what_is_equal_has_the_same_hash():
    assert content_hash({"a": 1, "b": 2}) == content_hash({"b": 2, "a": 1})
    assert content_hash(np.float64(0.5)) == content_hash(0.5)
    assert content_hash((1, 2)) == content_hash([1, 2])
    assert content_hash(limo.LIMOClassifier()) == content_hash(limo.LIMOClassifier(alpha=1e-3))
    assert content_hash(A.T) == content_hash(np.ascontiguousarray(A.T))


@pytest.mark.slow
def test_hashes_and_seeds_outlive_the_process():
    code = (
        "import limo; from limo.experiment._identity import content_hash, seed_from; "
        "print(content_hash({'a': limo.LIMOClassifier()}), seed_from(0, 'enron', 3, 'limo'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    expected = content_hash({"a": limo.LIMOClassifier()}), seed_from(0, "enron", 3, "limo")
    assert done.stdout.split() == [expected[0], str(expected[1])]


def test_seeds_differ_and_fit_every_generator():
    seeds = [seed_from(0, data, split, m) for data in "ab" for split in range(50) for m in "xyz"]
    assert len(set(seeds)) == 300
    assert all(0 <= seed < 2**31 for seed in seeds)
    assert seed_from("1", "2") != seed_from("12")


def function():
    pass


@pytest.mark.parametrize("name", ["<lambda>", "main"])
def test_code_that_no_path_leads_to_is_known_by_its_source(name, monkeypatch):
    if name == "main":
        monkeypatch.setattr(function, "__module__", "__main__")
        assert describe(function) == "__main__:function\ndef function():\n    pass\n"
    else:
        assert "lambda: 'here'" in describe(lambda: 'here')  # fmt: skip


def test_code_without_source_is_known_by_its_name():
    made = {}
    exec("def f(): pass", {"__name__": "__main__"}, made)
    assert describe(made["f"]) == "__main__:f"


def test_code_of_limo_is_known_by_its_public_name():
    """Moving a class between modules of a package must not make stored runs new ones."""
    assert describe(limo.LIMOClassifier) == "limo:LIMOClassifier"
    assert describe(limo.Conventions()) == {
        "class": "limo.measures:Conventions", "settings": describe(vars(limo.Conventions())),
    }  # fmt: skip
    assert describe(limo.evaluate) == "limo:evaluate"
    assert describe(Frequency) == "experiment.estimators:Frequency"


def closure(captured):
    def predict(x):
        return x * captured

    return predict


def closure_of(inner):
    return lambda x: inner(x)


def with_default(value, key=0):
    def predict(x, default=value, *, key=key):
        return x

    return predict


def local_class(captured):
    class Model:
        def __init__(self):
            super().__init__()

        def fit(self):
            return captured

        @staticmethod
        def of():
            return Model

    return Model


@pytest.mark.parametrize(
    "make",
    [closure, local_class, with_default, lambda c: with_default(0, c),
     lambda c: closure_of(closure(c)), lambda c: closure(Frequency(c)), lambda c: closure(A * c)],
)  # fmt: skip
def test_code_that_differs_only_in_captured_values_has_another_hash(make):
    assert content_hash(make(1)) == content_hash(make(1)) != content_hash(make(2))


def test_code_that_captured_itself_a_module_or_nothing_yet():
    def again(n):
        return again(n - 1) if n else np.zeros(later)

    here = math
    described = [describe(again), describe(lambda: here.pi)]
    later = 1
    assert "again" in described[0]
    assert '[["here", "math"]]' in described[1]
    assert describe(again) != described[0]


def test_a_captured_value_without_comparable_content_is_an_error():
    with pytest.raises(PlanError, match="a function of this plan uses 'captured', a generator wh"):
        describe(closure(x for x in ()))
