import json
import random
import warnings

import numpy as np
import pytest

import experiment
import limo
from experiment.estimators import Broken, Dice, Frequency
from limo._system import n_workers
from limo.experiment import Data, Method, Plan, Procedure, Splits
from limo.experiment._job import run_job

TOY = Data("toy", "figure1", {"n": 60})


def job(method, data=TOY, measures=("one_error", "macro_auc")):
    return Plan([data], [method], measures, splits=Splits(number=1)).jobs()[0]


def test_an_outcome_says_what_was_run_and_how():
    made = job(Method("mine", Frequency()), measures=["macro_f1", "one_error"])
    found = run_job(made)
    assert (found.run, found.dataset, found.split) == (made.run, "toy", 0)
    assert (found.method, found.seed, found.status) == ("mine", made.seed, "ok")
    assert [score.measure for score in found.scores] == ["macro_f1", "one_error"]
    assert json.loads(found.versions)["numpy"] == np.__version__
    assert found.seconds > 0
    assert found.finished.endswith("+00:00")


def test_the_package_of_a_learner_is_recorded(monkeypatch):
    monkeypatch.setattr(experiment, "__version__", "7.5", raising=False)
    for estimator in (Frequency(), "experiment.estimators:Frequency"):
        found = json.loads(run_job(job(Method("mine", estimator))).versions)
        assert found["experiment"] == "7.5"
        assert {"python", "limo", "numpy", "scipy", "scikit-learn", "numba"} < set(found)


def test_the_same_job_gives_the_same_values_though_it_draws():
    dice = Method("dice", Dice())
    first, second = run_job(job(dice)), run_job(job(dice))
    assert first.scores == second.scores
    assert first.scores != run_job(job(Method("other dice", Dice()))).scores


def test_generators_of_the_caller_go_on_undisturbed():
    np.random.seed(3)  # noqa: NPY002
    random.seed(3)
    expected = np.random.random(), random.random()  # noqa: NPY002
    np.random.seed(3)  # noqa: NPY002
    random.seed(3)
    run_job(job(Method("dice", Dice())))
    assert (np.random.random(), random.random()) == expected  # noqa: NPY002


def test_whatever_goes_wrong_is_part_of_the_outcome(tmp_path):
    broken = run_job(job(Method("broken", Broken())))
    assert broken.status == "failed"
    assert {score.status for score in broken.scores} == {"failed"}
    assert broken.scores[1].error.startswith("ZeroDivisionError: no luck [estimators.py")
    assert all(np.isnan(score.value) for score in broken.scores)
    file = limo.write(limo.datasets.figure1(30), tmp_path / "mine.arff")
    made = job(Method("m", Frequency()), Data.of(file))
    file.unlink()
    assert "mine.arff" in run_job(made).scores[0].error


def test_warnings_are_kept_each_once():
    def warner(data, train, test, seed):
        for text in ("careful", "careful", "slowly"):
            warnings.warn(text, UserWarning, stacklevel=1)
        return [("one_error", 0.0)]

    found = run_job(job(Procedure("p", warner), measures=["one_error"]))
    assert found.warnings == ("UserWarning: careful", "UserWarning: slowly")


def test_a_run_takes_one_thread():
    def threads(data, train, test, seed):
        return [("one_error", n_workers())]

    assert run_job(job(Procedure("p", threads), measures=["one_error"])).scores[0].value == 1


def test_a_procedure_gets_data_rows_and_seed():
    def check(data, train, test, seed, least):
        assert isinstance(data, limo.Dataset)
        assert (len(train), len(test)) == (42, 18)
        return [("one_error", float(seed)), ("macro_auc", least)]

    made = job(Procedure("p", check, {"least": 0.5}))
    assert [score.value for score in run_job(made).scores] == [made.seed, 0.5]


@pytest.mark.parametrize("extra", [[], ["one_error"]])
def test_measures_a_procedure_was_not_asked_for_are_left_out(extra):
    found = run_job(job(Procedure("p", lambda data, train, test, seed: [("coverage", 1.0)]),
                        measures=["coverage", *extra]))  # fmt: skip
    assert [score.status for score in found.scores] == ["ok", *["failed"] * len(extra)]
