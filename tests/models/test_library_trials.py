import time

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

import limo
from limo._system import Budget, OutOfTimeError, stopping_at
from limo.models._library import Candidate, ScoreCache, Trials
from limo.models._selection import Truth
from limo.thresholds._fit import folds_of

DATA = limo.datasets.figure1(60, seed=5)
FOLDS = folds_of(2, DATA.X, DATA.Y)


class Slow(KNeighborsClassifier):
    def fit(self, X, y):
        time.sleep(0.3)
        return super().fit(X, y)


def trials(seconds, folder=None):
    cache = ScoreCache(folder, DATA.X, DATA.Y, FOLDS)
    measure = limo.MEASURES["macro_auc"]
    return Trials(DATA.X, Truth(DATA.Y), FOLDS, measure, Budget.of(seconds), cache)


def test_a_model_that_takes_too_long_is_replaced_by_a_quick_one():
    quick = Candidate("quick", "other", KNeighborsClassifier(3))
    slow = Candidate("slow", "other", Slow(5), instead=quick)
    first = Candidate("first", "other", KNeighborsClassifier(7))
    search = trials(1.2)
    assert [one.name for one in search.run([first, slow])] == ["first", "quick"]
    assert "left out" in search.left_out["slow"]
    assert [one.name for one in trials(None).run([first, slow])] == ["first", "slow"]


def test_a_candidate_keeps_to_its_share():
    first = Candidate("first", "other", KNeighborsClassifier(7))
    slow = Candidate("slow", "other", Slow(5), share=0.01)
    search = trials(60)
    with pytest.warns(UserWarning, match="time_budget=60 seconds was enough for one model only"):
        assert [one.name for one in search.run([first, slow])] == ["first"]
    assert "s were left" in search.left_out["slow"]


def test_a_failed_model_is_not_replaced():
    class Failing(KNeighborsClassifier):
        def fit(self, X, y):
            raise RuntimeError("no")

    quick = Candidate("quick", "other", KNeighborsClassifier(3))
    first = Candidate("first", "other", KNeighborsClassifier(7))
    search = trials(None)
    with pytest.warns(UserWarning, match="1 of the models failed"):
        found = search.run([first, Candidate("bad", "other", Failing(), instead=quick)])
    assert [one.name for one in found] == ["first"]


def test_a_forest_that_is_stopped_keeps_its_trees(tmp_path):
    forest = limo.models.ForestClassifier(n_estimators=20_000, n_jobs=1, random_state=0)
    first = Candidate("first", "other", KNeighborsClassifier(7))
    search = trials(8, tmp_path)
    found = search.run([first, Candidate("forest", "trees", forest, share=0.2)])
    grown = found[1].scored.fitted.estimator.n_estimators_
    assert 48 <= grown < 20_000
    assert np.isfinite(found[1].S).all()
    assert len(list(tmp_path.iterdir())) == 1  # with more time it would be another forest
    with stopping_at(0.0), pytest.raises(OutOfTimeError):
        forest.fit(DATA.X, DATA.Y)  # too few trees are no forest
