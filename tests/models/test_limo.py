import itertools
import os

import numba
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import limo
from estimators import OTHER_FOLDS, MultiLabelContract, quietly
from limo._solvers.problem import Status
from limo._system import n_workers
from solvers.problems import arrays

X, Y = arrays(seed=3, m=40, d=5, l=4)


@parametrize_with_checks(
    [
        limo.LIMOClassifier(threshold_measure=None),
        limo.LIMOClassifier(),
    ]
)
def test_it_is_a_scikit_learn_estimator(estimator, check):
    quietly(check, estimator, OTHER_FOLDS if estimator.threshold_measure else None)


class TestContract(MultiLabelContract):
    grid = property(lambda self: {"alpha": [1e-3, 1e-1]})

    def model(self):
        return limo.LIMOClassifier()


def loss_of(model, **weights):
    """The objective by its definition, pair by pair, at the fitted weights."""
    S = X @ model.coef_.T + model.intercept_
    total = 0.0
    for (A, B), weight in zip(
        ((Y, S), (Y.T, S.T), (Y.reshape(1, -1), S.reshape(1, -1))), weights.values(), strict=True
    ):
        rows = []
        for y, s in zip(A, B, strict=True):
            pairs = list(itertools.product(s[y == 1], s[y == 0]))
            if pairs:
                rows.append(np.mean([max(0, 1 - (a - b)) ** 2 for a, b in pairs]))
        total += weight * np.mean(rows)
    squared_length = (X**2).sum(axis=1).mean()  # alpha and the constant feature are relative to it
    norm = (model.coef_**2).sum() + (model.intercept_**2).sum() / (9 * squared_length)
    return total + model.alpha * squared_length / 2 * norm


@pytest.mark.parametrize("weights", [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.3, 2.0, 1.0)])
def test_the_fitted_weights_minimise_the_objective(weights):
    names = dict(zip(("label_weight", "instance_weight", "entry_weight"), weights, strict=True))
    model = limo.LIMOClassifier(**names, alpha=0.01, tol=1e-4, threshold_measure=None).fit(X, Y)
    best = loss_of(model, **names)
    assert model.solution_.objective == pytest.approx(best)
    rng = np.random.default_rng(0)
    for scale in (1e-2, 1e-1, 1.0):
        other = clone(model).fit(X, Y)
        other.coef_ = model.coef_ + scale * rng.normal(size=model.coef_.shape)
        assert loss_of(other, **names) > best


SCALES = (1e-3, 0.1, 7.0, 1e3)
compiled = pytest.mark.skipif(
    numba.config.DISABLE_JIT, reason="a hundred fits take too long without the compiler"
)


def share_changed(model, features, labels, scale):
    """The share of predictions that change if the features are multiplied by a number."""
    plain, scaled = clone(model).fit(features, labels), clone(model).fit(scale * features, labels)
    assert scaled.alpha_ == pytest.approx(scale**2 * plain.alpha_)
    return (plain.predict(features) != scaled.predict(scale * features)).mean()


@pytest.mark.slow
@compiled
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_the_scale_of_the_features_does_not_matter(scale, storage):
    for data in (limo.datasets.figure1(300), limo.datasets.make_multilabel(300, 20, 8, seed=1)):
        features = storage(data.X.toarray() if sparse.issparse(data.X) else data.X)
        for settings in ({}, {"loss": "hinge", "max_iter": 4000}, {"fit_intercept": False}):
            model = limo.LIMOClassifier(1, 1, 1, **settings)
            assert share_changed(model, features, data.Y, scale) < 1e-3


@compiled
@pytest.mark.skipif("LIMO_DATA" not in os.environ, reason="LIMO_DATA names no folder")
@pytest.mark.parametrize("scale", SCALES)
def test_the_scale_of_emotions_does_not_matter(scale):
    data = limo.datasets.load("emotions")
    features = StandardScaler().fit_transform(data.X)
    assert share_changed(limo.LIMOClassifier(), features, data.Y, scale) < 1e-3


def test_alpha_is_relative_to_the_rows():
    model = limo.LIMOClassifier(alpha=0.5, threshold_measure=None).fit(X, Y)
    assert model.alpha_ == pytest.approx(0.5 * (X**2).sum(axis=1).mean())
    assert limo.LIMOClassifier(alpha=0.5).fit(0 * X, Y).alpha_ == 0.5
    assert limo.LIMOClassifierSGD(alpha=0.5).fit(X, Y).alpha_ == 0.5  # as in the paper


@pytest.mark.parametrize(
    "model", [limo.LIMOClassifier(), limo.LIMOClassifierSGD(alpha=0.1, random_state=0)]
)
def test_dense_sparse_and_frames_agree(model):
    S = model.fit(X, Y).decision_function(X)
    frame = pd.DataFrame(X, columns=list("abcde"))
    for features, labels in (
        (sparse.csr_array(X), sparse.csr_matrix(Y)),
        (frame, pd.DataFrame(Y, columns=list("wxyz"))),
    ):
        other = clone(model).fit(features, labels)
        np.testing.assert_allclose(other.decision_function(features), S, atol=0.05)
    assert other.feature_names_in_.tolist() == list("abcde")
    assert sparse.issparse(clone(model).fit(X, sparse.csr_matrix(Y)).predict(X))


def test_predictions_are_scores_above_the_threshold():
    model = limo.LIMOClassifier(threshold_measure="macro_f1").fit(X, Y)
    S, P = model.decision_function(X), model.predict(X)
    assert isinstance(model.threshold_, limo.LabelThreshold)
    assert P.tolist() == model.threshold_.predict(S).tolist()
    assert set(np.unique(P)) <= {0, 1}
    for measure in (None, "micro_f1"):
        zero = limo.LIMOClassifier(threshold_measure=measure).fit(X, Y)
        assert zero.predict(X).tolist() == (zero.decision_function(X) > 0).astype(int).tolist()


def test_one_threshold_for_all_scores_moves_them_alike():
    raw = limo.LIMOClassifier(threshold_measure=None).fit(X, Y)
    tuned = limo.LIMOClassifier(threshold_cv="training").fit(X, Y)
    by_hand = limo.GlobalThreshold().fit(Y, raw.decision_function(X)).threshold_
    np.testing.assert_allclose(raw.intercept_ - tuned.intercept_, by_hand)
    assert np.array_equal(raw.coef_, tuned.coef_)


@pytest.mark.parametrize("measure", ["hamming_loss", "macro_f1", "micro_f1", "instance_f1"])
@pytest.mark.parametrize("cv", [3, "training"])
def test_every_measure_of_labels_has_a_threshold(measure, cv):
    model = limo.LIMOClassifier(threshold_measure=measure, threshold_cv=cv).fit(X, Y)
    assert model.predict(X).shape == Y.shape


def test_cross_fitted_thresholds_do_not_see_their_scores(monkeypatch):
    training = limo.LIMOClassifier(alpha=1e-6, threshold_cv="training").fit(X, Y)
    crossed = limo.LIMOClassifier(alpha=1e-6).fit(X, Y)
    np.testing.assert_allclose(training.coef_, crossed.coef_)
    assert (training.intercept_ != crossed.intercept_).all()


def test_labels_constant_in_training():
    constant = Y.copy()
    constant[:, 0], constant[:, 1] = 0, 1
    for model in (limo.LIMOClassifier(), limo.LIMOClassifierSGD(alpha=0.1, random_state=0)):
        S = model.fit(X, constant).decision_function(X)
        assert np.isfinite(S).all()
        assert np.array_equal(S[:, 0], S.min(axis=1))
        assert np.array_equal(S[:, 1], S.max(axis=1))
        assert model.predict(X)[:, :2].tolist() == [[0, 1]] * len(X)
        assert (model.never_.tolist(), model.always_.tolist()) == (
            [True, False, False, False],
            [False, True, False, False],
        )


def test_more_features_than_instances():
    wide = np.random.default_rng(0).normal(size=(10, 50))
    model = limo.LIMOClassifier().fit(wide, Y[:10])
    assert model.coef_.shape == (4, 50)
    assert model.solution_.converged


def test_without_intercept():
    model = limo.LIMOClassifier(fit_intercept=False).fit(X, Y)
    assert np.ptp(model.intercept_) == 0  # but for the threshold, which is the same for all
    np.testing.assert_allclose(model.decision_function(X), X @ model.coef_.T + model.intercept_)


def test_threads_are_limited_while_fitting():
    seen = []
    for n_jobs in (1, None):
        limo.LIMOClassifier(
            n_jobs=n_jobs, threshold_measure=None, callback=lambda _: seen.append(n_workers())
        ).fit(X, Y)
        assert set(seen) == {n_workers() if n_jobs is None else n_jobs}
        seen.clear()


@compiled
def test_weights_do_not_depend_on_the_number_of_threads():
    data = limo.datasets.make_multilabel(600, 20, 30, seed=0)
    alone, shared = (
        limo.LIMOClassifier(1, 1, 1, n_jobs=n_jobs, threshold_measure=None).fit(data.X, data.Y)
        for n_jobs in (1, None)
    )
    assert np.array_equal(alone.coef_, shared.coef_)


def test_warm_starts():
    model = limo.LIMOClassifier(warm_start=True, tol=1e-4, threshold_measure=None).fit(X, Y)
    assert model.n_iter_ > 0
    first = model.n_iter_
    assert model.fit(X, Y).n_iter_ <= 2 < first
    model.set_params(alpha=2e-3)
    cold = clone(model).fit(X, Y)
    assert 0 < model.fit(X, Y).n_iter_ < cold.n_iter_
    assert model.fit(X[:, :3], Y).coef_.shape == (4, 3)  # another width: starts from 0


def test_progress_can_be_followed_and_stopped():
    seen = []
    limo.LIMOClassifier(callback=seen.append, threshold_measure=None).fit(X, Y)
    assert [p.iteration for p in seen] == list(range(len(seen)))
    assert seen[-1].relative_gap <= 0.01
    stopped = limo.LIMOClassifier(callback=lambda p: p.iteration >= 1, threshold_measure=None)
    with pytest.warns(ConvergenceWarning, match="The callback asked to stop"):
        stopped.fit(X, Y)
    assert stopped.solution_.status == Status.STOPPED.value


def test_a_gap_not_reached_is_a_warning():
    with pytest.warns(ConvergenceWarning, match="still above the tolerance: raise max_iter"):
        limo.LIMOClassifier(alpha=1e-6, max_iter=1, threshold_measure=None).fit(X, Y)


def test_in_a_pipeline_and_a_grid():
    grid = GridSearchCV(
        make_pipeline(StandardScaler(), limo.LIMOClassifier(threshold_measure=None)),
        {"limoclassifier__alpha": [1e-3, 1e3]},
        scoring=limo.make_scorer("ranking_loss"),
        cv=3,
    )
    assert grid.fit(X, Y).best_params_ == {"limoclassifier__alpha": 1e-3}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"alpha": -1}, "alpha must be a number above 0, got -1"),
        ({"alpha": "x"}, "alpha must be a number above 0, got 'x'"),
        ({"label_weight": -1}, "label_weight must be a number from 0 up, got -1"),
        ({"label_weight": 0, "instance_weight": 0}, "are all 0: nothing would be learnt"),
        ({"loss": "hing"}, "Unknown loss 'hing'. Did you mean 'hinge'"),
        ({"pair_weight": "even"}, "Unknown pair_weight 'even'"),
        ({"n_jobs": "all"}, "n_jobs must be an integer from -32768 to 32768, got 'all'"),
        ({"fit_intercept": "no"}, "fit_intercept must be True or False, got 'no'"),
        ({"warm_start": []}, "warm_start must be True or False"),
        ({"callback": "print"}, "callback must be a function or None, got 'print'"),
        ({"threshold_cv": "prefit"}, "threshold_cv must be a number of folds, .*got 'prefit'"),
        ({"max_iter": 0}, "max_iter must be an integer from 1 up, got 0"),
        ({"max_iter": 2.5}, "max_iter must be an integer from 1 up, got 2.5"),
        ({"threshold_measure": "macro_auc"}, "macro_auc judges scores, so no threshold is needed"),
        ({"threshold_measure": "macro_f"}, "Unknown measure 'macro_f'. Did you mean 'macro_f1'"),
    ],
)
def test_wrong_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        limo.LIMOClassifier(**settings).fit(X, Y)


def test_wrong_data():
    model = limo.LIMOClassifier().fit(X, Y)
    with pytest.raises(ValueError, match="X has 3 features, but LIMOClassifier is expecting 5"):
        model.predict(X[:, :3])
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.where(X > 1, np.nan, X), Y)
    with pytest.raises(ValueError, match="y must hold only 0 and 1"):
        model.fit(X, 2 * Y)
