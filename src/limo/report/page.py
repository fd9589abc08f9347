"""The page: templates filled with a document, and a policy that lets no request leave."""

import base64
import hashlib
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, UndefinedError
from markupsafe import Markup

from limo.report import drawings, numbers

__all__ = ["render"]

FORMAT = "limo-findings/1"
_TEMPLATES = Path(__file__).parent / "templates"


def render(document: Mapping[str, Any]) -> str:
    """Make the page of a document of findings, as text.

    Every number stands in the document; the page rounds and draws, no more. The document itself
    is in the page, where the table of labels reads it and readers may save it.

    Parameters
    ----------
    document : mapping
        What :func:`limo.findings.judge` or :func:`limo.findings.compare` gave, or the same read
        back from JSON.

    Returns
    -------
    str

    Examples
    --------
    >>> import limo
    >>> from limo.findings import judge
    >>> page = limo.report.render(judge([[1, 0]], {"mine": [[3.0, 2.0]]}, title="<b>Mine</b>"))
    >>> "<h1>&lt;b&gt;Mine&lt;/b&gt;</h1>" in page
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
            f"The document is not whole: {error}. Make it again with limo.findings."
        ) from error


def _check_format(document: Any) -> None:
    """Only documents of findings, and of the one format these templates know."""
    found = document.get("format") if isinstance(document, Mapping) else type(document).__name__
    if found != FORMAT:
        raise ValueError(
            f"A report is made from a document of findings, whose format is {FORMAT}: got "
            f"{found!r}. limo.findings.judge and limo.findings.compare make such documents."
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
    for name in ("count", "decimal", "percent", "short"):
        environment.filters[name] = getattr(numbers, name)
    environment.globals["are_numbers"] = numbers.are_numbers
    for name in ("curves", "diagram", "histogram", "mark", "strip"):
        environment.globals[name] = getattr(drawings, name)
    return environment
