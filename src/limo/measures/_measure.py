"""The record of a measure, the average of its rows, and its skill against blind guessing.

A :class:`Measure` is one record: its formula and everything limo says about it. The records of the
eleven built-in measures are in ``_table``.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from limo._settings import check_name
from limo._system import Later
from limo._types import Booleans, Values, check_kind
from limo._views import THRESHOLDS, Items, Pattern, ThresholdKind, View
from limo.measures._conventions import Conventions

if TYPE_CHECKING:
    from limo._kernels.profiles import Mean

kernels = Later("limo._kernels.profiles")  # the compiler is too slow for shell completion

EFFECTIVENESS = ("label-wise", "instance-wise", "double", "entry-wise", "absolute")
"""The kinds of effectiveness: the columns of the paper's Table 2, and two of our own."""

Text = str | Callable[[Conventions], str]
Blind = Callable[[Values, Any, Conventions], Values]


class RowFunction(Protocol):
    """One value for each row of a profile (scores) or of counts (labels); nan where undefined."""

    def __call__(self, rows: Any, conventions: Conventions, /) -> Values:
        """Compute the value of each row."""


class Optimised(Enum):
    """Whether a kind of effectiveness gives a measure its best possible value.

    Examples
    --------
    >>> import limo
    >>> limo.MEASURES["macro_auc"].optimised_by["instance-wise"]
    <Optimised.YES: ...>
    """

    YES = "yes"
    IN_THE_LIMIT = "as the number of instances grows"
    NO = "not necessarily"


@dataclass(frozen=True, eq=False, repr=False)
class Measure:
    """A measure: the function of one row, how rows are averaged, and its texts.

    Parameters
    ----------
    name : str
        The name in code. A name that begins with the average of its view (``macro_f1``,
        ``instance_f1``, ``micro_f1``) shares its row function with the others of that family.
    title : str
        The name in tables.
    function : callable
        Takes the rows and the conventions, and returns one value per row, nan where undefined. The
        rows are a ``Profile`` if the measure needs scores, and ``Counts`` if it needs labels.
    view : View
        What a row is: ``ROWS`` (instances), ``COLUMNS`` (labels) or ``ENTRIES`` (the whole matrix).
        The measure is the mean over these rows.
    needs : {"scores", "labels"}
        Whether it is computed from scores or from predicted labels.
    better : {"high", "low"}
        Which values are better.
    bounds : tuple of float, default=(0, 1)
        Lowest and highest possible value (``inf`` if that depends on the data).
    optimised_by : mapping of str to Optimised, optional
        Whether ``label-wise``, ``instance-wise``, ``double``, ``entry-wise`` and ``absolute``
        effectiveness give it its best value (the paper's Table 2). A kind that is not given is
        ``Optimised.NO``.
    bounded_by : tuple of str, default=()
        The terms of a loss (view and aggregation, as in ``"rows top"``) that bound it, the closest
        first; :func:`limo.losses.bounds` computes the bounds.
    threshold : {"label", "instance", "global"}, optional
        The kind of threshold that suits a measure of labels; by default the one that cuts its rows.
    also : View, optional
        A second view in which its rows are shown.
    meaning : str, optional
        One sentence; by default the first line of the function's docstring.
    formula : str or callable, optional
        The value of a row, in the letters of ``LETTERS``; a function if it depends on the
        conventions. By default the first line of the function's docstring.
    ties : str or callable, optional
        How ties, or 0/0, count under the conventions, in a few words.
    blind : callable, optional
        The value of each row under blind guessing, from the number of relevant items of each row,
        the number of items (one number or one per row) and the conventions. If there are several
        ways to guess, one line of values for each: the best one counts.
    fractional : bool, default=False
        Whether a measure of labels is a ratio of linear functions of the counts that improves with
        every true positive and worsens with every false positive, as F1 does. The search for
        thresholds is then faster, and can choose many thresholds together.
    per_item : bool, default=False
        Whether rows count with the number of their known items, so that the measure is a mean over
        all known entries. Makes a difference only if labels are missing.
    whole : bool, default=False
        Whether the function takes the whole matrices of true labels and of scores (or predicted
        labels) as arrays, and returns one number. :func:`limo.measures.make_measure` makes such a
        measure from any function. Its view is ``ENTRIES``, and it has no threshold.

    Examples
    --------
    >>> import limo
    >>> measure = limo.MEASURES["macro_f1"]
    >>> measure.title, measure.needs, measure.better
    ('macro-F1', 'labels', 'high')
    """

    name: str
    title: str
    function: RowFunction
    view: View
    needs: Literal["scores", "labels"]
    better: Literal["high", "low"]
    bounds: tuple[float, float] = (0.0, 1.0)
    optimised_by: Mapping[str, Optimised] = field(default_factory=dict)
    threshold: ThresholdKind | None = None
    also: View | None = None
    meaning: str = ""
    formula: Text = ""
    ties: Text = ""
    blind: Blind | None = None
    fractional: bool = False
    per_item: bool = False
    bounded_by: tuple[str, ...] = ()
    whole: bool = False

    def __post_init__(self) -> None:
        check_name(self.needs, ("scores", "labels"), "input of a measure")
        check_kind(self.optimised_by, Mapping, "optimised_by must be a mapping")
        if self.threshold is not None:
            check_name(self.threshold, THRESHOLDS, "kind of threshold")
        unknown = set(self.optimised_by) - set(EFFECTIVENESS)
        if unknown:
            raise ValueError(
                f"optimised_by of {self.name!r} must use {', '.join(EFFECTIVENESS)}: "
                f"got {', '.join(sorted(unknown))}."
            )
        ticks = {kind: self.optimised_by.get(kind, Optimised.NO) for kind in EFFECTIVENESS}
        object.__setattr__(self, "optimised_by", ticks)
        if self.needs == "labels" and self.threshold is None and not self.whole:
            object.__setattr__(self, "threshold", self.view.threshold)
        self._check_threshold()
        doc = (getattr(self.function, "__doc__", None) or "").strip().partition("\n")[0]
        object.__setattr__(self, "meaning", self.meaning or doc)
        object.__setattr__(self, "formula", self.formula or doc)

    def _check_threshold(self) -> None:
        if self.needs == "scores" and self.threshold is not None:
            raise ValueError(f"{self.name!r} judges scores, so it has no threshold.")
        if self.threshold is not None and THRESHOLDS[self.threshold] not in self.views:
            raise ValueError(
                f"The threshold of {self.name!r} must cut rows that the measure has: a threshold "
                f"per {self.threshold} needs the view {THRESHOLDS[self.threshold].name!r}."
            )

    def __repr__(self) -> str:
        return f"Measure({self.name!r}, {self.view.name}, {self.needs}, better={self.better!r})"

    def values(self, rows: Any, conventions: Conventions) -> Values:
        """The value of each row; a division by zero is nan, not a warning."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.function(rows, conventions)

    @property
    def views(self) -> tuple[View, ...]:
        """The views in which its rows are shown."""
        return (self.view,) if self.also is None else (self.view, self.also)

    def row_weights(self, view: View, Y: Pattern) -> Values | None:
        """The weight of each row of a view in the mean; None if all count once."""
        return self.weights_of(view.items(Y))

    def weights_of(self, items: Items) -> Values | None:
        """The weight of each row with these items in the mean; None if all count once."""
        if items.weights is None or not self.per_item or np.ndim(items.n_items) == 0:
            return items.weights
        weights: Values = items.weights * items.n_items
        return weights

    @property
    def sign(self) -> int:
        """1 if higher is better, -1 if lower is."""
        return 1 if self.better == "high" else -1

    @property
    def family(self) -> str:
        """The name without its average: ``f1`` for ``macro_f1``, ``micro_f1``, ..."""
        return self.name.removeprefix(f"{self.view.average}_")


@dataclass(frozen=True, eq=False)
class Result:
    """The value of a measure, the values of its rows, and which rows are undefined.

    Attributes
    ----------
    value : float
        The mean over rows; nan if every row was left out.
    best : float
        The best value any predictor could reach on these labels, under these conventions.
    rows : mapping of str to array
        By the name of the view, the value of each row; nan in rows left out.
    undefined : array of bool
        Which rows of the measure's view are undefined.
    filled_with : float or None
        What undefined rows count as; None if they are left out. Rows of weight 0 are always left
        out.
    weights : array or None
        The weight of each row in the mean, 0 if it has no known label; None if all count once.
    n_undefined, skipped : int
        How many rows are undefined, and how many were left out of the mean. Known also if the
        values of instances were not kept: ``rows`` and ``undefined`` then lack them.

    Examples
    --------
    >>> import limo
    >>> Y, S = [[1, 0, 1], [0, 1, 0]], [[0.9, 0.1, 0.4], [0.5, 0.3, 0.2]]
    >>> limo.evaluate(Y, S).results["ranking_loss"].value
    0.25
    """

    value: float
    best: float
    rows: Mapping[str, Values]
    undefined: Booleans
    filled_with: float | None
    weights: Values | None
    n_undefined: int
    skipped: int


def reduce(
    measure: Measure,
    rows: Mapping[str, Values],
    conventions: Conventions,
    weights: Mapping[str, Values | None] | None = None,
) -> Result:
    """Average the rows, leaving out or filling in those that are undefined.

    ``rows`` holds two lines for each view: the values found, and the best possible ones.
    ``weights`` holds the weights of its rows, or None.
    """
    fill = conventions.undefined.get(measure.name)
    weights = weights or dict.fromkeys(rows)
    own = weights[measure.view.name]
    undefined = undefined_rows(rows[measure.view.name][0], own)
    filled = {view: filled_rows(lines, fill, weights[view]) for view, lines in rows.items()}
    actual, best = filled[measure.view.name]
    by_view = {view: lines[0] for view, lines in filled.items()}
    mean, ideal = (average(values, own, fill) for values in (actual, best))
    counts = int(undefined.sum()), n_skipped(undefined, fill, own)
    return Result(mean, ideal, by_view, undefined, fill, own, *counts)


def undefined_rows(values: Values, weights: Values | None) -> Booleans:
    """Which rows have no value, or count nothing because they have no known label."""
    undefined: Booleans = np.isnan(values)
    return undefined if weights is None else undefined | ~(weights > 0)


def n_skipped(undefined: Booleans, fill: float | None, weights: Values | None) -> int:
    """How many rows are left out of the mean."""
    if fill is None:
        return int(undefined.sum())
    return 0 if weights is None else int((weights == 0).sum())


def filled_rows(lines: Values, fill: float | None, weights: Values | None) -> Values:
    """Values of rows; ``fill`` where they are undefined, and nan where a row counts nothing."""
    if weights is not None:
        lines = np.where(weights > 0, lines, np.nan)
    if fill is None:
        return lines
    counts = True if weights is None else weights > 0
    return np.where(np.isnan(lines) & counts, fill, lines)


def average(values: Values, weights: Values | None, fill: float | None) -> float:
    """Weighted mean of the rows; of the defined ones if undefined rows are not filled."""
    return float(kernels.Mean.of(values, weights, skip=fill is None).value)


def mean_of_defined(values: Values, weights: Values | None = None) -> float:
    """Mean of the values that are not nan; nan if all are."""
    return float(kernels.Mean.of(values, weights).value)


def skill(value: float, blind: float, best: float) -> float:
    """(value - blind) / (best - blind): 0 for blind guessing, 1 for the best possible value.

    nan if blind guessing is already perfect.
    """
    return math.nan if blind == best else (value - blind) / (best - blind)


def blind_value(measure: Measure, result: Result, items: Items, conventions: Conventions) -> float:
    """The value of blind guessing on rows with these items; nan if it is unknown."""
    how = result.undefined, result.filled_with, result.weights
    return best_of(measure, blind_means(measure, *how, items, conventions))


def blind_means(
    measure: Measure,
    undefined: Booleans,
    fill: float | None,
    weights: Values | None,
    items: Items,
    conventions: Conventions,
) -> "tuple[Mean, ...]":
    """The means of the ways to guess blindly; none if they are unknown."""
    if measure.blind is None:
        return ()
    relevant, n_items = items.ones.astype(np.float64), items.n_items
    with np.errstate(divide="ignore", invalid="ignore"):  # rows without a known label
        lines = np.atleast_2d(measure.blind(relevant, n_items, conventions))
    empty = math.nan if fill is None else fill
    return tuple(
        kernels.Mean.of(np.where(undefined, empty, values), weights, skip=fill is None)
        for values in lines
    )


def best_of(measure: Measure, means: "Sequence[Mean]") -> float:
    """The best of some means; nan if there is none."""
    values = [mean.value for mean in means]
    return max(values, key=lambda value: measure.sign * value) if values else math.nan
