"""The best cuts: of each row, of many rows together, and one cut for all.

What is cut is a view (rows, columns, entries); what is judged is the view of the target's average.
If the two agree, every row has its own best cut. One cut for all rows sums up their gains.
If the whole matrix is judged, the cuts of all rows are chosen together.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from limo._checks import check_name, check_number
from limo._kernels.thresholds import mark_hull, pick_best, walk
from limo._profiles import Profile, read_profiles
from limo._system import workers
from limo._types import Anything, Integers, Values
from limo._views import AVERAGES, ENTRIES, Counts, Pattern, View
from limo.thresholds._scores import DenseScores, Ranked, Scores, through

__all__ = [
    "TARGETS",
    "Cuts",
    "Steps",
    "Target",
    "best_counts",
    "best_cuts",
    "check_target",
    "f_beta",
]


# What a threshold should make as high as possible: functions of the confusion counts.

Judge = Callable[[Values, Values, Values, Values], Anything]


@dataclass(frozen=True)
class Target:
    """A function of confusion counts that a threshold should make as high as possible.

    Parameters
    ----------
    function : callable
        Takes the arrays tp, fp, fn, tn (float, one cell per cut) and returns an array of values,
        the higher the better. A cut whose value is nan is not chosen.
    average : {"macro", "instance", "micro"}, optional
        Whose counts are judged: those of each label, of each instance (then the mean is what
        counts), or of the whole matrix. By default those the threshold cuts.
    fractional : bool, default=False
        Whether the function is a ratio of linear functions of the counts that rises with tp and
        falls with fp, as F-beta is. It then has its best cut just below a relevant item,
        which saves time, and the best cuts of many rows *together* can be found.
    name : str, optional
        What tables and errors call it.

    Examples
    --------
    >>> import limo
    >>> from limo.thresholds import Target, best_label_thresholds
    >>> as_many_as_there_are = Target(lambda tp, fp, fn, tn: -abs(fp - fn), name="cardinality")
    >>> y_true, y_score = [[1], [0], [1], [0]], [[0.75], [0.5], [0.25], [0.0]]
    >>> best_label_thresholds(y_true, y_score, as_many_as_there_are)
    array([0.375])
    """

    function: Judge
    average: str | None = None
    fractional: bool = False
    name: str = "custom"

    def __post_init__(self) -> None:
        if self.average is not None:
            check_name(self.average, AVERAGES, "average")
        if not callable(self.function):
            raise TypeError(
                f"A target needs a function of (tp, fp, fn, tn), got {self.function!r}."
            )

    def view(self, own: View) -> View:
        """Whose counts are judged, ``own`` being what the threshold cuts."""
        return own if self.average is None else AVERAGES[self.average]

    def __call__(self, tp: Values, fp: Values, true: Values, n_items: int) -> Values:
        """Judge cuts with ``tp`` of ``true`` relevant items and ``fp`` others above them."""
        counts = tp, fp, true - tp, n_items - true - fp
        try:
            with np.errstate(divide="ignore", invalid="ignore"):
                found = np.asarray(self.function(*counts), dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"The target {self.name!r} must take four arrays, tp, fp, fn, tn, and give an "
                f"array of values (numpy.where in place of if). It failed with: {error}"
            ) from error
        if found.shape != tp.shape:
            raise ValueError(
                f"The target {self.name!r} must give one value for each cut: expected shape "
                f"{tp.shape}, got {found.shape}. Write it for arrays tp, fp, fn, tn."
            )
        return found

    def __str__(self) -> str:
        return self.name if self.average is None else f"{self.average}_{self.name}"

    def __repr__(self) -> str:
        return f"Target({self})"


def f_beta(beta: float, average: str | None = None) -> Target:
    """F-beta as a target: recall weighs ``beta`` times as much as precision.

    F = (1 + b²) tp / ((1 + b²) tp + b² fn + fp), and 0 where nothing is true and nothing predicted.

    Parameters
    ----------
    beta : float
        Above 0.
    average : {"macro", "instance", "micro"}, optional
        Whose counts are judged; by default those the threshold cuts.

    Returns
    -------
    Target

    Examples
    --------
    >>> import limo
    >>> limo.LabelThreshold(limo.thresholds.f_beta(2.0))
    LabelThreshold(target=Target(f_beta(2)))
    """
    check_number(beta, "beta", above=0)
    return Target(_FBeta(float(beta)), average, fractional=True, name=f"f_beta({beta:g})")


@dataclass(frozen=True)
class _FBeta:
    """A class, not a closure: targets travel to worker processes."""

    beta: float

    def __call__(self, tp: Values, fp: Values, fn: Values, tn: Values) -> Values:
        weight = self.beta**2
        return _ratio((1 + weight) * tp, (1 + weight) * tp + weight * fn + fp)


def _jaccard(tp: Values, fp: Values, fn: Values, tn: Values) -> Values:
    """Hits among all items true or predicted; 0 where there are none."""
    return _ratio(tp, tp + fp + fn)


def _hamming(tp: Values, fp: Values, fn: Values, tn: Values) -> Values:
    """Minus the share of wrong items."""
    return -(fp + fn) / (tp + fp + fn + tn)


def _balanced_accuracy(tp: Values, fp: Values, fn: Values, tn: Values) -> Values:
    """Mean of the shares of relevant and irrelevant items judged rightly, where there are any."""
    positive, negative = tp + fn, tn + fp
    kinds = (positive > 0).astype(np.float64) + (negative > 0)
    return (_ratio(tp, positive) + _ratio(tn, negative)) / kinds


def _ratio(numerator: Values, denominator: Values) -> Values:
    values = np.zeros_like(denominator)
    np.divide(numerator, denominator, out=values, where=denominator > 0)
    return values


_BUILT_IN = (
    Target(_FBeta(1.0), fractional=True, name="f1"),
    Target(_jaccard, fractional=True, name="jaccard"),
    Target(_hamming, fractional=True, name="hamming_loss"),
    Target(_balanced_accuracy, fractional=True, name="balanced_accuracy"),
)

TARGETS: dict[str, Target] = {target.name: target for target in _BUILT_IN} | {
    str(named): named
    for target in _BUILT_IN
    for named in (replace(target, average=average) for average in AVERAGES)
}
"""All targets by name; a prefix (``macro_``, ``instance_``, ``micro_``) says whose counts."""


def check_target(target: Any) -> Target:
    """Look up a named target; wrap a function; pass a record through."""
    if isinstance(target, Target):
        return target
    if callable(target):
        return Target(target, name=getattr(target, "__name__", "custom"))
    return TARGETS[check_name(target, TARGETS, "target")]


Result = TypeVar("Result")

_ENOUGH_TO_SHARE = 1 << 18
# How many cuts are judged in one go: a target needs several arrays of that size.
_CHUNK = 1 << 18


@dataclass(frozen=True, eq=False)
class Cuts:
    """A cut for each row: between which scores it lies.

    ``upper`` is inf where nothing is above the cut, ``lower`` -inf where everything is.
    """

    upper: Values
    lower: Values

    @property
    def thresholds(self) -> Values:
        """Half way between the two scores; infinite where everything lies on one side."""
        return middle(self.upper, self.lower)


@dataclass(frozen=True, eq=False)
class Steps:
    """All cuts of a block of rows that are worth a look, each row's from the top down.

    Row i owns the cells ``indptr[i]`` to ``indptr[i + 1]``. ``hits`` relevant and ``misses``
    irrelevant items lie above a cut, which is between the scores ``upper`` and ``lower``.
    """

    indptr: Integers
    hits: Values
    misses: Values
    upper: Values
    lower: Values
    n_true: Integers
    n_items: int

    @classmethod
    def of(cls, ranked: Ranked, *, every: bool) -> "Steps":
        """Walk down the rows; without ``every`` stop below relevant items only."""
        (_, start, stop), (_, other_start, other_stop) = ranked.relevant, ranked.irrelevant
        room = stop - start + 1
        if every:
            room = room + (other_stop - other_start)
        indptr = np.concatenate([[0], np.cumsum(room)])
        hits, misses, upper, lower = np.empty((4, indptr[-1]))
        walk(ranked.relevant, ranked.irrelevant, every, indptr, hits, misses, upper, lower)
        return cls(indptr, hits, misses, upper, lower, ranked.n_true, ranked.n_items)

    @classmethod
    def below_relevant(cls, profile: Profile) -> "Steps":
        """The cut above all items of a row and those just below its relevant ones.

        Good for counting; between which scores they lie stays untold (nan).
        """
        n_true = profile.n_relevant
        first = profile.indptr[:-1]
        hits = np.insert(profile.relevant_through.astype(np.float64), first, 0.0)
        misses = np.insert((profile.above + profile.tied).astype(np.float64), first, 0.0)
        untold = np.broadcast_to(np.nan, hits.shape)
        indptr = profile.indptr + np.arange(n_true.size + 1)
        return cls(indptr, hits, misses, untold, untold, n_true, profile.n_items)

    def values(self, target: Target) -> Values:
        """What the target says of each cut."""
        true = np.repeat(self.n_true.astype(np.float64), np.diff(self.indptr))
        values = np.empty(self.hits.size)
        for start in range(0, values.size, _CHUNK):
            part = slice(start, start + _CHUNK)
            values[part] = target(self.hits[part], self.misses[part], true[part], self.n_items)
        return values

    def best(self, target: Target, *, most: bool) -> Integers:
        """Where each row's best cut is: of equally good ones that which predicts least, or most."""
        places = np.empty(self.indptr.size - 1, dtype=np.int64)
        pick_best(self.values(target), self.indptr, most, places)
        return places

    def take(self, places: Integers) -> Cuts:
        """One cut for each row."""
        return Cuts(self.upper[places], self.lower[places])

    def counts(self, places: Integers) -> Counts:
        """What one cut for each row leaves above it."""
        hits, misses = (part[places].astype(np.int64) for part in (self.hits, self.misses))
        return Counts(hits, self.n_true, hits + misses, self.n_items)

    def gains(self, target: Target) -> tuple[float, Values, Values]:
        """The value of predicting nothing, over all rows; each score, and what passing it adds."""
        values = self.values(target)
        inside = np.ones(values.size, dtype=bool)
        inside[self.indptr[:-1]] = False
        gain = np.diff(values, prepend=0.0)
        return float(values[~inside].sum()), self.upper[inside], gain[inside]

    def pieces(self) -> tuple[Integers, Values, Values]:
        """The straight pieces of each row's hull of hits against misses: end, rise and run."""
        corner = np.zeros(self.hits.size, dtype=bool)
        previous = np.zeros(self.hits.size, dtype=np.int64)
        mark_hull(self.hits, self.misses, self.indptr, corner, previous)
        ends = np.flatnonzero(corner)
        starts = previous[ends]
        return ends, self.hits[ends] - self.hits[starts], self.misses[ends] - self.misses[starts]

    @classmethod
    def joined(cls, blocks: list["Steps"]) -> "Steps":
        """The rows of all blocks, one after the other."""
        offsets = np.cumsum([0] + [steps.hits.size for steps in blocks])
        starts = [steps.indptr[:-1] + at for steps, at in zip(blocks, offsets, strict=False)]
        cells = (
            np.concatenate([getattr(steps, name) for steps in blocks])
            for name in ("hits", "misses", "upper", "lower")
        )
        n_true = np.concatenate([steps.n_true for steps in blocks])
        indptr = np.concatenate([*starts, offsets[-1:]])
        hits, misses, upper, lower = cells
        return cls(indptr, hits, misses, upper, lower, n_true, blocks[0].n_items)


def best_cuts(cut: View, target: Target, Y: Pattern, scores: Scores, *, most: bool = False) -> Cuts:
    """Find the best cuts of the rows of ``cut``.

    Of equally good cuts the one that predicts least is taken; with ``most``, where each row is
    judged by itself, the one that predicts most.
    """
    judged = target.view(cut)
    if judged is cut:
        found = _each(target, *through(cut, Y, scores), read=Steps.take, most=most)
        return Cuts(
            np.concatenate([cuts.upper for cuts in found]),
            np.concatenate([cuts.lower for cuts in found]),
        )
    if cut is ENTRIES:
        return _one_for_all(target, *through(judged, Y, scores))
    if judged is ENTRIES:
        return _together(target, *through(cut, Y, scores))
    raise ValueError(
        f"A threshold for each {cut.row} cannot be fitted to {str(target)!r}, which judges each "
        f"{judged.row}: every threshold would act on every {judged.row}. Take a threshold for each "
        f"{judged.row} or a global one, or the micro average as target."
    )


def middle(upper: Anything, lower: Anything) -> Values:
    """Half way between two scores, never as high as the upper one."""
    with np.errstate(invalid="ignore"):
        half = np.where(np.isfinite(upper), lower / 2 + upper / 2, upper)
    return np.where((half < upper) | np.isposinf(upper), half, lower)


def _read_steps(
    Y: Pattern, scores: Scores, read: Callable[[Steps], Result], *, every: bool
) -> list[Result]:
    """Hand the steps of all rows, block after block, to ``read``; they live no longer than that."""
    with workers(enough=scores.shape[0] * scores.shape[1] > _ENOUGH_TO_SHARE) as run:
        return list(
            run(
                lambda block: read(Steps.of(scores.ranked(Y, *block), every=every)), scores.blocks()
            )
        )


def best_counts(view: View, targets: Sequence[Target], Y: Pattern, scores: Scores) -> list[Counts]:
    """Count, for each target, what the best cut of each row of the view leaves above it.

    The rows are sorted once for all targets. Dense scores are never copied as a whole.
    """

    def best(steps: Steps) -> list[Counts]:
        return [steps.counts(steps.best(target, most=False)) for target in targets]

    if isinstance(scores, DenseScores) and all(target.fractional for target in targets):
        found = read_profiles(view, Y, scores.S, lambda seen: best(Steps.below_relevant(seen)))
    else:
        every = not all(target.fractional for target in targets)
        found = _read_steps(*through(view, Y, scores), best, every=every)
    return [_joined(list(blocks)) for blocks in zip(*found, strict=True)]


def _joined(blocks: list[Counts]) -> Counts:
    """The rows of all blocks, one after the other."""
    both, true, predicted = (
        np.concatenate([getattr(counts, name) for counts in blocks])
        for name in ("both", "true", "predicted")
    )
    return Counts(both, true, predicted, blocks[0].n_items)


def _each(
    target: Target,
    Y: Pattern,
    scores: Scores,
    *,
    read: Callable[[Steps, Integers], Result],
    most: bool,
) -> list[Result]:
    """Read off the best cut of each row by itself, block after block."""

    def best(steps: Steps) -> Result:
        return read(steps, steps.best(target, most=most))

    return _read_steps(Y, scores, best, every=not target.fractional)


def _one_for_all(target: Target, Y: Pattern, scores: Scores) -> Cuts:
    """One cut for all rows, by the mean of what it gives each.

    Passing an item changes the value of its own row only, so the sum of the rows is a running
    sum over all items from the highest score down.
    """
    found = _read_steps(Y, scores, lambda steps: steps.gains(target), every=True)
    start = sum(value for value, _, _ in found)
    score, gain = (np.concatenate([block[k] for block in found]) for k in (1, 2))
    order = np.argsort(-score)
    ends = _run_ends(score[order])
    total = np.concatenate([[start], start + np.cumsum(gain[order])[ends]])
    levels = np.concatenate([[np.inf], score[order][ends], [-np.inf]])
    k = _first_best(total / Y.shape[0])
    return Cuts(levels[k : k + 1], levels[k + 1 : k + 2])


def _together(target: Target, Y: Pattern, scores: Scores) -> Cuts:
    """A cut for each row, chosen so that all rows together, as one matrix, come out best.

    For a ratio of linear functions the best choice is a corner of the sum of the rows' curves of
    hits against misses. Such a corner takes from every row the pieces of its own curve that rise
    at least as steeply; so all pieces are merged, steepest first, and every corner is judged.
    """
    if not target.fractional:
        raise ValueError(
            f"The target {str(target)!r} cannot be fitted jointly to many thresholds: that needs "
            "a ratio of linear functions of tp, fp, fn, tn. If it is one that rises with tp and "
            "falls with fp, say so with Target(..., fractional=True)."
        )
    steps = Steps.joined(_read_steps(Y, scores, lambda steps: steps, every=False))
    pieces, rise, run = steps.pieces()
    with np.errstate(divide="ignore"):
        slope = rise / run
    order = np.argsort(-slope)
    ends = _run_ends(slope[order])
    hits, misses = (np.append(0.0, np.cumsum(part[order])[ends]) for part in (rise, run))
    true = np.full(hits.size, float(Y.n_ones))
    k = _first_best(target(hits, misses, true, Y.shape[0] * Y.shape[1]))
    taken = pieces[order[: ends[k - 1] + 1]] if k else pieces[:0]
    places = steps.indptr[:-1].copy()
    np.maximum.at(places, np.searchsorted(steps.indptr, taken, side="right") - 1, taken)
    return steps.take(places)


def _run_ends(ordered: Values) -> Integers:
    """Where the runs of equal values end."""
    return np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True)[: ordered.size])


def _first_best(values: Values) -> int:
    place = np.empty(1, dtype=np.int64)
    pick_best(values, np.array([0, values.size]), False, place)
    return int(place[0])
