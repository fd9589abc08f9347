"""The search for the best thresholds of a target.

Thresholds cut the rows of one view, and the target judges the rows of a view. If the two views
agree, every row has its own best threshold. If one threshold cuts all entries, the values of the
judged rows are added up. If the whole matrix is judged, the thresholds of all rows are chosen
together.

All thresholds between two neighbouring scores of a sorted row predict the same labels. Such a place
is called a cut in this module and in its kernels; its threshold is half way between the two scores.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np

from limo._kernels.thresholds import mark_hull, pick_best, walk
from limo._profiles import Profile, SortedRows
from limo._system import workers
from limo._types import Anything, Integers, Values
from limo._views import ENTRIES, Counts, Pattern, View
from limo.thresholds._scores import Scores, through
from limo.thresholds._target import Target

Result = TypeVar("Result")
_ENOUGH_TO_SHARE = 1 << 18
_CHUNK = 1 << 18  # cuts judged at once: a target needs several arrays of that size


@dataclass(frozen=True, eq=False)
class Thresholds:
    """A threshold for each row: the scores just above and just below it.

    ``upper`` is inf if nothing is above the threshold, ``lower`` is -inf if everything is.
    """

    upper: Values
    lower: Values

    @property
    def values(self) -> Values:
        """Half way between the two scores; infinite if all scores are on one side."""
        return middle(self.upper, self.lower)


@dataclass(frozen=True, eq=False)
class Steps:
    """The candidate cuts of a block of rows, each row's from the highest score down.

    Row i owns the cells ``indptr[i]`` to ``indptr[i + 1]``. A cut has ``hits`` relevant and
    ``misses`` irrelevant items above it, and is between the scores ``upper`` and ``lower``.
    """

    indptr: Integers
    hits: Values
    misses: Values
    upper: Values
    lower: Values
    n_true: Anything
    n_items: Any
    row_weights: Values | None = None

    @classmethod
    def of(cls, rows: SortedRows, *, every: bool) -> "Steps":
        """Walk down sorted rows; without ``every`` stop only below relevant items."""
        (_, start, stop), (_, other_start, other_stop) = rows.relevant, rows.irrelevant
        length = stop - start + 1 + (other_stop - other_start if every else 0)
        indptr = np.concatenate([[0], np.cumsum(length)])
        hits, misses, upper, lower = np.empty((4, indptr[-1]))
        walk(rows.relevant, rows.irrelevant, every, indptr, hits, misses, upper, lower)
        if rows.weights is not None:
            hits, misses = rows.weigh(np.repeat(np.arange(length.size), length), hits, misses)
        return cls(indptr, hits, misses, upper, lower, rows.n_true, rows.n_items, rows.row_weights)

    @classmethod
    def below_relevant(cls, profile: Profile) -> "Steps":
        """The cut above all items of a row, and those just below its relevant items.

        For counting only: the scores on the two sides of a cut are not known (nan).
        """
        n_true = profile.n_relevant
        first = profile.indptr[:-1]
        hits = np.insert(profile.relevant_through.astype(np.float64), first, 0.0)
        misses = np.insert((profile.above + profile.tied).astype(np.float64), first, 0.0)
        unknown = np.broadcast_to(np.nan, hits.shape)
        indptr = profile.indptr + np.arange(n_true.size + 1)
        return cls(indptr, hits, misses, unknown, unknown, n_true, profile.n_items)

    def values(self, target: Target) -> Values:
        """The target's value of each cut."""
        true = np.repeat(self.n_true.astype(np.float64), np.diff(self.indptr))
        items = np.broadcast_to(self.n_items, self.n_true.shape).repeat(np.diff(self.indptr))
        values = np.empty(self.hits.size)
        for start in range(0, values.size, _CHUNK):
            part = slice(start, start + _CHUNK)
            values[part] = target(self.hits[part], self.misses[part], true[part], items[part])
        return values

    def best(self, target: Target, *, most: bool, at_least_one: bool = False) -> Integers:
        """The cell of each row's best cut; of equal ones, the one that predicts least, or most.

        With ``at_least_one`` the cut above all items is taken only if a row has no other.
        """
        places = np.empty(self.indptr.size - 1, dtype=np.int64)
        values = self.values(target)
        if at_least_one:
            values[self.indptr[:-1]] = np.nan
        pick_best(values, self.indptr, most, places)
        return places

    def take(self, places: Integers) -> Thresholds:
        """One threshold for each row, at these cuts."""
        return Thresholds(self.upper[places], self.lower[places])

    def counts(self, places: Integers) -> Counts:
        """The counts above one cut for each row."""
        hits, misses = (part[places].astype(self.n_true.dtype) for part in (self.hits, self.misses))
        return Counts(hits, self.n_true, hits + misses, self.n_items)

    def gains(self, target: Target) -> tuple[float, Values, Values]:
        """The value of predicting nothing, over all rows; each score and the gain of passing it."""
        values = self.values(target)
        if self.row_weights is not None:  # a row of weight 0 may have no value
            weights = np.repeat(self.row_weights, np.diff(self.indptr))
            values = np.where(weights > 0, values, 0.0) * weights
        inside = np.ones(values.size, dtype=bool)
        inside[self.indptr[:-1]] = False
        gain = np.diff(values, prepend=0.0)
        return float(values[~inside].sum()), self.upper[inside], gain[inside]

    def pieces(self) -> tuple[Integers, Values, Values]:
        """The straight pieces of the upper hull of each row's hits against misses.

        Each piece as the cell of the cut where it ends, its rise in hits and its run in misses.
        """
        corner = np.zeros(self.hits.size, dtype=bool)
        previous = np.zeros(self.hits.size, dtype=np.int64)
        mark_hull(self.hits, self.misses, self.indptr, corner, previous)
        ends = np.flatnonzero(corner)
        starts = previous[ends]
        return ends, self.hits[ends] - self.hits[starts], self.misses[ends] - self.misses[starts]

    @classmethod
    def joined(cls, blocks: list["Steps"]) -> "Steps":
        """All rows of the blocks, in order."""
        offsets = np.cumsum([0] + [steps.hits.size for steps in blocks])
        starts = [steps.indptr[:-1] + at for steps, at in zip(blocks, offsets, strict=False)]
        cells = (
            np.concatenate([getattr(steps, name) for steps in blocks])
            for name in ("hits", "misses", "upper", "lower")
        )
        n_true = np.concatenate([steps.n_true for steps in blocks])
        indptr = np.concatenate([*starts, offsets[-1:]])
        hits, misses, upper, lower = cells
        n_items = [np.broadcast_to(steps.n_items, steps.n_true.shape) for steps in blocks]
        weights = [steps.row_weights for steps in blocks if steps.row_weights is not None]
        own = np.concatenate(n_items), np.concatenate(weights) if weights else None
        return cls(indptr, hits, misses, upper, lower, n_true, *own)


Kept = dict[str, list[Steps]]
"""By view, the cuts just below relevant items, which are few and which most targets need."""


def best_thresholds(
    view: View,
    target: Target,
    Y: Pattern,
    scores: Scores,
    *,
    most: bool = False,
    at_least_one: bool = False,
    kept: Kept | None = None,
) -> Thresholds:
    """Find the best thresholds of the rows of a view.

    Of equally good ones the one that predicts least is taken; with ``most``, and if each row is
    judged by itself, the one that predicts most. With ``at_least_one``, which also needs rows that
    are judged by themselves, no threshold is above all scores of its row. Cuts are stored in
    ``kept``, for other targets of the same labels and scores, so that these need no sorting.
    """
    judged = target.view(view)

    def read(by: View, function: Callable[[Steps], Result], *, every: bool) -> list[Result]:
        if kept is None or every:
            return read_steps(*through(by, Y, scores), function, every=every)
        if by.name not in kept:
            kept[by.name] = read_steps(*through(by, Y, scores), _itself, every=False)
        return [function(steps) for steps in kept[by.name]]

    if judged is view:
        blocks = _each(target, partial(read, view), most=most, at_least_one=at_least_one)
        return Thresholds(
            np.concatenate([block.upper for block in blocks]),
            np.concatenate([block.lower for block in blocks]),
        )
    if view is ENTRIES:
        weights = judged.row_weights(Y)
        total = judged.n_rows(Y.shape) if weights is None else float(weights.sum())
        return _one_for_all(target, partial(read, judged), total)
    if judged is ENTRIES:
        return _together(target, partial(read, view), Y)
    raise ValueError(
        f"A threshold for each {view.row} cannot be fitted to {str(target)!r}, which judges each "
        f"{judged.row}: every threshold would affect every {judged.row}. Use a threshold for each "
        f"{judged.row} or a global one, or the micro average as target."
    )


def middle(upper: Anything, lower: Anything) -> Values:
    """Half way between two scores, and always below the upper one."""
    with np.errstate(invalid="ignore"):
        half = np.where(np.isfinite(upper), lower / 2 + upper / 2, upper)
    return np.where((half < upper) | np.isposinf(upper), half, lower)


def read_steps(
    Y: Pattern, scores: Scores, read: Callable[[Steps], Result], *, every: bool
) -> list[Result]:
    """Call ``read`` with the steps of all rows, block by block; each is freed after that."""

    def read_block(block: tuple[int, int]) -> Result:
        return read(Steps.of(scores.sorted_rows(Y, *block), every=every))

    with workers(enough=scores.shape[0] * scores.shape[1] > _ENOUGH_TO_SHARE) as run:
        return list(run(read_block, scores.blocks()))


def _itself(steps: Steps) -> Steps:
    return steps


def _each(
    target: Target, read: Callable[..., Any], *, most: bool, at_least_one: bool
) -> list[Thresholds]:
    """Find the best threshold of each row by itself, block by block."""

    def best(steps: Steps) -> Thresholds:
        return steps.take(steps.best(target, most=most, at_least_one=at_least_one))

    # Cuts below relevant items suffice for a fractional target, but a row may have no such item.
    blocks: list[Thresholds] = read(best, every=at_least_one or not target.fractional)
    return blocks


def _one_for_all(target: Target, read: Callable[..., Any], total_weight: float) -> Thresholds:
    """One threshold for all rows: the one with the highest mean value over rows.

    When the threshold falls below the score of an item, the value of that item's row changes and
    no other. So the sum over rows at any threshold is a running sum of these changes, over all
    items from the highest score down.
    """
    blocks = read(lambda steps: steps.gains(target), every=True)
    start = sum(value for value, _, _ in blocks)
    score, gain = (np.concatenate([block[k] for block in blocks]) for k in (1, 2))
    order = np.argsort(-score)
    ends = _run_ends(score[order])
    total = np.concatenate([[start], start + np.cumsum(gain[order])[ends]])
    levels = np.concatenate([[np.inf], score[order][ends], [-np.inf]])
    k = _first_best(total / total_weight)
    return Thresholds(levels[k : k + 1], levels[k + 1 : k + 2])


def _together(target: Target, read: Callable[..., Any], Y: Pattern) -> Thresholds:
    """A threshold for each row, so that all rows together, as one matrix, have the best value.

    Plot, for each row, the hits of its cuts against their misses. The best cut of a ratio of linear
    functions is a corner of the upper hull of such a plot, because on a straight piece the ratio
    only rises or only falls. For all rows together, the plot of total hits against total misses is
    the sum of the rows' hulls. A sum of hulls is made of the pieces of all of them, put together
    from the steepest to the flattest. So at each of its corners there is a slope such that every
    row takes all its pieces that are at least as steep. There are as many corners as different
    slopes, and the target is evaluated at each.
    """
    if not target.fractional:
        raise ValueError(
            f"The target {str(target)!r} cannot be fitted jointly to many thresholds: that needs "
            "a ratio of linear functions of tp, fp, fn, tn. If it is one that rises with tp and "
            "falls with fp, use Target(..., fractional=True)."
        )
    steps = Steps.joined(read(_itself, every=False))
    pieces, rise, run = steps.pieces()
    if steps.row_weights is not None:
        weights = steps.row_weights[np.searchsorted(steps.indptr, pieces, side="right") - 1]
        rise, run = rise * weights, run * weights
    with np.errstate(divide="ignore"):
        slope = rise / run  # inf for a piece without misses, which comes first
    order = np.argsort(-slope)
    # pieces of equal slope are taken together: between them there is no corner
    ends = _run_ends(slope[order])
    hits, misses = (np.append(0.0, np.cumsum(part[order])[ends]) for part in (rise, run))
    true = np.full(hits.size, float(ENTRIES.ones(Y)[0]))
    k = _first_best(target(hits, misses, true, ENTRIES.n_items(Y)))
    # corner 0 predicts nothing; corner k takes the pieces up to the k-th slope
    taken = pieces[order[: ends[k - 1] + 1]] if k else pieces[:0]
    places = steps.indptr[:-1].copy()
    # the cut of a row is the end of its last piece taken: cells ascend along a row
    np.maximum.at(places, np.searchsorted(steps.indptr, taken, side="right") - 1, taken)
    return steps.take(places)


def _run_ends(ordered: Values) -> Integers:
    """Index of the last of each run of equal values."""
    return np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True)[: ordered.size])


def _first_best(values: Values) -> int:
    place = np.empty(1, dtype=np.int64)
    pick_best(values, np.array([0, values.size]), False, place)
    return int(place[0])
