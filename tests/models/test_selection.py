import numpy as np
import pytest

import limo
from limo.models import _selection
from limo.models._selection import (
    Truth,
    _fit_weights,
    alone,
    expected_label_thresholds,
    fit_rule,
    label_probabilities,
    mixed,
    select,
    standardise,
    suited_terms,
    without_light,
)
from naive.selection import label_log_odds, least_loss

RNG = np.random.default_rng(0)
Y = (RNG.random((80, 5)) < 0.3).astype(int)
Y[0], Y[1] = 0, 1
TRUTH = Truth(Y)
SCORES = [standardise(Y + noise * RNG.normal(size=Y.shape))[0] for noise in (0.8, 1.0, 1.5, 4.0)]
FOLDS = [np.arange(k, 80, 4) for k in range(4)]


def test_standardised_scores_can_be_repeated():
    S = RNG.normal(3, 7, size=(20, 4))
    Z, centre, spread = standardise(S)
    assert (Z.mean(), Z.std()) == (pytest.approx(0, abs=1e-12), pytest.approx(1))
    np.testing.assert_allclose(Z * spread + centre, S)
    assert np.array_equal(standardise(np.ones((2, 2)))[0], np.zeros((2, 2)))


def cut_by_others(rule_of, S):
    """Labels of all rows, each fold cut by a rule fitted on the others."""
    P = np.zeros_like(Y)
    for test in FOLDS:
        train = np.setdiff1d(np.arange(80), test)
        P[test] = rule_of(train).predict(S[test])
    return P


def test_a_model_alone_is_valued_on_all_folds_together():
    found = alone(["average_precision", "macro_f1"], TRUTH, SCORES[1], FOLDS)
    expected = limo.evaluate(Y, SCORES[1], intervals=0.95)
    assert found["average_precision"].value == pytest.approx(expected["average_precision"])
    interval = expected.intervals["average_precision"]
    assert (found["average_precision"].low, found["average_precision"].high) == pytest.approx(
        (interval.low, interval.high)
    )
    P = cut_by_others(
        lambda rows: limo.LabelThreshold("macro_f1").fit(Y[rows], SCORES[1][rows]), SCORES[1]
    )
    assert found["macro_f1"].value == pytest.approx(limo.macro_f1(Y, P))


@pytest.mark.parametrize("measure", ["macro_f1", "micro_f1", "ranking_loss"])
def test_rules_suit_the_measure(measure):
    rows = np.arange(40)
    rule = fit_rule(limo.MEASURES[measure], "hamming_loss", TRUTH, SCORES[0], rows)
    if measure == "macro_f1":
        expected = expected_label_thresholds(Y[rows], SCORES[0][rows])
        assert np.array_equal(rule.predict(SCORES[0]), SCORES[0] > expected)
    elif measure == "micro_f1":
        auto = limo.AutoThreshold("micro_f1").fit(Y[rows], SCORES[0][rows])
        assert np.array_equal(rule.predict(SCORES[0]), auto.predict(SCORES[0]))
    else:
        other = limo.suggest_threshold("hamming_loss").fit(Y[rows], SCORES[0][rows])
        assert np.array_equal(rule.predict(SCORES[0]), other.predict(SCORES[0]))


@pytest.mark.parametrize("measure", ["macro_f1", "ranking_loss"])
def test_weights_have_the_least_loss(measure):
    """Against an interior-point solver; noise alone gets no weight."""
    terms = suited_terms(limo.MEASURES[measure])
    expected = least_loss(Y, SCORES, label_pairs=measure == "ranking_loss")
    found = _fit_weights(terms, TRUTH, SCORES, np.arange(80))
    np.testing.assert_allclose(found, expected, atol=5e-3)
    again = _fit_weights(terms, TRUTH, SCORES, np.arange(80), [expected])
    np.testing.assert_allclose(again, expected, atol=5e-3)


def test_the_loss_suits_the_measure():
    found = {name: suited_terms(m) for name, m in limo.MEASURES.items()}
    assert found["micro_f1"] == found["hamming_loss"] == ("entries pointwise",)
    assert found["one_error"] == ("rows top", "entries pointwise")
    assert found["macro_auc"] == ("columns mean", "entries pointwise")


def test_weights_are_the_mean_over_folds_left_out():
    names = ["macro_auc", "micro_f1"]
    measures = [limo.MEASURES[name] for name in names]
    found = select(measures, TRUTH, SCORES, FOLDS, np.random.default_rng(0))
    for measure in measures:
        weights, S, P = [], np.zeros(Y.shape), np.zeros_like(Y)
        for k, test in enumerate(FOLDS):
            train = np.concatenate(FOLDS[:k] + FOLDS[k + 1 :])
            weights.append(_fit_weights(suited_terms(measure), TRUTH, SCORES, train))
            mixture = mixed(SCORES, without_light(weights[-1]))
            rule = fit_rule(measure, "micro_f1", TRUTH, mixture, train)
            S[test], P[test] = mixture[test], rule.predict(mixture[test])
        chosen = found[measure.name]
        np.testing.assert_allclose(chosen.weights, np.mean(weights, axis=0), atol=5e-3)
        expected = limo.evaluate(Y, S, P)
        assert set(chosen.values) == set(limo.MEASURES)
        for name, valued in chosen.values.items():
            assert valued.value == pytest.approx(expected[name], abs=0.02)
            assert valued.low <= valued.value <= valued.high


@pytest.mark.slow
@pytest.mark.parametrize("measure", list(limo.MEASURES))
def test_every_measure_gets_weights(measure):
    m = limo.MEASURES[measure]
    chosen = select([m], TRUTH, SCORES, FOLDS, np.random.default_rng(0))[measure]
    assert chosen.weights.sum() == pytest.approx(1)
    assert (chosen.weights >= 0).all()
    assert chosen.values[measure].value >= 0
    # noise weighs little, and the ensemble beats a model of medium quality
    assert chosen.weights[3] < 0.1
    mixture, medium = (
        alone([measure], TRUTH, S, FOLDS)[measure].value
        for S in (mixed(SCORES, chosen.weights), SCORES[2])
    )
    assert m.sign * mixture >= m.sign * medium
    again = select([m], TRUTH, SCORES, FOLDS, np.random.default_rng(0))[measure]
    assert np.array_equal(chosen.weights, again.weights)


def test_large_data_are_read_in_part(monkeypatch):
    monkeypatch.setattr(_selection, "_SECONDS_TOO_MANY", 0.0)
    monkeypatch.setattr(_selection, "_MOST_ENTRIES", 100)
    measures = [limo.MEASURES["macro_auc"]]
    part = select(measures, TRUTH, SCORES, FOLDS, np.random.default_rng(0))["macro_auc"]
    rows = np.sort(np.random.default_rng(0).choice(np.concatenate(FOLDS[1:]), 20, replace=False))
    first = _fit_weights(suited_terms(measures[0]), TRUTH, SCORES, rows, deadline=0.0)
    one = select(measures, TRUTH, SCORES, FOLDS, np.random.default_rng(0), deadline=0.0)[
        "macro_auc"
    ]
    assert np.array_equal(one.weights, first)
    assert not np.array_equal(part.weights, first)


def test_folds_are_left_out_while_there_is_time(monkeypatch):
    monkeypatch.setattr(_selection, "_SECONDS_TOO_MANY", 0.0)
    measures = [limo.MEASURES[name] for name in ("macro_auc", "macro_f1", "micro_f1")]
    found = select(measures, TRUTH, SCORES, FOLDS, np.random.default_rng(0), deadline=0.0)
    for chosen in found.values():
        assert chosen.weights.sum() == pytest.approx(1)
    others = np.concatenate(FOLDS[1:])
    weights = _fit_weights(("entries pointwise",), TRUTH, SCORES, others, deadline=0.0)
    # the value is that of the only fold that was left out
    S = mixed(SCORES, without_light(weights))[FOLDS[0]]
    expected = limo.micro_auc(Y[FOLDS[0]], S)
    assert found["micro_f1"].values["micro_auc"].value == pytest.approx(expected)


def test_small_data_are_judged_on_all_folds_even_if_it_is_late(monkeypatch):
    monkeypatch.setattr(_selection, "_SECONDS_TOO_MANY", 600.0)
    measures = [limo.MEASURES["macro_f1"]]
    late, early = (
        select(measures, TRUTH, SCORES, FOLDS, np.random.default_rng(0), deadline)["macro_f1"]
        for deadline in (0.0, np.inf)
    )
    assert np.array_equal(late.weights, early.weights)
    assert late.values == early.values


def test_one_model_has_all_the_weight():
    measures = [limo.MEASURES["macro_f1"]]
    chosen = select(measures, TRUTH, SCORES[:1], FOLDS, np.random.default_rng(0))["macro_f1"]
    assert chosen.weights.tolist() == [1.0]


def test_models_that_are_all_wrong_weigh_the_same():
    against = [-SCORES[0], -SCORES[1]]
    found = _fit_weights(("entries pointwise",), TRUTH, against, np.arange(80))
    assert found.tolist() == [0.5, 0.5]


def test_rows_without_pairs_are_no_obstacle():
    """One row, all of whose labels are relevant: no measure of order is defined."""
    ones = np.ones((1, 3), dtype=int)
    scores = [np.zeros((1, 3)), np.ones((1, 3))]
    for measure in ("ranking_loss", "macro_f1"):
        found = select([limo.MEASURES[measure]], Truth(ones), scores, [np.arange(1)], RNG)
        assert found[measure].weights.sum() == pytest.approx(1)


def test_weights_and_missing_labels_are_respected():
    """An instance of weight 2 counts like two; a missing label like none."""
    rows = np.concatenate([np.arange(80), np.arange(30)])
    twice = Truth(Y[rows])
    weights = np.where(np.arange(80) < 30, 2.0, 1.0)
    terms = ("rows mean", "entries pointwise")
    expected = _fit_weights(terms, twice, [S[rows] for S in SCORES], np.arange(110))
    found = _fit_weights(terms, Truth(Y, weights), SCORES, np.arange(80))
    np.testing.assert_allclose(found, expected, atol=5e-3)
    gaps = Y.astype(float)
    gaps[40:] = np.nan
    part = _fit_weights(terms, Truth(gaps), SCORES, np.arange(80))
    expected = _fit_weights(terms, TRUTH, SCORES, np.arange(40))
    np.testing.assert_allclose(part, expected, atol=5e-3)
    halves = [np.arange(40), np.arange(40, 80)]
    found = alone(["macro_f1"], Truth(Y, weights), SCORES[0], halves)["macro_f1"].value
    P = np.zeros_like(Y)
    for train, test in (halves, halves[::-1]):
        rule = limo.LabelThreshold("macro_f1")
        rule.fit(Y[train], SCORES[0][train], sample_weight=weights[train])
        P[test] = rule.predict(SCORES[0][test])
    assert found == pytest.approx(limo.macro_f1(Y, P, sample_weight=weights))


@pytest.mark.parametrize("pull", [0.1, 10.0])
def test_sigmoids_of_labels_have_the_least_pulled_loss(pull, monkeypatch):
    """With scores of other sizes, a rare label, and one in no row."""
    monkeypatch.setattr(_selection, "_PULL", pull)
    S = SCORES[1] * [1.0, 3.0, 0.3, 1.0, 1.0] + [0.0, 1.0, 0.0, -2.0, 0.0]
    labels = Y.copy()
    labels[:, 4] = 0
    labels[5:, 3] = 0
    P = label_probabilities(labels, S)
    common = limo.thresholds.ScoreCalibration().fit(labels.reshape(-1, 1), S.reshape(-1, 1))
    odds = common.transform(S.reshape(-1, 1)).reshape(S.shape)
    z = np.log(odds / (1 - odds))
    for j in range(5):
        expected = label_log_odds(labels[:, j], z[:, j], pull)
        np.testing.assert_allclose(np.log(P[:, j] / (1 - P[:, j])), expected, atol=2e-3)


def test_a_strong_pull_gives_all_labels_one_sigmoid(monkeypatch):
    monkeypatch.setattr(_selection, "_PULL", 1e9)
    common = limo.thresholds.ScoreCalibration().fit(Y.reshape(-1, 1), SCORES[1].reshape(-1, 1))
    expected = common.transform(SCORES[1].reshape(-1, 1)).reshape(Y.shape)
    np.testing.assert_allclose(label_probabilities(Y, SCORES[1]), expected, atol=1e-6)


def test_thresholds_have_the_highest_expected_f1():
    """Every threshold between two scores is tried; scores with ties, and a label in no row."""
    S = np.round(SCORES[1], 1)
    labels = Y.copy()
    labels[:, 4] = 0
    found = expected_label_thresholds(labels, S)
    P = label_probabilities(labels, S)

    def expected_f1(j, t):
        predicted = S[:, j] > t
        return 2 * P[predicted, j].sum() / (predicted.sum() + P[:, j].sum())

    for j in range(5):
        best = max(expected_f1(j, t) for t in [-np.inf, *np.unique(S[:, j])[:-1]])
        assert expected_f1(j, found[j]) == pytest.approx(best)
    # calibrated probabilities put them near the best thresholds of many instances
    many = np.random.default_rng(1)
    P = many.random((20_000, 1)) ** 2
    drawn = (many.random(P.shape) < P).astype(int)
    S = np.log(P / (1 - P))
    best = limo.LabelThreshold(shrinkage=0).fit(drawn, S)
    own = (expected_label_thresholds(drawn, S) < S).astype(int)
    assert limo.macro_f1(drawn, own) == pytest.approx(
        limo.macro_f1(drawn, best.predict(S)), abs=0.01
    )


def test_weights_found_so_far_are_used_when_the_time_is_over(monkeypatch):
    monkeypatch.setattr(_selection, "_FEWEST_STEPS", 2)
    terms = ("entries pointwise",)
    late = _fit_weights(terms, TRUTH, SCORES, np.arange(80), deadline=0.0)
    whole = _fit_weights(terms, TRUTH, SCORES, np.arange(80))
    assert late.sum() == pytest.approx(1.0)
    assert not np.allclose(late, whole)
