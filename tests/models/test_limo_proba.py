import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

import limo
from limo.losses import Term

RNG = np.random.default_rng(31)
X = RNG.normal(size=(150, 4))
Y = (X[:, :3] + RNG.normal(size=(150, 3)) > [0.0, 0.5, 1.0]).astype(int)
POINTWISE = Term("entries", "pointwise")


def logistic(alpha=1e-2, **settings):
    return limo.MarginClassifier(POINTWISE, alpha=alpha, fit_intercept=False, tol=1e-7, **settings)


@pytest.mark.parametrize("measure", ["micro_f1", "macro_f1", None])
def test_probabilities_are_those_of_logistic_regression(measure):
    model = logistic(threshold_measure=measure).fit(X, Y)
    C = 1 / (model.alpha_ * Y.size)
    peer = OneVsRestClassifier(LogisticRegression(C=C, fit_intercept=False, tol=1e-10))
    expected = peer.fit(X, Y).predict_proba(X)
    found = model.predict_proba(X)
    assert found.shape == expected.shape
    assert found == pytest.approx(expected, abs=1e-3)
    if measure == "micro_f1":
        assert model.moved_ != 0  # scores are moved by the threshold; probabilities are not


def test_one_label_with_two_classes():
    model = logistic().fit(X, Y[:, 0])
    P = model.predict_proba(X)
    assert P.shape == (150, 2)
    assert P.sum(axis=1) == pytest.approx(1)


def test_constant_labels():
    labels = np.column_stack([Y, np.zeros(150, int), np.ones(150, int)])
    P = logistic().fit(X, labels).predict_proba(X)
    assert (P[:, 3] == 0).all()
    assert (P[:, 4] == 1).all()


@pytest.mark.parametrize(
    "terms",
    [
        Term("entries", "pointwise", share="balanced"),
        Term("entries", "pointwise", base="squared_hinge"),
        [POINTWISE, Term("rows", "top")],
        Term("rows", "top"),
    ],
    ids=str,
)
def test_other_losses_give_none(terms):
    assert not hasattr(limo.MarginClassifier(terms), "predict_proba")
    assert not hasattr(limo.LIMOClassifier(), "predict_proba")


@pytest.mark.parametrize("model", [limo.LIMOClassifier, limo.MarginClassifier])
def test_the_threshold_may_be_chosen_by_name_or_as_a_rule(model):
    for threshold in ("auto", limo.AutoThreshold("micro_f1")):
        fitted = model(threshold=threshold, threshold_measure="micro_f1").fit(X, Y)
        assert isinstance(fitted.threshold_, limo.AutoThreshold)
        assert fitted.predict(X).shape == Y.shape
    alone = model(threshold=limo.LabelThreshold("macro_f1"), threshold_measure=None).fit(X, Y)
    usual = model(threshold_measure="macro_f1").fit(X, Y)
    assert (alone.predict(X) == usual.predict(X)).all()
    on_training = model(threshold="label", threshold_cv="training").fit(X, Y)
    assert isinstance(on_training.threshold_, limo.LabelThreshold)
    assert on_training.threshold_.target == "micro_f1"


def test_sgd_takes_a_threshold_too():
    model = limo.LIMOClassifierSGD(threshold="label", n_passes=2, random_state=0).fit(X, Y)
    assert isinstance(model.threshold_, limo.LabelThreshold)
