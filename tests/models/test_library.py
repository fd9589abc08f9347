import time
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning

import limo
from limo._system import OutOfTimeError
from limo.models import _library
from limo.models._library import Candidate, cross_fit_candidate, library
from limo.thresholds._fit import folds_of

DATA = limo.datasets.figure1(90, seed=3)
FOLDS = folds_of(3, DATA.X, DATA.Y)
LIBRARY = library(DATA.X, 4, seed=0, n_jobs=None)


def by_name(name):
    return next(one for one in LIBRARY if one.name == name)


def test_names_differ_and_the_cheapest_comes_first():
    names = [name for one in LIBRARY for name in one.members]
    assert len(set(names)) == len(names)
    assert LIBRARY[0].name.startswith("logistic")
    assert {one.family for one in LIBRARY} == {
        "linear",
        "trees",
        "kernel",
        "boosting",
        "neighbours",
    }


def test_large_data_get_linear_models_only(monkeypatch):
    monkeypatch.setattr(_library, "_MOST_CELLS", 100)
    assert {one.family for one in library(DATA.X, 4, seed=0, n_jobs=None)} == {"linear"}


def test_slow_trees_are_grown_on_dense_data_only():
    wide = library(sparse.csr_array(DATA.X), 4, seed=0, n_jobs=None)
    missing = {one.name for one in LIBRARY} - {one.name for one in wide}
    assert missing == {"random forest, large leaves", "boosting, small trees"}


@pytest.mark.parametrize("name", ["logistic, C=10", "ML-kNN, k=10", "RBF 0.5, logistic, C=3"])
def test_rows_are_scored_by_models_that_have_not_seen_them(name):
    candidate = by_name(name)
    scored = cross_fit_candidate(candidate, DATA.X, DATA.Y, FOLDS, np.inf)
    expected = np.empty(DATA.Y.shape)
    for train, test in FOLDS:
        model = clone(candidate.estimator).fit(DATA.X[train], DATA.Y[train])
        if hasattr(model, "decision_function"):
            expected[test] = model.decision_function(DATA.X[test])
        else:
            P = model.predict_proba(DATA.X[test])
            expected[test] = np.log(P / (1 - P))
    np.testing.assert_allclose(scored.scores[0], expected, atol=1e-9)
    assert scored.fitted is None


@pytest.mark.slow
def test_forests_need_no_folds():
    candidate = by_name("extra trees")
    scored = cross_fit_candidate(candidate, DATA.X, DATA.Y, FOLDS, np.inf)
    forest = clone(candidate.estimator).fit(DATA.X, DATA.Y)
    assert np.array_equal(scored.scores[0], forest.out_of_bag_scores_)
    assert not hasattr(scored.fitted.estimator, "out_of_bag_scores_")
    S = scored.fitted.scores(DATA.X)
    assert np.array_equal(S, forest.decision_function(DATA.X))


@pytest.mark.slow
def test_stages_share_a_fit():
    candidate = by_name("boosting")
    scored = cross_fit_candidate(candidate, DATA.X, DATA.Y, FOLDS, np.inf)
    assert len(scored.scores) == len(candidate.members) == 3
    last = clone(candidate.estimator).set_params(n_rounds=50)
    train, test = FOLDS[0]
    S = last.fit(DATA.X[train], DATA.Y[train]).decision_function(DATA.X[test])
    np.testing.assert_allclose(scored.scores[0][test], S, atol=1e-9)


class Slow(BaseEstimator):
    def fit(self, X, y):
        time.sleep(0.05)
        self.n_labels_ = y.shape[1]
        warnings.warn("slow to converge", ConvergenceWarning, stacklevel=2)
        return self

    def decision_function(self, X):
        return np.full((len(X), self.n_labels_), np.nan if len(X) == 0 else 0.5)


def test_a_model_that_needs_too_long_is_stopped_after_its_first_fold():
    start = time.monotonic()
    with pytest.raises(OutOfTimeError, match=r"it needed about 0 s more, and 0 s were left"):
        cross_fit_candidate(Candidate("slow", "other", Slow()), DATA.X, DATA.Y, FOLDS, start + 0.1)
    assert time.monotonic() - start < 0.15 + 1


class Broken(Slow):
    def decision_function(self, X):
        return np.full((len(X), self.n_labels_), np.nan)


def test_scores_that_are_no_numbers_are_rejected():
    with pytest.raises(ValueError, match="not finite|NaN|nan"):
        cross_fit_candidate(Candidate("broken", "other", Broken()), DATA.X, DATA.Y, FOLDS, np.inf)
