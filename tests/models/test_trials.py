import time

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

import limo
from limo._solvers import exact
from limo._system import Budget, OutOfTimeError, stopping_at
from limo.models._library import Candidate, cross_fit_candidate, library
from limo.models._selection import Truth
from limo.models._trials import ScoreCache, Trials
from limo.thresholds._fit import folds_of

DATA = limo.datasets.figure1(60, seed=5)
FOLDS = folds_of(2, DATA.X, DATA.Y)


KNOWN = Candidate("known", "other", KNeighborsClassifier(9))


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
    # without a limit first: what is compiled on first use would take all the time
    assert [one.name for one in trials(None).run([first, slow])] == ["first", "slow"]
    search = trials(1.2)
    assert [one.name for one in search.run([first, slow])] == ["first", "quick"]
    assert "out of time" in search.left_out["slow"]


def test_models_of_a_kind_that_takes_too_long_are_not_tried():
    first = Candidate("first", "other", KNeighborsClassifier(7))
    slow = [Candidate(f"slow, {k}", "neighbours", Slow(5)) for k in range(3)]
    search = trials(1.2)
    assert [one.name for one in trials(None).run([first])] == ["first"]
    assert len(search.run([first, KNOWN, *slow])) == 2
    assert "slow, 0 took too long" in search.left_out["slow, 1"]
    assert {one.kind for one in library(DATA.X, 4, seed=0, n_jobs=1)} == {
        "logistic", "LIMO", "margins by instance", "margins by label",
        "boosting", "trees", "kernel", "neighbours",
    }  # fmt: skip


def test_a_candidate_keeps_to_its_share():
    first = Candidate("first", "other", KNeighborsClassifier(7))
    slow = Candidate("slow", "other", Slow(5), share=0.01)
    search = trials(60)
    with pytest.warns(UserWarning, match="The time was enough for one model only, first"):
        assert [one.name for one in search.run([first, slow])] == ["first"]
    assert "s were left" in search.left_out["slow"]


def test_the_first_model_stops_early_but_is_kept(monkeypatch):
    monkeypatch.setattr(exact, "_FEWEST_ITERATIONS", 2)
    first = next(iter(library(DATA.X, 4, seed=0, n_jobs=1)))
    (short,) = trials(1e-3).run([first])
    (whole,) = trials(None).run([first])
    assert not np.allclose(short.S, whole.S)
    assert limo.macro_auc(DATA.Y, short.S) > 0.9 * limo.macro_auc(DATA.Y, whole.S)


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


@pytest.mark.slow
def test_a_forest_that_is_stopped_keeps_its_trees(tmp_path):
    forest = limo.models.ForestClassifier(n_estimators=20_000, n_jobs=1, random_state=0)
    first = Candidate("first", "other", KNeighborsClassifier(7))
    search = trials(8, tmp_path)
    found = search.run([first, Candidate("forest", "trees", forest, share=0.2)])
    grown = found[1].scored.fitted.estimator.n_estimators_
    assert 24 <= grown < 20_000
    assert np.isfinite(found[1].S).all()
    assert len(list(tmp_path.iterdir())) == 1  # with more time it would be another forest
    with stopping_at(0.0), pytest.raises(OutOfTimeError):
        forest.fit(DATA.X, DATA.Y)  # too few trees are no forest


def test_scores_are_kept_and_found_again(tmp_path):
    candidate = Candidate("neighbours", "other", KNeighborsClassifier(3))
    cache = ScoreCache(tmp_path / "new", DATA.X, DATA.Y, FOLDS)
    assert cache.load(candidate) is None
    scored = cross_fit_candidate(candidate, DATA.X, DATA.Y, FOLDS, np.inf)
    cache.save(candidate, scored)
    found = ScoreCache(tmp_path / "new", DATA.X, DATA.Y, FOLDS).load(candidate)
    assert np.array_equal(found.scores[0], scored.scores[0])
    assert (found.seconds, found.refit_seconds) == (scored.seconds, scored.refit_seconds)
    threads = Candidate("neighbours", "other", KNeighborsClassifier(3, n_jobs=2))
    assert cache.load(threads) is not None
    other = Candidate("neighbours", "other", KNeighborsClassifier(4))
    assert cache.load(other) is None
    assert ScoreCache(tmp_path / "new", DATA.X + 1, DATA.Y, FOLDS).load(candidate) is None
    assert ScoreCache(tmp_path / "new", DATA.X, 1 - DATA.Y, FOLDS).load(candidate) is None
    assert ScoreCache(tmp_path / "new", DATA.X, DATA.Y, FOLDS[::-1]).load(candidate) is None
    assert ScoreCache(None, DATA.X, DATA.Y, FOLDS).load(candidate) is None


@pytest.mark.parametrize("content", [b"", b"noise", None])
def test_damaged_files_are_computed_again(tmp_path, content):
    candidate = Candidate("neighbours", "other", KNeighborsClassifier(3))
    cache = ScoreCache(tmp_path, DATA.X, DATA.Y, FOLDS)
    cache.save(candidate, cross_fit_candidate(candidate, DATA.X, DATA.Y, FOLDS, np.inf))
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:300] if content is None else content)
    assert cache.load(candidate) is None
