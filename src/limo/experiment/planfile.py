"""Plans from TOML files: every key is read or refused."""

import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from limo._checks import check_name
from limo.experiment.data import Data, Splits
from limo.experiment.errors import PlanError
from limo.experiment.imports import absolute, import_object
from limo.experiment.method import OWN, Method
from limo.experiment.methods import METHODS
from limo.experiment.suggestions import check_keys, did_you_mean
from limo.measures.table import MEASURES
from limo.thresholds import RULES

__all__ = ["named_method", "naming", "read_plan"]

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
