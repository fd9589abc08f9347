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


def test_counts_of_known_items_and_weights():
    """Row 1 has an unknown last entry; row 0 counts half, row 1 twice."""
    unknown = Pattern.from_flat(np.array([5]), (2, 3))
    weights = np.array([0.5, 2.0])
    Y = Pattern(PATTERN.indptr, PATTERN.indices, PATTERN.shape, unknown, weights)
    assert COLUMNS.ones(Y) == pytest.approx(weights @ A)
    assert ENTRIES.ones(Y) == pytest.approx([(weights @ A).sum()])
    assert ROWS.n_items(Y).tolist() == [3, 2]
    assert COLUMNS.n_items(Y) == pytest.approx([2.5, 2.5, 0.5])
    assert ENTRIES.n_items(Y) == pytest.approx([5.5])
    assert ROWS.row_weights(Y).tolist() == [0.5, 2.0]
    assert COLUMNS.row_weights(Y).tolist() == [1, 1, 1]
    assert Y.T.T.row_weights.tolist() == [0.5, 2.0]
    assert Y.T.unknown.T.flat.tolist() == [5]
    assert Y.rows(1, 2).unknown.flat.tolist() == [2]
    assert Y.as_one_row().column_weights.tolist() == [0.5, 0.5, 0.5, 2, 2, 2]
