"""An estimator does what a comparison does with its method."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.svm import SVR

import limo
from limo.experiment import METHODS, Method, estimator_for
from limo.experiment import _judge as judge_module
from limo.models import _files as files

DATA = limo.datasets.figure1(60)
QUICK = {
    "limo-cv": {"alphas": (0.1,), "terms": ("rows mean + columns mean",), "cv": 2},
    "logistic": {"estimator": LogisticRegression()},
    "rbf": {"binaryrelevance__estimator": LogisticRegression()},
    "aimed": {"families": ["linear"], "cv": 2},
    "forest": {"n_estimators": 20},
    "extra-trees": {"n_estimators": 20},
    "boosting": {"n_rounds": 5},
}
NAMES = [name for name in METHODS if not name.startswith("paper")]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("measure", ["macro_f1", "ranking_loss"])
def test_every_method_fits_predicts_and_is_kept(name, measure, tmp_path):
    method = Method(**{**vars(METHODS[name]), "settings": QUICK.get(name, {})})
    model = estimator_for(method, measure, seed=0).fit(DATA.X, DATA.Y)
    S, P = limo.scores_of(model, DATA.X), model.predict(DATA.X)
    assert S.shape == P.shape == DATA.Y.shape
    saved = limo.load_model(limo.save_model(model, tmp_path / "m.skops")).model
    assert np.array_equal(limo.scores_of(saved, DATA.X), S)
    assert np.array_equal(saved.predict(DATA.X), P)


def test_the_threshold_suits_the_measure():
    assert estimator_for(METHODS["limo"], "macro_f1").threshold.target == "macro_f1"
    assert estimator_for(METHODS["limo"], "macro_auc").threshold.target == "micro_f1"
    assert isinstance(estimator_for(METHODS["br"], "macro_f1").estimator, Pipeline)
    assert estimator_for(METHODS["br"], "macro_f1").threshold == "own"
    aimed = estimator_for(METHODS["limo-cv"], "coverage").estimator[-1]
    assert aimed.measure == ["coverage"]


def test_a_method_without_scaling_needs_no_pipeline():
    model = estimator_for(Method("mine", limo.MLKNNClassifier(), threshold="own"), "macro_f1")
    assert type(model.estimator) is limo.MLKNNClassifier


def test_unknown_measures_are_rejected():
    with pytest.raises(ValueError, match="Unknown measure 'f1'"):
        estimator_for(METHODS["limo"], "f1")


def test_scaling_is_trusted_in_model_files():
    assert "limo.models.UnitRows" in files._trusted()


def data_with_constant_labels(seed=0):
    """Columns of different scales; in the training part one label never occurs, another always."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(90, 4)) * [1, 5, 0.2, 1]
    Y = (X @ rng.normal(size=(4, 5)) + 0.5 * rng.normal(size=(90, 5)) > 0.3).astype(int)
    Y[:60, 3], Y[:60, 4] = 0, 1
    names = tuple("abcd"), tuple("vwxyz")
    whole = limo.Dataset(X, Y, *names)
    return whole.take(np.arange(60)), whole.take(np.arange(60, 90))


def compared(method, train, test, measures, seed):
    """The scores and predictions that a comparison judges."""
    tested = None

    class Spy(judge_module._Tested):
        def __init__(self, *given):
            nonlocal tested
            super().__init__(*given)
            tested = self

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(judge_module, "_Tested", Spy)
        scores = list(
            judge_module.judge(method, train, test, measures, limo.CONVENTIONS["standard"], seed)
        )
    return scores, tested


@pytest.mark.parametrize("name", [*NAMES, "paper:LIMO", "paper:LIMO-label", "paper:LIMO-inst"])
@pytest.mark.parametrize(
    "measure",
    [
        "macro_f1",
        *(
            pytest.param(m, marks=pytest.mark.slow)
            for m in ("instance_f1", "hamming_loss", "micro_auc")
        ),
    ],
)
def test_fit_and_compare_predict_the_same(name, measure):
    """Bit for bit, with labels that are constant in training and features of all scales."""
    train, test = data_with_constant_labels()
    method = replace(METHODS[name], settings=QUICK.get(name, {}))
    (score,), tested = compared(method, train, test, [measure], seed=3)
    model = estimator_for(method, measure, seed=3).fit(train.X, train.Y)
    assert score.error == ""
    assert np.array_equal(limo.scores_of(model, test.X), tested.scores())
    judged = limo.evaluate(test.Y, limo.scores_of(model, test.X), model.predict(test.X))
    assert judged[measure] == score.value
    if limo.MEASURES[measure].needs == "labels":
        setting = method.thresholds([measure])[measure]
        assert np.array_equal(model.predict(test.X), tested.labels(setting))
        assert model.predict(test.X)[:, 3:].tolist() == [[0, 1]] * 30


@pytest.mark.slow
@pytest.mark.parametrize("name", ["limo-cv", "limo", "mlknn", "forest"])
def test_other_measures_of_a_plan_change_nothing(name):
    train, test = data_with_constant_labels(1)
    method = replace(METHODS[name], settings=QUICK.get(name, {}))
    together, _ = compared(method, train, test, list(limo.MEASURES), seed=0)
    for score in together:
        model = estimator_for(method, score.measure, seed=0).fit(train.X, train.Y)
        S, P = limo.scores_of(model, test.X), model.predict(test.X)
        assert limo.evaluate(test.Y, S, P)[score.measure] == score.value


def test_the_scaling_is_refitted_without_the_held_out_rows():
    train, _ = data_with_constant_labels()
    method = Method("m", limo.MLKNNClassifier(), scaling="max_abs", threshold="global")
    model = estimator_for(method, "micro_f1").fit(train.X, train.Y)
    S, rows = [], []
    Y = train.Y[:, :3]
    for known, held_out in limo.datasets.StratifiedFolds(3).split(train.X, train.Y):
        scaler = MaxAbsScaler().fit(train.X[known])
        learner = limo.MLKNNClassifier().fit(scaler.transform(train.X[known]), Y[known])
        P = learner.predict_proba(scaler.transform(train.X[held_out]))
        ends = np.tile([0.0, 1.0], (len(held_out), 1))
        S.append(np.hstack([P, ends]))
        rows.append(held_out)
    by_hand = limo.GlobalThreshold("micro_f1").fit(train.Y[np.concatenate(rows)], np.vstack(S))
    assert model.rule_.threshold_ == by_hand.threshold_


def test_the_papers_thresholds_read_scaled_features():
    """t(x) regresses on the features as the paper's learner sees them: divided by their maximum."""
    train, test = data_with_constant_labels()
    model = estimator_for(METHODS["paper:LIMO-label"], "instance_f1", seed=0)
    model.fit(train.X, train.Y)
    scaler = MaxAbsScaler().fit(train.X)
    X, X_test = scaler.transform(train.X), scaler.transform(test.X)
    rule = limo.InstanceThreshold(
        "instance_f1", source="features", regressor=SVR(C=1.0, gamma="auto"), end_gap=0, ties="most"
    )
    rule.fit(train.Y, limo.scores_of(model, train.X), X)
    expected = rule.predict(limo.scores_of(model, test.X), X_test)
    expected[:, 3], expected[:, 4] = 0, 1
    assert np.array_equal(model.predict(test.X), expected)


def test_thresholds_chosen_on_test_labels_cannot_be_fitted():
    method = METHODS["paper:LIMO, test cuts"]
    with pytest.raises(ValueError, match="chooses its threshold for macro_f1 on test labels"):
        estimator_for(method, "macro_f1")
    assert estimator_for(method, "instance_f1").cv == "training"
