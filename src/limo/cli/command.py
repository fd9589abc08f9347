"""What every command shares: how it fails, and how its help looks."""

import functools
import inspect
import sys
import traceback
import warnings
from collections.abc import Callable
from typing import Annotated, Any

import typer
from rich.markup import escape

from limo.cli.console import complain, remark
from limo.cli.stopping import code_if_stopped
from limo.cli.wording import spoken

__all__ = ["WrongUse", "command", "examples"]

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


def command(app: typer.Typer, function: Function, **settings: Any) -> None:
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
                complain(str(error) or "Stopped.", what="")
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
    stopped = code_if_stopped()
    if stopped is not None:
        complain("Stopped.", what="")
        return stopped
    complain(_sentence(error))
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
        return spoken(said)
    kind = type(error).__name__
    return f"This should not have happened: {kind}: {said}. Please report what --debug adds."


def _tell(message: Warning | str, *_: Any, **__: Any) -> None:
    remark(str(message))
