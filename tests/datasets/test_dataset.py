import dataclasses
from collections.abc import Callable

import numpy as np
import pytest
from scipy import sparse

import limo
from limo.datasets import Dataset


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


def test_labels_are_wide_enough_for_scikit_learn():
    """One-vs-rest in scikit-learn 1.9 exchanges columns of int8 labels beyond the 127th."""
    made = limo.datasets.make_multilabel(300, 40, 150, seed=0)
    assert made.Y.dtype == np.int64
    assert limo.datasets.figure1(5).Y.dtype == np.int64
