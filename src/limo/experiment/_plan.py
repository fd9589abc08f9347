"""A plan: which methods on which data, split how, judged by what. A plan runs nothing."""

import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from limo._checks import check_name
from limo._text import did_you_mean
from limo.datasets import Dataset
from limo.experiment._data import Data, Split, Splits
from limo.experiment._identity import (
    PlanError,
    absolute,
    check_keys,
    content_hash,
    describe,
    file_digest,
    import_object,
    parameters_of,
    seed_from,
)
from limo.experiment._judge import Score, failures
from limo.experiment._method import METHODS, OWN, Method
from limo.measures._compute import check_conventions
from limo.measures._conventions import Conventions
from limo.measures._table import MEASURES
from limo.thresholds import RULES

__all__ = ["Job", "Plan", "Procedure", "named_method", "naming", "read_plan"]


# A procedure: any function from data and a split to values, where a method is too narrow.

# What every procedure is called with, before its settings.
_GIVEN = ("data", "train", "test", "seed")


@dataclass(frozen=True, eq=False)
class Procedure:
    """A function that does everything itself, under a name.

    For what a :class:`Method` cannot say, as a paper's own way of scaling and cutting. What it
    does with the test part is its own responsibility.

    Parameters
    ----------
    name : str
        What the rows call it.
    function : callable or str
        ``function(data, train, test, seed, **settings)``, with a ``Dataset`` and the rows to train
        and to test on, gives (measure, value) or (measure, value, threshold) for each measure; or
        its import path.
    settings : mapping of str to object, default={}
        Passed on.

    Examples
    --------
    >>> import limo
    >>> def frequency(data, train, test, seed):
    ...     S = [data.Y[train].mean(axis=0)] * len(test)
    ...     yield "ranking_loss", limo.ranking_loss(data.Y[test], S)
    >>> data = limo.datasets.figure1(100)
    >>> procedure = Procedure("frequency", frequency)
    >>> procedure.scores(data, range(70), range(70, 100), ["ranking_loss"], seed=0)
    [Score(measure='ranking_loss', value=0.24..., threshold='', error='')]
    """

    name: str
    function: Any
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.name or not isinstance(self.name, str):
            raise PlanError(f"a procedure needs a name, got {self.name!r}")
        function = self._function()
        if not callable(function):
            raise PlanError(f"procedure {self.name!r} needs a function, got {function!r}")
        check_keys(self.settings, parameters_of(function, _GIVEN), f"procedure {self.name!r}")
        object.__setattr__(self, "settings", MappingProxyType(dict(self.settings)))

    def scores(
        self, data: Dataset, train: Any, test: Any, measures: Sequence[str], seed: int
    ) -> list[Score]:
        """Call the function; a measure it gives no value for has failed."""
        found = self._function()(data, train, test, seed, **self.settings)
        by_name = {score.measure: score for score in _read(found)}
        absent = [name for name in measures if name not in by_name]
        missing = failures(absent, f"procedure {self.name!r} gave no value for this measure")
        return [by_name[name] for name in measures if name in by_name] + missing

    def describe(self) -> dict[str, Any]:
        """All that decides the results, as plain JSON."""
        given = self.function
        digest = file_digest(given) if isinstance(given, str) else ""
        return {
            "name": self.name,
            "procedure": describe(given),
            "settings": describe(self.settings),
            "file": digest,
        }

    def __reduce__(self) -> tuple[Any, ...]:
        # a mapping proxy cannot be pickled
        return Procedure, (self.name, self.function, dict(self.settings))

    def _function(self) -> Any:
        return import_object(self.function) if isinstance(self.function, str) else self.function


def _read(found: Iterable[Any]) -> Iterable[Score]:
    for one in found:
        if isinstance(one, Score):
            yield one
        else:
            measure, value, *threshold = one
            yield Score(measure, float(value), *threshold)


# Plans from TOML files: every key is read or refused.

_PLAN = ("datasets", "methods", "measures", "splits", "repetitions", "seed", "conventions")
_DATA = ("name", "source", "options", "splits")
_SPLITS = ("kind", "number", "test_size", "permutations")
_METHOD = ("name", "estimator", "settings", "scaling", "threshold", "cv", "targeted")

Table = Mapping[str, Any]


def read_plan(path: Path) -> dict[str, Any]:
    """Read a file into the arguments of a plan."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise PlanError(f"a plan is a TOML file, but {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PlanError(f"a plan is a TOML file, but {error}") from error
    return _plan(table, path.resolve().parent)


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Name the file in whatever is wrong with the plan in it."""
    try:
        yield
    except ValueError as error:
        raise PlanError(f"{path}: {error}") from error


def named_method(name: str) -> Method:
    """One of the methods that need not be described."""
    if name in METHODS:
        return METHODS[name]
    raise PlanError(
        f"no method is called {name!r}.{did_you_mean(name, METHODS)} Known are: "
        f"{', '.join(METHODS)}. An estimator of your own is Method('its name', estimator), in a "
        "plan file {name = 'its name', estimator = 'file.py:Class'}"
    )


def _plan(table: Table, folder: Path) -> dict[str, Any]:
    check_keys(table, _PLAN, "a plan")
    for key in ("datasets", "methods"):
        if not isinstance(table.get(key), list):
            raise PlanError(f"a plan needs {key}, a list, got {table.get(key)!r}")
    arguments = dict(table)
    arguments["datasets"] = [_data(given, folder) for given in table["datasets"]]
    arguments["methods"] = [_method(given, folder) for given in table["methods"]]
    if "splits" in table:
        arguments["splits"] = _splits(table["splits"], folder)
    return arguments


def _data(given: Any, folder: Path) -> Data:
    table = {"source": given} if isinstance(given, str) else _table(given, "a data set")
    check_keys(table, _DATA, "a data set")
    source = table.get("source", table.get("name"))
    if not isinstance(source, str):
        raise PlanError(f"a data set needs a source, a known name or a path, got {source!r}")
    inside = folder / source
    known = Data.of(str(inside) if inside.is_file() else source)
    splits = _splits(table["splits"], folder) if "splits" in table else None
    options = dict(_table(table.get("options", {}), "options"))
    if "xml" in options:
        options["xml"] = str(folder / options["xml"])
    return Data(table.get("name", known.name), known.source, options, splits)


def _splits(given: Any, folder: Path) -> Splits:
    table = dict(_table(given, "splits"))
    check_keys(table, _SPLITS, "splits")
    if isinstance(table.get("permutations"), str):
        table["permutations"] = folder / table["permutations"]
    return Splits(**table)


def _method(given: Any, folder: Path) -> Method:
    if isinstance(given, str):
        return named_method(given)
    table = dict(_table(given, "a method"))
    check_keys(table, _METHOD, "a method")
    name = table.get("name")
    if not isinstance(name, str):
        raise PlanError(f"a method needs a name, got {name!r}")
    for key, reader in (("settings", _settings), ("threshold", _threshold)):
        if key in table:
            table[key] = reader(table[key], folder)
    estimator = table.pop("estimator", name)
    if not isinstance(estimator, str):
        raise PlanError(f"estimator of method {name!r} must be an import path, got {estimator!r}")
    if ":" in estimator and estimator not in METHODS:
        return Method(estimator=absolute(estimator, folder), **table)
    return replace(named_method(estimator), **table)


def _settings(given: Any, folder: Path) -> dict[str, Any]:
    """Settings; ``{import = "module:Class", ...}`` stands for an object made from the rest."""
    return {key: _setting(value, folder) for key, value in _table(given, "settings").items()}


def _setting(value: Any, folder: Path) -> Any:
    if not isinstance(value, Mapping) or "import" not in value:
        return value
    rest = _settings({key: item for key, item in value.items() if key != "import"}, folder)
    path = absolute(value["import"], folder)
    try:
        return import_object(path)(**rest)
    except TypeError as error:
        raise PlanError(f"{path} cannot be made: {error}") from error


def _threshold(given: Any, folder: Path) -> Any:
    """A rule's name, a rule with settings, or one of these for each measure."""
    if not isinstance(given, Mapping) or "rule" in given:
        return _rule(given)
    check_keys(given, MEASURES, "threshold")
    return {measure: _rule(one) for measure, one in given.items()}


def _rule(given: Any) -> Any:
    if not isinstance(given, Mapping):
        return check_name(given, [*RULES, OWN], "threshold rule")
    rest = {key: value for key, value in given.items() if key != "rule"}
    rule = RULES[check_name(given.get("rule"), RULES, "threshold rule")]()
    check_keys(rest, rule.get_params(), type(rule).__name__)
    return rule.set_params(**rest)


def _table(given: Any, what: str) -> Table:
    if not isinstance(given, Mapping):
        raise PlanError(f"{what} must be a table of settings, got {given!r}")
    return given


@dataclass(frozen=True, eq=False)
class Job:
    """One run to be made: a method on a split of a data set, judged by all measures of the plan.

    Attributes
    ----------
    data, split, method, measures, conventions
        What to do.
    seed : int
        From the names of plan seed, data, split and method.
    run : str
        A hash of all that decides the result.
    """

    data: Data
    split: Split
    method: Method | Procedure
    measures: tuple[str, ...]
    conventions: Conventions
    seed: int
    run: str

    def __str__(self) -> str:
        return f"{self.method.name} on {self.data.name}, split {self.split.number}"


@dataclass(frozen=True, eq=False)
class Plan:
    """Which methods on which data, split how, judged by what.

    Parameters
    ----------
    datasets : sequence
        Names of :func:`limo.datasets.catalogue`, paths, :class:`limo.Dataset` or :class:`Data`.
    methods : sequence
        Names of ``limo.experiment.METHODS``, :class:`Method` or :class:`Procedure`.
    measures : sequence of str, optional
        Of ``limo.MEASURES``; by default all eleven.
    splits : Splits, optional
        How data are split that say nothing else; by default ten stratified splits 70/30.
    repetitions : int, default=1
        How often all splits are made: others are drawn, folds are dealt anew, stored
        permutations come again with other seeds. Split numbers go on.
    seed : int, default=0
        Decides splits and seeds, together with the names.
    conventions : str or Conventions, default="standard"
        What the measures do at ties and in rows without pairs.

    Examples
    --------
    >>> import limo
    >>> from limo.experiment import Plan, Splits
    >>> plan = Plan(["figure1"], ["limo", "mlknn"], splits=Splits(number=3))
    >>> plan
    Plan(1 data set, 2 methods, 11 measures)
    >>> [str(job) for job in plan.jobs()][:3]
    ['limo on figure1, split 0', 'mlknn on figure1, split 0', 'limo on figure1, split 1']
    >>> Plan(["figure1"], ["lino"])
    Traceback (most recent call last):
        ...
    limo.experiment.PlanError: no method is called 'lino'. Did you mean 'limo'? ...
    """

    datasets: Sequence[Any]
    methods: Sequence[Any]
    measures: Sequence[str] = tuple(MEASURES)
    splits: Splits = field(default_factory=Splits)
    repetitions: int = 1
    seed: int = 0
    conventions: str | Conventions = "standard"

    def __post_init__(self) -> None:
        for name in ("datasets", "methods", "measures"):
            given = getattr(self, name)
            if isinstance(given, str) or not isinstance(given, Iterable) or not list(given):
                raise PlanError(f"{name} of a plan must be a list of at least one, got {given!r}")
        for name, least in (("repetitions", 1), ("seed", 0)):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise PlanError(f"{name} must be a whole number from {least} up, got {value!r}")
        settle = object.__setattr__
        settle(self, "datasets", tuple(Data.of(given) for given in self.datasets))
        settle(self, "methods", tuple(_method_or_procedure(given) for given in self.methods))
        settle(self, "measures", tuple(check_name(m, MEASURES, "measure") for m in self.measures))
        settle(self, "conventions", check_conventions(self.conventions))
        _must_differ("data set", [data.name for data in self.datasets])
        _must_differ("method", [method.name for method in self.methods])
        _must_differ("measure", list(self.measures))

    @classmethod
    def from_file(cls, path: str | Path) -> "Plan":
        """Read a plan from a TOML file; ``docs/experiments.md`` lists its settings.

        Parameters
        ----------
        path : path
            The file. Paths in it are taken from its folder.

        Returns
        -------
        Plan
        """
        with naming(Path(path)):
            return cls(**read_plan(Path(path)))

    def jobs(self) -> list[Job]:
        """Every run of the plan: data set by data set, split by split, method by method."""
        found = []
        methods = [(method, content_hash(method.describe())) for method in self.methods]
        for data in self.datasets:
            splits = (data.splits or self.splits).resolved(data.name)
            content = data.fingerprint()
            assert splits.number is not None
            for number in range(splits.number * self.repetitions):
                split = Split.of(splits, data.name, number, self.seed)
                decided = content_hash(content, split.identity(), self.measures, self.conventions)
                found += [self._job(data, split, method, decided + how) for method, how in methods]
        return found

    def _job(self, data: Data, split: Split, method: Method | Procedure, decided: str) -> Job:
        assert isinstance(self.conventions, Conventions)
        seed = seed_from(self.seed, data.name, split.number, method.name)
        run = content_hash(decided, seed)
        return Job(data, split, method, tuple(self.measures), self.conventions, seed, run)

    def __repr__(self) -> str:
        counts = (("data set", self.datasets), ("method", self.methods), ("measure", self.measures))
        parts = [f"{len(items)} {noun}{'s' * (len(items) != 1)}" for noun, items in counts]
        return f"Plan({', '.join(parts)})"


def _method_or_procedure(given: Any) -> Method | Procedure:
    if isinstance(given, Method | Procedure):
        return given
    if isinstance(given, str):
        return named_method(given)
    raise PlanError(f"a method is a name or Method('its name', estimator), got {given!r}")


def _must_differ(what: str, names: list[str]) -> None:
    for name, times in Counter(names).items():
        if times > 1:
            raise PlanError(f"each {what} needs a name of its own, but {times} are {name!r}")
