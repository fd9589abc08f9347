"""Sample weights and missing labels in the learners."""

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.model_selection import cross_validate

import limo
from limo.losses import Term, loss

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 5))
FULL = (X @ RNG.normal(size=(5, 4)) + RNG.normal(size=(60, 4)) > 0.3).astype(float)
Y = np.where(RNG.random(FULL.shape) < 0.2, np.nan, FULL)
WEIGHTS = RNG.integers(0, 4, 60)
OFTEN = np.repeat(np.arange(60), WEIGHTS)
SETTINGS = {"missing": np.nan, "threshold_cv": "training", "tol": 1e-8}


@pytest.mark.parametrize(
    "model",
    [
        limo.LIMOClassifier(1, 1, 1, **SETTINGS),
        limo.LIMOClassifier(pair_weight="uniform", threshold_measure="macro_f1", **SETTINGS),
        limo.LIMOClassifier(fit_intercept=False, working_memory=1e-3, **SETTINGS),
        limo.MarginClassifier([Term("columns", "top"), Term("rows", "bottom")], **SETTINGS),
        limo.MarginClassifier("entries worst", working_memory=1e-3, **SETTINGS),
        limo.MarginClassifier("pointwise", **SETTINGS),
        limo.models.AveragedClassifier(
            [("rows top", 0.01, 1.0), ("columns mean", 0.1, 2.0)], **SETTINGS
        ),
    ],
    ids=lambda model: str(model)[:50],
)
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_integer_weights_equal_repetition(model, storage):
    one = sklearn.clone(model).fit(storage(X), Y, sample_weight=WEIGHTS)
    many = sklearn.clone(model).fit(storage(X)[OFTEN], Y[OFTEN])
    np.testing.assert_allclose(one.coef_, many.coef_, atol=1e-4)
    np.testing.assert_allclose(one.intercept_, many.intercept_, atol=1e-4)
    assert np.array_equal(one.predict(X), many.predict(X))


def test_the_loss_is_minimised():
    """No other weights have a lower weighted loss of the known labels."""
    model = limo.LIMOClassifier(alpha=0.01, missing=np.nan, tol=1e-6, threshold_measure=None)
    model.fit(X, Y, sample_weight=WEIGHTS)
    r2 = (WEIGHTS @ (X**2).sum(axis=1)) / WEIGHTS.sum()
    assert model.alpha_ == pytest.approx(0.01 * r2)

    def objective(coef, intercept):
        ridge = (coef**2).sum() + (intercept**2).sum() / (9 * r2)
        terms = [Term("rows", "mean"), Term("columns", "mean")]
        S = X @ coef.T + intercept
        given = {"missing": np.nan, "sample_weight": WEIGHTS}
        return model.alpha_ / 2 * ridge + loss(Y, S, terms, **given)

    best = objective(model.coef_, model.intercept_)
    assert model.solution_.objective == pytest.approx(best)
    for scale in (1e-2, 1e-1, 1.0):
        moved = model.coef_ + scale * RNG.normal(size=model.coef_.shape)
        assert objective(moved, model.intercept_) > best


def test_missing_labels_do_not_matter():
    """Whatever stands where a label is missing."""
    mask = np.isnan(Y)
    plain = limo.LIMOClassifier(missing=np.nan).fit(X, Y)
    coded = limo.LIMOClassifier(missing=-1).fit(X, np.where(mask, -1, Y))
    masked = limo.LIMOClassifier(missing=np.nan).fit(X, np.ma.masked_array(FULL, mask))
    for other in (coded, masked):
        assert np.array_equal(plain.coef_, other.coef_)
        assert np.array_equal(plain.predict(X), other.predict(X))
    with pytest.raises(ValueError, match="y must hold only 0 and 1: found nan"):
        limo.LIMOClassifier().fit(X, Y)
    gone = np.where(np.arange(4) == 2, np.nan, Y)
    model = limo.LIMOClassifier(missing=np.nan).fit(X, gone)
    assert model.never_.tolist() == [False, False, True, False]


def test_the_search_repeats_too():
    """With the same folds, losses, measures, shares and thresholds are those of repetition."""
    tests = [np.arange(k, 60, 3) for k in range(3)]
    folds = [(np.setdiff1d(np.arange(60), test), test) for test in tests]
    places = [np.isin(OFTEN, test) for test in tests]
    often = [(np.flatnonzero(~place), np.flatnonzero(place)) for place in places]
    settings = {
        "alphas": [1e-2, 1e-3],
        "terms": ["rows top", "columns mean", "entries pointwise"],
        "missing": np.nan,
        "tol": 1e-8,
        "threshold": "label",
    }
    names = ["macro_f1", "ranking_loss"]
    one = limo.LIMOClassifierCV(names, cv=folds, **settings).fit(X, Y, sample_weight=WEIGHTS)
    many = limo.LIMOClassifierCV(names, cv=often, **settings).fit(X[OFTEN], Y[OFTEN])
    for name in names:
        found, expected = one.model_for(name), many.model_for(name)
        np.testing.assert_allclose(found.coef_, expected.coef_, atol=1e-4)
        assert np.array_equal(found.predict(X), expected.predict(X))


def test_steps_draw_instances_by_weight():
    """Only instances with a weight are learnt from, and no missing label."""
    weights = (np.arange(60) < 30).astype(float)
    settings = {"random_state": 0, "threshold_measure": None, "missing": np.nan, "n_steps": 500}
    for sampling in ("pairs", "instances"):
        model = limo.LIMOClassifierSGD(sampling=sampling, **settings)
        some = model.fit(X, Y, sample_weight=weights).coef_
        changed = np.where(weights[:, np.newaxis] == 0, 1 - Y, Y)
        assert np.array_equal(sklearn.clone(model).fit(X, changed, weights).coef_, some)
        assert not np.array_equal(sklearn.clone(model).fit(X, Y).coef_, some)
    parts = limo.LIMOClassifierSGD(**settings)
    parts.partial_fit(X, Y, sample_weight=weights).partial_fit(X, Y, sample_weight=weights)
    assert parts.solution_.iterations == 1000


def test_weights_are_routed():
    with sklearn.config_context(enable_metadata_routing=True):
        model = limo.LIMOClassifier(threshold_cv="training").set_fit_request(sample_weight=True)
        scorer = limo.make_scorer("macro_auc").set_score_request(sample_weight=True)
        weights = np.arange(1.0, 61.0)
        found = cross_validate(
            model, X, FULL, scoring=scorer, cv=2, params={"sample_weight": weights}
        )
    for k, score in enumerate(found["test_score"]):
        test = np.arange(30 * k, 30 * k + 30)
        train = np.setdiff1d(np.arange(60), test)
        alone = limo.LIMOClassifier(threshold_cv="training").fit(
            X[train], FULL[train], sample_weight=weights[train]
        )
        expected = limo.macro_auc(
            FULL[test], alone.decision_function(X[test]), sample_weight=weights[test]
        )
        assert score == pytest.approx(expected)


def test_wrong_weights_are_explained():
    with pytest.raises(ValueError, match="one weight for each of the 60 instances"):
        limo.LIMOClassifier().fit(X, FULL, sample_weight=np.ones(59))
