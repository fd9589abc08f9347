"""Splits: exact sizes, labels in proportion, and the seeds kept."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.model_selection import KFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

import limo
from limo.datasets import (
    DataError,
    Dataset,
    GivenSplit,
    StoredSplits,
    StratifiedFolds,
    StratifiedSplits,
    load_split,
    split,
    stored_splits,
)


def imbalance(Y: np.ndarray, tests: list[np.ndarray]) -> float:
    """The mean difference between a label's share in a test part and in the whole."""
    return float(np.mean([np.abs(Y[test].mean(axis=0) - Y.mean(axis=0)).mean() for test in tests]))


@settings(deadline=None)
@given(
    st.integers(2, 5),
    st.lists(st.lists(st.integers(0, 1), min_size=3, max_size=3), min_size=5, max_size=30),
    st.integers(0, 3),
)
def test_folds_part_the_rows(k: int, rows: list[list[int]], seed: int) -> None:
    Y = np.array(rows)
    folds = list(StratifiedFolds(k, seed).split(Y, Y))
    tests = [test for _, test in folds]
    assert sorted(np.concatenate(tests)) == list(range(len(rows)))
    assert max(map(len, tests)) - min(map(len, tests)) <= 1
    for train, test in folds:
        assert sorted([*train, *test]) == list(range(len(rows)))


@settings(deadline=None)
@given(st.integers(2, 40), st.floats(0.05, 0.95), st.integers(0, 5))
def test_splits_have_the_size_asked_for(m: int, share: float, seed: int) -> None:
    Y = np.random.default_rng(seed).integers(0, 2, size=(m, 3))
    for train, test in StratifiedSplits(2, share, seed).split(Y, Y):
        assert len(test) == round(share * m)
        assert sorted([*train, *test]) == list(range(m))


def test_rare_labels_reach_every_fold() -> None:
    Y = np.zeros((100, 3), dtype=int)
    Y[:5, 0] = 1
    Y[5:15, 1] = 1
    Y[:50, 2] = 1
    for _, test in StratifiedFolds(5).split(Y, Y):
        assert Y[test].sum(axis=0).tolist() == [1, 2, 10]


def test_better_than_chance_and_the_same_for_any_storage() -> None:
    data = limo.datasets.make_multilabel(600, 5, 30, seed=2)
    Y = data.Y.toarray()
    ours = [test for _, test in StratifiedFolds(4).split(data.X, data.Y)]
    chance = [test for _, test in KFold(4, shuffle=True, random_state=0).split(Y)]
    assert imbalance(Y, ours) < 0.5 * imbalance(Y, chance)
    for y in (Y, Y.tolist(), pd.DataFrame(Y), sparse.csc_matrix(Y)):
        again = [test for _, test in StratifiedFolds(4).split(data.X, y)]
        assert all(np.array_equal(a, b) for a, b in zip(ours, again, strict=True))


def test_seeds() -> None:
    data = limo.datasets.figure1(100)

    def tests(splitter: StratifiedSplits) -> list[list[int]]:
        return [test.tolist() for _, test in splitter.split(data.X, data.Y)]

    same = tests(StratifiedSplits(3, seed=1))
    assert same == tests(StratifiedSplits(3, seed=1))
    assert same != tests(StratifiedSplits(3, seed=2))
    assert same[0] != same[1]


def test_scikit_learn_takes_them() -> None:
    data = limo.datasets.figure1(200)
    for cv in (StratifiedFolds(3), StratifiedSplits(3), StoredSplits([np.arange(200)] * 3)):
        assert cv.get_n_splits() == 3
        assert cross_val_score(KNeighborsClassifier(), data.X, data.Y, cv=cv).shape == (3,)


def test_wrong_requests() -> None:
    Y = np.eye(4, dtype=int)
    with pytest.raises(
        ValueError, match=r"n_splits must be between 2 and the number of rows, 4; got 5"
    ):
        next(StratifiedFolds(5).split(Y, Y))
    with pytest.raises(ValueError, match=r"stratification needs the labels: split\(X, Y\)"):
        next(StratifiedFolds(2).split(Y))
    with pytest.raises(ValueError, match="Y must hold only 0 and 1: found 2 at row 0, column 0"):
        next(StratifiedFolds(2).split(Y, 2 * Y))
    with pytest.raises(ValueError, match="Y must have two dimensions, instances x labels"):
        next(StratifiedFolds(2).split(Y, [0, 1, 0, 1]))
    with pytest.raises(ValueError, match="X has 3 rows, Y has 4; they must agree"):
        next(StratifiedFolds(2).split(Y[:3], Y))
    with pytest.raises(ValueError, match="test_size must be between 0 and 1, got 3"):
        next(StratifiedSplits(1, 3).split(Y, Y))


@pytest.mark.parametrize("stratify", [True, False])
def test_one_call(stratify: bool, same: Callable[[Dataset, Dataset], None]) -> None:
    data = limo.datasets.figure1(101)
    train, test = split(data, 0.25, stratify=stratify, seed=4)
    assert (train.X.shape[0], test.X.shape[0]) == (76, 25)
    again, _ = split(data, 0.25, stratify=stratify, seed=4)
    same(train, again)
    rows = {tuple(x) for x in data.X}
    assert {tuple(x) for x in train.X} | {tuple(x) for x in test.X} == rows


def test_stored_permutations() -> None:
    splits = StoredSplits([[3, 1, 0, 2, 4]], test_size=0.4)
    [(train, test)] = splits.split(range(5))
    assert (train.tolist(), test.tolist()) == ([0, 2, 4], [3, 1])
    with pytest.raises(ValueError, match="the stored splits are for 5 rows, the data have 4"):
        next(splits.split(range(4)))
    for no_matrix in ([0, 1, 2], None, [[0.5]], [[0, 1], [0]]):
        with pytest.raises(DataError, match="permutations must be whole numbers"):
            StoredSplits(no_matrix)
    for wrong in ([[0, 0, 1]], [[1, 2, 3]]):
        with pytest.raises(
            DataError, match=r"expected a permutation of 0 to n - 1 in each row; row 1 is not one"
        ):
            StoredSplits(wrong)


def test_stored_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIMO_DATA", str(tmp_path))
    (tmp_path / "splits").mkdir()
    (tmp_path / "splits" / "toy.csv").write_text("2,0,1\n1,2,0\n")
    assert stored_splits("toy").permutations.tolist() == [[2, 0, 1], [1, 2, 0]]
    assert stored_splits(str(tmp_path / "splits" / "toy.csv")).get_n_splits() == 2
    with pytest.raises(DataError, match=r"no splits are stored for 'other': expected .*other.csv"):
        stored_splits("other")
    (tmp_path / "splits" / "bad.csv").write_text("2,x,1\n")
    with pytest.raises(DataError, match="bad.csv: expected whole numbers and commas"):
        stored_splits("bad")


def test_the_authors_splits(real_data: Path) -> None:
    for name, m, n_test in (("CAL500", 502, 151), ("enron", 1702, 511)):
        splits = stored_splits(name)
        assert splits.get_n_splits() == 10
        data = limo.datasets.load(name, download=False)
        for train, test in splits.split(data.X, data.Y):
            assert (len(train), len(test)) == (m - n_test, n_test)


def test_given_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = {"train": limo.datasets.figure1(5), "test": limo.datasets.figure1(3, seed=1)}
    monkeypatch.setattr("limo.datasets._split.load", lambda name, part: parts[part])
    data, given_split = load_split("toy")
    [(train, test)] = given_split.split(data.X)
    assert np.array_equal(data.X[train], parts["train"].X)
    assert np.array_equal(data.X[test], parts["test"].X)
    assert given_split.get_n_splits() == 1


def test_the_given_split(real_data: Path) -> None:
    data, given_split = load_split("medical")
    [(train, test)] = given_split.split(data.X, data.Y)
    assert (len(train), len(test)) == (333, 645)
    whole = limo.datasets.load("medical", download=False)
    assert data.X.sum() == whole.X.sum()
    assert isinstance(given_split, GivenSplit)


def test_at_full_size() -> None:
    import numba

    if numba.config.DISABLE_JIT:
        pytest.skip("a hundred thousand rows take too long without the compiler")
    Y = limo.datasets.make_multilabel(100_000, 2, 1000, cardinality=3, density_of_X=0.1).Y
    tests = [test for _, test in StratifiedFolds(5).split(Y, Y)]
    assert [len(test) for test in tests] == [20_000] * 5
    counts = np.array([Y[test].sum(axis=0) for test in tests])
    assert (counts.max(axis=0) - counts.min(axis=0)).mean() < 2
