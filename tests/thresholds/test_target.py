import pickle

import numpy as np
import pytest

import limo
from limo._views import COLUMNS, ENTRIES, ROWS
from limo.thresholds import TARGETS, Target, f_beta
from limo.thresholds._target import check_target
from naive import thresholds as naive

COUNTS = [(a, b, c, d) for a in range(3) for b in range(3) for c in range(3) for d in range(3)][1:]


@pytest.mark.parametrize("name", list(naive.FUNCTIONS))
def test_targets_equal_their_twins(name):
    arrays = np.array(COUNTS, dtype=float).T
    expected = [naive.FUNCTIONS[name](*c) for c in COUNTS]
    assert TARGETS[name].function(*arrays) == pytest.approx(expected)


@pytest.mark.parametrize("beta", [0.5, 2.0])
def test_f_beta_equals_its_twin(beta):
    arrays = np.array(COUNTS, dtype=float).T
    assert f_beta(beta).function(*arrays) == pytest.approx([naive.f_beta(beta)(*c) for c in COUNTS])


def test_prefixes_say_whose_counts():
    assert TARGETS["macro_f1"].view(ROWS) is COLUMNS
    assert TARGETS["instance_jaccard"].view(COLUMNS) is ROWS
    assert TARGETS["micro_f1"].view(ROWS) is ENTRIES
    assert TARGETS["f1"].view(ROWS) is ROWS


def test_every_measure_of_labels_is_a_target():
    for name, measure in limo.MEASURES.items():
        assert (name in TARGETS) == (measure.needs == "labels")


def test_functions_and_records_are_targets():
    def mine(tp, fp, fn, tn):
        return tp

    assert check_target(mine).name == "mine"
    assert check_target(f_beta(2, "micro")).average == "micro"
    assert str(f_beta(2, "micro")) == "micro_f_beta(2)"


def test_built_in_targets_travel():
    assert pickle.loads(pickle.dumps(f_beta(2.0))) == f_beta(2.0)


def test_wrong_targets_are_refused():
    with pytest.raises(ValueError, match="Unknown target 'macro_f'. Did you mean 'macro_f1'"):
        check_target("macro_f")
    with pytest.raises(ValueError, match="Unknown target 3"):
        check_target(3)
    with pytest.raises(ValueError, match="Unknown average 'mean'"):
        Target(lambda tp, fp, fn, tn: tp, "mean")
    for wrong in (lambda tp, fp: tp, lambda tp, fp, fn, tn: tp if tp > 1 else fp):
        with pytest.raises(ValueError, match="'<lambda>' must take four arrays, tp, fp, fn, tn"):
            limo.thresholds.best_label_thresholds([[1], [0]], [[0.5], [0.25]], wrong)
    with pytest.raises(TypeError, match=r"needs a function of tp, fp, fn, tn, got 3"):
        Target(3)
    with pytest.raises(ValueError, match="beta must be a number above 0, got 0"):
        f_beta(0)
    with pytest.raises(
        ValueError,
        match=r"'scalar' must give one value for each threshold: expected shape .*, got \(\)",
    ):
        limo.thresholds.best_label_thresholds(
            [[1], [0]], [[0.5], [0.25]], Target(lambda tp, fp, fn, tn: 1.0, name="scalar")
        )
