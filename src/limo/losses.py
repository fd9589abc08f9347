"""The loss that LIMO minimises: a function of labels and scores, over all pairs of three views.

    L(S) = lambda_1 * mean over instances of the mean of phi(1 - (s_u - s_v)) over label pairs
         + lambda_2 * mean over labels    of the mean of phi(1 - (s_a - s_b)) over instance pairs
         + lambda_3 * mean of phi(1 - (s - s')) over all (relevant entry, irrelevant entry)

so that the three terms are surrogates of ranking loss, macro-AUC and micro-AUC. The features enter
in ``limo._solvers``, which calls :func:`pair_loss` or, block by block, the functions it consists
of.
"""

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from limo._kernels.losses import add_row_pairs, add_transposed, gather, prepare, scan_rows
from limo._kernels.profiles import copy_columns
from limo._system import n_workers, workers
from limo._types import Integers, Values
from limo._views import Pattern

__all__ = [
    "HINGE",
    "SQUARED_HINGE",
    "PairLoss",
    "PairWeights",
    "ViewWeights",
    "pair_loss",
    "smoothed_hinge",
]


# How many shares of work each core gets, so that shares of unequal cost even out.
_SHARES = 8
# Matrices of at most so many scores are not worth a thread.
_ENOUGH = 1 << 14
# Blocks of the entry-wise term. Its derivatives are sums over blocks, so their number is fixed: the
# result then does not depend on the number of threads.
_ENTRY_BLOCKS = 16

Scheme = Literal["measure", "uniform"]


@dataclass(frozen=True)
class PairLoss:
    """A loss phi of z = 1 - (s_r - s_v): a parabola near 0, a line beyond, 0 below.

    phi(z) = curvature / 2 z^2 for 0 < z <= width, slope (z - width / 2) for z > width.
    """

    curvature: float
    width: float
    slope: float

    def __call__(self, z: float) -> float:
        """phi(z)."""
        if z <= self.width:
            return 0.5 * self.curvature * max(z, 0.0) ** 2
        return self.slope * (z - 0.5 * self.width)

    @property
    def shape(self) -> Values:
        """The three numbers as kernels take them."""
        return np.array([self.curvature, self.width, self.slope])


SQUARED_HINGE = PairLoss(curvature=2.0, width=math.inf, slope=0.0)
HINGE = PairLoss(curvature=0.0, width=0.0, slope=1.0)


def smoothed_hinge(width: float) -> PairLoss:
    """The hinge with its corner rounded; never above it, and below by at most half the width."""
    return PairLoss(curvature=1.0 / width, width=width, slope=1.0)


class ViewWeights(NamedTuple):
    """The weight of each term: lambda_1, lambda_2 and lambda_3."""

    label: float = 1.0
    instance: float = 1.0
    entry: float = 0.0


@dataclass(frozen=True, eq=False)
class PairWeights:
    """The weight of a pair: one number per row, one per column, one for all entries.

    A view whose weights are all 0 is skipped.
    """

    rows: Values
    columns: Values
    entries: float

    @classmethod
    def of(cls, Y: Pattern, weights: ViewWeights, scheme: Scheme = "measure") -> "PairWeights":
        """Divide the weight of each term among its pairs.

        ``"measure"`` gives every row with pairs the same weight, as the measures do;
        ``"uniform"`` gives it to every pair, as the paper's Equation (1) does.
        """
        n_rows, n_columns = Y.shape
        all_pairs = float(Y.n_ones) * (n_rows * n_columns - Y.n_ones)
        return cls(
            _shared(weights.label, Y.ones_per_row, n_columns, scheme),
            _shared(weights.instance, Y.ones_per_column, n_rows, scheme),
            weights.entry / all_pairs if all_pairs else 0.0,
        )

    def total(self, Y: Pattern) -> float:
        """The weight of all pairs together; times phi(1), the loss where all scores are equal."""
        rows, columns = Y.ones_per_row, Y.ones_per_column
        return float(
            self.rows @ (rows * (Y.shape[1] - rows).astype(np.float64))
            + self.columns @ (columns * (Y.shape[0] - columns).astype(np.float64))
            + self.entries * float(Y.n_ones) * (Y.shape[0] * Y.shape[1] - Y.n_ones)
        )


def _shared(weight: float, ones: Integers, n_items: int, scheme: Scheme) -> Values:
    """The weight of one pair in each row; 0 for rows without pairs."""
    pairs = ones.astype(np.float64) * (n_items - ones)
    exist = pairs > 0
    shares = np.zeros(pairs.size)
    if scheme == "measure":
        shares[exist] = weight / (exist.sum() * pairs[exist])
    elif exist.any():
        shares[exist] = weight / pairs.sum()
    return shares


def pair_loss(S: Values, Y: Pattern, weights: PairWeights, loss: PairLoss) -> tuple[float, Values]:
    """The loss of scores ``S`` and its derivative by each of them.

    O(p log p + n log p) for a row with p relevant and n irrelevant items. At a corner of the loss
    the derivative is the one from below (0 at z = 0).
    """
    gradient = np.zeros_like(S)
    value = 0.0
    if weights.rows.any():
        value += add_rows(S, Y, weights.rows, loss, gradient)
    if weights.columns.any():
        value += add_columns(S, Y.T, weights.columns, loss, gradient)
    if weights.entries:
        value += _add_entries(S, Y, weights.entries, loss, gradient)
    return value, gradient


def add_rows(S: Values, Y: Pattern, weights: Values, loss: PairLoss, gradient: Values) -> float:
    """Add the label-wise term of these rows to ``gradient`` and return its value."""

    def add(block: tuple[int, int]) -> float:
        own, part = slice(*block), Y.rows(*block)
        return add_row_pairs(
            S[own], part.indptr, part.indices, weights[own], loss.shape, gradient[own]
        )

    with workers(enough=S.size > _ENOUGH) as run:
        return math.fsum(run(add, _shares(S.shape[0])))


def add_columns(
    S: Values, Y_T: Pattern, weights: Values, loss: PairLoss, gradient: Values
) -> float:
    """Add the instance-wise term of these columns to ``gradient`` and return its value."""

    def add(block: tuple[int, int]) -> float:
        start, stop = block
        part = Y_T.rows(start, stop)
        columns = np.empty((stop - start, S.shape[0]))
        copy_columns(S, start, columns)
        slopes = np.zeros_like(columns)
        value = add_row_pairs(
            columns, part.indptr, part.indices, weights[start:stop], loss.shape, slopes
        )
        add_transposed(slopes, start, gradient)
        return value

    with workers(enough=S.size > _ENOUGH) as run:
        return math.fsum(run(add, _shares(S.shape[1])))


class AllPairs:
    """Pairs of all relevant with all irrelevant entries, which are added block by block."""

    def __init__(self, scores: Values, loss: PairLoss) -> None:
        self.loss = loss
        self.order = np.argsort(scores)
        self.relevant = prepare(scores[self.order])
        self.differences = np.zeros((3, scores.size + 1))
        self.value = 0.0

    def add_irrelevant(self, S: Values, Y: Pattern, slopes: Values) -> None:
        """Add the irrelevant entries of these rows; write their derivatives into ``slopes``."""

        def add(block: tuple[int, int]) -> tuple[float, Values]:
            own, part = slice(*block), Y.rows(*block)
            differences, shape = np.zeros_like(self.differences), self.loss.shape
            value = scan_rows(
                S[own], part.indptr, part.indices, self.relevant, shape, differences, slopes[own]
            )
            return value, differences

        with workers(enough=S.size > _ENOUGH) as run:
            for value, differences in run(add, _blocks(S.shape[0], _ENTRY_BLOCKS)):
                self.value += value
                self.differences += differences

    def relevant_derivatives(self) -> Values:
        """Derivatives by the relevant scores, once all irrelevant ones have been added."""
        slopes, derivatives = np.empty((2, self.order.size))
        gather(self.relevant, self.loss.shape, self.differences, slopes)
        derivatives[self.order] = slopes
        return derivatives


def _add_entries(S: Values, Y: Pattern, weight: float, loss: PairLoss, gradient: Values) -> float:
    pairs = AllPairs(S.reshape(-1)[Y.flat], loss)
    slopes = np.zeros_like(S)
    pairs.add_irrelevant(S, Y, slopes)
    slopes.reshape(-1)[Y.flat] = pairs.relevant_derivatives()
    gradient += weight * slopes
    return weight * pairs.value


def _shares(n_rows: int) -> list[tuple[int, int]]:
    return _blocks(n_rows, _SHARES * n_workers())


def _blocks(n_rows: int, number: int) -> list[tuple[int, int]]:
    step = max(1, -(-n_rows // number))
    return [(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]
