"""How margins are spread: counts in bins of one width, with zero at an edge."""

import math
from typing import Any

import numpy as np

from limo._types import Values
from limo.findings.plain import plain
from limo.margins import MarginSummary

__all__ = ["histogram", "margins_of"]

_BINS = 40
_TAIL = 0.01
_MANY = 200


def margins_of(summary: MarginSummary) -> dict[str, Any]:
    """Quantiles, shares and the histogram of one view's margins."""
    found = plain(summary.to_dict())
    found["positive"] = int((summary.defined > 0).sum())
    found["histogram"] = histogram(summary.defined)
    return dict(found)


def histogram(values: Values, n_bins: int = _BINS) -> dict[str, Any] | None:
    """Count values in about ``n_bins`` bins; of many the lowest and highest 1 % stay outside.

    Zero is always an edge, so no bin mixes positive margins with others: bins hold values above
    their lower edge, up to their upper one. What lies outside is counted as ``below`` or ``above``.
    """
    if not values.size:
        return None
    tail = _TAIL if values.size >= _MANY else 0.0
    low, high = (float(q) for q in np.quantile(values, (tail, 1 - tail)))
    width = _round_width((max(high, 0.0) - min(low, 0.0)) / n_bins)
    first, last = math.ceil(min(low, 0.0) / width) - 1, math.ceil(max(high, 0.0) / width)
    places = np.clip(np.ceil(values / width) - 1, first - 1, last).astype(np.int64)
    inside = places[(places >= first) & (places < last)]
    counts = np.bincount(inside - first, minlength=last - first)
    return {
        "low": plain(float(f"{first * width:.12g}")),
        "width": width,
        "counts": counts.tolist(),
        "below": int((places < first).sum()),
        "above": int((places >= last).sum()),
    }


def _round_width(width: float) -> float:
    """The next of 1, 2, 2.5, 5 times a power of ten; 1 where all values are zero."""
    if width <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(width))
    step = next(s for s in (1, 2, 2.5, 5, 10) if s * power >= width * (1 - 1e-9))
    return float(f"{step * power:.12g}")
