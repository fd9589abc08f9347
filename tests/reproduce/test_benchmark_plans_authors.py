from typing import get_args

import numpy as np
import pytest
from sklearn.preprocessing import MaxAbsScaler

import limo
from limo.experiment._method import F1
from limo.reproduce._benchmark_plans import Thresholds, limo_as_authors, tuned_logistic

DATA = limo.datasets.make_multilabel(60, 12, 4, seed=3)
TRAIN, TEST = np.arange(40), np.arange(40, 60)


@pytest.mark.parametrize("kind", ["LIMO", "LIMO-label", "LIMO-inst"])
def test_every_measure_has_a_value_and_labels_a_threshold(kind):
    found = {
        name: (value, text) for name, value, text in limo_as_authors(DATA, TRAIN, TEST, 0, kind)
    }
    assert set(found) == set(limo.MEASURES)
    for name, (_, text) in found.items():
        assert (text == "") == (limo.MEASURES[name].needs == "scores")
        assert text == "" or text.endswith("fitted on training scores")
    row = "InstanceThreshold" if kind != "LIMO-inst" else "LabelThreshold"
    column = "LabelThreshold" if kind != "LIMO-label" else "InstanceThreshold"
    assert found["instance_f1"][1].startswith(row)
    assert found["macro_f1"][1].startswith(column)


def test_scores_are_those_of_the_papers_settings():
    X = MaxAbsScaler().fit_transform(DATA.X)
    model = limo.paper_limo("LIMO-label", random_state=5).fit(X[TRAIN], DATA.Y[TRAIN])
    expected = limo.evaluate(DATA.Y[TEST], model.decision_function(X[TEST]))
    found = {n: v for n, v, _ in limo_as_authors(DATA, TRAIN, TEST, 5, "LIMO-label")}
    for name in ("ranking_loss", "macro_auc"):
        assert found[name] == expected[name]


def test_thresholds_on_test_labels_are_the_best_there_are_and_say_so():
    found = {
        choice: list(limo_as_authors(DATA, TRAIN, TEST, 0, "LIMO", choice))
        for choice in get_args(Thresholds)
    }
    value = {choice: {n: v for n, v, _ in own} for choice, own in found.items()}
    assert set(value["test labels"]) == set(value["global"]) == set(F1)
    assert value["test labels"]["macro_f1"] >= value["training"]["macro_f1"]
    assert all(text.endswith("fitted on test labels") for _, _, text in found["test labels"])
    assert all(text.startswith("GlobalThreshold") for _, _, text in found["global"])


def test_the_rival_is_tuned_logistic_regression():
    found = {name: (value, text) for name, value, text in tuned_logistic(DATA, TRAIN, TEST, 0)}
    assert set(found) == set(limo.MEASURES)
    from limo.models._base import UnitRows

    scaler = UnitRows().fit(DATA.X[TRAIN])
    model = limo.BinaryRelevance("logistic").fit(scaler.transform(DATA.X[TRAIN]), DATA.Y[TRAIN])
    S = model.decision_function(scaler.transform(DATA.X[TEST]))
    assert found["average_precision"][0] == limo.average_precision(DATA.Y[TEST], S)
    assert found["micro_f1"][1].endswith("fitted on cross-fitted scores")
