"""The registry: what it holds and what it takes."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

import limo
from cases import cases
from limo.measures import ENTRIES
from naive import measures as naive


def test_the_eleven():
    assert list(limo.MEASURES) == [
        "hamming_loss", "ranking_loss", "one_error", "coverage", "average_precision", "macro_f1",
        "instance_f1", "micro_f1", "macro_auc", "instance_auc", "micro_auc",
    ]  # fmt: skip


@pytest.mark.parametrize("name", list(limo.MEASURES))
def test_every_measure_has_a_function_and_a_twin(name):
    assert callable(getattr(limo, name))
    assert callable(getattr(naive, name))


def test_values_stay_within_their_bounds():
    for Y, S, P in cases(100, seed=40):
        for name, value in limo.evaluate(Y, S, P).items():
            low, high = limo.MEASURES[name].bounds
            assert np.isnan(value) or low <= value <= high


def test_threshold_belongs_to_measures_of_labels():
    for measure in limo.MEASURES.values():
        assert (measure.threshold is None) == (measure.needs == "scores")


def test_the_same_function_in_another_view():
    """Micro-averaged average precision needs no new formula."""
    given = limo.MEASURES["average_precision"]
    new = replace(given, name="micro_ap", title="micro-AP", view=ENTRIES)
    limo.measures.register(new)
    try:
        for Y, S, _ in cases(50, seed=41):
            expected = naive.average_precision(
                naive.whole(Y.tolist()), naive.whole(S.tolist()), "standard"
            )
            np.testing.assert_allclose(limo.evaluate(Y, S)["micro_ap"], expected)
    finally:
        limo.measures.unregister("micro_ap")


def test_the_registry_cannot_be_changed_directly():
    with pytest.raises(TypeError):
        limo.MEASURES["mine"] = limo.MEASURES["coverage"]


def test_wrong_measures_are_rejected():
    f1 = limo.MEASURES["macro_f1"]
    with pytest.raises(TypeError, match="register takes a limo.measures.Measure, got 'macro_f1'"):
        limo.measures.register("macro_f1")
    with pytest.raises(ValueError, match="A measure called 'macro_f1' exists already"):
        limo.measures.register(f1)
    other = replace(f1, name="f1", title="F1", function=limo.MEASURES["hamming_loss"].function)
    with pytest.raises(ValueError, match="'f1' and 'macro_f1' are both averages of 'f1'"):
        limo.measures.register(other)
    with pytest.raises(ValueError, match="'macro_f1' is built in and cannot be removed"):
        limo.measures.unregister("macro_f1")
    with pytest.raises(ValueError, match="No measure called 'macro_f' was registered. Did you"):
        limo.measures.unregister("macro_f")


def test_records_can_be_pickled():
    for name, measure in limo.MEASURES.items():
        assert pickle.loads(pickle.dumps(measure)).name == name
