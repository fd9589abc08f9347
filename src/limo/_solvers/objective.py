"""The objective and its gradient, at weights W and along a ray W + t D.

:class:`Resident` keeps the whole matrix of scores, :class:`Streaming` recomputes it in blocks.
"""

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from limo._solvers.problem import Problem
from limo._types import Values
from limo.losses import SQUARED_HINGE, AllPairs, PairLoss, add_columns, add_rows, pair_loss


@dataclass(frozen=True, eq=False)
class Point:
    """Weights with the objective and its gradient there, and the scores if they are kept."""

    W: Values
    value: float
    gradient: Values
    S: Values | None = None


class Ray(Protocol):
    """The objective along W + t D."""

    def at(self, t: float) -> tuple[float, float]:
        """Value and slope at ``t``."""

    def arrive(self) -> Point:
        """The point of the last ``t``."""


class Objective(Protocol):
    """What the optimiser minimises."""

    loss: PairLoss

    @property
    def passes(self) -> int:
        """Products with all of the features so far."""

    def start(self, W: Values) -> Point:
        """Compute the objective and its gradient at ``W``."""

    def value(self, point: Point) -> float:
        """The objective at a point, for the current ``loss``."""

    def along(self, point: Point, D: Values) -> Ray:
        """The ray from a point in direction ``D``."""


def _ridge(problem: Problem, W: Values) -> float:
    return 0.5 * problem.alpha * float(np.vdot(W, W))


class Resident:
    """Keeps the scores, so that a trial along a ray needs no product with the features."""

    def __init__(self, problem: Problem, loss: PairLoss = SQUARED_HINGE) -> None:
        self.problem = problem
        self.loss = loss

    @property
    def passes(self) -> int:
        """Products with all of the features so far."""
        return self.problem.features.passes

    def start(self, W: Values) -> Point:
        """Compute the objective and its gradient at ``W``."""
        S = self.problem.features.times(W)
        value, G = self.pair_loss(S)
        return self.point(W, S, value + _ridge(self.problem, W), G)

    def value(self, point: Point) -> float:
        """The objective at a point, for the current ``loss``."""
        assert point.S is not None
        return self.pair_loss(point.S)[0] + _ridge(self.problem, point.W)

    def along(self, point: Point, D: Values) -> Ray:
        """The ray from a point in direction ``D``."""
        return _ResidentRay(self, point, D)

    def pair_loss(self, S: Values) -> tuple[float, Values]:
        """Loss of scores, and its derivative."""
        return pair_loss(S, self.problem.Y, self.problem.pair_weights, self.loss)

    def point(self, W: Values, S: Values, value: float, G: Values) -> Point:
        """A point from its scores, its objective and the derivative of the loss by the scores."""
        gradient = self.problem.features.transposed_times(G)
        gradient += self.problem.alpha * W
        return Point(W, value, gradient, S)


class _ResidentRay:
    def __init__(self, objective: Resident, point: Point, D: Values) -> None:
        self.objective, self.point, self.D = objective, point, D
        self.XD = objective.problem.features.times(D)
        self.ridge = _ridge(objective.problem, point.W)
        self.linear, self.square = float(np.vdot(point.W, D)), float(np.vdot(D, D))

    def at(self, t: float) -> tuple[float, float]:
        alpha = self.objective.problem.alpha
        assert self.point.S is not None
        self.t, self.S = t, self.point.S + t * self.XD
        loss, self.G = self.objective.pair_loss(self.S)
        self.value = loss + self.ridge + alpha * t * (self.linear + 0.5 * t * self.square)
        slope = float(np.vdot(self.G, self.XD)) + alpha * (self.linear + t * self.square)
        return self.value, slope

    def arrive(self) -> Point:
        return self.objective.point(self.point.W + self.t * self.D, self.S, self.value, self.G)


class Streaming:
    """Recomputes the scores in blocks of instances or labels; they never exist as a whole."""

    def __init__(self, problem: Problem, limit: float, loss: PairLoss = SQUARED_HINGE) -> None:
        self.problem = problem
        self.loss = loss
        m, l = problem.Y.shape  # noqa: E741
        # Four matrices per block: its scores, their derivative, and a copy of both by columns.
        entries = max(1, int(limit / (4 * 8)))
        self.row_step = max(1, min(m, entries // l))
        self.label_step = max(1, min(l, entries // m))
        self.blocks = problem.features.blocks(self.row_step)
        self.starts = range(0, m, self.row_step)

    @property
    def passes(self) -> int:
        """Products with all of the features so far."""
        in_blocks = sum(block.passes for block in self.blocks) / len(self.blocks)
        return self.problem.features.passes + math.ceil(in_blocks)

    def start(self, W: Values) -> Point:
        """Compute the objective and its gradient at ``W``."""
        weights = self.problem.pair_weights
        gradient = self.problem.alpha * W
        value = _ridge(self.problem, W)
        if weights.rows.any():
            value += self._rows(W, gradient)
        if weights.columns.any():
            value += self._columns(W, gradient)
        if weights.entries:
            value += self._entries(W, gradient)
        return Point(W, value, gradient)

    def value(self, point: Point) -> float:
        """The objective at a point, for the current ``loss``."""
        return self.start(point.W).value

    def along(self, point: Point, D: Values) -> Ray:
        """The ray from a point in direction ``D``."""
        return _StreamingRay(self, point, D)

    def _rows(self, W: Values, gradient: Values) -> float:
        value = 0.0
        for start, block in zip(self.starts, self.blocks, strict=True):
            S = block.times(W)
            G = np.zeros_like(S)
            stop = start + len(S)
            weights = self.problem.pair_weights.rows[start:stop]
            value += add_rows(S, self.problem.Y.rows(start, stop), weights, self.loss, G)
            gradient += block.transposed_times(G)
        return value

    def _columns(self, W: Values, gradient: Values) -> float:
        value, features, n_labels = 0.0, self.problem.features, W.shape[1]
        for start in range(0, n_labels, self.label_step):
            own = slice(start, min(start + self.label_step, n_labels))
            S = features.times(np.ascontiguousarray(W[:, own]))
            G = np.zeros_like(S)
            labels = self.problem.Y.T.rows(own.start, own.stop)
            value += add_columns(S, labels, self.problem.pair_weights.columns[own], self.loss, G)
            gradient[:, own] += features.transposed_times(G)
        return value

    def _entries(self, W: Values, gradient: Values) -> float:
        parts = [
            (block, self.problem.Y.rows(start, start + block.X.shape[0]))
            for start, block in zip(self.starts, self.blocks, strict=True)
        ]
        weight = self.problem.pair_weights.entries
        relevant = [block.times(W).reshape(-1)[Y.flat] for block, Y in parts]
        pairs = AllPairs(np.concatenate(relevant), self.loss)
        for block, Y in parts:
            S = block.times(W)
            G = np.zeros_like(S)
            pairs.add_irrelevant(S, Y, G)
            gradient += weight * block.transposed_times(G)
        ends = np.cumsum([Y.n_ones for _, Y in parts])
        relevant_slopes = np.split(pairs.relevant_derivatives(), ends[:-1])
        for (block, Y), slopes in zip(parts, relevant_slopes, strict=True):
            G = np.zeros(Y.shape)
            G.reshape(-1)[Y.flat] = slopes
            gradient += weight * block.transposed_times(G)
        return weight * pairs.value


class _StreamingRay:
    def __init__(self, objective: Streaming, point: Point, D: Values) -> None:
        self.objective, self.point, self.D = objective, point, D

    def at(self, t: float) -> tuple[float, float]:
        self.arrived = self.objective.start(self.point.W + t * self.D)
        return self.arrived.value, float(np.vdot(self.arrived.gradient, self.D))

    def arrive(self) -> Point:
        return self.arrived
