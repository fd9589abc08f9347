"""What every command shares: how it fails, and how its help looks."""

import ast
import functools
import inspect
import re
import shlex
import sys
import traceback
import warnings
from collections.abc import Callable
from typing import Annotated, Any

import typer
from rich.markup import escape

from limo._cli import stop_code
from limo._cli.console import print_error, print_note

__all__ = ["WrongUse", "add_command", "as_options", "examples"]


# Advice that names an argument of Python, said as the option of the command line that it is.

_OPTIONS = "labels|drop|missing|format|header|force"
_ARGUMENT = re.compile(rf"\b({_OPTIONS})=(\[[^\]]*\]|'[^']*'|\d+|True|False)?")
_KIND = re.compile(r"\bkind='(truth|scores|predictions)'")


def as_options(sentence: str) -> str:
    """Say ``--labels a,b`` for ``labels=['a', 'b']``.

    Examples
    --------
    >>> as_options("Name them: labels=['a', 'b'], labels='tag_*' for a prefix, or labels=6")
    "Name them: --labels a,b, --labels 'tag_*' for a prefix, or --labels 6"
    >>> as_options("leave it out with drop=")
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


FAILED, WRONG_USE, STOPPED = 1, 2, 130

_FORESEEN = (ValueError, OSError, LookupError, RuntimeError)
_DEBUG = inspect.Parameter(
    "debug",
    inspect.Parameter.KEYWORD_ONLY,
    default=False,
    annotation=Annotated[bool, typer.Option("--debug", help="Show where an error comes from.")],
)

Function = Callable[..., None]


class WrongUse(Exception):  # noqa: N818
    """The command was called in a way that cannot work: exit code 2."""


def add_command(app: typer.Typer, function: Function, **settings: Any) -> None:
    """Add a command whose failures are sentences; the traceback comes with ``--debug``."""
    app.command(help=_paragraphs(function), **settings)(_guarded(function))


def examples(*lines: tuple[str, str]) -> str:
    """The end of a help page: what one may want, and the command that does it."""
    shown = [f"[dim]# {escape(wish)}[/]\n[cyan]{escape(typed)}[/]" for wish, typed in lines]
    return "\n".join(["[bold]Examples[/]", *shown])


def _paragraphs(function: Function) -> str:
    """What a function says about itself, a line for each paragraph: the terminal breaks it."""
    text = inspect.cleandoc(function.__doc__ or "")
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))


def _guarded(function: Function) -> Function:
    """The same function with an option more; what goes wrong in it becomes an exit code."""

    @functools.wraps(function)
    def run(*args: Any, debug: bool = False, **options: Any) -> None:
        with warnings.catch_warnings():
            warnings.showwarning = _tell
            try:
                function(*args, **options)
            except (typer.Exit, typer.Abort):
                raise
            except KeyboardInterrupt as error:
                print_error(str(error) or "Stopped.", what="")
                raise typer.Exit(STOPPED) from None
            except Exception as error:
                if debug:
                    sys.stderr.write(traceback.format_exc())
                raise typer.Exit(_explain(error)) from None

    signature = inspect.signature(function)
    parameters = [*signature.parameters.values(), _DEBUG]
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {**function.__annotations__, "debug": _DEBUG.annotation}
    return run


def _explain(error: Exception) -> int:
    """Say why it ended, and give the exit code."""
    stopped = stop_code()
    if stopped is not None:
        print_error("Stopped.", what="")
        return stopped
    print_error(_sentence(error))
    return WRONG_USE if isinstance(error, WrongUse) else FAILED


def _sentence(error: Exception) -> str:
    """What to tell: errors that were foreseen speak for themselves."""
    said = str(error)
    if isinstance(error, KeyError) and error.args:
        said = str(error.args[0])
    if isinstance(error, OSError) and error.strerror:
        said = f"{error.filename}: {error.strerror}." if error.filename else error.strerror
    if isinstance(error, MemoryError):
        return "The memory does not suffice. Try fewer instances, or float32 scores in a .npy file."
    if isinstance(error, (WrongUse, *_FORESEEN)):
        return as_options(said)
    kind = type(error).__name__
    return f"This should not have happened: {kind}: {said}. Please report what --debug adds."


def _tell(message: Warning | str, *_: Any, **__: Any) -> None:
    print_note(str(message))
