"""The known data sets: a table of names, shapes, checksums and public sources.

Only sets whose files could be checked stand in it (``catalogue.json``); adding one is adding
an entry there.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from typing import Any

from limo._later import Later

__all__ = ["CATALOGUE", "Catalogue", "Entry", "File", "catalogue"]

pd = Later("pandas")

_MULAN = "https://raw.githubusercontent.com/tsoumakas/mulan"
_NO_LICENCE = "no licence stated by the source; cite the reference"


@dataclass(frozen=True)
class File:
    """A file: where it lies below a data folder, its public address, its sha256 when unpacked."""

    path: str
    url: str
    sha256: str


@dataclass(frozen=True)
class Entry:
    """A data set that :func:`limo.datasets.load` knows.

    Attributes
    ----------
    name, domain : str
        What it is called and what it is about.
    n_samples, n_features, n_labels : int
        The shape; features after nominal ones became numbers.
    cardinality : float
        The mean number of labels of an instance, as many digits as are known.
    parts : dict of str to (File, int)
        ``"all"``, and ``"train"`` and ``"test"`` where a split is given: the file and its rows.
    xml : File or None
        The label names; without it the labels are the last ``n_labels`` columns.
    reference, licence : str
        Whom to cite, and what is known about the right to use it.
    """

    name: str
    domain: str
    n_samples: int
    n_features: int
    n_labels: int
    cardinality: float
    parts: dict[str, tuple[File, int]]
    xml: File | None
    reference: str
    licence: str = _NO_LICENCE

    @property
    def checksum(self) -> str:
        """The sha256 of the whole set's main file."""
        return self.parts["all"][0].sha256

    @property
    def files(self) -> list[File]:
        """Every file of the set."""
        return [file for file, _ in self.parts.values()] + ([self.xml] if self.xml else [])


@dataclass(frozen=True)
class Catalogue:
    """The known data sets, as a table for people and programs.

    Attributes
    ----------
    entries : tuple of Entry
        One for each set.
    """

    entries: tuple[Entry, ...]

    def to_frame(self) -> Any:
        """A pandas DataFrame, one row a set."""
        rows = [
            {
                "name": entry.name,
                "domain": entry.domain,
                "instances": entry.n_samples,
                "features": entry.n_features,
                "labels": entry.n_labels,
                "cardinality": entry.cardinality,
                "parts": " ".join(entry.parts),
                "licence": entry.licence,
                "sha256": entry.checksum,
                "reference": entry.reference,
            }
            for entry in self.entries
        ]
        return pd.DataFrame(rows).set_index("name")

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __str__(self) -> str:
        frame = self.to_frame().drop(columns=["licence", "reference"])
        frame["sha256"] = frame["sha256"].str[:12]
        return str(frame.reset_index().to_string(index=False))

    def _repr_html_(self) -> str:
        return str(self.to_frame().to_html())

    __repr__ = __str__


def catalogue() -> Catalogue:
    """The data sets that :func:`limo.datasets.load` knows by name.

    Examples
    --------
    >>> import limo
    >>> known = limo.datasets.catalogue()
    >>> known.to_frame().loc["enron", ["instances", "features", "labels"]].to_list()
    [1702, 1001, 53]
    """
    return Catalogue(tuple(CATALOGUE.values()))


def _file(record: dict[str, Any]) -> File:
    return File(record["path"], f"{_MULAN}/{record['url']}", record["sha256"])


def _entry(record: dict[str, Any]) -> Entry:
    parts = {part: (_file(file), file["rows"]) for part, file in record["parts"].items()}
    xml = _file(record["xml"]) if record["xml"] else None
    return Entry(**{**record, "parts": parts, "xml": xml})


def _load_entries() -> dict[str, Entry]:
    text = resources.files("limo.datasets").joinpath("catalogue.json").read_text("utf-8")
    return {record["name"]: _entry(record) for record in json.loads(text)}


CATALOGUE: dict[str, Entry] = _load_entries()
