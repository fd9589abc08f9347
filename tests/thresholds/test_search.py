"""All best thresholds against brute force, for every target, view and kind of scores."""

import itertools

import numpy as np
import pytest
from scipy import sparse

from cases import cases
from limo._checks import check_labels
from limo._views import COLUMNS, ENTRIES, ROWS
from limo.thresholds._scores import check_pair
from limo.thresholds._search import best_thresholds, middle
from limo.thresholds._target import TARGETS, Target, check_target, f_beta
from naive import thresholds as naive
from thresholds_cases import stored_case

VIEWS = {"instance": ROWS, "label": COLUMNS, "global": ENTRIES}
OWN = {"instance": "instance", "label": "macro", "global": "micro"}
# (what is cut, whose counts are judged): all but the two pairs that cross
PAIRS = [("instance", "instance"), ("instance", "micro"), ("label", "macro"), ("label", "micro"),
         ("global", "macro"), ("global", "instance"), ("global", "micro")]  # fmt: skip

ALL = {name: (TARGETS[name].function, function, True) for name, function in naive.FUNCTIONS.items()}
ALL["f_beta(2)"] = (f_beta(2.0).function, naive.f_beta(2.0), True)
ALL["f_beta(0.5)"] = (f_beta(0.5).function, naive.f_beta(0.5), True)
ALL["cardinality"] = (lambda tp, fp, fn, tn: -np.abs(fp - fn), naive.cardinality, False)
MOST = 600
WORK = [
    (name, by, average)
    for name, (_, _, fractional) in ALL.items()
    for by, average in PAIRS
    if fractional or by == "global" or average != "micro"  # refused: tested below
]


def found_value(function, average, by, Y, S, T, target):
    t = best_thresholds(VIEWS[by], target, *check_pair(Y, T)).values
    return naive.value(function, average, Y.tolist(), naive.cut(S.tolist(), t, by))


@pytest.mark.parametrize(("name", "by", "average"), WORK, ids=lambda x: x)
def test_dense_equals_brute_force(name, by, average):
    vectorised, function, fractional = ALL[name]
    target = Target(vectorised, average, fractional, name)
    judged = 0
    for Y, S, _ in cases(30, seed=60):
        if naive.n_combinations(by, S.tolist()) > MOST:
            continue
        judged += 1
        expected = naive.best_value(function, average, by, Y.tolist(), S.tolist())
        assert found_value(function, average, by, Y, S, S, target) == pytest.approx(
            expected, abs=1e-9
        )
    assert judged >= 10


@pytest.mark.parametrize(("name", "by", "average"), WORK, ids=lambda x: x)
def test_sparse_equals_brute_force_with_minus_infinity(name, by, average):
    vectorised, function, fractional = ALL[name]
    target = Target(vectorised, average, fractional, name)
    rng = np.random.default_rng(61)
    judged = 0
    for _ in range(30):
        Y, T, S = stored_case(rng)
        if naive.n_combinations(by, S.tolist()) > MOST:
            continue
        judged += 1
        expected = naive.best_value(function, average, by, Y.tolist(), S.tolist())
        assert found_value(function, average, by, Y, S, T, target) == pytest.approx(
            expected, abs=1e-9
        )
    assert judged >= 10


def test_joint_micro_optimum_beats_each_label_alone():
    """For label 0 alone one of two is best; for the matrix it should give both."""
    rng = np.random.default_rng(63)
    better = 0
    for _ in range(50):
        Y = (rng.random((8, 3)) < 0.4).astype(int)
        S = rng.normal(size=(8, 3)) + Y
        alone = best_thresholds(COLUMNS, TARGETS["macro_f1"], *check_pair(Y, S)).values
        value = naive.value(
            naive.f_beta(1), "micro", Y.tolist(), naive.cut(S.tolist(), alone, "label")
        )
        joint = found_value(naive.f_beta(1), "micro", "label", Y, S, S, TARGETS["micro_f1"])
        assert joint >= value - 1e-12
        better += joint > value + 1e-9
    assert better > 5


def test_of_equally_good_thresholds_the_fewest_predictions():
    Y, S = np.array([[1, 0, 1, 0]]), np.array([[4.0, 3.0, 2.0, 1.0]])
    pair = check_labels(Y, "y"), check_pair(Y, S)[1]
    # Hamming: one label or three predicted, one wrong each
    assert best_thresholds(ROWS, TARGETS["hamming_loss"], *pair).values.tolist() == [3.5]
    assert best_thresholds(ROWS, TARGETS["hamming_loss"], *pair, most=True).values.tolist() == [1.5]


def test_nothing_and_everything():
    Y = np.array([[0, 1, 0], [0, 1, 1], [0, 1, 1]])
    S = np.array([[0.5, 0.5, 1.0], [0.25, 0.5, 0.5], [0.125, 0.5, 0.25]])
    t = best_thresholds(COLUMNS, TARGETS["macro_f1"], *check_pair(Y, S)).values
    assert t.tolist() == [np.inf, -np.inf, -np.inf]


def test_nothing_to_gain_anywhere():
    for by, average in PAIRS:
        Y, S = np.zeros((2, 3), dtype=int), np.arange(6.0).reshape(2, 3)
        target = Target(TARGETS["f1"].function, average, fractional=True)
        assert (best_thresholds(VIEWS[by], target, *check_pair(Y, S)).values == np.inf).all()


def test_a_threshold_lies_half_way_and_never_at_the_upper_score():
    low = np.array([1.0, 0.0, -1e308, 1.0])
    high = np.array([3.0, np.nextafter(0, 1), 1e308, np.nextafter(1, 2)])
    t = middle(high, low)
    assert t[0] == 2
    assert t[2] == 0
    assert (low <= t).all()
    assert (t < high).all()
    assert middle(np.array([np.inf, 1.0]), np.array([2.0, -np.inf])).tolist() == [np.inf, -np.inf]


def test_neighbouring_floats_are_parted():
    a = np.nextafter(1.0, 2.0)
    for upper, lower in ((a, 1.0), (np.nextafter(a, 2.0), a)):
        Y, S = np.array([[1], [0]]), np.array([[upper], [lower]])
        t = best_thresholds(COLUMNS, TARGETS["f1"], *check_pair(Y, S)).values
        assert (t < S).ravel().tolist() == [True, False]


def test_crossed_views_are_refused():
    pair = check_pair([[1, 0]], [[0.5, 0.25]])
    with pytest.raises(
        ValueError,
        match="threshold for each label cannot be fitted to 'instance_f1', which judges each instance",
    ):
        best_thresholds(COLUMNS, TARGETS["instance_f1"], *pair)
    with pytest.raises(
        ValueError, match="threshold for each instance cannot be fitted to 'macro_f1'"
    ):
        best_thresholds(ROWS, TARGETS["macro_f1"], *pair)


def test_joint_fit_of_any_function_is_refused():
    target = Target(lambda tp, fp, fn, tn: -abs(fp - fn), "micro", name="mine")
    with pytest.raises(ValueError, match="'micro_mine' cannot be fitted jointly.*fractional=True"):
        best_thresholds(COLUMNS, target, *check_pair([[1, 0]], [[0.5, 0.25]]))


def test_blocks_change_nothing(monkeypatch):
    rng = np.random.default_rng(64)
    Y, S = (rng.random((40, 30)) < 0.2).astype(int), rng.integers(0, 50, (40, 30)) / 7.0
    pairs = [check_pair(Y, S), check_pair(Y, sparse.csr_array(S + 1))]
    targets = [check_target(n) for n in ("f1", "micro_f1", lambda tp, fp, fn, tn: tp - fp)]
    work = list(itertools.product([ROWS, COLUMNS, ENTRIES], targets[:2], pairs))
    work += [(view, targets[2], pair) for view in (ROWS, COLUMNS, ENTRIES) for pair in pairs]
    whole_at_once = [best_thresholds(v, t, *p).values.tolist() for v, t, p in work]
    monkeypatch.setattr("limo._profiles._BLOCK_ITEMS", 64)
    monkeypatch.setattr("limo._profiles._LEAST_COLUMNS", 1)
    monkeypatch.setattr("limo.thresholds._search._ENOUGH_TO_SHARE", 1)
    assert [best_thresholds(v, t, *p).values.tolist() for v, t, p in work] == whole_at_once
