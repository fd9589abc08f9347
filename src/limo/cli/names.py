"""The names a user may type, for completion: known without loading what they name.

A test compares them with the registries, where they are at home.
"""

import difflib
import json
from importlib import resources

import typer

__all__ = [
    "CONVENTIONS",
    "MEASURES",
    "METHODS",
    "complete_conventions",
    "complete_data",
    "complete_measure",
    "complete_method",
    "data_sets",
    "known_conventions",
    "known_measure",
    "known_method",
]

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
    near = difflib.get_close_matches(name, known, n=1)
    hint = f" Did you mean {near[0]}?" if near else ""
    raise typer.BadParameter(f"No {what} is called {name}.{hint} There are {', '.join(known)}.")


def _last_of(incomplete: str, known: tuple[str, ...]) -> list[str]:
    """Complete the last of several names that are parted by commas."""
    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in known if name.startswith(last)]
