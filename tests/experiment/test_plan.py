import pickle
import sys
from dataclasses import replace
from types import ModuleType

import pytest

import limo
from experiment.estimators import Frequency
from limo.experiment import Data, Method, Plan, PlanError, Procedure, Splits

TOY = Data("toy", "figure1", {"n": 40})


def plan(**changes):
    return Plan(
        **{
            "datasets": [TOY], "methods": ["limo", "br"], "measures": ["one_error", "macro_f1"],
            "splits": Splits(number=2),
        } | changes
    )  # fmt: skip


def runs(**changes):
    return {str(job): (job.run, job.seed) for job in plan(**changes).jobs()}


def test_jobs_come_data_by_data_split_by_split():
    jobs = plan(datasets=[TOY, replace(TOY, name="other")]).jobs()
    assert [str(job) for job in jobs] == [
        f"{method} on {data}, split {split}"
        for data in ("toy", "other")
        for split in (0, 1)
        for method in ("limo", "br")
    ]


def share_found(tp, fp, fn, tn):
    return tp / (tp + fn)


def test_a_job_takes_registered_measures_to_other_processes():
    made = limo.measures.make_measure(share_found)
    with pytest.raises(PlanError, match="register your own first"):
        plan(measures=[made])
    limo.measures.register(made)
    try:
        sent = pickle.dumps(plan(measures=["share_found", "macro_f1"]).jobs()[0])
        limo.measures.unregister("share_found")  # as in a new process
        assert "share_found" not in limo.MEASURES
        job = pickle.loads(sent)
        assert job.measures == ("share_found", "macro_f1")
        assert limo.MEASURES["share_found"].function.function is share_found
    finally:
        if "share_found" in limo.MEASURES:
            limo.measures.unregister("share_found")


def test_adding_methods_splits_or_data_changes_no_other_run():
    few = runs()
    more = runs(
        methods=["gfm", "br", Method("mine", Frequency()), "limo"],
        splits=Splits(number=5),
        datasets=["enron", TOY],
        repetitions=2,
    )
    assert few.items() <= more.items()
    assert len(more) == 4 * (10 + 10)


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 1},
        {"measures": ["one_error"]},
        {"conventions": "paper"},
        {"splits": Splits("random", 2)},
        {"splits": Splits(number=2, test_size=0.4)},
        {"datasets": [Data("toy", "figure1", {"n": 41})]},
    ],
)
def test_a_changed_setting_is_a_new_run(change):
    before, after = runs(), runs(**change)
    assert before.keys() == after.keys()
    assert not {run for run, _ in before.values()} & {run for run, _ in after.values()}


def test_a_changed_method_is_a_new_run_with_the_old_seed():
    before = runs(methods=[Method("mine", Frequency())])
    after = runs(methods=[Method("mine", Frequency(-1))])
    for name in before:
        assert before[name][0] != after[name][0]
        assert before[name][1] == after[name][1]


def test_data_may_have_splits_of_their_own():
    jobs = plan(datasets=[TOY, replace(TOY, name="b", splits=Splits("folds", 3))]).jobs()
    kinds = {(job.data.name, job.split.splits.kind, job.split.splits.number) for job in jobs}
    assert kinds == {("toy", "stratified", 2), ("b", "folds", 3)}


def test_defaults():
    found = Plan(["figure1"], ["limo"])
    assert repr(found) == "Plan(1 data set, 1 method, 11 measures)"
    assert len(found.jobs()) == 10
    assert found.conventions is limo.CONVENTIONS["standard"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"methods": []}, "methods of a plan must be a list of at least one, got"),
        ({"datasets": "enron"}, "datasets of a plan must be a list of at least one, got 'enron'"),
        ({"measures": 3}, "measures of a plan must be a list of at least one, got 3"),
        ({"methods": ["limo", "limo"]}, "each method needs its own name, but 2 are called 'limo'"),
        ({"datasets": [TOY, TOY]}, "each data set needs its own name, but 2 are called 'toy'"),
        ({"measures": ["coverage"] * 3}, "each measure needs its own name, but 3 are called"),
        ({"methods": ["limocv"]}, "Unknown method 'limocv'. Did you mean 'limo-cv'?"),
        ({"methods": [Frequency()]}, r"a method is a name or Method\('its name', estimator\), got"),
        ({"measures": ["makro_f1"]}, "Unknown measure 'makro_f1'. Did you mean 'macro_f1'?"),
        ({"repetitions": 0}, "repetitions must be .* 1.*, got 0"),
        ({"seed": -1}, "seed must be .* 0.*, got -1"),
        ({"seed": True}, "seed must be .* 0.*, got True"),
        ({"conventions": "standart"}, "Unknown conventions 'standart'. Did you mean 'standard'?"),
    ],
)
def test_plans_that_cannot_be(change, message):
    with pytest.raises(ValueError, match=message):
        plan(**change)


def test_boomer_needs_a_package_of_its_own(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ValueError, match="needs the package mlrl-boomer, which is not installed"):
        plan(methods=["boomer"])


def test_boomer_is_used_where_it_is_installed(monkeypatch):
    """A stand-in: the package requires versions of others that may not be installed."""
    rules = ModuleType("mlrl.boosting")
    rules.BoomerClassifier = Frequency
    monkeypatch.setitem(sys.modules, "mlrl", ModuleType("mlrl"))
    monkeypatch.setitem(sys.modules, "mlrl.boosting", rules)
    (method,) = plan(methods=["boomer"]).methods
    assert (method.name, type(method.build())) == ("boomer", Frequency)


def test_procedures_are_planned_as_methods_are():
    assert len(plan(methods=[Procedure("p", lambda data, train, test, seed: [])]).jobs()) == 2
    assert issubclass(PlanError, ValueError)
