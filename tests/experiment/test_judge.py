import numpy as np
import pytest
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import MaxAbsScaler

import limo
from experiment.estimators import Broken, Frequency, NoScores
from limo.experiment import Method, ThresholdSetting
from limo.experiment._judge import error_text, judge

TRAIN, TEST = limo.datasets.split(limo.datasets.figure1(150))
MODEL = KNeighborsClassifier(7)
STANDARD = limo.CONVENTIONS["standard"]


def scores(method, measures=tuple(limo.MEASURES), train=TRAIN, test=TEST):
    return {s.measure: s for s in judge(method, train, test, measures, STANDARD, seed=0)}


def test_values_are_those_of_fitting_and_evaluating_by_hand():
    found = scores(Method("m", MODEL, threshold="own", scaling="max_abs"))
    scaler = MaxAbsScaler().fit(TRAIN.X)
    model = clone(MODEL).fit(scaler.transform(TRAIN.X), TRAIN.Y)
    X = scaler.transform(TEST.X)
    expected = limo.evaluate(TEST.Y, limo.scores_of(model, X), model.predict(X))
    assert {name: score.value for name, score in found.items()} == dict(expected)


@pytest.mark.parametrize("cv", [3, "training"])
@pytest.mark.parametrize(
    "rule", [None, "expected_f1", limo.InstanceThreshold("instance_f1", source="features")]
)
def test_thresholds_are_those_of_the_threshold_classifier(cv, rule):
    measures = [name for name, m in limo.MEASURES.items() if m.needs == "labels"]
    found = scores(Method("m", MODEL, threshold=rule, cv=cv), measures)
    for name in measures:
        same = limo.suggest_threshold(name) if rule is None else rule
        chosen = limo.ThresholdClassifier(MODEL, same, measure=name, cv=cv).fit(TRAIN.X, TRAIN.Y)
        assert found[name].value == getattr(limo, name)(TEST.Y, chosen.predict(TEST.X))


def test_a_threshold_fitted_on_test_labels_is_the_best_there_is_and_says_so():
    best = ThresholdSetting(limo.LabelThreshold("macro_f1", shrinkage=0), "test labels")
    found = scores(Method("m", MODEL, threshold={"macro_f1": best}), ["macro_f1"])["macro_f1"]
    S = limo.scores_of(clone(MODEL).fit(TRAIN.X, TRAIN.Y), TEST.X)
    best = limo.thresholds.best_label_thresholds(TEST.Y, S, "macro_f1")
    assert found.value == limo.macro_f1(TEST.Y, limo.thresholds.apply_thresholds(S, best))
    assert found.threshold.endswith("fitted on test labels")


def test_test_labels_change_nothing_but_the_value():
    """Thresholds and models come from training: other test labels leave predictions alone."""
    method = Method("m", MODEL, threshold="label")
    flipped = limo.Dataset(TEST.X, 1 - TEST.Y, TEST.feature_names, TEST.label_names)
    plain, other = (scores(method, ["hamming_loss"], test=t) for t in (TEST, flipped))
    assert plain["hamming_loss"].value == pytest.approx(1 - other["hamming_loss"].value)


def test_a_targeted_method_is_judged_by_the_model_for_each_measure():
    search = limo.LIMOClassifierCV(alphas=[1.0, 1e-3], weights=[(1, 0, 0), (0, 1, 0)])
    measures = ["macro_auc", "ranking_loss", "macro_f1"]
    found = scores(Method("m", search, targeted=True), measures)
    fitted = clone(search).set_params(measure=measures).fit(TRAIN.X, TRAIN.Y)
    for name in measures:
        model = fitted.model_for(name)
        own = limo.evaluate(TEST.Y, model.decision_function(TEST.X), model.predict(TEST.X))
        assert found[name].value == own[name]
    assert found["macro_f1"].threshold == "own predict"


def test_labels_that_never_or_always_occur_are_completed():
    Y = np.column_stack([TRAIN.Y, np.zeros(105, int), np.ones(105, int)])
    Z = np.column_stack([TEST.Y, np.ones(45, int), np.zeros(45, int)])
    names = tuple("ABCDEF")
    train, test = (limo.Dataset(d.X, y, ("x", "y"), names) for d, y in ((TRAIN, Y), (TEST, Z)))
    for threshold in ("own", "label"):
        method = Method("m", MODEL, threshold=threshold)
        wrong = scores(method, ["hamming_loss"], train, test)["hamming_loss"].value
        plain = scores(method, ["hamming_loss"])["hamming_loss"].value
        assert wrong == pytest.approx((4 * plain + 2) / 6)


def test_what_fails_for_some_measures_leaves_the_others_alone():
    found = scores(Method("m", NoScores(), threshold="own"))
    assert found["hamming_loss"].value == limo.hamming_loss(TEST.Y, np.ones_like(TEST.Y))
    assert found["macro_auc"].status == "failed"
    assert found["macro_auc"].error.startswith("TypeError: NoScores gives no scores")
    assert np.isnan(found["macro_auc"].value)
    assert len(found) == 11


def test_a_failed_threshold_is_named():
    found = scores(Method("m", Frequency(), threshold="expected_f1"), ["micro_f1"])["micro_f1"]
    assert found.error.startswith("TypeError: Frequency gives no probabilities")
    assert found.threshold == "ExpectedF1()"


def test_an_error_tells_its_place():
    with pytest.raises(ZeroDivisionError) as caught:
        Broken().fit(None, None)
    assert error_text(caught.value).startswith("ZeroDivisionError: no luck [estimators.py, line ")
