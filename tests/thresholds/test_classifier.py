import pickle

import numpy as np
import pandas
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import StackingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    StratifiedKFold,
    TunedThresholdClassifierCV,
    cross_val_predict,
    cross_val_score,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import limo
from estimators import OTHER_THRESHOLD, quietly
from limo.thresholds import RULES, ThresholdClassifier

TRAIN, TEST = limo.datasets.split(limo.datasets.figure1(400, seed=3))
X, Y = TRAIN.X, TRAIN.Y
OVR = OneVsRestClassifier(LogisticRegression(solver="liblinear"))
MODELS = {
    "one-vs-rest": OVR,
    "one-vs-rest, svm": OneVsRestClassifier(LinearSVC()),
    "multi-output": MultiOutputClassifier(LogisticRegression(solver="liblinear")),
    "multi-output, svm": MultiOutputClassifier(LinearSVC()),
    "chain": ClassifierChain(LogisticRegression(solver="liblinear")),
    "neighbours": KNeighborsClassifier(7),
    "ridge": RidgeClassifier(),
    "pipeline": make_pipeline(
        StandardScaler(), MultiOutputClassifier(LogisticRegression(solver="liblinear"))
    ),
}


# ---- thresholds really act


@pytest.mark.parametrize("name", ["one-vs-rest", "multi-output", "pipeline"])
def test_thresholds_act_where_those_of_scikit_learn_are_ignored(name):
    """Positives are rare, so macro-F1 wants thresholds far below a half."""
    rng = np.random.default_rng(4)
    features = rng.normal(size=(300, 4))
    labels = (features[:, :3] + rng.normal(size=(300, 3)) > 2.2).astype(int)
    plain = clone(MODELS[name]).fit(features, labels).predict(features)
    ours = ThresholdClassifier(MODELS[name], "label", measure="macro_f1").fit(features, labels)
    assert (ours.predict(features) != plain).any(axis=0).all()  # every label's threshold acts
    assert limo.macro_f1(labels, ours.predict(features)) > limo.macro_f1(labels, plain) + 0.05
    S = limo.scores_of(ours.estimator_, features)
    assert (ours.predict(features) == (ours.rule_.thresholds_ < S)).all()


def test_scikit_learn_ignores_them_still():
    """If this fails, scikit-learn has mended OneVsRestClassifier: the documentation may say so."""
    rng = np.random.default_rng(4)
    features = rng.normal(size=(300, 4))
    labels = (features[:, :3] + rng.normal(size=(300, 3)) > 2.2).astype(int)
    tuned = TunedThresholdClassifierCV(LogisticRegression(solver="liblinear"), scoring="f1", cv=2)
    wrapped = OneVsRestClassifier(tuned).fit(features, labels)
    assert all(abs(e.best_threshold_ - 0.5) > 0.1 for e in wrapped.estimators_)
    plain = OneVsRestClassifier(LogisticRegression(solver="liblinear")).fit(features, labels)
    assert (wrapped.predict(features) == plain.predict(features)).all()


# ---- every model, every rule


@pytest.mark.parametrize("name", list(MODELS))
@pytest.mark.parametrize("rule", [r for r in RULES if r != "expected_f1"])
def test_every_model_with_every_rule(name, rule):
    model = ThresholdClassifier(MODELS[name], rule, cv=3).fit(X, Y)
    P = model.predict(TEST.X)
    assert P.shape == TEST.Y.shape
    assert limo.micro_f1(TEST.Y, P) > 0.6


@pytest.mark.parametrize("name", ["one-vs-rest", "multi-output", "neighbours", "pipeline"])
def test_expected_f1_takes_probabilities(name):
    model = ThresholdClassifier(MODELS[name], "expected_f1", measure="instance_f1").fit(X, Y)
    assert limo.instance_f1(TEST.Y, model.predict(TEST.X)) > 0.75


def test_expected_f1_without_probabilities():
    with pytest.raises(TypeError, match="gives no probabilities: expected predict_proba"):
        ThresholdClassifier(RidgeClassifier(), "expected_f1").fit(X, Y).predict(X)


def test_t_of_x_reads_the_features():
    model = ThresholdClassifier(OVR, limo.InstanceThreshold(source="features")).fit(X, Y)
    assert model.rule_.regressor_.n_features_in_ == 2
    assert model.predict(TEST.X).shape == TEST.Y.shape


@pytest.mark.parametrize("measure", ["macro_f1", "micro_f1", "instance_f1", "hamming_loss", None])
def test_by_default_the_kind_is_chosen_for_the_measure(measure):
    model = ThresholdClassifier(OVR, measure=measure).fit(X, Y)
    assert isinstance(model.rule_, limo.AutoThreshold)
    assert model.rule_.target == measure
    kinds = {t.kind for t in model.rule_.tried_}
    assert kinds >= {"label", "global", "instance + global", "instance + label"}


# ---- cross-fitting


class Memory(KNeighborsClassifier):
    """Knows its training data by heart."""

    def __init__(self):
        super().__init__(n_neighbors=1)


def test_cross_fitted_thresholds_do_not_trust_what_was_learnt_by_heart():
    rng = np.random.default_rng(5)
    features, labels = rng.normal(size=(200, 2)), (rng.random((200, 2)) < 0.3).astype(int)
    rule = limo.LabelThreshold(shrinkage=0)
    by_heart = ThresholdClassifier(Memory().fit(features, labels), rule, cv="prefit").fit(
        features, labels
    )
    fair = ThresholdClassifier(Memory(), rule, cv=4).fit(features, labels)
    assert by_heart.rule_.thresholds_.tolist() == [
        0.5,
        0.5,
    ]  # parts the training scores 0 and 1 perfectly
    assert fair.rule_.thresholds_.tolist() == [
        -np.inf,
        -np.inf,
    ]  # noise: for F1 best to predict always


def test_prefit_takes_the_model_as_it_is():
    inner = clone(OVR).fit(X, Y)
    model = ThresholdClassifier(inner, "label", cv="prefit").fit(TEST.X, TEST.Y)
    assert model.estimator_ is inner
    expected = limo.LabelThreshold().fit(TEST.Y, inner.decision_function(TEST.X))
    assert model.rule_.thresholds_.tolist() == expected.thresholds_.tolist()


def test_prefit_wants_a_fitted_model():
    with pytest.raises(NotFittedError):
        ThresholdClassifier(clone(OVR), cv="prefit").fit(X, Y)


def test_frozen_models_are_not_fitted_again():
    inner = FrozenEstimator(clone(OVR).fit(X, Y))
    model = ThresholdClassifier(inner, "global", cv=3).fit(TEST.X, TEST.Y)
    S = inner.decision_function(TEST.X)
    assert model.rule_.threshold_ == limo.GlobalThreshold().fit(TEST.Y, S).threshold_


def test_the_model_is_fitted_on_all_data():
    model = ThresholdClassifier(OVR).fit(X, Y)
    assert (model.decision_function(X) == clone(OVR).fit(X, Y).decision_function(X)).all()


def test_rules_without_anything_to_learn_need_no_folds():
    calls = []

    class Counted(LogisticRegression):
        def fit(self, X, y):
            calls.append(len(X))
            return super().fit(X, y)

    ThresholdClassifier(OneVsRestClassifier(Counted()), limo.FixedThreshold(0.0)).fit(X, Y)
    assert calls == [len(X)] * 4


@pytest.mark.slow
def test_side_by_side_is_the_same():
    one, two = (ThresholdClassifier(OVR, n_jobs=n).fit(X, Y) for n in (None, 2))
    assert one.rule_.tried_ == two.rule_.tried_
    assert (one.predict(X) == two.predict(X)).all()


# ---- what goes in and comes out


def test_scores_are_untouched():
    model = ThresholdClassifier(MODELS["multi-output"]).fit(X, Y)
    expected = clone(MODELS["multi-output"]).fit(X, Y).predict_proba(X)
    assert isinstance(expected, list)  # of both classes of each label; ours is one matrix
    assert np.array_equal(model.predict_proba(X), np.column_stack([p[:, 1] for p in expected]))
    assert not hasattr(model, "decision_function")
    assert not hasattr(ThresholdClassifier(RidgeClassifier()), "predict_proba")


@pytest.mark.parametrize("name", list(MODELS))
@pytest.mark.parametrize("method", ["predict_proba", "decision_function"])
def test_classes_are_the_columns_of_the_scores(name, method):
    """cross_val_predict and StackingClassifier read classes_ together with the scores."""
    model = ThresholdClassifier(MODELS[name], cv=2)
    if not hasattr(model, method):
        pytest.skip(f"{name} has no {method}")
    S = cross_val_predict(model, X, Y, cv=3, method=method)
    assert S.shape == Y.shape
    assert model.fit(X, Y).classes_.tolist() == [0, 1, 2, 3]
    stacked = StackingClassifier(
        [("one", model)], KNeighborsClassifier(), cv=3, stack_method=method
    )
    assert limo.micro_f1(TEST.Y, stacked.fit(X, Y).predict(TEST.X)) > 0.6


def test_rare_labels_change_no_form():
    """A label constant in one fold only: every fold still gives a matrix of all labels."""
    labels = Y.copy()
    labels[:, 3] = 0
    labels[:5, 3] = 1
    model = ThresholdClassifier(MODELS["multi-output"], limo.FixedThreshold(0.5))
    folds = KFold(2)
    assert cross_val_predict(model, X, labels, cv=folds, method="predict_proba").shape == Y.shape


@pytest.mark.parametrize("model", [*MODELS.values(), LogisticRegression()], ids=str)
def test_one_dimension_is_one_label_with_two_classes(model):
    y = np.array(["no", "yes"])[Y[:, 0]]
    flat = ThresholdClassifier(model, cv=3).fit(X, y)
    assert flat.classes_.tolist() == ["no", "yes"]
    assert flat.n_labels_ == 1
    found = flat.predict(TEST.X)
    assert found.shape == (len(TEST.X),)
    assert ((found == "yes") == TEST.Y[:, 0]).mean() > 0.8
    if hasattr(flat, "predict_proba"):
        P = flat.predict_proba(TEST.X)
        np.testing.assert_allclose(P.sum(axis=1), 1)
        assert ((P[:, 1] > 0.5) == TEST.Y[:, 0]).mean() > 0.8
    if hasattr(flat, "decision_function"):
        assert flat.decision_function(TEST.X).shape == (len(TEST.X),)
    own = ThresholdClassifier(model, "own").fit(X, y).predict(TEST.X)
    assert set(own) == {"no", "yes"}


def test_splitters_of_scikit_learn_stratify_one_label():
    model = ThresholdClassifier(LogisticRegression(), cv=StratifiedKFold(3)).fit(X, Y[:, 0])
    assert (model.predict(TEST.X) == TEST.Y[:, 0]).mean() > 0.8


def test_a_fitted_model_predicts_in_its_own_coding():
    y = np.array(["no", "yes"])[Y[:, 0]]
    inner = LogisticRegression().fit(X, y)
    model = ThresholdClassifier(inner, "own", cv="prefit").fit(TEST.X[:50], y[:50])
    assert (model.predict(TEST.X) == inner.predict(TEST.X)).all()
    tuned = ThresholdClassifier(inner, cv="prefit").fit(X, y)
    assert set(tuned.predict(TEST.X)) == {"no", "yes"}


def test_predictions_are_coded_as_the_labels():
    plain = ThresholdClassifier(OVR, cv=3).fit(X, Y).predict(TEST.X)
    for values in ([-1, 1], ["absent", "present"]):
        coded = ThresholdClassifier(OVR, cv=3).fit(X, np.array(values)[Y]).predict(TEST.X)
        assert (coded == np.array(values)[plain]).all()


def test_data_frames_and_sparse_matrices():
    frame = pandas.DataFrame(X, columns=["x", "y"])
    labels = pandas.DataFrame(Y, columns=list("ABCD"))
    plain = ThresholdClassifier(OVR).fit(X, Y)
    framed = ThresholdClassifier(OVR).fit(frame, labels)
    assert framed.label_names_ == tuple("ABCD")
    assert framed.n_features_in_ == 2
    assert framed.predict(frame).tolist() == plain.predict(X).tolist()
    sparse_too = ThresholdClassifier(OVR).fit(sparse.csr_array(X), sparse.csr_array(Y))
    found = sparse_too.predict(sparse.csr_array(X))
    assert sparse.issparse(found)
    assert (found.toarray() == plain.predict(X)).mean() > 0.99


@pytest.mark.parametrize("name", ["one-vs-rest", "multi-output", "chain", "neighbours"])
def test_labels_constant_or_missing(name):
    labels = np.column_stack([Y, np.zeros(len(Y)), np.ones(len(Y)), np.arange(len(Y)) == 3]).astype(
        int
    )
    for rule in ("label", "instance", "global", "top_k"):
        model = ThresholdClassifier(MODELS[name], rule).fit(X, labels)
        P = model.predict(TEST.X)
        assert P[:, 4].sum() == 0
        assert P[:, 5].all()
        assert limo.micro_f1(TEST.Y, P[:, :4]) > 0.6
    proba = model.predict_proba(TEST.X)
    assert proba[:, 4].tolist() == [0.0] * len(proba)
    assert proba[:, 5].tolist() == [1.0] * len(proba)
    if name == "one-vs-rest":
        assert model.decision_function(TEST.X).shape == (len(TEST.X), 7)


def test_more_than_127_labels_of_bytes():
    """Labels as int8 are handed on in full width: scikit-learn 1.9.1 mixes up their columns."""
    rng = np.random.default_rng(6)
    features = rng.normal(size=(60, 130))
    labels = (features > 0).astype(np.int8)
    model = ThresholdClassifier(OVR, limo.FixedThreshold(0.0)).fit(features, labels)
    assert limo.micro_f1(labels, model.predict(features)) > 0.95


# ---- scikit-learn's machinery


def test_grid_search_reaches_the_rule_and_the_model():
    grid = {
        "threshold": ["label", limo.LabelThreshold(), limo.GlobalThreshold("macro_f1")],
        "estimator__estimator__C": [0.1, 1.0],
    }
    scorer = limo.make_scorer("macro_f1")
    search = GridSearchCV(ThresholdClassifier(OVR, cv=2), grid, scoring=scorer, cv=2).fit(X, Y)
    assert search.best_score_ > 0.7
    deep = GridSearchCV(
        ThresholdClassifier(OVR, limo.LabelThreshold(), cv=2),
        {"threshold__shrinkage": [0, 5]}, scoring=scorer, cv=2,
    ).fit(X, Y)  # fmt: skip
    assert deep.best_params_["threshold__shrinkage"] in (0, 5)


def test_inside_a_pipeline_and_cross_validation():
    model = make_pipeline(StandardScaler(), ThresholdClassifier(OVR, measure="micro_f1", cv=2))
    assert cross_val_score(model, X, Y, scoring=limo.make_scorer("micro_f1"), cv=3).mean() > 0.7
    assert cross_val_score(model, X, Y, scoring="f1_macro", cv=3).mean() > 0.7


def test_clone_and_pickle():
    model = ThresholdClassifier(OVR, limo.LabelThreshold(), measure="jaccard")
    assert repr(clone(model)) == repr(model)
    fitted = pickle.loads(pickle.dumps(model.fit(X, Y)))
    assert fitted.predict(X).tolist() == model.predict(X).tolist()
    assert model.threshold.target is None  # the rule given is not touched


def test_not_fitted():
    with pytest.raises(NotFittedError):
        ThresholdClassifier(OVR).predict(X)


def test_wrong_input_is_refused():
    with pytest.raises(ValueError, match="y is empty"):
        ThresholdClassifier(OVR).fit(X[:0], [])
    with pytest.raises(ValueError, match="y must hold only 0 and 1: found 2"):
        ThresholdClassifier(OVR).fit(X, Y * 2)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        ThresholdClassifier(OVR).fit(X[:10], Y)
    with pytest.raises(ValueError, match="macro_auc judges scores, so no threshold is needed"):
        ThresholdClassifier(OVR, measure="macro_auc").fit(X, Y)
    with pytest.raises(TypeError, match="For a number t, use FixedThreshold"):
        ThresholdClassifier(OVR, 0.5).fit(X, Y)
    with pytest.raises(ValueError, match="cannot be fitted to 'instance_f1'"):
        ThresholdClassifier(OVR, "label", measure="instance_f1").fit(X, Y)


@parametrize_with_checks([ThresholdClassifier(OVR, limo.FixedThreshold(0.0))])
def test_scikit_learn_accepts_it(estimator, check):
    quietly(check, estimator)


@pytest.mark.slow
@parametrize_with_checks([ThresholdClassifier(OVR)])
def test_scikit_learn_accepts_it_with_other_thresholds(estimator, check):
    quietly(check, estimator, OTHER_THRESHOLD)
