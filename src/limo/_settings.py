"""Checks of settings: names, numbers, flags, functions, how many threads, seeds."""

import math
import reprlib
from collections.abc import Container, Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np

from limo._text import did_you_mean


def check_name(name: Any, known: Iterable[str], what: str) -> str:
    """Return the known name; otherwise raise an error that suggests the nearest one.

    Registries with a method ``canonical`` accept other spellings, too.
    """
    if not isinstance(known, Container):
        known = list(known)
    if isinstance(name, str) and name in known:
        return known.canonical(name) if hasattr(known, "canonical") else name
    hint = did_you_mean(name, [*known, *getattr(known, "further", ())])
    raise ValueError(f"Unknown {what} {name!r}.{hint} Choose from: {', '.join(known)}.")


def check_number(
    value: Any,
    name: str,
    *,
    above: float | None = None,
    least: float = -math.inf,
    most: float = math.inf,
    integer: bool = False,
) -> Any:
    """Return the value if it is a finite number within its bounds; otherwise raise an error."""
    kind: Any = Integral if integer else Real
    if isinstance(value, kind) and not isinstance(value, bool) and math.isfinite(value):
        low = value >= least if above is None else value > above
        if low and value <= most:
            return value
    what = "an integer" if integer else "a number"
    raise ValueError(f"{name} must be {what}{_range(above, least, most)}, got {value!r}.")


def generator(seed: Any) -> np.random.Generator:
    """Random numbers from a seed: a whole number of at least 0, a generator, or None."""
    if seed is not None and not isinstance(seed, np.random.Generator):
        check_number(seed, "seed", least=0, integer=True)
    return np.random.default_rng(seed)


def check_n_jobs(n_jobs: Any) -> int | None:
    """Return a number of threads, as joblib counts them: None, 1, 2, ... or -1 for all cores."""
    if n_jobs is None:
        return None
    if check_number(n_jobs, "n_jobs", least=-(2**15), most=2**15, integer=True) == 0:
        raise ValueError("n_jobs must be None, a positive number, or -1 for all cores, got 0.")
    return int(n_jobs)


def check_flag(value: Any, name: str) -> bool:
    """Whether a setting is on: True or False, or 1 or 0.

    >>> check_flag("no", "average")
    Traceback (most recent call last):
        ...
    ValueError: average must be True or False, got 'no'.
    """
    if isinstance(value, bool | np.bool_ | int) and value in (0, 1):
        return bool(value)
    raise ValueError(f"{name} must be True or False, got {reprlib.repr(value)}.")


def check_callback(callback: Any) -> None:
    """Raise unless this is None, or something that can be called.

    >>> check_callback("print")
    Traceback (most recent call last):
        ...
    ValueError: callback must be a function or None, got 'print'.
    """
    if callback is not None and not callable(callback):
        raise ValueError(f"callback must be a function or None, got {reprlib.repr(callback)}.")


def _range(above: float | None, least: float, most: float) -> str:
    if above is not None:
        return f" above {above:g}"
    if math.isinf(least):
        return ""
    return f" from {least:g} up" if math.isinf(most) else f" from {least:g} to {most:g}"
