"""The data a command reads (files, or data sets known by name), and the files it writes."""

import shlex
import sys
from collections.abc import Sequence
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
        ordered = one.ordered_as(truth.label_names)
        found = ordered.rows_as(truth, match=self.id is not None)
        if found is not ordered:
            print_note(f"{one.source}: rows are matched with those of {truth.source} by their ids.")
        return found


def is_known(reference: str) -> bool:
    """Whether this is the name of a known data set, or ``name:part``, and not a file."""
    known = {name.lower() for name in data_sets()}
    return reference.lower() in known and not Path(reference).exists()


def open_dataset(reference: str, reading: Reading, seed: int = 0) -> "limo.Dataset":
    """Load a known data set, generate figure1, or read a file."""
    arguments = reading.arguments()
    if not is_known(reference):
        check_file(reference)
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


def check_file(reference: str) -> Path:
    """The file; raise if there is none."""
    file = Path(reference)
    if file.is_dir():
        raise WrongUse(f"{reference} is a folder; name a file in it.")
    if not file.exists():
        raise WrongUse(
            f"There is no file {reference}, and no data set of that name. "
            "Check the path; limo datasets lists the data sets known by name."
        )
    return file


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
