import numpy as np
import pytest

import limo
from limo.models import _selection
from limo.models._selection import (
    Truth,
    _fit_weights,
    alone,
    expected_label_thresholds,
    measured,
    mixed,
    select,
    standardise,
    suited_terms,
)
from naive.selection import least_loss

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


def test_a_measure_of_labels_is_cut_on_other_rows():
    train, test = np.arange(40), np.arange(40, 80)
    rule = limo.LabelThreshold("macro_f1").fit(Y[train], SCORES[0][train])
    expected = limo.macro_f1(Y[test], rule.predict(SCORES[0][test]))
    m = limo.MEASURES["macro_f1"]
    assert measured(m, TRUTH, SCORES[0], "label", train, test) == pytest.approx(expected)
    m = limo.MEASURES["ranking_loss"]
    expected = limo.ranking_loss(Y[test], SCORES[0][test])
    assert measured(m, TRUTH, SCORES[0], None, train, test) == pytest.approx(expected)


def test_a_model_alone_has_a_value_per_fold():
    m = limo.MEASURES["average_precision"]
    values = [limo.average_precision(Y[test], SCORES[1][test]) for test in FOLDS]
    assert alone(m, TRUTH, SCORES[1], FOLDS).tolist() == pytest.approx(values)


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
        weights, values = [], []
        for k, test in enumerate(FOLDS):
            train = np.concatenate(FOLDS[:k] + FOLDS[k + 1 :])
            weights.append(_fit_weights(suited_terms(measure), TRUTH, SCORES, train))
            kind = "global" if measure.name == "micro_f1" else None
            values.append(measured(measure, TRUTH, mixed(SCORES, weights[-1]), kind, train, test))
        chosen = found[measure.name]
        np.testing.assert_allclose(chosen.weights, np.mean(weights, axis=0), atol=5e-3)
        np.testing.assert_allclose(chosen.held_out, values, atol=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("measure", list(limo.MEASURES))
def test_every_measure_gets_weights(measure):
    m = limo.MEASURES[measure]
    chosen = select([m], TRUTH, SCORES, FOLDS, np.random.default_rng(0))[measure]
    assert chosen.weights.sum() == pytest.approx(1)
    assert (chosen.weights >= 0).all()
    assert chosen.held_out.shape == (4,)
    # noise weighs little, and the ensemble beats a model of medium quality
    assert chosen.weights[3] < 0.1
    mixture = alone(m, TRUTH, mixed(SCORES, chosen.weights), FOLDS).mean()
    assert m.sign * mixture >= m.sign * alone(m, TRUTH, SCORES[2], FOLDS).mean()
    again = select([m], TRUTH, SCORES, FOLDS, np.random.default_rng(0))[measure]
    assert np.array_equal(chosen.weights, again.weights)


def test_large_data_are_read_in_part(monkeypatch):
    monkeypatch.setattr(_selection, "_MOST_ENTRIES", 100)
    measures = [limo.MEASURES["macro_auc"]]
    part = select(measures, TRUTH, SCORES, FOLDS, np.random.default_rng(0))["macro_auc"]
    rows = np.sort(np.random.default_rng(0).choice(np.concatenate(FOLDS[1:]), 20, replace=False))
    first = _fit_weights(suited_terms(measures[0]), TRUTH, SCORES, rows)
    one = select(measures, TRUTH, SCORES, FOLDS, np.random.default_rng(0), deadline=0.0)[
        "macro_auc"
    ]
    assert np.array_equal(one.weights, first)
    assert not np.array_equal(part.weights, first)


def test_folds_are_left_out_while_there_is_time():
    measures = [limo.MEASURES[name] for name in ("macro_auc", "macro_f1", "micro_f1")]
    found = select(measures, TRUTH, SCORES, FOLDS, np.random.default_rng(0), deadline=0.0)
    for chosen in found.values():
        assert chosen.held_out.shape == (1,)
        assert chosen.weights.sum() == pytest.approx(1)


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
    m, train, test = limo.MEASURES["macro_f1"], np.arange(40), np.arange(40, 80)
    found = measured(m, Truth(Y, weights), SCORES[0], "label", train, test)
    rule = limo.LabelThreshold("macro_f1").fit(Y[:40], SCORES[0][:40], sample_weight=weights[:40])
    expected = limo.macro_f1(Y[40:], rule.predict(SCORES[0][40:]), sample_weight=weights[40:])
    assert found == pytest.approx(expected)


def test_thresholds_have_the_highest_expected_f1():
    """Every threshold between two scores is tried; scores with ties, and a label in no row."""
    S = np.round(SCORES[1], 1)
    labels = Y.copy()
    labels[:, 4] = 0
    found = expected_label_thresholds(labels, S)
    entries = limo.thresholds.ScoreCalibration().fit(labels.reshape(-1, 1), S.reshape(-1, 1))
    P = entries.transform(S.reshape(-1, 1)).reshape(S.shape)

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
