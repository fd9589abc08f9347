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


def test_rows_of_each_view():
    matrix = np.arange(6).reshape(2, 3)
    for view, n_rows, sums in ((ROWS, 2, [3, 12]), (COLUMNS, 3, [3, 5, 7]), (ENTRIES, 1, [15])):
        assert view.n_rows(matrix.shape) == n_rows
        assert np.atleast_1d(matrix.sum(axis=view.axis)).tolist() == sums
