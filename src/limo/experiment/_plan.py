"""A plan: which methods are compared on which data, with which splits and measures.

Also procedures (functions in place of a method), jobs (single runs of a plan) and plan files.
"""

import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from limo._settings import check_name, check_number
from limo._text import counted
from limo.datasets import Dataset
from limo.experiment._data import Data, Split, Splits
from limo.experiment._identity import (
    PlanError,
    absolute,
    as_plan_error,
    check_estimator_class,
    check_keys,
    check_named,
    content_hash,
    describe,
    file_digest,
    import_object,
    parameters_of,
    seed_from,
)
from limo.experiment._judge import Score, failures
from limo.experiment._method import BOOMER, METHODS, Method, boomer
from limo.measures._compute import check_conventions
from limo.measures._conventions import Conventions
from limo.measures._measure import Measure
from limo.measures._table import MEASURES, added_measures, register
from limo.thresholds import RULES
from limo.thresholds._fit import OWN

# The arguments of every procedure, before its settings.
_GIVEN = ("data", "train", "test", "seed")


@dataclass(frozen=True, eq=False)
class Procedure:
    """A named function that trains, predicts and evaluates itself.

    Use it where :class:`Method` is too narrow, as for a paper's own way of scaling. It must not
    learn anything from the test instances; limo cannot check this.

    Parameters
    ----------
    name : str
        Its name in the results.
    function : callable or str
        ``function(data, train, test, seed, **settings)``, or its import path. It takes a
        ``Dataset`` and the indices of training and test instances, and yields
        (measure, value) or (measure, value, threshold) for each measure.
    settings : mapping of str to object, default={}
        Passed to the function.

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
        check_named(self.name, self.settings, "procedure")
        function = self._function()
        if not callable(function):
            raise PlanError(f"procedure {self.name!r} needs a function, got {function!r}")
        check_keys(self.settings, parameters_of(function, _GIVEN), f"procedure {self.name!r}")
        object.__setattr__(self, "settings", MappingProxyType(dict(self.settings)))

    def scores(
        self, data: Dataset, train: Any, test: Any, measures: Sequence[str], seed: int
    ) -> list[Score]:
        """Call the function; a measure without a value has failed."""
        values = self._function()(data, train, test, seed, **self.settings)
        by_name = {score.measure: score for score in map(_score, values)}
        absent = [name for name in measures if name not in by_name]
        missing = failures(absent, f"procedure {self.name!r} returned no value for this measure")
        return [by_name[name] for name in measures if name in by_name] + missing

    def describe(self) -> dict[str, Any]:
        """Everything that determines the results, as plain JSON."""
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


def _score(given: Any) -> Score:
    if isinstance(given, Score):
        return given
    measure, value, *threshold = given
    return Score(measure, float(value), *threshold)


@dataclass(frozen=True, eq=False)
class Job:
    """One run of a plan: a method on one split of a data set, evaluated by all measures.

    Attributes
    ----------
    data, split, method, measures, conventions
        What to run.
    seed : int
        Made from the plan's seed, the data set's name, the split's number and the method's name.
    run : str
        A hash of everything that determines the result.
    content : str
        The fingerprint of the data.
    """

    data: Data
    split: Split
    method: Method | Procedure
    measures: tuple[str, ...]
    conventions: Conventions
    seed: int
    run: str
    content: str

    def __str__(self) -> str:
        return f"{self.method.name} on {self.data.name}, split {self.split.number}"

    def __getstate__(self) -> dict[str, Any]:
        # other processes do not know the measures that this one registered
        return {**self.__dict__, "added": added_measures(self.measures)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for measure in state.pop("added"):
            if measure.name not in MEASURES:
                register(measure)
        self.__dict__.update(state)


@dataclass(frozen=True, eq=False)
class Plan:
    """Which methods are compared on which data, with which splits and measures.

    Parameters
    ----------
    datasets : sequence
        Names of :func:`limo.datasets.catalogue`, paths, :class:`limo.Dataset` or :class:`Data`.
    methods : sequence
        Names of ``limo.experiment.METHODS``, :class:`Method` or :class:`Procedure`.
    measures : sequence of str, optional
        Of ``limo.MEASURES``; by default all of them.
    splits : Splits, optional
        How to split data sets that do not define their own splits; by default ten stratified
        splits, 70 % for training and 30 % for testing.
    repetitions : int, default=1
        How often the splits are repeated. Each repetition draws new splits or folds; stored
        permutations are used again with other seeds. Split numbers continue.
    seed : int, default=0
        Determines splits and seeds, together with the names.
    conventions : str or Conventions, default="standard"
        What the measures do with ties and where they are undefined.

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
    limo.experiment.PlanError: Unknown method 'lino'. Did you mean 'limo'? ...
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
            given = given.tolist() if isinstance(given, np.ndarray) else given
            if isinstance(given, str) or not isinstance(given, Iterable) or not list(given):
                raise PlanError(f"{name} of a plan must be a list of at least one, got {given!r}")
        datasets = tuple(Data.of(given) for given in self.datasets)
        with as_plan_error():
            checked = {
                "datasets": datasets,
                "methods": tuple(_method_or_procedure(given) for given in self.methods),
                "measures": tuple(map(_measure_name, self.measures)),
                "repetitions": int(
                    check_number(self.repetitions, "repetitions", least=1, integer=True)
                ),
                "seed": int(check_number(self.seed, "seed", least=0, integer=True)),
                "conventions": check_conventions(self.conventions),
            }
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        _must_differ("data set", [data.name for data in self.datasets])
        _must_differ("method", [method.name for method in self.methods])
        _must_differ("measure", list(self.measures))

    @classmethod
    def from_file(cls, path: str | Path, *, allow_code: bool = False) -> "Plan":
        """Read a plan from a TOML file; ``docs/experiments.md`` lists its settings.

        Parameters
        ----------
        path : path
            The file. Relative paths in it start from its folder.
        allow_code : bool, default=False
            Whether the plan may name code of any kind, such as ``file.py:Class``. By default it
            may only name classes of installed packages that have scikit-learn's interface.

        Returns
        -------
        Plan
        """
        with as_plan_error(f"{path}: "):
            return cls(**read_plan(Path(path), allow_code))

    def jobs(self) -> list[Job]:
        """The runs of the plan, ordered by data set, then split, then method."""
        jobs = []
        methods = [(method, content_hash(method.describe())) for method in self.methods]
        for data in self.datasets:
            splits = (data.splits or self.splits).resolved(data.name)
            content = data.fingerprint()
            assert splits.number is not None
            for number in range(splits.number * self.repetitions):
                split = Split.of(splits, data.name, number, self.seed)
                task = content_hash(content, split.identity(), self.measures, self.conventions)
                for method, digest in methods:
                    assert isinstance(self.conventions, Conventions)
                    seed = seed_from(self.seed, data.name, number, method.name)
                    run = content_hash(task + digest, seed)
                    setting = (data, split, method, tuple(self.measures), self.conventions)
                    jobs.append(Job(*setting, seed, run, content))
        return jobs

    def __repr__(self) -> str:
        parts = {"data set": self.datasets, "method": self.methods, "measure": self.measures}
        return f"Plan({', '.join(counted(len(part), noun) for noun, part in parts.items())})"


def _method_or_procedure(given: Any) -> Method | Procedure:
    if isinstance(given, Method | Procedure):
        return given
    if isinstance(given, str):
        return _named_method(given)
    raise PlanError(f"a method is a name or Method('its name', estimator), got {given!r}")


def _named_method(name: str) -> Method:
    if name == BOOMER:
        return boomer()
    try:
        return METHODS[check_name(name, [*METHODS, BOOMER], "method")]
    except ValueError as error:
        raise PlanError(
            f"{error} To use your own estimator, write Method('its name', estimator), or in "
            "a plan file {name = 'its name', estimator = 'file.py:Class'}"
        ) from None


def _must_differ(what: str, names: list[str]) -> None:
    for name, times in Counter(names).items():
        if times > 1:
            raise PlanError(f"each {what} needs its own name, but {times} are called {name!r}")


def _measure_name(given: Any) -> str:
    if isinstance(given, Measure) or callable(given):
        raise PlanError(
            "results are stored by the names of measures: register your own first, with "
            "limo.measures.register(limo.measures.make_measure(function)), and name it here"
        )
    return check_name(given, MEASURES, "measure")


# Plan files, in TOML. Unknown settings are rejected, with a suggestion.

Settings = Mapping[str, Any]


class _Origin(NamedTuple):
    """The folder of a plan file, and whether the plan may name code of any kind."""

    folder: Path
    allow_code: bool

    def import_path(self, given: str) -> str:
        """The import path, with a relative file taken from the folder; checked before any call."""
        path = absolute(given, self.folder)
        if not self.allow_code:
            check_estimator_class(path)
        return path


def read_plan(path: Path, allow_code: bool) -> dict[str, Any]:
    """Read a file as the arguments of a plan."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise PlanError(f"a plan is a TOML file, but {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PlanError(f"a plan is a TOML file, but {error}") from error
    return _plan(table, _Origin(path.resolve().parent, allow_code))


def _plan(table: Settings, origin: _Origin) -> dict[str, Any]:
    _check_fields(table, Plan, "a plan")
    for key in ("datasets", "methods"):
        if not isinstance(table.get(key), list):
            raise PlanError(f"a plan needs {key}, a list, got {table.get(key)!r}")
    arguments = dict(table)
    arguments["datasets"] = [_data(given, origin.folder) for given in table["datasets"]]
    arguments["methods"] = [_method(given, origin) for given in table["methods"]]
    if "splits" in table:
        arguments["splits"] = _splits(table["splits"], origin.folder)
    return arguments


def _data(given: Any, folder: Path) -> Data:
    table = {"source": given} if isinstance(given, str) else _table(given, "a data set")
    _check_fields(table, Data, "a data set")
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
    _check_fields(table, Splits, "splits")
    if isinstance(table.get("permutations"), str):
        table["permutations"] = folder / table["permutations"]
    return Splits(**table)


def _method(given: Any, origin: _Origin) -> Method:
    if isinstance(given, str):
        return _named_method(given)
    table = dict(_table(given, "a method"))
    _check_fields(table, Method, "a method")
    name = table.get("name")
    if not isinstance(name, str):
        raise PlanError(f"a method needs a name, got {name!r}")
    if "settings" in table:
        table["settings"] = _settings(table["settings"], origin)
    if "threshold" in table:
        table["threshold"] = _threshold(table["threshold"])
    estimator = table.pop("estimator", name)
    if not isinstance(estimator, str):
        raise PlanError(f"estimator of method {name!r} must be an import path, got {estimator!r}")
    if ":" in estimator and estimator not in METHODS:
        return Method(estimator=origin.import_path(estimator), **table)
    return replace(_named_method(estimator), **table)


def _settings(given: Any, origin: _Origin) -> dict[str, Any]:
    """Settings, in which ``{import = "module:Class", ...}`` makes an object from the other keys."""
    return {key: _setting(value, origin) for key, value in _table(given, "settings").items()}


def _setting(value: Any, origin: _Origin) -> Any:
    if not isinstance(value, Mapping) or "import" not in value:
        return value
    path = origin.import_path(value["import"])
    rest = _settings({key: item for key, item in value.items() if key != "import"}, origin)
    try:
        return import_object(path)(**rest)
    except TypeError as error:
        raise PlanError(f"{path} cannot be created: {error}") from error


def _threshold(given: Any) -> Any:
    """The name of a rule, a rule with settings, or one of these for each measure."""
    if not isinstance(given, Mapping) or "rule" in given:
        return _rule(given)
    check_keys(given, MEASURES, "threshold")
    return {MEASURES.canonical(measure): _rule(one) for measure, one in given.items()}


def _rule(given: Any) -> Any:
    if not isinstance(given, Mapping):
        return check_name(given, [*RULES, OWN], "threshold rule")
    rest = {key: value for key, value in given.items() if key != "rule"}
    rule = RULES[check_name(given.get("rule"), RULES, "threshold rule")]()
    check_keys(rest, rule.get_params(), type(rule).__name__)
    return rule.set_params(**rest)


def _check_fields(table: Settings, record: Any, what: str) -> None:
    check_keys(table, [field.name for field in fields(record)], what)


def _table(given: Any, what: str) -> Settings:
    if not isinstance(given, Mapping):
        raise PlanError(f"{what} must be a table of settings, got {given!r}")
    return given
