"""Lines of ``label,label index:value index:value``, as in LIBSVM and extreme classification."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from limo._kernels import kernel
from limo._kernels.numbers import EXACT, UNDECIDED, Bytes, number

END, BAD_LABEL, BAD_PAIR, BAD_VALUE, HUGE_INDEX = 0, 1, 2, 3, 4

_TAB, _NEWLINE, _SPACE, _HASH, _PLUS, _COMMA, _MINUS, _COLON = 9, 10, 32, 35, 43, 44, 45, 58
_HUGE = 1 << 40


class Pairs(NamedTuple):
    """Arrays to fill with the result; the caller reads the noted values."""

    values: NDArray[np.float64]  # one per pair
    indices: NDArray[np.int64]  # one per pair
    labels: NDArray[np.int64]  # one per label
    ends: NDArray[np.int64]  # (rows, 2): number of pairs, of labels up to and including the row
    row_starts: NDArray[np.int64]  # position of the row in the text
    noted: NDArray[np.int64]  # (n, 3): pair, start and end of the text of its value
    used: NDArray[np.int64]  # (4,): how many pairs, labels, rows, noted values


@kernel
def _is_blank(byte: int) -> bool:
    return byte == _SPACE or byte == _TAB


@kernel
def _word_end(text: Bytes, i: int, end: int) -> int:
    """The end of the word that begins at ``i``."""
    while i < end and not _is_blank(text[i]):
        i += 1
    return i


@kernel
def _line_end(text: Bytes, i: int) -> tuple[int, int]:
    """The end of the line, and the end of its content before any comment."""
    content = -1
    while i < len(text) and text[i] != _NEWLINE:
        if text[i] == _HASH and content < 0:
            content = i
        i += 1
    return i, (i if content < 0 else content)


@kernel
def _whole(text: Bytes, start: int, end: int) -> tuple[int, bool]:
    """``text[start:end]`` as a whole number, and whether it is one."""
    i = start
    if i < end and (text[i] == _MINUS or text[i] == _PLUS):
        i += 1
    value, good = 0, i < end
    for k in range(i, end):
        good = good and 48 <= text[k] <= 57
        value = min(value * 10 + int(np.int64(text[k])) - 48, _HUGE)
    return (-value if end > start and text[start] == _MINUS else value), good


@kernel
def _find(text: Bytes, byte: int, start: int, end: int) -> int:
    while start < end and text[start] != byte:
        start += 1
    return start


@kernel
def _read_labels(text: Bytes, start: int, end: int, pairs: Pairs) -> int:
    """Store the labels of ``1,2,3``; the position of an error, or -1."""
    while start <= end:
        comma = _find(text, _COMMA, start, end)
        label, good = _whole(text, start, comma)
        if not good or abs(label) >= _HUGE:
            return start
        pairs.labels[pairs.used[1]] = label
        pairs.used[1] += 1
        start = comma + 1
    return -1


@kernel
def _read_pair(text: Bytes, start: int, end: int, pairs: Pairs) -> int:
    """Store ``index:value``; what is wrong."""
    colon = _find(text, _COLON, start, end)
    index, good = _whole(text, start, colon)
    if not good or index < 0 or colon >= end:
        return BAD_PAIR
    if index >= _HUGE:
        return HUGE_INDEX
    value, verdict = number(text, colon + 1, end)
    pair = pairs.used[0]
    if verdict == UNDECIDED:
        note = pairs.noted[pairs.used[3]]
        note[0], note[1], note[2] = pair, colon + 1, end
        pairs.used[3] += 1
    elif verdict != EXACT:
        return BAD_VALUE
    pairs.values[pair], pairs.indices[pair] = value, index
    pairs.used[0] += 1
    return END


@kernel
def _read_line(text: Bytes, i: int, end: int, pairs: Pairs) -> tuple[int, int]:
    """Read one line: last position and what is wrong."""
    word = _word_end(text, i, end)
    if word > i and _find(text, _COLON, i, word) == word:
        wrong = _read_labels(text, i, word, pairs)
        if wrong >= 0:
            return wrong, BAD_LABEL
        i = word
    while True:
        while i < end and _is_blank(text[i]):
            i += 1
        if i >= end:
            return i, END
        word = _word_end(text, i, end)
        problem = _read_pair(text, i, word, pairs)
        if problem != END:
            return i, problem
        i = word


@kernel
def read_lines(text: Bytes, pairs: Pairs) -> tuple[int, int]:
    """Read all lines of ``text`` into ``pairs``: last position and what is wrong.

    A line that is only a comment is skipped; a blank line is a row without labels or features.
    """
    i = 0
    while i < len(text):
        end, content = _line_end(text, i)
        if content > i or content == end:
            stop, problem = _read_line(text, i, content, pairs)
            if problem != END:
                return stop, problem
            row = pairs.used[2]
            pairs.row_starts[row] = i
            pairs.ends[row, 0], pairs.ends[row, 1] = pairs.used[0], pairs.used[1]
            pairs.used[2] += 1
        i = end + 1
    return i, END
