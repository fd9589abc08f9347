"""Import paths, ``package.module:Class`` or ``file.py:Class``: how a plan names an estimator."""

import hashlib
import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from limo.experiment.errors import PlanError
from limo.experiment.suggestions import did_you_mean

__all__ = ["absolute", "file_digest", "import_object"]


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
