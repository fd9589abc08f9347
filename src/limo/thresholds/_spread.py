"""Thresholds fitted to scores that are spread over blocks, and never in one place.

The best threshold for F1 and similar measures is just below a relevant score. Of the irrelevant
scores it depends only on how many lie between neighbouring relevant ones, and on the highest of
these: both add up over blocks. So the scores of a label, or of the whole matrix, are replaced by a
few weighted ones that have the same best threshold. Other rules are fitted to a sample of the
instances.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from limo._kernels.groups import count_gaps, sort_groups
from limo._types import Integers, Values
from limo._views import COLUMNS, ENTRIES, Pattern, View
from limo.losses._blocks import Groups
from limo.thresholds._fit import label_matrix
from limo.thresholds._rules import GlobalThreshold, LabelThreshold, ThresholdRule, shrunk
from limo.thresholds._target import check_target


def view_of(rule: ThresholdRule) -> View | None:
    """The view whose reduced scores suffice to fit a rule; None if it needs a sample."""
    if type(rule) is GlobalThreshold:
        own, usual = ENTRIES, "micro_f1"
    elif type(rule) is LabelThreshold:
        own, usual = COLUMNS, "macro_f1"
    else:
        return None
    target = check_target(usual if rule.target is None else rule.target)
    return own if target.fractional and target.view(own) is own else None


@dataclass(frozen=True, eq=False)
class Ordered:
    """The relevant scores of all blocks, sorted within the groups of a view."""

    view: str
    starts: Integers
    scores: Values

    @classmethod
    def of(cls, view: str, labels: Sequence[Integers], scores: Sequence[Values], n: int) -> Any:
        """From the labels and the scores of the relevant entries of each block, of n labels."""
        known, joined = np.concatenate(labels), np.concatenate(scores)
        groups = Groups.of(view, known, np.ones(known.size), n)
        order = np.empty_like(groups.members)
        sort_groups(joined, groups.members, groups.starts, order)
        return cls(view, groups.starts, joined[order])


class Gaps(NamedTuple):
    """Irrelevant scores between relevant ones, and the sum of all scores by label."""

    counts: Integers
    highest: Values
    sums: Values

    def plus(self, other: "Gaps") -> "Gaps":
        """Both together."""
        highest = np.maximum(self.highest, other.highest)
        return Gaps(self.counts + other.counts, highest, self.sums + other.sums)


def gaps_of(S: Values, Y: Pattern, known: Ordered) -> Gaps:
    """The gaps and sums of the scores of a block."""
    n_groups = known.starts.size - 1
    counts = np.zeros(known.scores.size + n_groups, dtype=np.int64)
    highest = np.full(counts.size, -np.inf)
    if known.view == "columns":
        rows, part, groups = np.ascontiguousarray(S.T), Y.T, np.arange(S.shape[1])
    else:
        rows, part, groups = S, Y, np.zeros(S.shape[0], dtype=np.int64)
    places = part.indptr, part.indices, groups
    count_gaps(rows, *places, known.starts, known.scores, counts, highest)
    return Gaps(counts, highest, S.sum(axis=0))


def fit_to_gaps(rule: ThresholdRule, known: Ordered, gaps: Gaps, n_rows: int) -> ThresholdRule:
    """Fit a rule, of a view named by :func:`view_of`, to the scores of ``n_rows`` instances."""
    n_labels = gaps.sums.size
    thresholds = [_fit_group(rule, known, gaps, g) for g in range(known.starts.size - 1)]
    fitted: Any = clone(rule)
    if known.view == "entries":
        fitted.threshold_ = thresholds[0]
    else:
        fitted.thresholds_ = np.array(thresholds)
        if fitted.shrinkage:
            positives = np.diff(known.starts)
            means = gaps.sums / n_rows
            fitted.thresholds_ = shrunk(fitted.thresholds_, positives, means, fitted.shrinkage)
    fitted.n_labels_, fitted.label_names_ = n_labels, None
    return fitted  # type: ignore[no-any-return]


def _fit_group(rule: ThresholdRule, known: Ordered, gaps: Gaps, g: int) -> float:
    """The threshold of one label, or of all entries, from its reduced scores."""
    start, stop = known.starts[g], known.starts[g + 1]
    counts, highest = (array[start + g : stop + g + 1] for array in (gaps.counts, gaps.highest))
    exist = counts > 0
    relevant = known.scores[start:stop]
    if not relevant.size:
        return np.inf
    scores = np.concatenate([relevant, highest[exist]])
    weights = np.concatenate([np.ones(relevant.size), counts[exist]])
    marks = np.zeros(scores.size, dtype=np.int64)
    marks[: relevant.size] = 1
    plain = clone(rule)
    if hasattr(plain, "shrinkage"):
        plain.set_params(shrinkage=0)
    plain.fit(marks[:, np.newaxis], scores[:, np.newaxis], sample_weight=weights)
    return float(plain.threshold_ if known.view == "entries" else plain.thresholds_[0])


# Samples

MOST_SAMPLED = 4_000_000
"""Scores that a sample has at most."""


class Sample(NamedTuple):
    """Instances of some blocks: their features, labels and scores."""

    X: Any
    Y: Pattern
    S: Values


def fit_to_samples(rule: ThresholdRule, samples: Sequence[Sample], X: Any) -> ThresholdRule:
    """Fit any rule to the instances of a sample, whose features are stacked in ``X``."""
    marks = np.concatenate([label_matrix(one.Y, as_sparse=False) for one in samples])
    S = np.concatenate([one.S for one in samples])
    return clone(rule).fit(marks, S, X if rule.needs_features else None)  # type: ignore[no-any-return]
