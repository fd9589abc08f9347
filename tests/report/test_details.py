import numpy as np
import pytest

import limo
from report.model_details import details_of


def test_shortfalls_are_those_of_the_threshold_report(case):
    Y, S, P = case
    details = details_of(Y, S, P)
    frame = limo.threshold_report(Y, S, P).to_frame()
    for name, line in details.summary["measures"].items():
        for key in (
            "found",
            "best_threshold",
            "possible",
            "lost_to_ranking",
            "lost_to_threshold",
            "bound",
        ):
            assert line[key] == frame.loc[name, key]
        expected = (
            "thresholds" if line["lost_to_threshold"] > line["lost_to_ranking"] else "ranking"
        )
        assert line["limited_by"] == expected
    assert details.summary["sentence"] == limo.threshold_report(Y, S, P).sentence()
    assert details.label_error.tolist() == np.abs(P.sum(0) - Y.sum(0)).tolist()
    assert details.instance_error.tolist() == np.abs(P.sum(1) - Y.sum(1)).tolist()


def test_thresholds_reach_the_f1_reported(case):
    Y, S, P = case
    for labels in (P, None):
        details = details_of(Y, S, labels)
        reached = limo.evaluate(Y, y_pred=(details.thresholds < S).astype(int)).per_label[
            "macro_f1"
        ]
        assert details.best_f1 == pytest.approx(reached, abs=1e-12)


def test_without_predictions_the_best_thresholds_remain(case):
    Y, S, P = case
    given, alone = details_of(Y, S, P).summary, details_of(Y, S, None).summary
    assert alone["sentence"].startswith("No labels were predicted")
    assert list(alone["measures"]) == list(given["measures"])
    for name, line in alone["measures"].items():
        assert line["found"] is None
        for key in ("best_threshold", "possible", "threshold", "title"):
            assert line[key] == given["measures"][name][key]


def test_curves_have_their_peaks(case):
    Y, S, _ = case
    curves = details_of(Y, S, None).summary["curves"]
    for name, peak in curves["peaks"].items():
        assert peak["value"] == max(curves[name])
        k = curves[name].index(peak["value"])
        assert peak["threshold"] == curves["thresholds"][k]


def test_nothing_lost():
    Y = np.array([[1, 0], [0, 1]])
    lines = details_of(Y, Y.astype(float), Y).summary["measures"]
    assert {line["limited_by"] for line in lines.values()} == {"nothing"}
