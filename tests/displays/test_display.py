"""What all displays share: estimators, axes, and being shown once."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

import limo
from limo import displays

RNG = np.random.default_rng(0)
Y = (RNG.random((150, 6)) < 0.3).astype(int)
S = 1 / (1 + np.exp(-(2 * Y - 1 + RNG.standard_normal(Y.shape))))
P = (S > 0.5).astype(int)

INPUTS = {"scores": (S,), "probabilities": (S,), "labels": (P,), "both": (S, P)}
ALL = [getattr(displays, name) for name in displays.__all__]


@pytest.mark.parametrize("display", ALL, ids=displays.__all__)
def test_a_notebook_draws_it_once(display):
    before = plt.get_fignums()
    shown = display.from_predictions(Y, *INPUTS[display.needs])
    assert plt.get_fignums() == before  # pyplot would draw its figures a second time
    assert shown._repr_png_()[:4] == b"\x89PNG"


@pytest.mark.parametrize("display", ALL, ids=displays.__all__)
def test_given_axes_are_used(display):
    figure, ax = plt.subplots()
    shown = display.from_predictions(Y, *INPUTS[display.needs], ax=ax)
    assert shown.ax_ is ax
    assert shown.figure_ is figure
    assert shown.plot().ax_ is not ax
    plt.close(figure)


@pytest.mark.parametrize("display", ALL, ids=displays.__all__)
def test_estimators(display):
    data = limo.datasets.figure1(120)
    model = OneVsRestClassifier(LogisticRegression()).fit(data.X, data.Y)
    shown = display.from_estimator(model, data.X, data.Y)
    assert shown.figure_.axes


def test_names_come_from_frames_and_arguments():
    shown = displays.RocDisplay.from_predictions(Y, S, label_names="abcdef", highlight=["b", 4])
    assert shown.highlighted == [1, 4]
    named = [text.get_text() for text in shown.ax_.get_legend().get_texts()]
    assert [name[0] for name in named] == ["b", "e"]
