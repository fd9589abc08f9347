"""What identifies a run: content hashes, seeds, import paths, and the checks of a plan's settings.

The same settings give the same hash and the same seed, on any machine and in any process.
"""

import hashlib
import importlib
import importlib.util
import inspect
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from os import PathLike, fspath
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import joblib
import numpy as np
from scipy import sparse

from limo._text import did_you_mean


class PlanError(ValueError):
    """A plan that cannot be run: says what was expected and what was given."""

    __module__ = "limo.experiment"  # the name that users see and import


# Content hashes and seeds.


def content_hash(*parts: Any) -> str:
    """Sixteen hexadecimal digits that identify the parts by their content."""
    text = json.dumps([describe(part) for part in parts], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def seed_from(*names: str | int) -> int:
    """A seed, from 0 to 2**31 - 1, that depends only on these names."""
    text = json.dumps(names)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") >> 1


def describe(value: Any) -> Any:
    """Any setting as plain JSON; equal settings give equal descriptions.

    Not :func:`limo._text.plain`, which is for readers: here 1 and 1.0, or nan and None, must
    differ, and the descriptions of stored runs must never change.
    """
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
        settings = {field.name: getattr(value, field.name) for field in fields(value)}
        return {"class": _code(type(value)), "settings": describe(settings)}
    return {"class": _code(type(value)), "hash": joblib.hash(value)}


def _digest(array: Any) -> str:
    return hashlib.sha256(np.ascontiguousarray(array).data).hexdigest()


def _code(value: Any) -> str:
    """The import path of a class or function.

    Code that cannot be imported, as in a script or a notebook, is identified by its source.
    """
    path = f"{_public(value.__module__)}:{value.__qualname__}"
    if value.__module__ != "__main__" and "<" not in value.__qualname__:
        return path
    try:
        # since Python 3.13 text that was executed passes for the text of "python -c"
        text = "" if inspect.getfile(value) == "<string>" else inspect.getsource(value)
    except (OSError, TypeError):
        text = ""
    return f"{path}\n{text}" if text else path


def _public(module: str) -> str:
    """The public package of a module of limo, so that moving code inside it changes no hash."""
    package, *parts = module.split(".")
    if package != "limo":
        return module
    private = (k for k, part in enumerate(parts) if part.startswith("_"))
    return ".".join([package, *parts[: next(private, len(parts))]])


# Settings: unknown ones are rejected, with a suggestion.


@contextmanager
def as_plan_error(prefix: str = "") -> Iterator[None]:
    """Raise a ValueError of this block as a PlanError, with a prefix."""
    try:
        yield
    except ValueError as error:
        raise PlanError(f"{prefix}{error}") from error


def check_keys(table: Mapping[str, Any], known: Iterable[str] | None, where: str) -> None:
    """Reject a key that is not known; None allows any key."""
    known = list(table if known is None else known)
    for key in table:
        if key not in known:
            raise PlanError(
                f"{where} has no setting {key!r}.{did_you_mean(key, known)} "
                f"Choose from: {', '.join(known)}"
            )


def parameters_of(function: Any, given: Iterable[str] = ()) -> list[str] | None:
    """The parameters of a function except those ``given``; None if it takes any keyword."""
    parameters = inspect.signature(function).parameters
    if any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters.values()):
        return None
    return [name for name in parameters if name not in given]


# Import paths, ``package.module:Class`` or ``file.py:Class``: how a plan names an estimator.


def import_object(path: str) -> Any:
    """Import the object that the path names.

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
    """The same import path, with a relative file taken from ``folder``."""
    place, name = _parts(path)
    return f"{(folder / place).resolve()}:{name}" if place.endswith(".py") else path


def file_digest(path: str) -> str:
    """The sha256 of the file of an import path, so that an edit makes a new run; '' if none."""
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
            f"there is no module {error.name!r}, named by {path!r}. "
            f"A file is named with its ending: '{module.rpartition('.')[2]}.py:Class'"
        ) from None
    except Exception as error:
        raise _import_failed(path, error) from error


def _from_file(file: Path, path: str) -> ModuleType:
    """Import the file under a name made from its content: an edited file is another module."""
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
        raise _import_failed(path, error) from error
    return module


def _import_failed(path: str, error: Exception) -> PlanError:
    return PlanError(f"{path!r} cannot be imported: {type(error).__name__}: {error}")
