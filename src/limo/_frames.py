"""Data frames: their values, and the names of their rows and columns, which must agree.

Rows and columns are compared by position everywhere in limo. Two frames that name the same rows in
another order would silently be compared wrongly, so they are an error that says how to fix it.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from limo._scores import readable, scores_from

Names = tuple[str, ...] | None


class Frame:
    """An input, with the names of its columns and rows if it is a data frame or a series.

    Frames of polars and tables of pyarrow name their columns only. Names may be the default
    numbers 0, 1, 2, ...: two frames with default names agree, and a shuffled frame does not agree
    with a default one.
    """

    def __init__(self, name: str, value: Any) -> None:
        self.name = name
        value = scores_from(value) if name == "y_score" else readable(value)
        self.values = value
        self.columns: list[Any] | None = None
        self.index: list[Any] | None = None
        if hasattr(value, "column_names") and hasattr(value, "to_pandas"):
            self.values, self.columns = value.to_pandas().to_numpy(), list(value.column_names)
        elif hasattr(value, "to_numpy"):
            self.values = value.to_numpy()
            self.columns = _names(getattr(value, "columns", None))
            self.index = _names(getattr(value, "index", None))

    @property
    def label_names(self) -> Names:
        """The names of the columns; None for default numbers and other types."""
        if self.columns is None or _is_default(self.columns):
            return None
        return tuple(map(str, self.columns))

    def must_match(self, other: "Frame") -> None:
        """Reject columns or rows with the same names in another order, or with other names."""
        self._must_match("columns", self.columns, other.columns, other.name)
        self.must_match_rows(other)

    def must_match_rows(self, other: "Frame") -> None:
        """Reject rows with the same names in another order."""
        self._must_match("rows", self.index, other.index, other.name)

    def _must_match(
        self, kind: str, ours: list[Any] | None, theirs: list[Any] | None, other: str
    ) -> None:
        if ours is None or theirs is None or ours == theirs:
            return
        expected = f"expected {_shorten(ours)}, got {_shorten(theirs)}"
        by_position = f"pass {other}.to_numpy()"
        if sorted(map(str, ours)) == sorted(map(str, theirs)):
            own = f"{self.name}.{'columns' if kind == 'columns' else 'index'}"
            reorder = f"[{own}]" if kind == "columns" else f".loc[{own}]"
            raise ValueError(
                f"The {kind} of {other} are those of {self.name} in another order: {expected}. "
                f"Reorder them with {other}{reorder}, or {by_position} if the {kind} are already "
                "in the right order."
            )
        if kind == "columns" and not (_is_default(ours) or _is_default(theirs)):
            raise ValueError(
                f"The columns of {other} must be those of {self.name}: {expected}. Rename them, or "
                f"{by_position} if they are the same labels in the same order."
            )


def column_names(y: Any) -> Names:
    """The names of the columns of a data frame; None for default numbers and other types."""
    return Frame("y", y).label_names


def first_names(frames: Iterable[Frame]) -> Names:
    """The names of the first data frame that has any."""
    return next((frame.label_names for frame in frames if frame.label_names is not None), None)


def _names(names: Any) -> list[Any] | None:
    return None if names is None else list(names)


def _is_default(names: Sequence[Any]) -> bool:
    """Whether these are the numbers 0, 1, 2, ... of a frame whose names were not given."""
    return names == list(range(len(names)))


def _shorten(names: Sequence[Any], most: int = 4) -> str:
    shown = ", ".join(repr(name) for name in names[:most])
    return f"[{shown}{', ...' if len(names) > most else ''}]"
