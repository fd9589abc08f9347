"""The exact solver: any list of terms over all pairs, to a certified gap.

:func:`solve` chooses the objective and smooths the hinge; :func:`minimise` is limited-memory BFGS.
It is written here because it stops on the certified gap, keeps the scores along a ray, and starts
from a guess of the curvature of each feature, none of which scipy's optimiser offers.
"""

import math
import time
from collections import deque
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np
from threadpoolctl import ThreadpoolController

from limo._settings import check_number
from limo._solvers.blocks import BlockObjective, BlockProblem, in_blocks
from limo._solvers.objective import Objective, Point, Ray, Resident
from limo._solvers.problem import Callback, Problem, Progress, Solution, Status
from limo._system import at_most, memory_limit, time_is_over
from limo._types import Values

# A hinge is solved as a sequence of smoothed hinges, each started from the solution before.
_WIDTHS = (0.5, 0.125, 0.03, 8e-3, 2e-3, 5e-4, 1e-4, 2e-5, 4e-6)
# The power that tempers the guess of the curvature along each weight. On emotions, yeast, medical
# and enron, powers of 0.5 to 0.7 take about 40 % fewer iterations than 0 or 1, for any loss.
_TEMPER = 0.6
# The same for features along their principal axes, where the guess is better.
_TEMPER_UNCORRELATED = 0.8
# Matrices of the size of the scores that the resident objective and its rays hold at once.
_RESIDENT_MATRICES = 6


def solve(
    problem: Problem | BlockProblem,
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
    W = np.zeros(problem.shape) if start is None else start.W
    stop = Stop(tol, max_iter, problem.alpha, problem.at_zero(), callback)
    limit = bytes_of(working_memory)
    # BLAS threads would compete with ours, which share the products already.
    with at_most(None), _thread_pools().limit(limits=1, user_api="blas"):
        objective = _objective(problem, limit)
        scale = _curvatures(problem)
        if problem.is_smooth:
            return _smooth(objective, W, stop, scale)
        return _with_corners(problem, objective, W, stop, scale)


def bytes_of(working_memory: float | None) -> float:
    """MiB as bytes; by default half of what the process may use."""
    if working_memory is None:
        return memory_limit() / 2
    return float(check_number(working_memory, "working_memory", above=0)) * 2.0**20


@lru_cache(maxsize=1)
def _thread_pools() -> ThreadpoolController:
    """The libraries with threads, kept: finding them takes longer than a small problem."""
    return ThreadpoolController()


def _curvatures(problem: Problem | BlockProblem) -> Values:
    """A guess of how curved J is along each weight: its second derivatives at W = 0, tempered.

    Second derivatives fall where scores have grown, and weights of correlated features do not
    move alone, so the plain diagonal is too uneven a guess. Multiplying X by a number multiplies
    the guess by its square, so that the steps do not depend on the scale of X.
    """
    diagonal = problem.alpha + problem.curvatures
    highest = diagonal.max()
    uncorrelated = isinstance(problem, Problem) and problem.features.uncorrelated
    power = _TEMPER_UNCORRELATED if uncorrelated else _TEMPER
    tempered: Values = highest * (diagonal / highest) ** power
    return tempered


def _objective(problem: Problem | BlockProblem, limit: float) -> Objective:
    if isinstance(problem, BlockProblem):
        return BlockObjective(problem)
    m, l = problem.Y.shape  # noqa: E741
    if 8.0 * m * l * _RESIDENT_MATRICES <= limit:
        return Resident(problem)
    return BlockObjective(in_blocks(problem, limit))


def _smooth(objective: Objective, W: Values, stop: "Stop", scale: Values) -> Solution:
    point, gap, iterations, status = minimise(objective, W, stop, scale)
    return stop.solution(objective, point.W, point.value, gap, iterations, status)


def _with_corners(
    problem: Problem | BlockProblem, objective: Objective, W: Values, stop: "Stop", scale: Values
) -> Solution:
    """Minimise smooth J_s <= J: J(W) - min J <= (J - J_s)(W) + gap of J_s at W."""
    done = 0
    for width in _WIDTHS:
        objective.width = width
        zero = problem.at_zero(width)
        budget = replace(stop, tol=0.5 * stop.tol, max_iter=stop.max_iter - done, zero=zero)
        point, gap, iterations, status = minimise(objective, W, budget, scale)
        done += iterations
        objective.width = 0.0
        value = objective.value(point)
        gap += value - point.value
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

# Wolfe conditions: enough decrease, and a slope that is flat enough to estimate curvature.
_DECREASE = 1e-4
_FLATNESS = 0.9
_MOST_TRIALS = 25
# With fewer steps a model is of no use, however short the time.
_FEWEST_ITERATIONS = 20
_MEMORY = 6


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


class Bound:
    """The best proven lower bound of the minimum.

    The loss is convex, so it lies above its tangent plane at every point. Ridge plus plane has its
    minimum b - |A|^2 / (2 alpha), for a plane of gradient A and value b at W = 0; at the last point
    alone that is value - |gradient of J|^2 / (2 alpha). Any average of planes lies below the loss,
    too: each new plane is averaged with the average so far, in the proportion that gives the
    highest bound. This takes about a fifth fewer iterations than the last plane alone.
    """

    def __init__(self, alpha: float) -> None:
        self.alpha = alpha
        self.A: Values | None = None
        self.square = self.at_zero = 0.0

    def gap(self, point: Point) -> float:
        """Include the plane at a point; return its value minus the bound."""
        # Without cancellation, which matters for tiny gaps.
        alone = float(np.vdot(point.gradient, point.gradient)) / (2 * self.alpha)
        return min(alone, max(point.value - self._include(point), 0.0))

    def _include(self, point: Point) -> float:
        A = point.gradient - self.alpha * point.W
        at_zero = point.value - float(np.vdot(A, point.W))
        at_zero -= 0.5 * self.alpha * float(np.vdot(point.W, point.W))
        square = float(np.vdot(A, A))
        share, product = 1.0, 0.0
        if self.A is not None:
            product = float(np.vdot(self.A, A))
            spread = square - 2 * product + self.square
            gain = self.alpha * (at_zero - self.at_zero) - product + self.square
            share = min(max(gain / spread, 0.0), 1.0) if spread > 0 else 0.0
        rest = 1.0 - share
        self.A = A if self.A is None or share == 1.0 else rest * self.A + share * A
        self.at_zero = rest * self.at_zero + share * at_zero
        self.square = rest**2 * self.square + 2 * rest * share * product + share**2 * square
        return self.at_zero - self.square / (2 * self.alpha)


def minimise(
    objective: Objective, W: Values, stop: Stop, scale: Values
) -> tuple[Point, float, int, Status]:
    """Minimise from ``W``; return the last point, its gap, the number of iterations, and the end.

    ``scale`` guesses how curved the objective is along each weight: the better the guess, the
    fewer iterations.
    """
    point, bound = objective.start(W), Bound(stop.alpha)
    history = _History(scale)
    for iteration in range(stop.max_iter + 1):
        gap = bound.gap(point)
        asked = stop.callback and stop.callback(
            Progress(
                iteration, stop.max_iter, stop.seconds(), point.value, relative(gap, point.value)
            )
        )
        if stop.reached(gap, point.value):
            return point, gap, iteration, Status.CONVERGED
        if asked:
            return point, gap, iteration, Status.STOPPED
        if iteration >= _FEWEST_ITERATIONS and time_is_over():
            return point, gap, iteration, Status.OUT_OF_TIME
        if iteration == stop.max_iter:
            break
        D = history.direction(point.gradient)
        slope = float(np.vdot(point.gradient, D))
        ray = objective.along(point, D)
        if not _search(ray, point.value, slope, 1.0 if history.known else _first_step(slope)):
            return point, gap, iteration, Status.STALLED
        arrived = ray.arrive()
        history.learn(point, arrived)
        point = arrived
    return point, gap, stop.max_iter, Status.OUT_OF_ITERATIONS


def _first_step(slope: float) -> float:
    return 1.0 / max(1.0, math.sqrt(-slope))


def _search(ray: Ray, value: float, slope: float, t: float) -> bool:
    """Find a step that decreases the objective enough and flattens its slope."""
    low, high = 0.0, math.inf
    for _ in range(_MOST_TRIALS):
        new_value, new_slope = ray.at(t)
        if not new_value <= value + _DECREASE * t * slope:
            high = t
        elif new_slope < _FLATNESS * slope:
            low = t
        else:
            return True
        t = 4.0 * t if high == math.inf else 0.5 * (low + high)
    return new_value < value


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
