"""What a run is, as text: the same text gives the same hash and the same seed, on any machine."""

import hashlib
import importlib
import importlib.util
import inspect
import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from os import PathLike, fspath
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import joblib
import numpy as np
from scipy import sparse

from limo._text import did_you_mean

__all__ = [
    "Interrupted",
    "PlanError",
    "StoreError",
    "absolute",
    "check_keys",
    "content_hash",
    "describe",
    "file_digest",
    "import_object",
    "parameters_of",
    "seed_from",
]


def content_hash(*parts: Any) -> str:
    """Sixteen hexadecimal digits that stand for the parts, whatever they are."""
    text = json.dumps([describe(part) for part in parts], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def seed_from(*names: str | int) -> int:
    """A seed, from 0 to 2**31 - 1, that depends on these names and on nothing else."""
    text = json.dumps(names)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") >> 1


def describe(value: Any) -> Any:
    """Anything a setting can be, as plain JSON; equal settings give equal descriptions."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, np.generic):
        return describe(value.item())
    if isinstance(value, float):
        return {"float": repr(value)}
    if isinstance(value, Mapping):
        return {"mapping": sorted([str(key), describe(item)] for key, item in value.items())}
    if isinstance(value, list | tuple):
        return [describe(item) for item in value]
    if isinstance(value, PathLike):
        return fspath(value)
    if isinstance(value, type | FunctionType):
        return _code(value)
    return _object(value)


def _object(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return {"array": _digest(value), "shape": list(value.shape), "dtype": value.dtype.str}
    if sparse.issparse(value):
        csr = sparse.csr_array(value)
        return {"csr": [describe(part) for part in (csr.data, csr.indices, csr.indptr)]}
    if hasattr(value, "get_params") and not isinstance(value, type):
        return {"class": _code(type(value)), "settings": describe(value.get_params(deep=False))}
    if is_dataclass(value) and not isinstance(value, type):
        own = {field.name: getattr(value, field.name) for field in fields(value)}
        return {"class": _code(type(value)), "settings": describe(own)}
    return {"class": _code(type(value)), "hash": joblib.hash(value)}


def _digest(array: Any) -> str:
    return hashlib.sha256(np.ascontiguousarray(array).data).hexdigest()


def _code(value: Any) -> str:
    """The import path; with the source where no path leads to it, as in a script or notebook."""
    path = f"{value.__module__}:{value.__qualname__}"
    if value.__module__ != "__main__" and "<" not in value.__qualname__:
        return path
    try:
        # since Python 3.13 text that was executed passes for the text of "python -c"
        text = "" if inspect.getfile(value) == "<string>" else inspect.getsource(value)
    except (OSError, TypeError):
        text = ""
    return f"{path}\n{text}" if text else path


# What can be wrong with a plan or a store.


class PlanError(ValueError):
    """A plan that cannot be carried out as it stands: what was expected, what came."""

    __module__ = "limo.experiment"  # the name that users see and import


class StoreError(RuntimeError):
    """A store of results that is damaged, or none at all. Nothing was changed."""

    __module__ = "limo.experiment"  # the name that users see and import


class Interrupted(KeyboardInterrupt):
    """Stopped by the user; says what is kept and how to go on."""

    __module__ = "limo.experiment"  # the name that users see and import


def parameters_of(function: Any, given: Iterable[str] = ()) -> list[str] | None:
    """The names a function can be called with, but those given; None if it takes any."""
    parameters = inspect.signature(function).parameters
    if any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters.values()):
        return None
    return [name for name in parameters if name not in given]


def check_keys(table: Mapping[str, Any], known: Iterable[str] | None, where: str) -> None:
    """Refuse a key that nobody reads; with None, none is refused."""
    known = list(table if known is None else known)
    for key in table:
        if key not in known:
            raise PlanError(
                f"{where} has no setting {key!r}.{did_you_mean(key, known)} "
                f"Known are: {', '.join(known)}"
            )


# Import paths, ``package.module:Class`` or ``file.py:Class``: how a plan names an estimator.


def import_object(path: str) -> Any:
    """Import what the path names.

    Examples
    --------
    >>> import_object("sklearn.multiclass:OneVsRestClassifier").__name__
    'OneVsRestClassifier'
    """
    place, name = _parts(path)
    module = _from_file(Path(place), path) if place.endswith(".py") else _from_name(place, path)
    if not hasattr(module, name):
        public = [known for known in vars(module) if not known.startswith("_")]
        raise PlanError(f"{place} has no {name!r}, named by {path!r}.{did_you_mean(name, public)}")
    return getattr(module, name)


def absolute(path: str, folder: Path) -> str:
    """The same path with a file taken from ``folder`` if it is a relative one."""
    place, name = _parts(path)
    return f"{(folder / place).resolve()}:{name}" if place.endswith(".py") else path


def file_digest(path: str) -> str:
    """The sha256 of the file an import path names, so that an edit makes a new run; '' if none."""
    place, _ = _parts(path)
    return hashlib.sha256(Path(place).read_bytes()).hexdigest() if place.endswith(".py") else ""


def _parts(path: str) -> tuple[str, str]:
    place, colon, name = path.rpartition(":")
    if not (place and colon and name.isidentifier()):
        raise PlanError(
            f"expected an import path like 'package.module:Class' or 'file.py:Class', got {path!r}"
        )
    return place, name


def _from_name(module: str, path: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise PlanError(f"{path!r} cannot be imported: {error}") from error
        raise PlanError(
            f"no module is called {error.name!r}, named by {path!r}. "
            f"A file is named with its ending: '{module.rpartition('.')[2]}.py:Class'"
        ) from None
    except Exception as error:
        raise PlanError(f"{path!r} cannot be imported: {_said(error)}") from error


def _from_file(file: Path, path: str) -> ModuleType:
    """A module of the file's content: an edited file is another module."""
    if not file.is_file():
        raise PlanError(f"there is no file {str(file)!r}, named by {path!r}")
    digest = hashlib.sha256(str(file.resolve()).encode() + file.read_bytes()).hexdigest()[:12]
    name = f"limo_plan_{file.stem}_{digest}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise PlanError(f"{path!r} cannot be imported: {_said(error)}") from error
    return module


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
