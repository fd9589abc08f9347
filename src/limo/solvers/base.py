"""What goes into a solver and what comes out: problem, progress, solution."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Literal

from limo._types import Values
from limo.losses import PairWeights
from limo.pattern import Pattern
from limo.solvers.features import Features

__all__ = ["Callback", "Problem", "Progress", "Solution", "Status"]


@dataclass(frozen=True, eq=False)
class Problem:
    """J(W) = alpha / 2 ||W||^2 + pair loss of S = X W, where X may end in a constant feature."""

    features: Features
    Y: Pattern
    weights: PairWeights
    alpha: float
    loss: Literal["squared_hinge", "hinge"] = "squared_hinge"


@dataclass(frozen=True)
class Progress:
    """Where a solver stands."""

    iteration: int
    objective: float
    relative_gap: float
    seconds: float


Callback = Callable[[Progress], object]


class Status(Enum):
    """How a solver ended, as a sentence."""

    CONVERGED = "The objective is within the tolerance of the best possible one."
    OUT_OF_ITERATIONS = (
        "The certified gap is still above the tolerance: raise max_iter or alpha, or accept a "
        "larger tol."
    )
    STALLED = (
        "No step improved the objective any more, as far as floating point can tell: the tolerance "
        "is too small for this alpha; accept a larger tol."
    )
    STOPPED = "The callback asked to stop."
    DONE = "All steps were taken; a stochastic solver certifies nothing."


@dataclass(frozen=True, eq=False)
class Solution:
    """Weights, and how good they are.

    Attributes
    ----------
    W : array of shape (n_features, n_labels)
        The weights, the last row being the intercept's if there is a constant feature.
    objective : float
        J(W).
    gap : float
        Proven bound of J(W) - min J.
    relative_gap : float
        The gap over the lower bound of the minimum it implies: J(W) <= (1 + relative_gap) min J.
    iterations : int
        Steps of the solver.
    passes : int
        Products with the features, each one pass over them.
    seconds : float
        Wall time.
    status : Status
        How it ended.
    """

    W: Values
    objective: float
    gap: float
    relative_gap: float
    iterations: int
    passes: int
    seconds: float
    status: Status

    @property
    def converged(self) -> bool:
        """Whether the solver reached what it was asked for."""
        return self.status in (Status.CONVERGED, Status.DONE)

    def __str__(self) -> str:
        return (
            f"{self.status.value} Objective {self.objective:.6g}, proven to be within "
            f"{self.relative_gap:.2%} of the minimum; {self.iterations} iterations, "
            f"{self.passes} passes over X, {self.seconds:.2f} s."
        )
