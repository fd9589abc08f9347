"""The exact solver: all pairs of all views, to a certified gap."""

import os
from dataclasses import dataclass, replace

import numpy as np
from threadpoolctl import threadpool_limits

from limo._types import Values
from limo.losses import HINGE, SQUARED_HINGE, smoothed_hinge
from limo.solvers.base import Callback, Problem, Solution, Status
from limo.solvers.lbfgs import Stop, minimise, relative
from limo.solvers.objective import Objective, Resident, Streaming

__all__ = ["solve"]

# The hinge is solved through smoother ones, each from the solution of the one before.
_WIDTHS = (0.5, 0.125, 0.03, 8e-3, 2e-3, 5e-4, 1e-4, 2e-5, 4e-6)
# How much more curved than the ridge the objective is taken to be along the strongest feature.
# Measured on enron, medical, Corel5k and bibtex: halves the iterations of an even guess.
_CURVATURE = 10.0
# Matrices of the size of the scores that the resident objective and its rays hold at once.
_RESIDENT_MATRICES = 6


def solve(
    problem: Problem,
    *,
    tol: float = 1e-2,
    max_iter: int = 1000,
    start: Values | None = None,
    callback: Callback | None = None,
    working_memory: float | None = None,
) -> Solution:
    """Minimise J until the certified gap is at most ``tol`` of the minimum.

    And at most ``tol`` of the gain over no model, J(0) - J(W), which asks for more where a strong
    ridge leaves little to gain.

    ``working_memory``, in MiB, is what matrices of scores may take; beyond it they are made anew
    in blocks whenever they are needed. By default half of the machine's memory.
    """
    W = np.zeros((problem.features.shape[1], problem.Y.shape[1])) if start is None else start
    limit = _half_of_memory() if working_memory is None else working_memory * 2.0**20
    zero = problem.weights.total(problem.Y)  # both losses are 1 where scores are equal
    stop = Stop(tol, max_iter, problem.alpha, zero, callback)
    # BLAS threads of its own would fight with ours, which share out the products already
    with threadpool_limits(1, "blas"):
        solver = _Solver(problem, limit)
        kind = solver.squared if problem.loss == "squared_hinge" else solver.hinge
        found = kind(W, stop)
    return Solution(
        found.W,
        found.value,
        found.gap,
        relative(found.gap, found.value),
        found.iterations,
        solver.passes,
        stop.seconds(),
        found.status is Status.CONVERGED,
        found.status.value,
    )


def _half_of_memory() -> float:
    """Half of the machine's memory in bytes, or 4 GiB where the system does not tell."""
    try:
        return 0.5 * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return 2.0**32


@dataclass(frozen=True, eq=False)
class _Found:
    W: Values
    value: float
    gap: float
    iterations: int
    status: Status


class _Solver:
    def __init__(self, problem: Problem, limit: float) -> None:
        self.problem = problem
        energy = problem.features.energy
        self.scale = 1 + _CURVATURE * energy / max(energy.max(), np.finfo(float).tiny)
        m, l = problem.Y.shape  # noqa: E741
        self.objective: Objective
        if 8.0 * m * l * _RESIDENT_MATRICES <= limit:
            self.objective = Resident(problem)
        else:
            self.objective = Streaming(problem, limit)

    @property
    def passes(self) -> int:
        return self.objective.passes

    def squared(self, W: Values, stop: Stop) -> _Found:
        self.objective.loss = SQUARED_HINGE
        point, iterations, status = minimise(self.objective, W, stop, self.scale)
        return _Found(point.W, point.value, stop.gap(point), iterations, status)

    def hinge(self, W: Values, stop: Stop) -> _Found:
        """J(W) - min J <= (J - J_s)(W) + gap of J_s at W, where J_s <= J is smooth."""
        done = 0
        for width in _WIDTHS:
            self.objective.loss = smoothed_hinge(width)
            zero = stop.zero * self.objective.loss(1.0)
            budget = replace(stop, tol=0.5 * stop.tol, max_iter=stop.max_iter - done, zero=zero)
            point, iterations, status = minimise(self.objective, W, budget, self.scale)
            done += iterations
            self.objective.loss = HINGE
            value = self.objective.value(point)
            gap = value - point.value + stop.gap(point)
            if stop.reached(gap, value):
                return _Found(point.W, value, gap, done, Status.CONVERGED)
            if status is not Status.CONVERGED:
                return _Found(point.W, value, gap, done, status)
            W = point.W
        return _Found(point.W, value, gap, done, Status.STALLED)
