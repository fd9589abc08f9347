"""What a row's scores say about its labels, once for all ranking measures.

A :class:`Profile` keeps, for each relevant item of a row, how many irrelevant ones score higher and
how many the same. Every ranking measure and every margin follows from that. It costs one
sort of the row, done by numpy in blocks that fit the cache, on all cores.
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

__all__ = ["Profile", "copy_rows", "read_profiles", "row_blocks"]


Result = TypeVar("Result")

# Items a block holds: large enough to forget the interpreter, small enough to have many.
_BLOCK_ITEMS = 1 << 20
# Taking fewer columns at once would read every line of memory several times over.
_LEAST_COLUMNS = 16
_LARGEST_TILE = 1 << 24
_LARGEST_SUM = 2**62


@dataclass(frozen=True, eq=False)
class Profile:
    """Each row's relevant items, best first, and the irrelevant items they have to beat.

    Attributes
    ----------
    indptr : array of shape (n_rows + 1,)
        Row i owns the cells ``indptr[i]`` to ``indptr[i + 1]`` of the next three arrays.
    relevant : array of shape (n_relevant,)
        Scores of the relevant items, descending within a row.
    above, tied : array of shape (n_relevant,)
        How many irrelevant items of the row score higher, and how many the same.
    top_irrelevant : array of shape (n_rows,)
        The highest irrelevant score, -inf where there is none.
    n_items : int
        How many items a row has.
    """

    indptr: Integers
    relevant: Floats
    above: Integers
    tied: Integers
    top_irrelevant: Floats
    n_items: int

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
        """How many (relevant, irrelevant) pairs each row has; may pass the range of integers."""
        return self.n_relevant.astype(np.float64) * self.n_irrelevant

    @cached_property
    def perfect(self) -> "Profile":
        """The same relevant items, with no irrelevant one above or beside them."""
        none = np.zeros_like(self.above)
        return replace(self, above=none, tied=none)

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
        """First and last cell of the run of equal relevant scores each cell belongs to."""
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
        """For each relevant item, the relevant ones of its row that score higher."""
        return self._runs[0] - self._row_start

    @property
    def relevant_through(self) -> Integers:
        """For each relevant item, the relevant ones of its row, itself too, that score as high."""
        return self._runs[1] - self._row_start + 1

    def first(self, cells: Anything) -> Values:
        """The value of each row's best relevant item; nan in rows without one."""
        return self._pick(cells, self.indptr[:-1])

    def last(self, cells: Anything) -> Values:
        """The value of each row's worst relevant item; nan in rows without one."""
        return self._pick(cells, self.indptr[1:] - 1)

    def sum(self, cells: Anything) -> Values:
        """Sum over each row's relevant items.

        Counts are added as integers, and in two halves where their sum might overflow: each sum
        is rounded once.
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
    """Hand the profiles of all rows of ``view``, block after block, to ``read``.

    Profiles live only as long as ``read`` looks at them, so memory stays a few blocks large;
    the entries view has one profile. Results come in the order of the rows.
    """
    with workers(enough=S.size > _BLOCK_ITEMS) as run:
        if view is ENTRIES:
            return [read(_whole_profile(Y, S, run))]
        if view is COLUMNS:
            Y, S = Y.T, S.T
        blocks = row_blocks(*S.shape, scattered=not S.flags.c_contiguous)
        return list(run(lambda block: read(_block_profile(Y, S, *block)), blocks))


def row_blocks(n_rows: int, n_items: int, *, scattered: bool) -> list[tuple[int, int]]:
    """Start and stop of the blocks of rows to work on in one go.

    ``scattered`` says that the items of a row do not lie side by side in memory.
    """
    step = max(_LEAST_COLUMNS if scattered else 1, _BLOCK_ITEMS // n_items)
    return [(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]


def _block_profile(Y: Pattern, S: Floats, start: int, stop: int) -> Profile:
    """Profiles of the rows from ``start`` to ``stop``."""
    Y = Y.rows(start, stop)
    block = copy_rows(S, start, stop)  # ours to spoil
    relevant = np.empty(Y.n_ones, dtype=S.dtype)
    take_relevant(block, Y.indptr, Y.indices, relevant)
    block.sort(axis=1)
    above, tied = np.zeros((2, Y.n_ones), dtype=np.int64)
    count_irrelevant(block, Y.indptr, relevant, above, tied)
    return Profile(Y.indptr, relevant, above, tied, block[:, -1].copy(), S.shape[1])


def copy_rows(S: Floats, start: int, stop: int) -> Floats:
    """Copy rows ``start`` to ``stop``, the items of each side by side."""
    if S.flags.c_contiguous:
        return np.array(S[start:stop])
    block = np.empty((stop - start, S.shape[1]), dtype=S.dtype)
    copy_columns(S.T, start, block)
    return block


def _whole_profile(Y: Pattern, S: Floats, run: Run) -> Profile:
    """The profile of all entries as one row, gathered tile by tile."""
    if S.flags.f_contiguous and not S.flags.c_contiguous:
        Y, S = Y.T, S.T
    entries = S.reshape(-1)
    places = Y.flat
    relevant = np.sort(entries[places])[::-1].copy()
    indptr = np.array([0, relevant.size])
    above, tied = np.zeros((2, relevant.size), dtype=np.int64)
    one_writer = threading.Lock()

    # Tiles grow with the number of relevant entries: the walks then cost no more than the sorts.
    # They stop growing where memory counts more than a few walks.
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
