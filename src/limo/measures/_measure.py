"""What a measure is, and how the values of its rows become one number."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal, Protocol

import numpy as np

from limo._types import Booleans, Values
from limo._views import View
from limo.measures._conventions import Conventions

__all__ = ["Measure", "Optimised", "Result", "RowFunction", "reduce"]


class RowFunction(Protocol):
    """One value for each row of a profile (scores) or of counts (labels); nan where undefined."""

    def __call__(self, rows: Any, conventions: Conventions, /) -> Values:
        """Compute the value of each row."""


class Optimised(Enum):
    """Whether a kind of effectiveness makes a measure as good as it can be."""

    YES = "yes"
    IN_THE_LIMIT = "as the number of instances grows"
    NO = "not necessarily"


@dataclass(frozen=True, eq=False)
class Measure:
    """One line of the registry.

    Attributes
    ----------
    name, title : str
        What code and what people call it.
    function : callable
        Gives the value of each row.
    view : View
        What a row is; the measure is the mean over the rows of this view.
    needs : {"scores", "labels"}
        What it judges.
    better : {"high", "low"}
        Which way is better.
    bounds : tuple of float
        Lowest and highest value it can take (``inf`` where that depends on the data).
    optimised_by : mapping of str to Optimised
        The paper's Table 2 and our fourth column: what ``label-wise``, ``instance-wise``,
        ``double`` and ``entry-wise`` effectiveness do for it.
    threshold : {"label", "instance", "global"} or None
        The cut that suits it; None for measures of scores.
    also : View or None
        A second view through which its rows are worth seeing.
    """

    name: str
    title: str
    function: RowFunction
    view: View
    needs: Literal["scores", "labels"]
    better: Literal["high", "low"]
    bounds: tuple[float, float]
    optimised_by: Mapping[str, Optimised]
    threshold: Literal["label", "instance", "global"] | None = None
    also: View | None = None

    @property
    def views(self) -> tuple[View, ...]:
        """The views through which its rows are shown."""
        return (self.view,) if self.also is None else (self.view, self.also)

    @property
    def sign(self) -> int:
        """1 where higher is better, -1 where lower is."""
        return 1 if self.better == "high" else -1


@dataclass(frozen=True, eq=False)
class Result:
    """A measure's value, the values of the rows behind it, and what became of undefined ones.

    Attributes
    ----------
    value : float
        The mean over rows; nan if every row was left out.
    best : float
        The best value any predictor could reach on these labels, under these conventions.
    rows : mapping of str to array
        By the name of the view, the value of each row; nan in rows left out.
    undefined : array of bool
        Which rows of the measure's own view have no value of their own.
    filled_with : float or None
        What undefined rows count as; None where they are left out.
    """

    value: float
    best: float
    rows: Mapping[str, Values]
    undefined: Booleans
    filled_with: float | None

    @property
    def skipped(self) -> int:
        """How many rows were left out of the mean."""
        return int(self.undefined.sum()) if self.filled_with is None else 0


def reduce(measure: Measure, rows: Mapping[str, Values], conventions: Conventions) -> Result:
    """Average the rows, leaving out or filling in those that are undefined.

    ``rows`` holds, by view, two lines: the values found, and the best they could be.
    """
    fill = conventions.undefined.get(measure.name)
    undefined = np.isnan(rows[measure.view.name][0])
    if fill is not None:
        rows = {view: np.where(np.isnan(lines), fill, lines) for view, lines in rows.items()}
    found, best = rows[measure.view.name]
    by_view = {view: lines[0] for view, lines in rows.items()}
    return Result(_mean(found, fill), _mean(best, fill), by_view, undefined, fill)


def _mean(values: Values, fill: float | None) -> float:
    counted = values[~np.isnan(values)] if fill is None else values
    return float(counted.mean()) if counted.size else float("nan")
