import numpy as np
import pytest

from limo._views import COLUMNS, ENTRIES, ROWS, VIEWS, Pattern

A = np.array([[1, 0, 1], [0, 0, 0]])
PATTERN = Pattern.from_flat(np.flatnonzero(A), A.shape)


@pytest.mark.parametrize(
    ("view", "ones", "n_items"), [(ROWS, [2, 0], 3), (COLUMNS, [1, 0, 1], 2), (ENTRIES, [2], 6)]
)
def test_ones_and_items(view, ones, n_items):
    assert view.ones(PATTERN).tolist() == ones
    assert view.n_items(PATTERN) == n_items


def test_words():
    assert ROWS.empty_reason == "no relevant label"
    assert COLUMNS.full_reason == "every instance positive"
    assert list(VIEWS) == ["rows", "columns", "entries"]
