import matplotlib as mpl
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

import limo
from estimators import OTHER_THRESHOLD, MultiLabelContract, quietly

DATA = limo.datasets.figure1(240, seed=5)
SMALL = {"alphas": [1e-2, 1e-4], "weights": [(1, 0, 0), (0, 1, 0)], "threshold_cv": 3}


# With several labels the search chooses a threshold per label, not 0 for all.
EXCUSES = {name: OTHER_THRESHOLD[name] for name in ["check_classifier_multioutput"]}


@parametrize_with_checks(
    [limo.LIMOClassifierCV(alphas=[1e-2], weights=[(1, 1, 0)], threshold_cv=3)],
)
def test_it_is_a_scikit_learn_estimator(estimator, check):
    quietly(check, estimator, EXCUSES)


class TestContract(MultiLabelContract):
    grid = property(lambda self: {"measure": ["macro_auc", "micro_f1"]})

    def model(self):
        return limo.LIMOClassifierCV(alphas=[1e-2], weights=[(1, 1, 0)], threshold_cv=3)


def test_the_grid_is_judged_as_by_hand():
    """Every cell of a measure of scores equals separate fits of each fold."""
    folds = list(limo.datasets.StratifiedFolds(3).split(DATA.X, DATA.Y))
    search = limo.LIMOClassifierCV("ranking_loss", **SMALL, cv=folds, tol=1e-6).fit(DATA.X, DATA.Y)
    found = search.cv_results_
    assert len(found["alpha"]) == 4
    for k in range(4):
        weights = [found[n][k] for n in ("label_weight", "instance_weight", "entry_weight")]
        model = limo.LIMOClassifier(
            *weights, alpha=found["alpha"][k], tol=1e-6, threshold_measure=None
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


@pytest.mark.parametrize("alphas", [None, [1e-2, 1e-4]])
def test_the_scale_of_the_features_does_not_matter(alphas):
    settings = SMALL | {"alphas": alphas}
    plain = limo.LIMOClassifierCV("micro_f1", **settings).fit(DATA.X, DATA.Y)
    scaled = limo.LIMOClassifierCV("micro_f1", **settings).fit(1e3 * DATA.X, DATA.Y)
    assert scaled.best_params_ == plain.best_params_
    assert np.array_equal(scaled.predict(1e3 * DATA.X), plain.predict(DATA.X))
    if alphas is None:
        assert sorted({*plain.cv_results_["alpha"]}) == pytest.approx(np.logspace(-5, -0.5, 10))


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


def test_all_measures_cost_one_cross_validation(monkeypatch):
    fits = []
    fit = limo.LIMOClassifier.fit
    monkeypatch.setattr(
        limo.LIMOClassifier, "fit", lambda self, *data: fits.append(self) or fit(self, *data)
    )
    calls = []
    search = limo.LIMOClassifierCV(
        list(limo.MEASURES), **SMALL, callback=lambda *now: calls.append(now)
    ).fit(DATA.X, DATA.Y)
    total = 12 + 11 + 4 * 3  # the grid, a model for each measure, folds for those of labels
    assert calls[:12] == [(k + 1, total) for k in range(12)]
    assert calls[-1] == (total, total)
    chosen = {name: tuple(one.values()) for name, one in search.best_params_by_measure_.items()}
    thresholded = {chosen[name] for name, m in limo.MEASURES.items() if m.needs == "labels"}
    assert len(fits) == 12 + len(set(chosen.values())) + 3 * len(thresholded)
    assert list(search.models_) == list(limo.MEASURES)
    one = limo.LIMOClassifierCV("macro_f1", **SMALL).fit(DATA.X, DATA.Y)
    assert search.best_params_by_measure_["macro_f1"] == one.best_params_
    assert np.array_equal(search.model_for("macro_f1").predict(DATA.X), one.predict(DATA.X))


def test_models_carry_the_threshold_of_their_measure():
    search = limo.LIMOClassifierCV(["macro_f1", "macro_auc"], **SMALL).fit(DATA.X, DATA.Y)
    kinds = {"label": limo.LabelThreshold, "global": limo.GlobalThreshold}
    chosen = search.best_thresholds_
    assert list(chosen) == ["macro_f1"]
    assert isinstance(search.model_for("macro_f1").threshold_, kinds[chosen["macro_f1"]])
    assert isinstance(search.model_for("macro_auc").threshold_, limo.GlobalThreshold)
    assert search.best_params_ == search.best_params_by_measure_["macro_f1"]
    with pytest.raises(ValueError, match="Unknown measure here 'micro_f1'"):
        search.model_for("micro_f1")


def test_thresholds_are_fitted_on_folds_of_their_own():
    """By hand: the chosen cell, cross-fitted, and the chosen kind of threshold on its scores."""
    folds = list(limo.datasets.StratifiedFolds(4).split(DATA.X, DATA.Y))
    search = limo.LIMOClassifierCV("micro_f1", **(SMALL | {"threshold_cv": folds})).fit(
        DATA.X, DATA.Y
    )
    model = limo.LIMOClassifier(**search.best_params_, threshold_measure=None)
    S = np.concatenate(
        [clone(model).fit(DATA.X[a], DATA.Y[a]).decision_function(DATA.X[b]) for a, b in folds]
    )
    rule = limo.thresholds.RULES[search.best_thresholds_["micro_f1"]]()
    rule.set_params(target="micro_f1").fit(DATA.Y[np.concatenate([b for _, b in folds])], S)
    expected = rule.predict(model.fit(DATA.X, DATA.Y).decision_function(DATA.X))
    assert np.array_equal(search.predict(DATA.X), expected)


def test_the_margin_that_counts_is_found():
    """Label-wise training ranks the labels of the triangles better, instance-wise their points."""
    data = limo.datasets.figure1(800, seed=0)
    search = limo.LIMOClassifierCV(["ranking_loss", "macro_auc"], **SMALL).fit(data.X, data.Y)
    found = search.best_params_by_measure_
    assert found["ranking_loss"]["label_weight"] == 1
    assert found["macro_auc"]["instance_weight"] == 1


def test_the_picture_has_a_line_for_each_choice_of_weights():
    mpl.use("Agg")
    search = limo.LIMOClassifierCV(["macro_auc", "coverage"], **SMALL).fit(DATA.X, DATA.Y)
    ax = search.plot("coverage")
    assert ax.get_ylabel() == "coverage"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["1, 0, 0", "0, 1, 0"]
    assert search.plot(ax=ax).get_ylabel() == "macro-AUC"
    mpl.pyplot.close(ax.figure)


def test_wrong_settings():
    with pytest.raises(ValueError, match="Unknown measure 'macro_f'. Did you mean 'macro_f1'"):
        limo.LIMOClassifierCV("macro_f").fit(DATA.X, DATA.Y)
    with pytest.raises(ValueError, match="at least one measure to train for"):
        limo.LIMOClassifierCV([]).fit(DATA.X, DATA.Y)
    with pytest.raises(ValueError, match="must each hold at least one choice"):
        limo.LIMOClassifierCV(alphas=[]).fit(DATA.X, DATA.Y)
    with pytest.raises(ValueError, match="are all 0: nothing would be learnt"):
        limo.LIMOClassifierCV(weights=[(0, 0, 0)]).fit(DATA.X, DATA.Y)
    with pytest.raises(NotFittedError):
        limo.LIMOClassifierCV().model_for("macro_f1")


@pytest.mark.slow
def test_processes_find_the_same():
    calls = []
    search = limo.LIMOClassifierCV(["macro_auc", "macro_f1"], **SMALL)
    alone = clone(search).fit(DATA.X, DATA.Y)
    both = search.set_params(n_jobs=2, callback=lambda *progress: calls.append(progress))
    both.fit(DATA.X, DATA.Y)
    assert calls[:2] == [(6, 17), (12, 17)]
    assert calls[-1] == (17, 17)
    assert list(alone.cv_results_) == list(both.cv_results_)
    assert alone.best_params_by_measure_ == both.best_params_by_measure_
    # sums of other blocks round otherwise
    np.testing.assert_allclose(
        alone.decision_function(DATA.X), both.decision_function(DATA.X), atol=1e-6
    )
