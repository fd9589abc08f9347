"""Resampled AUC and average precision of one row against the twins; influence is in measures."""

import numpy as np
import pytest

from limo._kernels.placements import (
    _first_above,
    _first_at_least,
    add_auc_influence,
    add_precision_influence,
    resample_row,
)
from naive import further as naive

EACH, THREE = np.arange(12), np.arange(12) // 3


def case(seed):
    rng = np.random.default_rng(seed)
    y = rng.random(12) < 0.4
    y[:2] = True, False
    return y, rng.integers(0, 5, 12) / 4, rng.integers(0, 3, (6, 12)).astype(float)


@pytest.mark.parametrize("tie", [0.0, 0.5, 1.0])
def test_resampled_values_equal_the_weighted_twins(tie):
    for seed in range(20):
        y, s, weights = case(seed)
        found = np.empty((2, len(weights)))
        resample_row(s, np.argsort(-s), y, EACH, weights, tie, True, found)
        for b, w in enumerate(weights):
            auc = naive.weighted_auc(y, s, w, tie)
            precision = naive.weighted_average_precision(y, s, w)
            for value, expected in zip(found[:, b], (auc, precision), strict=True):
                assert value == pytest.approx(np.nan if expected is None else expected, nan_ok=True)


def test_items_of_one_instance_share_its_weight():
    y, s, _ = case(1)
    weights = np.array([[1.0, 2.0, 0.0, 3.0]])  # three items each
    found, spread = np.empty((2, 1)), np.empty((2, 1))
    resample_row(s, np.argsort(-s), y, THREE, weights, 0.5, True, found)
    resample_row(s, np.argsort(-s), y, EACH, np.repeat(weights, 3, axis=1), 0.5, True, spread)
    np.testing.assert_array_equal(found, spread)


def test_influence_of_items_adds_up_to_that_of_their_instance():
    y, s, _ = case(2)
    for add, option in ((add_auc_influence, 0.5), (add_precision_influence, True)):
        single, together = np.zeros(12), np.zeros(4)
        add(s, y, EACH, option, 2.0, single)
        add(s, y, THREE, option, 2.0, together)
        np.testing.assert_allclose(together, single.reshape(4, 3).sum(axis=1))


def test_the_best_rank_of_ties_counts_only_higher_scores():
    y, s = np.array([True, False, False]), np.array([0.5, 0.5, 0.1])
    found = np.empty((2, 1))
    resample_row(s, np.argsort(-s), y, EACH[:3], np.ones((1, 3)), 0.5, False, found)
    assert found[1, 0] == 1.0
    influence = np.zeros(3)
    add_precision_influence(s, y, EACH[:3], False, 1.0, influence)
    assert influence[1] == 0.0


@pytest.mark.parametrize("size", [0, 1, 2, 3, 7, 8, 9])
def test_places_among_relevant_scores_equal_a_search(size):
    ascending = np.sort(np.random.default_rng(size).integers(0, 4, size)).astype(float)
    for value in np.arange(-0.5, 4.5, 0.5):
        first = _first_at_least(ascending, value)
        assert first == sum(ascending < value)
        assert _first_above(ascending, value, first) == sum(ascending <= value)
