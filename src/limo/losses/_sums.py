"""The sum of a loss over all rows of a view: value, gradient, second derivatives.

Rows and columns are independent of each other, so threads share them in blocks. The view of all
entries is one long row: its relevant scores and a log-sum-exp of the others are collected first,
then the irrelevant entries are added block by block. ``limo._solvers`` calls the same functions
on blocks of scores that never exist as a whole.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from limo._checks import check_inputs
from limo._kernels.losses import (
    add_row_curvatures,
    add_row_pairs,
    add_transposed,
    gather,
    prepare,
    scan_rows,
)
from limo._kernels.profiles import copy_columns
from limo._kernels.soft import (
    BOTTOM,
    TOP,
    WORST,
    Items,
    add_above,
    add_entries,
    add_entry_curvatures,
    add_shares,
    add_soft_diagonals,
    add_soft_products,
    add_soft_rows,
    log_sum_irrelevant,
)
from limo._system import n_workers, workers
from limo._types import Values
from limo._views import Pattern
from limo.losses._term import Term, Weighted, base_of, check_terms

# How many shares of work each core gets, so that shares of unequal cost even out.
_SHARES = 8
# Matrices of at most so many scores are not worth a thread.
_ENOUGH = 1 << 14
# Blocks of the entry-wise terms. Their results are sums over blocks, so their number is fixed: the
# result then does not depend on the number of threads.
_ENTRY_BLOCKS = 16

_KINDS = {"top": TOP, "bottom": BOTTOM, "worst": WORST}


def loss(
    y_true: Any,
    y_score: Any,
    terms: Term | str | Iterable[Term | str],
    *,
    missing: Any = None,
    sample_weight: Any = None,
) -> float:
    """The loss of scores.

    Parameters
    ----------
    y_true, y_score, terms, missing, sample_weight
        As for :func:`derivatives`.

    Returns
    -------
    float

    Examples
    --------
    >>> from limo.losses import Term, loss
    >>> round(loss([[1, 0, 0]], [[0.0, 0.0, 0.0]], Term("rows", "top")), 4)  # log 3
    1.0986
    """
    return derivatives(y_true, y_score, terms, missing=missing, sample_weight=sample_weight).value


def derivatives(
    y_true: Any,
    y_score: Any,
    terms: Term | str | Iterable[Term | str],
    *,
    missing: Any = None,
    sample_weight: Any = None,
) -> "Derivatives":
    """The loss of scores and its derivatives by each score.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        True labels, 0 or 1.
    y_score : array-like of shape (n_samples, n_labels)
        Scores, the higher the more likely relevant.
    terms : Term, str, or iterable of these
        The terms of the loss, which are added; ``"rows top"`` is short for
        ``Term("rows", "top")``.
    missing : number or array-like, optional
        The number that stands for a missing label in ``y_true``, nan or -1; or a mask that is true
        where a label is missing. Such entries take no part in any pair or mean.
    sample_weight : array-like of shape (n_samples,), optional
        How much each instance counts: 2 as much as two equal instances.

    Returns
    -------
    Derivatives

    Examples
    --------
    >>> from limo.losses import Term, derivatives
    >>> found = derivatives([[1, 0]], [[0.0, 0.0]], Term("rows", "worst"))
    >>> found.gradient
    array([[-0.5,  0.5]])
    >>> found.hessian_diagonal
    array([[0.25, 0.25]])
    >>> found.hessian_product([[1.0, 0.0]])
    array([[ 0.25, -0.25]])
    """
    checked = check_inputs(y_true, y_score, missing=missing, sample_weight=sample_weight)
    S = np.ascontiguousarray(checked.S, dtype=np.float64)
    parts = tuple(Weighted.of(term, checked.Y) for term in check_terms(terms))
    return Derivatives(*add_up(S, checked.Y, parts), S, checked.Y, parts)


@dataclass(frozen=True, eq=False)
class Derivatives:
    """A loss with its derivatives by the scores.

    At a corner of a loss, the derivatives are those of the side with less loss. The squared hinge
    has a jump of its second derivative there (a generalised Hessian); the hinge has none.

    Attributes
    ----------
    value : float
        The loss.
    gradient : array of shape (n_samples, n_labels)
        Its derivative by each score.
    hessian_diagonal : array of shape (n_samples, n_labels)
        Its second derivative by each score, computed when first used.
    """

    __module__ = "limo.losses"  # the public name

    value: float
    gradient: Values
    _S: Values
    _Y: Pattern
    _parts: tuple[Weighted, ...]

    @cached_property
    def hessian_diagonal(self) -> Values:
        """The second derivative by each score."""
        return self._second(_diagonal_of, np.ones_like(self._S))

    def hessian_product(self, direction: Any) -> Values:
        """The Hessian times a matrix of the shape of the scores."""
        T = np.ascontiguousarray(direction, dtype=np.float64)
        if T.shape != self._S.shape:
            raise ValueError(
                f"direction must have the shape of y_score: expected {self._S.shape}, got "
                f"{T.shape}."
            )
        return self._second(_product_of, T)

    def _second(self, work_of: Callable[[Weighted], "Work"], T: Values) -> Values:
        out = np.zeros_like(self._S)
        for part in self._parts:
            if not part.term.is_smooth:
                raise ValueError(
                    "The hinge has no second derivatives. Take the base 'squared_hinge' or "
                    "'logistic' for every term."
                )
            route, work, inputs = part.term.route, work_of(part), (self._S, T)
            if route == "rows":
                over_rows(work, inputs, self._Y, part.weights, out)
            elif route == "columns":
                over_columns(work, inputs, self._Y.T, part.weights, out)
            else:  # one long row, in one thread
                flat = tuple(matrix.reshape(1, -1) for matrix in inputs)
                over_rows(work, flat, self._Y.as_one_row(), part.weights, out.reshape(1, -1))
        return out


def add_up(
    S: Values, Y: Pattern, parts: Iterable[Weighted], width: float = 0.0
) -> tuple[float, Values]:
    """The value of all terms and their gradient; a ``width`` rounds the corner of the hinge.

    For the mean, O(p log p + n log p) for a row with p relevant and n irrelevant items; for all
    others O(p + n).
    """
    gradient = np.zeros_like(S)
    value = 0.0
    for part in parts:
        if not part.matters:
            continue
        if part.term.route == "rows":
            value += over_rows(work_of(part, width), (S,), Y, part.weights, gradient)
        elif part.term.route == "columns":
            value += over_columns(work_of(part, width), (S,), Y.T, part.weights, gradient)
        else:
            value += _add_entries(S, Y, part, width, gradient)
    return value, gradient


# The kernels of a term, all with the same arguments:
# matrices, which items of each row are relevant, weights of the rows, result.

Work = Callable[..., float]


def work_of(part: Weighted, width: float) -> Work:
    """A function of scores that adds the gradient of some rows and returns their loss."""
    kind, shape = part.term.aggregation, base_of(part.term, width).shape
    if kind == "mean":
        return lambda S, items, weights, out: add_row_pairs(S, items, weights, shape, out)
    if kind == "pointwise":
        return lambda S, items, weights, out: add_entries(
            S, items, weights, part.by_column, shape, out
        )
    return lambda S, items, weights, out: add_soft_rows(S, items, weights, _KINDS[kind], out)


def _diagonal_of(part: Weighted) -> Work:
    """A function of scores that adds their second derivatives; directions are not used."""
    kind, shape = part.term.aggregation, base_of(part.term).shape
    if kind == "mean":
        return lambda S, T, items, weights, out: add_row_curvatures(
            S, T, items, weights, shape[0], 0.0, out
        )
    if kind == "pointwise":
        return lambda S, T, items, weights, out: add_entry_curvatures(
            S, items, weights, part.by_column, shape, out
        )
    return lambda S, T, items, weights, out: add_soft_diagonals(
        S, items, weights, _KINDS[kind], out
    )


def _product_of(part: Weighted) -> Work:
    """A function of scores and directions that adds the product of the latter with the Hessian."""
    kind, shape = part.term.aggregation, base_of(part.term).shape
    if kind == "mean":
        return lambda S, T, items, weights, out: add_row_curvatures(
            S, T, items, weights, shape[0], 1.0, out
        )
    if kind == "pointwise":

        def multiply(S: Any, T: Any, items: Any, weights: Any, out: Any) -> float:
            curvatures = np.zeros_like(S)
            add_entry_curvatures(S, items, weights, part.by_column, shape, curvatures)
            out += curvatures * T
            return 0.0

        return multiply
    return lambda S, T, items, weights, out: add_soft_products(
        S, T, items, weights, _KINDS[kind], out
    )


# Blocks of rows and columns


def items_of(Y: Pattern) -> Items:
    """Which items of the rows of a matrix are relevant or unknown, and what columns weigh."""
    whole, ones = Y.ones_and_unknown
    return Items(
        whole.indptr,
        whole.indices,
        ones,
        _NOTHING if Y.column_weights is None else Y.column_weights,
    )


_NOTHING = np.empty(0)


def _some(items: Items, start: int, stop: int) -> Items:
    """Some of the rows."""
    return items._replace(indptr=items.indptr[start : stop + 1])


def over_rows(
    work: Work, inputs: tuple[Values, ...], Y: Pattern, weights: Values, out: Values
) -> float:
    """Do the work on blocks of rows, in parallel; return the sum of the values."""
    items = items_of(Y)

    def add(block: tuple[int, int]) -> float:
        own = slice(*block)
        blocks = (matrix[own] for matrix in inputs)
        return work(*blocks, _some(items, *block), weights[own], out[own])

    enough = out.size > _ENOUGH
    with workers(enough=enough) as run:
        return math.fsum(run(add, _shares(out.shape[0], enough)))


def over_columns(
    work: Work, inputs: tuple[Values, ...], Y_T: Pattern, weights: Values, out: Values
) -> float:
    """Do the work on blocks of columns, copied as rows, in parallel."""
    items = items_of(Y_T)

    def add(block: tuple[int, int]) -> float:
        start, stop = block
        columns = np.empty((len(inputs), stop - start, out.shape[0]))
        for matrix, copy in zip(inputs, columns, strict=True):
            copy_columns(matrix, start, copy)
        result = np.zeros(columns.shape[1:])
        value = work(*columns, _some(items, start, stop), weights[start:stop], result)
        add_transposed(result, start, out)
        return value

    enough = out.size > _ENOUGH
    with workers(enough=enough) as run:
        return math.fsum(run(add, _shares(out.shape[1], enough)))


# All entries as one row


class Entries(Protocol):
    """A loss of all entries, which are looked at twice: block by block, in the same order.

    Call :meth:`survey` for every block, then :meth:`begin`, then :meth:`add_irrelevant` for
    every block. Derivatives and value do not include the weight of the term.
    """

    weight: float
    value: float

    def survey(self, S: Values, Y: Pattern) -> None:
        """Look at the scores of some rows."""

    def begin(self) -> None:
        """Use what the survey found."""

    def add_irrelevant(self, S: Values, Y: Pattern, slopes: Values) -> None:
        """Add the irrelevant entries of these rows; write their derivatives into ``slopes``."""

    def relevant_derivatives(self) -> Values:
        """Derivatives by the relevant scores, once all irrelevant ones have been added."""


def entries_of(part: Weighted, width: float) -> Entries:
    """The loss of all entries that a term in the view "entries" stands for."""
    return MeanEntries(part, width) if part.term.aggregation == "mean" else SoftEntries(part)


class MeanEntries:
    """Pairs of all relevant with all irrelevant entries, by sorting."""

    def __init__(self, part: Weighted, width: float) -> None:
        self.weight = float(part.weights[0])
        self.shape = base_of(part.term, width).shape
        self.scores: list[Values] = []
        self.shares: list[Values] = []
        self.value = 0.0

    def survey(self, S: Values, Y: Pattern) -> None:
        """Collect the relevant scores."""
        self.scores.append(S.reshape(-1)[Y.flat])
        self.shares.append(Y.weights_at(Y.flat))

    def begin(self) -> None:
        """Sort the relevant scores."""
        scores = np.concatenate(self.scores)
        self.order = np.argsort(scores)
        self.relevant = prepare(scores[self.order], np.concatenate(self.shares)[self.order])
        self.differences = np.zeros((3, scores.size + 1))

    def add_irrelevant(self, S: Values, Y: Pattern, slopes: Values) -> None:
        """Add the irrelevant entries of these rows; write their derivatives into ``slopes``."""
        items, weights = items_of(Y), _instance_weights(Y)

        def add(block: tuple[int, int]) -> tuple[float, Values]:
            own, some = slice(*block), _some(items, *block)
            differences = np.zeros_like(self.differences)
            setting = self.relevant, self.shape, differences
            return scan_rows(S[own], some, weights[own], *setting, slopes[own]), differences

        with workers(enough=S.size > _ENOUGH) as run:
            for value, differences in run(add, _entry_blocks(S)):
                self.value += value
                self.differences += differences

    def relevant_derivatives(self) -> Values:
        """Derivatives by the relevant scores, once all irrelevant ones have been added."""
        slopes, derivatives = np.empty((2, self.order.size))
        gather(self.relevant, self.shape, self.differences, slopes)
        derivatives[self.order] = slopes
        return derivatives


class SoftEntries:
    """Top, bottom or worst of all entries; ``limo._kernels.soft`` has the formulas."""

    def __init__(self, part: Weighted) -> None:
        self.weight = float(part.weights[0])
        self.kind = part.term.aggregation
        self.n_irrelevant = float(part.counts[1, 0])
        self.scores: list[Values] = []
        self.shares: list[Values] = []
        self.levels: list[float] = []
        self.pull = 0.0
        self.value = 0.0

    def survey(self, S: Values, Y: Pattern) -> None:
        """Collect the relevant scores and log-sum-exps of the irrelevant ones."""
        self.scores.append(S.reshape(-1)[Y.flat])
        self.shares.append(Y.weights_at(Y.flat))
        if self.kind != "bottom":
            self.levels += self._in_blocks(log_sum_irrelevant, S, Y)

    def begin(self) -> None:
        """Compute all that does not depend on single irrelevant scores."""
        a, shares = np.concatenate(self.scores), np.concatenate(self.shares)
        below = float(np.logaddexp.reduce(self.levels)) if self.levels else 0.0
        if self.kind == "top":
            shares /= shares.sum()
            self.value = float(shares @ np.logaddexp(0.0, below - a))
            self.slopes = -shares * _sigmoid(below - a)
            self.level, self.factor = below, -float(self.slopes.sum())
        else:
            weighed = np.log(shares) - a
            above = float(np.logaddexp.reduce(weighed))
            self.slopes = -np.exp(weighed - above)
            self.level, self.factor = above, 1.0 / self.n_irrelevant
        if self.kind == "worst":
            self.value = float(np.logaddexp(0.0, below + above))
            self.level, self.factor = below, float(_sigmoid(np.array(below + above)))
            self.slopes *= self.factor

    def add_irrelevant(self, S: Values, Y: Pattern, slopes: Values) -> None:
        """Add the irrelevant entries of these rows; write their derivatives into ``slopes``."""
        kernel = add_above if self.kind == "bottom" else add_shares
        found = self._in_blocks(kernel, S, Y, slopes)
        if self.kind == "bottom":
            for value, pull in found:
                self.value += value
                self.pull += pull

    def relevant_derivatives(self) -> Values:
        """Derivatives by the relevant scores, once all irrelevant ones have been added."""
        return self.slopes * self.pull if self.kind == "bottom" else self.slopes

    def _in_blocks(self, kernel: Any, S: Values, Y: Pattern, slopes: Values | None = None) -> Any:
        items, weights = items_of(Y), _instance_weights(Y)

        def add(block: tuple[int, int]) -> Any:
            own, some = slice(*block), _some(items, *block)
            if slopes is None:
                return kernel(S[own], some, weights[own])
            return kernel(S[own], some, weights[own], self.level, self.factor, slopes[own])

        with workers(enough=S.size > _ENOUGH) as run:
            return list(run(add, _entry_blocks(S)))


def _add_entries(S: Values, Y: Pattern, part: Weighted, width: float, gradient: Values) -> float:
    entries = entries_of(part, width)
    entries.survey(S, Y)
    entries.begin()
    slopes = np.zeros_like(S)
    entries.add_irrelevant(S, Y, slopes)
    slopes.reshape(-1)[Y.flat] = entries.relevant_derivatives()
    gradient += entries.weight * slopes
    return entries.weight * entries.value


def _instance_weights(Y: Pattern) -> Values:
    return np.ones(Y.shape[0]) if Y.row_weights is None else Y.row_weights


def _sigmoid(z: Values) -> Values:
    """1 / (1 + exp(-z)) without overflow."""
    e = np.exp(-np.abs(z))
    return np.asarray(np.where(z >= 0, 1.0, e) / (1.0 + e))


def _entry_blocks(S: Values) -> list[tuple[int, int]]:
    return _blocks(S.shape[0], _ENTRY_BLOCKS if S.size > _ENOUGH else 1)


def _shares(n_rows: int, enough: bool) -> list[tuple[int, int]]:
    n_threads = n_workers()
    return _blocks(n_rows, _SHARES * n_threads if enough and n_threads > 1 else 1)


def _blocks(n_rows: int, number: int) -> list[tuple[int, int]]:
    step = max(1, -(-n_rows // number))
    return [(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]
