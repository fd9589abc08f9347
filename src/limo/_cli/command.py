"""What all commands share: errors as sentences with exit codes, and the layout of help."""

import ast
import functools
import inspect
import re
import shlex
import sys
import traceback
import warnings
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer
from rich.markup import escape
from typer.models import OptionInfo

from limo._cli import stop_code
from limo._cli.console import print_error, print_note

FAILED, WRONG_USE, LIMIT, STOPPED = 1, 2, 3, 130

_EXPECTED = (ValueError, OSError, LookupError, RuntimeError, ImportError)
# Compilation that takes fewer seconds than this is not reported.
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
                raise typer.Exit(_report(error, _flags(function))) from None

    signature = inspect.signature(function)
    parameters = [*signature.parameters.values(), _DEBUG]
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {**function.__annotations__, "debug": _DEBUG.annotation}
    return run


def _flags(function: Function) -> dict[str, str]:
    """The options of a command by the names of its arguments: ``{"to": "--output"}``."""
    flags = {}
    for argument, annotation in function.__annotations__.items():
        for one in getattr(annotation, "__metadata__", ()):
            if isinstance(one, OptionInfo):
                # typer keeps the first name inside Annotated as the default
                names = [str(name) for name in (one.default, *(one.param_decls or ()))]
                long = [flag for flag in names if flag.startswith("--")]
                flags[argument] = long[0].partition("/")[0] if long else f"--{argument}"
    return flags


def _note_compilation() -> None:
    """Say on a terminal that the first call took longer, and that the next one will not."""
    kernels = sys.modules.get("limo._kernels")
    seconds = kernels.compile_seconds() if kernels else 0.0
    if seconds >= _NOTED and sys.stderr.isatty():
        print_note(f"{seconds:.0f} s of this were spent compiling, once: the next call is faster.")


def _report(error: Exception, flags: Mapping[str, str]) -> int:
    """Print why the command failed, and return the exit code."""
    stopped = stop_code()
    if stopped is not None:
        print_error("Stopped.", prefix="")
        return stopped
    print_error(_sentence(error, flags))
    return WRONG_USE if isinstance(error, WrongUse) else FAILED


def _sentence(error: Exception, flags: Mapping[str, str]) -> str:
    """The sentence for an error: expected errors have one, others are reported as bugs."""
    text = str(error)
    if isinstance(error, KeyError) and error.args:
        text = str(error.args[0])
    if isinstance(error, OSError) and error.strerror:
        text = f"{error.filename}: {error.strerror}." if error.filename else error.strerror
    if isinstance(error, MemoryError):
        return "Not enough memory. Try fewer instances, or float32 scores in a .npy file."
    if isinstance(error, (WrongUse, *_EXPECTED)):
        return as_options(text, flags)
    kind = type(error).__name__
    return f"This is a bug: {kind}: {text}. Please report it with the output of --debug."


def _print_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    print_note(str(message))


# Errors of the library name arguments of Python: here they become options

_EVERYWHERE = ("labels", "drop", "missing", "format", "header", "force")
_FLAGS = {name: f"--{name}" for name in _EVERYWHERE}
_VALUE = r"(\[[^\]]*\]|'[^']*'|\"[^\"]*\"|-?\d+|nan\b|True\b|False\b)?"
_KIND = re.compile(r"\bkind='(truth|scores|predictions)'")
# What replaces advice about an argument for which a command has no option.
_INSTEAD = (
    ("format", r"Pass format= one of .*", "Give the file the suffix of its format, such as .csv"),
    (
        "limits",
        r"[Ii]f you trust the file, pass limits=limo\.datasets\.Limits\([^)]*\)",
        "If you trust the file, read it in Python, where limo.read takes other limits",
    ),
    ("max_bytes", r"pass max_bytes=\d+", "load it in Python: limo.load_model takes max_bytes"),
    ("nominal", r", nominal='codes' keeps it as one column", ""),
    ("xml", r", or xml='labels\.xml'", ""),
    ("xml", r"Pass xml=\.\.\., or labels=\.\.\.", "Name the labels with --labels"),
    ("member", r"Choose with member=\.\.\.", "Unpack it, and name one of them"),
    ("missing_labels", r", or allow missing labels with missing_labels=nan", ""),
    ("missing", r" If it is a missing label, pass missing=\S+?(?=\.?$)", ""),
    ("id", r"Match rows by it with id='[^']*', or leave", "Leave"),
    ("id", r"\. If it names the rows, match by it with id='[^']*'", ""),
    ("id", r", or id='[^']*' to match files by it", ""),
    ("tags", r"; or tags='genres' if one column lists them, such as rock;jazz", ""),
    ("tags", r"Does it list the labels of each row\? Say so: tags='[^']*'", "Is it a feature?"),
    ("predictions", r"Read predicted labels with kind='predictions'; real", "Real"),
    ("measures", r": ask for it with measures=\[[^\]]*\]", ""),
)
_WORDS = {"y_true": "the true labels", "y_score": "the scores", "y_pred": "the predictions"}


def as_options(sentence: str, flags: Mapping[str, str] = _FLAGS) -> str:
    """Write ``--labels a,b`` for ``labels=['a', 'b']``, wherever it is in a sentence.

    ``flags`` are the options that the command has, by the names of their arguments.

    Examples
    --------
    >>> as_options("Name them: labels=['a', 'b'], labels='tag_*' for a prefix, or labels=6")
    "Name them: --labels a,b, --labels 'tag_*' for a prefix, or --labels 6"
    >>> as_options("leave it out with drop=")
    'leave it out with --drop'
    """
    for name, advice, instead in _INSTEAD:
        if name not in flags:
            sentence = re.sub(advice, instead, sentence)
    sentence = sentence.replace("missing='mean', 'zero' or 'nan'", "missing='mean', zero or nan")
    sentence = _KIND.sub(r"--\1", sentence)
    sentence = re.sub(r"\by_(true|score|pred)\b", lambda match: _WORDS[match[0]], sentence)
    if not flags:
        return sentence
    argument = re.compile(rf"\b({'|'.join(flags)})={_VALUE}")
    return argument.sub(lambda match: _option(match, flags), sentence)


def _option(match: re.Match[str], flags: Mapping[str, str]) -> str:
    name, value = match.groups()
    flag = flags[name]
    if value in ("True", "False"):
        return flag if value == "True" else f"--no-{flag.removeprefix('--')}"
    if value is None:
        return flag
    given = value if value == "nan" else ast.literal_eval(value)
    text = ",".join(map(str, given)) if isinstance(given, list) else str(given)
    plain = text and not set(text) & set(" *;|'\"()&<>$")
    return f"{flag} {text if plain else shlex.quote(text)}"
