"""Collect the doctests of a class where it is defined, also if its ``__module__`` is a public name.

Public classes carry the name users import them by, so that pickles and model files survive moves
inside limo. doctest takes that name for the module that defines them.
"""

import doctest
import inspect
from typing import Any

_from_module = doctest.DocTestFinder._from_module  # type: ignore[attr-defined]


def _defined_in(finder: Any, module: Any, thing: Any) -> bool:
    """A class is defined in the file of its methods."""
    if module is not None and inspect.isclass(thing):
        files = {f.__code__.co_filename for f in vars(thing).values() if inspect.isfunction(f)}
        if files - {"<string>"}:  # methods that dataclasses write have no file
            return module.__file__ in files
    return bool(_from_module(finder, module, thing))


doctest.DocTestFinder._from_module = _defined_in  # type: ignore[attr-defined]
