"""``limo measures``: all measures as a table."""

from typing import Annotated, Any

import typer

import limo
from limo._cli.command import examples
from limo._cli.console import print_json, print_table
from limo._cli.options import Json

EXAMPLES = examples(
    ("as a table", "limo measures"),
    ("with the further measures", "limo measures --all"),
    ("for programs", "limo measures --json"),
)

_MARKS = {"YES": "yes", "IN_THE_LIMIT": "limit", "NO": "-"}


All = Annotated[bool, typer.Option("--all", help="List the further measures too.")]


def measures(everything: All = False, json: Json = False) -> None:
    """List the measures, and which positive margins make each of them perfect.

    Five columns are the paper's Table 2 and our additions, the entry-wise and the absolute margin.
    "yes" means that the measure is perfect if all margins of that kind are positive, and "limit"
    that it approaches its best value as the number of instances grows. The last column lists the
    losses that bound the measure, the closest first: the terms of limo.MarginClassifier. The
    further measures are computed on request, by "limo evaluate --measures"; any number can replace
    the one in a name.
    """
    chosen = limo.measures.select("all" if everything else None)
    records = [_record(measure) for measure in chosen]
    if json:
        print_json(records)
        return
    kinds = [kind.removesuffix("-wise") for kind in records[0]["optimised_by"]]
    head = ["name", "needs", "better", "threshold", *kinds, "bounded by"]
    body = [
        [
            *(m["name"], m["needs"], m["better"], m["threshold"] or "-"),
            *m["optimised_by"].values(),
            _losses(m["bounded_by"]),
        ]
        for m in records
    ]
    print_table("Measures, and whether positive margins of a kind make them perfect", head, body)


def _losses(terms: list[str]) -> str:
    """The terms of one view, which is named once: rows mean, pointwise, worst."""
    view = terms[0].split()[0] if terms else "-"
    return f"{view} {', '.join(term.split()[1] for term in terms)}".strip()


def _record(measure: Any) -> dict[str, Any]:
    return {
        "name": measure.name,
        "title": measure.title,
        "needs": measure.needs,
        "better": measure.better,
        "threshold": measure.threshold,
        "optimised_by": {k: _MARKS[v.name] for k, v in measure.optimised_by.items()},
        "bounded_by": list(measure.bounded_by),
    }
