"""The one error of the data room, and the limits that stop hostile files."""

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["DataError", "Limits", "shorten"]


def shorten(names: Sequence[object], most: int = 8) -> str:
    """The first few names, quoted, and how many more there are."""
    shown = ", ".join(map(repr, names[:most]))
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")


class DataError(ValueError):
    """A file that cannot be read as it stands: which one, where, what was expected, what to do.

    Attributes
    ----------
    problem : str
        The sentence without the place.
    path : str
        The file, empty if there is none.
    line : int or None
        The line in it, counted from 1.
    """

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
    """How much a file may claim before reading stops; raise what you trust.

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

    def check(self, name: str, value: int, what: str, path: str = "") -> None:
        """Raise if ``value`` of the quantity ``what`` passes the limit ``name``."""
        limit = getattr(self, name)
        if value > limit:
            raise DataError(
                f"expected at most {limit:,} {what}, got {value:,}. If you trust the file, "
                f"pass limits=limo.datasets.Limits({name}={value})",
                path=path,
            )
