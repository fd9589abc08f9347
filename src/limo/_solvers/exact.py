"""The exact solver: any list of terms over all pairs, to a certified gap.

:func:`solve` chooses the objective and smooths the hinge; :func:`minimise` is limited-memory BFGS.
It is written here because it stops on the certified gap, keeps the scores along a ray, and starts
from a guess of the curvature of each feature, none of which scipy's optimiser offers.
"""

import math
import time
from collections import deque
from dataclasses import dataclass, field, replace

import numpy as np
from threadpoolctl import threadpool_limits

from limo._checks import check_number
from limo._solvers.objective import Objective, Point, Ray, Resident, Streaming
from limo._solvers.problem import Callback, Problem, Progress, Solution, Status
from limo._system import memory_limit
from limo._types import Values

# A hinge is solved as a sequence of smoothed hinges, each started from the solution before.
_WIDTHS = (0.5, 0.125, 0.03, 8e-3, 2e-3, 5e-4, 1e-4, 2e-5, 4e-6)
# How much more curved than the ridge the objective is assumed to be along the strongest feature.
# On enron, medical, Corel5k and bibtex this takes half the iterations of a uniform guess.
_CURVATURE = 10.0
# Matrices of the size of the scores that the resident objective and its rays hold at once.
_RESIDENT_MATRICES = 6


def solve(
    problem: Problem,
    *,
    tol: float = 1e-2,
    max_iter: int = 1000,
    start: Solution | None = None,
    callback: Callback | None = None,
    working_memory: float | None = None,
) -> Solution:
    """Minimise J until its certified gap is at most ``tol`` times the minimum.

    The gap must also be at most ``tol`` (J(0) - J(W)), which is stricter under strong
    regularisation: otherwise near-zero weights could pass as converged.

    ``working_memory``, in MiB, limits the matrices of scores; if they need more, they are
    recomputed in blocks. The default is half of what the process may use.
    """
    shape = problem.features.shape[1], problem.Y.shape[1]
    W = np.zeros(shape) if start is None else start.W
    stop = Stop(tol, max_iter, problem.alpha, problem.at_zero(), callback)
    if working_memory is None:
        limit = memory_limit() / 2
    else:
        limit = check_number(working_memory, "working_memory", above=0) * 2.0**20
    # BLAS threads would compete with ours, which share the products already.
    with threadpool_limits(1, "blas"):
        objective = _objective(problem, limit)
        scale = _curvatures(problem)
        if problem.is_smooth:
            return _smooth(objective, W, stop, scale)
        return _with_corners(problem, objective, W, stop, scale)


def _curvatures(problem: Problem) -> Values:
    """A guess of how curved J is along each feature, in proportion to the squares of the features.

    So the first step does not depend on the scale of X.
    """
    energy = problem.features.energy
    squared_length = float(energy[: problem.features.X.shape[1]].sum())
    relative_energy = energy / max(energy.max(), np.finfo(float).tiny)
    curvatures: Values = (squared_length or 1.0) * (1 + _CURVATURE * relative_energy)
    return curvatures


def _objective(problem: Problem, limit: float) -> Objective:
    m, l = problem.Y.shape  # noqa: E741
    if 8.0 * m * l * _RESIDENT_MATRICES <= limit:
        return Resident(problem)
    return Streaming(problem, limit)


def _smooth(objective: Objective, W: Values, stop: "Stop", scale: Values) -> Solution:
    point, iterations, status = minimise(objective, W, stop, scale)
    return stop.solution(objective, point.W, point.value, stop.gap(point), iterations, status)


def _with_corners(
    problem: Problem, objective: Objective, W: Values, stop: "Stop", scale: Values
) -> Solution:
    """Minimise smooth J_s <= J: J(W) - min J <= (J - J_s)(W) + gap of J_s at W."""
    done = 0
    for width in _WIDTHS:
        objective.width = width
        zero = problem.at_zero(width)
        budget = replace(stop, tol=0.5 * stop.tol, max_iter=stop.max_iter - done, zero=zero)
        point, iterations, status = minimise(objective, W, budget, scale)
        done += iterations
        objective.width = 0.0
        value = objective.value(point)
        gap = value - point.value + stop.gap(point)
        if stop.reached(gap, value):
            status = Status.CONVERGED
            break
        if status is not Status.CONVERGED:
            break
        W = point.W
    else:
        status = Status.STALLED
    return stop.solution(objective, point.W, value, gap, done, status)


# Limited-memory BFGS

# Wolfe conditions: enough decrease, and a slope flat enough to have learnt something.
_DECREASE = 1e-4
_FLATNESS = 0.9
_MOST_TRIALS = 25
_MEMORY = 10


@dataclass(frozen=True)
class Stop:
    """When to stop: at a certified gap, after a number of iterations, or if a callback asks to.

    The gap must be a small share of the minimum, and of the gain over ``zero``, the objective
    where all weights are 0.
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

    def solution(
        self, objective: Objective, W: Values, value: float, gap: float, done: int, status: Status
    ) -> Solution:
        """The record of weights with this objective and gap, after ``done`` iterations."""
        return Solution(
            W=W,
            iterations=done,
            passes=objective.passes,
            seconds=self.seconds(),
            status=status.value,
            objective=value,
            gap=gap,
            relative_gap=relative(gap, value),
            converged=status is Status.CONVERGED,
        )


def relative(gap: float, value: float) -> float:
    """The gap as a share of the lower bound it implies; infinite if that is not positive."""
    return gap / (value - gap) if value > gap else math.inf if gap > 0 else 0.0


def minimise(
    objective: Objective, W: Values, stop: Stop, scale: Values
) -> tuple[Point, int, Status]:
    """Minimise from ``W``; return the last point, the number of iterations, and how it ended.

    ``scale`` guesses how curved the objective is along each row of ``W``: the better the guess, the
    fewer iterations.
    """
    point = objective.start(W)
    history = _History(scale[:, np.newaxis])
    for iteration in range(stop.max_iter + 1):
        gap = stop.gap(point)
        asked = stop.callback and stop.callback(
            Progress(
                iteration, stop.max_iter, stop.seconds(), point.value, relative(gap, point.value)
            )
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
        if not _search(ray, point.value, slope, 1.0 if history.known else _first_step(slope)):
            return point, iteration, Status.STALLED
        arrived = ray.arrive()
        history.learn(point, arrived)
        point = arrived
    return point, stop.max_iter, Status.OUT_OF_ITERATIONS


def _first_step(slope: float) -> float:
    return 1.0 / max(1.0, math.sqrt(-slope))


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
        """Minus the inverse Hessian that the kept steps imply, times the gradient."""
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
