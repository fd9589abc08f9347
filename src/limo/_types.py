"""Names for the types of arrays that functions take and return, and a check of other types."""

import reprlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

Anything = NDArray[Any]
Booleans = NDArray[np.bool_]
Floats = NDArray[np.floating]  # scores, float32 or float64
Integers = NDArray[np.int64]
Values = NDArray[np.float64]  # what row functions give


def check_kind(value: Any, kind: Any, what: str) -> None:
    """Raise unless the value is of a type, or of one of several.

    >>> check_kind(3, str, "title must be a text")
    Traceback (most recent call last):
        ...
    ValueError: title must be a text, got 3.
    """
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()  # an array without dimensions claims to be iterable, but is not
    if not isinstance(value, kind):
        raise ValueError(f"{what}, got {reprlib.repr(value)}.")
