"""Printing: text, tables and progress for people, JSON for programs."""

import json
import math
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from limo._text import counted

# A terminal would obey control characters in names instead of showing them.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_WIDE = 160  # columns if the output is not a terminal, so that tables do not wrap
_NARROW = 60  # columns at least: a table that wraps is better than one without its values

Cell = str | Text
Advance = Callable[[int, int, str], None]


def print_text(text: str = "", *, style: str = "") -> None:
    """Print a result as text."""
    _console(stderr=False).print(Text(_harmless(text), style=style), soft_wrap=True)


def print_note(text: str) -> None:
    """Print a note to standard error."""
    _console(stderr=True).print(
        Text("Note: ", style="yellow").append(_harmless(text), style="default"), soft_wrap=True
    )


def print_error(text: str, prefix: str = "Error: ") -> None:
    """Print why the command ended to standard error."""
    line = Text(prefix, style="bold red").append(_harmless(text), style="not bold default")
    _console(stderr=True).print(line, soft_wrap=True)


def print_table(
    title: str, head: Sequence[str], body: Sequence[Sequence[Cell]], *, numbers: int = 0
) -> None:
    """Print a table; columns from the one at ``numbers`` on are aligned right, if it is not 0."""
    if title:
        print_text(title, style="bold")  # as the title of the table it would wrap to its width
    table = Table(
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),  # tables should fit into 80 columns
        pad_edge=False,
    )
    for place, name in enumerate(head):
        right = bool(numbers) and place >= numbers
        justify: Any = "right" if right else "left"
        table.add_column(_cell(name), justify=justify, no_wrap=place == 0, overflow="fold")
    for row in body:
        table.add_row(*map(_cell, row))
    _console(stderr=False).print(table)


def print_json(document: Any) -> None:
    """Print JSON, and nothing else, on standard output."""
    typer.echo(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False))


@contextmanager
def progress(what: str) -> Iterator[Advance]:
    """Show progress on standard error, if it is a terminal.

    It yields a function that takes the steps done, the total, and the name of the step.
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

        def advance(done: int, total: int, step: str = "") -> None:
            text = _harmless(f"{what}: {step}" if step else what)
            bar.update(task, completed=done, total=total, count=f"{done}/{total}", description=text)

        yield advance


def _console(*, stderr: bool) -> Console:
    """A new console for each call, as tests and notebooks replace the streams."""
    stream = sys.stderr if stderr else sys.stdout
    if stream is None:
        if stderr:
            return Console(quiet=True)
        raise OSError("standard output is closed, so there is nowhere to print the result")
    is_terminal = stream.isatty()
    console = Console(file=stream, markup=False, emoji=False, highlight=False)
    if not is_terminal and "COLUMNS" not in console._environ:
        console.width = _WIDE
    console.width = max(console.width, _NARROW)
    return console


def _cell(cell: Cell) -> Text:
    return cell if isinstance(cell, Text) else Text(_harmless(cell))


def _harmless(text: str) -> str:
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)


# Documents as tables: the main part of what a page shows

_BEST = "bold green"
_LEGEND = "* best value in the row."
_WITHIN_NOISE = "* best value in the row, or within noise of it."
_MOST_MODELS = 8  # more columns are hard to read
_LARGE = 1e6  # numbers from here on are written with an exponent


def print_evaluation(document: Mapping[str, Any]) -> None:
    """Print measures, margins and verdict of one model, or the measures of several."""
    models, level = document["models"], document["level"]
    data = document["data"]
    parts = [f"{data['instances']:,} instances x {data['labels']:,} labels"]
    if data["weighted"]:
        parts.append("weighted")
    if data["missing"]:
        labels = "label" if data["missing"] == 1 else "labels"
        parts.append(f"{data['missing']:,} {labels} missing ({data['missing_share']:.1%})")
    heading = ", ".join([*parts, f"conventions: {document['conventions']['name']}"])
    if len(models) == 1:
        _print_one(document["measures"], models[0], heading, level)
    else:
        _print_several(document["measures"], models, heading)
    print_text()
    for sentence in document["verdict"]:
        print_text(sentence)


def print_comparison(document: Mapping[str, Any]) -> None:
    """Print mean, standard deviation and rank of every method, one table per data set."""
    for part in document["comparisons"]:
        for dataset in part["datasets"]:
            _print_dataset(part, dataset)
    print_text(f"{_LEGEND}\n")
    for sentence in document["verdict"]:
        print_text(sentence)


def _print_dataset(part: Mapping[str, Any], dataset: str) -> None:
    better = {measure["name"]: measure["better"] for measure in part["measures"]}
    lines = [line for line in part["means"] if line["dataset"] == dataset]
    body: list[list[str | Text]] = [
        [line["title"], better[line["measure"]], *map(_spread, line["cells"])] for line in lines
    ]
    title = f"{dataset}: mean ± standard deviation (rank) over {counted(part['splits'], 'split')}"
    print_table(title, ["measure", "better", *part["methods"]], body, numbers=2)


def _spread(cell: Mapping[str, Any] | None) -> Text:
    if cell is None:
        return Text("-")
    spread = "" if cell["std"] is None else f"±{cell['std']:.3f}"
    mark = "*" if cell["first"] else " "
    text = f"{cell['mean']:.3f}{spread} ({cell['rank']:g}){mark}"
    return Text(text, style=_BEST if cell["first"] else "")


def _print_one(
    measures: list[Any], model: Mapping[str, Any], heading: str, level: float | None
) -> None:
    head = ["measure", "value", "best possible", "better", "undefined rows"]
    body = []
    for entry in measures:
        line = model["measures"][entry["name"]]
        ends = [f"{_number(line['low'])} to {_number(line['high'])}"] if level else []
        value, best = _number(line["value"]), _number(entry["best"])
        body.append([entry["title"], value, *ends, best, entry["better"], _note(entry)])
    if level:
        head.insert(2, f"{100 * level:.4g} % interval")
    print_table(heading, head, body)
    _print_margins(model["margins"])


def _note(entry: Mapping[str, Any]) -> str:
    """How many rows are undefined, why, and whether they count."""
    reasons = [f"{counted(n, entry['row'])}: {why}" for why, n in entry["undefined"].items()]
    return "; ".join(reasons) + (" (counted, not left out)" if entry["filled"] else "")


def _print_margins(margins: Mapping[str, Any]) -> None:
    if not margins:
        return
    body = [
        [
            part["kind"],
            _share(part["positive_share"]),
            *(_number(part["quantiles"][q]) for q in ("0", "0.5", "1")),
            _share(part["ordered_share"]),
            _share(part["tied_share"]),
        ]
        for part in margins.values()
    ]
    head = ["margin", "positive", "lowest", "median", "highest", "pairs in order", "tied"]
    print_table("Margins", head, body)


def _print_several(measures: list[Any], models: list[Any], heading: str) -> None:
    shown = models[:_MOST_MODELS]
    head = ["measure", "better", *(model["name"] for model in shown)]
    body: list[list[str | Text]] = [
        [
            entry["title"],
            entry["better"],
            *(_ranked(m["measures"].get(entry["name"])) for m in shown),
        ]
        for entry in measures
    ]
    body.append(["mean rank", "low", *(_number(m["mean_rank"], 2) for m in shown)])
    print_table(heading, head, body, numbers=2)
    left = len(models) - len(shown)
    more = f" The report has {counted(left, 'more model')}." if left else ""
    print_text(f"{_WITHIN_NOISE}{more}")


def _ranked(line: Mapping[str, Any] | None) -> Text:
    if line is None or line["value"] is None:
        return Text("-")
    first = bool(line["first"])
    return Text(f"{_number(line['value'])}{'*' if first else ' '}", style=_BEST if first else "")


def _number(value: Any, digits: int = 4) -> str:
    if value is None or math.isnan(value):
        return "-"
    return f"{float(value):.{digits}f}" if abs(value) < _LARGE else f"{float(value):.{digits}g}"


def _share(value: Any) -> str:
    return "-" if value is None else f"{value:.1%}"
