import numpy as np
import pytest

import limo
from limo.models import _selection
from limo.models._selection import (
    _greedy,
    alone,
    by_fold,
    measured,
    mixed,
    select,
    standardise,
)
from naive.selection import greedy

RNG = np.random.default_rng(0)
Y = (RNG.random((80, 5)) < 0.3).astype(int)
Y[0], Y[1] = 0, 1
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
    assert measured(m, Y, SCORES[0], "label", train, test) == pytest.approx(expected)
    m = limo.MEASURES["ranking_loss"]
    expected = limo.ranking_loss(Y[test], SCORES[0][test])
    assert measured(m, Y, SCORES[0], None, train, test) == pytest.approx(expected)


def test_a_model_alone_is_the_mean_of_its_folds():
    m = limo.MEASURES["average_precision"]
    values = [limo.average_precision(Y[test], SCORES[1][test]) for test in FOLDS]
    assert list(by_fold(m, Y, SCORES[1], None, FOLDS)) == pytest.approx(values)
    assert alone(m, Y, SCORES[1], FOLDS) == pytest.approx(np.mean(values))


@pytest.mark.parametrize("measure", ["ranking_loss", "macro_auc", "micro_f1"])
@pytest.mark.parametrize("n_models", [1, 2, 4])
def test_greedy_selection_step_by_step(measure, n_models):
    m, scores = limo.MEASURES[measure], SCORES[:n_models]
    halves = np.array_split(np.arange(80), 2)
    kind = "global" if measure == "micro_f1" else None

    def value(S):
        return m.sign * np.mean(list(by_fold(m, Y, S, kind, halves)))

    settings = (_selection._N_START, _selection._MOST_STEPS, 2)
    expected = greedy(value, scores, *settings)
    np.testing.assert_allclose(_greedy(m, Y, scores), expected)


@pytest.mark.slow
@pytest.mark.parametrize("measure", list(limo.MEASURES))
def test_every_measure_gets_weights(measure):
    m = limo.MEASURES[measure]
    chosen = select(m, Y, SCORES, FOLDS, np.random.default_rng(0))
    assert chosen.weights.sum() == pytest.approx(1)
    assert (chosen.weights >= 0).all()
    assert chosen.held_out.shape == (_selection._N_BAGS,)
    # noise weighs no more than an even mix gives it, and the ensemble beats the best model
    mixture = alone(m, Y, mixed(SCORES, chosen.weights), FOLDS)
    assert m.sign * mixture >= m.sign * alone(m, Y, SCORES[2], FOLDS)
    again = select(m, Y, SCORES, FOLDS, np.random.default_rng(0))
    assert np.array_equal(chosen.weights, again.weights)


def test_the_weights_are_shrunk_towards_models_that_are_not_clearly_worse():
    """By hand: differences from the best model, fold by fold, against twice their error."""
    m = limo.MEASURES["macro_auc"]
    chosen = select(m, Y, SCORES, FOLDS, np.random.default_rng(0))
    values = [list(by_fold(m, Y, S, None, FOLDS)) for S in SCORES]
    close = []
    for k in range(len(SCORES)):
        behind = np.subtract(values[0], values[k])
        if behind.mean() <= 2 * behind.std(ddof=1) / np.sqrt(4):
            close.append(k)
    assert 0 in close
    assert 3 not in close
    assert (chosen.weights[close] >= 0.5 / len(close) - 1e-12).all()


def test_the_selection_is_repeated_while_there_is_time():
    m = limo.MEASURES["macro_auc"]
    chosen = select(m, Y, SCORES, FOLDS, np.random.default_rng(0), deadline=0.0)
    assert chosen.held_out.shape == (1,)
    assert chosen.weights.sum() == pytest.approx(1)


def test_one_model_has_all_the_weight():
    chosen = select(limo.MEASURES["macro_f1"], Y, SCORES[:1], FOLDS, np.random.default_rng(0))
    assert chosen.weights.tolist() == [1.0]


def test_undefined_values_are_worst():
    """One row, all of whose labels are relevant: no measure of order is defined."""
    ones = np.ones((1, 3), dtype=int)
    scores = [np.zeros((1, 3)), np.ones((1, 3))]
    for measure in ("ranking_loss", "macro_f1"):
        folds = [np.arange(1)]
        chosen = select(limo.MEASURES[measure], ones, scores, folds, np.random.default_rng(0))
        assert chosen.weights.sum() == pytest.approx(1)
