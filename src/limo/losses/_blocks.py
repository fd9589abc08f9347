"""Losses over blocks of instances, and the threads that share a block.

A term in the view "rows" is computed block by block. In the views "columns" and "entries" a row is
spread over all blocks; here it is called a group. Its relevant scores are few, so they are
collected, and every block adds what its own irrelevant entries contribute:

1. :func:`survey`: each block gives its relevant scores, and log-sum-exps of the others,
2. :func:`meet`: once, these are joined and sorted,
3. :class:`Account`: each block adds the derivatives by its irrelevant scores to its own matrix,
   and its part of the derivatives by the relevant scores, which is called ``owed``, to one array,
   which adds up over blocks.

Nothing of the size of the scores leaves a block. One block is the usual case in memory;
``limo._solvers.blocks`` has many, on one machine or on several.
"""

import math
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from typing import Any

import numpy as np

from limo._kernels.groups import (
    Sorted,
    add_group_shares,
    add_group_steps,
    log_sum_rows,
    meet_groups,
    owe_groups,
    prepare_groups,
    scan_groups,
    sort_groups,
)
from limo._kernels.losses import FEW, add_transposed
from limo._kernels.profiles import copy_columns
from limo._kernels.soft import BOTTOM, TOP, WORST, Items
from limo._system import n_workers, workers
from limo._types import Integers, Values
from limo._views import Pattern
from limo.losses._term import Weighted, base_of

# How many shares of work each core gets, so that shares of unequal cost even out.
_SHARES = 8
# Matrices of at most so many scores are not worth a thread.
_ENOUGH = 1 << 14
# Scores that are copied by columns at once, and the fewest columns: a row of them is then read by
# whole lines of the cache.
_CACHED = 1 << 18
_FEWEST_COLUMNS = 16
# Blocks of the entry-wise terms. Their results are sums over blocks, so their number is fixed: the
# result then does not depend on the number of threads.
_ENTRY_BLOCKS = 16

KINDS = {"top": TOP, "bottom": BOTTOM, "worst": WORST}

Work = Callable[..., float]
"""A kernel of a term: of matrices, the items of each row, a number per row, and the result.
It returns the value of these rows."""


# Threads share the rows or columns of a block


def items_of(Y: Pattern) -> Items:
    """Which items of the rows of a matrix are relevant or unknown, and what columns weigh."""
    whole, ones = Y.ones_and_unknown
    weights = np.empty(0) if Y.column_weights is None else Y.column_weights
    return Items(whole.indptr, whole.indices, ones, weights)


def _some(items: Items, start: int, stop: int) -> Items:
    """Some of the rows."""
    return items._replace(indptr=items.indptr[start : stop + 1])


def over_rows(
    work: Work, inputs: tuple[Values, ...], Y: Pattern, by_row: Any, out: Values
) -> float:
    """Do the work on blocks of rows, in parallel; return the sum of the values."""
    items = items_of(Y)
    if out.size <= _ENOUGH:
        return work(*inputs, items, by_row, out)

    def add(block: tuple[int, int]) -> float:
        own = slice(*block)
        blocks = (matrix[own] for matrix in inputs)
        return work(*blocks, _some(items, *block), by_row[own], out[own])

    with workers(enough=True) as run:
        return math.fsum(run(add, _shares(out.shape[0], True)))


def over_columns(
    work: Work, inputs: tuple[Values, ...], Y_T: Pattern, by_column: Any, out: Values
) -> float:
    """Do the work on blocks of columns, copied as rows, in parallel."""
    items, enough = items_of(Y_T), out.size > _ENOUGH
    shares = _column_shares(out.shape, enough)
    widest = max((stop - start for start, stop in shares), default=0)
    own = threading.local()  # fresh memory for every share would take longer than the copy

    def add(block: tuple[int, int]) -> float:
        start, stop = block
        if not hasattr(own, "copies"):
            own.copies = np.empty((len(inputs) + 1, widest, out.shape[0]))
        *columns, result = own.copies[:, : stop - start]
        for matrix, copy in zip(inputs, columns, strict=True):
            copy_columns(matrix, start, copy)
        result.fill(0.0)
        value = work(*columns, _some(items, start, stop), by_column[start:stop], result)
        add_transposed(result, start, out)
        return value

    with workers(enough=enough) as run:
        return math.fsum(run(add, shares))


def instance_weights(Y: Pattern) -> Values:
    """The weight of each row."""
    return np.ones(Y.shape[0]) if Y.row_weights is None else Y.row_weights


def _shares(n_rows: int, enough: bool) -> list[tuple[int, int]]:
    n_threads = n_workers()
    return _ranges(n_rows, _SHARES * n_threads if enough and n_threads > 1 else 1)


def _column_shares(shape: tuple[int, int], enough: bool) -> list[tuple[int, int]]:
    """Ranges of columns whose copies stay in the cache."""
    n_rows, n_columns = shape
    step = max(_FEWEST_COLUMNS, _CACHED // max(1, n_rows))
    shares = _shares(n_columns, enough)
    return shares if shares[0][1] <= step else _ranges(n_columns, -(-n_columns // step))


def _entry_blocks(S: Values, n_scratch: int) -> list[tuple[int, int]]:
    """Ranges of rows; all their scratch arrays together are no larger than the scores."""
    most = min(_ENTRY_BLOCKS, max(2, S.size // max(1, n_scratch)))
    return _ranges(S.shape[0], most if S.size > _ENOUGH else 1)


def _ranges(n_rows: int, number: int) -> list[tuple[int, int]]:
    step = max(1, -(-n_rows // number))
    return [(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]


# Step 1: what a block knows


@dataclass(frozen=True, eq=False)
class Survey:
    """The relevant scores of some blocks, and log-sum-exps of their irrelevant ones.

    Attributes
    ----------
    scores : array of shape (n_relevant,)
        In the order of blocks, instances and labels.
    levels : dict of array
        By view, for each of its groups; only for views that have a term that needs them.
    """

    scores: Values
    levels: dict[str, Values]


def survey(S: Values, Y: Pattern, parts: Iterable[Weighted]) -> Survey:
    """Collect what the other blocks need to know of the scores of a block."""
    views = {part.term.view for part in parts if part.term.aggregation in ("top", "worst")}
    levels = {}
    if "columns" in views:
        levels["columns"] = _levels(S.shape[1], S.size, partial(_column_levels, S, Y.T))
    if "entries" in views:
        by_row = _levels(S.shape[0], S.size, partial(_row_levels, S, Y))
        levels["entries"] = np.logaddexp.reduce(by_row, keepdims=True, initial=-np.inf)
    return Survey(S.reshape(-1)[Y.flat], levels)


def _levels(n_rows: int, size: int, find: Callable[[int, int, Values], None]) -> Values:
    """The log-sum-exp of the irrelevant scores of each row or column, found in parallel."""
    levels = np.empty(n_rows)
    with workers(enough=size > _ENOUGH) as run:
        for _ in run(
            lambda own: find(own[0], own[1], levels[slice(*own)]), _shares(n_rows, size > _ENOUGH)
        ):
            pass
    return levels


def _row_levels(S: Values, Y: Pattern, start: int, stop: int, levels: Values) -> None:
    weights = instance_weights(Y)[start:stop]
    log_sum_rows(S[start:stop], _some(items_of(Y), start, stop), weights, levels)


def _column_levels(S: Values, Y_T: Pattern, start: int, stop: int, levels: Values) -> None:
    columns = np.empty((stop - start, S.shape[0]))
    copy_columns(S, start, columns)
    log_sum_rows(columns, _some(items_of(Y_T), start, stop), np.ones(stop - start), levels)


def join(surveys: Sequence[Survey]) -> Survey:
    """The survey of several blocks, in their order."""
    scores = np.concatenate([one.scores for one in surveys])
    levels = {
        view: reduce(np.logaddexp, [one.levels[view] for one in surveys])
        for view in surveys[0].levels
    }
    return Survey(scores, levels)


# Step 2: what all blocks know together


@dataclass(frozen=True, eq=False)
class Groups:
    """To which group of a view each relevant entry belongs.

    The relevant entries of group g are ``members[starts[g]:starts[g + 1]]``. ``weights`` has the
    weight of each entry.
    """

    members: Integers
    starts: Integers
    weights: Values

    @classmethod
    def of(cls, view: str, labels: Integers, weights: Values, n_labels: int) -> "Groups":
        """From the labels and weights of the relevant entries, in the order of a survey."""
        if view == "entries":
            return cls(np.arange(labels.size), np.array([0, labels.size]), weights)
        members = np.argsort(labels, kind="stable")
        ends = np.cumsum(np.bincount(labels, minlength=n_labels))
        return cls(members, np.concatenate([[0], ends]), weights)

    @cached_property
    def plain(self) -> bool:
        """Whether every entry weighs 1."""
        return bool((self.weights == 1.0).all())


@dataclass(frozen=True, eq=False)
class Meeting:
    """The part of the loss and its derivatives that all blocks share.

    Attributes
    ----------
    value : float
        The part of the loss that depends on the relevant scores and the log-sum-exps alone.
    owed : array of shape (n_relevant,)
        The part of the derivatives by the relevant scores that is known already.
    terms : tuple of PairTerm or SoftTerm
        What the blocks do with their irrelevant scores.
    """

    value: float
    owed: Values
    terms: "tuple[PairTerm | SoftTerm, ...]"


def meet(
    known: Survey, groups: dict[str, Groups], parts: Iterable[Weighted], width: float
) -> Meeting:
    """Sort the relevant scores, and compute all that does not need single irrelevant scores."""
    owed, value = np.zeros(known.scores.size), 0.0
    orders: dict[str, Integers] = {}
    terms: list[PairTerm | SoftTerm] = []
    for part in parts:
        view, own = part.term.view, groups[part.term.view]
        if part.term.aggregation != "mean":
            own_value, soft = SoftTerm.of(part, known, own)
            value += own_value
            if soft.kind != BOTTOM:
                owed[own.members] += soft.slopes
            terms.append(soft)
            continue
        if view not in orders:
            orders[view] = np.empty_like(own.members)
            sort_groups(known.scores, own.members, own.starts, orders[view])
        order = orders[view]
        shape = base_of(part.term, width).shape
        shares = own.weights[order]
        few = FEW if own.plain else 0
        scores = known.scores[order]
        terms.append(PairTerm(view, part.weights, shape, order, scores, shares, own.starts, few))
    return Meeting(value, owed, tuple(terms))


# Step 3: what a block contributes


@dataclass(frozen=True, eq=False)
class PairTerm:
    """Pairs of all relevant with all irrelevant entries of each group, by sorting."""

    view: str
    weights: Values
    shape: Values
    order: Integers
    ordered: Values
    shares: Values
    starts: Integers
    few: int

    @cached_property
    def known(self) -> Sorted:
        """The relevant scores with running sums, computed once in every process."""
        return prepare_groups(self.ordered, self.shares, self.starts)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "known"}

    def scratch(self) -> tuple[Values, Values]:
        """Arrays that blocks add to: differences for large groups, derivatives for small ones."""
        n, n_groups = self.ordered.size, self.weights.size
        return np.zeros(3 * (n + n_groups)), np.zeros(n)

    def scan(self, S: Values, items: Items, rows: "Rows", scratch: Any, out: Values) -> float:
        """Add some rows, each of one group; return their loss."""
        by_row = rows.weights, rows.groups, self.weights
        setting = self.known, self.few, self.shape
        return scan_groups(S, items, *by_row, *setting, scratch[0], scratch[1], out)

    def add_owed(self, scratch: Any, owed: Values) -> None:
        """Add the derivatives owed to the relevant scores, in the order of the survey."""
        differences, sums = scratch
        owe_groups(self.known, self.weights, self.shape, differences, sums)
        owed[self.order] += sums


@dataclass(frozen=True, eq=False)
class SoftTerm:
    """Top, bottom or worst of each group; ``limo._kernels.soft`` has the formulas."""

    view: str
    kind: int
    levels: Values
    factors: Values
    slopes: Values
    groups: Groups

    @classmethod
    def of(cls, part: Weighted, known: Survey, groups: Groups) -> "tuple[float, SoftTerm]":
        """The value that is known already, and the term."""
        view, kind = part.term.view, KINDS[part.term.aggregation]
        n_groups = part.weights.size
        levels = np.zeros(n_groups) if kind == BOTTOM else known.levels[view].copy()
        factors, slopes = np.empty(n_groups), np.empty(known.scores.size)
        scores, shares = (one[groups.members] for one in (known.scores, groups.weights))
        given = groups.starts, part.counts[1], part.weights
        value = meet_groups(kind, scores, shares, *given, levels, factors, slopes)
        return value, cls(view, kind, levels, factors, slopes, groups)

    def scratch(self) -> tuple[Values, ...]:
        """An array that the blocks add to, by group; bottom needs it."""
        return (np.zeros(self.factors.size),) if self.kind == BOTTOM else ()

    def scan(self, S: Values, items: Items, rows: "Rows", scratch: Any, out: Values) -> float:
        """Add some rows, each of one group; return their loss."""
        kernel: Any = add_group_steps if self.kind == BOTTOM else add_group_shares
        setting = rows.weights, rows.groups, self.levels, self.factors
        value: float = kernel(S, items, *setting, *scratch, out)
        return value

    def add_owed(self, scratch: Any, owed: Values) -> None:
        """Add the derivatives owed to the relevant scores, in the order of the survey."""
        if self.kind == BOTTOM:
            each = np.repeat(scratch[0], np.diff(self.groups.starts))
            owed[self.groups.members] += self.slopes * each


@dataclass(frozen=True, eq=False)
class Rows:
    """The group of each row, and what its items weigh besides their own weights."""

    groups: Integers
    weights: Values

    def __getitem__(self, own: slice) -> "Rows":
        return Rows(self.groups[own], self.weights[own])


class Account:
    """The contributions of blocks to the groups: add them one by one, then take :attr:`owed`."""

    def __init__(self, meeting: Meeting) -> None:
        self.terms = meeting.terms
        self.scratch = [term.scratch() for term in meeting.terms]
        self.value = 0.0
        self._n_relevant = meeting.owed.size

    def add(self, S: Values, Y: Pattern, out: Values) -> None:
        """Add a block; its derivatives by irrelevant scores are added to ``out``."""
        for term, scratch in zip(self.terms, self.scratch, strict=True):
            if term.view == "entries":
                self.value += _add_entries(term, scratch, S, Y, out)
            else:  # each thread has its own columns, and so its own groups
                columns = Rows(np.arange(S.shape[1]), np.ones(S.shape[1]))
                self.value += over_columns(_work(term, scratch), (S,), Y.T, columns, out)

    @property
    def owed(self) -> Values:
        """The derivatives owed to all relevant scores, in the order of the survey."""
        owed = np.zeros(self._n_relevant)
        for term, scratch in zip(self.terms, self.scratch, strict=True):
            term.add_owed(scratch, owed)
        return owed


def _work(term: PairTerm | SoftTerm, scratch: Any) -> Work:
    return lambda S, items, rows, out: term.scan(S, items, rows, scratch, out)


def _add_entries(
    term: PairTerm | SoftTerm, scratch: Any, S: Values, Y: Pattern, out: Values
) -> float:
    """Add rows of the one group of all entries; each thread adds to its own arrays."""
    items, rows = items_of(Y), Rows(np.zeros(S.shape[0], dtype=np.int64), instance_weights(Y))

    def add(block: tuple[int, int]) -> tuple[float, Any]:
        own, arrays = slice(*block), term.scratch()
        return term.scan(S[own], _some(items, *block), rows[own], arrays, out[own]), arrays

    value = 0.0
    with workers(enough=S.size > _ENOUGH) as run:
        n_scratch = sum(array.size for array in scratch)
        for one, arrays in run(add, _entry_blocks(S, n_scratch)):
            value += one
            for total, array in zip(scratch, arrays, strict=True):
                total += array
    return value
