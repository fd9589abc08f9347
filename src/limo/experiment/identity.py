"""What a run is, as text: the same text gives the same hash and the same seed, on any machine."""

import hashlib
import inspect
import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from os import PathLike, fspath
from types import FunctionType
from typing import Any

import joblib
import numpy as np
from scipy import sparse

__all__ = ["content_hash", "describe", "seed_from"]


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
