"""What goes into a solver and what comes out: problem, progress, solution."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Literal

import numpy as np
from scipy import sparse

from limo._kernels.losses import multiply_rows
from limo._system import n_workers, workers
from limo._types import Integers, Values
from limo._views import Pattern
from limo.losses import PairWeights

__all__ = ["Callback", "Features", "Problem", "Progress", "Solution", "Status"]


# The features as a linear map: X W and X' G, dense or sparse, with or without a constant.

_SHARES = 8


@dataclass(eq=False)
class Features:
    """A feature matrix, optionally followed by a constant feature, that counts its products.

    ``constant`` is the value of that feature; 0 means that there is none.
    """

    X: Any
    constant: float
    passes: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        kind = _Sparse if sparse.issparse(self.X) else _Dense
        self._forward, self._backward = kind(self.X), kind(self.X.T)

    @property
    def shape(self) -> tuple[int, int]:
        """Instances, and features with the constant one."""
        return self.X.shape[0], self.X.shape[1] + bool(self.constant)

    @property
    def energy(self) -> Values:
        """Mean square of each feature."""
        squares = self.X.multiply(self.X) if sparse.issparse(self.X) else np.square(self.X)
        means = np.asarray(squares.mean(axis=0)).ravel()
        return np.append(means, self.constant**2) if self.constant else means

    def blocks(self, step: int) -> list["Features"]:
        """The same features, ``step`` instances at a time."""
        starts = range(0, self.X.shape[0], step)
        return [Features(self.X[start : start + step], self.constant) for start in starts]

    def times(self, W: Values) -> Values:
        """S = X W."""
        self.passes += 1
        S = np.empty((self.X.shape[0], W.shape[1]))
        self._forward.times(W[: self.X.shape[1]], S)
        if self.constant:
            S += self.constant * W[-1]
        return S

    def transposed_times(self, G: Values) -> Values:
        """X' G."""
        self.passes += 1
        product = np.empty((self.shape[1], G.shape[1]))
        self._backward.times(G, product[: self.X.shape[1]])
        if self.constant:
            product[-1] = self.constant * G.sum(axis=0)
        return product


class _Dense:
    """A dense matrix; its products are shared out in blocks of rows."""

    def __init__(self, matrix: Values) -> None:
        self.matrix = matrix

    def times(self, B: Values, out: Values) -> None:
        def multiply(block: slice) -> None:
            np.matmul(self.matrix[block], B, out=out[block])

        n_rows = self.matrix.shape[0]
        step = max(1, -(-n_rows // n_workers()))
        with workers(enough=self.matrix.size * B.shape[1] > 1 << 20) as run:
            for _ in run(multiply, [slice(k, k + step) for k in range(0, n_rows, step)]):
                pass


class _Sparse:
    """A sparse matrix; its products are shared out in blocks of rows with as many nonzeros."""

    def __init__(self, matrix: Any) -> None:
        csr = matrix.tocsr()
        self.indptr: Integers = csr.indptr.astype(np.int64, copy=False)
        self.indices: Integers = csr.indices.astype(np.int64, copy=False)
        self.data: Values = csr.data.astype(np.float64, copy=False)

    def times(self, B: Values, out: Values) -> None:
        def multiply(block: tuple[int, int]) -> None:
            multiply_rows(self.indptr, self.indices, self.data, B, out, *block)

        with workers(enough=self.data.size * B.shape[1] > 1 << 18) as run:
            for _ in run(multiply, self._even_shares()):
                pass

    def _even_shares(self) -> list[tuple[int, int]]:
        wanted = np.linspace(0, self.data.size, _SHARES * n_workers() + 1)[1:-1]
        inner = np.searchsorted(self.indptr, wanted)
        bounds = np.unique(np.concatenate([[0], inner, [self.indptr.size - 1]])).tolist()
        return list(itertools.pairwise(bounds))


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
    converged : bool
        Whether the gap is within the tolerance asked for.
    status : str
        How it ended, as a sentence.
    """

    W: Values
    objective: float
    gap: float
    relative_gap: float
    iterations: int
    passes: int
    seconds: float
    converged: bool
    status: str

    def __str__(self) -> str:
        return (
            f"{self.status} Objective {self.objective:.6g}, proven to be within "
            f"{self.relative_gap:.2%} of the minimum; {self.iterations} iterations, "
            f"{self.passes} passes over X, {self.seconds:.2f} s."
        )
