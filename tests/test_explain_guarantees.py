import numpy as np
import pytest

import limo
from cases import cases
from naive import guarantees as naive


def test_the_value_lies_in_both_intervals_with_ties_too():
    for Y, S, _ in cases(150, seed=71):
        for name, one in limo.guarantees(Y, S).items():
            if np.isnan(one.value):
                assert np.isnan(one.from_pairs).all()
                continue
            for low, high in (one.from_pairs, one.from_margins, one.possible):
                assert low - 1e-12 <= one.value <= high + 1e-12, name
            assert one.from_margins[0] <= one.from_pairs[0] + 1e-12
            assert one.from_pairs[1] <= one.from_margins[1] + 1e-12


def test_values_are_those_of_evaluate_without_ties():
    rng = np.random.default_rng(72)
    for conventions in ("standard", "paper", "sklearn"):
        Y = (rng.random((30, 6)) < 0.4).astype(int)
        Y[0], Y[1] = 0, 1
        S = rng.normal(size=Y.shape)
        evaluation = limo.evaluate(Y, S, conventions=conventions)
        for name, one in limo.guarantees(evaluation).items():
            # scikit-learn's AUC is nan if any row is undefined; a guarantee leaves such rows out
            if one.measure.needs == "scores" and not np.isnan(evaluation[name]):
                assert one.value == pytest.approx(evaluation[name]), name
        best = limo.threshold_report(Y, S, Y).measures["instance_f1"].best_threshold[0]
        assert limo.guarantees(Y, S)["instance_f1"].value == pytest.approx(best)


def test_the_mean_of_the_extremes_of_every_row():
    rng = np.random.default_rng(73)
    Y = (rng.random((12, 7)) < 0.4).astype(int)
    Y[:, 0], Y[:, 1] = 1, 0
    S = rng.normal(size=Y.shape)
    found = limo.guarantees(Y, S)
    for name in ("average_precision", "coverage", "one_error"):
        ends = []
        for y, s in zip(Y, S, strict=True):
            order = tuple(y[np.argsort(-s)])
            p = sum(order)
            ends.append(naive.extremes(p, 7 - p)[naive.misordered(order), name])
        assert found[name].from_pairs == pytest.approx(np.mean(ends, axis=0))
        assert pytest.approx(np.array(ends)) == found[name].rows.T


def test_pairs_fix_what_counts_pairs():
    rng = np.random.default_rng(74)
    Y, S = (rng.random((40, 9)) < 0.3).astype(int), rng.normal(size=(40, 9))
    found = limo.guarantees(Y, S)
    for name in ("ranking_loss", "instance_auc", "macro_auc", "micro_auc"):
        assert found[name].fixed_share == 1
        assert found[name].from_pairs[0] == found[name].value
    assert 0 < found["average_precision"].fixed_share < 1
    assert found["average_precision"].exact_share == 1


def test_as_text_table_and_plain_data():
    Y, S = [[1, 0, 0], [0, 1, 0]], [[3.0, 2.0, 1.0], [0.0, 1.0, 2.0]]
    found = limo.guarantees(Y, S)
    assert str(found).splitlines()[1].split()[:2] == ["ranking", "loss"]
    assert "with the best thresholds" in found._repr_html_()
    frame = found.to_frame()
    assert frame.loc["coverage", "value"] == 0.5
    assert found.to_dict()["micro_f1"]["best_thresholds"]
    assert len(found) == 10


def test_labels_alone_do_not_suffice():
    with pytest.raises(ValueError, match="guarantees need margins, and margins need scores"):
        limo.guarantees(limo.evaluate([[1, 0]], y_pred=[[1, 0]]))


def test_nothing_to_bound():
    found = limo.guarantees([[0, 0]], [[0.1, 0.2]])
    assert np.isnan(found["ranking_loss"].fixed_share)


def test_explain_says_what_the_pairs_guarantee():
    Y, S = [[1, 1, 0, 0, 0]], [[0.9, 0.1, 0.5, 0.6, 0.2]]  # a = (0, 3)
    text = limo.explain(limo.evaluate(Y, S))
    # b = 3: (0, 3) or (1, 2); the highest average precision is (1 + 2/5) / 2
    assert "average precision between 0.5 and 0.7 (it is 0.7)" in text
    assert "coverage between 3 and 4 (it is 4)" in text
    assert "They fix one-error least" in text
    perfect = limo.explain(limo.evaluate(Y, [[0.9, 0.8, 0.5, 0.6, 0.2]]))
    assert "guarantee" not in perfect


def test_the_report_has_the_guarantees():
    Y, S = [[1, 1, 0, 0, 0]], [[0.9, 0.1, 0.5, 0.6, 0.2]]
    document = limo.report.evaluation_document(Y, {"one": S, "two": np.negative(S)})
    one = document["models"][0]
    assert one["guarantees"] == limo.guarantees(Y, S).to_dict()
    assert one["effectiveness"]["absolute_margin"] == limo.absolute_margin(Y, S)
    page = limo.report.render(document)
    assert page.count('<table class="guarantees">') == 2
    labels = limo.report.evaluation_document(Y, predictions={"one": Y})
    assert labels["models"][0]["guarantees"] is None
    assert '<table class="guarantees">' not in limo.report.render(labels)
