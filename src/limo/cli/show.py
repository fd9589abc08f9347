"""Documents of findings as tables: what a report shows, in short."""

import math
from collections.abc import Mapping
from typing import Any

from rich.text import Text

from limo.cli.console import say, table
from limo.tables import counted

__all__ = ["show_comparisons", "show_findings"]

_BEST = "bold green"
_MOST_MODELS = 8  # columns of a table that people can still read


def show_findings(document: Mapping[str, Any]) -> None:
    """Print measures, margins and verdict of one model, or models side by side."""
    models = document["models"]
    data = document["data"]
    heading = (
        f"{data['instances']:,} instances x {data['labels']:,} labels, "
        f"conventions: {document['conventions']['name']}"
    )
    if len(models) == 1:
        _show_one(document["measures"], models[0], heading)
    else:
        _show_several(document["measures"], models, heading)
    say()
    for sentence in document["verdict"]:
        say(sentence)


def show_comparisons(document: Mapping[str, Any]) -> None:
    """Print mean, deviation and rank of every method, a table for each data set."""
    for part in document["comparisons"]:
        for dataset in part["datasets"]:
            _show_dataset(part, dataset)
    say("* best of its line.\n")
    for sentence in document["verdict"]:
        say(sentence)


def _show_dataset(part: Mapping[str, Any], dataset: str) -> None:
    better = {measure["name"]: measure["better"] for measure in part["measures"]}
    lines = [line for line in part["means"] if line["dataset"] == dataset]
    body: list[list[str | Text]] = [
        [line["title"], better[line["measure"]], *map(_spread, line["cells"])] for line in lines
    ]
    title = f"{dataset}: mean ± deviation (rank) over {counted(part['splits'], 'split')}"
    table(title, ["measure", "better", *part["methods"]], body, numbers=2)


def _spread(cell: Mapping[str, Any] | None) -> Text:
    if cell is None:
        return Text("-")
    spread = "" if cell["std"] is None else f"±{cell['std']:.3f}"
    mark = "*" if cell["first"] else " "
    text = f"{cell['mean']:.3f}{spread} ({cell['rank']:g}){mark}"
    return Text(text, style=_BEST if cell["first"] else "")


def _show_one(measures: list[Any], model: Mapping[str, Any], heading: str) -> None:
    body = []
    for entry in measures:
        value, best = _number(model["measures"][entry["name"]]["value"]), _number(entry["best"])
        body.append([entry["title"], value, best, entry["better"], _note(entry)])
    table(heading, ["measure", "value", "best possible", "better", "undefined rows"], body)
    _show_margins(model["margins"])


def _note(entry: Mapping[str, Any]) -> str:
    """How many rows have no value of their own, why, and what became of them."""
    told = "; ".join(f"{counted(n, entry['row'])}: {why}" for why, n in entry["undefined"].items())
    return told + (" (counted, not left out)" if entry["filled"] else "")


def _show_margins(margins: Mapping[str, Any]) -> None:
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
    table("Margins", head, body)


def _show_several(measures: list[Any], models: list[Any], heading: str) -> None:
    shown = sorted(models, key=lambda m: (m["mean_rank"] is None, m["mean_rank"]))[:_MOST_MODELS]
    shown = [m for m in models if m in shown]
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
    table(heading, head, body, numbers=2)
    left = len(models) - len(shown)
    say("* best of its line." + (f" {left} more models stand in the report." if left else ""))


def _ranked(line: Mapping[str, Any] | None) -> Text:
    if line is None or line["value"] is None:
        return Text("-")
    first = bool(line["first"])
    return Text(f"{_number(line['value'])}{'*' if first else ' '}", style=_BEST if first else "")


def _number(value: Any, digits: int = 4) -> str:
    return "-" if value is None or math.isnan(value) else f"{float(value):.{digits}f}"


def _share(value: Any) -> str:
    return "-" if value is None else f"{value:.1%}"
