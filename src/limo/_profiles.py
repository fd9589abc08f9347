"""Sorted rows, and what they say about the labels: the one place where scores are sorted.

:func:`read_profiles` sorts each row of a view once, block by block and on all cores, and gives the
blocks to a function. A :class:`Profile` keeps, for each relevant item of a row, how many irrelevant
items score higher and how many score the same. Every ranking measure and every margin follows from
that. A profile also gives the sorted scores, for functions that go down a row: best thresholds and
curves over thresholds. Rows with few relevant items are only sorted if such a function asks.

Items whose label is unknown take no part. Where items have weights, "how many" reads "how much they
weigh" throughout, and a pair weighs the product of its two items.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, TypeVar

import numpy as np

from limo._kernels.profiles import (
    add_steps,
    copy_columns,
    count_few,
    count_irrelevant,
    sum_steps,
    take_relevant,
    weigh_irrelevant,
)
from limo._system import Run, workers
from limo._types import Anything, Floats, Integers, Values
from limo._views import COLUMNS, ENTRIES, ROWS, Pattern, View

Result = TypeVar("Result")
Segments = tuple[Floats, Integers, Integers]
"""Scores of many rows in one array, and where each row starts and stops in it."""

# Items per block: enough to hide the interpreter's overhead, few enough to share among threads.
_BLOCK_ITEMS = 1 << 20
# With fewer columns per block, every line of memory would be read several times.
_LEAST_COLUMNS = 16
_LARGEST_TILE = 1 << 24
# Up to so many relevant items per row, comparing each of them with the row is faster than a sort.
_FEW = 16
_LARGEST_SUM = 2**62


@dataclass(frozen=True, eq=False)
class SortedRows:
    """Sorted scores of a block of rows.

    Attributes
    ----------
    relevant, irrelevant : tuple of arrays
        (scores, start of each row, stop of each row). Relevant scores descend within a row,
        irrelevant ones ascend.
    n_true : array of shape (n_rows,)
        How many relevant items each row has, including those without a score (sparse scores).
    n_items : int or array
        How many items a row has.
    weights : RowWeights or None
        What the items weigh; None if each counts once.
    row_weights : array or None
        What the rows weigh in a mean over rows; None if each counts once.
    """

    relevant: Segments
    irrelevant: Segments
    n_true: Anything
    n_items: Any
    weights: "RowWeights | None" = None
    row_weights: Values | None = None

    def weigh(self, rows: Integers, hits: Anything, misses: Anything) -> tuple[Anything, Anything]:
        """The weights of the highest ``hits`` relevant and ``misses`` irrelevant items of rows."""
        if self.weights is None:
            return hits, misses
        first = self.relevant[1][rows]
        cumulated = np.concatenate([[0.0], np.cumsum(self.weights.relevant)])
        heavy = cumulated[first + hits.astype(np.int64)] - cumulated[first]
        width = self.weights.tails.shape[1] - 1
        return heavy, self.weights.tails[rows, width - misses.astype(np.int64)]


@dataclass(frozen=True, eq=False)
class RowWeights:
    """The weights of the items of sorted rows.

    Attributes
    ----------
    relevant : array
        The weight of each relevant item, in the order of the relevant scores.
    tails : array of shape (n_rows, n_items + 1)
        ``tails[i, k]`` is the weight of the irrelevant items of row i from place k of its
        ascending scores on.
    """

    relevant: Values
    tails: Values


@dataclass(frozen=True, eq=False)
class Profile:
    """Each row's relevant items, best first, and how many irrelevant items score higher.

    Attributes
    ----------
    indptr : array of shape (n_rows + 1,)
        Row i owns the cells ``indptr[i]`` to ``indptr[i + 1]`` of the next three arrays.
    relevant : array of shape (n_relevant,)
        Scores of the relevant items, descending within a row.
    above, tied : array of shape (n_relevant,)
        How many irrelevant items of the row score higher, and how many the same.
    top_irrelevant : array of shape (n_rows,)
        The highest irrelevant score, -inf if there is none.
    n_items : int or array of shape (n_rows,)
        How many known items a row has.
    sort : function or None
        Gives the sorted scores. None for the matrix as a whole, which is sorted tile by tile and
        never held in memory, and for a perfect prediction, which has no scores.
    weights : RowWeights or None
        What the items weigh; None if each counts once.
    irrelevant_weight : array of shape (n_rows,) or None
        What the irrelevant items of each row weigh; None if each counts once. Given and not
        computed as a difference, because it must be exactly 0 where there is no such item.
    row_weights : array of shape (n_rows,) or None
        What the rows weigh in a mean over rows; None if each counts once.
    """

    indptr: Integers
    relevant: Floats
    above: Anything
    tied: Anything
    top_irrelevant: Floats
    n_items: Any
    sort: Callable[[], SortedRows] | None = None
    weights: RowWeights | None = None
    irrelevant_weight: Values | None = None
    row_weights: Values | None = None

    @cached_property
    def sorted_rows(self) -> SortedRows:
        """The sorted scores behind the counts."""
        assert self.sort is not None
        return self.sort()

    @cached_property
    def _lengths(self) -> Integers:
        """How many cells each row owns."""
        return np.diff(self.indptr)

    @cached_property
    def n_relevant(self) -> Anything:
        """How many relevant items each row has."""
        return self._lengths if self.weights is None else self._add(self.weights.relevant)

    @property
    def n_irrelevant(self) -> Anything:
        """How many irrelevant items each row has."""
        if self.irrelevant_weight is not None:
            return self.irrelevant_weight
        few: Anything = self.n_items - self.n_relevant
        return few

    @cached_property
    def n_pairs(self) -> Values:
        """How many (relevant, irrelevant) pairs each row has; floats, as it may exceed int64."""
        return self.n_relevant.astype(np.float64) * self.n_irrelevant

    @cached_property
    def perfect(self) -> "Profile":
        """The same relevant items, with no irrelevant item above or tied with them."""
        none = np.zeros(self.above.shape, self.above.dtype)  # no memory until it is written to
        return replace(self, above=none, tied=none, sort=None)

    @property
    def absent(self) -> Anything:
        """Which relevant items have no score: those of sparse scores that are not stored."""
        return np.isneginf(self.relevant)

    def with_absent_tied(self) -> "Profile":
        """The same if items without a score are tied; only stored ones were counted so far."""
        rest = np.repeat(self.n_irrelevant, self._lengths) - self.above
        return replace(self, tied=np.where(self.absent, rest, self.tied))

    def with_absent_ordered(self, *, relevant_first: bool) -> "Profile":
        """The same if items without a score had the best, or the worst, order."""
        absent, above = self.absent, self.above
        tied = np.where(absent, 0, self.tied)
        if relevant_first:  # and tied among themselves, which no order of them exceeds
            return replace(self, tied=tied)
        steps = np.cumsum(absent) * 2.0**-50
        lower = np.where(absent, -np.finfo(np.float64).max * (0.5 + steps), self.relevant)
        return replace(
            self, relevant=lower, above=np.where(absent, above + self.tied, above), tied=tied
        )

    @property
    def ahead(self) -> Anything:
        """For each relevant item, how many irrelevant items score at least as high."""
        return self.above + self.tied if self.tied.any() else self.above

    @cached_property
    def pairs_lost(self) -> Values:
        """Pairs of each row whose irrelevant item scores higher."""
        return self.sum(self.above)

    @cached_property
    def pairs_tied(self) -> Values:
        """Pairs of each row with equal scores."""
        return self.sum(self.tied)

    @cached_property
    def _runs(self) -> tuple[Integers, Integers]:
        """First and last cell of the run of equal relevant scores that each cell belongs to."""
        n = self.relevant.size
        new = np.ones(n + 1, dtype=bool)
        new[1:n] = self.relevant[1:] != self.relevant[:-1]
        new[self.indptr] = True
        starts = np.flatnonzero(new)
        lengths = np.diff(starts)
        return np.repeat(starts[:-1], lengths), np.repeat(starts[1:] - 1, lengths)

    @cached_property
    def _row_start(self) -> Integers:
        return np.repeat(self.indptr[:-1], self._lengths)

    @cached_property
    def _cumulated(self) -> Values:
        """The weight of all cells before each cell, over all rows."""
        assert self.weights is not None
        return np.concatenate([[0.0], np.cumsum(self.weights.relevant)])

    @property
    def relevant_above(self) -> Anything:
        """For each relevant item, how many relevant items of its row score higher."""
        if self.weights is None:
            return self._runs[0] - self._row_start
        return self._cumulated[self._runs[0]] - self._cumulated[self._row_start]

    @cached_property
    def relevant_through(self) -> Anything:
        """For each relevant item, how many relevant items of its row score at least as high."""
        if self.weights is None:
            return self._runs[1] - self._row_start + 1
        return self._cumulated[self._runs[1] + 1] - self._cumulated[self._row_start]

    def first(self, cells: Anything) -> Values:
        """The value of each row's best relevant item; nan in rows without one."""
        return self._pick(cells, self.indptr[:-1])

    def last(self, cells: Anything) -> Values:
        """The value of each row's worst relevant item; nan in rows without one."""
        return self._pick(cells, self.indptr[1:] - 1)

    def sum(self, cells: Anything) -> Values:
        """Sum over each row's relevant items.

        Counts are added as integers, so that each sum is rounded once; in two halves if the sum
        might overflow.
        """
        if self.weights is not None:
            return self._add(cells * self.weights.relevant)
        if cells.dtype.kind == "i" and cells.size * int(np.max(self.n_items)) > _LARGEST_SUM:
            return self._add(cells >> 32) * 2.0**32 + self._add(cells & 0xFFFFFFFF)
        return self._add(cells)

    def _add(self, cells: Anything) -> Values:
        sums = np.zeros(self._lengths.size)
        occupied = np.flatnonzero(self._lengths)
        if occupied.size:
            sums[occupied] = np.add.reduceat(cells, self.indptr[occupied])
        return sums

    def _pick(self, cells: Anything, places: Integers) -> Values:
        values = np.full(self._lengths.size, np.nan)
        occupied = self._lengths > 0
        values[occupied] = cells[places[occupied]]
        return values


def read_profiles(
    view: View, Y: Pattern, S: Floats, read: Callable[[Profile], Result]
) -> list[Result]:
    """Call ``read`` with the profiles of all rows of ``view``, block by block.

    A profile is freed as soon as ``read`` returns, so memory stays at a few blocks; the entries
    view has a single profile. Results are in the order of the rows.
    """
    with workers(enough=S.size > _BLOCK_ITEMS) as run:
        if view is ENTRIES:
            return [read(_whole_profile(Y, S, run))]
        if view is COLUMNS:
            Y, S = Y.T, S.T
        blocks = row_blocks(*S.shape, scattered=not S.flags.c_contiguous)
        return list(run(lambda block: read(_block_profile(Y, S, *block)), blocks))


def row_blocks(n_rows: int, n_items: int, *, scattered: bool) -> list[tuple[int, int]]:
    """Start and stop of the blocks of rows that are processed at once.

    ``scattered`` says that the items of a row are not next to each other in memory.
    """
    step = max(_LEAST_COLUMNS if scattered else 1, _BLOCK_ITEMS // n_items)
    return [(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]


def sort_rows(Y: Pattern, S: Floats, start: int, stop: int) -> SortedRows:
    """Sort the relevant and the irrelevant scores of the rows from ``start`` to ``stop``."""
    Y = Y.rows(start, stop)
    block = _copy_rows(S, start, stop)  # a copy, because it is changed in place
    width = block.shape[1]
    absent, n_items = Y.ones_per_row, width
    if Y.unknown is not None:
        block[
            np.repeat(np.arange(stop - start), Y.unknown.ones_per_row), Y.unknown.indices
        ] = -np.inf
        absent, n_items = absent + Y.unknown.ones_per_row, width - Y.unknown.ones_per_row
    ends = np.arange(stop - start + 1, dtype=np.int64) * width
    # relevant and unknown scores become -inf in the block: they are then first in each row
    places = (ends[:-1] + absent, ends[1:])
    if Y.column_weights is not None:
        return _sort_weighted(Y, block, places)
    relevant = np.empty(Y.n_ones, dtype=S.dtype)
    take_relevant(block, Y.indptr, Y.indices, relevant)
    block.sort(axis=1)
    segments = (relevant, Y.indptr[:-1], Y.indptr[1:])
    irrelevant = (block.reshape(-1), *places)
    return SortedRows(segments, irrelevant, Y.ones_per_row, n_items, None, ROWS.row_weights(Y))


def _sort_weighted(Y: Pattern, block: Floats, places: tuple[Integers, Integers]) -> SortedRows:
    """Sort rows whose items have weights; ``places`` says where irrelevant scores will be."""
    assert Y.column_weights is not None
    rows = np.repeat(np.arange(Y.shape[0]), Y.ones_per_row)
    scores = block[rows, Y.indices]
    block[rows, Y.indices] = -np.inf
    best_first = np.lexsort((-scores, rows))
    own = Y.column_weights[Y.indices[best_first]]
    ordered, tails = _tails(block, Y.column_weights)
    n_true = np.bincount(rows, own, minlength=Y.shape[0])
    first = places[0] - np.arange(Y.shape[0]) * block.shape[1]
    n_items = n_true + tails[np.arange(Y.shape[0]), first]
    segments = (scores[best_first], Y.indptr[:-1], Y.indptr[1:])
    irrelevant, weights = (ordered.reshape(-1), *places), RowWeights(own, tails)
    return SortedRows(segments, irrelevant, n_true, n_items, weights, ROWS.row_weights(Y))


def _block_profile(Y: Pattern, S: Floats, start: int, stop: int) -> Profile:
    """Profiles of the rows from ``start`` to ``stop``."""
    n_relevant = Y.indptr[stop] - Y.indptr[start]
    if Y.column_weights is None and n_relevant <= _FEW * (stop - start):
        return _unsorted_profile(Y, S, start, stop)
    rows = sort_rows(Y, S, start, stop)
    indptr = Y.indptr[start : stop + 1] - Y.indptr[start]
    relevant, block = rows.relevant[0], rows.irrelevant[0].reshape(stop - start, S.shape[1])
    weights, top = rows.weights, block[:, -1].copy()
    counts: Anything = np.zeros((2, relevant.size), np.int64 if weights is None else np.float64)
    heavy = None
    if weights is None:
        count_irrelevant(block, indptr, relevant, *counts)
    else:
        weigh_irrelevant(block, weights.tails, indptr, relevant, *counts)
        first = rows.irrelevant[1] - np.arange(stop - start) * S.shape[1]
        heavy = weights.tails[np.arange(stop - start), first]
    counted = (indptr, relevant, counts[0], counts[1], top, rows.n_items)
    return Profile(*counted, lambda: rows, weights, heavy, rows.row_weights)


def _unsorted_profile(Y: Pattern, S: Floats, start: int, stop: int) -> Profile:
    """Profiles of rows with few relevant items, without sorting them."""
    own = Y.rows(start, stop)
    rows = S[start:stop] if S.flags.c_contiguous else _copy_rows(S, start, stop)
    relevant, top = np.empty(own.n_ones, S.dtype), np.empty(stop - start, S.dtype)
    counts = np.empty((2, own.n_ones), np.int64)
    n_items: Any = S.shape[1]
    unknown = np.zeros(stop - start + 1, np.int64), np.empty(0, np.int64)
    if own.unknown is not None:
        unknown = own.unknown.indptr, own.unknown.indices
        n_items = n_items - own.unknown.ones_per_row
    count_few(rows, own.indptr, own.indices, unknown, relevant, counts[0], counts[1], top)
    counted = (own.indptr, relevant, counts[0], counts[1], top, n_items)
    sort = partial(sort_rows, Y, S, start, stop)
    return Profile(*counted, sort, row_weights=ROWS.row_weights(own))


def _copy_rows(S: Floats, start: int, stop: int) -> Floats:
    """Copy rows ``start`` to ``stop``, the items of each row next to each other."""
    if S.flags.c_contiguous:
        return np.array(S[start:stop])
    block = np.empty((stop - start, S.shape[1]), dtype=S.dtype)
    copy_columns(S.T, start, block)
    return block


def _whole_profile(Y: Pattern, S: Floats, run: Run) -> Profile:
    """The profile of all entries as one row, sorted tile by tile."""
    if S.flags.f_contiguous and not S.flags.c_contiguous:
        Y, S = Y.T, S.T
    entries, places = S.reshape(-1), Y.flat
    own = Y.weights_at(places) if Y.has_weights else None
    relevant, own = _sorted_relevant(entries[places], own)
    counts: Anything = np.zeros((2, relevant.size), np.int64 if own is None else np.float64)
    highest, heavy = count_entries(Y, S, relevant, counts, run)
    indptr, top = np.array([0, relevant.size]), np.array([highest])
    if own is None:
        sum_steps(counts[0], counts[1], indptr, counts[0], counts[1])
        n_items = entries.size - (0 if Y.unknown is None else Y.unknown.n_ones)
        return Profile(indptr, relevant, counts[0], counts[1], top, n_items)
    weight = np.array([heavy])
    kept = RowWeights(own, np.empty((1, 0)))
    return Profile(
        indptr, relevant, counts[0], counts[1], top, weight + own.sum(), None, kept, weight
    )


def count_entries(
    Y: Pattern, S: Floats, relevant: Floats, counts: Anything, run: Run
) -> tuple[float, float]:
    """Add the irrelevant entries of ``S`` to the two lines of ``counts``.

    The relevant scores descend; they may be those of a larger matrix of which ``S`` has some rows.
    Lines are steps, which :func:`sum_steps` sums; with weights, how much weighs more than each
    relevant score, and as much. Returns the highest irrelevant score, and how many irrelevant
    entries there are, or how much they weigh.
    """
    if S.flags.f_contiguous and not S.flags.c_contiguous:
        Y, S = Y.T, S.T
    entries, absent = S.reshape(-1), Y.absent
    indptr = np.array([0, relevant.size])
    one_writer = threading.Lock()
    # Every tile is compared with all relevant scores. Tiles that grow with their number keep this
    # cheaper than the sorts, up to a limit that keeps memory small.
    step = max(_BLOCK_ITEMS, min(4 * relevant.size, _LARGEST_TILE))

    def add(start: int) -> tuple[float, float]:
        """Count in one tile; return its highest irrelevant score and how many there are."""
        tile = np.array(entries[start : start + step])
        first, last = np.searchsorted(absent, (start, start + step))
        tile[absent[first:last] - start] = -np.inf
        if not Y.has_weights:
            tile.sort()
            own = np.array([last - first]), np.array([tile.size])
            with one_writer:
                add_steps(tile, *own, indptr, relevant, *counts)
            return float(tile[-1]), float(tile.size - (last - first))
        weights = Y.weights_at(np.arange(start, start + tile.size))
        ordered, tails = _tails(tile.reshape(1, -1), weights)
        with one_writer:
            weigh_irrelevant(ordered, tails, indptr, relevant, *counts)
        return float(ordered[0, -1]), float(tails[0, last - first])

    tops, numbers = zip(*run(add, range(0, entries.size, step)), strict=True)
    return max(tops), sum(numbers)


def count_columns(
    Y: Pattern, S: Floats, indptr: Integers, relevant: Floats, counts: Anything, run: Run
) -> Floats:
    """Add the irrelevant scores of each column to the two lines of ``counts``, which are steps.

    As :func:`count_entries`; column j owns the relevant scores ``indptr[j]`` to ``indptr[j + 1]``.
    Returns the highest irrelevant score of each column, -inf if there is none.
    """
    turned = replace(Y, row_weights=None).T

    def add(block: tuple[int, int]) -> Floats:
        ordered, starts, stops = sort_rows(turned, S.T, *block).irrelevant
        own = indptr[block[0] : block[1] + 1]
        add_steps(ordered, starts, stops, own, relevant, *counts)  # of its columns only: no lock
        return ordered[stops - 1]

    blocks = row_blocks(S.shape[1], S.shape[0], scattered=not S.flags.f_contiguous)
    return np.concatenate(list(run(add, blocks)))


def _tails(block: Floats, weights: Values) -> tuple[Floats, Values]:
    """Rows in ascending order, and the weight of each row's items from each place on."""
    order = np.argsort(block, axis=1)
    tails = np.zeros((block.shape[0], block.shape[1] + 1))
    np.cumsum(weights[order][:, ::-1], axis=1, out=tails[:, -2::-1])
    return np.take_along_axis(block, order, axis=1), tails


def _sorted_relevant(scores: Floats, weights: Values | None) -> tuple[Floats, Values | None]:
    """Scores, highest first, and their weights in the same order."""
    if weights is None:
        return np.sort(scores)[::-1].copy(), None
    order = np.argsort(scores)[::-1]
    return scores[order], weights[order]
