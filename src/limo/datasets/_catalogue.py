"""Known data sets by name: found in a data folder or downloaded, and verified either way."""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from limo._settings import check_name
from limo._system import Later
from limo._text import did_you_mean
from limo._types import check_kind
from limo.datasets._dataset import Dataset
from limo.datasets._options import DataError, Limits, ReadOptions
from limo.datasets._read import read_source
from limo.datasets._source import Source, open_source

# The catalogue: names, shapes, checksums and public sources.

pd = Later("pandas")

_NO_LICENCE = "no licence stated by the source; cite the reference"


@dataclass(frozen=True)
class DataFile:
    """A file: its path in a data folder, its public address, its sha256 when decompressed."""

    path: str
    url: str
    sha256: str


@dataclass(frozen=True)
class Entry:
    """A data set that :func:`limo.datasets.load` can load.

    Attributes
    ----------
    name, domain : str
        Its name, and what its instances are (text, music, ...).
    n_samples, n_features, n_labels : int
        The shape, after nominal features were turned into numbers.
    cardinality : float or None
        The mean number of labels per instance. None if it was not counted: the shape and the
        checksum of such a set are from public records, and are verified when it is loaded.
    parts : dict of str to (DataFile, int)
        ``"all"``, and ``"train"`` and ``"test"`` where a split is given: the file and its number
        of rows.
    xml : DataFile or None
        The file with the label names; without it the labels are the last ``n_labels`` columns.
    reference, licence : str
        What to cite, and what is known about the licence.

    Examples
    --------
    >>> import limo
    >>> entry = limo.datasets.CATALOGUE["enron"]
    >>> entry.domain, entry.n_labels, sorted(entry.parts)
    ('text', 53, ['all', 'test', 'train'])
    """

    name: str
    domain: str
    n_samples: int
    n_features: int
    n_labels: int
    cardinality: float | None
    parts: dict[str, tuple[DataFile, int]]
    xml: DataFile | None
    reference: str
    licence: str = _NO_LICENCE

    @property
    def checksum(self) -> str:
        """The sha256 of the whole set's main file."""
        return self.parts["all"][0].sha256

    @property
    def files(self) -> list[DataFile]:
        """Every file of the set."""
        return [file for file, _ in self.parts.values()] + ([self.xml] if self.xml else [])


@dataclass(frozen=True)
class Catalogue:
    """The known data sets; print it as a table, or use ``to_frame()``.

    Attributes
    ----------
    entries : tuple of Entry
        One for each data set.

    Examples
    --------
    >>> import limo
    >>> known = limo.datasets.catalogue()
    >>> next(entry.name for entry in known if entry.domain == "music")
    'CAL500'
    """

    entries: tuple[Entry, ...]

    def to_frame(self) -> Any:
        """A pandas DataFrame with one row per data set."""
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
        return str(frame.reset_index().to_string(index=False, na_rep=""))

    def _repr_html_(self) -> str:
        return str(self.to_frame().to_html(na_rep=""))

    __repr__ = __str__


def catalogue() -> Catalogue:
    """The data sets that :func:`limo.datasets.load` loads by name.

    Examples
    --------
    >>> import limo
    >>> known = limo.datasets.catalogue()
    >>> known.to_frame().loc["enron", ["instances", "features", "labels"]].to_list()
    [1702, 1001, 53]
    """
    return Catalogue(tuple(CATALOGUE.values()))


def _file(record: dict[str, Any]) -> DataFile:
    return DataFile(record["path"], record["url"], record["sha256"])


def _entry(record: dict[str, Any]) -> Entry:
    parts = {part: (_file(file), file["rows"]) for part, file in record["parts"].items()}
    xml = _file(record["xml"]) if record["xml"] else None
    return Entry(**{**record, "parts": parts, "xml": xml})


def _load_entries() -> dict[str, Entry]:
    text = resources.files("limo.datasets").joinpath("catalogue.json").read_text("utf-8")
    return {record["name"]: _entry(record) for record in json.loads(text)}


CATALOGUE: dict[str, Entry] = _load_entries()


# Loading: find or download the files, verify them, read them.

pooch = Later("pooch")

_SUFFIXES = ("", ".xz", ".gz", ".bz2")


def load(name: str, part: str = "all", *, download: bool = True, progress: bool = True) -> Dataset:
    """Load a known data set by name.

    Looks in the folder named by the environment variable ``LIMO_DATA``, then in the user's
    cache, and downloads what is in neither. Checksum and shape are verified in all cases. A
    download gets its final name only when it is complete and verified, so several processes may
    load the same data set at once.

    Parameters
    ----------
    name : str
        A name of :func:`catalogue`; case does not matter.
    part : {"all", "train", "test"}, default="all"
        The whole data set, or a part of its published split.
    download : bool, default=True
        Whether to download a file that is not available locally.
    progress : bool, default=True
        Whether to show a progress bar while downloading.

    Returns
    -------
    Dataset
        The verified data.

    Examples
    --------
    >>> import limo
    >>> limo.datasets.load("enrom")
    Traceback (most recent call last):
    ...
    limo.datasets.DataError: no data set is called 'enrom'. Did you mean 'enron'? ...
    """
    entry = _find_entry(name)
    if part not in entry.parts:
        raise DataError(f"{entry.name} has the parts {', '.join(entry.parts)}; got {part!r}")
    file, n_rows = entry.parts[part]
    wanted = [file, entry.xml] if entry.xml else [file]
    paths = {f.path: _find(f) for f in wanted}
    absent = [f for f in wanted if paths[f.path] is None]
    if absent and not download:
        raise DataError(_how_to(entry, absent, "download=False"))
    for k, f in enumerate(absent):
        try:
            paths[f.path] = _download(f, progress)
        except (OSError, ValueError) as error:  # requests raises OSError, a bad hash ValueError
            why = f"the download failed ({_reason(error, f)})"
            raise DataError(_how_to(entry, absent[k:], why)) from error
    data = _read(file, entry, paths)
    _check_shape(data, entry, part, n_rows)
    return replace(data, source=entry.name if part == "all" else f"{entry.name} ({part})")


def is_at_hand(name: str, part: str = "all") -> bool:
    """Whether :func:`load` can load a known data set without a download.

    Examples
    --------
    >>> import limo
    >>> limo.datasets.is_at_hand("enron") in (True, False)
    True
    """
    check_kind(name, str, "name must be the name of a data set")
    entry = _find_entry(name)
    check_name(part, entry.parts, "part")
    wanted = [entry.parts[part][0], *([entry.xml] if entry.xml else [])]
    return all(_find(file) is not None for file in wanted)


def data_folders() -> list[Path]:
    """The folders where data sets are searched: ``LIMO_DATA`` if it is set, and the cache.

    Examples
    --------
    >>> import limo
    >>> all(folder.is_absolute() for folder in limo.datasets.data_folders()[-1:])
    True
    """
    named = os.environ.get("LIMO_DATA")
    return ([Path(named)] if named else []) + [Path(pooch.os_cache("limo"))]


def _find_entry(name: str) -> Entry:
    known = {key.lower(): entry for key, entry in CATALOGUE.items()}
    if name.lower() in known:
        return known[name.lower()]
    hint = did_you_mean(name, CATALOGUE)
    raise DataError(
        f"no data set is called {name!r}.{hint} Choose from: {', '.join(CATALOGUE)}; "
        "limo.read reads your own files"
    )


def _find(file: DataFile) -> Path | None:
    """The file in one of the data folders, plain or compressed."""
    for folder in data_folders():
        for suffix in _SUFFIXES:
            path = folder / (file.path + suffix)
            if path.is_file():
                return path
    return None


def _download(file: DataFile, progress: bool) -> Path:
    """Download a file into the cache; it gets its name when its checksum is verified."""
    target = Path(pooch.os_cache("limo")) / file.path
    pooch.get_logger().setLevel("WARNING")
    target.parent.mkdir(parents=True, exist_ok=True)
    pooch.retrieve(
        file.url,
        known_hash=f"sha256:{file.sha256}",
        fname=target.name,
        path=target.parent,
        progressbar=progress,
    )
    return target


def _reason(error: Exception, file: DataFile) -> str:
    """Why a download failed, in a few words."""
    text = str(error).partition("\n")[0]
    if "Max retries exceeded" in text:
        return f"no connection to {urlsplit(file.url).hostname}"
    return text if len(text) <= 200 else text[:200] + "..."


def _how_to(entry: Entry, files: list[DataFile], why: str) -> str:
    """Which files to download by hand, and where to put them."""
    folder = Path(os.environ.get("LIMO_DATA") or pooch.os_cache("limo"))
    lines = [f"{entry.name} is not available locally, and {why}. Put"]
    for file in files:
        lines.append(f"  {folder / file.path}\n    from {file.url}\n    sha256 {file.sha256}")
    lines.append("or set LIMO_DATA to a folder with these paths (.gz, .bz2, .xz work too)")
    return "\n".join(lines)


def _read(file: DataFile, entry: Entry, paths: dict[str, Any]) -> Dataset:
    """Verify and read the file; the labels are those of the verified XML, or the last columns."""
    source = open_source(paths[file.path], None, Limits())
    _verify(source.checksum, file, paths[file.path])
    if entry.xml is None:
        return read_source(source, "arff", ReadOptions(labels=entry.n_labels))
    xml = open_source(paths[entry.xml.path], None, Limits())
    _verify(xml.checksum, entry.xml, paths[entry.xml.path])
    with_xml = Source(source.path, source.name, source.data, lambda name: xml.data)
    return read_source(with_xml, "arff", ReadOptions())


def _verify(checksum: str, file: DataFile, path: Path) -> None:
    if checksum != file.sha256:
        raise DataError(
            f"expected the sha256 {file.sha256}, got {checksum}: the file is damaged or another "
            f"version. Remove it; the expected one is at {file.url}",
            path=str(path),
        )


def _check_shape(data: Dataset, entry: Entry, part: str, n_rows: int) -> None:
    expected = (n_rows, entry.n_features, entry.n_labels)
    got = (*data.X.shape, data.Y.shape[1])
    if got != expected:
        raise DataError(
            f"{entry.name} ({part}) must have {expected} instances, features and labels, "
            f"got {got}. "
            "The catalogue or the reader is wrong: please report it"
        )
