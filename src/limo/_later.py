"""Libraries that take a while to load, and that most of a program's runs never need."""

import importlib
from typing import Any

__all__ = ["Later"]


class Later:
    """A module that is imported when something of it is first asked for.

    Unlike the standard library's lazy loader it leaves no unloaded module where others look for
    modules: scikit-learn would wake it, two threads could meet in it half loaded, and an
    interrupted load would leave it broken for good.

    Parameters
    ----------
    name : str
        What one would import.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, wanted: str) -> Any:
        return getattr(importlib.import_module(self._name), wanted)
