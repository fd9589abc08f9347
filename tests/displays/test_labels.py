"""Skill, margins, frequency and confusion: the numbers drawn are those of the definitions."""

import numpy as np
import pytest

import limo
from limo.displays import ConfusionDisplay, FrequencyDisplay, MarginDisplay, SkillDisplay

RNG = np.random.default_rng(2)
Y = (RNG.random((90, 4)) < 0.35).astype(int)
S = Y + RNG.standard_normal(Y.shape)
P = (S > 0.6).astype(int)


def lines_by_id(ax, gid):
    return next(artist for artist in ax.get_children() if artist.get_gid() == gid)


def test_skill_and_its_intervals():
    shown = SkillDisplay.from_predictions(Y, S, P)
    evaluation = shown.evaluation
    drawn = lines_by_id(shown.ax_, "values").get_xdata()
    np.testing.assert_allclose(drawn, list(evaluation.skill.values()))
    blind, best = 0.5, 1.0
    expected = (evaluation["macro_auc"] - blind) / (best - blind)
    assert evaluation.skill["macro_auc"] == pytest.approx(expected)
    segments = lines_by_id(shown.ax_, "intervals").get_segments()
    for (name, value), ((low, _), (high, _)) in zip(
        evaluation.skill.items(), segments, strict=True
    ):
        assert low <= value <= high, name
    titles = [text.get_text() for text in shown.ax_.get_yticklabels()]
    assert titles == [limo.MEASURES[name].title for name in evaluation]


def test_without_intervals_there_are_only_dots():
    figure = limo.evaluate(Y, S).plot()
    assert not [a for a in figure.axes[0].get_children() if a.get_gid() == "intervals"]


def test_margins():
    shown = MarginDisplay.from_predictions(Y, S)
    np.testing.assert_array_equal(shown.margins["label-wise"], limo.label_wise_margin(Y, S))
    np.testing.assert_array_equal(shown.margins["instance-wise"], limo.instance_wise_margin(Y, S))
    texts = [text.get_text() for text in shown.ax_.get_legend().get_texts()]
    known = shown.margins["label-wise"]
    known = known[np.isfinite(known)]
    assert texts[0] == f"label-wise: {(known > 0).mean():.0%} positive"
    assert MarginDisplay.from_predictions([[0, 0]], [[0.5, 0.2]]).figure_.axes


def test_f1_against_frequency():
    shown = FrequencyDisplay.from_predictions(Y, P, label_names="abcd")
    np.testing.assert_array_equal(shown.positives, Y.sum(axis=0))
    (line,) = shown.ax_.lines
    np.testing.assert_allclose(line.get_ydata(), limo.evaluate(Y, y_pred=P).per_label["macro_f1"])
    assert {text.get_text() for text in shown.ax_.texts} <= set("abcd")


def test_confusion_by_brute_force():
    shown = ConfusionDisplay.from_predictions(Y, P)
    for i in range(4):
        for j in range(4):
            taken = sum(y[i] and not p[i] and p[j] and not y[j] for y, p in zip(Y, P, strict=True))
            found = sum(y[i] and p[i] for y, p in zip(Y, P, strict=True))
            assert shown.matrix[i, j] == (found if i == j else taken)
        assert shown.missed[i] == sum(Y[:, i] > P[:, i])
    image = shown.ax_.images[0].get_array()
    np.testing.assert_allclose(image[0], shown.matrix[0] / Y[:, 0].sum())


def test_only_the_labels_confused_most_are_drawn():
    shown = ConfusionDisplay.from_predictions(Y, P, most=2)
    assert shown.matrix.shape == (4, 4)
    assert shown.ax_.images[0].get_array().shape == (2, 2)
