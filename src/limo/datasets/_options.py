"""What all readers share: options, limits of a file, and the error that names the line."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from numbers import Integral, Real
from typing import Any

import numpy as np

from limo._settings import check_number

# Errors, and the limits that stop hostile files.


def shorten(names: Sequence[object], most: int = 8) -> str:
    """The first few names, quoted, and how many more there are."""
    shown = ", ".join(map(repr, names[:most]))
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")


class DataError(ValueError):
    """A file that cannot be read: which one, where, what was expected and what to do.

    Attributes
    ----------
    problem : str
        The message without the file and the line.
    path : str
        The file, empty if there is none.
    line : int or None
        The line in the file, counted from 1.

    Examples
    --------
    >>> import limo
    >>> limo.datasets.load("unknown")
    Traceback (most recent call last):
    ...
    limo.datasets.DataError: ...
    """

    __module__ = "limo.datasets"  # the name that users see and import

    def __init__(self, problem: str, *, path: str = "", line: int | None = None) -> None:
        place = ", ".join([path] * bool(path) + [f"line {line}"] * (line is not None))
        super().__init__(f"{place}: {problem}" if place else problem)
        self.problem, self.path, self.line = problem, path, line

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (self.problem, self.path, self.line)


def _rebuild(problem: str, path: str, line: int | None) -> DataError:
    return DataError(problem, path=path, line=line)


@dataclass(frozen=True)
class Limits:
    """How large a file may be before reading stops; raise a limit if you trust the file.

    Attributes
    ----------
    max_bytes : int
        Bytes of the file after decompression.
    max_columns : int
        Attributes in a header, and columns of ``X`` and of ``Y``.
    max_values : int
        Stored values of ``X`` and of ``Y``.

    Examples
    --------
    >>> Limits(max_bytes=100 * 2**30).max_columns
    10000000
    """

    max_bytes: int = 8 * 2**30
    max_columns: int = 10_000_000
    max_values: int = 1_000_000_000

    @staticmethod
    def of(given: Any) -> "Limits":
        """The limits given, or the default ones for None."""
        if given is None:
            return Limits()
        if not isinstance(given, Limits):
            raise ValueError(f"limits must be a limo.datasets.Limits, got {given!r}")
        return given

    def __post_init__(self) -> None:
        for one in fields(self):
            check_number(getattr(self, one.name), one.name, least=0, integer=True)

    def check(self, name: str, value: int, what: str, path: str = "") -> None:
        """Raise if there are more than the limit ``name`` allows; ``what`` names the quantity."""
        limit = getattr(self, name)
        if value > limit:
            raise DataError(
                f"expected at most {limit:,} {what}, got {value:,}. If you trust the file, "
                f"pass limits=limo.datasets.Limits({name}={value})",
                path=path,
            )


# The options of a reader, checked when they are created.

LabelChoice = int | str | Sequence[str] | None
_CHOICES = {
    "label_location": ("end", "start"),
    "missing": ("error", "nan", "mean", "zero"),
    "nominal": ("one-hot", "codes"),
}
_OPTIONAL_FLAG = ((bool, np.bool_, type(None)), "True, False or None")
_TYPES: dict[str, tuple[Any, str]] = {
    **{name: (str, " or ".join(map(repr, choices))) for name, choices in _CHOICES.items()},
    "xml": ((str, os.PathLike, type(None)), "the name of a file"),
    "n_features": ((Integral, type(None)), "a count"),
    "zero_based": _OPTIONAL_FLAG,
    "header": _OPTIONAL_FLAG,
    "encoding": ((str, type(None)), "a name such as 'utf-8'"),
    "member": ((str, type(None)), "the name of a member"),
    "id": ((str, type(None)), "the name of a column"),
    "tags": ((str, type(None)), "the name of a column"),
    "separator": ((str, type(None)), "a text such as ';'"),
}


@dataclass(frozen=True)
class ReadOptions:
    """The options of :func:`limo.read`, which documents them."""

    labels: LabelChoice = None
    label_location: str = "end"
    xml: Any = None
    missing: str = "error"
    missing_labels: float | None = None
    nominal: str = "one-hot"
    drop: Sequence[str] = ()
    n_features: int | None = None
    zero_based: bool | None = None
    encoding: str | None = None
    header: bool | None = True
    member: str | None = None
    id: str | None = None
    tags: str | None = None
    separator: str | None = None
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        self._check_types()
        if self.tags is not None and self.labels is not None:
            raise DataError("labels= and tags= both say what the labels are; give only one of them")
        if self.separator == "" or (self.separator is not None and self.tags is None):
            raise DataError("separator= is what is between two labels in the column tags=")
        for name in ("drop", "labels"):
            object.__setattr__(self, name, _plain(getattr(self, name), name))
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                expected = " or ".join(map(repr, choices))
                raise DataError(f"{name} must be {expected}, got {getattr(self, name)!r}")
        gap: Any = self.missing_labels
        if gap is not None and (not isinstance(gap, Real) or gap in (0, 1)):
            raise DataError(f"missing_labels must be nan, or a number that is no label: {gap!r}")
        if self.n_features is not None and not 0 <= self.n_features < 2**63:
            raise DataError(f"n_features must be a count, got {self.n_features!r}")
        if isinstance(self.drop, str):
            raise DataError(f"drop must be a list of names: drop=[{self.drop!r}]")
        if isinstance(self.labels, bool) or (isinstance(self.labels, int) and self.labels < 1):
            raise DataError(
                f"labels must be a count of at least 1, a list of names, or a prefix with a star "
                f"('tag_*'); got {self.labels!r}"
            )

    def _check_types(self) -> None:
        for name, (kinds, expected) in _TYPES.items():
            if not isinstance(getattr(self, name), kinds):
                raise DataError(f"{name} must be {expected}, got {getattr(self, name)!r}")

    def is_text(self, name: str, place: int) -> bool:
        """Whether a column holds text, whatever it looks like: ids, tags, and columns to drop."""
        return name in (self.id, self.tags, *self.drop) or (place == 0 and name == "")

    def refuse_unused(self, used: frozenset[str], format: str) -> None:
        """Raise for an option that was set although the format does not use it."""
        always = {"limits", "member"}
        for option in fields(self):
            is_set = getattr(self, option.name) != getattr(_DEFAULT, option.name)
            if is_set and option.name not in used | always:
                raise DataError(
                    f"{option.name}= has no meaning for a file in the {format} format; leave it out"
                )


def _plain(given: Any, name: str) -> LabelChoice:
    """``given`` as None, an int, a str or, for any list, array or iterator of names, a tuple."""
    if isinstance(given, str) or (name == "labels" and isinstance(given, bool | None)):
        return given
    if isinstance(given, Integral) and name == "labels":
        return int(given)
    try:
        listed: tuple[Any, ...] = tuple(given)
    except TypeError:
        listed = (None,)
    if not all(isinstance(one, str | Integral) for one in listed):
        raise DataError(f"{name} must be a list of names, got {given!r}")
    return listed


_DEFAULT = ReadOptions()
