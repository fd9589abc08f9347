"""Checks of settings: names, numbers, how many threads, seeds."""

import math
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
    hint = did_you_mean(str(name), [*known, *getattr(known, "further", ())])
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


def _range(above: float | None, least: float, most: float) -> str:
    if above is not None:
        return f" above {above:g}"
    if math.isinf(least):
        return ""
    return f" from {least:g} up" if math.isinf(most) else f" from {least:g} to {most:g}"
