"""Coordinates for the pictures that templates draw from parts of a document.

Horizontal positions are percentages, so that pictures fit any width while their text keeps its
size; vertical positions are pixels. Nothing is counted or averaged here.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# Axes


@dataclass(frozen=True)
class Scale:
    """Maps numbers from ``low`` to ``high`` onto 0 to ``length``."""

    low: float
    high: float
    length: float = 100.0

    def __call__(self, value: float) -> float:
        """The position of a number, to a hundredth; numbers outside go to the nearer end."""
        if self.high == self.low:
            return self.length / 2
        share = (value - self.low) / (self.high - self.low)
        return round(self.length * min(max(share, 0.0), 1.0), 2) + 0.0  # never minus zero


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """At most ``most`` round numbers between ``low`` and ``high``, with zero if it is between.

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


# Pictures

_COLOURS = 6
_SHAPES = ("circle", "square", "triangle", "diamond", "wedge", "cross")


def mark(place: int) -> dict[str, Any]:
    """Colour and shape of the n-th model; the first 36 all differ."""
    return {
        "colour": place % _COLOURS + 1,
        "shape": _SHAPES[(place + place // _COLOURS) % len(_SHAPES)],
    }


def histogram(found: Mapping[str, Any], height: float = 96) -> dict[str, Any]:
    """Bars of a histogram of margins, on both sides of zero."""
    low, width, counts = found["low"], found["width"], found["counts"]
    high = low + width * len(counts)
    x, y = Scale(low, high), Scale(0, max(1, *counts), height)
    bars = []
    for k, count in enumerate(counts):
        start, stop = low + k * width, low + (k + 1) * width
        if count:
            # a bin ends above zero exactly if its margins are positive: zero is an edge
            sign = "good" if stop > width / 2 else "bad"
            bars.append({"x": x(start), "w": round(x(stop) - x(start), 2), "h": y(count),
                         "sign": sign, "from": start, "to": stop, "count": count})  # fmt: skip
    return {
        "height": height,
        "bars": bars,
        "zero": x(0.0),
        "ticks": [{"x": x(t), "text": _text(t)} for t in ticks(low, high)],
    }


def curves(found: Mapping[str, Any], height: float = 150) -> dict[str, Any]:
    """Lines of F1 against the threshold, with the maximum of each."""
    thresholds = found["thresholds"]
    low, high = thresholds[0], thresholds[-1]
    x, y = Scale(low, high), Scale(1.0, 0.0, height)
    lines = [
        {
            "name": name,
            "path": _path([(x(t), y(v)) for t, v in zip(thresholds, found[name], strict=True)]),
            "peak": {
                "x": x(peak["threshold"]),
                "y": y(peak["value"]),
            },
        }
        for name, peak in found["peaks"].items()
    ]
    return {
        "height": height,
        "lines": lines,
        "x_ticks": [{"x": x(t), "text": _text(t)} for t in ticks(low, high)],
        "y_ticks": [{"y": y(t), "text": _text(t)} for t in (0.0, 0.5, 1.0)],
    }


def strip(values: Mapping[str, float | None], order: Sequence[str], low: float, high: float
          ) -> dict[str, Any]:  # fmt: skip
    """Marks of several methods on one axis, each on its own level so that none hides another."""
    x = Scale(low, high)
    level = 8
    marks = [
        {"x": x(value), "y": 6 + level * place, "name": name, "value": value, **mark(place)}
        for place, name in enumerate(order)
        if (value := values.get(name)) is not None
    ]
    return {"height": level * len(order) + 4, "marks": marks}


def diagram(layout: Mapping[str, Any], order: Sequence[str]) -> dict[str, Any]:
    """Critical-difference diagram of a ``limo.experiment.diagram_layout``."""
    marked = layout["ticks"]
    x = Scale(marked[0], marked[-1])
    bars = [
        {"x1": x(bar["start"]), "x2": x(bar["end"]), "y": 34 + 7 * bar["line"]}
        for bar in layout["bars"]
    ]
    top = 34 + 7 * len(bars) + 22
    names = [
        {
            "name": one["name"],
            "rank": one["rank"],
            "x": x(one["rank"]),
            "left": one["side"] == "left",
            "y": top + 20 * one["line"],
            **mark(list(order).index(one["name"])),
        }
        for one in layout["names"]
    ]
    return {
        "height": top + 20 * (1 + max(one["line"] for one in layout["names"])),
        "axis": 26,
        "ticks": [{"x": x(t), "text": str(t)} for t in marked],
        "bars": bars,
        "names": names,
    }


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:g} {y:g}" for x, y in points)


def _text(value: float) -> str:
    return f"{value:g}".replace("-", "−")
