"""Exact sums of floating-point numbers: the same bits for every order and every grouping.

A sum is kept as a whole number of the smallest positive float, 2**-1074, in digits of 32 bits.
Digits of two sums can be added, so that sums of parts give the sum of the whole.
"""

import math

import numpy as np

from limo._kernels import kernel
from limo._types import Integers, Values

# The largest float is below 2**1024: 2098 bits from 2**-1074 on, and bits for carries.
N_DIGITS = 70
_BITS = 32
_MASK = (1 << _BITS) - 1


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


def exact_mean(values: Values, weights: Values | None = None) -> float:
    """Mean of at least one number, which does not depend on their order."""
    if not np.isfinite(values).all():
        return float(np.average(values, weights=weights))
    if weights is None:
        return rounded(digits_of(values)) / values.size
    return rounded(digits_of(values * weights)) / rounded(digits_of(weights))
