"""Splits that keep groups together."""

import numpy as np
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

import limo
from limo.datasets import StratifiedFolds, StratifiedSplits, split


@settings(deadline=None, max_examples=50)
@given(st.integers(2, 4), st.integers(4, 40), st.integers(0, 1000))
def test_a_group_is_in_one_fold_and_no_fold_is_empty(k: int, m: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    Y = (rng.random((m, 3)) < 0.3).astype(int)
    groups = np.concatenate([np.arange(4), rng.integers(0, 8, m - 4)])
    tests = [test for _, test in StratifiedFolds(k, seed).split(Y, Y, groups)]
    assert sorted(np.concatenate(tests)) == list(range(m))
    assert all(len(test) for test in tests)
    found = [set(groups[test]) for test in tests]
    assert sum(map(len, found)) == len(set(groups))


def test_labels_are_in_proportion_although_groups_are_whole() -> None:
    """Closer than scikit-learn's GroupKFold, which does not look at labels."""
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 150, 1500)
    liking = rng.random((150, 6)) ** 3  # a label is frequent in some groups
    Y = (rng.random((1500, 6)) < liking[groups]).astype(int)

    def imbalance(splitter) -> float:
        shares = [Y[test].mean(axis=0) for _, test in splitter.split(Y, Y, groups)]
        return float(np.abs(np.array(shares) - Y.mean(axis=0)).mean())

    ours, blind = imbalance(StratifiedFolds(5)), imbalance(GroupKFold(5))
    assert ours < 0.5 * blind
    sizes = [len(test) for _, test in StratifiedFolds(5).split(Y, Y, groups)]
    assert max(sizes) - min(sizes) <= 15
    again = [test.tolist() for _, test in StratifiedFolds(5).split(Y, sparse.csr_array(Y), groups)]
    assert again == [test.tolist() for _, test in StratifiedFolds(5).split(Y, Y, groups)]


def test_names_of_groups_may_be_anything_and_few_groups_still_fill_both_parts() -> None:
    Y = np.eye(6, dtype=int)
    names = np.array(["a", "a", "b", "b", "c", "c"])
    for train, test in StratifiedSplits(3, 0.05).split(Y, Y, names):
        assert (len(train), len(test)) == (4, 2)
    data = limo.datasets.figure1(60)
    train, test = split(data, 0.25, groups=np.arange(60) // 5)
    assert (len(train.X), len(test.X)) == (45, 15)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([1, 2], r"groups must name the group of each row: expected 6, got \(2,\)"),
        ([1, 1, 1, 1, 2, 2], "3 folds need at least as many groups; got 2"),
    ],
)
def test_wrong_groups_are_rejected(groups: list[int], message: str) -> None:
    Y = np.eye(6, dtype=int)
    with pytest.raises(ValueError, match=message):
        list(StratifiedFolds(3).split(Y, Y, groups))


def test_random_splits_take_no_groups() -> None:
    with pytest.raises(ValueError, match="groups need stratify=True"):
        split(limo.datasets.figure1(10), stratify=False, groups=range(10))


def test_scikit_learn_passes_groups_on_with_and_without_routing() -> None:
    data = limo.datasets.figure1(80)
    groups, model = np.arange(80) // 4, KNeighborsClassifier(3)
    plain = cross_val_score(model, data.X, data.Y, cv=StratifiedFolds(4), groups=groups)
    with sklearn.config_context(enable_metadata_routing=True):
        routed = cross_val_score(
            model, data.X, data.Y, cv=StratifiedFolds(4), params={"groups": groups}
        )
    assert plain.tolist() == routed.tolist()
    assert plain.tolist() != cross_val_score(model, data.X, data.Y, cv=StratifiedFolds(4)).tolist()
