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
_QUANTILES = (1.0, 0.75, 0.5, 0.25, 0.0)
_STEP = 7
_SLIGHT = 0.02
_LOWEST = -0.25  # worse skill is drawn as an arrow, so that one bad value takes no room
_FEW_DOTS = 300
_SHAPES = ("circle", "square", "triangle", "diamond", "wedge", "cross")


def mark(place: int) -> dict[str, Any]:
    """Colour and shape of the n-th model; the first 36 all differ."""
    return {
        "colour": place % _COLOURS + 1,
        "shape": _SHAPES[(place + place // _COLOURS) % len(_SHAPES)],
    }


def histogram(bins: Mapping[str, Any], height: float = 96) -> dict[str, Any]:
    """Bars of a histogram of margins, on both sides of zero."""
    low, width, counts = bins["low"], bins["width"], bins["counts"]
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


def curves(document: Mapping[str, Any], height: float = 150) -> dict[str, Any]:
    """Lines of F1 against the threshold, with the maximum of each.

    Thresholds are placed by the share of relevant entries above them, from all to none, so that a
    few extreme scores take no room.
    """
    thresholds, above = document["thresholds"], document["above"]
    x, y = Scale(1.0, 0.0), Scale(1.0, 0.0, height)
    lines = [
        {
            "name": name,
            "path": _path([(x(a), y(v)) for a, v in zip(above, document[name], strict=True)]),
            "peak": {"x": x(peak["above"]), "y": y(peak["value"])},
        }
        for name, peak in document["peaks"].items()
    ]
    nearest = [min(range(len(above)), key=lambda k: abs(above[k] - q)) for q in _QUANTILES]
    return {
        "height": height,
        "lines": lines,
        "x_ticks": [
            {
                "x": x(q),
                "text": f"{q:.0%}",
                "threshold": _text(float(f"{float(thresholds[k]):.3g}")),
            }
            for q, k in zip(_QUANTILES, nearest, strict=True)
        ],
        "y_ticks": [{"y": y(t), "text": _text(t)} for t in (0.0, 0.5, 1.0)],
    }


# Rows of dots: a name, marks on a common scale, a value


def skills(
    measures: Sequence[Mapping[str, Any]], models: Sequence[Mapping[str, Any]], most: int = 6
) -> dict[str, Any]:
    """The skill of the first models on all measures, with intervals, from blind to best."""
    shown = models[:most]
    cells = [
        m["measures"][e["name"]] for m in shown for e in measures if e["name"] in m["measures"]
    ]
    ends = [
        v for c in cells for v in (c["skill"], *(c.get("skill_interval") or ())) if v is not None
    ]
    lowest = min(ends, default=0.0)
    low = 0.0 if lowest > -_SLIGHT else _LOWEST
    x = Scale(low, 1.0)
    rows = []
    for entry in measures:
        own = [(k, m["measures"].get(entry["name"])) for k, m in enumerate(shown)]
        known = [(k, c) for k, c in own if c is not None and c["skill"] is not None]
        marks = [
            {"x": x(c["skill"]), "y": 9 + _STEP * k, "skill": c["skill"], **mark(k),
             **_span(x, c.get("skill_interval")), "name": shown[k]["name"],
             "beyond": c["skill"] < low - _SLIGHT}
            for k, c in known
        ]  # fmt: skip
        value = own[0][1]["value"] if len(shown) == 1 and own[0][1] is not None else None
        rows.append({"title": entry["title"], "name": entry["name"], "marks": marks, "value": value,
                     "height": 18 + _STEP * (len(shown) - 1)})  # fmt: skip
    spots = [t for t in (_LOWEST, 0.0, 0.5, 1.0) if t >= low]
    return {
        "rows": rows,
        "zero": x(0.0),
        "beyond": [
            {"title": row["title"], "low": min(own), "high": max(own)}
            for row in rows
            if (own := [one["skill"] for one in row["marks"] if one["beyond"]])
        ],
        "ticks": [{"x": x(t), "text": f"{t:.0%}".replace("-", "−")} for t in spots],
    }


def dumbbells(lines: Sequence[Mapping[str, Any]], high: float = 1.0) -> dict[str, Any]:
    """A value now, the same on held-out rows and at best, joined by a line; one row for each.

    Each line has a ``title``, and ``now``, ``held_out`` and ``limit`` as far as they are known.
    """
    x = Scale(0.0, high)
    rows = []
    for line in lines:
        known = {k: line[k] for k in ("now", "held_out", "limit") if line.get(k) is not None}
        places = {k: x(v) for k, v in known.items()}
        rows.append({"title": line["title"], "places": places, "values": known,
                     "x1": min(places.values(), default=0), "x2": max(places.values(), default=0)
                     })  # fmt: skip
    spots = ticks(0.0, high)
    return {"rows": rows, "ticks": [{"x": x(t), "text": _text(t)} for t in spots]}


def named_dots(
    names: Sequence[str], columns: Sequence[Sequence[float | None]], most: int = 6
) -> dict[str, Any]:
    """Shares of a few named things, one mark per model, sorted by the values of the first.

    Things without any value are left out. The axis starts at one half if nothing is below.
    """
    shown = columns[:most]
    own = [(n, [column[j] for column in shown]) for j, n in enumerate(names)]
    known = [(n, values) for n, values in own if any(v is not None for v in values)]
    every = [v for _, values in known for v in values if v is not None]
    low = 0.5 if min(every, default=0.0) >= 0.5 else 0.0
    x = Scale(low, 1.0)
    rows = [
        {
            "title": n,
            "marks": [
                {"x": x(v), "y": 9 + _STEP * k, "value": v, **mark(k)}
                for k, v in enumerate(values)
                if v is not None
            ],
            "height": 18 + _STEP * (len(shown) - 1),
        }
        for n, values in sorted(known, key=_first_value)
    ]
    spots = (low, (1 + low) / 2, 1.0)
    return {"rows": rows, "ticks": [{"x": x(t), "text": f"{t:.0%}"} for t in spots]}


def _first_value(item: tuple[str, Sequence[float | None]]) -> float:
    """The sort key of a row; a row without a value of the first model comes last."""
    first = item[1][0]
    return math.inf if first is None else first


def shares(bins: Mapping[str, Any], height: float = 80) -> dict[str, Any]:
    """Bars of how many rows have which share of their pairs in order."""
    counts = bins["counts"]
    y, width = Scale(0, max(1, *counts), height), 100 / len(counts)
    bars = [
        {"x": round(k * width, 2), "w": round(0.9 * width, 2), "h": y(c), "count": c}
        for k, c in enumerate(counts)
        if c
    ]
    spots = (0.0, 0.5, 1.0)
    return {
        "height": height,
        "bars": bars,
        "ticks": [{"x": 100 * t, "text": f"{t:.0%}"} for t in spots],
    }


def scatter(
    positives: Sequence[int],
    values: Sequence[float | None],
    names: Sequence[str],
    height: float = 180,
) -> dict[str, Any]:
    """A dot for each label: its number of instances on a logarithmic scale, and its value."""
    known = [
        (p, v, n) for p, v, n in zip(positives, values, names, strict=True) if p and v is not None
    ]
    most = max((p for p, _, _ in known), default=1)
    x, y = Scale(-0.1, math.log10(max(most, 10))), Scale(1.0, 0.0, height)
    dots = [(x(math.log10(p)), y(v), n, p, v) for p, v, n in known]
    powers = [k for k in range(7) if 10**k <= max(most, 10)]
    few = len(dots) <= _FEW_DOTS
    return {
        "height": height,
        "dots": [{"x": a, "y": b, "name": n, "instances": p, "value": v} for a, b, n, p, v in dots]
        if few
        else [],
        "path": "" if few else "".join(f"M{a:g} {b:g}h0" for a, b, *_ in dots),
        "n": len(dots),
        "x_ticks": [{"x": x(k), "text": f"{10**k:,}".replace(",", "\u202f")} for k in powers],
        "y_ticks": [{"y": y(t), "text": _text(t)} for t in (0.0, 0.5, 1.0)],
    }


def _span(x: Scale, interval: Sequence[float] | None) -> dict[str, float]:
    return {} if interval is None else {"x1": x(interval[0]), "x2": x(interval[1])}


def strip(values: Mapping[str, float | None], order: Sequence[str], low: float, high: float
          ) -> dict[str, Any]:  # fmt: skip
    """Marks of several methods on one axis, each on its own level so that none hides another."""
    x = Scale(low, high)
    level = 8
    marks: list[dict[str, Any]] = [
        {"x": x(value), "y": 6 + level * place, "name": name, "value": value, **mark(place)}
        for place, name in enumerate(order)
        if (value := values.get(name)) is not None
    ]
    return {"height": level * len(order) + 4, "marks": marks}


def splits(line: Mapping[str, Any], methods: Sequence[str], better: str) -> dict[str, Any]:
    """The values of all splits of one data set and measure, better ones further left.

    A method without values has no mark. The mean is a mark, each split a small dot beside it.
    """
    every = [v for own in line["values"] for v in own if v is not None]
    ends = (max(every, default=0.0), min(every, default=0.0))
    x = Scale(*(ends if better == "high" else reversed(ends)))
    level = 9
    marks = [
        {
            "y": 6 + level * k,
            "name": name,
            "dots": [x(v) for v in line["values"][k] if v is not None],
            "x": x(cell["mean"]),
            **mark(k),
        }
        for k, (name, cell) in enumerate(zip(methods, line["cells"], strict=True))
        if cell is not None
    ]
    return {"height": level * len(methods) + 4, "methods": marks}


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
    return f"{value:g}".replace("-", "−").replace("inf", "∞")
