import json

import numpy as np
import pytest

import limo
from cli.running import names_in, printed_json, process, refused, run

CSV = "id,length,tag_a,tag_b\nr1,3,1,0\nr2,4,0,1\nr3,5,1,1\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "songs.csv").write_text(CSV)
    return tmp_path


def test_list(folder, monkeypatch):
    monkeypatch.setenv("LIMO_DATA", str(folder))
    monkeypatch.setattr("limo.datasets._catalogue.data_folders", lambda: [folder])
    text = run("datasets").stdout
    assert text == run("datasets", "list").stdout
    line = next(line for line in text.splitlines() if "enron" in line)
    assert line.split()[-3:] == ["train", "test", "no"]
    found = printed_json(run("datasets", "list", "--json"))
    assert {one["name"] for one in found} == set(limo.datasets.CATALOGUE)
    assert not any(one["at_hand"] for one in found)


def test_describe(folder):
    options = ("--labels", "tag_*", "--drop", "id")
    assert "cardinality" in run("datasets", "describe", "songs.csv", *options).stdout
    found = printed_json(run("datasets", "describe", "songs.csv", "songs.csv", *options, "--json"))
    assert (found["n_samples"], found["n_labels"], found["n_shared"]) == (3, 2, 3)


@pytest.mark.parametrize("name", ["songs.arff", "songs.svm", "songs.npz", "songs.arff.gz"])
def test_convert(folder, name):
    words = ("datasets", "convert", "songs.csv", name, "--labels", "tag_*", "--drop", "id")
    found = printed_json(run(*words, "--json"))
    assert set(found["files"]) == names_in(folder) - {"songs.csv"}
    again = limo.read(name)
    assert again.label_names == ("tag_a", "tag_b")
    assert np.array_equal(again.to_dense().Y, [[1, 0], [0, 1], [1, 1]])
    refused(run(*words), 2, "exists", "--force")
    assert "Wrote" in run(*words, "--force").stdout


def test_what_lies_beside_is_not_overwritten_either(folder):
    (folder / "songs.xml").write_text("mine")
    words = ("datasets", "convert", "songs.csv", "songs.arff", "--labels", "2", "--drop", "id")
    refused(run(*words), 2, "songs.xml exists")
    assert (folder / "songs.xml").read_text() == "mine"
    assert not (folder / "songs.arff").exists()


def test_fetch(folder, monkeypatch):
    def load(name, part, progress):
        return limo.datasets.figure1(5)

    monkeypatch.setattr(limo.datasets, "load", load)
    assert "enron: 5 instances, verified." in run("datasets", "fetch", "enron").stdout
    assert printed_json(run("datasets", "fetch", "enron", "--json"))[0]["name"] == "enron"


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("describe", "no.csv"), 2, ("There is no file no.csv",)),
        (("describe", "songs.csv"), 1, ("which columns are the labels?",)),
        (("describe", "bad.csv", "--labels", "1"), 1, ("line 2: expected 2 values",)),
        (("describe", "noise", "--labels", "1"), 1, ("format is not recognised",)),
        (("describe", "enron", "--labels", "1"), 2, ("--labels is for files",)),
        (("fetch", "enrn"), 2, ("No data set is called enrn",)),
        (("fetch",), 2, ("NAME",)),
        (("convert", "songs.csv", "songs.xls"), 2, ("must end in .arff",)),
        (("convert", "no.csv", "a.arff"), 2, ("There is no file no.csv",)),
        (("convert", "bad.csv", "a.arff", "--labels", "1"), 1, ("line 2",)),
        (("convert", "songs.csv", "no/a.arff"), 2, ("folder no does not exist",)),
    ],
)
def test_wrong_input_is_a_sentence(folder, arguments, code, words):
    (folder / "bad.csv").write_text("x,y\n1\n")
    (folder / "noise").write_bytes(b"\x00\x01")
    before = names_in(folder)
    refused(run("datasets", *arguments), code, *words)
    assert names_in(folder) == before


@pytest.mark.slow
def test_as_a_process(folder):
    good = process(
        "datasets",
        "describe",
        "songs.csv",
        "--labels",
        "2",
        "--drop",
        "id",
        "--json",
        folder=folder,
    )
    assert json.loads(good.stdout)["n_samples"] == 3
    assert good.stderr == ""
    (folder / "bad.csv").write_text("x,y\n1\n")
    for words, code in (
        (("convert", "no.csv", "a.arff"), 2),
        (("convert", "bad.csv", "a.arff", "--labels", "1"), 1),
        (("convert", "songs.csv", "a.xls"), 2),
    ):
        bad = process("datasets", *words, folder=folder)
        assert (bad.returncode, bad.stdout) == (code, "")
        assert bad.stderr.startswith("Error: ")
    assert names_in(folder) == {"songs.csv", "bad.csv"}
