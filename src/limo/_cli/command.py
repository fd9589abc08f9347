"""What all commands share: errors as sentences with exit codes, and the layout of help."""

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

FAILED, WRONG_USE, STOPPED = 1, 2, 130

_EXPECTED = (ValueError, OSError, LookupError, RuntimeError, ImportError)
# Compiling that takes less than so many seconds is not worth a line.
_NOTED = 2.0
_DEBUG = inspect.Parameter(
    "debug",
    inspect.Parameter.KEYWORD_ONLY,
    default=False,
    annotation=Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")],
)

Function = Callable[..., None]


class WrongUse(Exception):  # noqa: N818
    """The command was called with wrong options or files: exit code 2."""


def add_command(app: typer.Typer, function: Function, **settings: Any) -> None:
    """Add a command whose errors are sentences; ``--debug`` adds the traceback."""
    app.command(help=_paragraphs(function), **settings)(_guarded(function))


def examples(*lines: tuple[str, str]) -> str:
    """The examples that end a help page: purposes, and the commands for them."""
    shown = [f"[dim]# {escape(purpose)}[/]\n[cyan]{escape(typed)}[/]" for purpose, typed in lines]
    return "\n".join(["[bold]Examples[/]", *shown])


def _paragraphs(function: Function) -> str:
    """The docstring, one line per paragraph: the terminal wraps it."""
    text = inspect.cleandoc(function.__doc__ or "")
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))


def _guarded(function: Function) -> Function:
    """The function with the option ``--debug`` added; its errors become exit codes."""

    @functools.wraps(function)
    def run(*args: Any, debug: bool = False, **options: Any) -> None:
        with warnings.catch_warnings():
            warnings.showwarning = _print_warning
            try:
                function(*args, **options)
                _note_compilation()
            except (typer.Exit, typer.Abort):
                raise
            except KeyboardInterrupt as error:
                print_error(str(error) or "Stopped.", prefix="")
                raise typer.Exit(STOPPED) from None
            except Exception as error:
                if debug:
                    sys.stderr.write(traceback.format_exc())
                raise typer.Exit(_report(error)) from None

    signature = inspect.signature(function)
    parameters = [*signature.parameters.values(), _DEBUG]
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {**function.__annotations__, "debug": _DEBUG.annotation}
    return run


def _note_compilation() -> None:
    """Say on a terminal that the first call took longer, and that the next one will not."""
    kernels = sys.modules.get("limo._kernels")
    seconds = kernels.compile_seconds() if kernels else 0.0
    if seconds >= _NOTED and sys.stderr.isatty():
        print_note(f"{seconds:.0f} s of this were spent compiling, once: the next call is faster.")


def _report(error: Exception) -> int:
    """Print why the command failed, and return the exit code."""
    stopped = stop_code()
    if stopped is not None:
        print_error("Stopped.", prefix="")
        return stopped
    print_error(_sentence(error))
    return WRONG_USE if isinstance(error, WrongUse) else FAILED


def _sentence(error: Exception) -> str:
    """The sentence for an error: expected errors have one, others are reported as bugs."""
    text = str(error)
    if isinstance(error, KeyError) and error.args:
        text = str(error.args[0])
    if isinstance(error, OSError) and error.strerror:
        text = f"{error.filename}: {error.strerror}." if error.filename else error.strerror
    if isinstance(error, MemoryError):
        return "Not enough memory. Try fewer instances, or float32 scores in a .npy file."
    if isinstance(error, (WrongUse, *_EXPECTED)):
        return as_options(text)
    kind = type(error).__name__
    return f"This is a bug: {kind}: {text}. Please report it with the output of --debug."


def _print_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    print_note(str(message))


# Errors of the library name arguments of Python: here they become options

_OPTIONS = "labels|drop|missing|format|header|force"
_ARGUMENT = re.compile(rf"\b({_OPTIONS})=(\[[^\]]*\]|'[^']*'|\d+|True|False)?")
_KIND = re.compile(r"\bkind='(truth|scores|predictions)'")


def as_options(sentence: str) -> str:
    """Write ``--labels a,b`` for ``labels=['a', 'b']``, wherever it is in a sentence.

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
