"""Measures made from functions, and which measures are computed."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from sklearn import metrics
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.multiclass import OneVsRestClassifier

import limo
from limo.measures import ROWS, make_measure, register, select, unregister

RNG = np.random.default_rng(0)
Y = (RNG.random((80, 3)) < 0.4).astype(int)
S = Y + RNG.standard_normal(Y.shape)
P = (S > 0.5).astype(int)


def top_gap(y_true, y_score):
    """Mean of the highest score of each instance."""
    return float(np.max(y_score, axis=1).mean())


def share_wrong(y_true, y_pred):
    return np.mean(y_true != y_pred)


def specificity(tp, fp, fn, tn):
    """Share of irrelevant items that are not predicted."""
    return tn / (tn + fp)


def test_functions_of_scores_labels_and_counts():
    found = limo.evaluate(Y, S, P, measures=["macro_f1", top_gap, share_wrong, specificity])
    assert found["top_gap"] == top_gap(Y, S)
    assert found["share_wrong"] == pytest.approx(limo.hamming_loss(Y, P))
    expected = [metrics.recall_score(1 - Y[:, j], 1 - P[:, j]) for j in range(3)]
    assert found["specificity"] == pytest.approx(np.mean(expected))
    assert found.results["top_gap"].best == top_gap(Y, Y)
    assert list(found) == ["macro_f1", "top_gap", "share_wrong", "specificity"]
    assert "top_gap" in str(found)


def test_functions_of_scikit_learn():
    found = limo.evaluate(
        Y, S, P, measures=[metrics.zero_one_loss, metrics.coverage_error, metrics.hamming_loss]
    )
    assert found["zero_one_loss"] == metrics.zero_one_loss(Y, P)
    assert found["coverage_error"] == metrics.coverage_error(Y, S)
    assert {m.name: m.better for m in found.measures.values()} == {
        "zero_one_loss": "low",
        "coverage_error": "low",
        "hamming_loss": "low",
    }


def test_own_measures_have_bootstrap_intervals_or_formulas():
    found = limo.evaluate(
        Y, S, P, measures=[share_wrong, specificity], intervals=0.95, n_resamples=200
    )
    own, counted = found.intervals.values()
    assert (own.method, counted.method) == ("bootstrap", "analytic")
    exact = limo.evaluate(Y, S, P, intervals=0.95).intervals["hamming_loss"]
    assert own.error == pytest.approx(exact.error, rel=0.2)


def test_what_cannot_be_read_from_the_function_is_asked_for():
    def odd(a, b):
        return 1.0

    with pytest.raises(ValueError, match="Cannot tell what 'odd' is a function of"):
        make_measure(odd)
    assert make_measure(odd, needs="labels", better="low", name="mine").name == "mine"
    with pytest.raises(ValueError, match="A lambda has no name"):
        make_measure(lambda y_true, y_score: 1.0)
    with pytest.raises(TypeError, match="takes a function"):
        make_measure("macro_f1")
    with pytest.raises(ValueError, match="must give one number"):
        limo.evaluate(Y, S, measures=[make_measure(lambda y_true, y_score: y_score, name="x")])
    with pytest.raises(ValueError, match="one value for each row"):
        limo.evaluate(Y, y_pred=P, measures=[make_measure(lambda tp, fp, fn, tn: 1.0, name="x")])


def test_scorers():
    data = limo.datasets.figure1(120)
    model = OneVsRestClassifier(LogisticRegression())
    for measure in (share_wrong, make_measure(specificity, view=ROWS), "precision_at_1"):
        scorer = limo.make_scorer(measure)
        values = cross_val_score(model, data.X, data.Y, scoring=scorer, cv=2)
        assert np.isfinite(values).all()
        assert pickle.loads(pickle.dumps(scorer)).conventions == scorer.conventions
    assert repr(limo.make_scorer(share_wrong)).startswith("make_scorer('share_wrong'")
    loss = limo.make_scorer(metrics.zero_one_loss)
    assert cross_val_score(model, data.X, data.Y, scoring=loss, cv=2).max() <= 0


def test_a_registered_function_is_known_everywhere():
    measure = register(make_measure(specificity))
    whole = register(make_measure(share_wrong, better="low"))
    try:
        assert limo.evaluate(Y, S, P)["specificity"] > 0
        document = limo.report.evaluation_document(Y, {"m": S}, {"m": P})
        assert "share_wrong" in limo.report.render(document)
        assert limo.suggest_threshold("specificity").target == "specificity"
        assert whole.threshold is None
        assert "share_wrong" not in limo.thresholds.TARGETS
        plan = limo.experiment.Plan(["figure1"], ["br"], measures=["share_wrong", "specificity"])
        assert plan.measures == ("share_wrong", "specificity")
    finally:
        unregister(measure.name)
        unregister(whole.name)


@pytest.mark.slow
def test_passed_measures_reach_the_page():
    document = limo.report.evaluation_document(
        Y, {"a": S, "b": -S}, {"a": P, "b": 1 - P}, measures=["macro_auc", share_wrong]
    )
    page = limo.report.render(document)
    assert "share_wrong" in page
    assert document["differences"][0]["better"] == "a"


def test_select():
    assert [m.name for m in select()] == list(limo.MEASURES)
    assert [m.name for m in select("macro_f1")] == ["macro_f1"]
    assert [m.name for m in select(share_wrong)] == ["share_wrong"]
    assert len(select("all")) == 11 + len(limo.MEASURES.further)
    with pytest.raises(ValueError, match="measures is empty"):
        select([])
    assert [m.name for m in select(["macro_f1", "f1_macro", "macro-F1"])] == ["macro_f1"]
    with pytest.raises(ValueError, match="Two measures are called 'share_wrong'"):
        select([share_wrong, replace(select(share_wrong)[0], title="other")])
    with pytest.raises(ValueError, match="Did you mean 'macro_jaccard'"):
        select(["macro_jacard"])
    with pytest.raises(ValueError, match="need y_score, which was not given"):
        limo.evaluate(Y, y_pred=P, measures=["macro_auc"])


def test_whole_functions_know_no_weights():
    with pytest.raises(ValueError, match="knows neither sample weights nor missing labels"):
        limo.evaluate(Y, y_pred=P, measures=[share_wrong], sample_weight=np.arange(1, 81))
    assert limo.evaluate(Y, y_pred=P, measures=[specificity], sample_weight=np.arange(1, 81))


def test_thresholds_aim_at_measures_of_counts():
    """One label: the best threshold by hand is that with the highest sensitivity x specificity."""
    y, s = np.array([[1], [1], [0], [1], [0], [0]]), np.array([[6.0], [5], [4], [3], [2], [1]])

    def product(tp, fp, fn, tn):
        return tp * tn / ((tp + fn) * (tn + fp))

    def product_loss(tp, fp, fn, tn):
        return 1 - product(tp, fp, fn, tn)

    # above 4.5 are two of three relevant items and no other: 2/3; above 2.5 all three and one: 2/3
    for target in (product, make_measure(product), make_measure(product_loss)):
        (found,) = limo.thresholds.best_label_thresholds(y, s, target)
        assert found in (4.5, 2.5)
    with pytest.raises(ValueError, match="'product_loss' is called a loss"):
        limo.thresholds.best_label_thresholds(y, s, product_loss)
    with pytest.raises(ValueError, match="'macro_auc' cannot be the target of thresholds"):
        limo.thresholds.best_label_thresholds(y, s, limo.MEASURES["macro_auc"])
