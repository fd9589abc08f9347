"""The data a command reads (files, or data sets known by name), and the files it writes."""

import shlex
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import limo
from limo._cli.command import WrongUse
from limo._cli.console import print_note, progress
from limo._cli.options import data_sets, listed, which_labels
from limo._system import check_target


@dataclass(frozen=True)
class Reading:
    """The options of a command that say how to read its data."""

    labels: str | None = None
    drop: str | None = None
    missing: str = "error"
    format: str | None = None
    tags: str | None = None
    separator: str | None = None

    def arguments(self) -> dict[str, Any]:
        """The arguments of :func:`limo.read` that were set."""
        given = {
            "tags": self.tags,
            "separator": self.separator,
            "labels": which_labels(self.labels),
            "drop": listed(self.drop) or None,
            "missing": None if self.missing == "error" else self.missing,
            "format": self.format,
        }
        return {key: value for key, value in given.items() if value is not None}


@dataclass(frozen=True)
class Matching:
    """The options of a command that say how to read labels and scores, and match their rows."""

    drop: Sequence[str] = ()
    header: bool | None = None
    id: str | None = None
    tags: str | None = None
    separator: str | None = None

    def arguments(self) -> dict[str, Any]:
        """The arguments of :func:`limo.datasets.read_matrix`."""
        names = ("drop", "header", "id", "tags", "separator")
        return {name: getattr(self, name) for name in names}

    def matched(self, one: Any, truth: Any) -> Any:
        """A matrix with columns and rows in the order of the true labels."""
        return one.ordered_as(truth.label_names).rows_as(truth, match=self.id is not None)

    def note_matched(self, matrices: Iterable[Any], truth: Any) -> None:
        """Say, once for each file, which have their rows in another order than the true labels."""
        if self.id is None:
            return
        for source in dict.fromkeys(m.source for m in matrices if not _same_order(m, truth)):
            print_note(f"{source}: rows are matched with those of {truth.source} by their ids.")


def _same_order(one: Any, other: Any) -> bool:
    return one.ids is None or other.ids is None or list(one.ids) == list(other.ids)


def is_known(reference: str) -> bool:
    """Whether this is the name of a known data set, or ``name:part``, and not a file."""
    known = {name.lower() for name in data_sets()}
    return reference.lower() in known and not Path(reference).exists()


def open_dataset(reference: str, reading: Reading, seed: int = 0) -> "limo.Dataset":
    """Load a known data set, generate figure1, or read a file."""
    arguments = reading.arguments()
    if not is_known(reference):
        check_file(reference, or_known=True)
        with progress(f"Reading {reference}"):
            data = limo.read(reference, **arguments)
        if not data.X.shape[0]:
            raise ValueError(f"{reference} holds no instances, only the names of its columns.")
        return data
    if arguments:
        options = ", ".join(f"--{name}" for name in arguments)
        raise WrongUse(f"{options} is for files; {reference} is a known data set. Leave it out.")
    if reference.lower() == "figure1":
        return limo.datasets.figure1(1000, seed=seed)
    name, _, part = reference.partition(":")
    with progress(f"Loading {reference}"):
        return limo.datasets.load(name, part or "all", progress=False)


def check_file(reference: str, *, or_known: bool = False) -> Path:
    """The file; raise if there is none. ``or_known``: a known data set would do, too."""
    file = Path(reference)
    if file.is_dir():
        raise WrongUse(f"{reference} is a folder; name a file in it.")
    if not file.exists():
        known = "limo datasets list shows the data sets known by name."
        also = f", and no data set of that name. Check the path; {known}"
        raise WrongUse(f"There is no file {reference}{also if or_known else '. Check the path.'}")
    return file


def place_of_column(given: str | None, truth: str, what: str) -> tuple[str, str | None] | None:
    """The place of numbers or names of the instances: a file, or a column of the true labels."""
    if given is None:
        return None
    if Path(given).is_file():
        return given, None
    if is_known(truth):
        raise WrongUse(f"There is no file {given} with {what}, and {truth} has no columns.")
    return truth, given


def read_sample_weight(given: str | None, truth: str) -> tuple[list[str], Any]:
    """The column of the true labels that holds weights, if any, and the weight of each instance."""
    place = place_of_column(given, truth, "weights")
    return column_of(place), place and limo.datasets.read_weights(*place)


def column_of(place: tuple[str, str | None] | None) -> list[str]:
    """The column of the true labels that is no label, if the place is one."""
    return [] if place is None or place[1] is None else [place[1]]


def output(path: Path, *, force: bool) -> Path:
    """The file to write; raise before any work if it cannot be written or already exists."""
    try:
        check_target(path, force=force)
    except OSError as error:
        raise WrongUse(str(error)) from None
    return path


def typed_command() -> str:
    """The command line of this process, for reports that say how they were made."""
    return shlex.join(["limo", *sys.argv[1:]])
