"""What is above the best thresholds, against brute force over all thresholds."""

import numpy as np
import pytest

from cases import cases
from limo._views import COLUMNS, ENTRIES, ROWS
from limo.thresholds._report import best_counts
from limo.thresholds._scores import check_pair
from limo.thresholds._target import TARGETS, Target
from naive import thresholds as naive
from naive.measures import columns, whole

VIEWS = {"instance": ROWS, "label": COLUMNS, "global": ENTRIES}


@pytest.mark.parametrize("by", list(VIEWS))
@pytest.mark.parametrize("name", list(naive.FUNCTIONS))
def test_counts_of_the_best_thresholds(by, name):
    for Y, S, _ in cases(30, seed=62):
        (counts,) = best_counts(VIEWS[by], [TARGETS[name]], *check_pair(Y, S))
        pick = {"instance": lambda A: A, "label": columns, "global": whole}[by]
        rows = zip(pick(Y.tolist()), pick(S.tolist()), strict=True)
        for k, (y, s) in enumerate(rows):
            both, true, predicted = counts.both[k], counts.true[k], counts.predicted[k]
            tn = counts.n_items - true - predicted + both
            value = naive.FUNCTIONS[name](both, predicted - both, true - both, tn)
            assert value == pytest.approx(
                naive.best_value(naive.FUNCTIONS[name], "instance", "instance", [y], [s])
            )


@pytest.mark.parametrize("by", list(VIEWS))
def test_targets_that_need_every_threshold(by):
    """Mixed with a fractional one; one global threshold needs the whole matrix sorted."""
    mine = Target(lambda tp, fp, fn, tn: -np.abs(fp - fn), name="cardinality")
    pick = {"instance": lambda A: A, "label": columns, "global": whole}[by]
    for Y, S, _ in cases(30, seed=63):
        counts, _ = best_counts(VIEWS[by], [mine, TARGETS["f1"]], *check_pair(Y, S))
        for k, (y, s) in enumerate(zip(pick(Y.tolist()), pick(S.tolist()), strict=True)):
            expected = naive.best_value(naive.cardinality, "instance", "instance", [y], [s])
            assert -abs(counts.predicted[k] - counts.true[k]) == expected
