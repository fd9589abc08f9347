"""Sorted rows, and what they say about the labels: the one place where scores are sorted.

:func:`read_profiles` sorts each row of a view once, block by block and on all cores, and gives the
blocks to a function. A :class:`Profile` keeps, for each relevant item of a row, how many irrelevant
items score higher and how many score the same. Every ranking measure and every margin follows from
that. A profile also has the sorted scores, for functions that go down a row: best thresholds and
curves over thresholds.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import numpy as np

from limo._kernels.profiles import copy_columns, count_irrelevant, take_relevant
from limo._system import Run, workers
from limo._types import Anything, Floats, Integers, Values
from limo._views import COLUMNS, ENTRIES, Pattern, View

Result = TypeVar("Result")
Segments = tuple[Floats, Integers, Integers]
"""Scores of many rows in one array, and where each row starts and stops in it."""

# Items per block: enough to hide the interpreter's overhead, few enough to share among threads.
_BLOCK_ITEMS = 1 << 20
# With fewer columns per block, every line of memory would be read several times.
_LEAST_COLUMNS = 16
_LARGEST_TILE = 1 << 24
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
    n_items : int
        How many items a row has.
    """

    relevant: Segments
    irrelevant: Segments
    n_true: Integers
    n_items: int


@dataclass(frozen=True, eq=False)
class Profile:
    """Each row's relevant items, best first, and how many irrelevant items beat them.

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
    n_items : int
        How many items a row has.
    irrelevant : tuple of arrays or None
        The irrelevant scores, sorted, as in :class:`SortedRows`. None for the matrix as a whole,
        which is sorted tile by tile and never held in memory.
    """

    indptr: Integers
    relevant: Floats
    above: Integers
    tied: Integers
    top_irrelevant: Floats
    n_items: int
    irrelevant: Segments | None = None

    @property
    def sorted_rows(self) -> SortedRows:
        """The sorted scores behind the counts."""
        assert self.irrelevant is not None
        relevant = (self.relevant, self.indptr[:-1], self.indptr[1:])
        return SortedRows(relevant, self.irrelevant, self.n_relevant, self.n_items)

    @cached_property
    def n_relevant(self) -> Integers:
        """How many relevant items each row has."""
        return np.diff(self.indptr)

    @property
    def n_irrelevant(self) -> Integers:
        """How many irrelevant items each row has."""
        return self.n_items - self.n_relevant

    @cached_property
    def n_pairs(self) -> Values:
        """How many (relevant, irrelevant) pairs each row has; floats, as it may exceed int64."""
        return self.n_relevant.astype(np.float64) * self.n_irrelevant

    @cached_property
    def perfect(self) -> "Profile":
        """The same relevant items, with no irrelevant item above or tied with them."""
        none = np.zeros_like(self.above)
        return replace(self, above=none, tied=none, irrelevant=None)

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
        return np.repeat(self.indptr[:-1], self.n_relevant)

    @property
    def relevant_above(self) -> Integers:
        """For each relevant item, how many relevant items of its row score higher."""
        return self._runs[0] - self._row_start

    @property
    def relevant_through(self) -> Integers:
        """For each relevant item, how many relevant items of its row score at least as high."""
        return self._runs[1] - self._row_start + 1

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
        if cells.dtype.kind == "i" and cells.size * self.n_items > _LARGEST_SUM:
            return self._add(cells >> 32) * 2.0**32 + self._add(cells & 0xFFFFFFFF)
        return self._add(cells)

    def _add(self, cells: Anything) -> Values:
        sums = np.zeros(self.n_relevant.size)
        occupied = np.flatnonzero(self.n_relevant)
        if occupied.size:
            sums[occupied] = np.add.reduceat(cells, self.indptr[occupied])
        return sums

    def _pick(self, cells: Anything, places: Integers) -> Values:
        values = np.full(self.n_relevant.size, np.nan)
        occupied = self.n_relevant > 0
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
    relevant = np.empty(Y.n_ones, dtype=S.dtype)
    take_relevant(block, Y.indptr, Y.indices, relevant)
    block.sort(axis=1)
    # take_relevant left -inf in place of each relevant score: these are now first in each row
    ends = np.arange(stop - start + 1, dtype=np.int64) * block.shape[1]
    irrelevant = (block.reshape(-1), ends[:-1] + Y.ones_per_row, ends[1:])
    n_true = Y.ones_per_row
    return SortedRows((relevant, Y.indptr[:-1], Y.indptr[1:]), irrelevant, n_true, block.shape[1])


def _block_profile(Y: Pattern, S: Floats, start: int, stop: int) -> Profile:
    """Profiles of the rows from ``start`` to ``stop``."""
    rows = sort_rows(Y, S, start, stop)
    indptr = Y.indptr[start : stop + 1] - Y.indptr[start]
    relevant, block = rows.relevant[0], rows.irrelevant[0].reshape(stop - start, rows.n_items)
    above, tied = np.zeros((2, relevant.size), dtype=np.int64)
    count_irrelevant(block, indptr, relevant, above, tied)
    top = block[:, -1].copy()
    return Profile(indptr, relevant, above, tied, top, rows.n_items, rows.irrelevant)


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
    entries = S.reshape(-1)
    places = Y.flat
    relevant = np.sort(entries[places])[::-1].copy()
    indptr = np.array([0, relevant.size])
    above, tied = np.zeros((2, relevant.size), dtype=np.int64)
    one_writer = threading.Lock()

    # Every tile costs a walk down all relevant scores. Tiles that grow with the number of relevant
    # scores keep these walks cheaper than the sorts, up to a limit that keeps memory small.
    step = max(_BLOCK_ITEMS, min(4 * relevant.size, _LARGEST_TILE))

    def add(start: int) -> float:
        tile = np.array(entries[start : start + step])
        first, last = np.searchsorted(places, (start, start + step))
        tile[places[first:last] - start] = -np.inf
        tile.sort()
        with one_writer:
            count_irrelevant(tile.reshape(1, -1), indptr, relevant, above, tied)
        return float(tile[-1])

    top = np.array([max(run(add, range(0, entries.size, step)))])
    return Profile(indptr, relevant, above, tied, top, entries.size)
