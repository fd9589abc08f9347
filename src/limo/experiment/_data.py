"""Data of a plan (known by name, in a file, generated or in memory), and how they are split."""

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

from limo._settings import check_name, check_number
from limo._text import did_you_mean, storable
from limo._types import check_kind
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
from limo.datasets._read import companions
from limo.experiment._identity import PlanError, as_plan_error, content_hash, seed_from

SplitKind = Literal["stratified", "random", "folds", "stored"]

GENERATORS: dict[str, Callable[..., Dataset]] = {
    "figure1": figure1,
    "make_multilabel": make_multilabel,
}


@dataclass(frozen=True, eq=False)
class Splits:
    """How data are split into training and test instances.

    A split depends only on the seed of the plan, the name of the data and its own number.

    Parameters
    ----------
    kind : {"stratified", "random", "folds", "stored"}, default="stratified"
        Random splits with the same share of every label on both sides; random splits;
        stratified folds of cross-validation; or stored permutations of the instances, whose
        first entries are the test instances.
    number : int, optional
        How many splits; by default 10 splits, 5 folds, or all stored permutations.
    test_size : float, default=0.3
        The share of test instances; ignored for folds.
    permutations : path or array, optional
        For ``"stored"``: a CSV file or an array with one permutation per row; by default
        ``splits/<name>.csv`` of the data folder.

    Examples
    --------
    >>> Splits("fold")
    Traceback (most recent call last):
        ...
    limo.experiment.PlanError: Unknown kind of split 'fold'. Did you mean 'folds'?
    Choose from: stratified, random, folds, stored.
    """

    kind: SplitKind = "stratified"
    number: int | None = None
    test_size: float = 0.3
    permutations: Any = None

    def __post_init__(self) -> None:
        with as_plan_error():
            check_name(self.kind, get_args(SplitKind), "kind of split")
            if self.number is not None:
                least = 2 if self.kind == "folds" else 1
                number = check_number(self.number, "number of splits", least=least, integer=True)
                object.__setattr__(self, "number", int(number))
            check_number(self.test_size, "test_size", above=0, most=1)
        if self.test_size == 1:
            raise PlanError("test_size must be below 1, or nothing is left to train on")
        if self.permutations is not None and self.kind != "stored":
            raise PlanError(f"permutations need splits of kind 'stored', got kind {self.kind!r}")

    def resolved(self, name: str) -> "Splits":
        """The same splits with the default number, and stored permutations loaded."""
        if self.kind != "stored":
            return replace(self, number=self.number or (5 if self.kind == "folds" else 10))
        given = self.permutations
        if given is None or isinstance(given, str | PathLike):
            given = stored_splits(name if given is None else str(given)).permutations
        stored = StoredSplits(given, self.test_size).permutations
        if self.number is not None and self.number > len(stored):
            raise PlanError(
                f"the plan needs {self.number} splits of {name}, but {len(stored)} are stored"
            )
        return replace(self, permutations=stored, number=self.number or len(stored))


@dataclass(frozen=True, eq=False)
class Split:
    """One split of one data set: everything needed to compute its instances again."""

    splits: Splits
    dataset: str
    number: int
    seed: int

    @classmethod
    def of(cls, splits: Splits, dataset: str, number: int, seed: int) -> "Split":
        """Split ``number``; of stored permutations it keeps only the one it needs."""
        if splits.permutations is not None:
            assert splits.number is not None
            permutation = splits.permutations[number % splits.number]
            splits = replace(splits, permutations=permutation[np.newaxis])
        return cls(splits, dataset, number, seed)

    def identity(self) -> str:
        """A hash of what determines its instances; the number of other splits does not."""
        kind, folds = self.splits.kind, self.splits.number if self.splits.kind == "folds" else None
        parts = (kind, folds, self.splits.test_size, self.splits.permutations)
        return content_hash(*parts, self.dataset, self.number, self.seed)

    def instances(self, data: Dataset) -> tuple[Any, Any]:
        """The indices of the training and of the test instances."""
        splits = self.splits
        seed = seed_from(self.seed, self.dataset, self.number)
        if splits.kind == "stratified":
            return next(StratifiedSplits(1, splits.test_size, seed).split(data.X, data.Y))
        if splits.kind == "random":
            order = np.random.default_rng(seed).permutation(data.X.shape[0])
            return next(StoredSplits(order[np.newaxis], splits.test_size).split(data.X))
        if splits.kind == "stored":
            return next(StoredSplits(splits.permutations, splits.test_size).split(data.X))
        assert splits.number is not None
        repetition, fold = divmod(self.number, splits.number)
        folds = StratifiedFolds(splits.number, seed_from(self.seed, self.dataset, repetition))
        return list(folds.split(data.X, data.Y))[fold]


@dataclass(frozen=True)
class _Saved:
    """Data in memory that this process saved for its workers.

    Such a file is a pickle. It has its own type, so that the name of a file in a plan, or on the
    command line, is never read as a pickle.
    """

    file: Path


@dataclass(frozen=True, eq=False)
class Data:
    """A data set of a plan.

    Parameters
    ----------
    name : str
        Its name in the results. Splits and seeds depend on it.
    source : str, path or Dataset
        A name of :func:`limo.datasets.catalogue`, a file, the name of a generator
        (``"figure1"`` or ``"make_multilabel"``), or the data themselves.
    options : mapping of str to object, default={}
        Passed to :func:`limo.read` or to the generator.
    splits : Splits, optional
        Used instead of the plan's splits.

    Examples
    --------
    >>> data = Data("toy", "figure1", {"n": 100})
    >>> data.load()
    Dataset(100 instances, 2 features, 4 labels, from figure1)
    """

    name: str
    source: str | PathLike[str] | Dataset | _Saved
    options: Mapping[str, Any] = field(default_factory=dict)
    splits: Splits | None = None

    def __post_init__(self) -> None:
        with as_plan_error():
            check_kind(self.name, str, "a data set needs a name")
            check_kind(self.options, Mapping, f"options of data {self.name!r} must be a dictionary")
        try:
            options = json.loads(json.dumps(dict(self.options), default=fspath))
        except TypeError as error:
            raise PlanError(
                f"options of data {self.name!r} must be plain JSON values: {error}"
            ) from None
        object.__setattr__(self, "options", MappingProxyType(options))
        object.__setattr__(self, "name", storable(self.name))
        if isinstance(self.source, Dataset | _Saved):
            return
        object.__setattr__(self, "source", _canonical(str(self.source)))
        if self.options and self.source in CATALOGUE:
            raise PlanError(f"{self.source} is a known data set and takes no options")

    @classmethod
    def of(cls, given: Any) -> "Data":
        """The record of a name, a path or data in memory."""
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

    def load(self, content: str | None = None) -> Dataset:
        """Read or generate the data; the last two data sets stay in memory.

        ``content`` is the fingerprint they had when the plan was made: a file with other content
        is an error. By default any content is read.
        """
        if isinstance(self.source, Dataset):
            return self.source
        if isinstance(self.source, _Saved):
            return _load_saved(self.source.file)
        options = json.dumps(dict(self.options), sort_keys=True)
        return _load(str(self.source), options, content or self.fingerprint())

    def fingerprint(self) -> str:
        """A hash of the content; known data sets need not be read for it."""
        if isinstance(self.source, Dataset):
            return content_hash(self.source.X, self.source.Y)
        return _fingerprint(str(self.source), self.options)

    def saved_to(self, folder: Path) -> "Data":
        """Data in memory as a file of ``folder``, which all workers can map; others unchanged."""
        if not isinstance(self.source, Dataset):
            return self
        file = folder / content_hash(self.name)
        if not file.exists():
            joblib.dump(self.source, file)
        return replace(self, source=_Saved(file))


@lru_cache(maxsize=2)
def _load_saved(file: Path) -> Dataset:
    saved: Dataset = joblib.load(file, mmap_mode="r")
    return saved


@lru_cache(maxsize=2)
def _load(source: str, options: str, content: str) -> Dataset:
    """The data, which must have this content: results are stored under its hash."""
    settings = json.loads(options)
    if source in CATALOGUE:
        return load(source, progress=False)
    if source in GENERATORS:
        return GENERATORS[source](**settings)
    data = read(source, **settings)
    # compared after reading, so that a change while the file is read is found as well
    if _fingerprint(source, settings) != content:
        raise DataError("the file has changed since the plan was made. Run it again", path=source)
    return data


def _fingerprint(source: str, options: Mapping[str, Any]) -> str:
    if source in CATALOGUE:
        return CATALOGUE[source].checksum
    if source in GENERATORS:
        return content_hash(source, options)
    files = [Path(source), *companions(source, options.get("xml"))]
    return content_hash([_digest(file) for file in files], options)


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _is_known(source: str) -> bool:
    return source in CATALOGUE or source in GENERATORS


def _canonical(source: str) -> str:
    """A known name as the catalogue spells it, or the absolute path of a file."""
    spelled = {name.lower(): name for name in [*CATALOGUE, *GENERATORS]}
    if source.lower() in spelled:
        return spelled[source.lower()]
    path = Path(source)
    if path.is_file():
        return str(path.resolve())
    hint, known = did_you_mean(source.lower(), spelled), ", ".join(spelled.values())
    raise DataError(
        f"{source!r} is neither a file nor a known data set.{hint} Choose from: {known}"
    )
