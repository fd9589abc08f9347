"""Folders and patterns of files, and sparse scores, on the command line."""

import numpy as np
import pytest
from scipy import sparse

import limo
from cli.running import S, Y, printed_json, process, refused, run
from limo._cli.files import is_divided, pair


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name, values in (("Y", Y), ("out", S)):
        (tmp_path / name).mkdir()
        for k in range(2):
            np.save(tmp_path / name / f"{k}.npy", values[2 * k : 2 * k + 2])
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
def test_patterns_and_folders_give_the_measures_of_all_rows(folder):
    expected = dict(limo.evaluate(Y, S))
    for given in (("Y/*.npy", "out/*.npy"), ("Y", "out")):
        document = printed_json(run("evaluate", "-y", given[0], "-s", given[1], "--json"))
        model = document["models"][0]
        assert model["name"] == "out"
        assert {n: r["value"] for n, r in model["measures"].items()} == expected
    found = process("evaluate", "-y", "Y", "-s", "a=out", "-s", "b=out", folder=folder)
    assert found.returncode == 0, found.stderr
    assert "a: 4 instances x 3 labels" in found.stdout
    assert "label-wise" in found.stdout
    limited = run("evaluate", "-y", "Y", "-s", "out", "--fail-under", "macro_auc=0.99")
    assert limited.exit_code == 3
    assert "Limit: macro-AUC of out" in limited.stderr


def test_wrong_use(folder):
    refused(run("evaluate", "-y", "Y", "-s", "none/*.npy"), 1, "no file matches none/*.npy")
    refused(run("evaluate", "-y", "Y", "-s", "out", "--memory", "1MB"), 1, "This program alone")
    refused(run("evaluate", "-y", "Y", "-s", "out", "--memory", "lots"), 1, "such as 2GB")
    given = "evaluate", "-y", "Y", "-s", "out"
    for more in (("--report", "r.html"), ("--intervals", "0.9"), ("--id", "song")):
        refused(run(*given, *more), 2, f"{more[0]} needs all rows at once")
    known = run("evaluate", "-y", "emotions", "-s", "out", "--memory", "1GB")
    refused(known, 2, "emotions is a known data set")


def test_sparse_scores_stay_sparse(folder):
    kept = sparse.csr_array(np.where(S > 0.35, S, 0))
    sparse.save_npz("s.npz", kept)
    np.save("Y.npy", Y)
    found = printed_json(run("evaluate", "-y", "Y.npy", "-s", "s.npz", "--json"))["models"][0]
    expected = limo.evaluate(Y, kept)
    assert {n: r["value"] for n, r in found["measures"].items()} == dict(expected)
    assert found["n_absent"] == expected.n_absent > 0
    assert "the best and the worst order" in run("evaluate", "-y", "Y.npy", "-s", "s.npz").stdout
    refused(
        run("evaluate", "-y", "Y.npy", "-s", "s.npz", "--report", "r.html"),
        2,
        "--report needs a score for every label",
    )
    cut = run("cut", "fit", "-y", "Y.npy", "-s", "s.npz", "--rule", "global", "-o", "rule.json")
    assert cut.exit_code == 0, cut.output
    cut = run("cut", "apply", "rule.json", "s.npz", "-o", "labels.npz")
    assert cut.exit_code == 0, cut.output
    labels = limo.datasets.read_matrix("labels.npz", "predictions").values
    rule = limo.thresholds.rule_from_json(folder / "rule.json")
    expected = rule.predict(kept)
    np.testing.assert_array_equal(
        *(one.toarray() if sparse.issparse(one) else one for one in (labels, expected))
    )


def test_names_of_models_without_one():
    found = pair(["out/*.npy", "second/part-*.npy", "third"], [])
    assert list(found) == ["out", "part", "third"]
    assert is_divided("Y-*.npy", {})
    assert not is_divided("Y.npy", {})
