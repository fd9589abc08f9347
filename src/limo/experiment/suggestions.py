"""The nearest known name to one that is not known."""

import difflib
import inspect
from collections.abc import Iterable, Mapping
from typing import Any

from limo.experiment.errors import PlanError

__all__ = ["check_keys", "did_you_mean", "parameters_of"]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Say which known name is nearest, or nothing if none is near."""
    near = difflib.get_close_matches(name, list(known), n=1)
    return f" Did you mean {near[0]!r}?" if near else ""


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
