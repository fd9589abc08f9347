import json

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import limo
from cli.running import names_in, printed_json, process, refused, run
from limo.datasets import read_matrix

DATA = limo.datasets.figure1(60)
FEATURES, LABELS = list(DATA.feature_names), list(DATA.label_names)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = limo.MLKNNClassifier().fit(DATA.X, DATA.Y)
    names = {"label_names": LABELS, "feature_names": FEATURES}
    limo.save_model(model, "m.skops", **names)
    limo.save_model(limo.MLKNNClassifier().fit(DATA.X, sparse.csr_array(DATA.Y)), "sparse.skops")
    pd.DataFrame(DATA.X, columns=FEATURES).to_csv("new.csv", index=False)
    return tmp_path


@pytest.fixture
def model():
    return limo.MLKNNClassifier().fit(DATA.X, DATA.Y)


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "npz"])
def test_scores_and_labels(folder, model, suffix):
    to = f"p.{suffix}"
    assert "60 instances x 4 labels" in run("predict", "m.skops", "new.csv", "-o", to).stdout
    scores, labels = read_matrix(to, "scores"), read_matrix(to, "predictions")
    assert np.array_equal(scores.values, limo.scores_of(model, DATA.X))
    assert np.array_equal(labels.values, model.predict(DATA.X))
    assert scores.label_names == labels.label_names == DATA.label_names


@pytest.mark.parametrize("what", ["scores", "labels"])
def test_one_of_the_two(folder, model, what):
    found = printed_json(
        run("predict", "m.skops", "new.csv", "-o", "p.csv", "--what", what, "--json")
    )
    assert found == {"file": "p.csv", "what": what, "instances": 60, "labels": 4}
    frame = pd.read_csv("p.csv")
    assert list(frame.columns) == LABELS
    expected = model.predict_proba(DATA.X) if what == "scores" else model.predict(DATA.X)
    assert np.array_equal(frame.to_numpy(), expected)


def test_features_go_by_name(folder):
    frame = pd.DataFrame(DATA.X, columns=FEATURES)[FEATURES[::-1]]
    frame.assign(id="r", **dict.fromkeys(LABELS, 0)).to_csv("turned.csv")
    run("predict", "m.skops", "new.csv", "-o", "p.csv")
    run("predict", "m.skops", "turned.csv", "-o", "q.csv", "--drop", "id")
    assert (folder / "p.csv").read_text() == (folder / "q.csv").read_text()


def test_a_wrong_name_of_the_ids_is_said_first(folder):
    refused(
        run("predict", "m.skops", "new.csv", "--id", "nope", "-o", "p.csv"),
        1,
        "no column is named 'nope'",
    )


def test_a_model_without_names_and_a_known_set(folder):
    assert run("predict", "sparse.skops", "figure1", "-o", "p.csv").exit_code == 0
    assert list(pd.read_csv("p.csv").columns)[:2] == ["label:y0", "label:y1"]
    assert run("predict", "m.skops", "figure1", "-o", "q.npz").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("no.skops", "new.csv", "-o", "p.csv"), 2, ("There is no file no.skops",)),
        (("m.skops", "no.csv", "-o", "p.csv"), 2, ("There is no file no.csv",)),
        (("new.csv", "new.csv", "-o", "p.csv"), 1, ("new.csv is not a model file",)),
        (("m.skops", "m.skops", "-o", "p.csv"), 1, ("m.skops",)),
        (("m.skops", "narrow.csv", "-o", "p.csv"), 1, ("expected the 2 features", "Absent")),
        (("m.skops", "wide.csv", "-o", "p.csv"), 1, ("Unknown to the model: 'more'", "--drop")),
        (("m.skops", "text.csv", "-o", "p.csv"), 1, ("text.csv",)),
        (("m.skops", "new.csv", "-o", "p.xls"), 2, ("ends in .csv, .tsv",)),
        (("m.skops", "new.csv", "-o", "p.npy"), 2, ("p.npy can hold one matrix",)),
        (("m.skops", "new.csv", "-o", "new.csv"), 2, ("new.csv exists", "--force")),
        (("m.skops", "new.csv", "-o", "no/p.csv"), 2, ("folder no does not exist",)),
        (("m.skops", "new.csv"), 2, ("--output",)),
    ],
)
def test_wrong_input_is_a_sentence(folder, arguments, code, words):
    frame = pd.DataFrame(DATA.X, columns=FEATURES)
    frame[FEATURES[:1]].to_csv("narrow.csv", index=False)
    frame.assign(more=1).to_csv("wide.csv", index=False)
    (folder / "text.csv").write_text(f"{FEATURES[0]},{FEATURES[1]}\n1,x\n2,y\n")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    refused(run("predict", *arguments), code, *words)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.slow
def test_as_a_process(folder):
    good = process("predict", "m.skops", "new.csv", "-o", "p.csv", "--json", folder=folder)
    assert json.loads(good.stdout)["instances"] == 60
    assert good.stderr == ""
    before = names_in(folder)
    for words, code in (
        (("no.skops", "new.csv", "-o", "q.csv"), 2),
        (("m.skops", "p.csv", "-o", "q.csv"), 1),
        (("new.csv", "new.csv", "-o", "q.csv"), 1),
    ):
        bad = process("predict", *words, folder=folder)
        assert (bad.returncode, bad.stdout) == (code, "")
        assert bad.stderr.startswith("Error: ") or ": " in bad.stderr
        assert "Traceback" not in bad.stderr
    assert names_in(folder) == before
