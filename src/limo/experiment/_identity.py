"""What identifies a run: content hashes, seeds, import paths, and the checks of a plan's settings.

The same settings give the same hash and the same seed, on any machine and in any process.
"""

import hashlib
import importlib
import importlib.util
import inspect
import json
import reprlib
import site
import sys
import sysconfig
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
    """A plan that cannot be run: says what was expected and what was given.

    Examples
    --------
    >>> from limo.experiment import Data, Plan
    >>> Plan([Data("toy", "figure1")], ["no such method"])
    Traceback (most recent call last):
    ...
    limo.experiment.PlanError: ...
    """

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


def _code(value: Any, inside: tuple[Any, ...] = ()) -> str:
    """The import path of a class or function.

    Code that cannot be imported, as in a script or a notebook, is identified by its source and by
    the values it captured, which may be the only difference between two functions. ``inside`` are
    the functions that captured this one: one that calls itself has captured itself.
    """
    path = f"{_public(value.__module__)}:{value.__qualname__}"
    importable = value.__module__ != "__main__" and "<" not in value.__qualname__
    if importable or any(value is one for one in inside):
        return path
    try:
        # since Python 3.13 text passed to exec looks like that of "python -c"
        text = "" if inspect.getfile(value) == "<string>" else inspect.getsource(value)
    except (OSError, TypeError):
        text = ""
    captured = _captured(value, (*inside, value))
    return "\n".join([part for part in (path, text, captured) if part])


def _captured(value: Any, inside: tuple[Any, ...]) -> str:
    """What a function, or the methods of a class, captured: default values and outer variables."""
    functions = [value] if isinstance(value, FunctionType) else vars(value).values()
    captured = []
    for function in functions:
        function = inspect.unwrap(getattr(function, "__func__", function))
        if isinstance(function, FunctionType):
            cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
            values = [(name, cell.cell_contents) for name, cell in cells if _is_filled(cell)]
            values += [("default", one) for one in function.__defaults__ or ()]
            values += sorted((function.__kwdefaults__ or {}).items())
            captured += [[name, _captured_value(name, one, inside)] for name, one in values]
    return json.dumps(captured) if captured else ""


def _captured_value(name: str, value: Any, inside: tuple[Any, ...]) -> Any:
    if isinstance(value, ModuleType):
        return value.__name__
    if isinstance(value, type | FunctionType):
        return _code(value, inside)
    try:
        return describe(value)
    except Exception as error:
        raise PlanError(
            f"a function of this plan uses {name!r}, a {type(value).__name__} whose content cannot "
            f"be compared between runs ({error}). Pass it as a setting, or import it"
        ) from error


def _is_filled(cell: Any) -> bool:
    """Whether a captured variable has a value; one that is assigned later has none yet."""
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


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


def check_named(name: Any, settings: Any, what: str) -> None:
    """Reject a method or procedure without a name, or with settings that have no names."""
    if not isinstance(name, str) or not name:
        raise PlanError(f"a {what} needs a name, got {reprlib.repr(name)}")
    if not isinstance(settings, Mapping):
        raise PlanError(
            f"settings of {what} {name!r} must be a dictionary, got {reprlib.repr(settings)}"
        )


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
    try:
        parameters = inspect.signature(function).parameters
    except ValueError:  # built-in types do not say what they take
        return None
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


def check_estimator_class(path: str) -> None:
    """Reject all but classes of installed packages that have scikit-learn's interface.

    A plan file is data: reading it must not call whatever it names. Nothing is imported from
    elsewhere, because importing runs code, too.
    """
    place, _ = _parts(path)
    if place.endswith(".py") or not _is_installed(place):
        raise PlanError(
            f"{path!r} is not in an installed package, so a plan may name it only if you allow it "
            "to run code. Read the plan and the code, then pass allow_code=True"
        )
    named = import_object(path)
    if not isinstance(named, type) or not hasattr(named, "get_params"):
        raise PlanError(
            f"{path!r} must be a class with scikit-learn's interface, which has get_params; got "
            f"{named!r}"
        )


def _is_installed(module: str) -> bool:
    """Whether a package is limo, or in a folder of installed packages; it is not imported.

    A package that does not exist passes: importing it explains what is wrong.
    """
    package = module.partition(".")[0]
    if package == "__main__":  # the script that runs, wherever it is
        return False
    spec = importlib.util.find_spec(package) if package else None
    if spec is None or package == "limo":
        return True
    places = [spec.origin] if spec.has_location else spec.submodule_search_locations
    folders = {sysconfig.get_path(name) for name in ("purelib", "platlib")}
    folders |= {*site.getsitepackages(), site.getusersitepackages()}
    packages = [Path(one).resolve() for one in places or () if one]
    return any(one.is_relative_to(Path(folder).resolve()) for one in packages for folder in folders)


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
    source = file.read_bytes()
    digest = hashlib.sha256(str(file.resolve()).encode() + source).hexdigest()[:12]
    name = f"limo_plan_{file.stem}_{digest}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        # not by the loader: it takes old byte code for a file edited within the same second
        exec(compile(source, str(file), "exec"), vars(module))
    except Exception as error:
        del sys.modules[name]
        raise _import_failed(path, error) from error
    return module


def _import_failed(path: str, error: Exception) -> PlanError:
    return PlanError(f"{path!r} cannot be imported: {type(error).__name__}: {error}")
