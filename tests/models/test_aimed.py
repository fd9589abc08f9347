import io
import subprocess
import sys
import time
import zipfile

import numba
import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import limo
from estimators import OTHER_FOLDS, OTHER_THRESHOLD, MultiLabelContract, quietly
from limo._system import OutOfTimeError
from limo.models import _aimed, _boosted_trees, _trials
from limo.models._library import library

DATA = limo.datasets.figure1(120, seed=5)
TRAIN, TEST = limo.datasets.split(limo.datasets.figure1(400, seed=1))
SMALL = {"families": ["linear"], "cv": 2, "random_state": 0}
# With several labels, macro-F1 gets a threshold per label, not 0 for all.
EXCUSES = {name: OTHER_THRESHOLD[name] for name in ["check_classifier_multioutput"]} | OTHER_FOLDS

compiled = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="many fits, without the compiler")


@pytest.fixture(autouse=True)
def few_models(monkeypatch):
    """Three quick candidates instead of the whole library."""

    def few(X, n_labels, *, seed, n_jobs):
        wanted = ("logistic, C=10", "LIMO, alpha=0.01", "extra trees")
        found = [
            one for one in library(X, n_labels, seed=seed, n_jobs=n_jobs) if one.name in wanted
        ]
        for one in found:
            if one.name == "extra trees":
                one.estimator.set_params(n_estimators=30)
        return found

    monkeypatch.setattr(_aimed, "library", few)


@pytest.mark.slow
@compiled
@parametrize_with_checks([limo.AimedClassifier(**SMALL)])
def test_it_is_a_scikit_learn_estimator(estimator, check):
    quietly(check, estimator, EXCUSES)


@compiled
class TestContract(MultiLabelContract):
    grid = property(lambda self: {"measure": ["macro_auc", "micro_f1"]})

    def model(self):
        return limo.AimedClassifier("micro_f1", **SMALL)


def test_scores_are_the_weighted_standardised_scores_of_the_members():
    model = limo.AimedClassifier("macro_auc", random_state=0).fit(DATA.X, DATA.Y)
    total = 0
    for name, weight in model.weights_["macro_auc"].items():
        centre, spread = model.scaling_[name]
        total = total + weight * (model.members_[name].decision_function(DATA.X) - centre) / spread
    # predict cuts for micro-F1, by one threshold, which is subtracted
    offset = total - model.decision_function(DATA.X)
    np.testing.assert_allclose(offset, offset[0, 0], atol=1e-9)
    assert np.array_equal(model.predict(DATA.X), model.decision_function(DATA.X) > 0)
    assert sum(model.weights_["macro_auc"].values()) == pytest.approx(1)


def test_thresholds_suit_each_measure():
    names = ["macro_f1", "micro_f1", "ranking_loss"]
    model = limo.AimedClassifier(names, random_state=0).fit(DATA.X, DATA.Y)
    assert list(model.thresholds_) == ["macro_f1", "micro_f1"]
    assert list(model.rules_) == list(model.weights_) == names
    for name in names:
        own = model.model_for(name)
        S = own.decision_function(TEST.X)
        assert np.array_equal(own.predict(TEST.X), model.rules_[name].predict(S))
    assert np.array_equal(model.predict(TEST.X), model.model_for("macro_f1").predict(TEST.X))
    with pytest.raises(ValueError, match="Unknown measure here"):
        model.model_for("macro_auc")
    with pytest.raises(NotFittedError, match="call fit first"):
        limo.AimedClassifier().model_for("macro_f1")


def test_the_leaderboard_says_what_was_tried():
    trials = []
    model = limo.AimedClassifier(
        ["macro_f1", "one_error"], extra=[("mine", KNeighborsClassifier(7))], random_state=0,
        callback=trials.append,
    ).fit(DATA.X, DATA.Y)  # fmt: skip
    first, *lines = model.leaderboard_
    assert first["model"] == "ensemble"
    assert set(first["value"]) == set(first["interval"]) == {"macro_f1", "one_error"}
    for line in (first, *lines):
        for measure, (low, high) in line["interval"].items():
            assert low <= line["value"][measure] <= high
    assert set(model.held_out_) == set(limo.MEASURES)
    assert model.held_out_["macro_f1"]["value"] == first["value"]["macro_f1"]
    assert {line["model"] for line in lines} == {
        "logistic, C=10", "LIMO, alpha=0.01", "extra trees", "mine",
    }  # fmt: skip
    values = [line["value"]["macro_f1"] for line in lines]
    assert values == sorted(values, reverse=True)
    for measure in ("macro_f1", "one_error"):
        assert sum(line["weight"][measure] for line in lines) == pytest.approx(1)
    assert [trial.done for trial in trials] == [1, 2, 3, 4]
    assert (trials[-1].best, trials[-1].best_name) == (values[0], lines[0]["model"])
    assert {trial.total for trial in trials} == {4}


@pytest.mark.parametrize("measure", ["subset_accuracy", "macro_average_precision"])
def test_measures_on_request_can_be_aimed_at(measure):
    model = limo.AimedClassifier(measure, **SMALL).fit(DATA.X, DATA.Y)
    assert 0 < model.leaderboard_[0]["value"][measure] <= 1
    assert set(model.held_out_) == {*limo.MEASURES, measure}


class Failing(BaseEstimator):
    def fit(self, X, y):
        raise RuntimeError("the disk is full")

    def decision_function(self, X):
        """Never reached."""


def test_a_model_that_fails_is_left_out_and_reported():
    model = limo.AimedClassifier("micro_auc", extra=[("mine", Failing())], random_state=0)
    with pytest.warns(
        UserWarning, match="1 of the models failed.*mine failed: RuntimeError: the disk"
    ):
        model.fit(DATA.X, DATA.Y)
    assert model.leaderboard_[-1] == {
        "model": "mine", "note": "failed: RuntimeError: the disk is full",
    }  # fmt: skip
    assert "mine" not in model.members_
    with pytest.raises(ValueError, match="No model could be fitted. mine failed: RuntimeError"):
        limo.AimedClassifier(families=[], extra=[("mine", Failing())]).fit(DATA.X, DATA.Y)


def test_a_budget_too_small_still_gives_a_model():
    model = limo.AimedClassifier("micro_f1", time_budget=1e-6, random_state=0)
    with pytest.warns(UserWarning, match="enough for one model only, logistic"):
        model.fit(DATA.X, DATA.Y)
    assert list(model.members_) == ["logistic, C=10"]
    assert model.leaderboard_[-1]["note"] == "out of time: it was not tried"
    assert limo.micro_f1(DATA.Y, model.predict(DATA.X)) > 0.5


@pytest.mark.slow
def test_weights_reach_models_measures_and_thresholds():
    """Instances of weight 0 are as if they were absent; others count by their weight."""
    rng = np.random.default_rng(0)
    noise = rng.permutation(DATA.Y)
    X, Y = np.concatenate([DATA.X, DATA.X]), np.concatenate([DATA.Y, noise])
    weights = np.repeat([1.0, 0.0], 120)
    model = limo.AimedClassifier("macro_f1", random_state=0).fit(X, Y, weights)
    alike = limo.AimedClassifier("macro_f1", random_state=0).fit(DATA.X, DATA.Y, np.ones(120))
    assert np.array_equal(model.predict(TEST.X), alike.predict(TEST.X))
    plain = limo.AimedClassifier("macro_f1", random_state=0).fit(X, Y)
    values = [limo.macro_f1(TEST.Y, m.predict(TEST.X)) for m in (model, plain)]
    assert values[0] > values[1]
    few = limo.AimedClassifier("macro_f1", random_state=0).fit(X, Y, weights + 0.05)
    assert limo.macro_f1(TEST.Y, few.predict(TEST.X)) > values[1]
    with pytest.raises(ValueError, match="sample_weight must hold one weight for each of the 240"):
        limo.AimedClassifier().fit(X, Y, [1.0])


def test_missing_labels_take_no_part():
    gaps = DATA.Y.astype(float)
    gaps[np.random.default_rng(0).random(gaps.shape) < 0.3] = np.nan
    with pytest.raises(ValueError, match=r"[Mm]issing|nan"):
        limo.AimedClassifier(random_state=0).fit(DATA.X, gaps)
    model = limo.AimedClassifier("micro_f1", missing=np.nan, random_state=0)
    model.fit(DATA.X, gaps)
    assert limo.micro_f1(TEST.Y, model.predict(TEST.X)) > 0.75
    assert model.leaderboard_[-1] == {
        "model": "extra trees", "note": "left out: it does not take missing labels",
    }  # fmt: skip
    only = limo.AimedClassifier(families=["trees"], missing=np.nan)
    with pytest.raises(
        ValueError, match="No model could be fitted. extra trees left out: it does not"
    ):
        only.fit(DATA.X, gaps)


def test_models_that_take_no_weights_are_left_out():
    extra = [("mine", KNeighborsClassifier(7))]
    model = limo.AimedClassifier("macro_auc", **SMALL, extra=extra)
    model.fit(DATA.X, DATA.Y, np.arange(1.0, 121.0))
    assert model.leaderboard_[-1] == {
        "model": "mine", "note": "left out: it takes no sample weights",
    }  # fmt: skip


class Sleeping(KNeighborsClassifier):
    def fit(self, X, y):
        time.sleep(0.4)
        return super().fit(X, y)


@pytest.mark.slow
def test_a_budget_is_kept():
    start = time.monotonic()
    limo.AimedClassifier("macro_auc", **SMALL).fit(DATA.X, DATA.Y)
    plain = time.monotonic() - start
    slow = [(f"slow {k}", Sleeping()) for k in range(20)]
    model = limo.AimedClassifier("macro_auc", **SMALL, extra=slow, time_budget=plain + 3)
    start = time.monotonic()
    model.fit(DATA.X, DATA.Y)
    # twenty of them would take 20 x 2 folds x 0.4 s = 16 s
    assert time.monotonic() - start < plain + 6
    assert any("out of time: " in line.get("note", "") for line in model.leaderboard_)


class OnceInTime(KNeighborsClassifier):
    """Cross-fitted in time, but not fitted on all data."""

    def fit(self, X, y):
        if len(X) == len(DATA.X):
            raise OutOfTimeError("the time limit was reached")
        return super().fit(X, y)


def test_what_cannot_be_fitted_on_all_data_in_time_is_left_out():
    extra = [("mine", OnceInTime(7)), ("late", KNeighborsClassifier(15))]
    model = limo.AimedClassifier("macro_auc", **SMALL, extra=extra).fit(DATA.X, DATA.Y)
    assert "mine" not in model.members_
    weights = model.weights_["macro_auc"]
    assert set(weights) == set(model.members_)
    assert sum(weights.values()) == pytest.approx(1.0)
    assert limo.macro_auc(TEST.Y, model.decision_function(TEST.X)) > 0.8


def test_scores_in_a_folder_are_used_again(tmp_path, monkeypatch):
    first = limo.AimedClassifier("macro_auc", cache=tmp_path, random_state=0).fit(DATA.X, DATA.Y)
    n_files = len(list(tmp_path.iterdir()))
    monkeypatch.setattr(_trials, "cross_fit_candidate", lambda *_: pytest.fail("computed again"))
    again = limo.AimedClassifier("macro_auc", cache=tmp_path, random_state=0).fit(DATA.X, DATA.Y)
    assert len(list(tmp_path.iterdir())) == n_files == 3
    assert again.weights_ == first.weights_
    np.testing.assert_allclose(again.decision_function(TEST.X), first.decision_function(TEST.X))
    other = limo.AimedClassifier("one_error", cache=tmp_path, random_state=0).fit(DATA.X, DATA.Y)
    assert other.weights_["one_error"]


@pytest.mark.slow
def test_a_search_that_was_killed_is_resumed(tmp_path):
    """Killed in the middle of a model: the scores of those before it are used."""
    code = """
import os, limo
from sklearn.neighbors import KNeighborsClassifier
class Killer(KNeighborsClassifier):
    def fit(self, X, y):
        os._exit(9)
data = limo.datasets.figure1(120, seed=5)
limo.AimedClassifier("macro_auc", cache="scores", families=["linear"], random_state=0,
                     extra=[("killer", Killer())]).fit(data.X, data.Y)
"""
    ended = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=False)
    assert ended.returncode == 9
    files = {file.name: file.stat().st_mtime_ns for file in (tmp_path / "scores").iterdir()}
    assert len(files) == 8
    assert not [name for name in files if name.endswith(".part")]
    rest = code.replace("os._exit(9)", "return super().fit(X, y)")
    subprocess.run([sys.executable, "-c", rest], cwd=tmp_path, check=True)
    after = {file.name: file.stat().st_mtime_ns for file in (tmp_path / "scores").iterdir()}
    assert len(after) == 9
    assert {name: after[name] for name in files} == files


@pytest.mark.slow
@compiled
def test_all_families_are_tried_saved_and_better_than_a_line(tmp_path, monkeypatch):
    monkeypatch.setattr(_aimed, "library", library)
    monkeypatch.setattr(_boosted_trees, "has_lightgbm", lambda: False)
    model = limo.AimedClassifier("macro_f1", cv=3, random_state=0).fit(TRAIN.X, TRAIN.Y)
    families = {line["family"] for line in model.leaderboard_ if "family" in line}
    assert families == {"linear", "trees", "kernel", "boosting", "neighbours"}
    line = limo.AimedClassifier("macro_f1", families=["linear"], random_state=0)
    values = [limo.macro_f1(TEST.Y, m.fit(TRAIN.X, TRAIN.Y).predict(TEST.X)) for m in (model, line)]
    assert values[0] >= values[1]
    file = limo.save_model(model, tmp_path / "m.skops")
    assert np.array_equal(limo.load_model(file).model.predict(TEST.X), model.predict(TEST.X))


def test_a_saved_forest_with_wrong_nodes_is_not_opened(tmp_path):
    model = limo.AimedClassifier("macro_auc", families=["trees"], random_state=0)
    file = limo.save_model(model.fit(DATA.X, DATA.Y), tmp_path / "m.skops")
    kept = limo.load_model(file).model
    assert np.array_equal(kept.decision_function(TEST.X), model.decision_function(TEST.X))
    with zipfile.ZipFile(file) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    for name, content in parts.items():
        if not name.endswith(".npy"):
            continue
        array = np.load(io.BytesIO(content))
        if array.dtype == np.int32 and array.ndim == 2:  # the children of nodes
            changed = io.BytesIO()
            np.save(changed, np.zeros_like(array))
            parts[name] = changed.getvalue()
    with zipfile.ZipFile(tmp_path / "bad.skops", "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    with pytest.raises(limo.ModelFileError, match="children of trees must come after their parent"):
        limo.load_model(tmp_path / "bad.skops")


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"measure": []}, "at least one measure"),
        ({"measure": 5}, "measure must be the name of a measure or a list of names, got 5"),
        ({"measure": np.array(1.0)}, "measure must be the name of a measure or a list of names"),
        ({"families": np.array(1.0)}, "families must be a list such as"),
        ({"extra": np.array(1.0)}, "extra must be a list of"),
        ({"measure": "f1"}, "Unknown measure 'f1'"),
        ({"families": ["pines"]}, "Unknown family of models 'pines'"),
        ({"families": "linear"}, "families must be a list such as .*, got 'linear'"),
        ({"families": []}, "at least one model to try"),
        ({"extra": None}, "extra must be a list of .name, estimator., got None"),
        ({"extra": [("mine", 5)]}, "pairs of a name and a scikit-learn estimator.*'mine', 5"),
        ({"extra": [("mine",)]}, "pairs of a name and a scikit-learn estimator"),
        ({"extra": [("extra trees", KNeighborsClassifier())]}, "must be new, got 'extra trees'"),
        ({"time_budget": 0}, "time_budget must be a number above 0"),
        ({"cache": 5}, "cache must be the path of a folder, got 5"),
        ({"callback": 5}, "callback must be a function"),
        ({"threshold_measure": "macro_auc"}, "must be a measure of labels, got 'macro_auc'"),
        ({"threshold_measure": None}, "Unknown measure None"),
        ({"cv": [(np.arange(50), np.arange(50, 120))]}, "hold out every row exactly once"),
        ({"cv": []}, "a number of folds, a splitter or a list"),
        ({"cv": 1.5}, "a number of folds, a splitter or a list of .train, test. rows: got 1.5"),
        ({"cv": [1, 2]}, "a number of folds, a splitter or a list"),
        ({"cv": [(0, 1)]}, "a number of folds, a splitter or a list"),
        ({"cv": 1}, "cv=1 folds are impossible"),
        ({"n_jobs": 1.5}, "n_jobs"),
        ({"n_jobs": 0}, "n_jobs must be None, a positive number, or -1 for all cores, got 0"),
    ],
)
def test_wrong_settings_are_explained(settings, sentence):
    with pytest.raises((ValueError, TypeError), match=sentence):
        limo.AimedClassifier(**settings).fit(DATA.X, DATA.Y)


@pytest.mark.parametrize(("n_rows", "n_folds"), [(3, 3), (4999, 5), (5000, 3), (20_000, 2)])
def test_many_rows_need_fewer_folds(n_rows, n_folds):
    Y = np.arange(2 * n_rows).reshape(-1, 2) % 2
    assert len(limo.AimedClassifier()._folds(Y, Y)) == n_folds


def test_a_splitter_gives_the_folds():
    model = limo.AimedClassifier("macro_auc", **(SMALL | {"cv": KFold(3)}))
    assert model.fit(DATA.X, DATA.Y).leaderboard_[0]["value"]["macro_auc"] > 0.5


def test_a_family_that_does_not_suit_is_explained(monkeypatch):
    monkeypatch.setattr(_aimed, "library", lambda *_, **__: [])
    with pytest.raises(ValueError, match="None of the families trees suits data of 120 x 2"):
        limo.AimedClassifier(families=["trees"]).fit(DATA.X, DATA.Y)
