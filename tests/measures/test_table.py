"""The registry, and what a line added to it is good for."""

import numpy as np
import pytest

import limo
from cases import cases
from limo._views import ENTRIES, ROWS
from limo.measures._measure import Measure
from limo.measures._table import LABEL_WISE, UNIT
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


def test_one_line_adds_a_measure(monkeypatch):
    """Precision at one, as a row function and a line; evaluate and make_scorer know it at once."""

    def precision_at_one(profile, conventions):
        ahead = profile.first(profile.above + profile.tied)
        return np.where(np.isnan(ahead), np.nan, ahead == 0)

    line = Measure(
        "precision_at_1", "P@1", precision_at_one, ROWS, "scores", "high", UNIT, LABEL_WISE
    )
    monkeypatch.setitem(limo.MEASURES, line.name, line)
    Y, S = [[1, 0], [0, 1], [0, 1]], [[0.9, 0.1], [0.8, 0.2], [0.3, 0.4]]
    evaluation = limo.evaluate(Y, S)
    assert evaluation["precision_at_1"] == pytest.approx(2 / 3)
    assert evaluation["precision_at_1"] == pytest.approx(1 - evaluation["one_error"])
    assert "P@1" in str(evaluation)
    assert "P@1" in limo.explain(evaluation)

    class Model:
        def decision_function(self, X):
            return np.array(S)

    assert limo.make_scorer("precision_at_1")(Model(), None, Y) == pytest.approx(2 / 3)


def test_the_same_function_through_another_view(monkeypatch):
    """Micro-averaged average precision needs no new formula."""
    given = limo.MEASURES["average_precision"]
    line = Measure(
        "micro_ap", "micro-AP", given.function, ENTRIES, "scores", "high", UNIT, LABEL_WISE
    )
    monkeypatch.setitem(limo.MEASURES, line.name, line)
    for Y, S, _ in cases(50, seed=41):
        expected = naive.average_precision(
            naive.whole(Y.tolist()), naive.whole(S.tolist()), "standard"
        )
        np.testing.assert_allclose(limo.evaluate(Y, S)["micro_ap"], expected)
