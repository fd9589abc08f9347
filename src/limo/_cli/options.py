"""Options that several commands share, completion of the names they take, and their parsing.

Names are looked up when they are completed or checked, so that a registered measure is known here
too. Looking up measures and conventions loads numpy but not the compiler, about 0.3 s.
"""

import csv
import json
from collections.abc import Collection, Iterable
from importlib import resources
from pathlib import Path
from typing import Annotated

import typer

import limo
from limo._text import did_you_mean

# Names. Those of the methods are repeated here: loading the methods takes two seconds, too long for
# completion. A test compares them.

METHODS = (
    "aimed",
    "limo",
    "limo-label",
    "limo-inst",
    "limo-cv",
    "logistic",
    "rbf",
    "forest",
    "extra-trees",
    "boosting",
    "br",
    "mlknn",
    "gfm",
)


def data_sets() -> list[str]:
    """Data sets that are known by name, and their parts: enron, enron:train, ..."""
    text = (resources.files("limo") / "datasets" / "catalogue.json").read_text("utf-8")
    names = ["figure1"]
    for record in json.loads(text):
        parts = [part for part in record["parts"] if part != "all"]
        names += [record["name"], *(f"{record['name']}:{part}" for part in parts)]
    return names


def complete_measure(incomplete: str) -> list[str]:
    """Complete the last of several comma-separated measures."""
    return _last_of(incomplete, [*limo.MEASURES, *limo.MEASURES.further])


def complete_method(incomplete: str) -> list[str]:
    """Complete the last of several comma-separated methods."""
    return _last_of(incomplete, METHODS)


def complete_conventions(incomplete: str) -> list[str]:
    """Complete the name of a set of conventions."""
    return [name for name in limo.CONVENTIONS if name.startswith(incomplete)]


def complete_data(incomplete: str) -> list[str]:
    """Complete the name of a data set; the shell adds files if there is none."""
    return [name for name in data_sets() if name.startswith(incomplete)]


def known_measure(name: str) -> str:
    """The name of a measure, however it is spelt; reject an unknown one."""
    return str(limo.MEASURES.canonical(_known(name, limo.MEASURES, "measure")))


def known_method(name: str) -> str:
    """Reject an unknown method."""
    return _known(name, METHODS, "method")


def known_conventions(name: str) -> str:
    """Reject unknown conventions."""
    return _known(name, limo.CONVENTIONS, "set of conventions")


def _known(name: str, known: Collection[str], what: str) -> str:
    if name in known:
        return name
    hint = did_you_mean(name, known)
    raise typer.BadParameter(
        f"No {what} is called {name!r}.{hint} Choose from: {', '.join(known)}."
    )


def _last_of(incomplete: str, known: Iterable[str]) -> list[str]:
    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in known if name.startswith(last)]


# Options

Force = Annotated[bool, typer.Option("--force", help="Overwrite existing files.")]
Spreadsheet = Annotated[
    bool,
    typer.Option("--spreadsheet", help="Put ' before names and ids that look like formulas."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", "-j", min=1, help="Parallel processes; by default one per core."),
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="The same seed gives the same result.")]
Conventions = Annotated[
    str,
    typer.Option(
        "--conventions",
        help="How ties and empty rows count: standard, paper or sklearn.",
        autocompletion=complete_conventions,
        callback=known_conventions,
    ),
]
Measure = Annotated[
    str,
    typer.Option(
        "--measure",
        "-m",
        help="The measure to optimise; see limo measures.",
        autocompletion=complete_measure,
        callback=known_measure,
    ),
]
Report = Annotated[Path | None, typer.Option("--report", help="Write a report to this HTML file.")]
Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A file (ARFF, CSV, Parquet, NPZ, LIBSVM, ...) or a known data set, such as enron or "
        "enron:train.",
        autocompletion=complete_data,
    ),
]
Labels = Annotated[
    str | None,
    typer.Option(
        "--labels",
        help="Label columns: names (a,b,c), a prefix (tag_*), or a number n for the last n.",
    ),
]
Drop = Annotated[
    str | None, typer.Option("--drop", help="Columns to ignore, such as row names: id,text.")
]
Id = Annotated[
    str | None,
    typer.Option(
        "--id",
        metavar="COLUMN",
        help="The column that names the rows: files are matched by it, in any order.",
    ),
]
IdToCopy = Annotated[
    str | None,
    typer.Option(
        "--id",
        metavar="COLUMN",
        help="The column that names the rows, which is copied to the output.",
    ),
]
Tags = Annotated[
    str | None,
    typer.Option(
        "--tags",
        metavar="COLUMN",
        help="A column that lists the labels of each row, such as rock;jazz.",
    ),
]
Separator = Annotated[
    str | None,
    typer.Option(
        "--separator",
        help="The text between two labels in the column of --tags; by default a semicolon.",
        show_default=False,
    ),
]
MissingLabels = Annotated[
    float | None,
    typer.Option(
        "--missing",
        metavar="NUMBER",
        help="What marks a missing true label: nan (empty cells, too) or -1. Such labels take "
        "no part.",
        show_default=False,
    ),
]
Missing = Annotated[
    str,
    typer.Option("--missing", help="What to do with missing features: error, nan, mean or zero."),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        help="Data format: arff, csv, tsv, parquet, npz, libsvm or xmc; detected by default.",
        show_default=False,
    ),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether a CSV file starts with column names; detected by default.",
        show_default=False,
    ),
]


def listed(text: str | None) -> list[str]:
    """Split comma-separated names; a name that contains a comma is in quotes."""
    if not text:
        return []
    return [name.strip() for name in next(csv.reader([text], skipinitialspace=True))]


def which_labels(text: str | None) -> int | str | list[str] | None:
    """Parse ``--labels``: a count, a prefix with a star, or names."""
    if text is None:
        return None
    if text.isdecimal():
        return int(text)
    return text if text.endswith("*") else listed(text)
