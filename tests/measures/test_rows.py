"""Row functions on a profile written by hand."""

import numpy as np
import pytest

from limo._profiles import Profile
from limo.measures import _rows as ranking
from limo.measures._conventions import CONVENTIONS

# Row 0: relevant 3, 2, 2 against irrelevant 4, 2, 1.   Row 1: nothing relevant.   Row 2: all relevant.
PROFILE = Profile(
    np.array([0, 3, 3, 9]),
    np.array([3.0, 2.0, 2.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0]),
    np.array([1, 1, 1, 0, 0, 0, 0, 0, 0]),
    np.array([0, 1, 1, 0, 0, 0, 0, 0, 0]),
    np.array([4.0, 9.0, -np.inf]),
    6,
)
NAN = np.nan


@pytest.mark.parametrize(
    ("function", "standard", "paper"),
    [
        (ranking.ranking_loss, [5 / 9, NAN, NAN], [5 / 9, NAN, NAN]),
        (ranking.auc, [5 / 9, NAN, NAN], [6 / 9, NAN, NAN]),
        (ranking.one_error, [1, NAN, 0], [1, NAN, 0]),
        (ranking.coverage, [4, NAN, 5], [2, NAN, 5]),
        (
            ranking.average_precision,
            [(1 / 2 + 3 / 5 * 2) / 3, NAN, 1],
            [(1 / 2 + 3 / 3 * 2) / 3, NAN, 1],
        ),
    ],
    ids=lambda f: getattr(f, "__name__", ""),
)
def test_by_hand(function, standard, paper):
    np.testing.assert_allclose(function(PROFILE, CONVENTIONS["standard"]), standard)
    np.testing.assert_allclose(function(PROFILE, CONVENTIONS["paper"]), paper)
