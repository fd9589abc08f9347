import pytest

import limo
from cli.running import names_in, printed_json, process, refused, run

MODELS = ["LIMO", "LIMO-label", "LIMO-inst", "one-vs-rest"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def quick(monkeypatch):
    """Neighbours in the place of what has to be solved."""
    models = {name: limo.MLKNNClassifier(k) for k, name in enumerate(MODELS, start=3)}
    monkeypatch.setattr("limo._cli.demo._models", lambda: models)


def test_four_models_side_by_side_and_a_report(folder):
    found = run("demo", "--instances", "80")
    assert found.exit_code == 0, found.output
    head = next(line for line in found.stdout.splitlines() if line.strip().startswith("measure"))
    assert sorted(head.split()) == sorted(["measure", "better", *MODELS])
    for measure in limo.MEASURES.values():
        assert measure.title in found.stdout
    for part in ("Part 1. Which labels", "Part 2. Which margin", "Part 3. The same scores"):
        assert part in found.stdout
    assert f"The report is in {folder / 'limo-demo.html'}" in found.stdout
    assert "LIMO-inst" in (folder / "limo-demo.html").read_text()


def test_nothing_of_the_users_is_overwritten(folder, quick):
    (folder / "limo-demo.html").write_text("mine")
    assert "limo-demo-2.html" in run("demo", "--instances", "40").stdout
    assert (folder / "limo-demo.html").read_text() == "mine"
    refused(run("demo", "--report", "limo-demo.html"), 2, "limo-demo.html exists", "--force")
    refused(run("demo", "--report", "no/page.html"), 2, "folder no does not exist")
    run("demo", "--instances", "40", "--report", "limo-demo.html", "--force")
    assert "LIMO" in (folder / "limo-demo.html").read_text()
    assert names_in(folder) == {"limo-demo.html", "limo-demo-2.html"}


def test_the_same_seed_gives_the_same_numbers(folder, quick):
    first, again, other = (
        printed_json(run("demo", "--instances", "60", "--no-report", "--json", "--seed", seed))
        for seed in (1, 1, 2)
    )
    assert {m["name"] for m in first["models"]} == set(MODELS)
    assert first["models"] == again["models"]
    assert first["models"] != other["models"]
    assert names_in(folder) == set()


def test_wrong_options(folder):
    refused(run("demo", "--instances", "3"), 2, "--instances")
    refused(run("demo", "--conventions", "papr"), 2, "Did you mean 'paper'?")


@pytest.mark.slow
def test_as_a_process(folder):
    found = process("demo", folder=folder)
    assert found.returncode == 0, found.stderr
    assert found.stderr == ""
    assert names_in(folder) == {"limo-demo.html"}
    for words in (("--seed", "-1"), ("--report", "."), ("--report", "no/x.html")):
        bad = process("demo", *words, folder=folder)
        assert (bad.returncode, bad.stdout) == (2, "")
        assert "Traceback" not in bad.stderr
    assert names_in(folder) == {"limo-demo.html"}


@pytest.mark.slow
def test_the_story_it_tells():
    """What the paper says of the margins, on data drawn by its own recipe."""
    document = printed_json(run("demo", "--no-report", "--json"))
    values = {
        m["name"]: {n: r["value"] for n, r in m["measures"].items()} for m in document["models"]
    }
    first, third = document["tables"]
    auc = {row[0]: row[-1] for row in first["rows"]}
    assert abs(auc["C"] - 0.5) < 0.05 < 0.9 < min(auc[name] for name in "ABD")
    one, _, on_scores, on_features = (row[1:] for row in third["rows"])
    for place in range(2):  # LIMO and one-vs-rest
        assert one[place] < on_scores[place] < on_features[place]
        assert on_features[place] > 0.92
    label, inst = values["LIMO-label"], values["LIMO-inst"]
    assert label["ranking_loss"] < inst["ranking_loss"]
    assert label["average_precision"] > inst["average_precision"]
    assert label["macro_auc"] < inst["macro_auc"]
    assert label["macro_f1"] < inst["macro_f1"]
