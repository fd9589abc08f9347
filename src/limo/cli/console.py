"""What people see: tables and sentences, plain where there is no terminal; JSON for programs."""

import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

__all__ = ["complain", "print_json", "progress", "remark", "say", "table"]

# Control characters in names would be obeyed by a terminal instead of shown.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_WIDE = 160  # columns where nobody looks at a terminal, so that tables do not wrap

Cell = str | Text
Advance = Callable[[int, int, str], None]


def say(text: str = "", *, style: str = "") -> None:
    """Print a result for people."""
    _console(stderr=False).print(Text(_harmless(text), style=style), soft_wrap=True)


def remark(text: str) -> None:
    """Print a remark beside the results."""
    _console(stderr=True).print(
        Text("Note: ", style="yellow").append(_harmless(text), style="default"), soft_wrap=True
    )


def complain(text: str, what: str = "Error: ") -> None:
    """Print why it did not work."""
    line = Text(what, style="bold red").append(_harmless(text), style="not bold default")
    _console(stderr=True).print(line, soft_wrap=True)


def table(
    title: str, head: Sequence[str], body: Sequence[Sequence[Cell]], *, numbers: int = 0
) -> None:
    """Print a table; the columns from ``numbers`` on, if it is given, are set to the right."""
    found = Table(
        title=Text(title),
        title_justify="left",
        title_style="bold",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),  # tables should fit into 80 columns
        pad_edge=False,
    )
    for place, name in enumerate(head):
        right = bool(numbers) and place >= numbers
        justify: Any = "right" if right else "left"
        found.add_column(_cell(name), justify=justify, no_wrap=place == 0, overflow="fold")
    for row in body:
        found.add_row(*map(_cell, row))
    _console(stderr=False).print(found)


def print_json(document: Any) -> None:
    """Print JSON, and nothing else, on standard output."""
    typer.echo(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False))


@contextmanager
def progress(what: str) -> Iterator[Advance]:
    """Show on a terminal that something is going on, and how far it is once that is told.

    The function given takes what is done, what there is to do, and what is being done.
    """
    console = _console(stderr=True)
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[count]}"),
        TimeElapsedColumn(),
    )
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task(what, total=None, count="")

        def advance(done: int, total: int, doing: str = "") -> None:
            text = _harmless(f"{what}: {doing}" if doing else what)
            bar.update(task, completed=done, total=total, count=f"{done}/{total}", description=text)

        yield advance


def _console(*, stderr: bool) -> Console:
    """Made anew each time: tests and notebooks exchange the streams."""
    stream = sys.stderr if stderr else sys.stdout
    plain = not stream.isatty()
    found = Console(file=stream, markup=False, emoji=False, highlight=False)
    if plain and "COLUMNS" not in found._environ:
        found.width = _WIDE
    return found


def _cell(cell: Cell) -> Text:
    return cell if isinstance(cell, Text) else Text(_harmless(cell))


def _harmless(text: str) -> str:
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)
