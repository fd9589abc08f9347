"""Kernels for sorted rows, for nearest neighbours, and exact sums of the values of rows."""

import math
from dataclasses import dataclass

import numpy as np

from limo._kernels import kernel
from limo._types import Floats, Integers, Values

# The largest float is below 2**1024: 2098 bits from 2**-1074 on, and bits for carries.
N_DIGITS = 70
_BITS = 32
_MASK = (1 << _BITS) - 1


@kernel
def copy_columns(matrix: Floats, start: int, columns: Floats) -> None:
    """Copy the columns of ``matrix`` from ``start`` on into the rows of ``columns``.

    In tiles that stay in the cache on both sides: about three times as fast as numpy.
    """
    n_columns, n_rows = columns.shape
    for top in range(0, n_rows, 64):
        for left in range(0, n_columns, 16):
            for j in range(left, min(left + 16, n_columns)):
                for i in range(top, min(top + 64, n_rows)):
                    columns[j, i] = matrix[i, start + j]


@kernel
def _take(row: Floats, indices: Integers, relevant: Floats) -> None:
    """One row of :func:`take_relevant`."""
    for k in range(indices.size):
        relevant[k] = -row[indices[k]]  # negated, because sort() only ascends
        row[indices[k]] = -np.inf
    relevant.sort()
    for k in range(indices.size):
        relevant[k] = -relevant[k]


@kernel
def take_relevant(rows: Floats, indptr: Integers, indices: Integers, relevant: Floats) -> None:
    """Move the relevant scores of each row into ``relevant``, highest first; leave -inf behind.

    The scores must be finite. O(p log p) for a row with p relevant items.
    """
    for i in range(rows.shape[0]):
        own = slice(indptr[i], indptr[i + 1])
        _take(rows[i], indices[own], relevant[own])


@kernel
def count_few(
    rows: Floats,
    indptr: Integers,
    indices: Integers,
    unknown: tuple[Integers, Integers],
    relevant: Floats,
    above: Integers,
    tied: Integers,
    top: Floats,
) -> None:
    """Fill the relevant scores, the counts and the highest irrelevant scores of unsorted rows.

    Every relevant score is compared with its whole row, by vector instructions: O(n p) for a row
    with n items, yet several times faster than a sort if p is small. ``unknown`` has the
    ``indptr`` and ``indices`` of items that take no part.
    """
    width = rows.shape[1]
    row = np.empty(width, rows.dtype)  # stays in the fastest cache
    for i in range(rows.shape[0]):
        for j in range(width):
            row[j] = rows[i, j]
        own = slice(indptr[i], indptr[i + 1])
        _take(row, indices[own], relevant[own])
        for k in range(unknown[0][i], unknown[0][i + 1]):
            row[unknown[1][k]] = -np.inf
        highest = row[0]
        for j in range(width):
            if row[j] > highest:
                highest = row[j]
        top[i] = highest
        for k in range(indptr[i], indptr[i + 1]):
            score = relevant[k]
            exceeding = reaching = 0
            for j in range(width):
                exceeding += row[j] > score
                reaching += row[j] >= score
            above[k] = exceeding
            tied[k] = reaching - exceeding


@kernel
def group_scores(labels: Integers, scores: Floats, ends: Integers, grouped: Floats) -> None:
    """Append each score to the group of its label, whose next free place is in ``ends``."""
    for k in range(labels.size):
        grouped[ends[labels[k]]] = scores[k]
        ends[labels[k]] += 1


@kernel
def _boundary(ordered: Floats, value: float, end: int, strict: bool) -> int:
    """The first index such that all of ``ordered[index:end]`` exceed ``value``.

    With ``strict`` false, such that all exceed or equal it. ``ordered`` ascends.

    The search starts at ``end`` and goes down in steps of 2, 4, 8, ... until it finds a score that
    is too low; then it bisects the last step. Successive calls with descending values, each
    starting at the index found before, therefore cost at most one walk through the row, and far
    less if the values are few.
    """
    step = 1
    high = end  # everything from here on exceeds the value
    low = end - 1
    while low >= 0 and (ordered[low] > value or (not strict and ordered[low] == value)):
        high = low
        step *= 2
        low -= step
    low = max(low, -1)  # here, or before the row, nothing does
    while high - low > 1:
        middle = (low + high) // 2
        if ordered[middle] > value or (not strict and ordered[middle] == value):
            high = middle
        else:
            low = middle
    return high


@kernel
def _count_row(
    row: Floats, start: int, stop: int, relevant: Floats, above: Integers, tied: Integers
) -> None:
    """Count for the relevant scores from ``start`` to ``stop``, which belong to this row."""
    end = row.size
    for k in range(start, stop):
        # relevant scores descend, so the boundary only moves down the row
        end = _boundary(row, relevant[k], end, True)
        above[k] += row.size - end
        tied[k] += end - _boundary(row, relevant[k], end, False)


@kernel
def count_irrelevant(
    ordered: Floats, indptr: Integers, relevant: Floats, above: Integers, tied: Integers
) -> None:
    """Add to each relevant item how many irrelevant items are above it and tied with it.

    ``ordered`` holds the irrelevant scores of each row ascending, padded with -inf in front;
    ``relevant`` the relevant scores descending. Counts are added to those already there, so that a
    row can be processed in parts.
    """
    for i in range(ordered.shape[0]):
        _count_row(ordered[i], indptr[i], indptr[i + 1], relevant, above, tied)


@kernel
def count_stored(
    ordered: Floats,
    starts: Integers,
    stops: Integers,
    indptr: Integers,
    relevant: Floats,
    above: Integers,
    tied: Integers,
) -> None:
    """As :func:`count_irrelevant`; row i has the irrelevant scores ``ordered[starts[i]:stops[i]]``.

    A relevant score may be -inf: all of them are above it.
    """
    for i in range(starts.size):
        row = ordered[starts[i] : stops[i]]
        _count_row(row, indptr[i], indptr[i + 1], relevant, above, tied)


# Counts of many blocks of irrelevant items, against the relevant items of all blocks. A block adds
# to few places: each irrelevant item to the first relevant items that it exceeds, and that it
# exceeds or equals. Sums from the first relevant item on are then how many are above, and how many
# are above or tied. So the work of a block does not grow with the number of relevant items.


@kernel
def _first_below(descending: Floats, value: float, start: int, strict: bool) -> int:
    """The first index from ``start`` on whose item is below ``value``; the size if there is none.

    With ``strict`` false, below or equal. As in :func:`_boundary`, in growing steps.
    """
    step = 1
    low = start - 1  # up to here nothing is below
    high = start
    while high < descending.size and (
        descending[high] > value or (strict and descending[high] == value)
    ):
        low = high
        high += step
        step *= 2
    high = min(high, descending.size)
    while high - low > 1:
        middle = (low + high) // 2
        if descending[middle] > value or (strict and descending[middle] == value):
            low = middle
        else:
            high = middle
    return high


@kernel
def _add_by_relevant(row: Floats, relevant: Floats, above: Integers, ahead: Integers) -> None:
    """One row of :func:`add_steps`, from one relevant item to the next."""
    exceeding = reaching = row.size
    for k in range(relevant.size):
        end = _boundary(row, relevant[k], exceeding, True)
        above[k] += exceeding - end
        exceeding = end
        end = _boundary(row, relevant[k], min(reaching, exceeding), False)
        ahead[k] += reaching - end
        reaching = end


@kernel
def _add_by_irrelevant(row: Floats, relevant: Floats, above: Integers, ahead: Integers) -> None:
    """One row of :func:`add_steps`, from one irrelevant item to the next."""
    reached = exceeded = 0
    for j in range(row.size - 1, -1, -1):
        reached = _first_below(relevant, row[j], reached, False)
        if reached == relevant.size:
            return  # this and all lower ones are below every relevant item
        ahead[reached] += 1
        exceeded = _first_below(relevant, row[j], max(exceeded, reached), True)
        if exceeded < relevant.size:
            above[exceeded] += 1


@kernel
def add_steps(
    ordered: Floats,
    starts: Integers,
    stops: Integers,
    indptr: Integers,
    relevant: Floats,
    above: Integers,
    ahead: Integers,
) -> None:
    """Add how many more irrelevant items are above, and above or tied, than one place before.

    Row i has the irrelevant scores ``ordered[starts[i]:stops[i]]``, ascending, and the relevant
    ones ``relevant[indptr[i]:indptr[i + 1]]``, descending, which may be -inf. The shorter of the
    two decides the work: O(s log(n / s)) for the sizes s and n.
    """
    for i in range(starts.size):
        row, own = ordered[starts[i] : stops[i]], slice(indptr[i], indptr[i + 1])
        if relevant[own].size < row.size:
            _add_by_relevant(row, relevant[own], above[own], ahead[own])
        else:
            _add_by_irrelevant(row, relevant[own], above[own], ahead[own])


@kernel
def sum_steps(
    steps_above: Integers,
    steps_ahead: Integers,
    indptr: Integers,
    above: Integers,
    tied: Integers,
) -> None:
    """Sum the steps of :func:`add_steps` within each row; they may be overwritten by the sums."""
    for i in range(indptr.size - 1):
        n_above = n_ahead = 0
        for k in range(indptr[i], indptr[i + 1]):
            n_above += steps_above[k]
            n_ahead += steps_ahead[k]
            above[k] = n_above
            tied[k] = n_ahead - n_above


@kernel
def place_relevant(
    ordered: Floats, starts: Integers, stops: Integers, indptr: Integers, relevant: Floats
) -> None:
    """Copy ``ordered[starts[i]:stops[i]]`` to the start of row i of ``relevant``."""
    for i in range(starts.size):
        for k in range(stops[i] - starts[i]):
            relevant[indptr[i] + k] = ordered[starts[i] + k]


@kernel
def weigh_irrelevant(
    ordered: Floats,
    tails: Values,
    indptr: Integers,
    relevant: Floats,
    above: Values,
    tied: Values,
) -> None:
    """Add to each relevant item how much the irrelevant items above it and tied with it weigh.

    As :func:`count_irrelevant`; ``tails[i, k]`` is the weight of ``ordered[i, k:]``.
    """
    for i in range(ordered.shape[0]):
        row = ordered[i]
        end = row.size
        for k in range(indptr[i], indptr[i + 1]):
            end = _boundary(row, relevant[k], end, True)
            above[k] += tails[i, end]
            tied[k] += tails[i, _boundary(row, relevant[k], end, False)] - tails[i, end]


@kernel
def nearest(distances: Values, close: Values, own: int, out: Integers) -> None:
    """Write into row i of ``out`` the columns of the smallest distances of row i, nearest first.

    Distances that differ by ``close[i]`` or less count as equal, and of equal ones the lower column
    is nearer. Row i leaves out column ``own + i``, which is the row itself; with a negative ``own``
    none is left out. An insertion sort into the k best so far: O(columns) per row on average if
    the columns are in random order.
    """
    n_rows, n_columns = distances.shape
    k = out.shape[1]
    best = np.empty(k)
    for i in range(n_rows):
        best[:] = np.inf
        for j in range(n_columns):
            d = distances[i, j] + close[i]
            if d >= best[k - 1] or (own >= 0 and j == own + i):
                continue
            place = k - 1
            while place > 0 and d < best[place - 1]:
                best[place] = best[place - 1]
                out[i, place] = out[i, place - 1]
                place -= 1
            best[place] = distances[i, j]
            out[i, place] = j


# Exact sums: the same bits for every order and every grouping. A sum is kept as a whole number of
# the smallest positive float, 2**-1074, in digits of 32 bits, which can be added to other digits.


@kernel
def _carry(digits: Integers) -> None:
    """Bring every digit but the last into 0 .. 2**32 - 1; the last one has the sign."""
    for k in range(digits.size - 1):
        digits[k + 1] += digits[k] >> _BITS
        digits[k] &= _MASK


@kernel
def _add(patterns: Integers, digits: Integers) -> None:
    """Add finite floats, given by their bits."""
    for start in range(0, patterns.size, 1 << 20):  # carries before a digit can overflow
        for i in range(start, min(start + (1 << 20), patterns.size)):
            exponent = (patterns[i] >> 52) & 0x7FF
            mantissa = patterns[i] & ((1 << 52) - 1)
            if exponent:
                mantissa |= 1 << 52
                exponent -= 1
            sign = -1 if patterns[i] < 0 else 1
            place, shift = exponent >> 5, exponent & 31
            low = (mantissa & _MASK) << shift
            high = (mantissa >> _BITS) << shift
            digits[place] += sign * (low & _MASK)
            digits[place + 1] += sign * ((low >> _BITS) + (high & _MASK))
            digits[place + 2] += sign * (high >> _BITS)
        _carry(digits)


def digits_of(values: Values) -> Integers:
    """The sum of finite numbers, as digits that can be added to those of other sums."""
    digits = np.zeros(N_DIGITS, dtype=np.int64)
    _add(np.ascontiguousarray(values, dtype=np.float64).view(np.int64).reshape(-1), digits)
    return digits


def rounded(digits: Integers) -> float:
    """The float nearest to a sum."""
    whole = 0
    for digit in digits[::-1].tolist():
        whole = (whole << _BITS) + digit
    try:
        return whole / (1 << 1074)
    except OverflowError:
        return math.inf if whole > 0 else -math.inf


@dataclass(frozen=True, eq=False)
class Mean:
    """A weighted mean that adds up: its sums are exact, and rounded when it is asked for.

    Attributes
    ----------
    sums, weights : array
        The digits of the sum of the weighted values, and of the weights.
    beyond : float
        The sum of the values that are not finite, which have no digits; 0 if there is none.
    """

    sums: Integers
    weights: Integers
    beyond: float = 0.0

    @classmethod
    def of(cls, values: Values, weights: Values | None = None, *, skip: bool = True) -> "Mean":
        """From values and their weights, by default 1; with ``skip``, nan is left out."""
        kept = ~np.isnan(values) if skip else np.ones(values.shape, dtype=bool)
        if weights is not None:
            kept &= weights > 0
        if not kept.all():
            values, weights = values[kept], None if weights is None else weights[kept]
        total = np.array([float(values.size)]) if weights is None else weights
        if weights is not None:
            values = values * weights
        finite, beyond = np.isfinite(values), 0.0
        if not finite.all():
            with np.errstate(invalid="ignore"):  # inf - inf
                beyond = float(values[~finite].sum())
            values = values[finite]
        return cls(digits_of(values), digits_of(total), beyond)

    def plus(self, other: "Mean") -> "Mean":
        """The mean of the values of both."""
        sums, weights = self.sums + other.sums, self.weights + other.weights
        _carry(sums)  # so that no number of additions makes a digit overflow
        _carry(weights)
        return Mean(sums, weights, self.beyond + other.beyond)

    @property
    def value(self) -> float:
        """The mean; nan without values."""
        if self.beyond != 0.0:
            return self.beyond
        total = rounded(self.weights)
        return rounded(self.sums) / total if total else math.nan


def exact_mean(values: Values, weights: Values | None = None) -> float:
    """Mean of at least one number, which does not depend on their order."""
    return Mean.of(values, weights, skip=False).value
