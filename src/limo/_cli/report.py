"""``limo report``: the page, or the tables, of stored results."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

import limo
from limo._cli.command import examples
from limo._cli.console import print_text, progress
from limo._cli.inputs import check_file, output, typed_command
from limo._cli.options import Force

EXAMPLES = examples(
    ("from results stored by limo compare", "limo report results.sqlite -o comparison.html"),
    ("a table for a paper", "limo report results.sqlite -o table.tex"),
    ("the same as HTML, without a page", "limo report results.sqlite -o table.html --tables"),
    (
        "from JSON printed by limo evaluate",
        "limo evaluate -y Y.csv -s S.csv --json > a.json && limo report a.json -o a.html",
    ),
)

_SQLITE = b"SQLite format 3\x00"


def report(
    results: Annotated[
        Path,
        typer.Argument(metavar="RESULTS", help="JSON printed by a command, or a store of results."),
    ],
    to: Annotated[
        Path,
        typer.Option("--output", "-o", help="Ends in .html (a page), .tex, .md or .csv (tables)."),
    ],
    tables: Annotated[
        bool, typer.Option("--tables", help="Write only the tables to a .html file.")
    ] = False,
    force: Force = False,
) -> None:
    """Write the report of stored results, without computing them again.

    A page shows everything. Tables have the values alone: LaTeX (booktabs), Markdown and, with
    --tables, HTML as papers print them, with the best value bold, the second best underlined and
    average ranks; CSV has one value per line, in full precision.
    """
    check_file(str(results))
    output(to, force=force)
    with progress("Writing the report"):
        limo.report.write(_document(results), to, force=force, only_tables=tables)
    print_text(f"The report is in {to}.")


def _document(results: Path) -> dict[str, Any]:
    """The document in a JSON file, or one made from the rows of a store."""
    with results.open("rb") as handle:
        is_store = handle.read(len(_SQLITE)) == _SQLITE
    if is_store:
        made = limo.report.collect_provenance(typed_command(), files=[results])
        rows = limo.experiment.read_rows(results)
        compared: dict[str, Any] = limo.report.comparison_document(rows, provenance=made)
        return compared
    try:
        document = json.loads(results.read_bytes())
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict) or "format" not in document:
        raise ValueError(
            f"{results} is neither a store of results nor the JSON of limo evaluate, demo, "
            "compare or reproduce. Run one of them with --json, or limo compare with --store."
        )
    return document
