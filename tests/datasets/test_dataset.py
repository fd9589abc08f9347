import dataclasses
import pickle
import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest
from scipy import sparse

import limo
from limo.datasets import Dataset
from limo.datasets._dataset import NumberedNames


def test_a_dataset_is_frozen() -> None:
    data = limo.datasets.figure1(5)
    with pytest.raises(dataclasses.FrozenInstanceError):
        data.X = None  # type: ignore[misc]


def test_it_shows_what_it_is() -> None:
    assert (
        repr(limo.datasets.figure1(5)) == "Dataset(5 instances, 2 features, 4 labels, from figure1)"
    )
    assert (
        repr(Dataset(np.eye(2), np.eye(2), ("a", "b"), ("c", "d")))
        == "Dataset(2 instances, 2 features, 2 labels)"
    )


def test_one_of_each() -> None:
    assert (
        repr(Dataset(np.eye(1), np.eye(1), ("a",), ("b",)))
        == "Dataset(1 instance, 1 feature, 1 label)"
    )


def test_shapes_and_names_must_agree() -> None:
    with pytest.raises(ValueError, match=r"expected \(2, 1\), got \(3, 1\)"):
        Dataset(np.eye(2), np.ones((3, 1)), ("a", "b"), ("c",))
    with pytest.raises(ValueError, match="expected 2 names, got 1"):
        Dataset(np.eye(2), np.ones((2, 1)), ("a",), ("c",))


@pytest.mark.parametrize("store", [np.array, sparse.csr_array])
def test_take_and_stack(store: Callable[..., object], same: Callable[..., None]) -> None:
    X, Y = store(np.arange(6.0).reshape(3, 2)), store(np.eye(3, dtype=np.int8))
    data = Dataset(X, Y, ("a", "b"), ("c", "d", "e"), "s", "sum")
    some = data.take([2, 0])
    assert some.to_dense().X.tolist() == [[4, 5], [0, 1]]
    assert some.checksum == ""
    both = data.take([0]).stack(data.take([1, 2]))
    same(both, data)
    assert both.source == "s + s"
    other = dataclasses.replace(data, label_names=("x", "y", "z"))
    with pytest.raises(ValueError, match="the label_names of the two data sets differ"):
        data.stack(other)


def test_storage_changes_and_values_do_not(same: Callable[..., None]) -> None:
    data = limo.datasets.figure1(5)
    assert sparse.issparse(data.to_sparse().X)
    same(data.to_sparse().to_dense(), data)
    mixed = dataclasses.replace(data, Y=sparse.csr_array(data.Y))
    same(mixed.stack(data), data.stack(data))


@pytest.mark.parametrize("value", [2, -1, 0.5, np.inf])
@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_labels_are_0_1_or_missing(value, form):
    message = r"Y must hold only 0 and 1, or nan, got .* in row 1, column 2 \(from 0\)"
    with pytest.raises(ValueError, match=message):
        limo.Dataset(np.ones((2, 1)), form([[0, 1, 1], [0, 0, value]]), ["a"], list("xyz"))


def test_labels_are_wide_enough_for_scikit_learn():
    """One-vs-rest in scikit-learn 1.9 exchanges columns of int8 labels beyond the 127th."""
    made = limo.datasets.make_multilabel(300, 40, 150, seed=0)
    assert made.Y.dtype == np.int64
    assert limo.datasets.figure1(5).Y.dtype == np.int64


def test_numbered_names_equal_a_tuple_and_take_no_memory():
    names = NumberedNames("x", 3)
    assert names == ("x0", "x1", "x2")
    assert ("x0", "x1", "x2") == names  # noqa: SIM300 (the tuple's own comparison comes first)
    assert names == NumberedNames("x", 3)
    assert names not in (NumberedNames("y", 3), NumberedNames("x", 2), ("x0", "x1"), 3)
    assert hash(names) == hash(("x0", "x1", "x2"))
    assert (names[-1], names[1:], list(names), "x2" in names) == (
        "x2",
        ("x1", "x2"),
        [*names],
        True,
    )
    assert repr(names) == "('x0', 'x1', 'x2')"
    assert repr(NumberedNames("x", 10**7)) == "('x0', ..., 'x9999999')"
    assert pickle.loads(pickle.dumps(names)) == names
    with pytest.raises(IndexError):
        names[3]


def test_announced_columns_take_no_time_and_no_memory(tmp_path):
    """Two short files that once took gigabytes for the names of their columns."""
    (tmp_path / "wide.xmc").write_text("1 10000000 10000000\n0 0:1\n")
    (tmp_path / "wide.libsvm").write_text("0 10000000:1\n")
    tracemalloc.start()
    try:
        assert limo.read(tmp_path / "wide.xmc", format="xmc").Y.shape == (1, 10**7)
        assert limo.read(tmp_path / "wide.libsvm").feature_names[-1] == "x9999999"
        assert tracemalloc.get_traced_memory()[1] < 50_000_000
    finally:
        tracemalloc.stop()


def test_rows_are_taken_by_numbers_or_a_mask():
    data = limo.datasets.figure1(6)
    assert np.array_equal(data.take([3, -1, 3]).X, data.X[[3, 5, 3]])
    assert np.array_equal(data.take(np.arange(6) > 3).Y, data.Y[4:])
    assert data.take([]).Y.shape == (0, 4)
    for rows in ([6], [-7], [0.5], ["a"], [[1]], [[1], [1, 2]], [True], None):
        with pytest.raises(
            ValueError, match="rows must be numbers of rows, below 6, or a mask of 6"
        ):
            data.take(rows)
