import os
import pickle
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from pickle import PicklingError
from typing import ClassVar

import numpy as np
import pytest

import limo
from experiment import slow_plan
from experiment.estimators import Broken, Deadly, Dice, Frequency
from limo.experiment import (
    Data,
    Interrupted,
    Method,
    Plan,
    Procedure,
    Splits,
    Store,
    StoreError,
    read_rows,
    run,
)
from limo.experiment import _runner as runner
from limo.experiment._runner import Serial

TOY = Data("toy", "figure1", {"n": 60})
OTHER = limo.datasets.figure1(40, seed=3)
METHODS = [Method("dice", Dice()), Method("frequency", Frequency())]


def plan(methods=METHODS, **changes):
    return Plan(
        **{
            "datasets": [TOY, Data("other", OTHER)], "methods": methods,
            "measures": ["one_error", "macro_f1"], "splits": Splits(number=3),
        } | changes
    )  # fmt: skip


def same(first, second):
    """Equal in all but time."""
    columns = [name for name in first if name not in ("seconds", "finished")]
    return first[columns].equals(second[columns])


@pytest.fixture
def path(tmp_path):
    return tmp_path / "results.sqlite"


def test_one_row_for_each_data_set_split_method_and_measure(path):
    rows = run(plan(), path, n_jobs=1)
    names = rows[["dataset", "split", "method", "measure"]].values.tolist()
    assert names == [
        [data, split, method, measure]
        for data in ("toy", "other")
        for split in range(3)
        for method in ("dice", "frequency")
        for measure in ("one_error", "macro_f1")
    ]
    assert set(rows["status"]) == {"ok"}
    assert same(read_rows(path), rows)


def test_any_executor_with_submit_gives_the_same(path):
    serial = run(plan(), path, n_jobs=1)
    with ThreadPoolExecutor(1) as executor:
        assert same(run(plan(), path.with_name("own.sqlite"), executor=executor), serial)


@pytest.mark.slow
def test_processes_give_the_same_and_tell_what_runs(path):
    serial, reports = run(plan(), path, n_jobs=1), []
    shared = run(plan(), path.with_name("two.sqlite"), n_jobs=2, progress=reports.append)
    assert same(shared, serial)
    assert reports[0].running == ("dice on toy, split 0", "frequency on toy, split 0")
    assert all(len(now.running) <= 2 for now in reports)


class Posted(Serial):
    """Pickles what it is given, as processes do, and weighs it."""

    weights: ClassVar[list[int]] = []

    def __init__(self, n_jobs):
        self.n_jobs = n_jobs

    def submit(self, function, job):
        parcel = pickle.dumps((function, job))
        self.weights.append(len(parcel))
        function, job = pickle.loads(parcel)
        return super().submit(function, job)


def test_data_in_memory_do_not_travel_with_every_job(path, monkeypatch):
    monkeypatch.setattr(runner, "Processes", Posted)
    large = limo.datasets.figure1(5000)
    wanted = plan(datasets=[Data("large", large)], measures=["one_error"])
    rows = run(wanted, path, n_jobs=2)
    assert set(rows["status"]) == {"ok"}
    assert len(Posted.weights) == 6
    assert max(Posted.weights) < 5000 < large.X.nbytes
    assert same(run(wanted, path.with_name("here.sqlite"), n_jobs=1), rows)


class Lossy:
    """An executor that loses what it is given."""

    def submit(self, function, argument):
        future = Future()
        future.set_exception(PicklingError("cannot travel"))
        return future


def test_a_job_that_comes_to_no_end_has_failed(path):
    rows = run(plan(), path, executor=Lossy(), n_jobs=2)
    assert set(rows["error"]) == {"PicklingError: cannot travel"}


class Fragile:
    """An executor that breaks with its first four jobs in hand, and over every deadly one."""

    def __init__(self):
        self.given = []

    def submit(self, function, job):
        future = Future()
        self.given.append(str(job))
        if len(self.given) <= 4 or job.method.name == "deadly":
            future.set_exception(BrokenExecutor("gone"))
        else:
            future.set_result(function(job))
        return future


def test_jobs_in_the_hands_of_a_broken_executor_are_tried_again_alone(path):
    methods = [METHODS[0], Method("deadly", Frequency()), METHODS[1]]
    fragile = Fragile()
    few = {"datasets": [TOY], "splits": Splits(number=2)}
    rows = run(plan(methods, **few), path, executor=fragile, n_jobs=2)
    assert set(rows.loc[rows["status"] == "failed", "method"]) == {"deadly"}
    assert rows["error"].str.startswith("the process of this run died").sum() == 4
    assert "gone" in rows.loc[rows["method"] == "deadly", "error"].iloc[0]
    tried = Counter(fragile.given)
    # one was never submitted to a broken executor; the deadly ones are tried twice alone
    assert sorted(tried.values()) == [1, 2, 2, 2, 3, 3]


class Unlucky(Fragile):
    """An executor that also breaks over the first job that it is given alone."""

    def submit(self, function, job):
        future = super().submit(function, job)
        if len(self.given) == 5:
            future = Future()
            future.set_exception(BrokenExecutor("gone"))
        return future


def test_a_job_whose_worker_dies_once_by_chance_has_not_failed(path):
    few = {"datasets": [TOY], "splits": Splits(number=2)}
    rows = run(plan(METHODS[:2], **few), path, executor=Unlucky(), n_jobs=2)
    assert set(rows["status"]) == {"ok"}


def test_other_methods_change_no_result(path):
    few = run(plan(METHODS[:1]), path, n_jobs=1)
    many = run(plan([Method("dice 2", Dice()), *METHODS]), path.with_name("b.sqlite"), n_jobs=1)
    assert same(few, many[many["method"] == "dice"].reset_index(drop=True))


# Not captured by the functions below: what they captured is part of a run's identity.
COUNTED: list[int] = []
FLAKY = {"fails": True}


def test_what_is_finished_is_not_made_again_and_what_is_new_is(path):
    calls = COUNTED
    calls.clear()

    def counted(data, train, test, seed):
        COUNTED.append(seed)
        return [("one_error", 0.0), ("macro_f1", 0.0)]

    small = plan([Procedure("p", counted)], datasets=[TOY])
    first = run(small, path, n_jobs=1)
    assert len(calls) == 3
    assert run(small, path, n_jobs=1).equals(first)
    assert len(calls) == 3
    large = plan([Procedure("p", counted)], datasets=[TOY], splits=Splits(number=5))
    assert len(run(large, path, n_jobs=1)) == 10
    assert len(calls) == 5
    assert run(small, path, n_jobs=1).equals(first)
    assert len(read_rows(path)) == 10


def test_failures_are_rows_and_stop_nothing_and_are_made_again_when_asked(path):
    FLAKY["fails"] = True

    def sometimes(data, train, test, seed):
        if FLAKY["fails"]:
            raise OSError("disk full")
        return [("one_error", 0.5), ("macro_f1", 0.5)]

    tried = plan([Procedure("p", sometimes), *METHODS])
    rows = run(tried, path, n_jobs=1)
    failed = rows[rows["status"] == "failed"]
    assert set(failed["method"]) == {"p"}
    assert len(failed) == 12
    assert failed["error"].str.startswith("OSError: disk full [test_runner.py, line").all()
    assert failed["value"].isna().all()
    FLAKY["fails"] = False
    assert run(tried, path, n_jobs=1).equals(rows)
    again = run(tried, path, n_jobs=1, retry_failed=True)
    assert set(again["status"]) == {"ok"}
    kept = again["method"] != "p"
    assert again[kept].equals(rows[kept])
    assert len(read_rows(path)) == len(rows)


@pytest.mark.slow
def test_a_run_that_kills_its_process_fails_alone(path):
    few = {"datasets": [TOY], "splits": Splits(number=1)}
    rows = run(plan([METHODS[0], Method("deadly", Deadly())], **few), path, n_jobs=2)
    deadly = rows["method"] == "deadly"
    assert rows.loc[deadly, "error"].str.startswith("the process of this run died").all()
    assert set(rows.loc[~deadly, "status"]) == {"ok"}
    plain = run(plan(METHODS[:1], **few), path.with_name("b.sqlite"), n_jobs=1)
    assert same(plain, rows[~deadly].reset_index(drop=True))


def test_progress_tells_what_runs_what_is_done_and_what_is_left(path):
    reports = []
    run(plan(), path, n_jobs=1, progress=reports.append)
    assert (reports[0].total, reports[0].left, reports[0].seconds_left) == (12, 12, None)
    assert reports[0].running == ("dice on toy, split 0",)
    assert [now.done for now in reports] == [*range(12), 12]
    assert all(now.seconds_left is not None for now in reports[1:])
    assert (reports[-1].done, reports[-1].left, reports[-1].running) == (12, 0, ())
    assert reports[-1].last.method in ("dice", "frequency")
    reports.clear()
    run(plan([*METHODS, Method("broken", Broken())]), path, n_jobs=1, progress=reports.append)
    assert (reports[0].skipped, reports[0].left) == (12, 6)
    assert reports[0].seconds_left > 0  # known from the runs before
    assert reports[-1].failed == 6


def test_ctrl_c_here_keeps_what_is_finished(path):
    def interrupt(now):
        if now.done == 4:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted) as stopped:
        run(plan(), path, n_jobs=1, progress=interrupt)
    assert str(stopped.value) == (
        f"Stopped. 4 of 12 runs are stored in {path}; the same call continues from there."
    )
    assert isinstance(stopped.value, KeyboardInterrupt)
    with Store(path) as store:
        assert len(store.outcomes()) == 4


def test_a_class_of_an_example_file_enters_by_its_path(path):
    file = Path(__file__).parents[2] / "examples" / "comparison.toml"
    data = Data("figure 1", "figure1", {"n": 100})
    short = replace(Plan.from_file(file, allow_code=True), datasets=[data], splits=Splits(number=1))
    rows = run(short, path, n_jobs=1)
    assert set(rows["method"]) == {"limo", "mine", "neighbours"}
    assert set(rows["status"]) == {"ok"}
    assert len(rows) == 3 * 4


def test_what_cannot_be_is_said(path):
    with pytest.raises(ValueError, match="n_jobs must be .* 1.*, got 0"):
        run(plan(), path, n_jobs=0)
    path.write_text("mine")
    with pytest.raises(StoreError, match="is not a store of results"):
        run(plan(), path)
    assert path.read_text() == "mine"


@pytest.fixture
def start():
    """Start a real run in a separate process group; end what is left of it afterwards."""
    script, started = Path(slow_plan.__file__), []
    source = Path(limo.__file__).parents[1]
    # so slow that it cannot end before it is stopped
    environment = os.environ | {
        "PYTHONPATH": f"{source}{os.pathsep}{script.parents[1]}",
        "PAUSE": "0.2",
    }

    def begin(store, n_jobs):
        command = [sys.executable, script, store, str(n_jobs)]
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, start_new_session=True, env=environment
        )
        started.append(process)
        return process

    yield begin
    for process in started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        process.stdout.close()


def wait_for(process, least):
    """Read on until this many runs are done."""
    for line in process.stdout:
        if line.strip().isdigit() and int(line) >= least:
            return
    raise AssertionError("the script ended too early")


def gone(group, seconds=10):
    """Whether nothing of the process group is left, after a while."""
    for _ in range(int(seconds * 10)):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


@pytest.mark.slow
def test_killed_twice_and_resumed_it_gives_the_same_table(start, tmp_path):
    path, rng, found = tmp_path / "killed.sqlite", random.Random(0), [0]
    for n_jobs in (2, 1):
        process = start(path, n_jobs)
        wait_for(process, found[-1] // 2 + rng.randint(1, 12))  # two rows per run
        time.sleep(rng.random() / 4)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert gone(process.pid)  # the workers do not outlive it
        found.append(len(read_rows(path)))
        assert found[-2] < found[-1] < 180
    resumed = run(slow_plan.plan(), path, n_jobs=1)
    undisturbed = run(slow_plan.plan(), tmp_path / "whole.sqlite", n_jobs=1)
    keys = ["dataset", "split", "method", "measure"]
    rows = read_rows(path)
    assert len(rows) == len(undisturbed) == 3 * 3 * 10 * 2
    assert not rows.duplicated(keys).any()
    assert same(resumed, undisturbed)
    assert same(rows.sort_values(keys, ignore_index=True),
                undisturbed.sort_values(keys, ignore_index=True))  # fmt: skip


@pytest.mark.slow
def test_ctrl_c_ends_cleanly_says_so_and_keeps_what_is_finished(start, tmp_path):
    path = tmp_path / "results.sqlite"
    process = start(path, 2)
    wait_for(process, 5)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to parent and workers alike
    output, _ = process.communicate(timeout=30)
    assert process.returncode == 130
    kept = read_rows(path).groupby(["dataset", "split", "method"]).ngroups
    assert 5 <= kept < 90
    message = (
        f"Stopped. {kept} of 90 runs are stored in {path}; the same call continues from there."
    )
    assert output.splitlines()[-1] == message
    assert gone(process.pid)
    assert np.isfinite(read_rows(path)["value"]).all()
