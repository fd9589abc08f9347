"""The consistency map: exact minimisers, expected measures from their definitions, the literature."""

import itertools

import numpy as np
import pytest

import limo
from limo.losses import derivatives
from limo.reproduce._theory_worlds import (
    KEPT,
    LITERATURE,
    ROW_LOSSES,
    World,
    loss_name,
    map_facts,
    matrix_regrets,
    minimiser,
    regrets,
    risks,
)


@pytest.fixture(scope="module")
def cells():
    return map_facts(90).set_index(["loss", "measure"])


def population(world):
    """The label sets, each as often as its probability in hundredths says."""
    return np.repeat(world.sets, np.rint(100 * world.probability).astype(int), axis=0).astype(int)


@pytest.mark.parametrize("term", ROW_LOSSES, ids=loss_name)
def test_minimisers_have_no_gradient(term):
    """The loss of limo.losses on a sample with the world's frequencies is stationary there."""
    rng = np.random.default_rng(0)
    for n_labels in (2, 3, 4):
        world = World.draw(rng, n_labels)
        Y = population(world)
        S = np.tile(minimiser(world, term), (len(Y), 1))
        assert derivatives(Y, S, term).gradient.sum(axis=0) == pytest.approx(0, abs=1e-6)


def test_risks_are_the_measures_of_the_population():
    world = World.draw(np.random.default_rng(1), 3)
    Y = population(world)
    orders, found = risks(world)
    pairs = (Y.sum(axis=1) > 0) & (Y.sum(axis=1) < 3)
    some = Y.sum(axis=1) > 0
    for i, order in enumerate(orders):
        scores = np.empty(3)
        scores[list(order)] = [3.0, 2.0, 1.0]
        S = np.tile(scores, (len(Y), 1))
        expected = {
            "ranking_loss": limo.ranking_loss(Y[pairs], S[pairs]) * pairs.mean(),
            "one_error": limo.one_error(Y[some], S[some]) * some.mean(),
            "coverage": (limo.coverage(Y[some], S[some]) + 1) * some.mean(),
            "average_precision": (1 - limo.average_precision(Y[some], S[some])) * some.mean(),
            "instance_f1": 1 - max(
                limo.instance_f1(Y, np.tile((scores > 3 - k).astype(int), (len(Y), 1)))
                for k in (1, 2, 3)
            ),
        }  # fmt: skip
        for name, value in expected.items():
            assert found[name][i] == pytest.approx(value), name


def test_the_map_agrees_with_the_literature(cells):
    for key, (consistent, source) in LITERATURE.items():
        assert source
        assert (cells.loc[key, "with_regret"] == 0) == consistent, key


def test_counterexamples_can_be_checked_again(cells):
    """Each stored counterexample is a world whose regret is the stored one."""
    seen = 0
    for (loss, measure), cell in cells.iterrows():
        if cell["with_regret"] == 0:
            assert not cell["counterexample"]
            continue
        if ":" in cell["counterexample"]:
            found = regrets(World.read(cell["counterexample"]))
        else:
            rows = cell["counterexample"].split("; ")
            found = matrix_regrets(np.array([list(map(float, row.split())) for row in rows]))
        own = {(loss_name(term), name): regret for term, name, regret in found}
        assert own[loss, measure] == pytest.approx(cell["regret"], abs=1e-9)
        assert cell["regret"] > 1e-6
        seen += 1
    assert seen > 20


def test_the_map_is_the_same_for_the_same_seed():
    assert map_facts(3, seed=5).equals(map_facts(3, seed=5))
    assert not map_facts(3, seed=5).equals(map_facts(3, seed=6))


@pytest.mark.slow
def test_two_labels_are_no_counterexample_for_ranking(cells):
    """With two labels there is one pair, so every loss orders it correctly."""
    rows = cells.loc[[key for key in cells.index if key[1] == "ranking_loss"]]
    assert set(rows["labels"]) <= {0, 3, 4}


def test_marginals_suffice_for_one_error():
    """One-error of an order is 1 minus the marginal of its first label, of sets that have one."""
    world = World.draw(np.random.default_rng(2), 4)
    orders, found = risks(world)
    marginals = world.probability @ world.sets
    some = 1 - world.probability[world.sets.sum(axis=1) == 0].sum()
    for order, risk in zip(orders, found["one_error"], strict=True):
        assert risk == pytest.approx(some - marginals[order[0]])


def test_weighted_marginals_suffice_for_ranking_loss():
    """Ranking loss is a sum over pairs of E[y_u (1 - y_v) / pn], so E[y / pn] gives the order."""
    for seed in range(20):
        world = World.draw(np.random.default_rng(seed), 4)
        p = world.sets.sum(axis=1)
        weights = world.probability / np.fmax(p * (4 - p), 1) * (p < 4)
        orders, found = risks(world)
        best = orders[int(found["ranking_loss"].argmin())]
        assert (np.diff((weights @ world.sets)[list(best)]) <= 1e-12).all()


def test_kept_worlds_have_a_regret_that_draws_hardly_find():
    """The best label set for F1 need not be the first labels by probability."""
    worlds = [World.read(text) for text in KEPT]
    losses = ("worst", "bottom", "pointwise, pairs", "pointwise, balanced")
    for kept, loss in zip(worlds, losses, strict=True):
        found = {(loss_name(t), m): r for t, m, r in regrets(kept)}
        assert found[f"rows {loss}", "instance_f1"] > 0.005
    world = worlds[0]
    marginals = world.probability @ world.sets
    best = max(
        itertools.product((0, 1), repeat=4),
        key=lambda z: (
            world.probability @ (2 * world.sets @ z / np.fmax(world.sets.sum(1) + sum(z), 1))
        ),
    )
    chosen, left = marginals[np.array(best) == 1], marginals[np.array(best) == 0]
    assert chosen.min() < left.max()
