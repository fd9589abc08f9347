"""The page: templates filled with a document, and a policy that lets no request leave."""

import base64
import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, UndefinedError
from markupsafe import Markup, escape

from limo._system import check_target, replacing
from limo.report._drawings import curves, diagram, histogram, mark, strip

__all__ = ["are_numbers", "count", "decimal", "number", "percent", "render", "short", "write"]


FORMAT = "limo-findings/1"
_TEMPLATES = Path(__file__).parent / "templates"


def render(document: Mapping[str, Any]) -> str:
    """Make the page of a document of findings, as text.

    Every number stands in the document; the page rounds and draws, no more. The document itself
    is in the page, where the table of labels reads it and readers may save it.

    Parameters
    ----------
    document : mapping
        Made by :func:`limo.report.evaluation_document` or
        :func:`limo.report.comparison_document`, or read back from JSON.

    Returns
    -------
    str

    Examples
    --------
    >>> import limo
    >>> from limo.report import evaluation_document
    >>> document = evaluation_document([[1, 0]], {"mine": [[3.0, 2.0]]}, title="<b>Mine</b>")
    >>> "<h1>&lt;b&gt;Mine&lt;/b&gt;</h1>" in limo.report.render(document)
    True
    """
    _check_format(document)
    style, script = (_read(name) for name in ("page.css", "page.js"))
    template = _environment().get_template("page.html.j2")
    try:
        return template.render(
            document=document,
            findings=embedded(document),
            style=Markup(style),
            script=Markup(script),
            policy=_policy(style, script),
        )
    except UndefinedError as error:
        raise ValueError(
            f"The document is not whole: {error}. Make it again with limo.report."
        ) from error


def _check_format(document: Any) -> None:
    """Only documents of findings, and of the one format these templates know."""
    found = document.get("format") if isinstance(document, Mapping) else type(document).__name__
    if found != FORMAT:
        raise ValueError(
            f"A page is made from a document whose format is {FORMAT}: got {found!r}. "
            "limo.report.evaluation_document and limo.report.comparison_document make one."
        )


def embedded(document: Mapping[str, Any]) -> Markup:
    """JSON that can stand inside a script element: no character of it can end one."""
    text = json.dumps(document, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


def _policy(style: str, script: str) -> str:
    """Only this style and this script, and no connection to anywhere."""
    return (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def _read(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {f.__name__: f for f in (count, decimal, percent, short)}
    functions = (are_numbers, curves, diagram, histogram, mark, strip)
    environment.globals |= {f.__name__: f for f in functions}
    return environment


# The page as a file.


def write(document: Mapping[str, Any], path: str | Path, force: bool = False) -> Path:
    """Write the report of a document as one HTML file that needs nothing else.

    The file appears under its name when it is complete, never before; an interrupted run leaves
    nothing behind.

    Parameters
    ----------
    document : mapping
        Made by :func:`limo.report.evaluation_document` or
        :func:`limo.report.comparison_document`, or read back from JSON.
    path : str or Path
        Where to.
    force : bool, default=False
        Whether to replace a file that is there already.

    Returns
    -------
    Path

    Examples
    --------
    >>> import tempfile, limo
    >>> from limo.report import evaluation_document
    >>> document = evaluation_document([[1, 0], [0, 1]], {"mine": [[3.0, 2.0], [0.0, 1.0]]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = limo.report.write(document, folder + "/mine.html")
    ...     page.read_text(encoding="utf-8").startswith("<!doctype html>")
    True
    """
    target = Path(path)
    check_target(target, force=force)
    page = render(document)
    with replacing(target, force=force) as file:
        # names of files may hold bytes that are no text: they become question marks
        file.write(page.encode("utf-8", "replace"))
    return target


# Numbers as people read them, each carrying its full value along.

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
