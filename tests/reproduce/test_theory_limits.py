import numba
import numpy as np
import pandas as pd
import pytest

import limo
from limo.reproduce import _theory_limits as limits
from limo.reproduce._theory_limits import (
    draw_violated,
    lower_hull,
    redundancy_facts,
    violated_limit,
    violation_facts,
)

compiled = pytest.mark.skipif(
    numba.config.DISABLE_JIT, reason="many draws and fits take too long without the compiler"
)


def test_only_violated_rows_and_columns_may_have_a_margin_that_is_not_positive():
    rng = np.random.default_rng(0)
    Y = (rng.random((60, 5)) < 0.4).astype(int)
    rows, columns = np.arange(60) < 20, np.arange(5) < 2
    S = draw_violated(rng, Y, rows, columns)
    by_row, by_column = limo.label_wise_margin(Y, S), limo.instance_wise_margin(Y, S)
    assert not (by_row[~rows] <= 0).any()
    assert (by_column[~columns] > 0).all()
    assert (by_row[rows] <= 0).any()
    assert (by_column[columns] <= 0).any()


@compiled
@pytest.mark.parametrize(("rows", "columns"), [(0.0, 0.0), (0.3, 0.0), (0.0, 0.4), (0.5, 0.4)])
def test_micro_auc_approaches_its_limit(rows, columns):
    rng = np.random.default_rng(1)
    found = []
    for _ in range(20):
        Y = (rng.random((3000, 5)) < 0.3).astype(int)
        marked = rng.permutation(3000) < rows * 3000, rng.permutation(5) < columns * 5
        found.append(limo.micro_auc(Y, draw_violated(rng, Y, *marked)))
    assert np.mean(found) == pytest.approx(violated_limit(5, 0.3, rows, columns), abs=2e-3)


def test_the_limit_by_hand():
    """One label, always relevant elsewhere: below a violated column nothing is known."""
    assert violated_limit(5, 0.3, 0.7, 0.0) == 1
    assert violated_limit(5, 0.3, 1.0, 1.0) == 0.5
    # two labels, d = 1/2: E[1 / (R + 1)] with R in {0, 1} is 3/4, half of it is lost
    assert violated_limit(2, 0.5, 0.0, 1.0) == pytest.approx(1 - 3 / 8)


@compiled
def test_the_distance_without_violations_shrinks_like_1_over_m():
    facts = violation_facts(10)
    rates = facts.groupby(["rows", "columns"])["rate"].first()
    assert rates[0.0, 0.0] == pytest.approx(-1, abs=0.15)
    assert rates[0.2, 0.0] == pytest.approx(-1, abs=0.15)


def test_the_hull_of_a_few_points():
    x, y = lower_hull(np.array([0.0, 1.0, 2.0, 3.0]), np.array([0.0, 2.0, 1.0, 3.0]))
    assert x.tolist() == [0, 2, 3]
    assert y.tolist() == [0, 1, 3]


class Data:
    """Labels of random rows, as a data set that is split in two."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.Y = (rng.random((40, 6)) < 0.4).astype(int)


def test_no_scores_are_outside_the_intervals_and_some_reach_their_ends(monkeypatch):
    test = Data(2)
    monkeypatch.setattr(limits, "_halves", lambda name, seed: (None, test))
    bands = limits.band_facts("any")
    rng = np.random.default_rng(3)
    Y = test.Y[(test.Y.sum(axis=1) > 0) & (test.Y.sum(axis=1) < 6)]
    for noise in np.linspace(0, 2, 60):
        S = rng.choice([-1, 1]) * Y + noise * rng.normal(size=Y.shape)
        found = limo.guarantees(Y, S)
        for (name, end), line in bands.groupby(["measure", "end"]):
            limit = np.interp(found["ranking_loss"].value, line["ranking_loss"], line["value"])
            sign = 1 if end == "lowest" else -1
            assert sign * (found[name].value - limit) >= -1e-3  # a chord of 40 points
    perfect = bands[bands["ranking_loss"] == 0].set_index(["measure", "end"])["value"]
    assert perfect["average_precision", "lowest"] == 1
    worst = bands[bands["ranking_loss"] == 1].set_index(["measure", "end"])["value"]
    assert worst["one_error", "lowest"] == worst["one_error", "highest"] == 1


def test_redundancy_of_equal_and_of_opposite_orders():
    models = pd.DataFrame(
        {
            "data": "one",
            "ranking_loss": [0.1, 0.2, 0.3],
            "instance_auc": [0.9, 0.8, 0.7],
            "macro_auc": [0.1, 0.2, 0.3],
        }
    )
    tau = redundancy_facts(models).set_index(["first", "second"])["tau"]
    assert tau["ranking_loss", "instance_auc"] == pytest.approx(1)
    assert tau["ranking_loss", "macro_auc"] == pytest.approx(-1)


@pytest.mark.slow
@compiled
def test_models_of_a_small_data_set(monkeypatch):
    data = limo.datasets.figure1(120)
    monkeypatch.setattr(limits, "_halves", lambda name, seed: limo.datasets.split(data, seed=seed))
    monkeypatch.setattr(limits, "MODELS", {"rows mean": limits.MODELS["rows mean"]})
    facts = limits.model_facts("figure1")
    assert set(facts["path"]) == {"alpha", "training"}
    assert len(facts) == len(limits.ALPHAS) + len(limits.SHARES)
    assert facts["fixed_ranking_loss"].eq(1).all()
    assert facts["average_precision"].between(0, 1).all()
