"""The objective and its gradient, at weights W and along a ray W + t D.

:class:`Resident` keeps the whole matrix of scores, :class:`Streaming` recomputes it in blocks.
"""

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from limo._solvers.problem import Features, Problem
from limo._types import Values
from limo._views import Pattern
from limo.losses._sums import add_up, entries_of, over_columns, over_rows, work_of
from limo.losses._term import Weighted


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
    """What the optimiser minimises; a ``width`` above 0 rounds the corner of the hinge."""

    width: float

    @property
    def passes(self) -> int:
        """Products with all of the features so far."""

    def start(self, W: Values) -> Point:
        """Compute the objective and its gradient at ``W``."""

    def value(self, point: Point) -> float:
        """The objective at a point, for the current ``width``."""

    def along(self, point: Point, D: Values) -> Ray:
        """The ray from a point in direction ``D``."""


def _ridge(problem: Problem, W: Values) -> float:
    return 0.5 * problem.alpha * float(np.vdot(W, W))


class Resident:
    """Keeps the scores, so that a trial along a ray needs no product with the features."""

    def __init__(self, problem: Problem, width: float = 0.0) -> None:
        self.problem = problem
        self.width = width

    @property
    def passes(self) -> int:
        """Products with all of the features so far."""
        return self.problem.features.passes

    def start(self, W: Values) -> Point:
        """Compute the objective and its gradient at ``W``."""
        S = self.problem.features.times(W)
        value, G = self.loss(S)
        return self.point(W, S, value + _ridge(self.problem, W), G)

    def value(self, point: Point) -> float:
        """The objective at a point, for the current ``width``."""
        assert point.S is not None
        return self.loss(point.S)[0] + _ridge(self.problem, point.W)

    def along(self, point: Point, D: Values) -> Ray:
        """The ray from a point in direction ``D``."""
        return _ResidentRay(self, point, D)

    def loss(self, S: Values) -> tuple[float, Values]:
        """Loss of scores, and its derivative."""
        return add_up(S, self.problem.Y, self.problem.parts, self.width)

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
        loss, self.G = self.objective.loss(self.S)
        self.value = loss + self.ridge + alpha * t * (self.linear + 0.5 * t * self.square)
        slope = float(np.vdot(self.G, self.XD)) + alpha * (self.linear + t * self.square)
        return self.value, slope

    def arrive(self) -> Point:
        return self.objective.point(self.point.W + self.t * self.D, self.S, self.value, self.G)


class Streaming:
    """Recomputes the scores in blocks of instances or labels; they never exist as a whole."""

    def __init__(self, problem: Problem, limit: float, width: float = 0.0) -> None:
        self.problem = problem
        self.width = width
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
        gradient = self.problem.alpha * W
        value = _ridge(self.problem, W)
        for route, add in (
            ("rows", self._rows),
            ("columns", self._columns),
            ("entries", self._entries),
        ):
            parts = [part for part in self.problem.parts if part.term.route == route]
            if parts:
                value += add(W, parts, gradient)
        return Point(W, value, gradient)

    def value(self, point: Point) -> float:
        """The objective at a point, for the current ``width``."""
        return self.start(point.W).value

    def along(self, point: Point, D: Values) -> Ray:
        """The ray from a point in direction ``D``."""
        return _StreamingRay(self, point, D)

    def _rows(self, W: Values, parts: list[Weighted], gradient: Values) -> float:
        value = 0.0
        for start, (block, Y) in zip(self.starts, self._blocks_with_labels(), strict=True):
            S = block.times(W)
            G = np.zeros_like(S)
            own = slice(start, start + len(S))
            for part in parts:
                value += over_rows(work_of(part, self.width), (S,), Y, part.weights[own], G)
            gradient += block.transposed_times(G)
        return value

    def _columns(self, W: Values, parts: list[Weighted], gradient: Values) -> float:
        value, features, n_labels = 0.0, self.problem.features, W.shape[1]
        for start in range(0, n_labels, self.label_step):
            own = slice(start, min(start + self.label_step, n_labels))
            S = features.times(np.ascontiguousarray(W[:, own]))
            G = np.zeros_like(S)
            Y_T = self.problem.Y.T.rows(own.start, own.stop)
            for part in parts:
                value += over_columns(work_of(part, self.width), (S,), Y_T, part.weights[own], G)
            gradient[:, own] += features.transposed_times(G)
        return value

    def _entries(self, W: Values, parts: list[Weighted], gradient: Values) -> float:
        terms = [entries_of(part, self.width) for part in parts]
        blocks = self._blocks_with_labels()
        for block, Y in blocks:
            S = block.times(W)
            for term in terms:
                term.survey(S, Y)
        for term in terms:
            term.begin()
        for block, Y in blocks:
            S = block.times(W)
            G = np.zeros_like(S)
            for term in terms:
                slopes = np.zeros_like(S)
                term.add_irrelevant(S, Y, slopes)
                G += term.weight * slopes
            gradient += block.transposed_times(G)
        relevant = sum(term.weight * term.relevant_derivatives() for term in terms)
        ends = np.cumsum([Y.n_ones for _, Y in blocks])
        for (block, Y), slopes in zip(blocks, np.split(relevant, ends[:-1]), strict=True):
            G = np.zeros(Y.shape)
            G.reshape(-1)[Y.flat] = slopes
            gradient += block.transposed_times(G)
        return math.fsum(term.weight * term.value for term in terms)

    def _blocks_with_labels(self) -> list[tuple[Features, Pattern]]:
        labels = (
            self.problem.Y.rows(start, start + block.X.shape[0])
            for start, block in zip(self.starts, self.blocks, strict=True)
        )
        return list(zip(self.blocks, labels, strict=True))


class _StreamingRay:
    def __init__(self, objective: Streaming, point: Point, D: Values) -> None:
        self.objective, self.point, self.D = objective, point, D

    def at(self, t: float) -> tuple[float, float]:
        self.arrived = self.objective.start(self.point.W + t * self.D)
        return self.arrived.value, float(np.vdot(self.arrived.gradient, self.D))

    def arrive(self) -> Point:
        return self.arrived
