"""The objective and its gradient, at weights W and along a ray W + t D.

:class:`Resident` keeps the whole matrix of scores; ``limo._solvers.blocks`` has the objective over
blocks of instances.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from limo._solvers.problem import Problem
from limo._types import Values
from limo.losses._sums import add_up


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
    """The function to minimise; a ``width`` above 0 rounds the corner of the hinge."""

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
