"""Sums over the rows of blocks, for when the values of single instances are not kept.

Means over instances are exact sums, rounded once, so they have the same bits as those of all rows
at once. Of single instances only their margins are kept, because quantiles are made from them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce as fold
from typing import TYPE_CHECKING

import numpy as np

from limo._evaluate import undefined_reasons
from limo._evaluation import Evaluation
from limo._kernels.profiles import Mean, digits_of, rounded
from limo._margins import MarginSummary, Orders, in_order
from limo._types import Anything, Integers, Values
from limo._views import ROWS, VIEWS, Items
from limo.measures._compute import ENDINGS, RowValues
from limo.measures._conventions import Conventions
from limo.measures._measure import (
    Measure,
    Result,
    best_of,
    blind_means,
    filled_rows,
    n_skipped,
    reduce,
    undefined_rows,
)

if TYPE_CHECKING:
    from limo._blocks import RowPart, Task

# The functions of a profile whose results are added up or kept.
OF_PROFILES = ("margin", "pairs", "tied", "lost")
_PLAIN, _PER_ITEM = "plain", "per item"


@dataclass(frozen=True, eq=False)
class MeasureSums:
    """The rows of one measure.

    Attributes
    ----------
    means : tuple of Mean
        Of the values, and of the best possible ones.
    blind : tuple of Mean
        Of the ways to guess blindly.
    counts : array of shape (2,)
        How many rows are undefined, and how many are left out of the mean.
    reasons : dict of str to int
        How many rows are undefined, by reason.
    """

    means: tuple[Mean, ...]
    blind: tuple[Mean, ...]
    counts: Integers
    reasons: dict[str, int]

    @classmethod
    def of(
        cls,
        measure: Measure,
        lines: Values,
        items: Items,
        weights: Values | None,
        conventions: Conventions,
    ) -> "MeasureSums":
        """From the values of rows and the best possible ones, and the weights of the rows."""
        fill = conventions.undefined.get(measure.name)
        undefined = undefined_rows(lines[0], weights)
        filled = filled_rows(lines, fill, weights)
        return cls(
            tuple(Mean.of(values, weights, skip=fill is None) for values in filled),
            blind_means(measure, undefined, fill, weights, items, conventions),
            np.array([undefined.sum(), n_skipped(undefined, fill, weights)]),
            undefined_reasons(measure.view, undefined, weights, items),
        )

    def plus(self, other: "MeasureSums") -> "MeasureSums":
        """The rows of both."""
        return MeasureSums(
            tuple(one.plus(two) for one, two in zip(self.means, other.means, strict=True)),
            tuple(one.plus(two) for one, two in zip(self.blind, other.blind, strict=True)),
            self.counts + other.counts,
            {reason: n + other.reasons[reason] for reason, n in self.reasons.items()},
        )


@dataclass(frozen=True, eq=False)
class MarginSums:
    """The margins of rows, and their pairs.

    Attributes
    ----------
    margins, weights : tuple of array
        By block, one margin per row and its weight.
    pairs, tied : array
        Digits of the number of pairs, and of those with equal scores.
    ordered : Mean
        Of the share of pairs of each row in the right order.
    """

    margins: tuple[Values, ...]
    weights: tuple[Values | None, ...]
    pairs: Integers
    tied: Integers
    ordered: Mean

    @classmethod
    def of(cls, results: Mapping[str, Anything], weights: Values | None) -> "MarginSums":
        """From what the functions of profiles found."""
        share, counted = in_order(results, weights)
        pairs, tied = (
            digits_of(results[name] if weights is None else results[name] * weights)
            for name in ("pairs", "tied")
        )
        own = (results["margin"],), (weights,)
        return cls(*own, pairs, tied, Mean.of(share, counted, skip=False))

    def plus(self, other: "MarginSums") -> "MarginSums":
        """The rows of both."""
        return MarginSums(
            self.margins + other.margins,
            self.weights + other.weights,
            self.pairs + other.pairs,
            self.tied + other.tied,
            self.ordered.plus(other.ordered),
        )

    def summary(self) -> MarginSummary:
        """The summary of all rows, without their orders."""
        margins, weights = np.concatenate(self.margins), None
        if any(one is not None for one in self.weights):
            pairs = zip(self.margins, self.weights, strict=True)
            weights = np.concatenate([np.ones(m.size) if w is None else w for m, w in pairs])
        none = np.empty(0, np.int64)
        orders = Orders(none, none, none, *np.empty((4, 0)))
        total, ties = rounded(self.pairs), rounded(self.tied)
        share = ties / total if total else np.nan
        absolute = np.empty(0)
        return MarginSummary(
            ROWS, margins, total, share, self.ordered.value, absolute, orders, weights
        )


@dataclass(frozen=True, eq=False)
class RowSums:
    """The rows of some blocks.

    Attributes
    ----------
    measures : dict of str to dict of str to MeasureSums
        By the name of a measure, also with the endings of :data:`ENDINGS`, how rows count: each
        once, or by their known labels, which is needed if a label of any block is missing.
    margins : MarginSums or None
        None without scores.
    complete : bool
        Whether no label is missing.
    """

    measures: dict[str, dict[str, MeasureSums]]
    margins: MarginSums | None
    complete: bool

    @classmethod
    def of(cls, part: "RowPart", task: "Task") -> "RowSums":
        """From the values of the rows of a block."""
        items, sums = part.items, {}
        known = {m.name: m for m in task.measures if m.view is ROWS}
        for name, lines in part.values.items():
            measure = known.get(_without_ending(name))
            if measure is None:
                continue
            own = {_PLAIN: measure.weights_of(items)}
            if measure.per_item:
                own[_PER_ITEM] = _per_item(items)
            sums[name] = {
                kind: MeasureSums.of(measure, lines, items, weights, task.conventions)
                for kind, weights in own.items()
            }
        margins = MarginSums.of(part.others, items.weights) if part.others else None
        return cls(sums, margins, items.weights is None)

    def plus(self, other: "RowSums") -> "RowSums":
        """The rows of both."""
        margins = None
        if self.margins is not None and other.margins is not None:
            margins = self.margins.plus(other.margins)
        return RowSums(
            {
                name: {kind: own[kind].plus(other.measures[name][kind]) for kind in own}
                for name, own in self.measures.items()
            },
            margins,
            self.complete and other.complete,
        )

    @staticmethod
    def total(parts: "Sequence[RowSums]") -> "RowSums":
        """The rows of all."""
        return fold(RowSums.plus, parts)

    def complete_evaluation(
        self, evaluation: Evaluation, task: "Task", rows: RowValues, items: Mapping[str, Items]
    ) -> Evaluation:
        """The evaluation of the other measures, with those that are means over instances.

        ``rows`` holds the values of labels of measures that have both.
        """
        results, undefined = dict(evaluation.results), dict(evaluation.undefined)
        blind, bounds = dict(evaluation.blind), dict(evaluation.bounds)
        for measure in (m for m in task.measures if m.view is ROWS):
            sums = self._sums_of(measure, measure.name)
            results[measure.name] = _result(measure, sums, task.conventions, rows, items)
            undefined[measure.name] = {why: n for why, n in sums.reasons.items() if n}
            blind[measure.name] = best_of(measure, sums.blind)
            if evaluation.n_absent and measure.name + ENDINGS[0] in self.measures:
                ends = [
                    self._sums_of(measure, measure.name + ending).means[0].value
                    for ending in ENDINGS
                ]
                bounds[measure.name] = min(ends), max(ends)
        margins = dict(evaluation.margins)
        if self.margins is not None:
            margins[ROWS.name] = self.margins.summary()
        names = [m.name for m in task.measures]
        return replace(
            evaluation,
            results={name: results[name] for name in names},
            undefined={name: undefined[name] for name in names},
            measures={m.name: m for m in task.measures},
            blind={name: blind[name] for name in names},
            bounds={name: bounds[name] for name in names if name in bounds},
            margins={name: margins[name] for name in VIEWS if name in margins},
        )

    def _sums_of(self, measure: Measure, name: str) -> MeasureSums:
        per_item = measure.per_item and not self.complete
        return self.measures[name][_PER_ITEM if per_item else _PLAIN]


def _without_ending(name: str) -> str:
    for ending in ENDINGS:
        name = name.removesuffix(ending)
    return name


def _per_item(items: Items) -> Values:
    """The weight of each row by its known labels."""
    n_rows = items.ones.size
    known = np.broadcast_to(np.asarray(items.n_items, dtype=np.float64), n_rows)
    return known.copy() if items.weights is None else items.weights * known


def _result(
    measure: Measure,
    sums: MeasureSums,
    conventions: Conventions,
    rows: RowValues,
    items: Mapping[str, Items],
) -> Result:
    by_view = {}
    if measure.also is not None:
        view = measure.also
        lines, weights = rows[measure.name, view.name], measure.weights_of(items[view.name])
        shown = replace(measure, view=view, also=None, threshold=None)
        by_view = dict(reduce(shown, {view.name: lines}, conventions, {view.name: weights}).rows)
    value, best = (mean.value for mean in sums.means)
    fill, none = conventions.undefined.get(measure.name), np.empty(0, dtype=bool)
    return Result(value, best, by_view, none, fill, None, *map(int, sums.counts))


# The rows of blocks whose values are kept


def joined_items(parts: "Sequence[RowPart]") -> Items:
    """The items of the rows of all blocks."""
    ones = np.concatenate([part.items.ones for part in parts])
    if all(part.items.weights is None for part in parts):
        return Items(ones, parts[0].items.n_items, None)
    sizes = [part.items.ones.size for part in parts]
    n_items = [
        np.broadcast_to(part.items.n_items, size) for part, size in zip(parts, sizes, strict=True)
    ]
    weights = [
        np.ones(size) if part.items.weights is None else part.items.weights
        for part, size in zip(parts, sizes, strict=True)
    ]
    return Items(ones, np.concatenate(n_items), np.concatenate(weights))


def joined_rows(parts: "Sequence[RowPart]") -> tuple[RowValues, dict[str, dict[str, Anything]]]:
    """The values of the rows of all blocks, and what other functions found in them."""

    def joined(tables: Sequence[Mapping[str, Anything]]) -> dict[str, Anything]:
        return {
            name: np.concatenate([table[name] for table in tables], axis=-1) for name in tables[0]
        }

    values = joined([part.values for part in parts])
    others = joined([part.others for part in parts])
    rows = {(name, ROWS.name): lines for name, lines in values.items()}
    return rows, {ROWS.name: others} if others else {}
