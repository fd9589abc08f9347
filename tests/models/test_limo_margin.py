"""The learner for any list of terms."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import limo
from estimators import OTHER_FOLDS, MultiLabelContract, quietly
from limo.losses import Term
from naive import losses as naive
from solvers.problems import arrays

X, Y = arrays(seed=3, m=40, d=5, l=4)
MIXED = [Term("rows", "top"), Term("entries", "pointwise", weight=2.0)]


@pytest.mark.slow
@parametrize_with_checks(
    [
        limo.MarginClassifier(),
        limo.MarginClassifier(Term("entries", "pointwise"), threshold_measure=None),
    ]
)
def test_it_is_a_scikit_learn_estimator(estimator, check):
    quietly(check, estimator, OTHER_FOLDS if estimator.threshold_measure else None)


class TestContract(MultiLabelContract):
    grid = property(lambda self: {"terms": [Term("rows", "bottom"), MIXED], "alpha": [1e-3, 1e-1]})

    def model(self):
        return limo.MarginClassifier(MIXED, tol=1e-8)


def test_the_default_is_limo():
    ours, papers = limo.MarginClassifier().fit(X, Y), limo.LIMOClassifier().fit(X, Y)
    assert np.array_equal(ours.coef_, papers.coef_)
    assert np.array_equal(ours.predict(X), papers.predict(X))
    assert isinstance(papers, limo.MarginClassifier)


@pytest.mark.parametrize(
    "terms",
    [
        Term("rows", "bottom"),
        (Term("columns", "worst"), Term("rows", "pointwise", share="pairs")),
        [Term("entries", "top", weight=3.0)],
    ],
)
def test_the_fitted_weights_minimise_the_objective(terms):
    model = limo.MarginClassifier(terms, alpha=0.01, tol=1e-4, threshold_measure=None).fit(X, Y)
    listed = [terms] if isinstance(terms, Term) else terms

    def objective(coef):
        S = X @ coef.T + model.intercept_
        r = np.sqrt((X**2).sum(axis=1).mean())
        norm = (coef**2).sum() + ((model.intercept_ / (3 * r)) ** 2).sum()
        return naive.loss(Y, S, listed) + 0.01 * r**2 / 2 * norm

    best = objective(model.coef_)
    assert model.solution_.objective == pytest.approx(best)
    rng = np.random.default_rng(0)
    for scale in (1e-2, 1e-1, 1.0):
        assert objective(model.coef_ + scale * rng.normal(size=model.coef_.shape)) > best


@pytest.mark.parametrize("terms", [MIXED, [Term("entries", "pointwise")]])
def test_scores_in_blocks_and_warm_starts_change_nothing(terms):
    model = limo.MarginClassifier(terms, tol=1e-6, warm_start=True, threshold_measure=None)
    S = model.fit(X, Y).decision_function(X)
    assert model.fit(X, Y).n_iter_ == 0
    lean = clone(model).set_params(working_memory=1e-3).fit(X, Y)
    np.testing.assert_allclose(lean.decision_function(X), S, atol=1e-3)


def test_the_scale_of_the_features_does_not_matter():
    model = limo.MarginClassifier(MIXED, tol=1e-6)
    S = model.fit(X, Y).decision_function(X)
    for factor in (1e-3, 1e3):
        np.testing.assert_allclose(
            clone(model).fit(factor * X, Y).decision_function(factor * X), S, atol=1e-2
        )


@pytest.mark.parametrize(
    ("terms", "message"),
    [
        ([], "a term whose weight is above 0"),
        ("rows", "terms must be a list of limo.losses.Term, got 'rows'"),
        ([Term(), "rows"], "got 'rows' in it"),
    ],
)
def test_wrong_terms(terms, message):
    with pytest.raises(ValueError, match=message):
        limo.MarginClassifier(terms).fit(X, Y)
