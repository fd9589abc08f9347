from dataclasses import replace

import numpy as np
import pytest
from sklearn.preprocessing import MaxAbsScaler

import limo
from limo.experiment import METHODS, Data, Plan, Splits
from limo.experiment._job import run_job

# Figure 1's regions meet in the middle; a label nobody has must not matter.
TOY = limo.datasets.figure1(60, seed=1)
DATA = limo.Dataset(
    TOY.X, np.column_stack([TOY.Y, np.zeros(60, dtype=int)]), ("x", "y"), tuple("ABCDE")
)
LABELS = ("hamming_loss", "macro_f1", "instance_f1", "micro_f1")


def outcome(name, measures=tuple(limo.MEASURES)):
    plan = Plan([Data("toy", DATA)], [name], measures, splits=Splits(number=1))
    return run_job(plan.jobs()[0])


TUNED = {
    "aimed": {"families": ["linear"], "cv": 2},
    "limo-cv": {"alphas": [1e-2], "terms": ["rows mean", "entries mean"]},
    "logistic": {},
    "rbf": {},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in METHODS if name not in TUNED])
def test_every_method_gives_all_measures(name):
    found = outcome(name)
    assert {score.error for score in found.scores} == {""}
    assert all(np.isfinite(score.value) for score in found.scores)


@pytest.mark.slow
@pytest.mark.parametrize("name", TUNED)
def test_every_tuned_method_gives_measures(name):
    method = replace(METHODS[name], settings=TUNED[name])
    found = outcome(method, ("macro_auc", "micro_f1"))
    assert {score.error for score in found.scores} == {""}


def test_only_entries_that_say_so_look_at_test_labels():
    for name, method in METHODS.items():
        looks = any(s.fitted_on == "test labels" for s in method.thresholds(LABELS).values())
        assert looks == name.endswith("test cuts")


def test_the_papers_thresholds_are_those_of_its_protocol():
    settings = METHODS["paper:LIMO-label"].thresholds(LABELS)
    assert settings["macro_f1"].rule is settings["instance_f1"].rule is settings["micro_f1"].rule
    scaler, svr = settings["macro_f1"].rule.regressor
    assert type(scaler) is MaxAbsScaler
    assert (svr.C, svr.gamma) == (1.0, "auto")
    assert settings["hamming_loss"].rule.target == "hamming_loss"
    both = METHODS["paper:LIMO"].thresholds(LABELS)
    kinds = [type(both[name].rule).__name__ for name in LABELS]
    assert kinds == ["LabelThreshold", "LabelThreshold", "InstanceThreshold", "InstanceThreshold"]
