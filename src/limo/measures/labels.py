"""Measures of predicted labels: functions of a row's confusion counts, one value a row."""

import numpy as np

from limo._types import Values
from limo.counts import Counts
from limo.measures.conventions import Conventions

__all__ = ["f1", "hamming"]


def f1(counts: Counts, conventions: Conventions) -> Values:
    """2 * #both / (#true + #predicted); what 0 / 0 is, the conventions say."""
    total = counts.true + counts.predicted
    values = np.full(total.shape, conventions.f1_of_nothing, dtype=np.float64)
    np.divide(2.0 * counts.both, total, out=values, where=total > 0)
    return values


def hamming(counts: Counts, conventions: Conventions) -> Values:
    """Share of items whose predicted label is wrong."""
    return counts.wrong / counts.n_items
