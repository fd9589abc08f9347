"""The data section of an ARFF file: bytes to cells, dense and sparse rows by the same code.

A cell is a number or, for a nominal attribute, the index of its value in the declared list. So an
omitted cell of a sparse row, which means the first value, is 0. Cells this code cannot read
(quoted or long values, ``?``, anything that may be wrong) are noted for the caller.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from limo._kernels import kernel
from limo._kernels.numbers import EXACT, Bytes, Word, number

NUMERIC, NOMINAL, SKIPPED = 0, 1, 2

END = 0
WRONG_WIDTH, EMPTY_VALUE, UNCLOSED_QUOTE, STRAY_TEXT = 1, 2, 3, 4
NO_INDEX, BAD_INDEX, OUT_OF_RANGE, NO_VALUE, UNCLOSED_BRACE = 5, 6, 7, 8, 9

_NEWLINE, _SPACE, _QUOTE2, _PERCENT, _QUOTE1, _COMMA = 10, 32, 34, 37, 39, 44
_BACKSLASH, _OPEN, _CLOSE = 92, 123, 125
_EIGHT = np.uint64(8)


class Attributes(NamedTuple):
    """The type of each column; the keys of nominal attribute ``a`` begin at ``starts[a]``."""

    kinds: NDArray[np.int8]  # NUMERIC, NOMINAL, SKIPPED
    starts: NDArray[np.int64]  # one per attribute, and the number of keys
    keys: NDArray[np.uint64]  # pack() of each short value, sorted within an attribute
    codes: NDArray[np.int64]  # the index of that value in the declaration


class Cells(NamedTuple):
    """Arrays to fill with the result."""

    values: NDArray[np.float64]  # one per cell
    columns: NDArray[np.int32]  # one per cell
    row_ends: NDArray[np.int64]  # number of cells up to and including the row
    row_starts: NDArray[np.int64]  # position of the row in the text
    noted: NDArray[np.int64]  # (n, 3): cell, start and end of its text
    used: NDArray[np.int64]  # (4,): how many cells, noted cells, rows, rows with braces


@kernel
def pack(text: Bytes, start: int, end: int) -> Word:
    """Up to seven bytes and their count as one key; 0 if there are more."""
    if end - start > 7:
        return np.uint64(0)
    key = np.uint64(end - start)
    for i in range(start, end):
        key = (key << _EIGHT) | np.uint64(text[i])
    return key


@kernel
def _is_blank(byte: int) -> bool:
    return byte <= _SPACE and byte != _NEWLINE


@kernel
def _skip_blanks(text: Bytes, i: int) -> int:
    while i < len(text) and _is_blank(text[i]):
        i += 1
    return i


@kernel
def _value_end(text: Bytes, i: int, closing: int) -> tuple[int, bool]:
    """The end of the value that begins at ``i``, and whether its quote was closed."""
    first = text[i]
    if first == _QUOTE1 or first == _QUOTE2:
        i += 1
        while i < len(text) and text[i] != first and text[i] != _NEWLINE:
            escaped = text[i] == _BACKSLASH and i + 1 < len(text) and text[i + 1] != _NEWLINE
            i += 2 if escaped else 1
        return min(i + 1, len(text)), i < len(text) and text[i] == first
    while i < len(text) and text[i] != _COMMA and text[i] != _NEWLINE and text[i] != closing:
        i += 1
    while _is_blank(text[i - 1]):
        i -= 1
    return i, True


@kernel
def _token(text: Bytes, i: int, closing: int) -> tuple[int, int, int]:
    """The value that begins at ``i``: its end, the next position to read, what is wrong."""
    if i >= len(text) or text[i] == _NEWLINE or text[i] == _COMMA or text[i] == closing:
        return i, i, EMPTY_VALUE
    end, closed = _value_end(text, i, closing)
    if not closed:
        return end, i, UNCLOSED_QUOTE
    after = _skip_blanks(text, end)
    if after < len(text):
        stop = text[after] == _COMMA or text[after] == _NEWLINE or text[after] == closing
    return end, after, (END if after >= len(text) or stop else STRAY_TEXT)


@kernel
def _code(keys: NDArray[np.uint64], low: int, high: int, key: Word) -> int:
    """The index of the key among the sorted ``keys[low:high]``, or -1."""
    end = high
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low if low < end and keys[low] == key else -1


@kernel
def _index(text: Bytes, i: int) -> tuple[int, int, int]:
    """Read the attribute number of a sparse cell: next position, number, what is wrong."""
    first, index = i, 0
    while i < len(text) and 48 <= text[i] <= 57:
        index = min(index * 10 + int(np.int64(text[i])) - 48, 1 << 40)
        i += 1
    if i == first:
        return i, index, NO_INDEX
    if i >= len(text) or not _is_blank(text[i]):
        return i, index, BAD_INDEX
    return _skip_blanks(text, i), index, END


@kernel
def _next_column(text: Bytes, i: int, a: int, braced: bool, width: int) -> tuple[int, int, int]:
    """The column of the next value: the next one, or in braces the one whose index is written."""
    if not braced:
        return i, a + 1, (END if a + 1 < width else WRONG_WIDTH)
    i, a, problem = _index(text, i)
    if problem == END and a >= width:
        problem = OUT_OF_RANGE
    return i, a, problem


@kernel
def _row(text: Bytes, i: int, attributes: Attributes, cells: Cells) -> tuple[int, int, int]:
    """Read the row that begins at ``i``: next position, what is wrong, a detail of that."""
    kinds, starts, keys, codes = attributes
    values, columns, cell = cells.values, cells.columns, cells.used[0]
    braced, a, width = text[i] == _OPEN, -1, len(kinds)
    closing = _CLOSE if braced else _NEWLINE
    i = _skip_blanks(text, i + 1) if braced else i
    more = not (braced and i < len(text) and text[i] == _CLOSE)
    while more:
        i, a, problem = _next_column(text, _skip_blanks(text, i), a, braced, width)
        if problem != END:
            return i, problem, a
        end, after, problem = _token(text, i, closing)
        if problem != END:
            return after, (NO_VALUE if braced and problem == EMPTY_VALUE else problem), a
        if kinds[a] != SKIPPED:
            is_read, columns[cell] = False, a
            if kinds[a] == NUMERIC:
                values[cell], verdict = number(text, i, end)
                is_read = verdict == EXACT
            else:
                place = _code(keys, starts[a], starts[a + 1], pack(text, i, end))
                if place >= 0:
                    values[cell], is_read = codes[place], True
            if not is_read:
                _note(cells, cell, i, end)
            cell += 1
        i = after
        more = i < len(text) and text[i] == _COMMA
        i += more
    cells.used[0] = cell
    return _row_end(text, i, a, braced, width)


@kernel
def _note(cells: Cells, cell: int, start: int, end: int) -> None:
    """Leave a value to the caller."""
    note = cells.noted[cells.used[1]]
    note[0], note[1], note[2] = cell, start, end
    cells.used[1] += 1


@kernel
def _row_end(text: Bytes, i: int, a: int, braced: bool, width: int) -> tuple[int, int, int]:
    """Check that a row whose last column was ``a`` ends as it should."""
    if not braced:
        return i, (END if a + 1 == width else WRONG_WIDTH), a + 1
    if i >= len(text) or text[i] != _CLOSE:
        return i, UNCLOSED_BRACE, a
    i = _skip_blanks(text, i + 1)
    return i, (END if i >= len(text) or text[i] == _NEWLINE else STRAY_TEXT), a


@kernel
def read_rows(text: Bytes, attributes: Attributes, cells: Cells) -> tuple[int, int, int]:
    """Read all rows of ``text`` into ``cells``: last position, what is wrong, a detail of that.

    Blank lines and lines that begin with % are skipped.
    """
    i, rows = 0, 0
    while i < len(text):
        i = _skip_blanks(text, i)
        if i < len(text) and text[i] != _NEWLINE and text[i] != _PERCENT:
            start = i
            braced = text[i] == _OPEN
            i, problem, detail = _row(text, i, attributes, cells)
            if problem != END:
                return i, problem, detail
            cells.used[3] += braced
            cells.row_starts[rows], cells.row_ends[rows] = start, cells.used[0]
            rows += 1
            cells.used[2] = rows
        while i < len(text) and text[i] != _NEWLINE:
            i += 1
        i += 1
    return i, END, 0
