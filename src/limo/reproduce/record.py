"""What a reproduction is made of, and what it leaves behind."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

__all__ = ["Picture", "Reproduction", "Table"]


@dataclass(frozen=True, eq=False)
class Table:
    """One table: how it reads, and the facts behind it.

    Attributes
    ----------
    name : str
        Of its files.
    title, note : str
        What stands above it.
    shown : DataFrame
        Text, as it is printed.
    facts : DataFrame
        Numbers, as they are stored in CSV.
    """

    name: str
    title: str
    note: str
    shown: pd.DataFrame
    facts: pd.DataFrame


@dataclass(frozen=True, eq=False)
class Picture:
    """One picture, drawn when it is written.

    Attributes
    ----------
    name : str
        Of its files.
    caption : str
        What it shows.
    draw : callable
        Gives a matplotlib figure.
    """

    name: str
    caption: str
    draw: Callable[[], Any]


@dataclass(frozen=True, eq=False)
class Reproduction:
    """A part of the paper, reproduced into a folder.

    Attributes
    ----------
    title : str
        What was reproduced.
    folder : Path
        Where.
    findings : tuple of str
        What came out, in sentences.
    tables : mapping of str to DataFrame
        The numbers of every table, by the name of its file.
    paths : tuple of Path
        Every file written: the Markdown page first, then tables and pictures.
    document : dict
        The same as plain JSON, for ``limo.report``.
    """

    title: str
    folder: Path
    findings: tuple[str, ...]
    tables: Mapping[str, pd.DataFrame]
    paths: tuple[Path, ...]
    document: dict[str, Any]

    def __str__(self) -> str:
        return "\n".join([self.title, *self.findings, f"Written to {self.paths[0]}."])
