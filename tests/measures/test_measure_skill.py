"""Blind values against the mean over every ranking there is."""

import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest

import limo
from limo._checks import check_labels
from limo._views import ROWS
from limo.measures._measure import Measure, blind_value, skill
from limo.measures._table import EITHER, MEASURES
from naive import measures as naive

Y = [[1, 0, 0, 0], [0, 1, 1, 0], [1, 1, 1, 0], [0, 0, 0, 0], [1, 1, 1, 1]]
RANKING = ["ranking_loss", "instance_auc", "one_error", "coverage", "average_precision"]


def blind(name, labels, conventions="standard"):
    scores = np.zeros(np.shape(labels))
    evaluation = limo.evaluate(labels, scores, np.asarray(labels), conventions=conventions)
    chosen = limo.CONVENTIONS[conventions]
    pattern = check_labels(labels, "y_true")
    return blind_value(
        MEASURES[name], evaluation.results[name], MEASURES[name].view.items(pattern), chosen
    )


@pytest.mark.parametrize("name", RANKING)
@pytest.mark.parametrize("conventions", ["standard", "sklearn"])
def test_a_blind_ranking_is_the_mean_of_all_rankings(name, conventions):
    if conventions == "sklearn" and name == "instance_auc":
        assert math.isnan(blind(name, Y, conventions))
        return
    orders = list(itertools.permutations(range(4)))
    # a mean over rows: it is enough to give every row the same order
    values = [getattr(naive, name)(Y, [list(o)] * len(Y), conventions) for o in orders]
    assert blind(name, Y, conventions) == pytest.approx(np.mean(values), abs=1e-12)


@pytest.mark.parametrize("name", ["macro_f1", "instance_f1", "micro_f1"])
def test_blind_labels_are_all(name):
    everything = np.ones(np.shape(Y), dtype=int).tolist()
    expected = getattr(naive, name)(Y, everything, "standard")
    assert blind(name, Y) == pytest.approx(expected, abs=1e-12)


def test_blind_hamming_predicts_nothing_or_everything():
    assert blind("hamming_loss", Y) == pytest.approx(10 / 20)
    assert blind("hamming_loss", [[1, 1, 0], [1, 1, 1]]) == pytest.approx(1 / 6)


def test_one_label_only():
    assert blind("average_precision", [[1], [0]]) == 1.0


def test_skill():
    assert skill(0.75, 0.5, 1.0) == 0.5
    assert skill(0.6, 0.5, 0.0) == pytest.approx(-0.2)
    assert math.isnan(skill(1.0, 1.0, 1.0))


def test_nothing_is_known_of_new_measures_or_where_no_row_counts():
    def novelty(rows, conventions):
        return rows

    new = Measure("novelty", "novelty", novelty, ROWS, "scores", "high", (0, 1), EITHER)
    nothing = SimpleNamespace(undefined=None, filled_with=None, weights=None)
    assert math.isnan(blind_value(new, nothing, None, None))
    assert math.isnan(blind("ranking_loss", [[0, 0], [1, 1]]))
