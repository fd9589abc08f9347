"""Numbers as JSON can hold them: no arrays, no nan, no more digits than a reader has use for."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

__all__ = ["DIGITS", "plain", "shortened"]

DIGITS = 5
"""Significant digits of the many: values of labels, instances and curves."""


def plain(value: Any) -> Any:
    """Only what JSON has: null for nan, the words "Infinity" and "-Infinity" for the infinite.

    Those words are what both Python's ``float`` and JavaScript's ``Number`` read.
    """
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value).replace("inf", "Infinity")
    return value


def shortened(values: Iterable[float], digits: int = DIGITS) -> list[Any]:
    """Many numbers, each rounded to a few significant digits; whole ones lose their point."""
    return [plain(_short(value, digits)) for value in np.asarray(values).tolist()]


def _short(value: float, digits: int) -> float | int:
    if isinstance(value, int) or not math.isfinite(value):
        return value
    rounded = float(f"{value:.{digits}g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 10**digits else rounded
