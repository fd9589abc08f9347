import pickle

import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import MinMaxScaler

import limo
from experiment.estimators import Frequency, NotSklearn
from limo.experiment import Method, ThresholdSetting
from limo.experiment._identity import content_hash

LABELS = ["hamming_loss", "macro_f1", "instance_f1", "micro_f1"]


def test_by_default_each_measure_has_the_threshold_that_suits_it():
    settings = Method("m", Frequency()).thresholds(list(limo.MEASURES))
    assert {name: repr(setting.rule) for name, setting in settings.items()} == {
        name: repr(limo.suggest_threshold(name)) for name in LABELS
    }
    assert {setting.fitted_on for setting in settings.values()} == {"cross-fitted scores"}


def test_thresholds_may_be_named_given_or_left_to_the_estimator():
    def texts(threshold, **more):
        settings = Method("m", Frequency(), threshold=threshold, **more).thresholds(LABELS)
        return [str(setting) for setting in settings.values()]

    assert texts("own") == ["own predict"] * 4
    assert texts(limo.FixedThreshold(0.5)) == ["FixedThreshold(threshold=0.5)"] * 4
    assert texts("global", cv="training")[1] == (
        "GlobalThreshold(target='macro_f1'), fitted on training scores"
    )
    mixed = {"macro_f1": ThresholdSetting(limo.TopK(), "test labels"), "micro_f1": "own"}
    assert texts(mixed)[1:] == [
        "TopK(), fitted on test labels",
        "InstanceThreshold(target='instance_f1'), fitted on cross-fitted scores",
        "own predict",
    ]


def test_what_draws_gets_the_seed_unless_it_has_one():
    nested = Method("m", OneVsRestClassifier(RandomForestClassifier()))
    assert nested.build(seed=7).estimator.random_state == 7
    fixed = Method("m", RandomForestClassifier(random_state=1))
    assert fixed.build(seed=7).random_state == 1


def test_settings_reach_objects_and_classes():
    assert Method("m", Frequency(), {"sign": -1}).build().sign == -1
    by_path = Method("m", "sklearn.ensemble:RandomForestClassifier", {"max_depth": 2})
    assert by_path.build().max_depth == 2


def test_an_estimator_is_never_touched():
    mine = Frequency()
    Method("m", mine, {"sign": -1}).build(seed=1)
    assert mine.sign == 1


def test_a_targeted_method_is_told_the_measures():
    method = Method("m", limo.LIMOClassifierCV(), targeted=True)
    assert method.build(["macro_f1", "one_error"]).measure == ["macro_f1", "one_error"]
    assert {str(setting) for setting in method.thresholds(LABELS).values()} == {"own predict"}


def test_scalings_by_name_or_object():
    assert type(Method("m", Frequency(), scaling="max_abs").scaler()).__name__ == "MaxAbsScaler"
    mine = MinMaxScaler()
    assert Method("m", Frequency(), scaling=mine).scaler() is not mine
    assert Method("m", Frequency()).scaler() is None


def test_every_setting_counts_in_the_description():
    changes = [
        {}, {"settings": {"sign": -1}}, {"scaling": "max_abs"}, {"threshold": "own"}, {"cv": 5},
        {"cv": "training"}, {"threshold": {"macro_f1": "global"}}, {"name": "n"},
        {"estimator": Frequency(2)}, {"estimator": "experiment.estimators:Frequency"},
    ]  # fmt: skip
    plain = {"name": "m", "estimator": Frequency()}
    hashes = [content_hash(Method(**(plain | change)).describe()) for change in changes]
    assert len(set(hashes)) == len(changes)


def test_a_file_that_is_edited_is_another_method(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text("from experiment.estimators import Frequency as Mine\n")
    first = Method("m", f"{file}:Mine").describe()
    file.write_text("from experiment.estimators import Frequency as Mine  # edited\n")
    assert Method("m", f"{file}:Mine").describe() != first


def test_methods_can_be_pickled():
    method = Method("m", Frequency(), {"sign": 2}, "max_abs", {"micro_f1": "own"}, 4)
    assert pickle.loads(pickle.dumps(method)).describe() == method.describe()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": ""}, "a method needs a name, got ''"),
        ({"estimator": 3}, "'m' needs an estimator with fit, got int"),
        ({"estimator": NotSklearn()}, "needs an estimator with get_params, got NotSklearn; sklearn.base"),
        ({"targeted": True}, "needs an estimator with model_for, got Frequency"),
        ({"settings": {"sing": 1}}, "Frequency of method 'm' has no setting 'sing'. Did you mean 'sign'?"),
        ({"estimator": "sklearn.svm:SVC", "settings": {"c": 1}}, "sklearn.svm:SVC of method 'm' has no"),
        ({"estimator": "sklearn.multiclass:OneVsRestClassifier"}, "cannot be created: .*estimator"),
        ({"cv": 1}, "must be a number of folds, at least 2, or 'training', got 1"),
        ({"cv": "pre-fit"}, "must be a number of folds, at least 2, or 'training', got 'pre-fit'"),
        ({"scaling": "maxabs"}, "Unknown scaling 'maxabs'. Did you mean 'max_abs'?"),
        ({"scaling": 2}, "scaling of method 'm' must be one of max_abs, standard, unit_rows or"),
        ({"threshold": "labels"}, "Unknown threshold rule 'labels'. Did you mean 'label'?"),
        ({"threshold": {"makro_f1": "own"}}, "Unknown measure 'makro_f1'. Did you mean 'macro_f1'?"),
    ],
)  # fmt: skip
def test_wrong_settings_are_rejected_before_anything_runs(change, message):
    with pytest.raises(ValueError, match=message):
        Method(**({"name": "m", "estimator": Frequency()} | change))
