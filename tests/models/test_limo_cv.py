import matplotlib as mpl
import numba
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

import limo
from estimators import OTHER_THRESHOLD, MultiLabelContract, quietly
from limo._solvers import exact
from limo.models._limo_plan import LOGISTIC

compiled = pytest.mark.skipif(
    numba.config.DISABLE_JIT, reason="many fits take too long without the compiler"
)

DATA = limo.datasets.figure1(240, seed=5)
SMALL = {"alphas": [1e-2, 1e-4], "terms": ["rows mean", "columns mean"]}


# With several labels the search chooses a threshold per label, not 0 for all.
EXCUSES = {name: OTHER_THRESHOLD[name] for name in ["check_classifier_multioutput"]}


@parametrize_with_checks(
    [limo.LIMOClassifierCV(alphas=[1e-2], terms=["rows mean + columns mean"])],
)
def test_it_is_a_scikit_learn_estimator(estimator, check):
    quietly(check, estimator, EXCUSES)


class TestContract(MultiLabelContract):
    grid = property(lambda self: {"measure": ["macro_auc", "micro_f1"]})

    def model(self):
        return limo.LIMOClassifierCV(alphas=[1e-2], terms=["rows mean + columns mean"])


def test_the_grid_is_judged_as_by_hand():
    """Every cell of a measure of scores equals separate fits of each fold."""
    folds = list(limo.datasets.StratifiedFolds(3).split(DATA.X, DATA.Y))
    search = limo.LIMOClassifierCV("ranking_loss", **SMALL, cv=folds, tol=1e-6).fit(DATA.X, DATA.Y)
    found = search.cv_results_
    assert len(found["alpha"]) == 4
    for k in range(4):
        model = limo.MarginClassifier(
            found["terms"][k], alpha=found["alpha"][k], tol=1e-6, threshold_measure=None
        )
        values = [
            limo.ranking_loss(
                DATA.Y[test],
                clone(model).fit(DATA.X[train], DATA.Y[train]).decision_function(DATA.X[test]),
            )
            for train, test in folds
        ]
        assert found["mean_ranking_loss"][k] == pytest.approx(np.mean(values), abs=2e-3)
        assert found["std_ranking_loss"][k] == pytest.approx(np.std(values), abs=2e-3)


@compiled
@pytest.mark.parametrize("alphas", [None, [1e-2, 1e-4]])
def test_the_scale_of_the_features_does_not_matter(alphas):
    settings = SMALL | {"alphas": alphas}
    plain = limo.LIMOClassifierCV("micro_f1", **settings).fit(DATA.X, DATA.Y)
    scaled = limo.LIMOClassifierCV("micro_f1", **settings).fit(1e3 * DATA.X, DATA.Y)
    assert scaled.best_params_ == plain.best_params_
    assert np.array_equal(scaled.predict(1e3 * DATA.X), plain.predict(DATA.X))
    if alphas is None:
        assert max(plain.cv_results_["alpha"]) == pytest.approx(10**-0.5)


@compiled
@pytest.mark.parametrize("measure", list(limo.MEASURES))
def test_any_measure_by_name(measure):
    search = limo.LIMOClassifierCV(measure, **SMALL).fit(DATA.X, DATA.Y)
    means = search.cv_results_[f"mean_{measure}"]
    best = means.max() if limo.MEASURES[measure].better == "high" else means.min()
    chosen = [
        k
        for k in range(len(means))
        if all(search.cv_results_[n][k] == v for n, v in search.best_params_.items())
    ]
    assert means[chosen] == [best]
    assert search.predict(DATA.X).shape == DATA.Y.shape


@compiled
def test_all_measures_cost_one_cross_validation(monkeypatch):
    solved = []
    solve = exact.solve
    monkeypatch.setattr(
        exact, "solve", lambda *given, **more: solved.append(1) or solve(*given, **more)
    )
    calls = []
    search = limo.LIMOClassifierCV(
        list(limo.MEASURES), **SMALL, callback=lambda *now: calls.append(now)
    ).fit(DATA.X, DATA.Y)
    assert len(solved) <= 4 * (3 + 1)  # four cells, on three folds and on all data
    assert calls[-1] == (16, 16)
    assert [total for _, total in calls] == [16] * len(calls)
    assert [done for done, _ in calls] == sorted(done for done, _ in calls)
    assert list(search.models_) == list(limo.MEASURES)
    one = limo.LIMOClassifierCV("macro_f1", **SMALL).fit(DATA.X, DATA.Y)
    assert search.best_params_by_measure_["macro_f1"] == one.best_params_
    np.testing.assert_allclose(
        search.model_for("macro_f1").decision_function(DATA.X), one.decision_function(DATA.X)
    )


def test_models_carry_the_threshold_of_their_measure():
    search = limo.LIMOClassifierCV(["macro_f1", "macro_auc"], **SMALL).fit(DATA.X, DATA.Y)
    rule = search.model_for("macro_f1").threshold_
    assert isinstance(rule, limo.AutoThreshold)
    assert rule.target == "macro_f1"
    assert isinstance(search.model_for("macro_auc").threshold_, limo.GlobalThreshold)
    assert search.best_params_ == search.best_params_by_measure_["macro_f1"]
    with pytest.raises(ValueError, match="Unknown measure here 'micro_f1'"):
        search.model_for("micro_f1")
    search.set_params(threshold="global").fit(DATA.X, DATA.Y)
    assert isinstance(search.model_for("macro_f1").threshold_, limo.GlobalThreshold)


def cross_fitted(model, folds):
    """Held-out scores; alpha times the number of training instances is that of all data."""
    parts = []
    for a, b in folds:
        own = clone(model).set_params(alpha=model.alpha * len(DATA.Y) / len(a))
        parts.append(own.fit(DATA.X[a], DATA.Y[a]).decision_function(DATA.X[b]))
    return parts


def test_the_model_averages_cells_by_their_shares():
    """By hand: fits on all data, divided by the spread of the held-out scores, times the share."""
    folds = list(limo.datasets.StratifiedFolds(3).split(DATA.X, DATA.Y))
    search = limo.LIMOClassifierCV("coverage", **SMALL, cv=folds, tol=1e-8).fit(DATA.X, DATA.Y)
    found = search.cv_results_
    assert found["share_coverage"].sum() == pytest.approx(1)
    assert (found["share_coverage"] > 0).sum() > 1
    expected = 0
    for terms, alpha, share in zip(
        found["terms"], found["alpha"], found["share_coverage"], strict=True
    ):
        model = limo.MarginClassifier(terms, alpha=alpha, tol=1e-8, threshold_measure=None)
        held_out = cross_fitted(model, folds)
        scale = share / np.concatenate(held_out).std()
        expected = expected + scale * model.fit(DATA.X, DATA.Y).decision_function(DATA.X)
    scores = search.decision_function(DATA.X)
    np.testing.assert_allclose(np.diff(scores), np.diff(expected), atol=2e-3)


def test_half_of_the_model_is_the_most_likely_logistic_regression():
    search = limo.LIMOClassifierCV("coverage", cv=2, alphas=[1e-2, 1e-3]).fit(DATA.X, DATA.Y)
    found = search.cv_results_
    logistic = np.array([terms == LOGISTIC for terms in found["terms"]])
    assert found["share_coverage"][logistic].max() >= 0.5
    assert found["share_coverage"].sum() == pytest.approx(1)


def test_the_best_cell_alone_on_request():
    search = limo.LIMOClassifierCV("coverage", **SMALL, average=False).fit(DATA.X, DATA.Y)
    model = search.model_for("coverage")
    ((terms, alpha, weight),) = model.members
    assert {"terms": terms, "alpha": alpha} == search.best_params_
    assert weight == 1.0


@compiled
def test_thresholds_are_fitted_on_the_scores_of_the_search_or_on_folds_of_their_own():
    """By hand: the chosen cell, cross-fitted, and the threshold on its scores."""
    folds = list(limo.datasets.StratifiedFolds(4).split(DATA.X, DATA.Y))
    rows = np.concatenate([b for _, b in folds])
    for own in ({"cv": folds}, {"threshold_cv": folds}):
        search = limo.LIMOClassifierCV(
            "micro_f1", **SMALL, **own, tol=1e-7, average=False, threshold=None
        )
        search.fit(DATA.X, DATA.Y)
        model = limo.MarginClassifier(**search.best_params_, threshold_measure=None, tol=1e-7)
        S = np.concatenate(cross_fitted(model, folds))
        rule = limo.GlobalThreshold(target="micro_f1").fit(DATA.Y[rows], S)
        expected = rule.predict(model.fit(DATA.X, DATA.Y).decision_function(DATA.X))
        assert (search.predict(DATA.X) != expected).mean() < 0.01


@compiled
def test_the_margin_that_counts_is_found():
    """Label-wise training ranks the labels of the triangles better, instance-wise their points."""
    data = limo.datasets.figure1(800, seed=0)
    search = limo.LIMOClassifierCV(["ranking_loss", "macro_auc"], **SMALL).fit(data.X, data.Y)
    found = search.best_params_by_measure_
    assert [term.view for term in found["ranking_loss"]["terms"]] == ["rows"]
    assert [term.view for term in found["macro_auc"]["terms"]] == ["columns"]


def test_the_picture_has_a_line_for_each_loss():
    mpl.use("Agg")
    search = limo.LIMOClassifierCV(["macro_auc", "coverage"], **SMALL).fit(DATA.X, DATA.Y)
    ax = search.plot("coverage")
    assert ax.get_ylabel() == "coverage"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "rows mean",
        "columns mean",
    ]
    assert search.plot(ax=ax).get_ylabel() == "macro-AUC"
    mpl.pyplot.close(ax.figure)


def test_wrong_settings():
    with pytest.raises(ValueError, match="Unknown measure 'macro_f'. Did you mean 'macro_f1'"):
        limo.LIMOClassifierCV("macro_f").fit(DATA.X, DATA.Y)
    with pytest.raises(ValueError, match="at least one measure to train for"):
        limo.LIMOClassifierCV([]).fit(DATA.X, DATA.Y)
    with pytest.raises(ValueError, match="alphas must hold at least one value"):
        limo.LIMOClassifierCV(alphas=[]).fit(DATA.X, DATA.Y)
    with pytest.raises(ValueError, match="tol must be a number above 0"):
        limo.LIMOClassifierCV(tol=0).fit(DATA.X, DATA.Y)
    with pytest.raises(NotFittedError):
        limo.LIMOClassifierCV().model_for("macro_f1")


@pytest.mark.slow
def test_processes_find_the_same():
    calls = []
    search = limo.LIMOClassifierCV(["macro_auc", "macro_f1"], **SMALL)
    alone = clone(search).fit(DATA.X, DATA.Y)
    both = search.set_params(n_jobs=2, callback=lambda *progress: calls.append(progress))
    both.fit(DATA.X, DATA.Y)
    assert calls[-1] == (16, 16)
    assert list(alone.cv_results_) == list(both.cv_results_)
    assert alone.best_params_by_measure_ == both.best_params_by_measure_
    # sums of other blocks round otherwise
    np.testing.assert_allclose(
        alone.decision_function(DATA.X), both.decision_function(DATA.X), atol=1e-6
    )


@pytest.mark.slow
def test_near_constant_features_do_not_keep_it_from_converging():
    """As in genbase: two thirds of the features differ in at most two instances."""
    rng = np.random.default_rng(0)
    Y = (rng.random((250, 12)) < 0.1).astype(int)
    X = np.zeros((250, 900))
    X[:, :300] = (Y @ (rng.random((12, 300)) < 0.2) > 0) ^ (rng.random((250, 300)) < 0.01)
    for j in range(300, 900):
        X[rng.integers(250, size=j % 3), j] = 1.0
    X[:, 300::2] = 1 - X[:, 300::2]
    for features in (X, limo.models.UnitRows().fit_transform(X)):
        search = limo.LIMOClassifierCV(["macro_auc", "one_error"]).fit(features[:170], Y[:170])
        assert search.model_for("macro_auc").relative_gap_ <= search.tol
        assert limo.macro_auc(Y[170:], search.decision_function(features[170:])) > 0.95
