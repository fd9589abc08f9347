"""Algorithm 1: averaged stochastic subgradient steps on pairs drawn at random.

As printed, and as the authors ran it. An intercept is the caller's affair: a constant feature,
as in the paper's synthetic experiment.
"""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from limo._checks import check_name, check_number
from limo._kernels.sgd import CSR, Draws, Rates, Storage, Weights, alias_table, run_steps, settle
from limo._types import Booleans, Integers, Values
from limo._views import Pattern

__all__ = ["SAMPLINGS", "SGD", "SGDSolution", "steps_per_pass"]


SAMPLINGS = ("pairs", "instances")

Callback = Callable[[int, int], object]


@dataclass(frozen=True, eq=False)
class SGDSolution:
    """Where the steps have led, and all that is needed to go on from there.

    Attributes
    ----------
    coef : array of shape (n_labels, n_features)
        The weights to use: the mean of all iterates, or the last one.
    last : array of shape (n_labels, n_features)
        The weights after the last step.
    total : array of shape (n_labels, n_features)
        The sum of all iterates.
    n_steps : int
        How many steps were made, those of earlier calls included.
    n_violations : tuple of int
        How many label pairs and instance pairs drawn this time violated a margin of 1.
    seconds : float
        How long it took this time.
    status : str
        What happened, as a sentence.
    """

    coef: Values
    last: Values
    total: Values
    n_steps: int
    n_violations: tuple[int, int]
    seconds: float
    status: str


@dataclass(frozen=True)
class SGD:
    """The stochastic solver of the paper.

    A step draws an instance i with a relevant label u and an irrelevant label v, and a label j with
    a positive instance a and a negative instance b:

        if 1 - (w_u - w_v).x_i > 0:     w_u <- (1 - step c) w_u + step label_weight x_i
                                        w_v <- (1 - step c) w_v - step label_weight x_i
        if 1 - w_j.(x_a - x_b) > 0:     w_j <- (1 - step c) w_j + step instance_weight (x_a - x_b)

    with c the shrinkage. As printed, only weights touched by a pair that violates its margin
    shrink; a gradient of Equation (1) would shrink all of them at every step. A half
    whose weight is 0, or which has no pair, does not run.

    The rest of the expected step is a gradient. For ``"pairs"`` it is that of the mean hinge loss
    of all label pairs plus that of all instance pairs. For ``"instances"`` the label half
    follows the mean over instances of the mean over their pairs, which bounds ranking loss; in
    the instance half a pair (a, b) of label j weighs 1 / (m |Y_a+| |Y_j-|), so that frequent
    labels weigh more. (m counts the instances, and |Y_a+| the labels, that have pairs.)

    Parameters
    ----------
    label_weight, instance_weight : float, default=1.0
        Lambda 1 and lambda 2.
    step : float, default=0.01
        The step size, constant.
    shrinkage : float, default=1.0
        How much touched weights shrink; 1 as printed.
    sampling : {"pairs", "instances"}, default="pairs"
        ``"pairs"``, as printed: every pair is as likely as any other. ``"instances"``, as the
        authors ran it: any instance, one of its labels, then a label it lacks; and again any
        instance, one of its labels, then an instance without that label.
    n_passes : float, default=20
        A pass is m * round(mean labels of an instance) steps.
    n_steps : int or None, default=None
        The number of steps, instead of passes.
    average : bool, default=True
        Use the mean of all iterates, from the first step on, or the last one.

    Notes
    -----
    A step costs O(nonzeros of the rows drawn), whatever the number of features; once in
    14 / (step * shrinkage) touches a label's weights are rescaled, those of features that occur.

    References
    ----------
    Wu and Zhou, "A Unified View of Multi-Label Performance Measures", ICML 2017, Algorithm 1
    and Appendix A.3.
    """

    label_weight: float = 1.0
    instance_weight: float = 1.0
    step: float = 0.01
    shrinkage: float = 1.0
    sampling: str = "pairs"
    n_passes: float = 20
    n_steps: int | None = None
    average: bool = True

    def __post_init__(self) -> None:
        check_name(self.sampling, SAMPLINGS, "sampling")
        for name in ("label_weight", "instance_weight", "shrinkage", "n_passes"):
            check_number(getattr(self, name), name, least=0)
        check_number(self.step, "step", above=0)
        if self.step * self.shrinkage >= 1:
            raise ValueError(
                f"step * shrinkage must be below 1, got {self.step} * {self.shrinkage}: "
                "a step would wipe out the weights it touches. Take a smaller step."
            )
        if not (self.label_weight or self.instance_weight):
            raise ValueError(
                "label_weight and instance_weight are both 0: nothing would be learnt. "
                "Give at least one of them a positive value."
            )
        if self.n_steps is not None:
            check_number(self.n_steps, "n_steps", least=0, integer=True)

    def solve(
        self,
        X: Any,
        Y: Pattern,
        rng: np.random.Generator,
        start: SGDSolution | None = None,
        callback: Callback | None = None,
    ) -> SGDSolution:
        """Make the steps.

        Parameters
        ----------
        X : array or CSR array of shape (n_samples, n_features)
            C-contiguous float64, finite.
        Y : Pattern
            The labels.
        rng : numpy.random.Generator
            Draws the pairs and, without ``start``, the first weights, N(0, sd 1/sqrt(d)).
            The same state gives the same result.
        start : SGDSolution or None, default=None
            Go on from here, with these or with other instances; averages go on too.
        callback : callable or None, default=None
            Called with the steps made and the steps to make, about once a pass.

        Returns
        -------
        SGDSolution
            Without a pair to draw, the weights stay as they are: those of ``start``, or 0.
        """
        began = time.perf_counter()
        halves = (
            _draws(Y, self.sampling, by_label=False, wanted=self.label_weight > 0),
            _draws(Y, self.sampling, by_label=True, wanted=self.instance_weight > 0),
        )
        if not any(half.rows.size for half in halves):
            return _nothing_learnt(start, (Y.shape[1], X.shape[1]))
        start = start or _random_start(Y.shape[1], X.shape[1], rng)
        storage, used = _storage(X)
        weights = _narrow(start, used)
        n_steps, violations = self._count_steps(Y), np.zeros(2, np.int64)
        for first, last in _passes(n_steps, steps_per_pass(Y)):
            span = start.n_steps + first, start.n_steps + last
            violations += run_steps(storage, *halves, weights, self._rates, *span, rng)
            if callback is not None:
                callback(last, n_steps)
        n_iterates = start.n_steps + n_steps
        settle(weights, n_iterates)
        W, total = _widen(weights, start, used)
        return SGDSolution(
            coef=total / n_iterates if self.average and n_iterates else W,
            last=W,
            total=total,
            n_steps=n_iterates,
            n_violations=(int(violations[0]), int(violations[1])),
            seconds=time.perf_counter() - began,
            status=_status(n_steps, violations, halves),
        )

    @property
    def _rates(self) -> Rates:
        keep = 1 - self.step * self.shrinkage
        return Rates(keep, self.step * self.label_weight, self.step * self.instance_weight)

    def _count_steps(self, Y: Pattern) -> int:
        if self.n_steps is not None:
            return self.n_steps
        return round(self.n_passes * steps_per_pass(Y))


def steps_per_pass(Y: Pattern) -> int:
    """How many steps a pass has: m * round(mean labels of an instance), at least m."""
    n_rows = Y.shape[0]
    return n_rows * max(1, math.floor(Y.n_ones / n_rows + 0.5))


def _passes(n_steps: int, length: int) -> Iterator[tuple[int, int]]:
    """First step and end of each pass; the last may be shorter."""
    return ((first, min(first + length, n_steps)) for first in range(0, n_steps, length))


def _draws(Y: Pattern, sampling: str, *, by_label: bool, wanted: bool) -> Draws:
    """Pairs of labels of an instance or, by label, of instances; none if they are not wanted."""
    view = Y.T if by_label else Y
    ones = view.ones_per_row
    n_items = view.shape[1]
    rows = np.repeat(np.arange(view.shape[0]), ones)
    drawn = np.flatnonzero(ones[rows] < n_items) if wanted else np.empty(0, np.int64)
    rows, items = rows[drawn], view.indices[drawn]
    if sampling == "pairs":
        odds = (n_items - ones[rows]).astype(np.float64)
    else:
        instance = items if by_label else rows
        odds = 1.0 / np.bincount(instance)[instance]
    return Draws(rows, items, alias_table(odds), view.indptr, view.indices, n_items)


def _random_start(n_labels: int, n_features: int, rng: np.random.Generator) -> SGDSolution:
    W = rng.standard_normal((n_labels, n_features))
    W /= math.sqrt(n_features)
    return SGDSolution(W, W, np.zeros_like(W), 0, (0, 0), 0.0, "Made no steps.")


def _storage(X: Any) -> tuple[Storage, Booleans | None]:
    """X as kernels read it; if sparse, only the columns that occur, and which these are."""
    if not sparse.issparse(X):
        return X, None
    used = np.zeros(X.shape[1], dtype=np.bool_)
    used[X.indices] = True
    place = (np.cumsum(used) - 1).astype(np.uint32)  # unsigned: no compiled check for negatives
    return CSR(X.data, place[X.indices], X.indptr), used


def _narrow(start: SGDSolution, used: Booleans | None) -> Weights:
    """A copy of the weights to work on: of the columns that occur, and one that stands for others.

    Weights of features that do not occur only shrink, all of a label alike. So one more feature,
    whose weight is 1 at first, tells what becomes of them, and they cost nothing.
    """
    n_labels = len(start.last)
    if used is None:
        V, U = start.last.copy(), start.total.copy()
    else:
        V = np.hstack([start.last[:, used], np.ones((n_labels, 1))])
        U = np.hstack([start.total[:, used], np.zeros((n_labels, 1))])
    counted = np.full(n_labels, start.n_steps)
    return Weights(V, U, np.ones(n_labels), np.zeros(n_labels), counted)


def _widen(weights: Weights, start: SGDSolution, used: Booleans | None) -> tuple[Values, Values]:
    """The weights of all features and the sum of their iterates."""
    if used is None:
        return weights.V, weights.U
    W = start.last * weights.V[:, -1:]
    total = start.total + start.last * weights.U[:, -1:]
    W[:, used], total[:, used] = weights.V[:, :-1], weights.U[:, :-1]
    return W, total


def _nothing_learnt(start: SGDSolution | None, shape: tuple[int, int]) -> SGDSolution:
    """Weights as they were, or 0: random ones would be no model."""
    zeros = np.zeros(shape)
    before = start or SGDSolution(zeros, zeros, zeros, 0, (0, 0), 0.0, "")
    status = "Made no steps: there is no pair to learn from."
    return replace(before, n_violations=(0, 0), seconds=0.0, status=status)


def _status(n_steps: int, violations: Integers, halves: tuple[Draws, Draws]) -> str:
    shares = [
        f"{count / max(n_steps, 1):.0%} of the {name} pairs"
        for name, count, half in zip(("label", "instance"), violations, halves, strict=True)
        if half.rows.size
    ]
    return f"Made {n_steps} steps: {' and '.join(shares)} drawn violated their margin."
