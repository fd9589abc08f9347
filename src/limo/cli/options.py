"""Options that several commands share: one wording for one thing."""

import csv
from pathlib import Path
from typing import Annotated

import typer

from limo.cli.names import (
    complete_conventions,
    complete_data,
    complete_measure,
    known_conventions,
    known_measure,
)

__all__ = [
    "Conventions",
    "Data",
    "Drop",
    "Force",
    "Format",
    "Header",
    "Jobs",
    "Json",
    "Labels",
    "Measure",
    "Missing",
    "Report",
    "Seed",
    "listed",
    "which_labels",
]

Force = Annotated[bool, typer.Option("--force", help="Replace files that exist.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", "-j", min=1, help="Processes side by side; by default one a core."),
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="The same seed gives the same result.")]
Conventions = Annotated[
    str,
    typer.Option(
        "--conventions",
        help="What ties and empty rows count: standard, paper or sklearn.",
        autocompletion=complete_conventions,
        callback=known_conventions,
    ),
]
Measure = Annotated[
    str,
    typer.Option(
        "--measure",
        "-m",
        help="The measure you are judged on; see limo measures.",
        autocompletion=complete_measure,
        callback=known_measure,
    ),
]
Report = Annotated[
    Path | None, typer.Option("--report", help="Write the report, one HTML file, here.")
]
Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A file (ARFF, CSV, Parquet, NPZ, LIBSVM, ...) or a known set, such as enron or "
        "enron:train.",
        autocompletion=complete_data,
    ),
]
Labels = Annotated[
    str | None,
    typer.Option(
        "--labels",
        help="Which columns are labels: names (a,b,c), a prefix (tag_*) or how many, at the end.",
    ),
]
Drop = Annotated[
    str | None, typer.Option("--drop", help="Columns to leave out, such as row names: id,text.")
]
Missing = Annotated[
    str, typer.Option("--missing", help="Missing features: error, nan, mean or zero.")
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        help="Of the data: arff, csv, tsv, parquet, npz, libsvm or xmc; by default told by name "
        "and content.",
        show_default=False,
    ),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether a CSV file begins with names; by default told by its first line.",
        show_default=False,
    ),
]


def listed(text: str | None) -> list[str]:
    """Names parted by commas; one that holds a comma stands in quotes."""
    if not text:
        return []
    return [name.strip() for name in next(csv.reader([text], skipinitialspace=True))]


def which_labels(text: str | None) -> int | str | list[str] | None:
    """What ``--labels`` says: a count, a prefix with a star, or names."""
    if text is None:
        return None
    if text.isdecimal():
        return int(text)
    return text if text.endswith("*") else listed(text)
