"""The input and output of a solver: features, problem, progress, solution.

Both solvers follow one contract: ``solve(problem, ..., start=Solution, callback=...)`` returns a
:class:`Solution`, whose weights have a row per feature and a column per label.
"""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from html import escape
from typing import Any

import numpy as np
from scipy import sparse

from limo._kernels.losses import add_sparse_product, multiply_rows
from limo._system import n_workers, workers
from limo._types import Integers, Values
from limo._views import Pattern
from limo.losses._term import Term, Weighted


@dataclass(frozen=True, eq=False)
class Problem:
    """J(W) = alpha / 2 ||W||^2 + the terms of S = X W, where X may end in a constant feature.

    The exact solver minimises J. The stochastic one follows the paper's Algorithm 1, which takes
    hinge steps on sampled pairs and shrinks only the weights it touches: it reads the features,
    the labels, the weights of the terms in the views "rows" and "columns", and ``alpha``.
    """

    features: "Features"
    Y: Pattern
    terms: tuple[Term, ...]
    alpha: float

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the weights."""
        return self.features.shape[1], self.Y.shape[1]

    @cached_property
    def parts(self) -> tuple[Weighted, ...]:
        """The terms that matter, with the weights that the labels give them."""
        parts = (Weighted.of(term, self.Y) for term in self.terms)
        return tuple(part for part in parts if part.matters)

    @cached_property
    def curvatures(self) -> Values:
        """The second derivatives of the terms by each weight, where all weights are 0."""
        total = np.zeros((self.features.shape[1], self.Y.shape[1]))
        for part in self.parts:
            total += self.features.weighted_squares(self.Y, *part.curvatures(self.Y.shape))
        return np.maximum(total, 0.0, out=total)

    def with_alpha(self, alpha: float) -> "Problem":
        """The same problem with another alpha, sharing what does not depend on it."""
        other = replace(self, alpha=alpha)
        vars(other).update(parts=self.parts, curvatures=self.curvatures)
        return other

    @property
    def is_smooth(self) -> bool:
        """Whether J has a gradient everywhere."""
        return all(part.term.is_smooth for part in self.parts)

    def at_zero(self, width: float = 0.0) -> float:
        """J(0); a ``width`` above 0 rounds the corner of the hinge."""
        return math.fsum(part.at_equal_scores(width) for part in self.parts)

    def weight_of(self, view: str) -> float:
        """The weight of all terms in a view."""
        return math.fsum(term.weight for term in self.terms if term.view == view)


@dataclass(frozen=True)
class Progress:
    """The progress of a solver.

    Attributes
    ----------
    iteration : int
        Iterations so far; for the stochastic solver, steps of this call.
    most : int
        The maximum number of iterations or steps.
    seconds : float
        Time since the start.
    objective, relative_gap : float
        J(W) and its certified gap; nan and infinite for the stochastic solver, which computes
        neither.

    Examples
    --------
    >>> import limo
    >>> data = limo.datasets.figure1(60)
    >>> seen = []
    >>> model = limo.LIMOClassifier(callback=seen.append).fit(data.X, data.Y)
    >>> seen[0].iteration <= seen[-1].iteration <= seen[0].most
    True
    """

    iteration: int
    most: int
    seconds: float
    objective: float = float("nan")
    relative_gap: float = float("inf")


Callback = Callable[[Progress], object]
"""Called with the progress; returning True stops the solver."""


class Status(Enum):
    """How a solver ended, as a sentence."""

    CONVERGED = "The objective is within the tolerance of the best possible one."
    OUT_OF_ITERATIONS = (
        "The certified gap is still above the tolerance: raise max_iter or alpha, or accept a "
        "larger tol."
    )
    STALLED = (
        "No step improved the objective any more, within floating-point precision: the tolerance "
        "is too small for this alpha; accept a larger tol."
    )
    STOPPED = "The callback asked to stop."
    OUT_OF_TIME = "The time limit was reached before the objective was within the tolerance."


@dataclass(frozen=True, eq=False)
class Iterates:
    """What the stochastic solver needs to continue, and how many pairs violated their margin.

    Attributes
    ----------
    last : array of shape (n_features, n_labels)
        The weights after the last step.
    total : array of shape (n_features, n_labels)
        The sum of the weights after every step, including those of earlier calls.
    n_violations : tuple of int
        How many label pairs and instance pairs drawn in this call violated a margin of 1.

    Examples
    --------
    >>> import limo
    >>> data = limo.datasets.figure1(60)
    >>> model = limo.LIMOClassifierSGD(random_state=0).fit(data.X, data.Y)
    >>> model.solution_.iterates.last.shape == model.solution_.W.shape
    True
    """

    __module__ = "limo.models"  # the public name, which model files contain

    last: Values
    total: Values
    n_violations: tuple[int, int]


@dataclass(frozen=True, eq=False)
class Solution:
    """Weights, and how good they are.

    Attributes
    ----------
    W : array of shape (n_features, n_labels)
        The weights; the last row belongs to the constant feature, if there is one.
    iterations : int
        Steps of the solver; for the stochastic one, including those of earlier calls.
    passes : int
        Passes over the features: products with all of them or, for the stochastic solver, its
        number of steps in passes.
    seconds : float
        Wall time.
    status : str
        How it ended, as a sentence.
    objective : float
        J(W); nan if the solver does not compute it.
    gap : float
        Proven bound of J(W) - min J; infinite if nothing is proven.
    relative_gap : float
        The gap over the lower bound of the minimum it implies: J(W) <= (1 + relative_gap) min J.
    converged : bool
        Whether the gap is proven to be within the tolerance.
    iterates : Iterates or None
        The state of the stochastic solver; None for the exact one.

    Examples
    --------
    >>> import limo
    >>> data = limo.datasets.figure1(60)
    >>> solution = limo.LIMOClassifier().fit(data.X, data.Y).solution_
    >>> solution.converged, solution.relative_gap < 0.01
    (True, True)
    """

    __module__ = "limo.models"  # the public name, which model files contain

    W: Values
    iterations: int
    passes: int
    seconds: float
    status: str
    objective: float = float("nan")
    gap: float = float("inf")
    relative_gap: float = float("inf")
    converged: bool = False
    iterates: Iterates | None = None

    def __str__(self) -> str:
        work = f"{self.iterations} iterations, {self.passes} passes over X, {self.seconds:.2f} s."
        if self.iterates is not None:
            return f"{self.status} In all {work}"
        return (
            f"{self.status} Objective {self.objective:.6g}, proven to be within "
            f"{self.relative_gap:.2%} of the minimum; {work}"
        )

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>"


# How many shares of work each core gets, so that shares of unequal cost even out.
_SHARES = 8


@dataclass(eq=False)
class Features:
    """A feature matrix, optionally followed by a constant feature, that counts its products.

    ``constant`` is the value of that feature; 0 means that there is none. ``uncorrelated`` says
    that the features are along their principal axes.
    """

    X: Any
    constant: float
    uncorrelated: bool = False
    passes: int = field(default=0, init=False)

    @property
    def shape(self) -> tuple[int, int]:
        """The number of instances, and of features including the constant one."""
        return self.X.shape[0], self.X.shape[1] + bool(self.constant)

    @property
    def matrix(self) -> Any:
        """The features as one matrix, the constant one as its last column."""
        if not self.constant:
            return self.X
        column = np.full((self.X.shape[0], 1), self.constant)
        if sparse.issparse(self.X):
            return sparse.csr_array(sparse.hstack([self.X, column]))
        return np.hstack([self.X, column])

    def weighted_squares(self, Y: Pattern, by_row: Values, by_column: Values) -> Values:
        """The sum over instances i of X_if^2 V_ij, for each feature f and label j.

        V_ij = by_row[i, k] by_column[j, k], with k = 0 where instance i has label j, else 1; 0
        where the label is missing.
        """
        both = [_scaled(Y, by_row[:, 0]), _scaled(Y.ones_and_unknown[0], by_row[:, 1])]

        def weighted(squares: Any) -> Values:
            sums = np.outer(squares @ by_row[:, 1], by_column[:, 1])
            for k, sign in ((0, 1.0), (1, -1.0)):
                product = squares @ both[k]
                dense = product.toarray() if sparse.issparse(product) else product
                sums += sign * dense * by_column[:, k]
            return sums

        if not sparse.issparse(self.X):
            return weighted(np.square(self.matrix).T)
        sums = weighted(self.X.multiply(self.X).T)
        if not self.constant:
            return sums
        return np.vstack([sums, weighted(np.full((1, Y.shape[0]), self.constant**2))])

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

    def add_at_relevant(self, Y: Pattern, slopes: Values, out: Values) -> None:
        """Add X' G to ``out``, for a G that has slopes at the relevant entries, and else zeros."""
        n_features, forward = self.X.shape[1], self._forward
        if isinstance(forward, _Sparse):
            left = forward.indptr, forward.indices, forward.data
            add_sparse_product(*left, Y.indptr, Y.indices, slopes, out)
        else:
            G = sparse.csr_array((slopes, Y.indices, Y.indptr), shape=Y.shape)
            out[:n_features] += (G.T @ self.X).T
        if self.constant:
            sums = np.bincount(Y.indices, slopes, minlength=Y.shape[1])
            out[n_features] += self.constant * sums

    @cached_property
    def _forward(self) -> "_Dense | _Sparse":
        return _Sparse(self.X) if sparse.issparse(self.X) else _Dense(self.X)

    @cached_property
    def _backward(self) -> "_Dense | _Sparse":
        return _Sparse(self.X.T) if sparse.issparse(self.X) else _Dense(self.X.T)


def _scaled(Y: Pattern, by_row: Values) -> Any:
    """The ones of each row times a number."""
    data = np.repeat(by_row, Y.ones_per_row)
    return sparse.csr_array((data, Y.indices, Y.indptr), shape=Y.shape)


# Finding more axes than this takes longer than they save.
_MOST_AXES = 2000
# If a smaller share of the features is nonzero, products with them are faster than with components.
_FEWEST_NONZEROS = 0.2
# Axes along which features vary less than this share of the most, in squares, are rounding errors.
_FLAT = 1e-12


def principal_axes(X: Any, weights: Values | None = None) -> Values | None:
    """Orthonormal columns that span the rows of X; None if they are not worth their time.

    Weights along these axes have the same norm and give the same scores, but each moves almost
    independently of the others, which saves about a third of the iterations of a solver. There are
    never more axes than instances. Instances may have weights.
    """
    nonzeros = X.count_nonzero() if sparse.issparse(X) else np.count_nonzero(X)
    if min(X.shape) > _MOST_AXES or nonzeros < max(_FEWEST_NONZEROS * math.prod(X.shape), 1):
        return None
    dense = np.asarray(X.toarray() if sparse.issparse(X) else X)
    if weights is not None:
        dense = dense * np.sqrt(weights)[:, np.newaxis]
    if dense.shape[1] <= dense.shape[0]:
        axes: Values = np.linalg.eigh(dense.T @ dense)[1]
        return axes
    squares, U = np.linalg.eigh(dense @ dense.T)
    varying = squares > _FLAT * squares[-1]
    return dense.T @ (U[:, varying] / np.sqrt(squares[varying]))  # type: ignore[no-any-return]


class _Dense:
    """A dense matrix; threads share its products in blocks of rows."""

    def __init__(self, matrix: Values) -> None:
        self.matrix = matrix

    def times(self, B: Values, out: Values) -> None:
        def multiply(block: slice) -> None:
            np.matmul(self.matrix[block], B, out=out[block])

        n_rows = self.matrix.shape[0]
        if self.matrix.size * B.shape[1] <= 1 << 20:
            multiply(slice(n_rows))
            return
        step = max(1, -(-n_rows // n_workers()))
        with workers(enough=True) as run:
            for _ in run(multiply, [slice(k, k + step) for k in range(0, n_rows, step)]):
                pass


class _Sparse:
    """A sparse matrix; threads share its products in blocks of rows with equally many nonzeros."""

    def __init__(self, matrix: Any) -> None:
        csr = matrix.tocsr()
        self.indptr: Integers = csr.indptr.astype(np.int64, copy=False)
        self.indices: Integers = csr.indices.astype(np.int64, copy=False)
        self.data: Values = csr.data.astype(np.float64, copy=False)

    def times(self, B: Values, out: Values) -> None:
        def multiply(block: tuple[int, int]) -> None:
            multiply_rows(self.indptr, self.indices, self.data, B, out, *block)

        enough = self.data.size * B.shape[1] > 1 << 18 and n_workers() > 1
        with workers(enough=enough) as run:
            for _ in run(multiply, self._even_shares(n_workers() if enough else 0)):
                pass

    def _even_shares(self, n_threads: int) -> list[tuple[int, int]]:
        """Blocks of rows for so many threads; one block for none."""
        if not n_threads:
            return [(0, self.indptr.size - 1)]
        wanted = np.linspace(0, self.data.size, _SHARES * n_threads + 1)[1:-1]
        inner = np.searchsorted(self.indptr, wanted)
        bounds = np.unique(np.concatenate([[0], inner, [self.indptr.size - 1]])).tolist()
        return list(itertools.pairwise(bounds))
