"""Conventions: how measures treat ties and empty rows, which their definitions leave open.

Libraries give different numbers for the same measure because they choose differently. Here each
choice is a field, and a set of choices has a name.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from numbers import Real
from types import MappingProxyType
from typing import Any, Literal

Side = Literal["worst", "best"]


@dataclass(frozen=True, kw_only=True)
class Conventions:
    """How ties and rows without pairs count.

    Without arguments these are the ``"standard"`` conventions: no tie earns full credit, and
    undefined rows are left out of the mean (and counted).

    Parameters
    ----------
    ranking_loss_tie : float, default=1
        How much of an error a tied pair is in the ranking loss: 0 to 1.
    auc_tie : float, default=0.5
        How much credit a tied pair earns in the AUCs: 0 to 1.
    tied_rank : {"worst", "best"}, default="worst"
        Rank of an item among ties, for coverage and average precision: the number of items
        that score at least as high, or one more than the number that score higher.
    one_error_tie : {"worst", "best"}, default="worst"
        Whether a tie at the top is an error if any of the tied labels is irrelevant
        (``"worst"``), or only if all are (``"best"``).
    coverage_offset : float, default=-1
        Added to the rank of the last relevant label; -1 as in the paper, 0 as in scikit-learn's
        ``coverage_error``.
    f1_of_nothing : float, default=0
        F1 where nothing is true and nothing predicted; nan leaves the row out.
    full_rows_in_average_precision : bool, default=True
        Whether an instance that has every label counts, as 1. The tables printed in the paper leave
        such instances out.
    undefined : mapping of str to float, default={}
        Value of a row on which a measure is undefined, by the measure's name. Measures not
        named leave such rows out of the mean; nan makes the whole mean nan.
    name : str, default="custom"
        The name of this set in reports.

    Examples
    --------
    >>> import limo
    >>> generous = limo.Conventions(auc_tie=1.0, name="generous")
    >>> limo.macro_auc([[1], [0]], [[0.5], [0.5]], conventions=generous)
    1.0
    >>> limo.Conventions(auc_tie=2.0)
    Traceback (most recent call last):
        ...
    ValueError: auc_tie must be between 0 and 1, got 2.0.
    """

    ranking_loss_tie: float = 1.0
    auc_tie: float = 0.5
    tied_rank: Side = "worst"
    one_error_tie: Side = "worst"
    coverage_offset: float = -1.0
    f1_of_nothing: float = 0.0
    full_rows_in_average_precision: bool = True
    undefined: Mapping[str, float] = field(default_factory=dict)
    name: str = "custom"

    def __post_init__(self) -> None:
        for name in ("ranking_loss_tie", "auc_tie"):
            value = getattr(self, name)
            if not _is_share(value):
                raise ValueError(f"{name} must be between 0 and 1, got {value!r}.")
        for name in ("tied_rank", "one_error_tie"):
            value = getattr(self, name)
            if not isinstance(value, str) or value not in ("worst", "best"):
                raise ValueError(f"{name} must be 'worst' or 'best', got {value!r}.")
        nothing: Any = self.f1_of_nothing
        is_nan = isinstance(nothing, float) and math.isnan(nothing)
        if not (is_nan or _is_share(nothing)):
            raise ValueError(f"f1_of_nothing must be between 0 and 1, or be nan, got {nothing!r}.")
        offset: Any = self.coverage_offset
        if not isinstance(offset, Real):
            raise ValueError(f"coverage_offset must be a number, got {offset!r}.")
        undefined: Any = self.undefined
        if not isinstance(undefined, Mapping):
            raise ValueError(f"undefined must map names of measures to values, got {undefined!r}.")
        object.__setattr__(self, "undefined", MappingProxyType(dict(undefined)))

    def to_dict(self) -> dict[str, Any]:
        """The fields by name."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return values | {"undefined": dict(self.undefined)}

    def __reduce__(self) -> tuple[object, ...]:
        # a mapping proxy cannot be pickled, but scorers are sent to worker processes
        return _rebuild, (self.to_dict(),)


def _is_share(value: Any) -> bool:
    return isinstance(value, Real) and 0 <= float(value) <= 1


def _rebuild(choices: dict[str, Any]) -> Conventions:
    return Conventions(**choices)


_PRESETS = (
    Conventions(name="standard"),
    Conventions(name="paper", auc_tie=1.0, tied_rank="best", one_error_tie="best"),
    Conventions(
        name="sklearn",
        undefined={
            "ranking_loss": 0.0,
            "average_precision": 1.0,
            "coverage": -1.0,
            "macro_auc": math.nan,
            "instance_auc": math.nan,
            "micro_auc": math.nan,
        },
    ),
)

CONVENTIONS: Mapping[str, Conventions] = MappingProxyType({c.name: c for c in _PRESETS})
