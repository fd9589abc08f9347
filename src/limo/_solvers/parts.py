"""Blocks of instances in one place, and what they contribute to the objective.

The functions of a :class:`Part` know nothing of other parts. They are sent to other machines, so
they belong to no object; ``limo._solvers.blocks`` calls them and joins what they give.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy import sparse

from limo._solvers.problem import Features
from limo._types import Integers, Values
from limo._views import Pattern
from limo.losses._blocks import Account, Groups, Meeting, Survey, join, over_rows, survey
from limo.losses._sums import work_of
from limo.losses._term import Term, Totals, Weighted


@dataclass(frozen=True, eq=False)
class Block:
    """Features and labels of some instances, in memory; ``number`` is its place among all."""

    X: Any
    Y: Pattern
    number: int = 0
    _known: dict[float, Features] = field(default_factory=dict, repr=False)

    def read(self) -> "Block":
        """Itself; a block that is not in memory is read here."""
        return self

    def features(self, constant: float) -> Features:
        """The features with a constant one, and what their products need, kept."""
        return self._known.setdefault(constant, Features(self.X, constant))

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_known": {}}


class Source(Protocol):
    """A block in memory, or what reads it."""

    def read(self) -> Block:
        """The block."""


@dataclass(frozen=True, eq=False)
class Part:
    """Blocks that are in one place; ``keep`` says whether all of their scores fit into memory."""

    sources: Sequence[Source]
    keep: bool = False

    def __iter__(self) -> Iterator[Block]:
        return (source.read() for source in self.sources)


@dataclass(frozen=True, eq=False)
class Setting:
    """Settings that all parts share: terms, totals of all instances, the constant feature."""

    terms: tuple[Term, ...]
    totals: Totals
    constant: float
    width: float = 0.0

    def of_rows(self, Y: Pattern) -> list[Weighted]:
        """The terms that are computed block by block, with the weights of a block."""
        return [Weighted.of(t, Y, self.totals) for t in self.terms if t.route == "rows"]

    @cached_property
    def spread(self) -> list[Weighted]:
        """The terms whose rows are spread over all blocks."""
        none = Pattern(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int64), (0, self.n_labels))
        parts = (Weighted.of(t, none, self.totals) for t in self.terms if t.route != "rows")
        return [part for part in parts if part.matters]

    @property
    def n_labels(self) -> int:
        """How many labels there are."""
        return self.totals.ones.size


# Functions of one part


class Summary(NamedTuple):
    """Facts about some instances, known before training; those of parts add up."""

    totals: Totals
    squares: float
    n_features: int

    def plus(self, other: "Summary") -> "Summary":
        """Both together."""
        if self.n_features != other.n_features:
            raise ValueError(
                f"Every block of X must have the same number of features: one has "
                f"{self.n_features}, another {other.n_features}."
            )
        if self.totals.ones.size != other.totals.ones.size:
            raise ValueError(
                f"Every block of y must have the same number of labels: one has "
                f"{self.totals.ones.size}, another {other.totals.ones.size}."
            )
        return Summary(self.totals + other.totals, self.squares + other.squares, self.n_features)


def summary_of(part: Part) -> Summary | None:
    """Totals, the sum of all squared features, and their number; None without blocks."""
    summary = None
    for block in part:
        squares = block.X.multiply(block.X) if sparse.issparse(block.X) else np.square(block.X)
        one = Summary(Totals.of(block.Y), float(squares.sum()), block.X.shape[1])
        summary = one if summary is None else summary.plus(one)
    return summary


def add_summaries(summaries: Sequence[Summary | None]) -> Summary:
    """The summary of all parts."""
    known = [one for one in summaries if one is not None]
    if not known or not any(one.totals.n_rows for one in known):
        raise ValueError("There is nothing to learn from: no block has an instance.")
    total = known[0]
    for one in known[1:]:
        total = total.plus(one)
    return total


class Entries(NamedTuple):
    """The labels and weights of the relevant entries, in the order of a survey."""

    labels: Integers
    weights: Values


def entries_of(part: Part) -> Entries:
    """The relevant entries of a part."""
    entries = [(block.Y.indices, block.Y.weights_at(block.Y.flat)) for block in part]
    labels, weights = zip((np.zeros(0, dtype=np.int64), np.zeros(0)), *entries, strict=True)
    return Entries(np.concatenate(labels), np.concatenate(weights))


def groups_of(entries: Sequence[Entries], setting: Setting) -> dict[str, Groups]:
    """The groups of the views that spread over the parts."""
    labels, weights = (np.concatenate(one) for one in zip(*entries, strict=True))
    views = {part.term.view for part in setting.spread}
    return {view: Groups.of(view, labels, weights, setting.n_labels) for view in views}


def starts_of(entries: Sequence[Entries]) -> list[int]:
    """Where the relevant entries of each part begin."""
    sizes = [one.labels.size for one in entries]
    return [0, *np.cumsum(sizes[:-1]).tolist()]


def zero_of(part: Part, setting: Setting) -> float:
    """The value of the terms in the view "rows" where all scores are 0."""
    return math.fsum(
        weighted.at_equal_scores(setting.width)
        for block in part
        for weighted in setting.of_rows(block.Y)
        if weighted.term.view == "rows"
    )


def curvatures_of(part: Part, setting: Setting) -> Any:
    """The second derivatives by each weight where all weights are 0; 0 without blocks."""
    total: Any = 0.0
    for block in part:
        features = block.features(setting.constant)
        for term in setting.terms:
            weighted = Weighted.of(term, block.Y, setting.totals)
            total = total + features.weighted_squares(block.Y, *weighted.curvatures(block.Y.shape))
    return total


def scores_of(part: Part, W: Values, setting: Setting) -> list[Values] | None:
    """The scores of each block, if they fit into memory."""
    if not part.keep:
        return None
    return [block.features(setting.constant).times(W) for block in part]


def survey_of(part: Part, W: Values, kept: list[Values] | None, setting: Setting) -> Survey | None:
    """Relevant scores, and log-sum-exps of the others; None without blocks."""
    surveys = [
        survey(S, block.Y, setting.spread) for block, S, _ in _scored(part, W, kept, setting)
    ]
    return join(surveys) if surveys else None


class Scanned(NamedTuple):
    """The contribution of a part: value, gradient by the weights, and owed derivatives."""

    value: float
    gradient: Values
    owed: Values | None


def scan_of(
    part: Part, W: Values, kept: list[Values] | None, meeting: Meeting | None, setting: Setting
) -> Scanned:
    """All but the derivatives by the relevant scores of the spread terms."""
    account = Account(meeting) if meeting is not None else None
    value, gradient = 0.0, np.zeros_like(W)
    G = np.empty((0, 0))
    for block, S, features in _scored(part, W, kept, setting):
        if G.shape == S.shape:  # fresh memory for every block would take longer
            G.fill(0.0)
        else:
            G = np.zeros_like(S)
        for weighted in setting.of_rows(block.Y):
            work = work_of(weighted, setting.width)
            value += over_rows(work, (S,), block.Y, weighted.weights, G)
        if account is not None:
            account.add(S, block.Y, G)
        gradient += features.transposed_times(G)
    if account is None:
        return Scanned(value, gradient, None)
    return Scanned(value + account.value, gradient, account.owed)


def owed_of(scanned: Scanned) -> Values | None:
    """The part of a scan that other parts need."""
    return scanned.owed


def finish_of(
    part: Part, scanned: Scanned, owed: Values | None, start: int, setting: Setting
) -> tuple[float, Values]:
    """The value and gradient of a part, given the derivatives owed to all relevant scores."""
    gradient = scanned.gradient
    if owed is not None:
        gradient = gradient.copy()  # another call may start from the same scan
        for block in part:
            stop = start + block.Y.n_ones
            features = block.features(setting.constant)
            features.add_at_relevant(block.Y, owed[start:stop], gradient)
            start = stop
    return scanned.value, gradient


def _scored(
    part: Part, W: Values, kept: list[Values] | None, setting: Setting
) -> Iterator[tuple[Block, Values, Features]]:
    for k, block in enumerate(part):
        features = block.features(setting.constant)
        yield block, features.times(W) if kept is None else kept[k], features
