"""Kernels of groups by hand; their sums over blocks are proved in tests/losses/test_blocks.py."""

import numpy as np
import pytest

from limo._kernels.groups import log_sum_rows, meet_groups, prepare_groups, sort_groups
from limo._kernels.losses import prepare
from limo._kernels.soft import BOTTOM, TOP, WORST, Items

STARTS = np.array([0, 2, 2, 5])
SCORES = np.array([4.0, 1.0, 3.0, 2.0, 5.0])


def test_members_are_sorted_within_their_group():
    order = np.empty(5, dtype=np.int64)
    sort_groups(SCORES, np.array([0, 2, 4, 3, 1]), STARTS, order)
    assert order.tolist() == [2, 0, 1, 3, 4]


def test_every_group_has_the_sums_of_its_own_scores():
    found = prepare_groups(np.array([3.0, 4.0, 1.0, 2.0, 5.0]), np.ones(5), STARTS)
    assert found.sums.tolist() == [0, 3, 7, 0, 0, 1, 3, 8]
    assert found.squares.tolist() == [0, 9, 25, 0, 0, 1, 5, 30]
    alone = prepare(np.array([1.0, 2.0, 5.0]), np.ones(3))
    assert found.buckets[-7:].tolist() == alone.buckets.tolist()
    assert found.buckets_per_unit[2] == alone.buckets_per_unit


def test_log_sums_leave_relevant_scores_out():
    levels = np.empty(3)
    rows = np.array([[0.0, 0.0, 9.0], [800.0, 800.0, 800.0], [1.0, 1.0, 1.0]])
    items = Items(np.array([0, 1, 1, 4]), np.array([2, 0, 1, 2]), np.empty(0, bool), np.empty(0))
    log_sum_rows(rows, items, np.ones(3), levels)
    assert levels[:2] == pytest.approx([np.log(2), 800 + np.log(3)])
    assert levels[2] == -np.inf
    twice = items._replace(weights=np.array([2.0, 1.0, 1.0]))
    log_sum_rows(rows, twice, np.array([1.0, 3.0, 1.0]), levels)
    assert levels[:2] == pytest.approx([np.log(3), 800 + np.log(12)])


@pytest.mark.parametrize("kind", [TOP, BOTTOM, WORST])
def test_groups_by_hand(kind):
    """One group, relevant scores 0 and 0, irrelevant ones whose log-sum-exp is log 3; weight 2."""
    levels, factors, slopes = np.array([np.log(3.0)]), np.empty(1), np.empty(2)
    given = np.zeros(2), np.ones(2), np.array([0, 2]), np.array([3.0]), np.array([2.0])
    value = meet_groups(kind, *given, levels, factors, slopes)
    if kind == TOP:  # softplus(log 3) = log 4, slope 3/4
        assert value == pytest.approx(2 * np.log(4))
        assert slopes.tolist() == pytest.approx([-0.75, -0.75])
        assert factors == pytest.approx([1.5])
    elif kind == BOTTOM:  # the log-sum-exp of the negated relevant scores is log 2
        assert value == 0
        assert levels == pytest.approx([np.log(2)])
        assert slopes.tolist() == pytest.approx([-0.5, -0.5])
        assert factors == pytest.approx([2 / 3])
    else:  # softplus(log 6) = log 7, slope 6/7
        assert value == pytest.approx(2 * np.log(7))
        assert slopes.tolist() == pytest.approx([-6 / 7, -6 / 7])
