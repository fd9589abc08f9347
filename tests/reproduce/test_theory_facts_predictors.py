import numpy as np
import pytest

import limo
from limo.measures._table import EFFECTIVENESS
from limo.reproduce._theory_facts import (
    draw_labels,
    draw_predictor,
    draw_theorem3,
    right_thresholds,
    wrong_thresholds,
)

CUTS = {"label-wise": "instance", "instance-wise": "label", "entry-wise": "global"}
STRONGER = {"label-wise": "double", "instance-wise": "double", "double": "entry_wise"}


@pytest.mark.parametrize("kind", EFFECTIVENESS)
def test_predictors_are_effective_in_their_way_and_mostly_in_no_stronger_one(kind):
    rng = np.random.default_rng(0)
    found = [limo.effectiveness(*draw_predictor(rng, kind)) for _ in range(60)]
    assert all(getattr(one, kind.replace("-", "_")) for one in found)
    if kind in STRONGER:
        assert sum(getattr(one, STRONGER[kind]) for one in found) < 30


def test_labels_leave_no_row_and_no_column_without_pairs():
    rng = np.random.default_rng(1)
    for _ in range(50):
        Y = draw_labels(rng)
        assert all(Y.sum(a).min() > 0 and Y.sum(a).max() < Y.shape[a] for a in (0, 1))


def test_the_model_of_theorem_3_lies_below_row_and_column():
    rng = np.random.default_rng(2)
    Y = draw_labels(rng)
    S = draw_theorem3(rng, Y)
    for i, j in zip(*np.nonzero(Y == 0), strict=True):
        assert 0 <= S[i, j] < min(S[i, Y[i] == 1].min(), S[Y[:, j] == 1, j].min())


@pytest.mark.parametrize(("kind", "by"), CUTS.items())
def test_right_thresholds_give_the_labels(kind, by):
    rng = np.random.default_rng(3)
    for _ in range(20):
        Y, S = draw_predictor(rng, kind)
        assert np.array_equal(right_thresholds(Y, S, by) < S, Y == 1)


@pytest.mark.parametrize("by", ["instance", "label"])
def test_wrong_thresholds_miss_to_both_sides_and_not_always(by):
    rng = np.random.default_rng(4)
    kind = {"instance": "label-wise", "label": "instance-wise"}[by]
    above, below, right = 0, 0, 0
    for _ in range(60):
        Y, S = draw_predictor(rng, kind)
        t = wrong_thresholds(rng, Y, S, by)
        axis = 1 if by == "instance" else 0
        predicted = ((t[:, None] if axis else t) < S).sum(axis=axis)
        above += (predicted < Y.sum(axis=axis)).sum()
        below += (predicted > Y.sum(axis=axis)).sum()
        right += (predicted == Y.sum(axis=axis)).sum()
    assert min(above, below, right) > 20


def test_unknown_kinds_are_refused():
    with pytest.raises(ValueError, match="Unknown kind of effectiveness 'labelwise'"):
        draw_predictor(np.random.default_rng(0), "labelwise")
