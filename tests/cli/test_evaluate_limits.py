"""Limits for CI, ids and tags of ``limo evaluate``."""

import json

import numpy as np
import pandas as pd
import pytest

import limo
from cli.running import NAMES, S, Y, printed_json, process, refused, run, write_matrices
from limo._cli.evaluate import Limit, parse_limits

GIVEN = ("evaluate", "-y", "Y.csv", "-s", "S.csv", "-p", "P.csv")
IDS = ["007", "x", "a b", "12"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    write_matrices(tmp_path)
    monkeypatch.chdir(tmp_path)
    for name, matrix, order in (("Y", Y, [0, 1, 2, 3]), ("S", S, [2, 0, 3, 1])):
        frame = pd.DataFrame(matrix, columns=NAMES).assign(song=IDS).iloc[order]
        frame.to_csv(f"{name}_id.csv", index=False)
    tags = [";".join(n for n, one in zip(NAMES, row, strict=True) if one) for row in Y]
    pd.DataFrame({"song": IDS, "genres": tags, "year": 2000}).to_csv("tags.csv", index=False)
    return tmp_path


def test_limits_decide_the_exit_code(folder):
    value = limo.macro_f1(Y, S > 0.45)
    assert run(*GIVEN, "--fail-under", f"macro_f1={value - 1e-6}").exit_code == 0
    failed = run(*GIVEN, "--fail-under", f"macro-F1={value + 1e-6}")
    assert failed.exit_code == 3
    assert f"Limit: macro-F1 of S is {value:.4f}, below " in failed.stderr
    assert "4 instances x 3 labels" in failed.stdout
    failed = run(*GIVEN, "--json", "--fail-over", "hamming_loss=0", "--fail-under", "macro_f1=0")
    assert failed.exit_code == 3
    assert json.loads(failed.stdout)["models"]
    assert "Hamming loss of S is 0.4167, above 0." in failed.stderr


def test_a_measure_with_a_limit_is_computed(folder):
    found = printed_json(run(*GIVEN, "--fail-under", "precision_at_2=0.1", "--json"))
    assert "precision_at_2" in found["models"][0]["measures"]
    assert "macro_f1" in found["models"][0]["measures"]


def test_an_undefined_value_keeps_no_limit():
    assert Limit("macro_f1", 0.5).broken_by(None)
    assert Limit("macro_f1", 0.5).broken_by(float("nan"))
    assert not Limit("macro_f1", 0.5).broken_by(0.5)
    assert not Limit("hamming_loss", 0.5).broken_by(0.5)
    assert parse_limits(["f1_macro=.5"], []) == [Limit("macro_f1", 0.5)]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--fail-under", "hamming_loss=0.1"), ("is better when low", "--fail-over hamming_loss=0.1")),
        (("--fail-over", "macro_f1=0.1"), ("is better when high", "--fail-under macro_f1=0.1")),
        (("--fail-under", "makro_f1=0.1"), ("such as macro_f1=0.6", "Did you mean 'macro_f1'?")),
        (("--fail-under", "macro_f1"), ("takes MEASURE=VALUE", "got macro_f1")),
        (("--fail-under", "macro_f1=much"), ("takes MEASURE=VALUE", "got macro_f1=much")),
    ],
)  # fmt: skip
def test_wrong_limits_are_wrong_use(folder, arguments, words):
    refused(run(*GIVEN, *arguments), 2, *words)


def test_a_limit_needs_its_file(folder):
    refused(
        run("evaluate", "-y", "Y.csv", "-s", "S.csv", "--fail-under", "macro_f1=0.5"),
        2,
        "macro_f1 of S needs --predictions FILE",
    )


# Ids and tags


@pytest.mark.parametrize("truth", [("-y", "Y_id.csv"), ("-y", "tags.csv", "--tags", "genres")])
def test_rows_are_matched_by_id(folder, truth):
    found = run("evaluate", *truth, "-s", "S_id.csv", "--id", "song", "--json")
    assert "S_id.csv: rows are matched with those of" in found.stderr
    values = json.loads(found.stdout)["models"][0]["measures"]
    assert {n: one["value"] for n, one in values.items()} == dict(limo.evaluate(Y, S))


def test_predictions_may_be_tags(folder):
    both = ("-y", "tags.csv", "-p", "tags.csv", "--tags", "genres", "--id", "song")
    found = printed_json(run("evaluate", *both, "--json"))
    assert found["models"][0]["measures"]["macro_f1"]["value"] == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("-y", "Y_id.csv", "-s", "S_id.csv"), ("got 'a b'. If it names the rows: --drop song, or --id song to match files by it",)),
        (("-y", "Y_id.csv", "-s", "S_id.csv", "--drop", "song"), ("in another order", "--id song")),
        (("-y", "tags.csv", "-s", "S.csv"), ("--tags genres",)),
        (("-y", "numbers.csv", "-s", "S.csv"), ("so it names the rows, not a label", "--id id")),
        (("-y", "Y.csv", "-s", "comma.csv"), ("a decimal comma: '0,9'. Write 0.9",)),
        (("-y", "Y.txt", "-s", "S.csv"), ("Give the file the suffix of its format",)),
        (("-y", "Y_id.csv", "-s", "S.csv", "--id", "song"), ("no column is named 'song'",)),
    ],
)  # fmt: skip
def test_errors_name_the_cause_and_options_that_exist(folder, arguments, words):
    pd.DataFrame(Y, columns=NAMES).assign(id=[7, 8, 9, 10]).to_csv("numbers.csv", index=False)
    pd.DataFrame(S, columns=NAMES).to_csv("comma.csv", index=False, sep=";", decimal=",")
    (folder / "Y.txt").write_text("what is this\n")
    if arguments[1] == "tags.csv":
        frame = pd.read_csv("tags.csv")[["genres"]]
        frame.to_csv("tags.csv", index=False)
    found = run("evaluate", *arguments)
    refused(found, 1, *words)
    assert "limits=" not in found.stderr
    assert "nominal=" not in found.stderr


@pytest.mark.slow
def test_as_processes(folder):
    given = ("evaluate", "-y", "tags.csv", "--tags", "genres", "-s", "S_id.csv", "--id", "song")
    good = process(*given, "--json", "--fail-under", "macro_auc=0.1", folder=folder)
    assert good.returncode == 0, good.stderr
    bad = process(*given, "--json", "--fail-under", "macro_auc=0.9999", folder=folder)
    assert bad.returncode == 3
    assert json.loads(bad.stdout)["models"] == json.loads(good.stdout)["models"]
    assert process(*given, "--fail-over", "macro_auc=0.1", folder=folder).returncode == 2
    assert np.isfinite(json.loads(good.stdout)["models"][0]["measures"]["macro_auc"]["value"])
