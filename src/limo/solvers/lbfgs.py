"""Limited-memory BFGS that stops on a certified gap."""

import math
import time
from collections import deque
from dataclasses import dataclass, field

import numpy as np

from limo._types import Values
from limo.solvers.base import Callback, Progress, Status
from limo.solvers.objective import Objective, Point, Ray

__all__ = ["Stop", "minimise"]

# Wolfe conditions: enough decrease, and a slope flat enough to have learnt something.
_DECREASE = 1e-4
_FLATNESS = 0.9
_MOST_TRIALS = 25
_MEMORY = 10


@dataclass(frozen=True)
class Stop:
    """When to stop: at a certified gap, after so many iterations, or when a callback says so.

    The gap must be a small share of the minimum, and of what has been gained over ``zero``, the
    objective of no model: where a strong ridge leaves little to gain, the first alone would
    take hardly any model for a solution.
    """

    tol: float
    max_iter: int
    alpha: float
    zero: float = math.inf
    callback: Callback | None = None
    clock: float = field(default_factory=time.perf_counter)

    def gap(self, point: Point) -> float:
        """Bound of value - minimum: J is alpha-strongly convex, so |gradient|^2 / (2 alpha)."""
        return float(np.vdot(point.gradient, point.gradient)) / (2 * self.alpha)

    def reached(self, gap: float, value: float) -> bool:
        """Whether a gap is small enough."""
        return gap <= self.tol * min(value - gap, self.zero - value)

    def seconds(self) -> float:
        """Time since the start."""
        return time.perf_counter() - self.clock


def relative(gap: float, value: float) -> float:
    """The gap as a share of the lower bound it implies; infinite if that is not positive."""
    return gap / (value - gap) if value > gap else math.inf if gap > 0 else 0.0


def minimise(
    objective: Objective, W: Values, stop: Stop, scale: Values
) -> tuple[Point, int, Status]:
    """Minimise from ``W``; give the last point, the number of iterations, and how it ended.

    ``scale`` holds for each row of ``W`` how curved the objective is along it, roughly and
    up to a factor: the better the guess, the fewer the iterations.
    """
    point = objective.start(W)
    history = _History(scale[:, np.newaxis])
    for iteration in range(stop.max_iter + 1):
        gap = stop.gap(point)
        asked = stop.callback and stop.callback(
            Progress(iteration, point.value, relative(gap, point.value), stop.seconds())
        )
        if stop.reached(gap, point.value):
            return point, iteration, Status.CONVERGED
        if asked:
            return point, iteration, Status.STOPPED
        if iteration == stop.max_iter:
            break
        D = history.direction(point.gradient)
        slope = float(np.vdot(point.gradient, D))
        ray = objective.along(point, D)
        if not _search(ray, point.value, slope, 1.0 if history.known else _first_step(point)):
            return point, iteration, Status.STALLED
        arrived = ray.arrive()
        history.learn(point, arrived)
        point = arrived
    return point, stop.max_iter, Status.OUT_OF_ITERATIONS


def _first_step(point: Point) -> float:
    return 1.0 / max(1.0, float(np.linalg.norm(point.gradient)))


def _search(ray: Ray, value: float, slope: float, t: float) -> bool:
    """Find a step that decreases the objective enough and flattens its slope."""
    low, high = 0.0, math.inf
    for _ in range(_MOST_TRIALS):
        found, found_slope = ray.at(t)
        if not found <= value + _DECREASE * t * slope:
            high = t
        elif found_slope < _FLATNESS * slope:
            low = t
        else:
            return True
        t = 4.0 * t if high == math.inf else 0.5 * (low + high)
    return found < value


class _History:
    """The last few steps, and the direction they suggest."""

    def __init__(self, scale: Values) -> None:
        self.scale = scale
        self.steps: deque[tuple[Values, Values, float]] = deque(maxlen=_MEMORY)

    @property
    def known(self) -> bool:
        return bool(self.steps)

    def learn(self, before: Point, after: Point) -> None:
        step, change = after.W - before.W, after.gradient - before.gradient
        curvature = float(np.vdot(step, change))
        if curvature > 0:
            self.steps.append((step, change, curvature))

    def direction(self, gradient: Values) -> Values:
        """Two loops over the steps kept: minus the inverse Hessian they imply times gradient."""
        D = -gradient
        shares = []
        for step, change, curvature in reversed(self.steps):
            share = float(np.vdot(step, D)) / curvature
            D -= share * change
            shares.append(share)
        D /= self.scale
        if self.steps:
            _, change, curvature = self.steps[-1]
            D *= curvature / float(np.vdot(change, change / self.scale))
        for (step, change, curvature), share in zip(self.steps, reversed(shares), strict=True):
            D += (share - float(np.vdot(change, D)) / curvature) * step
        return D
