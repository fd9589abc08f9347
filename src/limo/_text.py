"""Text for people and for JSON: tables, counts, suggestions, and plain numbers."""

import difflib
import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

Rows = list[tuple[str, ...]]


class Prose(str):
    """Sentences that a notebook shows as paragraphs, one for each line."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return "".join(f"<p>{escape(line)}</p>" for line in self.splitlines())


def align(rows: Rows) -> str:
    """Pad the cells so that columns are aligned."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)


def as_html(rows: Rows) -> str:
    """Write rows as an HTML table; the first row is its head."""
    head, *body = rows
    lines = "".join(_line(row, "td") for row in body)
    return f"<table><thead>{_line(head, 'th')}</thead><tbody>{lines}</tbody></table>"


def counted(n: int, noun: str) -> str:
    """Write a number with its noun: 1 label, 2 labels, 2 matrices."""
    plural = {"matrix": "matrices", "entry": "entries"}.get(noun, f"{noun}s")
    return f"{n} {noun if n == 1 else plural}"


def listed(words: Sequence[str]) -> str:
    """A, B and C."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def storable(text: str) -> str:
    """The same text, with what UTF-8 cannot hold (as in odd file names) written as escapes."""
    return text.encode("utf-8", "backslashreplace").decode()


def repeated(names: Iterable[str]) -> str | None:
    """The first name that occurs a second time; None if all differ.

    >>> repeated(["a", "b", "a"])
    'a'
    """
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """Suggest the known name most similar to ``name``, ignoring case; empty if none is similar.

    Of equally similar names it is the first.
    """
    spelt, wanted = {one.lower(): one for one in known}, str(name).lower()
    near = difflib.get_close_matches(wanted, spelt, n=5)
    if not near:
        return ""
    order = list(spelt)
    matcher = difflib.SequenceMatcher(b=wanted)

    def similarity(one: str) -> tuple[float, int]:
        matcher.set_seq1(one)
        return matcher.ratio(), -order.index(one)

    return f" Did you mean {spelt[max(near, key=similarity)]!r}?"


def _line(cells: tuple[str, ...], tag: str) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"


# Numbers for JSON

DIGITS = 5
"""Significant digits of values that come in large numbers: of labels, instances and curves."""


def plain(value: Any) -> Any:
    """Convert to what JSON can hold: None for nan, "Infinity" and "-Infinity" for infinite numbers.

    Python's ``float`` and JavaScript's ``Number`` both read these strings.
    """
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if hasattr(value, "tolist"):  # a numpy array or number; numpy is not imported for this
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value).replace("inf", "Infinity")
    return value


def shortened(values: Iterable[float], digits: int = DIGITS) -> list[Any]:
    """Round each number to a few significant digits; whole numbers become integers."""
    numbers = values.tolist() if hasattr(values, "tolist") else values
    return [plain(_short(value, digits)) for value in numbers]


def _short(value: float, digits: int) -> float | int:
    if isinstance(value, int) or not math.isfinite(value):
        return value
    rounded = float(f"{value:.{digits}g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 10**digits else rounded
