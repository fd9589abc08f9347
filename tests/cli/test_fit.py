import json

import numpy as np
import pandas as pd
import pytest

import limo
from cli.running import names_in, printed_json, process, refused, run
from limo._cli import fit as command
from limo._cli.options import METHODS

DATA = limo.datasets.figure1(80)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    limo.write(DATA, "square.npz")
    frame = pd.DataFrame(DATA.X, columns=DATA.feature_names)
    labels = pd.DataFrame(DATA.Y, columns=[f"tag_{n}" for n in DATA.label_names])
    pd.concat([frame, labels], axis=1).to_csv("square.csv", index=False)
    return tmp_path


def test_limo_aimed_at_a_measure(folder):
    found = run(
        "fit", "square.csv", "--labels", "tag_*", "--quick", "-m", "macro_auc", "-o", "m.skops",
        "--method", "limo-cv",
    )  # fmt: skip
    assert found.exit_code == 0, found.output
    assert "macro-AUC 0." in found.stdout
    assert "limo predict m.skops" in found.stdout
    saved = limo.load_model("m.skops")
    assert saved.label_names == ("tag_A", "tag_B", "tag_C", "tag_D")
    assert saved.feature_names == DATA.feature_names
    assert (saved.measure, saved.method) == ("macro_auc", "limo-cv")
    assert limo.macro_auc(DATA.Y, limo.scores_of(saved.model, DATA.X)) > 0.8
    assert names_in(folder) == {"square.npz", "square.csv", "m.skops"}


def test_reading_and_writing_are_part_of_the_time():
    assert command._without_rest({"time_budget": 60.0}, 10.0) == {"time_budget": 47.5}
    assert 0 < command._without_rest({"time_budget": 60.0}, 70.0)["time_budget"] < 1
    for without in ({"time_budget": None}, {"k": 3}, {"time_budget": -1}):
        assert command._without_rest(without, 10.0) == without


def test_models_without_time_are_named_together():
    lines = [
        {"model": "a", "note": "out of time: it was not tried"},
        {"model": "b", "value": {}},
        {"model": "c", "note": "failed: ValueError: no"},
        {"model": "d", "note": "out of time: it needed about 9 s more, and 1 s were left"},
    ]
    assert list(command._left_out(lines)) == [
        "No time was left for a; d. --time none tries everything.", "c: failed: ValueError: no.",
    ]  # fmt: skip


def test_many_models_without_time_are_counted():
    lines = [{"model": name, "note": "out of time: it was not tried"} for name in "abcdefg"]
    assert list(command._left_out(lines)) == [
        "No time was left for a; b; c; d; e and 2 other models. --time none tries everything."
    ]


def test_a_single_model_is_not_the_best_of_one(capsys):
    line = {"model": "logistic", "family": "linear", "value": {"macro_f1": 0.5}}
    found = {"weights": {"logistic": 1.0}, "threshold": None, "tried": [line]}
    command._say_ensemble(found, "macro_f1")
    assert capsys.readouterr().out.split() == ["The", "ensemble:", "logistic", "100%."]


def test_a_slower_library_is_mentioned(capsys, monkeypatch):
    line = {"model": "boosting, 50 rounds", "family": "boosting", "value": {"macro_f1": 0.5}}
    found = {"weights": {"boosting, 50 rounds": 1.0}, "threshold": "expected F1", "tried": [line]}
    for there in (True, False):
        monkeypatch.setattr(command, "importable", lambda name, there=there: there)
        command._say_ensemble(found, "macro_f1")
        printed = " ".join(capsys.readouterr().out.split())
        assert ("pip install 'limo-ml[boosting]'" in printed) != there
        assert "Threshold: one per label, of the highest expected F1." in printed


@pytest.mark.slow
def test_the_best_model_for_a_measure(folder):
    """Fitted, saved and used through the command line alone; the second fit resumes the first."""
    call = ("fit", "square.npz", "-m", "micro_f1", "--time", "none", "--cache", "scores")
    found = run(*call, "--set", "families=['linear', 'trees']", "-o", "m.skops")
    assert found.exit_code == 0, found.output
    for words in ("micro-F1 0.", "extra trees", "single models", "Threshold: ", "limo predict"):
        assert words in found.stdout
    kept = names_in(folder / "scores")
    again = printed_json(
        run(*call, "--set", "families=['linear', 'trees']", "-o", "n.skops", "--json")
    )
    assert names_in(folder / "scores") == kept
    assert sum(again["weights"].values()) == pytest.approx(1)
    assert run("predict", "m.skops", "square.npz", "-o", "p.npz").exit_code == 0
    saved = limo.load_model("m.skops")
    assert saved.method == "aimed"
    assert (saved.model.estimator_.callback, saved.model.estimator_.cache) == (None, None)
    with np.load("p.npz") as predicted:
        assert limo.micro_f1(DATA.Y, predicted["labels"]) > 0.8


def test_the_search_is_reported(folder):
    found = printed_json(
        run(
            "fit",
            "square.npz",
            "--method",
            "limo-cv",
            "--set",
            "terms=['rows mean']",
            "--alpha",
            "0.1",
            "-o",
            "m.skops",
            "--json",
        )
    )
    assert found["chosen"] == {"terms": "rows mean", "alpha": 0.1, "averaged": 1}
    search = limo.load_model("m.skops").model.estimator_[-1]
    assert search.callback is None
    assert found["cross_validated"]["mean"] == search.cv_results_["mean_macro_f1"].max()


def test_another_method_with_a_setting(folder):
    found = run("fit", "square.npz", "--method", "mlknn", "--set", "k=3", "-o", "m.skops")
    assert found.exit_code == 0, found.output
    assert limo.load_model("m.skops").model.estimator_[-1].k == 3
    assert (
        run("fit", "square.npz", "--method", "limo", "--alpha", "0.5", "-o", "n.skops").exit_code
        == 0
    )
    assert limo.load_model("n.skops").model.estimator_[-1].alpha == 0.5


def test_methods_offered_are_those_there_are():
    assert set(METHODS) == {name for name in limo.experiment.METHODS if ":" not in name}
    for name, settings in command._QUICK.items():
        method = limo.experiment.METHODS[name]
        assert set(settings) <= set(method.estimator.get_params())


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("no.csv", "-o", "m.skops"), 2, ("There is no file no.csv",)),
        (("square.csv", "-o", "m.skops"), 1, ("which columns are the labels?",)),
        (("bad.npz", "-o", "m.skops"), 1, ("bad.npz: X and Y must have the same rows",)),
        (("noise.csv", "--labels", "1", "-o", "m.skops"), 1, ("line 1: expected text, got a zero byte",)),
        (("square.npz", "-m", "macrof1", "-o", "m.skops"), 2, ("Did you mean 'macro_f1'?",)),
        (("square.npz", "--method", "svm", "-o", "m.skops"), 2, ("No method is called 'svm'",)),
        (("square.npz", "--method", "br", "--quick", "-o", "m.skops"), 2, ("--quick shortens",)),
        (("square.npz", "--method", "br", "--alpha", "1", "-o", "m.skops"), 2, ("has none",)),
        (("square.npz", "--method", "mlknn", "--set", "k", "-o", "m.skops"), 2, ("NAME=VALUE",)),
        (("square.npz", "--method", "mlknn", "--set", "kk=3", "-o", "m.skops"), 2, ("kk",)),
        (("square.npz", "--method", "mlknn", "--set", "k=-3", "-o", "m.skops"), 1, ("k",)),
        (("square.npz", "-o", "square.csv"), 2, ("square.csv exists", "--force")),
        (("square.npz", "-o", "no/m.skops"), 2, ("folder no does not exist",)),
        (("square.npz", "--time", "5", "-o", "m.skops"), 2, ("90s, 5m or 2h, or none; got 5",)),
        (("square.npz", "--time", "-1s", "-o", "m.skops"), 2, ("90s, 5m or 2h",)),
        (("square.npz", "--method", "br", "--time", "1m", "-o", "m.skops"), 2, ("has neither",)),
        (("square.npz", "--method", "br", "--cache", "c", "-o", "m.skops"), 2, ("has neither",)),
        (("square.npz",), 2, ("--output",)),
    ],
)  # fmt: skip
def test_wrong_input_is_a_sentence(folder, arguments, code, words):
    np.savez("bad.npz", X=np.ones((3, 2)), Y=np.ones((2, 2)))
    (folder / "noise.csv").write_bytes(b"\x00\xff,\n")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    refused(run("fit", *arguments), code, *words)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.slow
def test_as_a_process(folder):
    good = process(
        "fit", "square.npz", "--method", "mlknn", "-o", "m.skops", "--json", folder=folder
    )
    assert json.loads(good.stdout)["method"] == "mlknn"
    assert good.stderr == ""
    np.savez(folder / "bad.npz", X=np.ones((3, 2)), Y=np.ones((2, 2)))
    before = names_in(folder)
    for words, code in (
        (("no.csv", "-o", "n.skops"), 2),
        (("bad.npz", "-o", "n.skops"), 1),
        (("m.skops", "-o", "n.skops"), 1),
    ):
        bad = process("fit", *words, folder=folder)
        assert (bad.returncode, bad.stdout) == (code, "")
        assert "Traceback" not in bad.stderr
    assert names_in(folder) == before


@pytest.mark.parametrize(
    ("text", "value"), [("20", 20), ("[1,2]", [1, 2]), ("None", None), ("hinge", "hinge")]
)
def test_values_of_settings(text, value):
    assert command._value(text) == value


def test_a_known_set(folder):
    assert run("fit", "figure1", "--method", "mlknn", "-o", "m.skops").exit_code == 0
    assert limo.load_model("m.skops").data == "figure1"
