import numpy as np
import pytest

import limo
from limo.report._details import histogram, margins_of


@pytest.mark.parametrize("scale", [1e-6, 1.0, 12345.0])
@pytest.mark.parametrize("shift", [-3.0, 0.0, 0.4, 3.0])
def test_every_value_is_counted_on_its_side_of_zero(scale, shift):
    values = (np.random.default_rng(1).normal(size=500) + shift) * scale
    values[:3] = 0.0
    found = histogram(values)
    assert sum(found["counts"]) + found["below"] + found["above"] == values.size
    zero = round(-found["low"] / found["width"])
    assert found["low"] + zero * found["width"] == pytest.approx(0, abs=1e-9 * scale)
    assert sum(found["counts"][zero:]) + found["above"] == (values > 0).sum()
    assert 8 <= len(found["counts"]) <= 60


def test_tails_are_counted_not_drawn():
    values = np.concatenate([np.linspace(-1, 1, 1000), [1e6]])
    found = histogram(values)
    assert found["above"] >= 1
    assert found["width"] < 0.1


def test_counts_by_hand():
    found = histogram(np.array([-1.0, 0.0, 0.5, 1.0]), n_bins=4)
    assert found == {"low": -1.5, "width": 0.5, "counts": [1, 0, 1, 1, 1], "below": 0, "above": 0}


@pytest.mark.parametrize("values", [[0.0], [2.0], [-2.0, -2.0]])
def test_equal_values(values):
    found = histogram(np.array(values))
    assert sum(found["counts"]) + found["below"] + found["above"] == len(values)


def test_nothing_to_count():
    assert histogram(np.zeros(0)) is None


def test_margins_of_a_view(case):
    Y, S, _ = case
    summary = limo.evaluate(Y, S).margins["rows"]
    found = margins_of(summary)
    assert found["positive"] == (limo.label_wise_margin(Y, S) > 0).sum()
    assert found["rows_with_pairs"] == 39
    assert found["positive_share"] == found["positive"] / 39


def test_of_few_values_none_is_left_out():
    found = histogram(np.array([-9.0, -1.0, 0.5, 7.0]))
    assert (found["below"], found["above"]) == (0, 0)


def test_the_farthest_are_counted_too():
    values = np.append(np.linspace(1, 2, 1000), [1e300, -1e300])
    found = histogram(values)
    assert found["below"] == 1
    assert sum(found["counts"]) + found["above"] == 1001
