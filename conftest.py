"""What pytest collects: nothing that lacks its library, and doctests where they are written.

Public classes carry the name users import them by, so that pickles and model files survive moves
inside limo. doctest takes that name for the module that defines them.
"""

import doctest
import importlib.util
import inspect
import re
from typing import Any


def _installed(library: str) -> bool:
    return importlib.util.find_spec(library) is not None


# Code, tests and docs that need an optional library are left out where it is missing.
collect_ignore: list[str] = []
if not _installed("torch"):
    collect_ignore += ["src/limo/torch", "tests/pytorch", "docs/networks.md"]
if not (_installed("dask") and _installed("distributed")):
    collect_ignore += ["src/limo/dask", "tests/cluster", "docs/dask.md"]
if not (_installed("xgboost") and _installed("lightgbm")):
    collect_ignore += ["tests/models/test_boosting.py", "docs/boosting.md"]

if not _installed("playwright"):
    collect_ignore += ["docs/draw_pictures.py"]

_from_module = doctest.DocTestFinder._from_module  # type: ignore[attr-defined]


def _defined_in(finder: Any, module: Any, thing: Any) -> bool:
    """A class is defined in the file with its source, whatever module it says it is from."""
    if module is not None and inspect.isclass(thing):
        return re.search(rf"^class {thing.__name__}\b", inspect.getsource(module), re.M) is not None
    return bool(_from_module(finder, module, thing))


doctest.DocTestFinder._from_module = _defined_in  # type: ignore[attr-defined]
