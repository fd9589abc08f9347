"""Data of a plan: named, in a file, made by rule or in memory; and how they are split."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from os import PathLike, fspath
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, get_args

import joblib
import numpy as np

from limo._text import did_you_mean
from limo.datasets import (
    CATALOGUE,
    DataError,
    Dataset,
    StoredSplits,
    StratifiedFolds,
    StratifiedSplits,
    figure1,
    load,
    make_multilabel,
    read,
    stored_splits,
)
from limo.experiment._identity import PlanError, content_hash, seed_from

__all__ = ["Data", "Splits"]


Kind = Literal["stratified", "random", "folds", "stored"]
Rows = tuple[Any, Any]

MADE: dict[str, Callable[..., Dataset]] = {"figure1": figure1, "make_multilabel": make_multilabel}
_DUMP = ".joblib"


@dataclass(frozen=True, eq=False)
class Splits:
    """How data are parted into training and test.

    A split depends on the seed of the plan, the name of the data and its own number only.

    Parameters
    ----------
    kind : {"stratified", "random", "folds", "stored"}, default="stratified"
        Every label shared out in proportion; rows drawn at random; folds of cross-validation,
        stratified; or permutations stored before, whose first entries are the test rows.
    number : int, optional
        How many: 10 splits, 5 folds, or all permutations stored.
    test_size : float, default=0.3
        The share of rows to test on; folds have their own.
    permutations : path or array, optional
        For ``"stored"``: a CSV file or the rows themselves; by default ``splits/<name>.csv`` of
        the data folder.

    Examples
    --------
    >>> Splits("fold")
    Traceback (most recent call last):
        ...
    limo.experiment.PlanError: no kind of split is called 'fold'. Did you mean 'folds'?
    Known are: stratified, random, folds, stored
    """

    kind: Kind = "stratified"
    number: int | None = None
    test_size: float = 0.3
    permutations: Any = None

    def __post_init__(self) -> None:
        kinds = get_args(Kind)
        if self.kind not in kinds:
            raise PlanError(
                f"no kind of split is called {self.kind!r}.{did_you_mean(self.kind, kinds)} "
                f"Known are: {', '.join(kinds)}"
            )
        least = 2 if self.kind == "folds" else 1
        number: Any = self.number
        if number is not None and (not isinstance(number, int) or number < least):
            raise PlanError(
                f"number of splits must be a whole number from {least} up, got {number!r}"
            )
        if not 0 < self.test_size < 1:
            raise PlanError(f"test_size must lie between 0 and 1, got {self.test_size!r}")
        if self.permutations is not None and self.kind != "stored":
            raise PlanError(f"permutations belong to splits of kind 'stored', got {self.kind!r}")

    def resolved(self, name: str) -> "Splits":
        """The same splits with their number, and the permutations if they are stored ones."""
        if self.kind != "stored":
            usual = 5 if self.kind == "folds" else 10
            return replace(self, number=self.number or usual)
        given = self.permutations
        if given is None or isinstance(given, str | PathLike):
            given = stored_splits(name if given is None else str(given)).permutations
        rows = StoredSplits(given, self.test_size).permutations
        if self.number is not None and self.number > len(rows):
            raise PlanError(f"{self.number} splits of {name} are wanted, {len(rows)} are stored")
        return replace(self, permutations=rows, number=self.number or len(rows))


@dataclass(frozen=True, eq=False)
class Split:
    """One split of one data set: all that is needed to make it anew."""

    splits: Splits
    dataset: str
    number: int
    seed: int

    @classmethod
    def of(cls, splits: Splits, dataset: str, number: int, seed: int) -> "Split":
        """A split that carries no permutation but its own."""
        if splits.permutations is not None:
            assert splits.number is not None
            own = splits.permutations[number % splits.number][np.newaxis]
            splits = replace(splits, permutations=own)
        return cls(splits, dataset, number, seed)

    def identity(self) -> str:
        """What decides its rows, besides the data; how many other splits there are does not."""
        kind, folds = self.splits.kind, self.splits.number if self.splits.kind == "folds" else None
        parts = (kind, folds, self.splits.test_size, self.splits.permutations)
        return content_hash(*parts, self.dataset, self.number, self.seed)

    def rows(self, data: Dataset) -> Rows:
        """Which rows to train on and which to test on."""
        splits, n_rows = self.splits, data.X.shape[0]
        seed = seed_from(self.seed, self.dataset, self.number)
        if splits.kind == "stratified":
            return next(StratifiedSplits(1, splits.test_size, seed).split(data.X, data.Y))
        if splits.kind == "random":
            order = np.random.default_rng(seed).permutation(n_rows)
            return next(StoredSplits(order[np.newaxis], splits.test_size).split(data.X))
        if splits.kind == "stored":
            return next(StoredSplits(splits.permutations, splits.test_size).split(data.X))
        assert splits.number is not None
        repetition, fold = divmod(self.number, splits.number)
        folds = StratifiedFolds(splits.number, seed_from(self.seed, self.dataset, repetition))
        return list(folds.split(data.X, data.Y))[fold]


@dataclass(frozen=True, eq=False)
class Data:
    """A data set of a plan.

    Parameters
    ----------
    name : str
        What the rows call it. Splits and seeds depend on it.
    source : str, path or Dataset
        A name of :func:`limo.datasets.catalogue`, a file, ``"figure1"`` or ``"make_multilabel"``,
        or the data themselves.
    options : mapping of str to object, default={}
        Passed to :func:`limo.read` or to the function that makes the data.
    splits : Splits, optional
        Instead of those of the plan.

    Examples
    --------
    >>> data = Data("toy", "figure1", {"n": 100})
    >>> data.load()
    Dataset(100 instances, 2 features, 4 labels, from figure1)
    """

    name: str
    source: str | PathLike[str] | Dataset
    options: Mapping[str, Any] = field(default_factory=dict)
    splits: Splits | None = None

    def __post_init__(self) -> None:
        try:
            options = json.loads(json.dumps(dict(self.options), default=fspath))
        except TypeError as error:
            raise PlanError(f"options of data {self.name!r} must be plain: {error}") from None
        object.__setattr__(self, "options", MappingProxyType(options))
        if isinstance(self.source, Dataset):
            return
        object.__setattr__(self, "source", _canonical(str(self.source)))
        if self.options and self.source in CATALOGUE:
            raise PlanError(f"{self.source} is a known data set and takes no options")

    @classmethod
    def of(cls, given: Any) -> "Data":
        """The record for a name, a path or data in memory."""
        if isinstance(given, Data):
            return given
        if isinstance(given, Dataset):
            return cls(Path(given.source).stem or "data", given)
        if not isinstance(given, str | PathLike):
            raise PlanError(
                f"a data set is a name, a path, a Dataset or a Data record, got {given!r}"
            )
        source = _canonical(str(given))
        return cls(source if _is_known(source) else Path(source).stem, source)

    def __reduce__(self) -> tuple[Any, ...]:
        # a mapping proxy cannot be pickled
        return Data, (self.name, self.source, dict(self.options), self.splits)

    def load(self) -> Dataset:
        """The data; those read last are kept in memory."""
        if isinstance(self.source, Dataset):
            return self.source
        return _load(str(self.source), json.dumps(dict(self.options), sort_keys=True))

    def fingerprint(self) -> str:
        """A hash of the content, without reading more than is needed."""
        if isinstance(self.source, Dataset):
            return content_hash(self.source.X, self.source.Y)
        if self.source in CATALOGUE:
            return CATALOGUE[str(self.source)].checksum
        if self.source in MADE:
            return content_hash(self.source, self.options)
        return content_hash([_digest(file) for file in self._files()], self.options)

    def _files(self) -> list[Path]:
        """The file, and the XML with the label names if there is one."""
        path = Path(str(self.source))
        xml = self.options.get("xml", path.with_name(path.name.partition(".arff")[0] + ".xml"))
        return [file for file in (path, Path(xml)) if file.is_file()]

    def shipped(self, folder: Path) -> "Data":
        """The same data in a file of ``folder``, if they are in memory: workers map it, once."""
        if not isinstance(self.source, Dataset):
            return self
        file = folder / f"{content_hash(self.name)}{_DUMP}"
        if not file.exists():
            joblib.dump(self.source, file)
        return replace(self, source=file)


@lru_cache(maxsize=2)
def _load(source: str, options: str) -> Dataset:
    settings = json.loads(options)
    if source in CATALOGUE:
        return load(source, progress=False)
    if source in MADE:
        return MADE[source](**settings)
    if source.endswith(_DUMP):
        dumped: Dataset = joblib.load(source, mmap_mode="r")
        return dumped
    return read(source, **settings)


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _is_known(source: str) -> bool:
    return source in CATALOGUE or source in MADE


def _canonical(source: str) -> str:
    """A known name as the catalogue spells it, or the absolute path of a file."""
    spelled = {name.lower(): name for name in [*CATALOGUE, *MADE]}
    if source.lower() in spelled:
        return spelled[source.lower()]
    path = Path(source)
    if path.is_file():
        return str(path.resolve())
    hint, known = did_you_mean(source.lower(), spelled), ", ".join(spelled.values())
    raise DataError(f"{source!r} is no file and no known data set.{hint} Known are: {known}")
