"""Advice that names an argument of Python, said as the option of the command line that it is."""

import ast
import re
import shlex

__all__ = ["spoken"]

_OPTIONS = "labels|drop|missing|format|header|force"
_ARGUMENT = re.compile(rf"\b({_OPTIONS})=(\[[^\]]*\]|'[^']*'|\d+|True|False)?")
_KIND = re.compile(r"\bkind='(truth|scores|predictions)'")


def spoken(sentence: str) -> str:
    """Say ``--labels a,b`` for ``labels=['a', 'b']``.

    Examples
    --------
    >>> spoken("Name them: labels=['a', 'b'], labels='tag_*' for a prefix, or labels=6")
    "Name them: --labels a,b, --labels 'tag_*' for a prefix, or --labels 6"
    >>> spoken("leave it out with drop=")
    'leave it out with --drop'
    """
    return _ARGUMENT.sub(_option, _KIND.sub(r"--\1", sentence))


def _option(found: re.Match[str]) -> str:
    name, value = found.groups()
    if value in ("True", "False"):
        return f"--{name}" if value == "True" else f"--no-{name}"
    if value is None:
        return f"--{name}"
    given = ast.literal_eval(value)
    text = ",".join(given) if isinstance(given, list) else str(given)
    return f"--{name} {shlex.quote(text) if '*' in text or ' ' in text else text}"
