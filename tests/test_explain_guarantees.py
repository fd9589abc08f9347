import numpy as np
import pytest

import limo
from cases import cases
from naive import guarantees as naive


def test_the_value_lies_in_both_intervals_with_ties_too():
    for Y, S, _ in cases(60, seed=71):
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


@pytest.mark.parametrize("seed", range(12))
def test_missing_labels_are_removed_and_weights_repeat_instances(seed):
    rng = np.random.default_rng(seed)
    Y, S = rng.integers(2, size=(3, 3)), rng.integers(4, size=(3, 3)).astype(float)
    U = (rng.random((3, 3)) < 0.3) if seed % 3 else np.zeros((3, 3), dtype=bool)
    weights = rng.permutation([1, 2, 1]) if seed % 2 else np.ones(3, dtype=int)
    found = limo.guarantees(limo.evaluate(Y, S, missing=U, sample_weight=weights))
    for name, one in found.items():
        family, view = one.measure.family, one.measure.view.name
        expected = naive.intervals(family, view, Y.tolist(), S.tolist(), U.tolist(), weights)
        ends = [one.value, *one.from_pairs]
        assert ends == pytest.approx(expected or [np.nan] * 3, nan_ok=True), name
        assert one.exact_share == 1


def test_an_instance_of_weight_two_counts_as_two():
    rng = np.random.default_rng(75)
    Y, S = (rng.random((30, 5)) < 0.4).astype(int), rng.normal(size=(30, 5)).round(1)
    weights = rng.integers(0, 4, size=30)
    one = limo.guarantees(limo.evaluate(Y, S, sample_weight=weights))
    other = limo.guarantees(np.repeat(Y, weights, axis=0), np.repeat(S, weights, axis=0))
    for name, expected in other.items():
        for field in ("value", "from_pairs", "from_margins", "possible", "fixed_share"):
            assert getattr(one[name], field) == pytest.approx(getattr(expected, field)), name


def test_weights_that_are_not_whole():
    """Values lie in the intervals, which are those of whole weights as far as instances count."""
    rng = np.random.default_rng(76)
    for _ in range(30):
        Y, S = (rng.random((12, 4)) < 0.4).astype(int), rng.normal(size=(12, 4)).round(1)
        weights = rng.exponential(size=12)
        found = limo.guarantees(limo.evaluate(Y, S, sample_weight=weights, missing=Y > S + 2))
        for name, one in found.items():
            for low, high in (one.from_pairs, one.from_margins, one.possible):
                assert low - 1e-12 <= one.value <= high + 1e-12, name
        assert found["macro_f1"].exact_share == found["micro_f1"].exact_share == 0
        assert found["macro_auc"].exact_share == found["instance_f1"].exact_share == 1


def test_explain_with_weights_and_missing_labels():
    Y, S = [[1, 1, 0, 0, 0], [1, 0, -1, 0, 0]], [[0.9, 0.1, 0.5, 0.6, 0.2]] * 2
    evaluation = limo.evaluate(Y, S, sample_weight=[3, 1], missing=-1)
    # the first row is the one below, three times; the second is perfect
    assert "average precision between 0.625 and 0.775 (it is 0.775)" in limo.explain(evaluation)


def test_parts_that_keep_no_orders_are_explained_without_guarantees():
    rng = np.random.default_rng(77)
    Y, S = (rng.random((20, 4)) < 0.4).astype(int), rng.normal(size=(20, 4))
    for kept in (True, False):
        parts = limo.Evaluator("two-pass", per_instance=kept).update(Y, S).second_pass()
        found = parts.update(Y, S).compute()
        assert ("guarantee" in limo.explain(found)) == kept
        assert ("guarantee" in limo.explain(found, "one_error")) == kept


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
