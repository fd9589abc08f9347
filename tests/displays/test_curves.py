"""The curves against scikit-learn's."""

import numpy as np
import pytest
from sklearn import metrics
from sklearn.calibration import calibration_curve

import limo
from limo.displays import CalibrationDisplay, PrecisionRecallDisplay, RocDisplay

RNG = np.random.default_rng(1)
Y = (RNG.random((80, 5)) < 0.4).astype(int)
S = np.round(np.clip(0.4 * Y + 0.6 * RNG.random(Y.shape), 0, 1), 1)


def test_roc():
    shown = RocDisplay.from_predictions(Y, S)
    for j, (x, y) in enumerate(shown.curves):
        false, true, _ = metrics.roc_curve(Y[:, j], S[:, j], drop_intermediate=False)
        np.testing.assert_allclose((x, y), (false, true))
    np.testing.assert_allclose(shown.values, limo.evaluate(Y, S).per_label["macro_auc"])
    assert shown.highlighted == np.argsort(shown.values, kind="stable").tolist()
    assert shown.ax_.get_title(loc="left") == f"AUC of labels, mean {limo.macro_auc(Y, S):.3f}"
    coloured = [line for line in shown.ax_.lines if not line.get_label().startswith("_")]
    np.testing.assert_array_equal(coloured[0].get_xdata(), shown.curves[shown.highlighted[0]][0])


def test_precision_and_recall():
    shown = PrecisionRecallDisplay.from_predictions(Y, S)
    for j, (recall, precision) in enumerate(shown.curves):
        p, r, _ = metrics.precision_recall_curve(Y[:, j], S[:, j])
        np.testing.assert_allclose(recall, r[-2::-1])
        np.testing.assert_allclose(precision, p[-2::-1])
        expected = metrics.average_precision_score(Y[:, j], S[:, j])
        assert shown.values[j] == pytest.approx(expected)


def test_calibration():
    scores = RNG.random(Y.shape)
    shown = CalibrationDisplay.from_predictions(Y, scores)
    for j, (given, share) in enumerate(shown.curves):
        expected, mean = calibration_curve(Y[:, j], scores[:, j], n_bins=10)
        np.testing.assert_allclose(given, mean)
        np.testing.assert_allclose(share, expected)
        bins = (scores[:, j] * 10).astype(int)
        error = sum(
            abs((scores[bins == b, j] - Y[bins == b, j]).sum()) for b in np.unique(bins)
        ) / len(Y)
        assert shown.values[j] == pytest.approx(error)
    assert shown.values[shown.highlighted[0]] == shown.values.max()
    with pytest.raises(ValueError, match="needs probabilities, from 0 to 1: found -0.99"):
        CalibrationDisplay.from_predictions(Y, scores - 1)


def test_a_label_without_positives_has_no_curve():
    empty = Y.copy()
    empty[:, 2] = 0
    shown = RocDisplay.from_predictions(empty, S)
    assert np.isnan(shown.values[2])
    assert 2 not in shown.highlighted
