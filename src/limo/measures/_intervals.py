"""Sampling errors and intervals of measures: from influence values, or from resampled instances.

The instances, or the groups they come in, are taken as a random sample. What is estimated is the
value of the measure on infinitely many instances of that kind, for the same predictor.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from limo._checks import Checked
from limo._frames import Frame
from limo._kernels.placements import resample_row
from limo._settings import check_name, check_number
from limo._system import Later
from limo._types import Integers, Values
from limo._views import COLUMNS, ROWS, Counts, Pattern
from limo.measures._compute import compute
from limo.measures._conventions import Conventions
from limo.measures._influence import bias_of, influence_values
from limo.measures._measure import Measure, Result
from limo.measures._rows import auc, average_precision

special = Later("scipy.special")  # scipy.stats takes longer, to import and to call

Method = Literal["analytic", "bootstrap"]
METHODS = ("analytic", "bootstrap")

# Resamples drawn at once: their weights are a matrix of this many lines.
_LINES = 64


@dataclass(frozen=True)
class Interval:
    """The sampling error of a measure, and an interval for its true value.

    Attributes
    ----------
    error : float
        Standard error.
    low, high : float
        Ends of the interval.
    level : float
        The share of samples whose interval contains the true value, such as 0.95.
    method : {"analytic", "bootstrap"}
        From a formula, or from resampled instances.
    """

    error: float
    low: float
    high: float
    level: float
    method: str

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def __str__(self) -> str:
        return f"{self.low:.4f} to {self.high:.4f}"


def interval_title(level: float) -> str:
    """The head of a column of intervals.

    >>> interval_title(0.95)
    '95 % interval'
    """
    return f"{100 * level:.4g} % interval"


@dataclass(frozen=True, eq=False)
class Sampling:
    """How errors are computed: level, method, groups of instances, and the random resamples."""

    level: float = 0.95
    method: Method = "analytic"
    groups: Integers | None = None
    n_resamples: int = 1000
    random_state: int = 0

    @property
    def alpha(self) -> float:
        """The share of samples whose interval may miss the true value."""
        return 1 - self.level

    def units(self, n_instances: int) -> int:
        """How many independent units there are: groups, or else instances."""
        return n_instances if self.groups is None else int(self.groups.max()) + 1

    def quantile(self, n_instances: int) -> float:
        """How many standard errors an interval reaches to each side."""
        units = self.units(n_instances)
        return float(special.stdtrit(units - 1, 1 - self.alpha / 2)) if units > 1 else math.nan

    def add_groups(self, values: Values) -> Values:
        """Sums of the values of each group; without groups the values themselves."""
        if self.groups is None:
            return values
        return np.bincount(self.groups, weights=values).astype(np.float64)

    def error(self, influence: Values) -> float:
        """The standard error of a measure with these influence values; nan for a single unit."""
        totals = self.add_groups(influence)
        if totals.size < 2:
            return math.nan
        spread = float(np.sum((totals - totals.mean()) ** 2))
        return math.sqrt(totals.size / (totals.size - 1) * spread) / influence.size


def check_sampling(
    level: Any,
    method: Any = "analytic",
    groups: Any = None,
    n_resamples: Any = 1000,
    random_state: Any = 0,
    *,
    n_instances: int,
    rows: Frame | None = None,
) -> Sampling:
    """Check how intervals are to be computed; ``True`` as level means 95 %.

    ``rows`` is the frame of the true labels; the groups must have the same rows.
    """
    level = 0.95 if level is True else level
    if not isinstance(level, float) or not 0 < level < 1:
        raise ValueError(f"intervals must be a level between 0 and 1, such as 0.95, got {level!r}.")
    check_name(method, METHODS, "method")
    check_number(n_resamples, "n_resamples", least=2, integer=True)
    check_number(random_state, "random_state", least=0, integer=True)
    codes = _codes(groups, n_instances, rows)
    return Sampling(level, method, codes, int(n_resamples), int(random_state))


def _codes(groups: Any, n_instances: int, rows: Frame | None) -> Integers | None:
    """Groups numbered from 0."""
    if groups is None:
        return None
    frame = Frame("groups", groups)
    if rows is not None:
        rows.must_match_rows(frame)
    given = np.asarray(frame.values, dtype=object)
    if given.ndim == 2 and given.shape[1] == 1:  # a frame of one column
        given = given[:, 0]
    if given.shape != (n_instances,):
        raise ValueError(
            f"groups must name the group of each instance: expected shape ({n_instances},), "
            f"got {given.shape}."
        )
    place: dict[Any, int] = {}
    for i, one in enumerate(given.tolist()):
        if one is None or one != one:
            raise ValueError(
                f"groups must name the group of each instance: that of instance {i} is missing. "
                "Give it its own group."
            )
        place.setdefault(one, len(place))
    return np.array([place[one] for one in given.tolist()], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Sample:
    """How measures vary from sample to sample.

    Attributes
    ----------
    sampling : Sampling
        How it was found.
    influence : mapping of str to array of shape (n_samples,)
        For measures with a formula, how much each instance moves the measure.
    drawn : mapping of str to array of shape (n_resamples,)
        For the other measures, their values on resampled instances.
    """

    sampling: Sampling
    influence: Mapping[str, Values]
    drawn: Mapping[str, Values]

    def interval(self, measure: Measure, value: float) -> Interval:
        """The error and interval of a measure with this value."""
        if measure.name in self.drawn:
            return _percentiles(self.drawn[measure.name], self.sampling)
        influence = self.influence[measure.name]
        error, centre = self.sampling.error(influence), value - bias_of(measure, influence)
        return analytic_interval(centre, error, measure.bounds, influence.size, self.sampling)

    def difference(self, other: "Sample", name: str, difference: float) -> tuple[Interval, float]:
        """The interval of a difference on the same instances, and its two-sided p-value."""
        if name in self.drawn:
            drawn = self.drawn[name] - other.drawn[name]
            interval = _percentiles(drawn, self.sampling)
            return interval, _p_value(difference, interval.error, math.inf)
        influence = self.influence[name] - other.influence[name]
        error, n = self.sampling.error(influence), influence.size
        level, reach = self.sampling.level, self.sampling.quantile(n) * error
        interval = Interval(error, difference - reach, difference + reach, level, "analytic")
        return interval, _p_value(difference, error, self.sampling.units(n) - 1)


def _p_value(difference: float, error: float, freedom: float) -> float:
    """The probability of a difference at least this large if there is none in truth."""
    if math.isnan(error) or math.isnan(difference):
        return math.nan
    if error == 0:
        return 1.0 if difference == 0 else 0.0
    tail = -abs(difference) / error
    below = special.ndtr(tail) if math.isinf(freedom) else special.stdtr(freedom, tail)
    return float(2 * below)


def draw_sample(
    measures: Sequence[Measure],
    checked: Checked,
    conventions: Conventions,
    results: Mapping[str, Result],
    sampling: Sampling,
) -> Sample:
    """Find how measures vary: influence values, and resampled values where there is no formula."""
    known: dict[str, Values] = {}
    if sampling.method == "analytic":
        known = influence_values(measures, checked, conventions, results)
    rest = [m for m in measures if m.name not in known]
    drawn = resample(rest, checked, conventions, results, sampling) if rest else {}
    return Sample(sampling, known, drawn)


def analytic_interval(
    value: float,
    error: float,
    bounds: tuple[float, float],
    n_instances: int,
    sampling: Sampling,
) -> Interval:
    """An interval that stays within the bounds of the measure.

    Between two bounds it is Wilson's interval for a proportion, for the number of trials that has
    this standard error. Where nothing varies at a bound, such as no error in 200 instances, that
    number is the number of instances. Otherwise it is the usual t-interval.
    """
    low, high = bounds
    reach = sampling.quantile(n_instances)
    if math.isnan(value) or math.isnan(error):
        return Interval(math.nan, math.nan, math.nan, sampling.level, "analytic")
    if not (math.isfinite(low) and math.isfinite(high)):
        ends = max(value - reach * error, low), min(value + reach * error, high)
        return Interval(error, *ends, sampling.level, "analytic")
    share, spread = (value - low) / (high - low), error / (high - low)
    share = min(max(share, 0.0), 1.0)  # rounding
    if spread == 0 and 0 < share < 1:
        return Interval(error, value, value, sampling.level, "analytic")
    trials = share * (1 - share) / spread**2 if spread > 0 else 0.0
    if share * (1 - share) == 0:
        trials = float(sampling.units(n_instances))
    z = reach**2 / trials
    middle = (share + z / 2) / (1 + z)
    half = math.sqrt(z * share * (1 - share) + z**2 / 4) / (1 + z)
    ends = low + (high - low) * (middle - half), low + (high - low) * (middle + half)
    return Interval(error, max(ends[0], low), min(ends[1], high), sampling.level, "analytic")


def _percentiles(drawn: Values, sampling: Sampling) -> Interval:
    known = drawn[~np.isnan(drawn)]
    if known.size < 2:
        return Interval(math.nan, math.nan, math.nan, sampling.level, "bootstrap")
    low, high = np.quantile(known, [sampling.alpha / 2, 1 - sampling.alpha / 2])
    error = float(known.std(ddof=1))
    return Interval(error, float(low), float(high), sampling.level, "bootstrap")


# The bootstrap


def resample(
    measures: Sequence[Measure],
    checked: Checked,
    conventions: Conventions,
    results: Mapping[str, Result],
    sampling: Sampling,
) -> dict[str, Values]:
    """The value of each measure on each of many samples of instances, drawn with replacement."""
    drawn: dict[str, list[Values]] = {m.name: [] for m in measures}
    orders: dict[str, Any] = {}
    for weights in _weights(checked.Y.shape[0], sampling):
        for measure in measures:
            values = _resampled(measure, weights, checked, conventions, results, orders)
            drawn[measure.name].append(values)
    return {name: np.concatenate(parts) for name, parts in drawn.items()}


def _weights(n_instances: int, sampling: Sampling) -> Iterator[Values]:
    """How often each instance is drawn, one line per resample."""
    rng = np.random.default_rng(sampling.random_state)
    units = sampling.units(n_instances)
    for start in range(0, sampling.n_resamples, _LINES):
        lines = min(_LINES, sampling.n_resamples - start)
        places = rng.integers(units, size=(lines, units)) + units * np.arange(lines)[:, np.newaxis]
        counts = np.bincount(places.reshape(-1), minlength=lines * units).reshape(lines, units)
        chosen = counts if sampling.groups is None else counts[:, sampling.groups]
        yield chosen.astype(np.float64)


def _resampled(
    measure: Measure,
    weights: Values,
    checked: Checked,
    conventions: Conventions,
    results: Mapping[str, Result],
    orders: dict[str, Any],
) -> Values:
    """The values of one measure, if instances are drawn as often as each line of weights says."""
    drawn = weights
    result = results[measure.name]
    fill = result.filled_with
    if measure.view is ROWS:
        own = weights if result.weights is None else weights * result.weights
        return _weighted_means(result.rows[ROWS.name], own, fill)
    if checked.Y.row_weights is not None:
        weights = weights * checked.Y.row_weights
    if measure.whole or (measure.needs == "scores" and measure.function not in _RANKED):
        return _recomputed(measure, drawn, checked, conventions)
    if measure.needs == "labels":
        rows = measure.values(_weighted_counts(measure, weights, checked), conventions)
    else:
        rows = _reordered(measure, weights, checked, conventions, orders)
    if fill is not None:
        return np.asarray(np.where(np.isnan(rows), fill, rows).mean(axis=1))
    known = ~np.isnan(rows)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(known, rows, 0.0).sum(axis=1) / known.sum(axis=1))


_RANKED = (auc, average_precision)


def _weighted_means(values: Values, weights: Values, fill: float | None) -> Values:
    known = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        means = (weights @ np.where(known, values, 0.0)) / (weights @ known)
    # filled with nan: an undefined row makes the whole mean nan
    return means if fill is None else np.where(weights @ ~known > 0, np.nan, means)


def _weighted_counts(measure: Measure, weights: Values, checked: Checked) -> Counts:
    """Confusion counts of the labels, or of the whole matrix, under each line of weights."""
    Y = checked.Y
    P = checked.labels.without(Y.unknown)
    both, true, predicted = (np.asarray((A.csr.T @ weights.T).T) for A in (Y.overlap(P), Y, P))
    n_items = np.broadcast_to(weights.sum(axis=1, keepdims=True), true.shape)
    if Y.unknown is not None:
        n_items = n_items - np.asarray((Y.unknown.csr.T @ weights.T).T)
    if measure.view is COLUMNS:
        return Counts(both, true, predicted, n_items)
    both, true, predicted, n_items = (
        A.sum(axis=1, keepdims=True) for A in (both, true, predicted, n_items)
    )
    return Counts(both, true, predicted, n_items)


def _reordered(
    measure: Measure,
    weights: Values,
    checked: Checked,
    conventions: Conventions,
    orders: dict[str, Any],
) -> Values:
    """AUC or average precision of each row; the scores are sorted once for all resamples."""
    if measure.view.name not in orders:
        orders[measure.view.name] = _orders(measure, checked)
    rows = orders[measure.view.name]
    which = _RANKED.index(measure.function)
    values = np.empty((weights.shape[0], len(rows)))
    both = np.empty((2, weights.shape[0]))
    tie, worst = conventions.auc_tie, conventions.tied_rank == "worst"
    for j, (scores, order, marks, owner) in enumerate(rows):
        resample_row(scores, order, marks, owner, weights, tie, worst, both)
        values[:, j] = both[which]
    return values


def _orders(measure: Measure, checked: Checked) -> list[tuple[Any, Integers, Any, Integers]]:
    """Scores, order of the known items, labels and instances of each row of the view."""
    S, marks = np.ascontiguousarray(checked.scores), checked.Y.csr.toarray().astype(bool)
    unknown = checked.Y.unknown
    absent = np.zeros(S.shape, bool) if unknown is None else unknown.csr.toarray().astype(bool)
    owner = np.arange(S.shape[0])
    if measure.view is COLUMNS:
        S, marks, absent = (np.ascontiguousarray(A.T) for A in (S, marks, absent))
    else:
        owner = np.repeat(owner, S.shape[1])
        S, marks, absent = (A.reshape(1, -1) for A in (S, marks, absent))
    rows = []
    for scores, relevant, missing in zip(S, marks, absent, strict=True):
        order = np.argsort(-scores)
        rows.append((scores, order[~missing[order]], relevant, owner))
    return rows


def _recomputed(
    measure: Measure, weights: Values, checked: Checked, conventions: Conventions
) -> Values:
    """The measure of each resample as such: for functions that are only known as a whole."""
    values = np.empty(weights.shape[0])
    for b, line in enumerate(weights):
        chosen = np.repeat(np.arange(line.size), line.astype(np.int64))
        part = Checked(
            _taken(checked.Y, chosen),
            None if checked.S is None else np.ascontiguousarray(checked.S[chosen]),
            None if checked.P is None else _taken(checked.P, chosen),
            checked.label_names,
        )
        values[b] = compute([measure], part, conventions).results[measure.name].value
    return values


def _taken(pattern: Pattern, rows: Integers) -> Pattern:
    taken = Pattern.from_csr(pattern.csr[rows])
    unknown, weights = pattern.unknown, pattern.row_weights
    return replace(
        taken,
        unknown=None if unknown is None else _taken(unknown, rows),
        row_weights=None if weights is None else weights[rows],
    )


# Differences


def holm(p_values: Any) -> Values:
    """P-values adjusted by Holm's method, in the given order; nan stays nan and does not count.

    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=np.float64)
    adjusted = np.full(p.size, np.nan)
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    steps = p[order] * np.arange(order.size, 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0) if order.size else steps
    return adjusted
