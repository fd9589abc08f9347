"""The further measures against their twins and against scikit-learn."""

import pickle

import numpy as np
import pytest
from sklearn import metrics

import limo
from limo._views import ENTRIES
from limo.measures import f_beta_measures, ndcg_at, precision_at, recall_at
from limo.measures._further import LISTED, further_measure
from naive import further as naive
from naive.measures import average_precision_row, columns, mean, whole


def cases():
    for seed in range(40):
        rng = np.random.default_rng(seed)
        m, n_labels = rng.integers(1, 9, 2)
        Y = (rng.random((m, n_labels)) < rng.random()).astype(int)
        S = rng.integers(0, 5, Y.shape) / 4  # ties, and probabilities of 0 and 1
        yield Y, S, (rng.random(Y.shape) < 0.5).astype(int)


def values(Y, S, P, names):
    return dict(limo.evaluate(Y, S, P, measures=names))


@pytest.mark.parametrize("kind", ["instance", "macro", "micro"])
def test_measures_of_labels(kind):
    twins = {
        "precision": naive.precision_row,
        "recall": naive.recall_row,
        "jaccard": naive.jaccard_row,
        "balanced_accuracy": naive.balanced_accuracy_row,
        "f2": lambda y, p: naive.f_beta_row(y, p, 2),
        "f0.5": lambda y, p: naive.f_beta_row(y, p, 0.5),
    }
    for Y, S, P in cases():
        found = values(Y, S, P, [f"{kind}_{name}" for name in twins])
        for name, row in twins.items():
            expected = naive.average(row, Y.tolist(), P.tolist(), kind)
            assert found[f"{kind}_{name}"] == pytest.approx(expected), name


def test_subset_accuracy_and_measures_of_scores():
    for Y, S, P in cases():
        found = values(Y, S, P, "all")
        assert found["subset_accuracy"] == naive.subset_accuracy(Y.tolist(), P.tolist())
        rows = list(zip(Y.tolist(), S.tolist(), strict=True))
        for k in (1, 3, 5):
            for kind in ("precision", "recall", "ndcg"):
                row = getattr(naive, f"{kind}_at")
                expected = mean([row(y, s, k) for y, s in rows], "", None)
                assert found[f"{kind}_at_{k}"] == pytest.approx(expected, nan_ok=True)
        for name in ("log_loss", "brier_loss"):
            expected = mean([getattr(naive, name)(y, s) for y, s in rows], "", None)
            assert found[name] == pytest.approx(expected)
        by_label = list(zip(columns(Y.tolist()), columns(S.tolist()), strict=True))
        expected = mean([average_precision_row(y, s, "") for y, s in by_label], "", None)
        assert found["macro_average_precision"] == pytest.approx(expected, nan_ok=True)
        (y,), (s,) = whole(Y.tolist()), whole(S.tolist())
        expected = mean([average_precision_row(y, s, "")], "", None)
        assert found["micro_average_precision"] == pytest.approx(expected, nan_ok=True)


def test_agreement_with_scikit_learn():
    rng = np.random.default_rng(7)
    Y = (rng.random((60, 5)) < 0.4).astype(int)
    Y[:, 0], Y[0] = np.arange(60) % 2, 1
    S = rng.random(Y.shape)
    P = (S > 0.6).astype(int)
    Y[Y.sum(axis=1) == 0, 1] = 1  # a label in every row, as nDCG wants
    found = values(Y, S, P, "all")
    for average in ("macro", "micro", "samples"):
        ours = {"samples": "instance"}.get(average, average)
        options = {"average": average, "zero_division": 0.0}
        assert found[f"{ours}_precision"] == pytest.approx(metrics.precision_score(Y, P, **options))
        assert found[f"{ours}_recall"] == pytest.approx(metrics.recall_score(Y, P, **options))
        assert found[f"{ours}_jaccard"] == pytest.approx(metrics.jaccard_score(Y, P, **options))
        f2 = metrics.fbeta_score(Y, P, beta=2, **options)
        assert found[f"{ours}_f2"] == pytest.approx(f2)
    assert found["subset_accuracy"] == metrics.accuracy_score(Y, P)
    for average in ("macro", "micro"):
        expected = metrics.average_precision_score(Y, S, average=average)
        assert found[f"{average}_average_precision"] == pytest.approx(expected)
    balanced = [metrics.balanced_accuracy_score(Y[:, j], P[:, j]) for j in range(5)]
    assert found["macro_balanced_accuracy"] == pytest.approx(np.mean(balanced))
    logs = [metrics.log_loss(Y[:, j], S[:, j], labels=[0, 1]) for j in range(5)]
    assert found["log_loss"] == pytest.approx(np.mean(logs))
    briers = [metrics.brier_score_loss(Y[:, j], S[:, j]) for j in range(5)]
    assert found["brier_loss"] == pytest.approx(np.mean(briers))
    for k in (1, 3, 5):
        assert found[f"ndcg_at_{k}"] == pytest.approx(metrics.ndcg_score(Y, S, k=k))


def test_names_with_any_number():
    assert precision_at(7).name == "precision_at_7"
    assert limo.MEASURES["recall_at_12"].title == "recall@12"
    assert recall_at(2).function == limo.MEASURES["recall_at_2"].function
    assert ndcg_at(10).title == "nDCG@10"
    assert [m.name for m in f_beta_measures(1.5)] == ["instance_f1.5", "macro_f1.5", "micro_f1.5"]
    for name in ("precision_at_0", "precision_at_x", "macro_f0", "macro_f1.0", "at_5", "f2"):
        assert name not in limo.MEASURES
        assert further_measure(name) is None
    with pytest.raises(KeyError):
        limo.MEASURES["precision_at_0"]
    for k in (0, 1.5, True):
        with pytest.raises(ValueError, match="k must be an integer from 1 up"):
            precision_at(k)
    with pytest.raises(ValueError, match="beta must be a number above 0"):
        f_beta_measures(0)


def test_the_eleven_stay_the_default():
    assert len(limo.MEASURES) == 11
    assert set(LISTED).isdisjoint(limo.MEASURES)
    evaluation = limo.evaluate([[1, 0], [0, 1]], [[0.3, 0.2], [0.1, 0.4]])
    assert "precision_at_1" not in evaluation
    with pytest.raises(KeyError, match="was not computed: ask for it with measures="):
        evaluation["precision_at_1"]


def test_blind_guessing_is_the_mean_over_all_orders():
    from itertools import permutations

    y = [1, 0, 1, 0]
    for name in ("precision_at_3", "recall_at_3", "ndcg_at_3", "precision_at_6", "ndcg_at_6"):
        measure = limo.MEASURES[name]
        kind, _, k = name.rpartition("_")
        row = getattr(naive, kind)
        orders = [row(y, s, int(k)) for s in permutations(range(4))]
        blind = measure.blind(np.array([2.0]), 4, limo.CONVENTIONS["standard"])
        assert blind[0] == pytest.approx(np.mean(orders)), name


def test_probabilities_are_checked():
    Y, S = [[1, 0], [0, 1]], [[2.0, 0.5], [0.1, 0.2]]
    with pytest.raises(ValueError, match="need probabilities, from 0 to 1: found 2"):
        limo.evaluate(Y, S, measures=["log_loss"])
    with pytest.raises(ValueError, match="found -1"):
        limo.evaluate(Y, [[0.0, -1.0], [0.1, 0.2]], measures=["brier_loss"])
    assert "log_loss" not in limo.evaluate(Y, S, measures="all")
    assert "log_loss" in limo.evaluate(Y, [[0.0, 0.5], [0.1, 0.2]], measures="all")


def test_the_best_order_of_ties():
    rules = limo.Conventions(tied_rank="best")
    found = limo.evaluate([[1, 0, 0]], [[1.0] * 3], measures=["precision_at_1"], conventions=rules)
    assert found["precision_at_1"] == 1.0


def test_records_can_be_sent_to_other_processes():
    for name in LISTED:
        measure = pickle.loads(pickle.dumps(limo.MEASURES[name]))
        assert measure.view is limo.MEASURES[name].view
    assert pickle.loads(pickle.dumps(ENTRIES)) is ENTRIES


def test_texts_of_all_measures():
    page = limo.report.render(
        limo.report.evaluation_document(
            [[1, 0], [0, 1]], {"m": [[0.3, 0.2], [0.1, 0.4]]}, {"m": [[1, 0], [0, 0]]}, measures="all"
        )
    )  # fmt: skip
    for name in LISTED:
        assert limo.MEASURES[name].title in page


def test_thresholds_for_further_measures():
    assert repr(limo.suggest_threshold("macro_f2")) == "LabelThreshold(target='macro_f2')"
    rng = np.random.default_rng(8)
    Y = (rng.random((60, 3)) < 0.3).astype(int)
    S = Y + rng.standard_normal(Y.shape)
    best = limo.thresholds.best_label_thresholds(Y, S, "macro_f2")
    found = limo.evaluate(Y, y_pred=best < S, measures=["macro_f2"])["macro_f2"]
    for _ in range(50):
        other = rng.standard_normal(3) < S
        assert found >= limo.evaluate(Y, y_pred=other, measures=["macro_f2"])["macro_f2"]
    with pytest.raises(ValueError, match="Unknown target 'precision_at_5'"):
        limo.thresholds.best_label_thresholds(Y, S, "precision_at_5")
