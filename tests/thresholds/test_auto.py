import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

import limo
from limo.thresholds import Tried, f_beta, rule_from_json, rule_to_json

RNG = np.random.default_rng(78)


def shifted(n_rows, n_labels=5):
    """Scores whose zero differs from instance to instance."""
    S = RNG.normal(size=(n_rows, n_labels))
    Y = (S > 0.4).astype(int)
    own = 2 * RNG.normal(size=(n_rows, 1))
    return Y, S + own + 0.2 * RNG.normal(size=S.shape)


Y, S = shifted(300)
Y_NEW, S_NEW = shifted(500)
MEASURES = ("macro_f1", "micro_f1", "instance_f1", "hamming_loss")


@pytest.mark.parametrize("measure", MEASURES)
def test_t_of_x_is_found_where_it_is_needed(measure):
    rule = limo.AutoThreshold(measure).fit(Y, S)
    assert rule.kind_.startswith("instance")
    sign, value = limo.MEASURES[measure].sign, getattr(limo, measure)
    usual = limo.GlobalThreshold(measure).fit(Y, S).predict(S_NEW)
    assert sign * value(Y_NEW, rule.predict(S_NEW)) > sign * value(Y_NEW, usual) + 0.02


def test_the_suited_kind_is_kept_where_nothing_else_is_needed():
    S = RNG.normal(size=(300, 4))
    Y = (S + 0.3 * RNG.normal(size=S.shape) > [0.0, 0.5, 1.0, -0.5]).astype(int)
    rule = limo.AutoThreshold("macro_f1").fit(Y, S)
    assert rule.kind_ == "label"
    plain = limo.LabelThreshold("macro_f1").fit(Y, S)
    assert (rule.predict(S) == plain.predict(S)).all()


def test_the_report_names_all_kinds_and_the_choice():
    rule = limo.AutoThreshold("micro_f1").fit(Y, S)
    lines = rule.report().splitlines()
    assert lines[0].split() == ["kind", "micro_f1", "gain", "error"]
    assert len(lines) == 1 + len(rule.tried_)
    assert next(line for line in lines if line.endswith("chosen")).startswith(rule.kind_)
    assert all(isinstance(t, Tried) for t in rule.tried_)
    gains = [t.gain for t in rule.tried_]
    assert gains == sorted(gains, reverse=True)


@pytest.mark.parametrize("target", [*MEASURES, f_beta(2.0)], ids=str)
def test_json_and_back(target, tmp_path):
    rule = limo.AutoThreshold(target).fit(Y, S)
    again = rule_from_json(rule_to_json(rule, tmp_path / "rule.json"))
    assert again.kind_ == rule.kind_
    assert again.tried_ == rule.tried_
    assert (again.predict(S_NEW) == rule.predict(S_NEW)).all()
    with pytest.raises(ValueError, match="fitted on 5 labels"):
        again.predict(S_NEW[:, :3])


def test_sparse_scores_give_sparse_labels():
    rule = limo.AutoThreshold("micro_f1").fit(Y, S)
    thin = limo.AutoThreshold("micro_f1").fit(Y, sparse.csr_array(S))
    assert thin.kind_ == rule.kind_
    found = thin.predict(sparse.csr_array(S_NEW))
    assert sparse.issparse(found)
    assert (found.toarray() == rule.predict(S_NEW)).all()


@pytest.mark.parametrize(
    ("name", "wrong"), [("errors", -1), ("errors", "x"), ("cv", 1), ("cv", 2.5)]
)
def test_wrong_parameters(name, wrong):
    with pytest.raises(ValueError, match=f"{name} must be"):
        limo.AutoThreshold(**{name: wrong}).fit(Y, S)


def test_a_model_file_keeps_the_choice(tmp_path):
    data = limo.datasets.figure1(200)
    model = limo.ThresholdClassifier(
        OneVsRestClassifier(LogisticRegression()), "auto", measure="micro_f1"
    )
    model.fit(data.X, data.Y)
    assert clone(model).threshold == "auto"
    file = limo.save_model(model, tmp_path / "model.skops")
    again = limo.load_model(file).model
    assert again.rule_.kind_ == model.rule_.kind_
    assert again.rule_.report() == model.rule_.report()
    assert (again.predict(data.X) == model.predict(data.X)).all()


@pytest.mark.parametrize("measure", MEASURES)
def test_weights_and_gaps_choose_the_first_kind_without_t_of_x(measure):
    weight = RNG.integers(1, 4, size=len(Y))
    rule = limo.AutoThreshold(measure).fit(Y, S, sample_weight=weight)
    suited = {
        "macro_f1": limo.LabelThreshold("macro_f1"),
        "hamming_loss": limo.LabelThreshold("hamming_loss"),
        "micro_f1": limo.GlobalThreshold("micro_f1"),
        # no search of thresholds per label follows instance-F1: micro-F1 is the closest
        "instance_f1": limo.LabelThreshold("micro_f1"),
    }[measure]
    expected = suited.fit(Y, S, sample_weight=weight).predict(S)
    assert (rule.predict(S) == expected).all()
    assert (rule_from_json(rule_to_json(rule)).predict(S) == expected).all()
    gaps = np.where(RNG.random(Y.shape) < 0.1, np.nan, Y)
    known = limo.AutoThreshold(measure).fit(gaps, S, missing=np.nan)
    assert (known.predict(S) == suited.fit(gaps, S, missing=np.nan).predict(S)).all()
