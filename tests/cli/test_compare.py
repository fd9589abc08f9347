import os
import signal
import subprocess
import sys
import time

import joblib
import numpy as np
import pytest

import limo
from cli.running import names_in, printed_json, process, refused, run, surroundings

QUICK = (
    "--methods",
    "mlknn,gfm",
    "--measures",
    "macro_f1,ranking_loss",
    "--repeats",
    "2",
    "-j",
    "1",
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    limo.write(limo.datasets.figure1(60), "square.npz")
    return tmp_path


def test_methods_side_by_side(folder):
    found = run("compare", "square.npz", *QUICK, "--report", "page.html")
    assert found.exit_code == 0, found.output
    head = next(line for line in found.stdout.splitlines() if "measure" in line)
    assert head.split() == ["measure", "better", "mlknn", "gfm"]
    assert "square: mean ± standard deviation (rank) over 2 splits" in found.stdout
    assert "*" in found.stdout
    assert names_in(folder) == {"square.npz", "results.sqlite", "page.html"}
    rows = limo.experiment.read_rows("results.sqlite")
    assert len(rows) == 8
    mean = rows[(rows["method"] == "gfm") & (rows["measure"] == "macro_f1")]["value"].mean()
    assert f"{mean:.3f}±" in found.stdout


def test_stored_runs_are_skipped(folder):
    first = printed_json(run("compare", "square.npz", *QUICK, "--json"))
    kept = limo.experiment.read_rows("results.sqlite")
    more = ("--methods", "mlknn,gfm,br", *QUICK[2:])
    again = printed_json(run("compare", "square.npz", *more, "--json"))
    rows = limo.experiment.read_rows("results.sqlite")
    assert rows.iloc[: len(kept)].equals(kept)
    assert len(rows) == 12
    old, new = (part["comparisons"][0]["means"][0]["cells"][0]["mean"] for part in (first, again))
    assert old == new


def test_a_plan_file(folder):
    (folder / "plan.toml").write_text(
        'datasets = ["square.npz"]\nmethods = ["mlknn"]\nmeasures = ["macro_f1"]\n'
        "[splits]\nnumber = 2\n"
    )
    found = printed_json(run("compare", "--plan", "plan.toml", "-j", "1", "--json"))
    assert found["comparisons"][0]["methods"] == ["mlknn"]
    refused(run("compare", "square.npz", "--plan", "plan.toml"), 2, "leave them out")


def test_a_report_from_the_store(folder):
    run("compare", "square.npz", *QUICK)
    assert run("report", "results.sqlite", "-o", "page.html").exit_code == 0
    assert "mlknn" in (folder / "page.html").read_text()


def test_a_failed_run_is_reported_and_the_rest_stored(folder, monkeypatch):
    (folder / "odd.py").write_text(
        "from sklearn.base import BaseEstimator\n"
        "class Odd(BaseEstimator):\n"
        "    def fit(self, X, y):\n        raise RuntimeError('too odd')\n"
        "    def decision_function(self, X):\n        return X\n"
    )
    (folder / "plan.toml").write_text(
        'datasets = ["square.npz"]\nmeasures = ["macro_f1"]\n'
        'methods = ["mlknn", {name = "odd", estimator = "odd.py:Odd"}]\n[splits]\nnumber = 2\n'
    )
    refused(run("compare", "--plan", "plan.toml"), 2, "--allow-code")
    found = run("compare", "--plan", "plan.toml", "--allow-code", "-j", "1")
    assert found.exit_code == 1
    assert "2 of 4 runs failed. The first: odd on square" in found.stderr
    assert "too odd" in found.stderr
    assert "mlknn" in found.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ((), 2, ("Which data?",)),
        (("no.csv",), 2, ("There is no file no.csv",)),
        (("square.npz", "--methods", "lino"), 2, ("Unknown method 'lino'",)),
        (("square.npz", "--measures", "f1"), 2, ("Unknown measure 'f1'",)),
        (("square.npz", "--repeats", "0"), 2, ("--repeats",)),
        (("square.npz", "--store", "no/r.sqlite"), 2, ("folder no does not exist",)),
        (("square.npz", "--report", "square.npz"), 2, ("square.npz exists", "--force")),
        (("square.npz", "--store", "text.txt", *QUICK), 1, ("text.txt",)),
        (("bad.npz",), 1, ("bad.npz: X and Y must have the same rows",)),
        (("text.txt",), 1, ("format is not recognised",)),
        (("--plan", "text.txt"), 2, ("a plan is a TOML file",)),
        (("--plan", "no.toml"), 2, ("There is no file no.toml",)),
    ],
)
def test_wrong_input_is_a_sentence(folder, arguments, code, words):
    np.savez("bad.npz", X=np.ones((3, 2)), Y=np.ones((2, 2)))
    (folder / "text.txt").write_text("some text\n")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    refused(run("compare", *arguments), code, *words)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.slow
def test_as_a_process(folder):
    good = process("compare", "square.npz", *QUICK, folder=folder)
    assert good.returncode == 0, good.stderr
    assert good.stderr == ""
    (folder / "text.csv").write_text("some text\n")
    for words, code in (
        (("no.csv",), 2),
        (("text.csv",), 1),
        (("square.npz", "--methods", "lino"), 2),
    ):
        bad = process("compare", *words, "--store", "other.sqlite", folder=folder)
        assert (bad.returncode, bad.stdout) == (code, "")
        assert bad.stderr.startswith("Error: ")
    assert names_in(folder) == {"square.npz", "text.csv", "results.sqlite"}


class Evil:
    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return os.mkdir, (str(self.mark),)


@pytest.mark.slow
def test_a_pickle_is_never_opened(folder):
    joblib.dump(Evil(folder / "mark"), folder / "evil.joblib")
    bad = process("compare", "evil.joblib", *QUICK, folder=folder)
    assert bad.returncode == 1
    assert "the format is not recognised" in bad.stderr
    assert not (folder / "mark").exists()
    joblib.load(folder / "evil.joblib")
    assert (folder / "mark").exists()  # it would have run


@pytest.mark.slow
def test_ctrl_c_keeps_finished_runs(folder):
    words = ("compare", "square.npz", "--methods", "mlknn,br", "--repeats", "2000")
    one = subprocess.Popen(
        [sys.executable, "-m", "limo", *words],
        cwd=folder,
        env=surroundings(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    store = folder / "results.sqlite"
    deadline = time.monotonic() + 180  # loading and compiling takes long on a busy machine
    while not (store.exists() and store.stat().st_size > 40_000):
        assert time.monotonic() < deadline, "no run was stored"
        time.sleep(0.2)
    os.kill(one.pid, signal.SIGINT)
    out, err = one.communicate(timeout=60)
    assert one.returncode == 130, err
    assert out == ""
    assert "runs are stored in results.sqlite; the same call continues from there." in err
    assert "Traceback" not in err
    assert len(limo.experiment.read_rows(store)) > 0


def test_a_part_of_a_known_set(folder, monkeypatch):
    monkeypatch.setattr(limo.datasets, "load", lambda *_, **__: limo.datasets.figure1(60))
    found = printed_json(run("compare", "enron:train", *QUICK, "--json"))
    assert found["comparisons"][0]["datasets"] == ["enron-train"]
