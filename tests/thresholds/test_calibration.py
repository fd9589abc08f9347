import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import NotFittedError
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import RidgeClassifier
from sklearn.svm import LinearSVC

import limo
from limo.thresholds import ScoreCalibration
from limo.thresholds._calibration import sigmoid
from limo.thresholds._fit import folds_of

RNG = np.random.default_rng(55)
X = RNG.normal(size=(240, 4))
Y = (X[:, :3] + RNG.normal(size=(240, 3)) > [0.0, 1.0, 1.8]).astype(int)
SVM = LinearSVC(C=0.1, tol=1e-8, max_iter=100_000, dual=False)


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_each_label_as_scikit_learn_calibrates_it(method):
    model = limo.ThresholdClassifier(limo.BinaryRelevance(SVM), cv=4, probability=method).fit(X, Y)
    found = model.predict_proba(X)
    assert found.shape == Y.shape
    folds = folds_of(4, X, Y)
    for j in range(3):
        peer = CalibratedClassifierCV(SVM, method=method, cv=folds, ensemble=False)
        expected = peer.fit(X, Y[:, j]).predict_proba(X)[:, 1]
        assert found[:, j] == pytest.approx(expected, abs=2e-4)


def test_the_sigmoid_minimises_platts_loss():
    y, s = Y[:, 2], X[:, 2] * 1000 + 5000  # scores of any size
    rule = ScoreCalibration().fit(y[:, None], s[:, None])
    p, n = y.sum(), (1 - y).sum()
    goal = np.where(y, (p + 1) / (p + 2), 1 / (n + 2))
    rest = rule.transform(s[:, None])[:, 0] - goal
    assert rest.sum() == pytest.approx(0, abs=1e-5)  # the gradient in b, and in a
    assert (rest * X[:, 2]).sum() == pytest.approx(0, abs=1e-5)


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("truth", [[0, 0, 0, 0], [1, 1, 1, 1], [0, 0, 1, 1], [1, 1, 0, 0]])
def test_constant_separable_and_reversed_labels(method, truth):
    for scores in ([0.0, 1.0, 2.0, 3.0], [1.0, 1.0, 1.0, 1.0], [-800.0, -1.0, 1.0, 800.0]):
        P = (
            ScoreCalibration(method)
            .fit(np.transpose([truth]), np.transpose([scores]))
            .transform(np.transpose([scores]))
        )
        assert np.isfinite(P).all()
        assert ((P >= 0) & (P <= 1)).all()
        if method == "isotonic":
            peer = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(scores, truth)
            assert P[:, 0] == pytest.approx(peer.predict(scores))


def test_expected_f1_for_a_model_without_probabilities():
    plain = limo.ThresholdClassifier(RidgeClassifier())
    assert not hasattr(plain, "predict_proba")
    model = limo.ThresholdClassifier(RidgeClassifier(), "expected_f1", probability="sigmoid")
    P = model.fit(X, Y).predict_proba(X)
    assert (model.predict(X) == limo.thresholds.expected_f1_labels(P)).all()


def test_constant_labels_get_0_and_1():
    labels = np.column_stack([Y, np.zeros(240, int), np.ones(240, int)])
    model = limo.ThresholdClassifier(limo.LIMOClassifier(), cv=2, probability="sigmoid")
    P = model.fit(X, labels).predict_proba(X)
    assert (P[:, 3] == 0).all()
    assert (P[:, 4] == 1).all()


def test_a_file_keeps_the_probabilities(tmp_path):
    for method in ("sigmoid", "isotonic"):
        model = limo.ThresholdClassifier(limo.LIMOClassifier(), cv=2, probability=method).fit(X, Y)
        again = limo.load_model(limo.save_model(model, tmp_path / f"{method}.skops")).model
        assert (again.predict_proba(X) == model.predict_proba(X)).all()


def test_wrong_use():
    with pytest.raises(ValueError, match="Unknown method of calibration 'platt'"):
        ScoreCalibration("platt").fit(Y, X[:, :3])
    with pytest.raises(NotFittedError, match="has not been fitted"):
        ScoreCalibration().transform(X)
    with pytest.raises(ValueError, match="fitted on 3 labels, but y_score has 4"):
        ScoreCalibration().fit(Y, X[:, :3]).transform(X)


def test_a_sigmoid_of_any_number():
    f = np.array([-1e4, -1.0, 0.0, 1.0, 1e4])
    assert sigmoid(f) == pytest.approx([0, 1 / (1 + np.e), 0.5, np.e / (1 + np.e), 1])
