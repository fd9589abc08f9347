import json

import numpy as np
import pandas as pd
import pytest

import limo
from limo.report import evaluation_document


def test_a_document_is_plain_json(case):
    Y, S, P = case
    document = evaluation_document(Y, {"a": S, "b": -S}, {"a": P})
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    assert document["format"] == "limo-report/2"
    assert [m["name"] for m in document["measures"]] == list(limo.MEASURES)
    assert document["title"] == "2 models compared"
    assert evaluation_document(Y, {"a": S})["title"] == "How good is a?"


def test_models_are_ranked(case):
    Y, S, P = case
    document = evaluation_document(Y, {"good": Y + 0.01 * S, "bad": -S}, {"labels only": P})
    good, bad, labels = document["models"]
    assert good["measures"]["ranking_loss"]["rank"] == 1
    assert good["measures"]["ranking_loss"]["first"]
    assert bad["measures"]["ranking_loss"]["rank"] == 2
    assert not bad["measures"]["ranking_loss"]["first"]
    assert good["mean_rank"] is None  # no measure has a value for all three
    assert not any(line["first"] for line in labels["measures"].values())
    assert document["verdict"][0].startswith("good is best, or within noise of the best, on all 7")


def test_equal_models_share_ranks(case):
    Y, S, _ = case
    document = evaluation_document(Y, {"a": S, "b": S})
    lines = [m["measures"]["macro_auc"] for m in document["models"]]
    assert [line["rank"] for line in lines] == [1.5, 1.5]
    assert all(line["first"] for line in lines)


def test_a_single_model_is_not_called_first(case):
    Y, S, P = case
    (model,) = evaluation_document(Y, {"a": S}, {"a": P})["models"]
    assert not any(line["first"] for line in model["measures"].values())


def test_names_come_from_anywhere(case):
    Y, S, _ = case
    frame = pd.DataFrame(Y, columns=list("abcdef"))
    assert evaluation_document(frame, {"m": S})["labels"]["names"] == list("abcdef")
    named = evaluation_document(Y, {"m": S, "n": S}, label_names=iter("uvwxyz"))
    assert named["labels"]["names"] == list("uvwxyz")


def test_provenance_is_kept_or_made(case):
    Y, S, P = case
    assert evaluation_document(Y, {"m": S}, provenance={"command": "x", "n": np.int64(3)})[
        "provenance"
    ] == {
        "command": "x",
        "n": 3,
    }
    made = evaluation_document(Y, {"m": S}, {"m": P})["provenance"]
    assert len(made["sha256"]["scores"]["m"]) == len(made["sha256"]["truth"]) == 64
    assert "predictions" not in evaluation_document(Y, {"m": S})["provenance"]["sha256"]
    assert "numpy" in made["versions"]


def test_something_must_be_judged(case):
    with pytest.raises(ValueError, match="Give scores or predictions of at least one model"):
        evaluation_document(case[0])


def test_undefined_measures_are_null():
    document = evaluation_document([[0, 0], [0, 0]], {"m": [[0.1, 0.2], [0.3, 0.4]]})
    json.dumps(document, allow_nan=False)
    line = document["models"][0]["measures"]["macro_auc"]
    assert line["value"] is None
    assert line["rank"] is None
    assert document["models"][0]["mean_rank"] is None
