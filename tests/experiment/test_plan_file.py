import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import limo
from limo.experiment import METHODS, Plan, PlanError

WHOLE = """
seed = 3
measures = ["macro_f1", "one_error"]
conventions = "paper"
repetitions = 2

[splits]
kind = "random"
number = 4
test_size = 0.5

[[datasets]]
name = "enron"

[[datasets]]
name = "toy"
source = "figure1"
options = {n = 50}
splits = {kind = "stored", permutations = "rows.csv"}

[[datasets]]
source = "mine.arff"
options = {xml = "mine.xml"}

[[methods]]
name = "limo"

[[methods]]
name = "strong"
estimator = "limo"
settings = {alpha = 1.0}

[[methods]]
name = "own"
estimator = "mine.py:Mine"
settings = {sign = -1}
scaling = "max_abs"
threshold = "own"
cv = 5

[[methods]]
name = "nested"
estimator = "sklearn.multiclass:OneVsRestClassifier"
settings = {estimator = {import = "sklearn.linear_model:LogisticRegression", C = 2.0}}
threshold = {macro_f1 = "global", micro_f1 = {rule = "instance", regressor = "svr"}}
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "mine.py").write_text("from experiment.estimators import Frequency as Mine\n")
    limo.write(limo.datasets.figure1(30), tmp_path / "mine.arff")
    np.savetxt(tmp_path / "rows.csv", [np.arange(50)] * 3, fmt="%d", delimiter=",")
    return tmp_path


def read(folder, text):
    (folder / "plan.toml").write_text(text)
    return Plan.from_file(folder / "plan.toml")


def test_a_file_with_everything(folder):
    plan = read(folder, WHOLE)
    assert (plan.seed, plan.repetitions, plan.conventions.name) == (3, 2, "paper")
    assert plan.measures == ("macro_f1", "one_error")
    assert [data.name for data in plan.datasets] == ["enron", "toy", "mine"]
    assert plan.datasets[2].load().X.shape == (30, 2)
    assert len(plan.jobs()) == 2 * 4 * (4 + 3 + 4)
    limo_, strong, own, nested = plan.methods
    assert limo_.describe() == METHODS["limo"].describe()
    assert (strong.build().alpha, strong.scaling) == (1.0, "unit_rows")
    assert (own.build().sign, own.scaling, own.threshold, own.cv) == (-1, "max_abs", "own", 5)
    assert isinstance(nested.build().estimator, LogisticRegression)
    assert nested.build().estimator.C == 2.0
    settings = nested.thresholds(list(limo.MEASURES))
    assert str(settings["macro_f1"]).startswith("GlobalThreshold(target='macro_f1')")
    assert settings["micro_f1"].rule.regressor == "svr"


def test_a_file_of_names_equals_a_plan_of_names(folder):
    plan = read(folder, 'datasets = ["figure1"]\nmethods = ["limo", "br"]\nsplits = {number = 2}')
    same = Plan(["figure1"], ["limo", "br"], splits=limo.experiment.Splits(number=2))
    assert [job.run for job in plan.jobs()] == [job.run for job in same.jobs()]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("datasets = [", "a plan is a TOML file, but "),
        ('methods = ["limo"]', "a plan needs datasets, a list, got None"),
        ("datasets = []\nmethods = 3", "a plan needs methods, a list, got 3"),
        ("METHOD\nmesures = []", "a plan has no setting 'mesures'. Did you mean 'measures'?"),
        ('METHOD\nmeasures = ["f1"]', "Unknown measure 'f1'."),
        ("METHOD\nsplits = 3", "splits must be a table of settings, got 3"),
        ("METHOD\nsplits = {kinds = 1}", "splits has no setting 'kinds'. Did you mean 'kind'?"),
        ("METHOD\nrepetitions = 0", "repetitions must be "),
        ('datasets = [3]\nmethods = ["limo"]', "a data set must be a table of settings, got 3"),
        ('datasets = [{options = {}}]\nmethods = ["limo"]', "a data set needs a source, a known name"),
        ('datasets = ["nowhere.csv"]\nmethods = ["limo"]', "'nowhere.csv' is neither a file nor"),
        ('datasets = [{source = "figure1", nme = 1}]\nmethods = []', "Did you mean 'name'?"),
        ('datasets = ["figure1"]\nmethods = [{}]', "a method needs a name, got None"),
        ('datasets = ["figure1"]\nmethods = ["lino"]', "Unknown method 'lino'. Did you mean 'limo'"),
        ('METHODS{name = "a", estimatr = 1}', "a method has no setting 'estimatr'. Did you mean 'est"),
        ('METHODS{name = "a", estimator = 1}', "estimator of method 'a' must be an import path, got 1"),
        ('METHODS{name = "a", estimator = "mine.py:Min"}', "Did you mean 'Mine'?"),
        ('METHODS{name = "a", estimator = "yours.py:Mine"}', "there is no file "),
        ('METHODS{name = "a", estimator = "mine.py:Mine", settings = {sgn = 1}}', "Did you mean 'sign'?"),
        ('METHODS{name = "limo", settings = 1}', "settings must be a table of settings, got 1"),
        ('METHODS{name = "limo", settings = {loss = {import = "builtins:int", x = 1}}}', "cannot be created"),
        ('METHODS{name = "limo", threshold = "labl"}', "Unknown threshold rule 'labl'. Did you mean"),
        ('METHODS{name = "limo", threshold = {macro = "own"}}', "threshold has no setting 'macro'."),
        ('METHODS{name = "limo", threshold = {rule = "label", min = 1}}', "LabelThreshold has no setting"),
    ],
)  # fmt: skip
def test_every_mistake_is_named_with_its_file(folder, text, message):
    text = text.replace("METHODS", 'datasets = ["figure1"]\nmethods = [')
    text = text + "]" if "methods = [{n" in text else text
    text = text.replace("METHOD\n", 'datasets = ["figure1"]\nmethods = ["limo"]\n')
    with pytest.raises(PlanError) as error:
        read(folder, text)
    assert message in str(error.value)


def test_the_file_is_named(folder):
    with pytest.raises(PlanError, match=r"plan.toml: a plan has no setting 'x'"):
        read(folder, "x = 1")
    with pytest.raises(PlanError, match=r"absent.toml: a plan is a TOML file, but No such file"):
        Plan.from_file(folder / "absent.toml")
