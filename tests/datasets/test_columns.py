"""Nominal features, missing values and labels, on small matrices; compare test_arff.py."""

import numpy as np
import pytest
from scipy import sparse

from limo.datasets import DataError, Limits
from limo.datasets._columns import ColumnHeader, Columns, to_dataset
from limo.datasets._options import ReadOptions


def columns_of(headers: list[ColumnHeader], cells: object) -> Columns:
    return Columns(tuple(headers), cells, "toy", lambda row: row + 1)


@pytest.mark.parametrize("store", [np.array, lambda rows: sparse.csr_array(np.array(rows))])
@pytest.mark.parametrize("missing", ["nan", "mean", "zero"])
def test_one_hot_and_missing(store: object, missing: str) -> None:
    nan = np.nan
    headers = [
        ColumnHeader("n"),
        ColumnHeader("c", ("x", "y")),
        ColumnHeader("b", ("1", "0")),
        ColumnHeader("a", ("0", "1")),
    ]
    cells = store([[2.0, nan, 1, 1], [nan, 1, nan, 0], [4, 1, 0, 1]])  # type: ignore[operator]
    data = to_dataset(columns_of(headers, cells), [3], ReadOptions(missing=missing), "").to_dense()
    fill = {"nan": [nan, nan, nan, nan], "zero": [0, 0, 0, 0], "mean": [3, 0, 1, 0.5]}[missing]
    assert data.feature_names == ("n", "c=x", "c=y", "b")
    expected = [[2, fill[1], fill[2], 0], [fill[0], 0, 1, fill[3]], [4, 0, 1, 1]]
    assert np.array_equal(data.X, expected, equal_nan=True)
    assert data.Y.tolist() == [[1], [0], [1]]


def test_a_column_without_any_known_value_becomes_zero() -> None:
    cells = np.array([[np.nan, 1.0], [np.nan, 0.0]])
    for store in (cells, sparse.csr_array(cells)):
        data = to_dataset(
            columns_of([ColumnHeader("n"), ColumnHeader("a")], store.copy()),
            [1],
            ReadOptions(missing="mean"),
            "",
        )
        assert data.to_dense().X.tolist() == [[0], [0]]


def test_no_features_at_all() -> None:
    for cells in (np.eye(2), sparse.csr_array(np.eye(2))):
        data = to_dataset(
            columns_of([ColumnHeader("a"), ColumnHeader("b")], cells), [0, 1], ReadOptions(), ""
        )
        assert data.X.shape == (2, 0)


def test_limits_stop_what_would_fill_memory() -> None:
    wide = ColumnHeader("c", tuple(map(str, range(2, 40))))
    cells = sparse.csr_array((5, 2))
    few = ReadOptions(labels=1, limits=Limits(max_columns=10))
    with pytest.raises(DataError, match=r"at most 10 features, got 38.*max_columns=38"):
        to_dataset(columns_of([wide, ColumnHeader("a")], cells), [1], few, "")
    little = ReadOptions(labels=1, limits=Limits(max_values=4))
    with pytest.raises(DataError, match=r"at most 4 one-hot values, got 5"):
        to_dataset(columns_of([wide, ColumnHeader("a")], cells), [1], little, "")
    with pytest.raises(DataError, match=r"at most 4 stored values, got 5.*max_values=5"):
        to_dataset(
            columns_of([ColumnHeader("n"), ColumnHeader("a", ("1", "0"))], cells), [1], little, ""
        )


def test_a_wrong_label_value_is_found_in_a_sparse_matrix() -> None:
    cells = sparse.csr_array(np.array([[1.0, 0, 1], [0, 1, 3]]))
    with pytest.raises(DataError, match=r"toy, line 2: the label 'b' must be 0 or 1, got 3"):
        to_dataset(
            columns_of([ColumnHeader("n"), ColumnHeader("a"), ColumnHeader("b")], cells),
            [1, 2],
            ReadOptions(),
            "",
        )


def test_one_hot_columns_that_are_large_and_nearly_empty_are_sparse() -> None:
    values = tuple(map(str, range(2, 6002)))
    headers = [ColumnHeader("c", values), ColumnHeader("n"), ColumnHeader("a")]
    rows = np.arange(6000.0)
    cells = np.column_stack([rows // 2, rows, rows % 2])
    X = to_dataset(columns_of(headers, cells), [2], ReadOptions(), "").X
    assert sparse.issparse(X)
    assert X.shape == (6000, 6001)
    assert X[[7]].nonzero()[1].tolist() == [3, 6000]
    small = to_dataset(columns_of(headers, cells[:100]), [2], ReadOptions(), "").X
    assert isinstance(small, np.ndarray)
    assert np.array_equal(small, X[:100].toarray())


def test_dense_one_hot_columns_have_a_limit() -> None:
    headers = [ColumnHeader("c", ("x", "y", "z")), ColumnHeader("a")]
    cells = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 0.0]])
    options = ReadOptions(limits=Limits(max_values=8))
    with pytest.raises(DataError, match="expected at most 8 values with one-hot columns, got 9"):
        to_dataset(columns_of(headers, cells), [1], options, "")
