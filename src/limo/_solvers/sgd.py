"""The stochastic solver, the paper's Algorithm 1: averaged subgradient steps on random pairs.

A step draws an instance i with a relevant label u and an irrelevant label v, and a label j with
a positive instance a and a negative instance b:

    if 1 - (w_u - w_v).x_i > 0:     w_u <- (1 - step alpha) w_u + step lambda_1 x_i
                                    w_v <- (1 - step alpha) w_v - step lambda_1 x_i
    if 1 - w_j.(x_a - x_b) > 0:     w_j <- (1 - step alpha) w_j + step lambda_2 (x_a - x_b)

As printed in the paper (with alpha = 1), only the weights of a pair that violates its margin
shrink; a gradient of Equation (1) would shrink all of them at every step. A half whose lambda is
0, or which has no pair, does not run.

Without the shrinkage the expected step is a gradient. For ``"pairs"`` it is that of the mean hinge
loss of all label pairs plus that of all instance pairs. For ``"instances"`` the label half follows
the mean over instances of the mean over their pairs, which bounds ranking loss; in the instance
half a pair (a, b) of label j has the weight 1 / (m |Y_a+| |Y_j-|), so that frequent labels weigh
more. (m counts the instances, and |Y_a+| the labels, that have pairs.)

A step costs O(nonzeros of the rows drawn), regardless of the number of features. A label's weights
are rescaled once in 14 / (step alpha) steps that change them, and only for features that occur.

Wu and Zhou, "A Unified View of Multi-Label Performance Measures", ICML 2017, Algorithm 1 and
Appendix A.3.
"""

import math
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from limo._kernels.sgd import CSR, Draws, Rates, Storage, Weights, alias_table, finish, run_steps
from limo._solvers.problem import Callback, Iterates, Problem, Progress, Solution, Status
from limo._types import Booleans, Integers, Values
from limo._views import COLUMNS, ROWS, Pattern

SAMPLINGS = ("pairs", "instances")

_NO_PAIRS = "Made no steps: there is no pair to learn from."


def solve(
    problem: Problem,
    rng: np.random.Generator,
    *,
    step: float = 0.01,
    sampling: str = "pairs",
    n_passes: float = 20,
    n_steps: int | None = None,
    average: bool = True,
    start: Solution | None = None,
    callback: Callback | None = None,
) -> Solution:
    """Make the steps.

    ``rng`` draws the pairs and, without ``start``, the first weights, N(0, sd 1/sqrt(d)); the same
    state gives the same result. With ``sampling="pairs"``, as printed, all pairs are equally
    likely. With ``"instances"``, as the authors ran it, a step draws an instance, one of its labels
    and a label it lacks; then again an instance, one of its labels, and an instance without that
    label.

    A pass is m * round(mean number of labels per instance) steps; ``n_steps`` replaces the number
    of passes. ``average`` uses the mean of all iterates, from the first step on, instead of the
    last one. ``start`` continues a former solution, with its average, on the same or other
    instances. Without a pair to draw, the weights stay those of ``start``, or 0.

    Instances with a weight are drawn in proportion to it: a pair of instances has the product of
    their weights. Missing labels are in no pair.
    """
    began = time.perf_counter()
    Y, shape = problem.Y, (problem.Y.shape[1], problem.features.shape[1])
    halves = (
        _draws(Y, sampling, by_label=False, wanted=problem.weight_of("rows") > 0),
        _draws(Y, sampling, by_label=True, wanted=problem.weight_of("columns") > 0),
    )
    if not any(half.rows.size for half in halves):
        return _no_steps(start, shape)
    last, total = _random_start(*shape, rng) if start is None else _state(start)
    before = 0 if start is None else start.iterations
    storage, used = _storage(problem.features.matrix)
    weights = _narrow(last, total, used, before)
    wanted = round(n_passes * steps_per_pass(Y)) if n_steps is None else n_steps
    done, violations, stopped = 0, np.zeros(2, np.int64), False
    for first, end in _passes(wanted, steps_per_pass(Y)):
        span = before + first, before + end
        violations += run_steps(storage, *halves, weights, _rates(problem, step), *span, rng)
        done = end
        if callback and callback(Progress(done, wanted, time.perf_counter() - began)):
            stopped = done < wanted
            break
    finish(weights, before + done)
    last, total = _widen(weights, last, total, used)
    W = total / (before + done) if average and before + done else last
    return Solution(
        W=W.T,
        iterations=before + done,
        passes=math.ceil(done / steps_per_pass(Y)),
        seconds=time.perf_counter() - began,
        status=_status(done, violations, halves) + f" {Status.STOPPED.value}" * stopped,
        iterates=Iterates(last.T, total.T, (int(violations[0]), int(violations[1]))),
    )


def steps_per_pass(Y: Pattern) -> int:
    """The steps of a pass: m * round(mean number of labels per instance), at least m."""
    n_rows = Y.shape[0]
    return n_rows * max(1, math.floor(Y.n_ones / n_rows + 0.5))


def _passes(n_steps: int, length: int) -> Iterator[tuple[int, int]]:
    """First step and end of each pass; the last may be shorter."""
    return ((first, min(first + length, n_steps)) for first in range(0, n_steps, length))


def _rates(problem: Problem, step: float) -> Rates:
    label, instance = problem.weight_of("rows"), problem.weight_of("columns")
    return Rates(1 - step * problem.alpha, step * label, step * instance)


def _draws(Y: Pattern, sampling: str, *, by_label: bool, wanted: bool) -> Draws:
    """The pairs of labels per instance or, ``by_label``, of instances; none if not ``wanted``."""
    view, own = Y.T if by_label else Y, Y.row_weights
    n_items = view.shape[1]
    no_zeros = view.ones_and_unknown[0]
    rows = np.repeat(np.arange(view.shape[0]), view.ones_per_row)
    has_zeros = no_zeros.ones_per_row < n_items
    drawn = np.flatnonzero(has_zeros[rows]) if wanted else np.empty(0, np.int64)
    rows, items = rows[drawn], view.indices[drawn]
    instance = items if by_label else rows
    if sampling == "pairs":
        named = COLUMNS if by_label else ROWS
        odds = np.broadcast_to(named.n_items(Y), view.shape[0])[rows] - named.ones(Y)[rows]
    else:
        odds = 1.0 / np.bincount(instance)[instance]
    odds = odds.astype(np.float64) if own is None else odds * own[instance]
    accept = np.empty(0) if own is None or not by_label else own / own.max()
    table = alias_table(odds)
    return Draws(rows, items, table, no_zeros.indptr, no_zeros.indices, n_items, accept)


# The state of the steps. Kernels keep a row per label, solutions a column per label.


def _random_start(
    n_labels: int, n_features: int, rng: np.random.Generator
) -> tuple[Values, Values]:
    """Random weights, and the sum of no iterates."""
    W = rng.standard_normal((n_labels, n_features))
    W /= math.sqrt(n_features)
    return W, np.zeros_like(W)


def _state(start: Solution) -> tuple[Values, Values]:
    """The last weights of a solution and the sum of its iterates."""
    assert start.iterates is not None
    return start.iterates.last.T, start.iterates.total.T


def _storage(X: Any) -> tuple[Storage, Booleans | None]:
    """X as kernels read it; if sparse, only the columns that occur, and which these are."""
    if not sparse.issparse(X):
        return X, None
    used = np.zeros(X.shape[1], dtype=np.bool_)
    used[X.indices] = True
    place = (np.cumsum(used) - 1).astype(np.uint32)  # unsigned: no compiled check for negatives
    return CSR(X.data, place[X.indices], X.indptr), used


def _narrow(last: Values, total: Values, used: Booleans | None, before: int) -> Weights:
    """A copy of the weights to work on: those of the features that occur, and one for all others.

    The weights of features that do not occur only shrink, all of a label by the same factor. So
    one extra feature, whose weight starts at 1, records that factor for all of them.
    """
    n_labels = len(last)
    if used is None:
        V, U = last.copy("C"), total.copy("C")
    else:
        V = np.hstack([last[:, used], np.ones((n_labels, 1))])
        U = np.hstack([total[:, used], np.zeros((n_labels, 1))])
    V, U = np.ascontiguousarray(V), np.ascontiguousarray(U)
    return Weights(V, U, np.ones(n_labels), np.zeros(n_labels), np.full(n_labels, before))


def _widen(
    weights: Weights, last: Values, total: Values, used: Booleans | None
) -> tuple[Values, Values]:
    """The weights of all features and the sum of their iterates."""
    if used is None:
        return weights.V, weights.U
    W = last * weights.V[:, -1:]
    sums = total + last * weights.U[:, -1:]
    W[:, used], sums[:, used] = weights.V[:, :-1], weights.U[:, :-1]
    return W, sums


def _no_steps(start: Solution | None, shape: tuple[int, int]) -> Solution:
    """The weights unchanged, or 0: random weights would not be a model."""
    if start is not None:
        assert start.iterates is not None
        kept = replace(start.iterates, n_violations=(0, 0))
        return replace(start, passes=0, seconds=0.0, status=_NO_PAIRS, iterates=kept)
    zeros = np.zeros(shape[::-1])
    return Solution(zeros, 0, 0, 0.0, _NO_PAIRS, iterates=Iterates(zeros, zeros, (0, 0)))


def _status(n_steps: int, violations: Integers, halves: tuple[Draws, Draws]) -> str:
    shares = [
        f"{count / max(n_steps, 1):.0%} of the {name} pairs"
        for name, count, half in zip(("label", "instance"), violations, halves, strict=True)
        if half.rows.size
    ]
    return f"Made {n_steps} steps: {' and '.join(shares)} drawn violated their margin."
