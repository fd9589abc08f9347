"""The objective over blocks of instances: on one machine in turn, or on many at once.

An :class:`Engine` calls the functions of :mod:`limo._solvers.parts` where the parts are:
:class:`Local` has one part in this process, ``limo.dask`` has parts on the workers of a cluster. An
evaluation of the objective moves n_relevant numbers a few times and a matrix of weights, never
scores: see :mod:`limo.losses._blocks`.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from limo._solvers.objective import Point, Ray
from limo._solvers.parts import (
    Block,
    Part,
    Setting,
    curvatures_of,
    entries_of,
    finish_of,
    groups_of,
    owed_of,
    scan_of,
    scores_of,
    starts_of,
    survey_of,
    zero_of,
)
from limo._solvers.problem import Problem
from limo._types import Values
from limo._views import Pattern
from limo.losses._blocks import Groups, Meeting, Survey, join, meet
from limo.losses._term import Totals, Weighted

# What joins the parts


def _meet(surveys: Sequence[Survey | None], groups: dict[str, Groups], setting: Setting) -> Meeting:
    known = [one for one in surveys if one is not None]
    return meet(join(known), groups, setting.spread, setting.width)


def _add_owed(meeting: Meeting, owed: Sequence[Values]) -> Values:
    total = meeting.owed.copy()
    for one in owed:
        total += one
    return total


def _add_points(points: Sequence[tuple[float, Values]]) -> tuple[float, Values]:
    total = points[0][1].copy()
    for _, gradient in points[1:]:
        total += gradient
    return math.fsum(value for value, _ in points), total


def _value_of(meeting: Meeting) -> float:
    return meeting.value


class Engine(Protocol):
    """Calls functions where the parts are. Results stay there until they are asked for."""

    @property
    def memo(self) -> dict[Any, Any]:
        """Results that do not depend on the weights; emptied when parts are lost."""

    def share(self, value: Any) -> Any:
        """Make a value known to all parts."""

    def each(self, function: Callable[..., Any], *inputs: Any) -> list[Any]:
        """Call ``function(part, *inputs)`` for each part; a list has an input for each."""

    def apply(self, function: Callable[..., Any], results: list[Any]) -> list[Any]:
        """Call a function of each result, where it is."""

    def once(self, function: Callable[..., Any], *inputs: Any) -> Any:
        """Call a function of results, a list being one argument, in one place."""

    def add(self, function: Callable[..., Any], results: list[Any]) -> Any:
        """Add results up: the function takes some and gives one that can be added again."""

    def result(self, result: Any) -> Any:
        """Bring a result, or a tuple of results, here."""

    def derive(self, function: Callable[..., Any], *inputs: Any) -> "Engine":
        """The engine of the parts that a function makes from these."""

    def retry(self, compute: Callable[[], Any]) -> Any:
        """Compute; repeat it if a machine was lost meanwhile."""


@dataclass(frozen=True, eq=False)
class Local:
    """One part, in this process."""

    part: Part
    memo: dict[Any, Any] = field(default_factory=dict)

    def share(self, value: Any) -> Any:
        """The value."""
        return value

    def each(self, function: Callable[..., Any], *inputs: Any) -> list[Any]:
        """Call the function of the part."""
        return [function(self.part, *(one[0] if type(one) is list else one for one in inputs))]

    def apply(self, function: Callable[..., Any], results: list[Any]) -> list[Any]:
        """Call the function."""
        return [function(one) for one in results]

    def once(self, function: Callable[..., Any], *inputs: Any) -> Any:
        """Call the function."""
        return function(*inputs)

    def add(self, function: Callable[..., Any], results: list[Any]) -> Any:
        """Call the function."""
        return function(results)

    def result(self, result: Any) -> Any:
        """The result."""
        return result

    def derive(self, function: Callable[..., Any], *inputs: Any) -> "Local":
        """The engine of the part that the function makes."""
        return Local(function(self.part, *inputs))

    def retry(self, compute: Callable[[], Any]) -> Any:
        """Compute once."""
        return compute()


def relevant_entries(engine: Engine, setting: Setting) -> tuple[Any, list[int]]:
    """The groups of the relevant entries, where they are, and where those of each part begin."""
    if "entries" not in engine.memo:
        entries = engine.each(entries_of)
        starts = engine.result(engine.once(starts_of, entries))
        engine.memo.update(entries=entries, starts=starts)
    views = frozenset(part.term.view for part in setting.spread)
    if views not in engine.memo:
        engine.memo[views] = engine.once(groups_of, engine.memo["entries"], engine.share(setting))
    return engine.memo[views], engine.memo["starts"]


@dataclass(frozen=True, eq=False)
class BlockProblem:
    """The problem of :class:`~limo._solvers.problem.Problem`, over the parts of an engine."""

    engine: Engine
    setting: Setting
    alpha: float
    n_features: int

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the weights."""
        return self.n_features + bool(self.setting.constant), self.setting.n_labels

    @property
    def is_smooth(self) -> bool:
        """Whether J has a gradient everywhere."""
        return all(term.is_smooth for term in self.setting.terms if term.weight)

    @cached_property
    def curvatures(self) -> Values:
        """The second derivatives of the terms by each weight, where all weights are 0."""

        def compute() -> Values:
            parts = self.engine.each(curvatures_of, self.engine.share(self.setting))
            total: Values = self.engine.result(self.engine.add(_total, parts))
            return np.maximum(total, 0.0)

        return self.engine.retry(compute)  # type: ignore[no-any-return]

    def at_zero(self, width: float = 0.0) -> float:
        """J(0); a ``width`` above 0 rounds the corner of the hinge."""
        setting = replace(self.setting, width=width)
        # an instance without labels: these terms read no instance, only the totals
        none = Pattern.from_flat(np.zeros(0, dtype=np.int64), (1, setting.n_labels))
        others = [t for t in setting.terms if t.view != "rows"]
        known = (Weighted.of(t, none, setting.totals) for t in others)

        def compute() -> float:
            parts = self.engine.each(zero_of, self.engine.share(setting))
            return float(self.engine.result(self.engine.add(_total, parts)))

        return math.fsum([self.engine.retry(compute), *(w.at_equal_scores(width) for w in known)])

    def with_alpha(self, alpha: float) -> "BlockProblem":
        """The same problem with another alpha, sharing what does not depend on it."""
        other = replace(self, alpha=alpha)
        vars(other).update(curvatures=self.curvatures)
        return other


def _total(results: Sequence[Any]) -> Any:
    return sum(results[1:], start=results[0])


class BlockObjective:
    """The objective over parts: it sees their sums only, and keeps no scores between points."""

    def __init__(self, problem: BlockProblem, width: float = 0.0) -> None:
        self.problem = problem
        self.width = width
        self.passes = 0

    def start(self, W: Values) -> Point:
        """Compute the objective and its gradient at ``W``."""
        problem = self.problem
        value, gradient = problem.engine.retry(lambda: self._evaluate(W))
        ridge = 0.5 * problem.alpha * float(np.vdot(W, W))
        return Point(W, value + ridge, gradient + problem.alpha * W)

    def value(self, point: Point) -> float:
        """The objective at a point, for the current ``width``."""
        return self.start(point.W).value

    def along(self, point: Point, D: Values) -> Ray:
        """The ray from a point in direction ``D``."""
        return _BlockRay(self, point, D)

    def _evaluate(self, W: Values) -> tuple[float, Values]:
        """The terms and their gradient: three rounds over the parts, or one for rows alone."""
        engine = self.problem.engine
        setting = replace(self.problem.setting, width=self.width)
        common, at = engine.share(setting), engine.share(W)
        self.passes += 4 if setting.spread else 2
        if not setting.spread:
            points = engine.each(scan_of, at, None, None, common)
            return engine.result(  # type: ignore[no-any-return]
                engine.add(_add_points, engine.each(finish_of, points, None, 0, common))
            )
        groups, starts = relevant_entries(engine, setting)
        kept = engine.each(scores_of, at, common)
        meeting = engine.once(_meet, engine.each(survey_of, at, kept, common), groups, common)
        scanned = engine.each(scan_of, at, kept, meeting, common)
        owed = engine.once(_add_owed, meeting, engine.apply(owed_of, scanned))
        points = engine.each(finish_of, scanned, owed, starts, common)
        total = engine.add(_add_points, points), engine.once(_value_of, meeting)
        (value, gradient), shared = engine.result(total)
        return value + shared, gradient


class _BlockRay:
    def __init__(self, objective: BlockObjective, point: Point, D: Values) -> None:
        self.objective, self.point, self.D = objective, point, D

    def at(self, t: float) -> tuple[float, float]:
        self.arrived = self.objective.start(self.point.W + t * self.D)
        return self.arrived.value, float(np.vdot(self.arrived.gradient, self.D))

    def arrive(self) -> Point:
        return self.arrived


# One machine


def rows_per_block(limit: float, n_labels: int, n_features: int = 0) -> int:
    """How many instances a block may have, for so many bytes.

    Four matrices: its scores, their derivative, and a copy of both by columns; and its features.
    """
    return max(1, int(limit / (8 * (4 * n_labels + n_features))))


def in_blocks(problem: Problem, limit: float) -> BlockProblem:
    """The same problem, whose scores are recomputed in blocks of at most so many bytes."""
    X, Y = problem.features.X, problem.Y
    setting = Setting(problem.terms, Totals.of(Y), problem.features.constant)
    return BlockProblem(Local(part_of(X, Y, limit)), setting, problem.alpha, X.shape[1])


def part_of(X: Any, Y: Pattern, limit: float) -> Part:
    """Arrays in memory, in blocks whose scores take at most so many bytes."""
    step = rows_per_block(limit, Y.shape[1])
    starts = range(0, Y.shape[0], step)
    slices = [slice(k, min(k + step, Y.shape[0])) for k in starts]
    return Part([Block(X[s], Y.rows(s.start, s.stop), k) for k, s in enumerate(slices)])
