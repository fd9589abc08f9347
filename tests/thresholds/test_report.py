import json

import numpy as np
import pandas
import pytest
from scipy import sparse

import limo
from cases import cases
from naive import thresholds as naive
from naive.measures import columns, whole

VIEWS = {
    "instances": ("instance", list),
    "labels": ("label", columns),
    "overall": ("global", whole),
}
F1, HAMMING = naive.f_beta(1), lambda *c: -naive.hamming_loss(*c)


@pytest.mark.parametrize("part", list(VIEWS))
def test_every_row_equals_brute_force(part):
    by, pick = VIEWS[part]
    for Y, S, P in cases(40, seed=110):
        found = getattr(limo.threshold_report(Y, S, P), part)
        for k, (y, s, p) in enumerate(zip(*(pick(A.tolist()) for A in (Y, S, P)), strict=True)):
            predictions = [[int(a > t) for a in s] for t in naive.candidates(s)]
            for loss, function, choose, ideal in (
                (found.losses["f1"], F1, max, float(any(y))),
                (found.losses["hamming_loss"], HAMMING, min, 0.0),
            ):
                used = function(*naive.counts(y, p))
                best = choose(function(*naive.counts(y, c)) for c in predictions)
                assert loss.found[k] == pytest.approx(used)
                assert loss.best_threshold[k] == pytest.approx(best)
                assert loss.possible[k] == ideal
                assert loss.lost_to_ranking[k] == pytest.approx(abs(ideal - best))
                assert loss.lost_to_ranking[k] + loss.lost_to_threshold[k] == pytest.approx(
                    abs(ideal - used)
                )
            assert found.threshold_error[k] == abs(sum(p) - sum(y))
        assert (
            limo.threshold_bounds(Y, found.threshold_error, by=by)
            == limo.threshold_report(Y, S, P).bounds[by]
        )


def test_the_four_measures_are_those_of_limo():
    for Y, S, P in cases(40, seed=111):
        report = limo.threshold_report(Y, S, P)
        for name, loss in report.measures.items():
            assert loss.found[0] == pytest.approx(getattr(limo, name)(Y, P))


def test_a_threshold_never_gains_more_than_the_best_of_its_kind():
    for Y, S, _ in cases(40, seed=112):
        P = limo.thresholds.apply_thresholds(S, np.zeros(S.shape[1]))
        assert (
            limo.threshold_report(Y, S, P).labels.losses["f1"].lost_to_threshold >= -1e-12
        ).all()


def test_perfect_scores_lose_nothing_to_ranking():
    Y = np.array([[1, 0], [0, 1], [1, 1]])
    S = Y + 0.25
    report = limo.threshold_report(Y, S, np.zeros_like(Y))
    assert all(loss.lost_to_ranking[0] == 0 for loss in report.measures.values())
    assert "100% is due to the thresholds: better thresholds would help most" in str(report)
    assert "Nothing is lost" in str(limo.threshold_report(Y, S, Y))
    worst = limo.threshold_report(Y, -S, limo.LabelThreshold(shrinkage=0).fit(Y, -S).predict(-S))
    assert "due to the ranking: better scores would help most" in worst.sentence()


def test_sparse_scores():
    Y = np.array([[1, 0, 0], [0, 1, 1]])
    S = np.array([[0.75, 0.0, 0.0], [0.0, 0.5, 0.0]])
    report = limo.threshold_report(sparse.csr_array(Y), sparse.csr_array(S), sparse.csr_array(Y))
    # label 2 of the second instance has no score: no threshold can predict it
    assert report.instances.losses["f1"].best_threshold.tolist() == pytest.approx([1, 2 / 3])
    assert report.instances.losses["f1"].lost_to_threshold.tolist() == pytest.approx([0, -1 / 3])


def test_tables_and_files(tmp_path):
    Y = pandas.DataFrame([[1, 0], [0, 1], [1, 1]], columns=["a", "b"])
    S = np.array([[0.75, 0.25], [0.25, 0.5], [0.5, 1.0]])
    report = limo.threshold_report(Y, S, np.ones((3, 2), dtype=int))
    assert report.to_frame("labels").index.tolist() == ["a", "b"]
    assert report.to_frame("labels").loc["a", "threshold_error"] == 1
    assert len(report.to_frame("instances")) == 3
    overall = report.to_frame()
    assert overall.loc["macro_f1", "found"] == pytest.approx(0.8)
    # p = 2 and an error of 1 in both labels: 2 (2 - 1) / (2 (2 - 1) + 1)
    assert overall.loc["macro_f1", "bound"] == pytest.approx(2 / 3)
    document = json.loads(report.to_json(tmp_path / "report.json"))
    assert json.loads((tmp_path / "report.json").read_text()) == document
    assert document["label_names"] == ["a", "b"]
    assert document["measures"]["macro_f1"]["lost_to_threshold"] == pytest.approx(0.2)
    assert report._repr_html_().startswith("<table>")
    assert repr(report) == str(report)
    assert limo.threshold_report(Y, S, Y, label_names=["u", "v"]).label_names == ("u", "v")
    with pytest.raises(ValueError, match="Unknown table 'label'. Did you mean 'labels'"):
        report.to_frame("label")


def test_wrong_input_is_refused():
    with pytest.raises(ValueError, match="y_pred must hold only 0 and 1"):
        limo.threshold_report([[1, 0]], [[0.5, 0.25]], [[0.5, 0.25]])
    with pytest.raises(ValueError, match="y_score must have the shape of y_true"):
        limo.threshold_report([[1, 0]], [[0.5, 0.25, 0.75]], [[1, 0]])
