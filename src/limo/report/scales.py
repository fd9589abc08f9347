"""Where numbers fall on an axis, and which round ones to write beside it."""

import math
from dataclasses import dataclass

__all__ = ["Scale", "ticks"]


@dataclass(frozen=True)
class Scale:
    """Maps numbers from ``low`` to ``high`` onto 0 to ``length``."""

    low: float
    high: float
    length: float = 100.0

    def __call__(self, value: float) -> float:
        """Place of a number, to a hundredth; what lies outside is put at the end."""
        if self.high == self.low:
            return self.length / 2
        share = (value - self.low) / (self.high - self.low)
        return round(self.length * min(max(share, 0.0), 1.0), 2) + 0.0  # never minus zero


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Round numbers between ``low`` and ``high``, at most so many, zero among them if it is there.

    Examples
    --------
    >>> ticks(-0.37, 1.2)
    [0.0, 0.5, 1.0]
    """
    span = high - low
    if not (span > 0 and math.isfinite(span)):
        return [low]
    power = 10.0 ** math.floor(math.log10(span / most))
    step = next(s * power for s in (1, 2, 2.5, 5, 10, 20) if span / (s * power) < most)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{k * step:.12g}") for k in range(first, last + 1)]
