"""The optimiser on objectives whose minimum is known."""

import math

import numpy as np
import pytest

from limo._solvers import exact
from limo._solvers.exact import Bound, Stop, minimise, relative
from limo._solvers.objective import Point
from limo._solvers.problem import Status
from limo._system import stopping_at


class Quadratic:
    """1 + sum of c_k / 2 (w_k - 1)^2, with curvatures from 1 to 100."""

    curvature = np.geomspace(1, 100, 8)[:, None] * np.ones((1, 2))

    def start(self, W):
        return Point(
            W, 1 + float((self.curvature * (W - 1) ** 2).sum()) / 2, self.curvature * (W - 1)
        )

    def along(self, point, D):
        return _Line(self, point, D)


class _Line:
    def __init__(self, objective, point, D):
        self.objective, self.point, self.D = objective, point, D

    def at(self, t):
        self.arrived = self.objective.start(self.point.W + t * self.D)
        return self.arrived.value, float((self.arrived.gradient * self.D).sum())

    def arrive(self):
        return self.arrived


START = np.full((8, 2), 5.0)


FLAT = np.ones((8, 1))
FITTING = np.geomspace(1, 100, 8)[:, None]


@pytest.mark.parametrize("scale", [FLAT, FITTING])
def test_the_minimum_is_found_within_the_certified_gap(scale):
    for tol in (1e-1, 1e-4, 1e-8):
        stop = Stop(tol, 500, alpha=1.0)
        point, gap, iterations, status = minimise(Quadratic(), START, stop, scale)
        assert status is Status.CONVERGED
        assert point.value - 1 <= gap <= tol
        assert iterations < 60


def test_a_good_scale_saves_iterations():
    counts = [
        minimise(Quadratic(), START, Stop(1e-8, 500, alpha=1.0), scale)[2]
        for scale in (FLAT, FITTING)
    ]
    assert counts[1] < counts[0]


def test_out_of_iterations():
    assert minimise(Quadratic(), START, Stop(1e-8, 2, alpha=1.0), FLAT)[2:] == (
        2,
        Status.OUT_OF_ITERATIONS,
    )


def test_a_callback_gets_the_progress_and_may_stop():
    seen = []

    def callback(progress):
        seen.append(progress)
        return progress.iteration == 3

    _, _, iterations, status = minimise(
        Quadratic(), START, Stop(1e-8, 500, alpha=1.0, callback=callback), FLAT
    )
    assert (iterations, status) == (3, Status.STOPPED)
    assert [p.iteration for p in seen] == [0, 1, 2, 3]
    assert seen[0].objective > seen[-1].objective
    assert seen[-1].seconds >= 0
    assert seen[-1].most == 500


def test_a_limit_of_time_stops_it_after_some_iterations(monkeypatch):
    monkeypatch.setattr(exact, "_FEWEST_ITERATIONS", 3)
    with stopping_at(0.0):
        found = minimise(Quadratic(), START, Stop(1e-8, 500, alpha=1.0), FLAT)
    assert found[2:] == (3, Status.OUT_OF_TIME)
    with stopping_at(math.inf):
        assert minimise(Quadratic(), START, Stop(1e-8, 500, alpha=1.0), FLAT)[2] > 3


class Wall(Quadratic):
    """Claims a slope that is not there, as rounding does near a minimum."""

    def start(self, W):
        return Point(W, 1.0, np.ones_like(W))


def test_no_progress_is_said_so():
    assert minimise(Wall(), START, Stop(1e-8, 500, alpha=1.0), FLAT)[3] is Status.STALLED


def test_the_bound_is_the_best_average_of_each_plane_with_those_before():
    """Along random points: never above the minimum, and as high as any share on a fine grid."""
    rng = np.random.default_rng(0)
    objective, bound, average = Quadratic(), Bound(alpha=0.7), None
    for _ in range(20):
        W = 1 + rng.normal(size=(8, 2))
        point = objective.start(W)
        A = point.gradient - 0.7 * W
        plane = np.append(A, point.value - 0.35 * (W**2).sum() - (A * W).sum())
        shares = np.linspace(0, 1, 2001)[:, None] if average is not None else np.ones((1, 1))
        planes = shares * plane + (1 - shares) * (0 if average is None else average)
        bounds = planes[:, -1] - (planes[:, :-1] ** 2).sum(axis=1) / 1.4
        average = planes[bounds.argmax()]
        expected = min(point.value - bounds.max(), (point.gradient**2).sum() / 1.4)
        assert bound.gap(point) == pytest.approx(expected, rel=1e-3)
        assert point.value - bound.gap(point) <= 1 + 1e-9


def test_relative_gap():
    assert relative(0.5, 2.5) == 0.25
    assert relative(3.0, 2.5) == math.inf
    assert relative(0.0, 0.0) == 0
