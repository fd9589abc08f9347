import numpy as np
import pytest

import limo
from report.cutting import cut_of


def test_shortfalls_are_those_of_the_threshold_report(case):
    Y, S, P = case
    cut = cut_of(Y, S, P)
    frame = limo.threshold_report(Y, S, P).to_frame()
    for name, line in cut.summary["measures"].items():
        for key in ("found", "best_cut", "possible", "lost_to_ranking", "lost_to_cut", "bound"):
            assert line[key] == frame.loc[name, key]
        expected = "the cut" if line["lost_to_cut"] > line["lost_to_ranking"] else "the ranking"
        assert line["limited_by"] == expected
    assert cut.summary["sentence"] == limo.threshold_report(Y, S, P).sentence()
    assert cut.label_error.tolist() == np.abs(P.sum(0) - Y.sum(0)).tolist()
    assert cut.instance_error.tolist() == np.abs(P.sum(1) - Y.sum(1)).tolist()


def test_thresholds_reach_the_f1_reported(case):
    Y, S, P = case
    for labels in (P, None):
        cut = cut_of(Y, S, labels)
        reached = limo.evaluate(Y, y_pred=(cut.thresholds < S).astype(int)).per_label["macro_f1"]
        assert cut.best_f1 == pytest.approx(reached, abs=1e-12)


def test_without_predictions_the_best_cuts_remain(case):
    Y, S, P = case
    given, alone = cut_of(Y, S, P).summary, cut_of(Y, S, None).summary
    assert alone["sentence"].startswith("No labels were predicted")
    assert list(alone["measures"]) == list(given["measures"])
    for name, line in alone["measures"].items():
        assert line["found"] is None
        for key in ("best_cut", "possible", "threshold", "title"):
            assert line[key] == given["measures"][name][key]


def test_curves_have_their_peaks(case):
    Y, S, _ = case
    curves = cut_of(Y, S, None).summary["curves"]
    for name, peak in curves["peaks"].items():
        assert peak["value"] == max(curves[name])
        k = curves[name].index(peak["value"])
        assert peak["threshold"] == curves["thresholds"][k]


def test_nothing_lost():
    Y = np.array([[1, 0], [0, 1]])
    lines = cut_of(Y, Y.astype(float), Y).summary["measures"]
    assert {line["limited_by"] for line in lines.values()} == {"nothing"}
