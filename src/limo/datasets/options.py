"""What a caller may ask of a reader, checked once at the door."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from numbers import Integral
from typing import Any

from limo.datasets.errors import DataError, Limits

__all__ = ["Labels", "Options"]

Labels = int | str | Sequence[str] | None

_CHOICES = {
    "label_location": ("end", "start"),
    "missing": ("error", "nan", "mean", "zero"),
    "nominal": ("one-hot", "codes"),
}


@dataclass(frozen=True)
class Options:
    """The options of :func:`limo.read`, which documents them."""

    labels: Labels = None
    label_location: str = "end"
    xml: Any = None
    missing: str = "error"
    nominal: str = "one-hot"
    drop: Sequence[str] = ()
    n_features: int | None = None
    zero_based: bool | None = None
    encoding: str | None = None
    header: bool | None = True
    member: str | None = None
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        if not isinstance(self.drop, str):
            object.__setattr__(self, "drop", tuple(self.drop))
        object.__setattr__(self, "labels", _plain(self.labels))
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                expected = " or ".join(map(repr, choices))
                raise DataError(f"{name} must be {expected}, got {getattr(self, name)!r}")
        if self.n_features is not None and self.n_features < 0:
            raise DataError(f"n_features must be a count, got {self.n_features!r}")
        if isinstance(self.drop, str):
            raise DataError(f"drop must be a list of names: drop=[{self.drop!r}]")
        if isinstance(self.labels, bool) or (isinstance(self.labels, int) and self.labels < 1):
            raise DataError(
                f"labels must be a count of at least 1, a list of names, or a prefix with a star "
                f"('tag_*'); got {self.labels!r}"
            )

    def refuse_unused(self, used: frozenset[str], format: str) -> None:
        """Raise for an option that was set although the format has no use for it."""
        always = {"limits", "member"}
        for option in fields(self):
            is_set = getattr(self, option.name) != getattr(_DEFAULT, option.name)
            if is_set and option.name not in used | always:
                raise DataError(
                    f"{option.name}= means nothing for a file in the {format} format; leave it out"
                )


def _plain(labels: Any) -> Labels:
    """Labels as None, a whole number, a text or a tuple, whatever list or array they came in."""
    if labels is None or isinstance(labels, (str, bool)):
        return labels
    return int(labels) if isinstance(labels, Integral) else tuple(labels)


_DEFAULT = Options()
