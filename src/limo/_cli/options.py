"""Options that several commands share: one wording for one thing."""

import csv
import json
from importlib import resources
from pathlib import Path
from typing import Annotated

import typer

from limo._text import did_you_mean

__all__ = [
    "CONVENTIONS",
    "MEASURES",
    "METHODS",
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
    "complete_conventions",
    "complete_data",
    "complete_measure",
    "complete_method",
    "data_sets",
    "known_conventions",
    "known_measure",
    "known_method",
    "listed",
    "which_labels",
]


# The names a user may type, for completion: known without loading what they name.

MEASURES = (
    "hamming_loss",
    "ranking_loss",
    "one_error",
    "coverage",
    "average_precision",
    "macro_f1",
    "instance_f1",
    "micro_f1",
    "macro_auc",
    "instance_auc",
    "micro_auc",
)
METHODS = ("limo", "limo-label", "limo-inst", "limo-cv", "logistic", "br", "mlknn", "gfm")
CONVENTIONS = ("standard", "paper", "sklearn")


def data_sets() -> list[str]:
    """The data sets known by name, and their parts: enron, enron:train, ..."""
    text = (resources.files("limo") / "datasets" / "catalogue.json").read_text("utf-8")
    found = ["figure1"]
    for record in json.loads(text):
        parts = [part for part in record["parts"] if part != "all"]
        found += [record["name"], *(f"{record['name']}:{part}" for part in parts)]
    return found


def complete_measure(incomplete: str) -> list[str]:
    """Measures that begin so; the last of several."""
    return _last_of(incomplete, MEASURES)


def complete_method(incomplete: str) -> list[str]:
    """Methods that begin so; the last of several."""
    return _last_of(incomplete, METHODS)


def complete_conventions(incomplete: str) -> list[str]:
    """Conventions that begin so."""
    return [name for name in CONVENTIONS if name.startswith(incomplete)]


def complete_data(incomplete: str) -> list[str]:
    """Data sets that begin so; the shell adds files if there is none."""
    return [name for name in data_sets() if name.startswith(incomplete)]


def known_measure(name: str) -> str:
    """Refuse a measure that does not exist."""
    return _known(name, MEASURES, "measure")


def known_method(name: str) -> str:
    """Refuse a method that does not exist."""
    return _known(name, METHODS, "method")


def known_conventions(name: str) -> str:
    """Refuse conventions that do not exist."""
    return _known(name, CONVENTIONS, "set of conventions")


def _known(name: str, known: tuple[str, ...], what: str) -> str:
    if name in known:
        return name
    hint = did_you_mean(name, known)
    raise typer.BadParameter(f"No {what} is called {name!r}.{hint} There are {', '.join(known)}.")


def _last_of(incomplete: str, known: tuple[str, ...]) -> list[str]:
    """Complete the last of several names that are parted by commas."""
    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in known if name.startswith(last)]


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
