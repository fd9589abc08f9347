"""Binary relevance with sample weights and missing labels."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import limo

DATA = limo.datasets.figure1(80, seed=3)
LEARNERS = [LogisticRegression(), DecisionTreeClassifier(max_depth=2, random_state=0)]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda one: type(one).__name__)
def test_each_label_is_learnt_from_the_instances_where_it_is_known(learner):
    rng = np.random.default_rng(0)
    gaps = np.where(rng.random(DATA.Y.shape) < 0.3, np.nan, DATA.Y)
    model = limo.BinaryRelevance(learner, missing=np.nan).fit(DATA.X, gaps)
    P = model.predict_proba(DATA.X)
    for j in range(gaps.shape[1]):
        seen = ~np.isnan(gaps[:, j])
        alone = limo.BinaryRelevance(learner).fit(DATA.X[seen], DATA.Y[seen][:, [j]])
        np.testing.assert_allclose(P[:, [j]], alone.predict_proba(DATA.X))


@pytest.mark.parametrize("estimator", [LogisticRegression(), DecisionTreeClassifier(max_depth=2)])
def test_integer_weights_repeat_instances(estimator):
    weights = np.random.default_rng(1).integers(0, 3, len(DATA.Y))
    repeated = np.repeat(np.arange(len(DATA.Y)), weights)
    found = limo.BinaryRelevance(estimator).fit(DATA.X, DATA.Y, sample_weight=weights)
    expected = limo.BinaryRelevance(estimator).fit(DATA.X[repeated], DATA.Y[repeated])
    np.testing.assert_allclose(
        found.predict_proba(DATA.X), expected.predict_proba(DATA.X), atol=1e-3
    )


def test_labels_that_are_constant_where_they_are_known():
    Y = np.array([[1, 0], [1, 1], [np.nan, 0], [1, np.nan]])
    model = limo.BinaryRelevance(LogisticRegression(), missing=np.nan).fit(np.arange(4)[:, None], Y)
    assert model.always_.tolist() == [True, False]
    assert model.predict_proba([[2.0]])[0, 0] == 1
    weighted = limo.BinaryRelevance(LogisticRegression())
    weighted.fit(np.arange(4)[:, None], [[1], [0], [1], [1]], sample_weight=[1, 0, 1, 1])
    assert weighted.always_.tolist() == [True]


def test_the_choice_of_c_takes_weights_and_gaps():
    gaps = np.where(np.random.default_rng(2).random(DATA.Y.shape) < 0.2, -1, DATA.Y)
    model = limo.BinaryRelevance("logistic", missing=-1)
    model.fit(DATA.X, gaps, sample_weight=np.linspace(0.5, 2, 80))
    assert model.C_ in model.log_loss_
    assert limo.macro_auc(gaps, model.decision_function(DATA.X), missing=-1) > 0.8


def test_learners_that_need_every_label_say_so():
    gaps = np.where(np.random.default_rng(2).random(DATA.Y.shape) < 0.2, np.nan, DATA.Y)
    for model in (limo.LIMOClassifier(), limo.ThresholdClassifier(LogisticRegression())):
        with pytest.raises(ValueError, match="found nan .*BinaryRelevance\\(missing=nan\\)"):
            model.fit(DATA.X, gaps)
