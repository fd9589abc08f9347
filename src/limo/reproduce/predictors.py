"""Random predictors that are effective in one way and otherwise as wild as can be."""

from typing import Any

import numpy as np

from limo._checks import check_name
from limo._types import Anything, Values
from limo.measures.table import EFFECTIVENESS

__all__ = ["draw_labels", "draw_predictor", "draw_theorem3", "right_thresholds", "wrong_thresholds"]

Generator = np.random.Generator
_FAR = 5.0  # how far rows, columns or the whole may be shifted where that does no harm


def draw_labels(rng: Generator, largest: tuple[int, int] = (12, 8)) -> Anything:
    """Labels of random size and density, no row and no column all 0 or all 1."""
    while True:
        m, n = rng.integers(2, largest[0] + 1), rng.integers(2, largest[1] + 1)
        Y = rng.random((m, n)) < rng.uniform(0.2, 0.8)
        if all(Y.sum(axis).min() > 0 and Y.sum(axis).max() < Y.shape[axis] for axis in (0, 1)):
            return Y.astype(np.int64)


def draw_predictor(rng: Generator, kind: str) -> tuple[Anything, Values]:
    """Labels, and scores effective in the way of ``kind``, one of the four of Table 2."""
    check_name(kind, EFFECTIVENESS, "kind of effectiveness")
    Y = draw_labels(rng)
    if kind == "double":
        return Y, draw_theorem3(rng, Y)
    size = np.abs(rng.normal(size=Y.shape))
    parted = np.where(Y == 1, size + 0.01, -size)
    shifts = {"label-wise": (len(Y), 1), "instance-wise": (1, Y.shape[1]), "entry-wise": (1, 1)}
    return Y, parted + rng.normal(scale=_FAR, size=shifts[kind])


def draw_theorem3(rng: Generator, Y: Anything) -> Values:
    """Double effective scores as in the proof of Theorem 3.

    Relevant entries are uniform in (0, 1), irrelevant ones uniform below the lowest relevant
    score of their row and column.
    """
    relevant = np.where(Y == 1, rng.uniform(size=Y.shape), 1.0)
    below = np.minimum(relevant.min(axis=1)[:, np.newaxis], relevant.min(axis=0))
    return np.where(Y == 1, relevant, below * rng.uniform(size=Y.shape))


def right_thresholds(Y: Anything, S: Values, by: str) -> Any:
    """Thresholds at the highest irrelevant score of each row, each column or of all."""
    axis = {"instance": 1, "label": 0, "global": None}[by]
    return np.where(Y == 1, -np.inf, S).max(axis=axis, keepdims=True)


def wrong_thresholds(rng: Generator, Y: Anything, S: Values, by: str) -> Values:
    """Thresholds that miss the right place by a few items of each row, or column."""
    scores, labels = (S, Y) if by == "instance" else (S.T, Y.T)
    ordered = np.sort(scores, axis=1)
    right = ordered.shape[1] - labels.sum(axis=1)  # how many items lie below a right cut
    miss = rng.integers(0, 1 + ordered.shape[1] // 2, len(right)) * rng.choice([-1, 1])
    missed = rng.random(len(right)) < rng.random()
    place = np.clip(right + np.where(missed, miss, 0), 0, ordered.shape[1])
    cuts = np.column_stack([ordered[:, 0] - 1.0, ordered])
    found: Values = np.take_along_axis(cuts, place[:, np.newaxis], axis=1)[:, 0]
    return found
