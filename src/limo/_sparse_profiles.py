"""Profiles of sparse scores, from the stored ones alone: absent scores are below them, and tied."""

from collections.abc import Callable

import numpy as np

from limo._kernels.profiles import add_steps, count_stored, place_relevant
from limo._kernels.thresholds import sort_stored
from limo._profiles import Profile, Result, SortedRows, read_profiles, row_blocks
from limo._sparse import SparseScores
from limo._system import workers
from limo._types import Anything, Floats, Integers
from limo._views import COLUMNS, ROWS, Pattern, View

_ENOUGH = 1 << 20


def read_any_profiles(
    view: View, Y: Pattern, S: Floats | SparseScores, read: Callable[[Profile], Result]
) -> list[Result]:
    """As :func:`limo._profiles.read_profiles`, for dense or sparse scores."""
    if not isinstance(S, SparseScores):
        return read_profiles(view, Y, S, read)
    Y, S = stored_through(view, Y, S)
    with workers(enough=S.size > _ENOUGH) as run:
        return list(run(lambda block: read(_stored_profile(Y, S, *block)), stored_blocks(S)))


def stored_blocks(S: SparseScores) -> list[tuple[int, int]]:
    """Start and stop of the blocks of rows that are processed at once."""
    return row_blocks(S.shape[0], 1 + S.size // S.shape[0], scattered=False)


def count_stored_columns(
    Y: Pattern, S: SparseScores, indptr: Integers, relevant: Floats, counts: Anything
) -> Floats:
    """As :func:`limo._profiles.count_columns`; every stored score is above an absent one."""
    Y, S = stored_through(COLUMNS, Y, S)
    rows = sort_stored_rows(Y, S, 0, S.shape[0])
    add_steps(*rows.irrelevant, indptr, relevant, *counts)
    return _top(rows)


def count_stored_entries(Y: Pattern, S: SparseScores, relevant: Floats, counts: Anything) -> None:
    """As :func:`limo._profiles.count_entries`; every stored score is above an absent one."""
    indptr = np.array([0, relevant.size])
    rows = sort_stored_rows(Y.as_one_row(), S.as_one_row(), 0, 1)
    add_steps(*rows.irrelevant, indptr, relevant, *counts)


def _top(rows: SortedRows) -> Floats:
    """The highest stored irrelevant score of each row."""
    ordered, first, last = rows.irrelevant
    top = np.full(first.size, -np.inf, dtype=ordered.dtype)
    top[first < last] = ordered[last[first < last] - 1]
    return top


def stored_through(view: View, Y: Pattern, S: SparseScores) -> tuple[Pattern, SparseScores]:
    """Labels and sparse scores whose rows are the rows of the view."""
    if view is ROWS:
        return Y, S
    return (Y.T, S.T) if view is COLUMNS else (Y.as_one_row(), S.as_one_row())


def sort_stored_rows(Y: Pattern, S: SparseScores, start: int, stop: int) -> SortedRows:
    """Sort the stored scores of the rows from ``start`` to ``stop``."""
    Y = Y.rows(start, stop)
    indptr, indices, data = S.rows(start, stop)
    ordered, middle = np.empty_like(data), np.empty(stop - start, dtype=np.int64)
    sort_stored(indptr, indices, data, Y.indptr, Y.indices, ordered, middle)
    segments = (ordered, indptr[:-1], middle), (ordered, middle, indptr[1:])
    return SortedRows(*segments, Y.ones_per_row, S.shape[1])


def _stored_profile(Y: Pattern, S: SparseScores, start: int, stop: int) -> Profile:
    """Profiles of rows of sparse scores, in which absent scores are -inf."""
    rows = sort_stored_rows(Y, S, start, stop)
    indptr = Y.indptr[start : stop + 1] - Y.indptr[start]
    relevant = np.full(indptr[-1], -np.inf, dtype=S.dtype)
    place_relevant(*rows.relevant, indptr, relevant)
    counts = np.zeros((2, relevant.size), np.int64)
    count_stored(*rows.irrelevant, indptr, relevant, *counts)
    profile = Profile(indptr, relevant, counts[0], counts[1], _top(rows), S.shape[1])
    return profile.with_absent_tied()
