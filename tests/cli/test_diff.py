import json

import numpy as np
import pytest

import limo
from cli.running import printed_json, process, refused, run

RNG = np.random.default_rng(0)
Y = (RNG.random((300, 4)) < 0.3).astype(int)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, noise, intervals in (("good", 0.4, 0.95), ("bad", 1.2, 0.95), ("bare", 1.2, 0)):
        S = Y + noise * RNG.normal(size=Y.shape)
        made = limo.report.evaluation_document(Y, {"m": S}, {"m": S > 0.5}, intervals=intervals)
        (tmp_path / f"{name}.json").write_text(json.dumps(made))
    return tmp_path


def test_what_changed(folder):
    found = run("diff", "bad.json", "good.json").stdout
    line = next(line for line in found.splitlines() if "macro-F1" in line)
    assert line.split()[-1] == "better"
    assert "better: " in found
    document = printed_json(run("diff", "bad.json", "good.json", "--json"))
    expected = limo.report.changes(*(json.loads((folder / f"{n}.json").read_text()) for n in ("bad", "good")))  # fmt: skip
    assert document == json.loads(json.dumps(expected))
    assert "a change may be noise" in run("diff", "bare.json", "good.json").stdout


def test_it_says_whether_instances_are_paired(folder):
    assert "Not paired: " in run("diff", "bad.json", "good.json").stdout
    np.save("Y.npy", Y)
    np.save("S.npy", Y + 0.5 * RNG.normal(size=Y.shape))
    found = run("evaluate", "-y", "Y.npy", "-s", "S.npy", "--keep-instances", "--json")
    assert len(printed_json(found)["models"][0]["influence"]["macro_auc"]) == 300
    (folder / "new.json").write_text(found.stdout)
    assert "Compared instance by instance." in run("diff", "new.json", "new.json").stdout
    np.save("Z.npy", 1 - Y)
    found = run("evaluate", "-y", "Z.npy", "-s", "S.npy", "--keep-instances", "--json")
    (folder / "other.json").write_text(found.stdout)
    assert "judge different instances" in run("diff", "new.json", "other.json").stdout
    refused(run("evaluate", "-y", "Y.npy", "-s", "S.npy", "--keep-instances"), 2, "add --json")


def test_exit_codes(folder):
    assert run("diff", "good.json", "bad.json").exit_code == 0
    failed = run("diff", "good.json", "bad.json", "--fail-if-worse")
    assert failed.exit_code == 3
    assert "Limit: worse beyond noise: " in failed.stderr
    assert run("diff", "bad.json", "good.json", "--fail-if-worse").exit_code == 0


def test_wrong_input_is_a_sentence(folder):
    (folder / "text.json").write_text("no")
    (folder / "list.json").write_text("[]")
    refused(run("diff", "no.json", "good.json"), 2, "There is no file no.json")
    refused(
        run("diff", "text.json", "good.json"), 1, "text.json is not the JSON that limo evaluate"
    )
    refused(run("diff", "list.json", "good.json"), 1, "Expected the document of an evaluation")


@pytest.mark.slow
def test_as_a_process(folder):
    found = process("diff", "good.json", "bad.json", "--fail-if-worse", "--json", folder=folder)
    assert found.returncode == 3
    assert json.loads(found.stdout)["same_truth"] is True
