import numpy as np
import pytest

import limo
from limo.thresholds._fit import Training, threshold_folds

DATA = limo.datasets.figure1(90, seed=1)


def test_without_a_measure_the_threshold_is_zero():
    rule = limo.LIMOClassifier(threshold_measure=None).fit(DATA.X, DATA.Y).threshold_
    assert rule.predict([[0.5, -0.5, 0.0]]).tolist() == [[1, 0, 0]]


def test_cross_fitted_scores_are_of_models_that_have_not_seen_the_rows():
    """By hand: three folds, their scores put together, one rule fitted to all."""
    model = limo.LIMOClassifier(threshold_measure=None)
    folds = list(limo.datasets.StratifiedFolds(3).split(DATA.X, DATA.Y))
    S = [model.fit(DATA.X[a], DATA.Y[a]).decision_function(DATA.X[b]) for a, b in folds]
    rows = np.concatenate([b for _, b in folds])
    by_hand = limo.LabelThreshold(target="macro_f1").fit(DATA.Y[rows], np.concatenate(S))
    rule = Training(model, DATA.X, DATA.Y, folds).fit_rule(limo.suggest_threshold("macro_f1"))
    assert np.array_equal(rule.thresholds_, by_hand.thresholds_)


def test_there_are_no_more_folds_than_instances():
    assert [len(threshold_folds(cv, DATA.X[:4], DATA.Y[:4])) for cv in (3, 10)] == [3, 4]
    with pytest.raises(ValueError, match="threshold_cv must be a number of folds, .*got 'prefit'"):
        limo.LIMOClassifierCV(threshold_cv="prefit").fit(DATA.X, DATA.Y)
    with pytest.raises(ValueError, match="threshold_cv=1 folds are impossible with n_samples=90"):
        limo.LIMOClassifier(threshold_cv=1).fit(DATA.X, DATA.Y)
