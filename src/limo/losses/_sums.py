"""The sum of a loss over all rows of a view: value, gradient, second derivatives.

The matrix of scores is in memory here, so rows and columns are rows of a matrix; all entries are
one block of :mod:`limo.losses._blocks`, which has the losses over many blocks.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from limo._checks import check_inputs
from limo._kernels.losses import add_row_curvatures, add_row_pairs
from limo._kernels.soft import (
    add_entries,
    add_entry_curvatures,
    add_soft_diagonals,
    add_soft_products,
    add_soft_rows,
)
from limo._types import Values
from limo._views import Pattern
from limo.losses._blocks import (
    KINDS,
    Account,
    Groups,
    Work,
    meet,
    over_columns,
    over_rows,
    survey,
)
from limo.losses._term import Term, Weighted, base_of, check_terms


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
    S = np.ascontiguousarray(checked.scores, dtype=np.float64)
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


# Up to so many entries, one thread that sees them as one row is faster than blocks of rows, which
# several threads share: it takes half of their processor time or less.
_FEW_ENTRIES = 1 << 17


def _add_entries(S: Values, Y: Pattern, part: Weighted, width: float, gradient: Values) -> float:
    """All entries as one row, in one block."""
    if S.size <= _FEW_ENTRIES:
        work, flat = work_of(part, width), (S.reshape(1, -1),)
        return over_rows(work, flat, Y.as_one_row(), part.weights, gradient.reshape(1, -1))
    groups = {"entries": Groups.of("entries", Y.indices, Y.weights_at(Y.flat), Y.shape[1])}
    meeting = meet(survey(S, Y, [part]), groups, [part], width)
    account = Account(meeting)
    account.add(S, Y, gradient)
    gradient.reshape(-1)[Y.flat] += account.owed + meeting.owed
    return account.value + meeting.value


# The kernels of a term


def work_of(part: Weighted, width: float) -> Work:
    """A function of scores that adds the gradient of some rows and returns their loss."""
    kind, shape = part.term.aggregation, base_of(part.term, width).shape
    if kind == "mean":
        return lambda S, items, weights, out: add_row_pairs(S, items, weights, shape, out)
    if kind == "pointwise":
        return lambda S, items, weights, out: add_entries(
            S, items, weights, part.by_column, shape, out
        )
    return lambda S, items, weights, out: add_soft_rows(S, items, weights, KINDS[kind], out)


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
    return lambda S, T, items, weights, out: add_soft_diagonals(S, items, weights, KINDS[kind], out)


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
        S, T, items, weights, KINDS[kind], out
    )
