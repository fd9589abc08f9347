"""Thresholds fitted with sample weights and missing labels."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsRegressor

import limo
from limo import thresholds

TARGETS = ["macro_f1", "instance_f1", "micro_f1", "hamming_loss", "macro_balanced_accuracy"]
RULES = [
    (limo.GlobalThreshold, TARGETS),
    (lambda target: limo.LabelThreshold(target, shrinkage=0), ["macro_f1", "micro_f1"]),
    (lambda target: limo.LabelThreshold(target, shrinkage=0), ["f1", "balanced_accuracy"]),
    (lambda target: limo.TopK(target=target), ["instance_f1", "micro_f1"]),
]
CASES = [(make, target) for make, targets in RULES for target in targets]


def data(seed, m=30, l=5):
    rng = np.random.default_rng(seed)
    Y = (rng.random((m, l)) < 0.4).astype(int)
    S = np.round(rng.normal(size=(m, l)) + Y, 1)
    return rng, Y, S


def fitted(rule):
    names = ("threshold_", "thresholds_", "k_")
    return next(getattr(rule, name) for name in names if hasattr(rule, name))


@pytest.mark.parametrize(("make", "target"), CASES)
def test_integer_weights_repeat_instances(make, target):
    for seed in range(5):
        rng, Y, S = data(seed)
        weights = rng.integers(0, 4, len(Y))
        repeated = np.repeat(np.arange(len(Y)), weights)
        expected = fitted(make(target).fit(Y[repeated], S[repeated]))
        assert fitted(make(target).fit(Y, S, sample_weight=weights)) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("by", "target"),
    [
        ("label", "macro_f1"),
        ("label", "micro_f1"),
        ("global", "macro_f1"),
        ("global", "instance_f1"),
        ("global", "micro_f1"),
    ],
)
def test_no_threshold_is_better_with_weights_and_missing_labels(by, target):
    """Every cut between two scores is tried, and judged by the measure itself."""
    for seed in range(6):
        rng, Y, S = data(seed, m=8, l=1 if by == "label" else 3)
        gaps = np.where(rng.random(Y.shape) < 0.3, -1, Y)
        given = {"sample_weight": rng.exponential(size=len(Y)), "missing": -1}
        if not (gaps == 1).any():
            continue
        measure = getattr(limo, target)
        rule = limo.GlobalThreshold(target) if by == "global" else limo.LabelThreshold(
            target, shrinkage=0
        )  # fmt: skip
        found = measure(gaps, rule.fit(gaps, S, **given).predict(S), **given)
        cuts = [-np.inf, *np.unique(S)]
        values = [measure(gaps, (cut < S).astype(int), **given) for cut in cuts]
        assert found == pytest.approx(max(values))


def test_missing_labels_are_as_if_removed():
    for seed in range(5):
        rng, Y, S = data(seed, l=1)
        gone = rng.random(len(Y)) < 0.4
        gaps = np.where(gone[:, None], np.nan, Y)
        for find in (thresholds.best_label_thresholds, thresholds.best_global_threshold):
            found = find(gaps, S, missing=np.nan)
            assert found == pytest.approx(find(Y[~gone], S[~gone]))
    kept = thresholds.best_instance_thresholds([[1, 0, -1]], [[0.5, 0.25, 0.75]], missing=-1)
    assert kept.tolist() == [0.375]


def test_jointly_chosen_thresholds_of_instances_use_weights():
    for seed in range(5):
        rng, Y, S = data(seed, m=6, l=4)
        weights = rng.integers(0, 3, len(Y)) + 1
        repeated = np.repeat(np.arange(len(Y)), weights)
        find = thresholds.best_instance_thresholds
        expected = find(Y[repeated], S[repeated], "micro_f1")
        found = find(Y, S, "micro_f1", sample_weight=weights)
        assert np.repeat(found, weights) == pytest.approx(expected)


def test_reports_and_curves_use_weights():
    for seed in range(3):
        rng, Y, S = data(seed)
        P, weights = (S > 0.5).astype(int), rng.integers(0, 4, len(Y))
        repeated = np.repeat(np.arange(len(Y)), weights)
        again = Y[repeated], S[repeated], P[repeated]
        found = limo.threshold_report(Y, S, P, sample_weight=weights)
        expected = limo.threshold_report(*again)
        for name, loss in expected.measures.items():
            own = found.measures[name]
            for part in ("found", "best_threshold", "possible"):
                assert getattr(own, part) == pytest.approx(getattr(loss, part)), name
        for kind, bounds in expected.bounds.items():
            assert found.bounds[kind] == pytest.approx(bounds)
        curves = thresholds.f1_curves(Y, S, 21, sample_weight=weights)
        t = float(curves.thresholds[8])
        for name, line in curves.lines.items():
            expected_value = getattr(limo, name)(Y, (t < S).astype(int), sample_weight=weights)
            assert line[8] == pytest.approx(expected_value)


def test_reports_and_curves_leave_missing_labels_out():
    rng, Y, S = data(4)
    gaps = np.where(rng.random(Y.shape) < 0.3, np.nan, Y)
    gaps[3] = np.nan
    P = (S > 0.5).astype(int)
    report = limo.threshold_report(gaps, S, P, missing=np.nan)
    for name, loss in report.measures.items():
        assert loss.found[0] == pytest.approx(getattr(limo, name)(gaps, P, missing=np.nan))
        assert min(loss.lost_to_ranking[0], loss.possible[0] + 1) >= 0
    curves = thresholds.f1_curves(gaps, S, 21, missing=np.nan)
    t = float(curves.thresholds[8])
    for name, line in curves.lines.items():
        assert line[8] == pytest.approx(
            getattr(limo, name)(gaps, (t < S).astype(int), missing=np.nan)
        )


def test_what_cannot_use_weights_says_so():
    _, Y, S = data(1)

    class Unweighted(limo.InstanceThreshold):
        takes_weights = False

    with pytest.raises(ValueError, match="Unweighted cannot be fitted with sample_weight"):
        Unweighted().fit(Y, S, sample_weight=np.arange(30))
    knn = limo.InstanceThreshold(regressor=KNeighborsRegressor())
    with pytest.raises(ValueError, match="KNeighborsRegressor takes no sample_weight"):
        knn.fit(Y, S, sample_weight=np.arange(30))
    from scipy import sparse

    with pytest.raises(ValueError, match="Sparse scores cannot be used with missing labels"):
        limo.LabelThreshold().fit(Y, sparse.csr_array(S), sample_weight=np.ones(30))


def test_threshold_errors_count_known_labels_only():
    Y, S = [[1, 0, -1], [0, -1, 1]], [[0.9, 0.2, 0.8], [0.5, 0.6, 0.1]]
    assert limo.threshold_error(Y, S, 0.3, missing=-1).tolist() == [0, 0]
    assert limo.threshold_error(Y, S, 0.3, by="label", missing=-1).tolist() == [1, 0, 1]
