import json
import pickle

import numpy as np
import pandas
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import limo
from cases import cases
from limo.thresholds import RULES, TARGETS, best_global_threshold, best_label_thresholds
from naive import thresholds as naive

RNG = np.random.default_rng(90)
Y = (RNG.random((60, 6)) < 0.3).astype(int)
S = 1 / (1 + np.exp(-(RNG.normal(size=(60, 6)) + Y)))
ALL = {**RULES, "fixed": lambda: limo.FixedThreshold(0.5)}


@pytest.mark.parametrize("name", list(ALL))
def test_every_rule_fits_predicts_clones_and_travels(name):
    rule = ALL[name]()
    P = rule.fit(Y, S).predict(S)
    assert P.shape == Y.shape
    assert set(np.unique(P)) <= {0, 1}
    assert clone(rule).fit(Y, S).predict(S).tolist() == P.tolist()
    assert pickle.loads(pickle.dumps(rule)).predict(S).tolist() == P.tolist()
    assert repr(clone(rule)) == repr(ALL[name]())


@pytest.mark.parametrize("name", list(ALL))
def test_every_rule_takes_sparse_scores(name):
    """A score for every label, stored: the same labels as dense, but sparse."""
    T = sparse.csr_array(S)
    dense = ALL[name]().fit(Y, S).predict(S)
    found = ALL[name]().fit(sparse.csr_array(Y), T).predict(T)
    assert sparse.issparse(found)
    assert found.toarray().tolist() == dense.tolist()


@pytest.mark.parametrize("name", list(ALL))
def test_absent_scores_are_never_predicted(name):
    T = sparse.csr_array(np.where(S > 0.6, S, 0.0))
    P = ALL[name]().fit(Y, T).predict(T)
    assert not (P.toarray() * (T.toarray() == 0)).any()


@pytest.mark.parametrize("name", list(ALL))
def test_scores_of_other_labels_are_refused(name):
    rule = ALL[name]().fit(Y, S)
    with pytest.raises(ValueError, match="was fitted on 6 labels, but y_score has 5 columns"):
        rule.predict(S[:, :5])
    frame = pandas.DataFrame(S, columns=list("abcdef"))
    rule = ALL[name]().fit(Y, frame)
    assert rule.label_names_ == tuple("abcdef")
    with pytest.raises(ValueError, match="column 0 was 'a' and is now 'f'. Reorder"):
        rule.predict(frame[list("fbcdea")])
    assert rule.predict(frame).tolist() == rule.predict(S).tolist()


@pytest.mark.parametrize("name", ["label", "instance", "global", "top_k"])
def test_unfitted_rules_say_so(name):
    with pytest.raises(NotFittedError, match=r"has not been fitted: call fit\(y_true, y_score\)"):
        ALL[name]().predict(S)


@pytest.mark.parametrize("name", ["label", "instance", "global", "top_k"])
def test_unknown_targets_are_refused(name):
    with pytest.raises(ValueError, match="Unknown target 'macro_auc'"):
        ALL[name]().set_params(target="macro_auc").fit(Y, S)


def test_fixed_thresholds():
    assert (limo.FixedThreshold(0.5).predict(S) == (S > 0.5)).all()
    each = np.linspace(0.2, 0.8, 6)
    assert (limo.FixedThreshold(each).predict(S) == (each < S)).all()
    with pytest.raises(ValueError, match="one number or one for each label"):
        limo.FixedThreshold([0.5, 0.5]).fit(Y, S)


def test_global_threshold_is_the_best_there_is():
    for target in TARGETS:
        assert limo.GlobalThreshold(target).fit(Y, S).threshold_ == best_global_threshold(
            Y, S, target
        )
    assert limo.GlobalThreshold().fit(Y, S).threshold_ == best_global_threshold(Y, S, "micro_f1")


@pytest.mark.parametrize("target", ["macro_f1", "micro_f1", "hamming_loss", "balanced_accuracy"])
def test_label_thresholds_are_the_best_there_are(target):
    rule = limo.LabelThreshold(target, shrinkage=0).fit(Y, S)
    assert rule.thresholds_.tolist() == best_label_thresholds(Y, S, target).tolist()


def test_thresholds_of_rare_labels_are_moved_towards_the_usual_place():
    labels = Y.copy()
    labels[:, 1] = np.arange(60) < 4
    labels[:, 3] = 0
    shifted = S + np.arange(6)  # scores of different labels that cannot be compared
    for scores in (shifted, sparse.csr_array(shifted)):
        rule = limo.LabelThreshold(shrinkage=5).fit(labels, scores)
        own = best_label_thresholds(labels, shifted)
        expected = naive.shrunk(own, labels.T.tolist(), shifted.T.tolist(), 5)
        assert rule.thresholds_ == pytest.approx(expected, rel=1e-12)
        assert rule.thresholds_[3] == np.inf
    # a label's own offset moves its threshold and nothing else
    plain = limo.LabelThreshold(shrinkage=5).fit(labels, S).thresholds_
    assert rule.thresholds_ == pytest.approx(plain + np.arange(6), rel=1e-12)
    weights = np.arange(60) % 3
    often = np.repeat(np.arange(60), weights)
    one = limo.LabelThreshold().fit(labels, S, sample_weight=weights).thresholds_
    assert one == pytest.approx(limo.LabelThreshold().fit(labels[often], S[often]).thresholds_)


def test_infinite_thresholds_stay():
    truth, scores = [[0], [1], [0], [0]], [[3.0], [1.0], [2.0], [0.0]]
    rule = limo.LabelThreshold("hamming_loss").fit(truth, scores)
    assert rule.thresholds_.tolist() == [np.inf]
    everything = limo.LabelThreshold().fit([[1], [1]], [[1.0], [2.0]])
    assert everything.thresholds_.tolist() == [-np.inf]


def test_wrong_parameters_are_refused():
    for wrong in (-1, np.nan, "x"):
        with pytest.raises(ValueError, match="shrinkage must be a number"):
            limo.LabelThreshold(shrinkage=wrong).fit(Y, S)
    with pytest.raises(ValueError, match="k must be a whole number from 0 up, got 2.0"):
        limo.TopK(2.0).predict(S)
    with pytest.raises(
        ValueError, match="must be a number or numbers, one for each label: got 'a'"
    ):
        limo.FixedThreshold("a").predict(S)


def test_infinite_thresholds_survive_json():
    labels = Y.copy()
    labels[:, 0], labels[:, 1] = 0, 1
    rule = limo.LabelThreshold().fit(labels, S)
    assert rule.thresholds_[:2].tolist() == [np.inf, -np.inf]
    again = limo.thresholds.rule_from_json(limo.thresholds.rule_to_json(rule))
    assert again.thresholds_.tolist() == rule.thresholds_.tolist()
    assert again.predict(S).tolist() == rule.predict(S).tolist()
    assert json.loads(limo.thresholds.rule_to_json(rule))["thresholds"][:2] == ["inf", "-inf"]


def test_a_learnt_k_is_the_best_there_is():
    for labels, scores, _ in cases(40, seed=91):
        for target, average, function in (
            ("instance_f1", "instance", naive.f_beta(1)),
            ("hamming_loss", "micro", naive.hamming_loss),
            ("macro_f1", "macro", naive.f_beta(1)),
        ):
            rule = limo.TopK(target=target if average != "micro" else "micro_hamming_loss").fit(
                labels, scores
            )
            values = [
                naive.value(function, average, labels.tolist(), naive.top_k(scores.tolist(), k))
                for k in range(labels.shape[1] + 1)
            ]
            assert values[rule.k_] == pytest.approx(max(values))


def test_expected_f1_wants_probabilities():
    with pytest.raises(ValueError, match="Expected F1 needs probabilities"):
        limo.ExpectedF1().fit(Y, S * 3)
    with pytest.raises(ValueError, match="Expected F1 needs probabilities"):
        limo.ExpectedF1().predict(S - 1)


def test_gfm_through_the_rule():
    assert limo.ExpectedF1().predict([[[0.0, 0.5], [0.0, 0.5], [0.5, 0.0]]]).tolist() == [[1, 1, 1]]
    assert limo.ExpectedF1(f1_of_nothing=1.0).predict([[[0.1], [0.0]]]).tolist() == [[0, 0]]


@pytest.mark.parametrize(
    ("rule", "y_true", "y_score", "before"),
    [
        (limo.GlobalThreshold(), [[1, 0], [0, 1]], [[3.0, 1.0], [0.0, 5.0]], 2.0),
        (limo.GlobalThreshold(), [[1, 1], [1, 1]], [[3.0, 1.0], [0.0, 5.0]], 0.0),
        (limo.LabelThreshold(shrinkage=0), [[1], [0]], [[3.0], [1.0]], 2.0),
        (limo.LabelThreshold(), [[0], [0]], [[3.0], [1.0]], 0.0),
        (limo.LabelThreshold(shrinkage=0), [[1, 0], [0, 1]], [[3.0, 1.0], [0.0, 5.0]], 0.0),
        (limo.TopK(1), [[1, 0], [0, 1]], [[3.0, 1.0], [0.0, 5.0]], 0.0),
    ],
)
def test_one_finite_threshold_for_all_scores_can_be_moved_to_zero(rule, y_true, y_score, before):
    labels = rule.fit(y_true, y_score).predict(y_score)
    assert rule.move_to_zero() == before
    assert np.array_equal(rule.predict(np.array(y_score) - before), labels)
    assert rule.move_to_zero() == 0
