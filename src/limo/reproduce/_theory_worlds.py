"""The consistency map: which loss finds the best scores for which measure, with unlimited data.

A world is a distribution over label sets (at one point x), or the probabilities of labels at a few
points. Each loss is minimised over all scores to high precision, and the order of the minimiser is
compared with the best of all orders. A regret above 0 is a counterexample: the loss is not
consistent with the measure. A regret of 0 in all worlds is an observation, unless proven.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import minimize

from limo._types import Values
from limo.losses import Term
from limo.measures._table import PAPER_MEASURES

# Probabilities are multiples of 1 / _GRAIN, so that a counterexample can be written down.
_GRAIN = 100
_EXACT = 1e-9
# Scores of a minimiser that differ by less are equal: the worst of their orders counts.
_EQUAL = 1e-5

Objective = Callable[[Values], tuple[float, Values]]

ROW_LOSSES = tuple(
    [Term("rows", kind) for kind in ("mean", "top", "bottom", "worst")]
    + [Term("entries", "pointwise")]
    + [Term("rows", "pointwise", share=share) for share in ("balanced", "pairs")]
)
MATRIX_LOSSES = (
    Term("columns", "mean"),
    Term("entries", "mean"),
    Term("entries", "pointwise"),
    Term("columns", "pointwise"),
)
ROW_MEASURES = ("ranking_loss", "one_error", "coverage", "average_precision", "instance_f1")
MATRIX_MEASURES = ("macro_auc", "micro_auc")

# What is proven, by loss and measure: whether the regret is 0, and by whom.
LITERATURE: Mapping[tuple[str, str], tuple[bool, str]] = {
    ("rows mean", "ranking_loss"): (False, "Gao and Zhou 2011: no convex loss of pairs is"),
    ("rows pointwise, pairs", "ranking_loss"): (True, "Dembczynski et al. 2012"),
    ("entries pointwise", "one_error"): (True, "the marginals suffice: docs/guarantees.md"),
    ("entries pointwise", "instance_f1"): (False, "Dembczynski et al. 2011: l^2 + 1 statistics"),
    ("entries pointwise", "hamming_loss"): (True, "Gao and Zhou 2011; strongly proper"),
    ("entries pointwise", "macro_auc"): (True, "Agarwal 2014"),
    ("entries pointwise", "micro_auc"): (True, "Agarwal 2014, all entries as one label"),
    ("columns pointwise", "macro_auc"): (True, "Agarwal 2014, Menon and Williamson 2016"),
    ("columns mean", "macro_auc"): (True, "Gao and Zhou 2015: the squared hinge of pairs is"),
    ("entries mean", "micro_auc"): (True, "Gao and Zhou 2015, all entries as one label"),
    ("entries mean", "macro_auc"): (True, "follows from the order of all entries"),
    **{
        (f"rows {kind}", "average_precision"): (False, "Calauzenes et al. 2012: no convex loss is")
        for kind in ("mean", "top", "bottom", "worst", "pointwise, balanced", "pointwise, pairs")
    },
    ("entries pointwise", "average_precision"): (False, "Calauzenes et al. 2012"),
}


# Worlds that random draws hardly ever find; they are part of every map.
KEPT = (
    "0000: 0.01, 0001: 0.24, 0010: 0.38, 0011: 0.01, 0100: 0.01, 0101: 0.01, 0110: 0.23, "
    "0111: 0.01, 1000: 0.01, 1001: 0.01, 1010: 0.01, 1011: 0.01, 1100: 0.01, 1101: 0.01, "
    "1110: 0.03, 1111: 0.01",
    "0000: 0.02, 0001: 0.24, 0010: 0.38, 0011: 0.01, 0100: 0.01, 0101: 0.01, 0110: 0.20, "
    "0111: 0.01, 1000: 0.01, 1001: 0.01, 1010: 0.01, 1011: 0.01, 1100: 0.01, 1101: 0.01, "
    "1110: 0.05, 1111: 0.01",
    "0000: 0.02, 0001: 0.30, 0010: 0.01, 0011: 0.01, 0100: 0.01, 0101: 0.01, 0110: 0.01, "
    "0111: 0.23, 1000: 0.01, 1001: 0.01, 1010: 0.30, 1011: 0.01, 1100: 0.04, 1101: 0.01, "
    "1110: 0.01, 1111: 0.01",
    "0000: 0.02, 0001: 0.36, 0010: 0.01, 0011: 0.01, 0100: 0.01, 0101: 0.01, 0110: 0.01, "
    "0111: 0.23, 1000: 0.01, 1001: 0.01, 1010: 0.24, 1011: 0.01, 1100: 0.04, 1101: 0.01, "
    "1110: 0.01, 1111: 0.01",
)


def loss_name(term: Term) -> str:
    """The name of a loss in the map."""
    share = f", {term.share}" if (term.view, term.aggregation) == ("rows", "pointwise") else ""
    return f"{term.view} {term.aggregation}{share}"


@dataclass(frozen=True, eq=False)
class World:
    """The probability of every label set at one point.

    Attributes
    ----------
    sets : array of shape (n_sets, n_labels)
        All label sets, as rows of 0 and 1.
    probability : array of shape (n_sets,)
        Their probabilities; none is 0.
    """

    sets: Values
    probability: Values

    @classmethod
    def draw(cls, rng: np.random.Generator, n_labels: int) -> "World":
        """A world at random; every label set has some probability."""
        sets = np.array(list(itertools.product((0.0, 1.0), repeat=n_labels)))
        shares = rng.dirichlet(np.full(len(sets), rng.choice([0.3, 1.0, 3.0])))
        shares *= rng.choice([0.2, 1.0]) ** sets.sum(axis=1)  # few labels in half of the worlds
        counts = 1 + rng.multinomial(_GRAIN - len(sets), shares / shares.sum())
        return cls(sets, counts / _GRAIN)

    @classmethod
    def read(cls, text: str) -> "World":
        """A world from the text of its counterexample."""
        parts = dict(part.split(": ") for part in text.split(", "))
        sets = np.array([[float(c) for c in labels] for labels in parts])
        return cls(sets, np.array(list(map(float, parts.values()))))

    def __str__(self) -> str:
        names = ("".join(str(int(y)) for y in labels) for labels in self.sets)
        return ", ".join(f"{n}: {q:.2f}" for n, q in zip(names, self.probability, strict=True))


# Losses of one point: sums over groups of pairs, c log(1 + sum of exp(-d)), or over single labels.


def minimiser(world: World, term: Term) -> Values:
    """The scores that minimise the expected loss."""
    p, n = world.sets.sum(axis=1), (1 - world.sets).sum(axis=1)
    exist = (p > 0) & (n > 0)
    if term.aggregation == "pointwise":
        share = {
            "uniform": (1 + 0 * p, 1 + 0 * n),
            "balanced": (1 / np.fmax(p, 1), 1 / np.fmax(n, 1)),
        }
        pairs = 1 / np.fmax(p * n, 1)
        up, down = share.get(term.share, (pairs, pairs))
        weight = world.probability * (exist | (term.share == "uniform"))
        positive, negative = (weight * up) @ world.sets, (weight * down) @ (1 - world.sets)
        odds: Values = np.log(positive / negative)  # of the logistic loss, label by label
        return odds
    sets, q = world.sets[exist], world.probability[exist]
    if term.aggregation == "mean":
        share = (q / (p * n)[exist])[:, np.newaxis]
        return _solve(squared_hinge_pairs((sets * share).T @ (1 - sets)), sets.shape[1])
    return _solve(soft_pairs(*pair_groups(sets, q, term.aggregation)), sets.shape[1])


def pair_groups(sets: Values, q: Values, kind: str) -> tuple[Values, Values]:
    """Weights of the groups, and which pairs (u, v) belong to each."""
    groups, weights = [], []
    for labels, share in zip(sets, q, strict=True):
        pairs = np.outer(labels, 1 - labels)
        if kind == "worst":
            parts = [pairs]
        elif kind == "top":
            parts = [
                np.where(np.arange(len(labels))[:, None] == u, pairs, 0)
                for u in labels.nonzero()[0]
            ]
        else:
            parts = [
                np.where(np.arange(len(labels)) == v, pairs, 0) for v in (1 - labels).nonzero()[0]
            ]
        groups += parts
        weights += [share / len(parts)] * len(parts)
    return np.array(weights), np.array(groups)


def soft_pairs(weights: Values, groups: Values) -> Objective:
    """Sum of weight * log(1 + sum over the pairs of a group of exp(s_v - s_u))."""

    def value(s: Values) -> tuple[float, Values]:
        inside = groups * np.exp(s[np.newaxis, :] - s[:, np.newaxis])
        total = 1 + inside.sum(axis=(1, 2))
        pull = np.tensordot(weights / total, inside, axes=1)
        return float(weights @ np.log(total)), pull.sum(axis=0) - pull.sum(axis=1)

    return value


def squared_hinge_pairs(weights: Values) -> Objective:
    """Sum over pairs (u, v) of weight * max(0, 1 - s_u + s_v)^2."""

    def value(s: Values) -> tuple[float, Values]:
        z = np.maximum(1 - s[:, np.newaxis] + s[np.newaxis, :], 0)
        pull = 2 * weights * z
        return float((weights * z**2).sum()), pull.sum(axis=0) - pull.sum(axis=1)

    return value


def _solve(objective: Objective, size: int) -> Values:
    minimum = minimize(objective, np.zeros(size), jac=True, method="BFGS", options={"gtol": 1e-10})
    return np.asarray(minimum.x)


# Measures of one point: the expected value of every order.


def order_values(sets: Values, order: tuple[int, ...]) -> dict[str, Values]:
    """Losses of all label sets if the labels are ranked in this order; 0 where undefined."""
    ranked = sets[:, list(order)]
    p, n = ranked.sum(axis=1), (1 - ranked).sum(axis=1)
    hits = ranked.cumsum(axis=1)
    places = np.arange(1, len(order) + 1)
    lost = ((1 - ranked).cumsum(axis=1) * ranked).sum(axis=1)
    precision = (ranked * hits / places).sum(axis=1)
    return {
        "ranking_loss": lost / np.fmax(p * n, 1),
        "one_error": np.where(p > 0, 1 - ranked[:, 0], 0),
        "coverage": (ranked * places).max(axis=1),
        "average_precision": np.where(p > 0, 1 - precision / np.fmax(p, 1), 0),
    }


def risks(world: World) -> tuple[list[tuple[int, ...]], dict[str, Values]]:
    """All orders, and for each measure the expected loss of each.

    F1 is that of the best number of labels from the top, chosen for the distribution.
    """
    orders = list(itertools.permutations(range(world.sets.shape[1])))
    losses: dict[str, list[float]] = {name: [] for name in ROW_MEASURES}
    for order in orders:
        for name, values in order_values(world.sets, order).items():
            losses[name].append(float(world.probability @ values))
        ranked = world.sets[:, list(order)]
        places = np.arange(1, len(order) + 1)
        f1 = 2 * ranked.cumsum(axis=1) / (ranked.sum(axis=1)[:, np.newaxis] + places)
        losses["instance_f1"].append(1 - float((world.probability @ f1).max()))
    return orders, {name: np.array(values) for name, values in losses.items()}


def regrets(world: World) -> Iterator[tuple[Term, str, float]]:
    """The regret of each loss on each measure, in one world."""
    orders, expected = risks(world)
    for term in ROW_LOSSES:
        scores = minimiser(world, term)
        fitting = [i for i, order in enumerate(orders) if _sorted(scores[list(order)])]
        for name in ROW_MEASURES:
            yield term, name, float(expected[name][fitting].max() - expected[name].min())
    marginals = world.probability @ world.sets
    wrong = (minimiser(world, Term("entries", "pointwise")) > 0) != (marginals > 0.5)
    regret = np.abs(2 * marginals - 1)[wrong].sum() / marginals.size
    yield Term("entries", "pointwise"), "hamming_loss", float(regret)


def _sorted(scores: Values) -> bool:
    return bool((np.diff(scores) <= _EQUAL).all())


# Several points: only the probability of each label at each point matters.


def matrix_regrets(eta: Values) -> Iterator[tuple[Term, str, float]]:
    """Regrets on macro-AUC and micro-AUC; ``eta`` has a row per point, all equally likely."""
    best = _auc(eta, eta), _auc(eta.reshape(-1, 1), eta.reshape(-1, 1))
    for term in MATRIX_LOSSES:
        S = _matrix_minimiser(eta, term)
        yield term, "macro_auc", best[0] - _auc(eta, S)
        yield term, "micro_auc", best[1] - _auc(eta.reshape(-1, 1), S.reshape(-1, 1))


def _matrix_minimiser(eta: Values, term: Term) -> Values:
    if term.aggregation == "pointwise":
        odds: Values = np.log(eta / (1 - eta))
        if term.share != "uniform":
            odds -= np.log(eta.sum(axis=0) / (1 - eta).sum(axis=0))
        return odds
    columns = eta if term.view == "columns" else eta.reshape(-1, 1)
    solved = [_solve(squared_hinge_pairs(np.outer(q, 1 - q)), q.size) for q in columns.T]
    return np.column_stack(solved).reshape(eta.shape)


def _auc(eta: Values, S: Values) -> float:
    """The mean over columns of the expected AUC of scores; a tie is an error."""
    values = []
    for q, s in zip(eta.T, S.T, strict=True):
        pairs = np.outer(q, 1 - q)
        np.fill_diagonal(pairs, 0)  # a point compared with itself: the same for all scores
        won = s[:, np.newaxis] > s[np.newaxis, :] + _EQUAL
        values.append(float((pairs * won).sum() / pairs.sum()))
    return float(np.mean(values))


# The map


def map_facts(n_worlds: int, seed: int = 0) -> pd.DataFrame:
    """For each loss and measure: the worlds with a regret, the largest, and a counterexample.

    A third of the worlds have 2, 3 and 4 labels each; a counterexample has as few as possible. The
    worlds in ``KEPT`` are added.
    """
    rng = np.random.default_rng(seed)
    lines: list[dict[str, Any]] = []
    for n_labels in (2, 3, 4):
        for _ in range(-(-n_worlds // 3)):
            world = World.draw(rng, n_labels)
            lines += [_line(n_labels, world, *regret) for regret in regrets(world)]
            eta = rng.integers(1, 20, size=(3, 2)) / 20
            text = "; ".join(" ".join(f"{q:.2f}" for q in row) for row in eta)
            lines += [_line(2, text, *regret) for regret in matrix_regrets(eta)]
    for text in KEPT:
        world = World.read(text)
        lines += [_line(world.sets.shape[1], world, *regret) for regret in regrets(world)]
    table = pd.DataFrame(lines)
    cells = table.groupby(["loss", "measure"], sort=False)
    return pd.DataFrame([_cell(str(key[0]), str(key[1]), cell) for key, cell in cells])


def _line(n_labels: int, world: Any, term: Term, measure: str, regret: float) -> dict[str, Any]:
    own = {"loss": loss_name(term), "measure": measure, "labels": n_labels, "regret": regret}
    return own | {"world": str(world)}


def _cell(loss: str, measure: str, cell: pd.DataFrame) -> dict[str, Any]:
    positive = cell[cell["regret"] > _EXACT]
    smallest = positive[positive["labels"] == positive["labels"].min()]
    example = smallest.loc[smallest["regret"].idxmax()] if len(smallest) else None
    zero, source = LITERATURE.get((loss, measure), (None, ""))
    return {
        "loss": loss,
        "measure": measure,
        "worlds": len(cell),
        "with_regret": len(positive),
        "largest_regret": float(cell["regret"].max()),
        "proven": "" if zero is None else ("consistent" if zero else "not consistent"),
        "source": source,
        "labels": 0 if example is None else int(example["labels"]),
        "regret": 0.0 if example is None else float(example["regret"]),
        "counterexample": "" if example is None else str(example["world"]),
    }


def measure_titles() -> dict[str, str]:
    """The titles of the measures of the map, in its order."""
    names = (*ROW_MEASURES, "hamming_loss", *MATRIX_MEASURES)
    return {name: PAPER_MEASURES[name].title for name in names}
