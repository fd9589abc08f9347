"""The page of a document: templates and number formats, one HTML file that makes no request."""

import base64
import hashlib
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import (
    Environment,
    FileSystemLoader,
    StrictUndefined,
    TemplateError,
    UndefinedError,
)
from markupsafe import Markup, escape

from limo._system import as_path, check_target, replacing
from limo.report._drawings import (
    curves,
    diagram,
    dumbbells,
    histogram,
    mark,
    named_dots,
    scatter,
    shares,
    skills,
    splits,
    strip,
)
from limo.report._tables import SUFFIXES, tables

FORMAT = "limo-report/2"
"""Stored in every document; the number changes when older documents can no longer be read."""

_OLDER = ("limo-findings/1",)
# What templates, filters and drawings raise for values of the wrong kind.
_MALFORMED = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TemplateError,
    TypeError,
    ValueError,
)
_TEMPLATES = Path(__file__).parent / "templates"


def render(document: Mapping[str, Any]) -> str:
    """Make the HTML page of a document, as text.

    Every number comes from the document: the page only rounds and draws. The page contains the
    document itself, which feeds the table of labels and can be saved.

    Parameters
    ----------
    document : mapping
        Made by :func:`limo.report.evaluation_document` or
        :func:`limo.report.comparison_document`, or read back from JSON.

    Returns
    -------
    str
        The page.

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
            findings=embedded(_without_instances(document)),
            latex=_latex(document),
            style=Markup(style),
            script=Markup(script),
            policy=_policy(style, script),
        )
    except UndefinedError as error:
        raise ValueError(
            f"The document is incomplete: {error}. Create it again with limo.report."
        ) from error
    except _MALFORMED as error:
        raise ValueError(
            f"The document has a value of the wrong kind: {type(error).__name__}: {error}. Create "
            "it again with limo.report."
        ) from error


def _without_instances(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document without the numbers of every instance, which no part of the page shows."""
    models = document.get("models")
    if not isinstance(models, list):
        return dict(document)
    return {
        **document,
        "models": [{**m, "influence": None} if "influence" in m else m for m in models],
    }


def _latex(document: Mapping[str, Any]) -> str:
    """The tables for a paper; empty if the document has neither a comparison nor models."""
    has_values = document.get("comparisons") or document.get("models")
    return tables(document, "latex") if has_values else ""


def write(
    document: Mapping[str, Any],
    path: str | Path,
    force: bool = False,
    *,
    only_tables: bool = False,
) -> Path:
    """Write the page of a document as one self-contained HTML file, or its tables.

    The file appears only when it is complete; an interrupted run leaves nothing behind.

    Parameters
    ----------
    document : mapping
        Made by :func:`limo.report.evaluation_document` or
        :func:`limo.report.comparison_document`, or read back from JSON.
    path : str or Path
        The file to write. Its ending says what: ``.html`` a page, ``.tex``, ``.md`` and ``.csv``
        the tables alone, as :func:`limo.report.tables` makes them.
    force : bool, default=False
        Whether to replace an existing file.
    only_tables : bool, default=False
        Whether a ``.html`` file holds the tables alone, too, as a fragment without style.

    Returns
    -------
    Path
        The file.

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
    target = as_path(path)
    check_target(target, force=force)
    text = _text(document, target.suffix.lower(), only_tables)
    with replacing(target, force=force) as file:
        # file names may contain bytes that are not text: they become question marks
        file.write(text.encode("utf-8", "replace"))
    return target


def _text(document: Mapping[str, Any], suffix: str, only_tables: bool) -> str:
    """The text of a file with this ending."""
    if suffix not in SUFFIXES:
        raise ValueError(
            f"A report ends in .html, its tables end in .tex, .md, .csv; got {suffix!r}."
        )
    if SUFFIXES[suffix] == "html" and not only_tables:
        return render(document)
    _check_format(document)
    try:
        return tables(document, SUFFIXES[suffix])
    except (*_MALFORMED, LookupError) as error:
        raise ValueError(
            f"The document is incomplete: {type(error).__name__}: {error}. Create it again with "
            "limo.report."
        ) from error


def _check_format(document: Any) -> None:
    """Reject what is not a document, or one of another format."""
    format = document.get("format") if isinstance(document, Mapping) else type(document).__name__
    if format in _OLDER:
        raise ValueError(
            f"The document was made by an older version of limo: its format is {format}, this "
            f"version reads {FORMAT}. Make it again from the data with limo.report."
        )
    if format != FORMAT:
        raise ValueError(
            f"A page is made from a document whose format is {FORMAT}: got {format!r}. "
            "limo.report.evaluation_document and limo.report.comparison_document make one."
        )


def embedded(document: Mapping[str, Any]) -> Markup:
    """JSON that is safe inside a script element: no character in it can close the element."""
    text = json.dumps(document, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


def _policy(style: str, script: str) -> str:
    """The content security policy: this style, this script, and no connection."""
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
    environment.filters |= {f.__name__: f for f in (fixed, p_value, percent, short, whole)}
    functions = (
        are_decimals, are_numbers, curves, diagram, dumbbells, histogram, mark, named_dots,
        scatter, shares, skills, splits, strip,
    )  # fmt: skip
    environment.globals |= {f.__name__: f for f in functions}
    return environment


# Numbers on the page: rounded text, with the full value in a data element

_NONE = Markup('<span class="none" title="undefined">–</span>')
_WRITTEN = re.compile(r"[-−+]?\d[\d.,]*(e[-+]?\d+)?\s?%?")
_TINY = 1e-4  # p-values below
_THIN = "\u202f"  # a narrow space that does not break


def fixed(value: Any, places: int = 4) -> Markup:
    """A number with the given number of decimal places, and fewer from 10 on."""
    return _data(value, lambda x: f"{x:.{_places(x, places)}f}")


def _places(x: float, places: int) -> int:
    """Decimal places: one less for each digit before the point after the first, but one."""
    return places if abs(x) < 10 else max(min(places, 1), places - math.floor(math.log10(abs(x))))


def percent(value: Any, places: int = 1) -> Markup:
    """A share, in percent."""
    return _data(value, lambda x: f"{100 * x:.{places}f}{_THIN}%")


def short(value: Any, digits: int = 4) -> Markup:
    """A number with the given number of significant digits."""
    return _data(value, lambda x: f"{x:.{digits}g}")


def p_value(value: Any) -> Markup:
    """A p-value as text; tiny ones are all shown as below the same limit."""
    if value is not None and float(value) < _TINY:
        return Markup("p < {}").format(_data(value, lambda _: f"{_TINY:g}"))
    return Markup("p = {}").format(short(value, 3))


def whole(value: Any) -> Markup:
    """A whole number, its digits in groups of three."""
    return _data(value, lambda x: f"{x:,.0f}".replace(",", _THIN))


def _data(value: Any, form: Callable[[float], str]) -> Markup:
    if value is None:
        return _NONE
    x = float(value)
    text = form(x) if math.isfinite(x) else ("∞" if x > 0 else "-∞")
    if not any(digit in text for digit in "123456789∞"):
        text = text.removeprefix("-")  # no minus sign on what rounds to zero
    full = value if isinstance(value, str) else json.dumps(value)
    return Markup('<data value="{}">{}</data>').format(escape(full), text.replace("-", "−"))


def are_numbers(rows: Sequence[Sequence[Any]]) -> list[bool]:
    """Whether each column of a table holds only numbers, or texts that are numbers."""
    return [all(_is_number(cell) for cell in column) for column in zip(*rows, strict=True)]


def are_decimals(rows: Sequence[Sequence[Any]]) -> list[bool]:
    """Whether four decimal places suit all numbers of each column, so that their points align."""
    return [_suit_decimals(column) for column in zip(*rows, strict=True)]


def _suit_decimals(column: Sequence[Any]) -> bool:
    numbers = [abs(cell) for cell in column if isinstance(cell, int | float)]
    whole = all(float(x).is_integer() for x in numbers)
    return not whole and all(x == 0 or 0.001 <= x < 10 for x in numbers)


def _is_number(cell: Any) -> bool:
    return not isinstance(cell, str) or _WRITTEN.fullmatch(cell.strip()) is not None
