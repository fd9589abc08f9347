"""Numbers as people read them, each carrying its full value along.

A number on the page is ``<data value="0.83125">0.8313</data>``: the text is rounded, the value is
the document's own. Whoever doubts the page can compare them.
"""

import json
import math
import re
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup, escape

__all__ = ["are_numbers", "count", "decimal", "number", "percent", "short"]

_NONE = Markup('<span class="none" title="undefined">–</span>')
_WRITTEN = re.compile(r"[-−+]?\d[\d.,]*(e[-+]?\d+)?\s?%?")
_THIN = "\u202f"  # groups of three digits, kept on one line


def decimal(value: Any, places: int = 4) -> Markup:
    """A measure: so many places after the point."""
    return number(value, lambda x: f"{x:.{places}f}")


def percent(value: Any, places: int = 1) -> Markup:
    """A share."""
    return number(value, lambda x: f"{100 * x:.{places}f}{_THIN}%")


def short(value: Any, digits: int = 4) -> Markup:
    """A number of any size: so many significant digits."""
    return number(value, lambda x: f"{x:.{digits}g}")


def count(value: Any) -> Markup:
    """A whole number, in groups of three."""
    return number(value, lambda x: f"{x:,.0f}".replace(",", _THIN))


def number(value: Any, form: Any) -> Markup:
    """Wrap a number with its full value; say so where there is none."""
    if value is None:
        return _NONE
    x = float(value)
    text = form(x) if math.isfinite(x) else ("∞" if x > 0 else "-∞")
    if not any(digit in text for digit in "123456789∞"):
        text = text.removeprefix("-")  # what rounds to zero has no sign
    full = value if isinstance(value, str) else json.dumps(value)
    return Markup('<data value="{}">{}</data>').format(escape(full), text.replace("-", "−"))


def are_numbers(rows: Sequence[Sequence[Any]]) -> list[bool]:
    """Whether each column of a table holds numbers only, as such or written out."""
    return [all(_is_number(cell) for cell in column) for column in zip(*rows, strict=True)]


def _is_number(cell: Any) -> bool:
    return not isinstance(cell, str) or _WRITTEN.fullmatch(cell.strip()) is not None
