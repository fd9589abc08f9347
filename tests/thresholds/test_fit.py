import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import KFold, ShuffleSplit
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

import limo
from limo._checks import check_labels
from limo.thresholds._fit import (
    ConstantLabels,
    Fitted,
    Training,
    cross_fit,
    fit_varying,
    folds_of,
    label_matrix,
)

DATA = limo.datasets.figure1(120, seed=2)
X, Y = DATA.X, DATA.Y.astype(np.int64)
OVR = OneVsRestClassifier(LogisticRegression(solver="liblinear"))
MULTI = MultiOutputClassifier(LogisticRegression(solver="liblinear"))


def crossed(model, labels, folds, **options):
    return cross_fit(model, X, labels, folds, **options)


def test_each_instance_is_scored_by_a_model_that_has_not_seen_it():
    folds = folds_of(3, X, Y)
    rows, S = crossed(OVR, Y, folds)
    assert sorted(rows.tolist()) == list(range(120))
    for train, test in folds:
        expected = OneVsRestClassifier(LogisticRegression(solver="liblinear")).fit(
            X[train], Y[train]
        )
        place = [rows.tolist().index(i) for i in test]
        assert S[place] == pytest.approx(expected.decision_function(X[test]))


def test_folds_of_every_kind():
    assert len(folds_of(4, X, Y)) == 4
    assert len(folds_of(KFold(3), X, Y)) == 3
    pairs = [(np.arange(60), np.arange(60, 120))]
    assert folds_of(pairs, X, Y) == pairs
    rows, S = crossed(OVR, Y, folds_of(ShuffleSplit(4, test_size=0.5, random_state=0), X, Y))
    assert rows.size == len(S) == 240  # some instances twice, some never


def test_wrong_folds_are_refused():
    for cv in (None, True, "prefitted"):
        with pytest.raises(
            ValueError, match=r"a number of folds, a splitter or a list of .* rows: got"
        ):
            folds_of(cv, X, Y)
    for cv in (1, 121):
        with pytest.raises(ValueError, match=f"cv={cv} folds are impossible with n_samples=120"):
            folds_of(cv, X, Y)


@pytest.mark.parametrize("model", [OVR, MULTI], ids=["scores", "probabilities"])
def test_labels_that_never_or_always_occur(model):
    labels = Y.copy()
    labels[:, 1], labels[:, 2] = 0, 1
    fitted = fit_varying(model, X, labels, {})
    S = fitted.scores(X)
    assert S.shape == labels.shape
    assert not fitted.complete
    if model is OVR:
        assert (S[:, 1] == S[:, [0, 3]].min(axis=1)).all()
        assert (S[:, 2] == S[:, [0, 3]].max(axis=1)).all()
    else:
        assert (S[:, 1] == 0).all()
        assert (S[:, 2] == 1).all()
    P = fitted.scores(X, probabilities=True)
    assert P[:, 1].tolist() == [0] * 120
    assert P[:, 2].tolist() == [1] * 120


def test_a_label_missing_from_a_fold():
    """One positive: the fold that scores it has none to learn from. MultiOutput alone would fail."""
    labels = Y.copy()
    labels[:, 3] = np.arange(120) == 7
    with pytest.raises(ValueError, match="class"):
        MultiOutputClassifier(LogisticRegression(solver="liblinear")).fit(X[8:], labels[8:])
    for model in (OVR, MULTI):
        _, S = crossed(model, labels, folds_of(KFold(4), X, labels))
        assert np.isfinite(S).all()


def test_one_label_only():
    for model in (OVR, MULTI):
        for labels in (Y[:, [0]], np.column_stack([Y[:, 0], np.zeros(120, dtype=int)])):
            fitted = fit_varying(model, X, labels, {})
            assert fitted.scores(X).shape == labels.shape
            assert limo.micro_auc(labels, fitted.scores(X, probabilities=True)) > 0.6


def test_nothing_varies():
    fitted = fit_varying(OVR, X, np.tile([0, 1], (120, 1)), {})
    assert fitted.scores(X).tolist() == [[0, 1]] * 120
    assert fitted.scores(X.tolist(), probabilities=True).tolist() == [[0, 1]] * 120


def test_parameters_of_fit_are_split_with_the_instances():
    seen = []

    class Weighted(SGDClassifier):
        def fit(self, X, y, sample_weight=None, coef_init=None):
            seen.append((X[:, 0] * 2 == sample_weight).all())
            return super().fit(X, y, sample_weight=np.ones(len(X)))

    model = MultiOutputClassifier(Weighted(loss="log_loss"))
    crossed(model, Y, folds_of(3, X, Y), params={"sample_weight": X[:, 0] * 2})
    assert seen
    assert all(seen)


def test_scores_of_other_labels_are_refused():
    other = OneVsRestClassifier(LogisticRegression(solver="liblinear")).fit(X, Y[:, :3])
    none = np.zeros(4, dtype=bool)
    with pytest.raises(ValueError, match="gives scores of 3 labels, but y has 4"):
        Fitted(other, ConstantLabels(none, none)).scores(X)


@pytest.mark.parametrize("as_sparse", [False, True])
def test_labels_are_given_as_wide_integers(as_sparse):
    """scikit-learn 1.9.1 exchanges the columns of int8 labels beyond the 127th."""
    given = np.random.default_rng(3).integers(0, 2, (5, 200)).astype(np.int8)
    found = label_matrix(check_labels(given, "y"), as_sparse=as_sparse)
    assert found.dtype == np.int64
    assert ((found.toarray() if as_sparse else found) == given).all()


def test_constant_labels_of_scores_of_all_labels():
    """By hand: a label that never occurs gets the lowest score, one that always occurs the highest."""
    constant = ConstantLabels.of(np.array([0, 2, 1]), 2)
    assert constant.varying.tolist() == [False, False, True]
    assert constant.complete(np.array([[5.0, 1.0, 2.0]])).tolist() == [[1.0, 2.0, 2.0]]
    assert constant.complete(np.array([[7.0]])).tolist() == [[7.0, 7.0, 7.0]]
    assert constant.complete(np.array([[7.0]]), 0.0, 9.0).tolist() == [[0.0, 9.0, 7.0]]
    assert constant.correct(np.array([[1, 0, 1]])).tolist() == [[0, 1, 1]]


def test_rules_share_the_model_and_its_scores():
    fits = []

    class Counting(KNeighborsClassifier):
        def fit(self, X, y):
            fits.append(len(X))
            return super().fit(X, y)

    training = Training(Counting(5), X, Y, 3)
    for name in ("macro_f1", "micro_f1"):
        rule = training.fit_rule(limo.suggest_threshold(name))
        rows, S = training.scores("cross-fitted scores")
        by_hand = limo.suggest_threshold(name).fit(Y[rows], S)
        assert np.array_equal(rule.predict(S), by_hand.predict(S))
    assert fits == [80, 80, 80]
    own = training.fit_rule(limo.GlobalThreshold(), "training scores")
    expected = limo.GlobalThreshold().fit(Y, training.fitted.scores(X))
    assert own.threshold_ == expected.threshold_
    assert fits == [80, 80, 80, 120]


@pytest.mark.parametrize("cv", [None, "5", 2.5, [], [None], [([0], [9.5])], [([0], [99])], int])
def test_folds_that_are_none(cv):
    with pytest.raises(ValueError, match=r"cv must be a number of folds, a splitter or a list of"):
        folds_of(cv, np.ones((9, 1)), np.ones((9, 2)))


def test_transformers_of_a_pipeline_do_not_see_held_out_rows():
    seen = []

    class Watching(MaxAbsScaler):
        def fit(self, X, y=None):
            seen.append({tuple(row) for row in X})
            return super().fit(X, y)

    folds = folds_of(3, X, Y)
    training = Training(make_pipeline(Watching(), OVR), X, Y, folds)
    training.fit_rule(limo.LabelThreshold())
    for rows, (_, test) in zip(seen, folds, strict=True):
        assert not rows & {tuple(row) for row in X[test]}
