import json

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import limo
from cli.running import NAMES, S, Y, names_in, printed_json, process, refused, run, write_matrices
from limo._cli.command import WrongUse
from limo._cli.files import pair


@pytest.fixture
def folder(tmp_path, monkeypatch):
    write_matrices(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_one_model(folder):
    found = run("evaluate", "--truth", "Y.csv", "--scores", "S.csv", "--predictions", "P.csv")
    assert found.exit_code == 0, found.output
    for words in ("4 instances x 3 labels", "micro-AUC", "macro-F1", "entry-wise", "Why: "):
        assert words in found.stdout
    assert "Hamming" not in run("evaluate", "-y", "Y.csv", "-s", "S.csv").stdout


def test_json_has_the_numbers_of_the_library(folder):
    document = printed_json(run("evaluate", "-y", "Y.csv", "-s", "S.csv", "-p", "P.csv", "--json"))
    expected = limo.evaluate(Y, S, S > 0.45)
    assert {n: r["value"] for n, r in document["models"][0]["measures"].items()} == dict(expected)
    assert document["labels"]["names"] == NAMES
    assert document["provenance"]["files"]["truth"]["path"] == "Y.csv"


def test_several_models_stand_side_by_side(folder):
    pd.DataFrame(-S, columns=NAMES).to_csv("T.csv", index=False)
    found = run("evaluate", "-y", "Y.csv", "-s", "mine=S.csv", "-s", "T.csv").stdout
    head = next(line for line in found.splitlines() if "measure" in line)
    assert head.split() == ["measure", "better", "mine", "T"]
    assert "*" in found
    assert "mean rank" in found


def test_conventions(folder):
    np.save("flat.npy", np.zeros((4, 3)))
    values = [
        printed_json(
            run("evaluate", "-y", "Y.csv", "-s", "flat.npy", "--json", "--conventions", name)
        )["models"][0]["measures"]["macro_auc"]["value"]
        for name in ("standard", "paper")
    ]
    assert values == [0.5, 1.0]
    refused(run("evaluate", "-y", "Y.csv", "-s", "S.csv", "--conventions", "papr"), 2, "'paper'?")


def test_columns_go_by_name(folder):
    pd.DataFrame(S, columns=NAMES)[NAMES[::-1]].to_csv("turned.csv", index=False)
    both = [
        printed_json(run("evaluate", "-y", "Y.csv", "-s", name, "--json"))["models"][0]["measures"]
        for name in ("S.csv", "turned.csv")
    ]
    assert both[0] == both[1]


@pytest.mark.parametrize("name", ["Y.npz", "Y.npy", "Y.svm", "Y.arff", "Y.parquet"])
def test_truth_in_any_format(folder, name):
    data = limo.Dataset(np.ones((4, 1)), Y, ("x",), ("0", "1", "2"))
    if name == "Y.npz":
        sparse.save_npz(name, sparse.csr_array(Y))
    elif name == "Y.npy":
        np.save(name, Y)
    elif name == "Y.parquet":
        pd.DataFrame(Y, columns=NAMES).to_parquet(name)
    else:
        limo.write(data, name)
    np.save("S.npy", S.astype(np.float32))
    found = printed_json(run("evaluate", "-y", name, "-s", "S.npy", "--json"))
    expected = limo.ranking_loss(Y, S)
    assert found["models"][0]["measures"]["ranking_loss"]["value"] == expected


def test_report(folder):
    found = run("evaluate", "-y", "Y.csv", "-s", "S.csv", "--report", "page.html")
    assert "The report is in page.html" in found.stdout
    page = (folder / "page.html").read_text()
    assert "<html" in page
    assert "[bold]loud[/]" in page
    again = run("evaluate", "-y", "Y.csv", "-s", "S.csv", "--report", "page.html")
    refused(again, 2, "page.html exists; choose another name, or replace it with --force")
    assert (folder / "page.html").read_text() == page
    forced = run("evaluate", "-y", "Y.csv", "-s", "S.csv", "--report", "page.html", "--force")
    assert forced.exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("-y", "Y.csv"), 2, ("Nothing to evaluate: give --scores FILE",)),
        (("-y", "no.csv", "-s", "S.csv"), 2, ("There is no file no.csv",)),
        (("-y", "Y.csv", "-s", "no.csv"), 2, ("There is no file no.csv",)),
        (("-y", "Y.csv", "-s", "."), 1, ("P.csv", "only 0 and 1: these look like labels")),
        (("-y", "Y.csv", "-s", "S.csv", "-s", "S.csv"), 2, ("Two models are called S",)),
        (("-y", "Y.csv", "-s", "S.csv", "--report", "no/r.html"), 2, ("folder no does not exist",)),
        (("-s", "S.csv"), 2, ("--truth",)),
        (("-y", "Y.csv", "-s", "short.csv"), 1, ("expected (4, 3), got (3, 3)",)),
        (("-y", "Y.csv", "-s", "narrow.npy"), 1, ("expected (4, 3), got (4, 2)",)),
        (("-y", "Y.csv", "-s", "other.csv"), 1, ("columns must be named like the labels",)),
        (("-y", "S.csv", "-s", "S.csv"), 1, ("the label 'calm' must be 0 or 1, got 0.9",)),
        (("-y", "Y.csv", "-s", "text.csv"), 1, ("must be numbers, got text such as 'high'",)),
        (("-y", "Y.csv", "-s", "noise.npz"), 1, ("noise.npz",)),
        (
            ("-y", "Y.csv", "-s", "nan.npy"),
            1,
            ("must hold finite numbers up to 1e150: found nan at row 0",),
        ),
    ],
)
def test_wrong_input_is_a_sentence(folder, arguments, code, words):
    pd.DataFrame(S[:3], columns=NAMES).to_csv("short.csv", index=False)
    pd.DataFrame(S, columns=["a", "b", "c"]).to_csv("other.csv", index=False)
    np.save("narrow.npy", S[:, :2])
    np.save("nan.npy", np.where(S[0, 0] == S, np.nan, S))
    (folder / "text.csv").write_text("calm\nhigh\nlow\nlow\nlow\n")
    (folder / "noise.npz").write_bytes(b"PK\x03\x04noise")
    before = names_in(folder)
    refused(run("evaluate", *arguments), code, *words)
    assert names_in(folder) == before


def test_files_find_their_models():
    found = pair(["a.npy", "x/b.npy"], ["p.csv", "b=q.csv"])
    assert {name: [str(f) for f in one.files] for name, one in found.items()} == {
        "a": ["a.npy", "p.csv"],
        "b": ["x/b.npy", "q.csv"],
    }
    assert list(pair([], ["p.csv", "q.csv"])) == ["p", "q"]
    with pytest.raises(WrongUse, match="a has two files of predictions"):
        pair(["a.npy"], ["p.csv", "a=q.csv"])


@pytest.mark.slow
def test_as_a_process(folder):
    good = process("evaluate", "-y", "Y.csv", "-s", "S.csv", "--json", folder=folder)
    assert good.returncode == 0
    assert good.stderr == ""
    assert json.loads(good.stdout)["provenance"]["command"] == (
        "limo evaluate -y Y.csv -s S.csv --json"
    )
    (folder / "noise.csv").write_bytes(b"\x00\xff")
    for scores, code in (("no.csv", 2), ("noise.csv", 1), ("Y.csv", 1)):
        bad = process("evaluate", "-y", "Y.csv", "-s", scores, "--report", "r.html", folder=folder)
        assert bad.returncode == code, bad.stderr
        assert bad.stderr.startswith("Error: ")
        assert bad.stderr.count("\n") <= 2
        assert bad.stdout == ""
    assert names_in(folder) == {"Y.csv", "S.csv", "P.csv", "noise.csv"}


def test_against_a_known_set(folder):
    truth = limo.datasets.figure1(1000)
    np.save("all.npy", truth.Y + 0.5)
    found = printed_json(run("evaluate", "-y", "figure1", "-s", "all.npy", "--json"))
    assert found["labels"]["names"] == list(truth.label_names)
    assert found["models"][0]["measures"]["ranking_loss"]["value"] == 0
    refused(run("evaluate", "-y", "figure1", "-s", "all.npy", "--labels", "2"), 2, "is for files")


def test_json_and_a_report(folder):
    found = printed_json(
        run("evaluate", "-y", "Y.csv", "-s", "S.csv", "--report", "page.html", "--json")
    )
    assert limo.report.render(found) == (folder / "page.html").read_text()


def gappy(folder):
    gaps = Y.astype(float)
    gaps[1, 2] = np.nan
    weights = [1.0, 2.0, 0.5, 0.0]
    frame = pd.DataFrame(gaps, columns=NAMES)
    frame.to_csv("gaps.csv", index=False)
    frame.fillna(-1).astype(int).to_csv("coded.csv", index=False)
    frame.assign(w=weights).to_csv("both.csv", index=False)
    pd.DataFrame({"w": weights}).to_csv("w.csv", index=False)
    np.save("w.npy", np.array(weights))
    return limo.evaluate(gaps, S, missing=np.nan, sample_weight=weights)


@pytest.mark.parametrize(
    "arguments",
    [
        ("-y", "gaps.csv", "--missing", "nan", "--weights", "w.csv"),
        ("-y", "coded.csv", "--missing", "-1", "--weights", "w.npy"),
        ("-y", "both.csv", "--missing", "nan", "--weights", "w"),
    ],
)
def test_missing_labels_and_weights(folder, arguments):
    expected = gappy(folder)
    document = printed_json(run("evaluate", *arguments, "-s", "S.csv", "--json"))
    values = {n: r["value"] for n, r in document["models"][0]["measures"].items()}
    assert values == pytest.approx(dict(expected))
    assert document["data"]["missing"] == 1
    assert document["data"]["weighted"]
    said = run("evaluate", *arguments, "-s", "S.csv", "--report", "r.html").stdout
    assert "4 instances x 3 labels, weighted, 1 label missing (8.3%)" in said
    page = (folder / "r.html").read_text()
    assert "</data> label missing (" in page
    assert "instances have weights" in page


@pytest.mark.slow
def test_missing_labels_and_weights_as_a_process(folder):
    gappy(folder)
    given = ("evaluate", "-y", "gaps.csv", "-s", "S.csv")
    done = process(*given, "--missing", "nan", "--weights", "w.csv", "--json", folder=folder)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["data"]["missing"] == 1
    without = process(*given, folder=folder)
    assert without.returncode == 1
    assert "missing value" in without.stderr
    wrong = process(*given, "--missing", "nan", "--weights", "nothing.csv", folder=folder)
    assert wrong.returncode in (1, 2)
    assert "nothing.csv" in wrong.stderr


def test_intervals_and_other_measures(folder):
    arguments = ("evaluate", "-y", "Y.csv", "-s", "S.csv")
    options = ("--intervals", "0.9", "--measures", "macro_auc,precision_at_2")
    expected = limo.evaluate(Y, S, intervals=0.9, measures=["macro_auc", "precision_at_2"])
    document = printed_json(run(*arguments, *options, "--json"))
    found = document["models"][0]["measures"]
    assert list(found) == ["macro_auc", "precision_at_2"]
    assert document["level"] == 0.9
    for name, interval in expected.intervals.items():
        ends = [found[name][part] for part in ("error", "low", "high")]
        assert ends == pytest.approx([interval.error, interval.low, interval.high])
    said = run(*arguments, *options).stdout
    assert "90 % interval" in said
    assert str(expected.intervals["macro_auc"]) in said
    everything = printed_json(run(*arguments, "--measures", "all", "--json"))["measures"]
    assert {"ndcg_at_5", "ranking_loss"} <= {entry["name"] for entry in everything}
    refused(run(*arguments, "--measures", "macro_auk"), 1, "Did you mean 'macro_auc'?")
    refused(run(*arguments, "--intervals", "95"), 2, "Invalid value for '--intervals'")


@pytest.mark.parametrize("given", ["who", "who.csv", "who.txt"])
def test_groups_of_instances(folder, given):
    who = ["anna", "anna", "bert", "7"]
    frame = pd.DataFrame(Y, columns=NAMES)
    frame.insert(0, "who", who)
    frame.to_csv("truth.csv", index=False)
    frame[["who"]].to_csv("who.csv", index=False)
    (folder / "who.txt").write_text("\n".join(who))
    expected = limo.evaluate(Y, S, intervals=0.9, groups=who).intervals
    arguments = ("-y", "truth.csv", "-s", "S.csv", "--intervals", "0.9", "--groups", given)
    more = () if given == "who" else ("--drop", "who")
    document = printed_json(run("evaluate", *arguments, *more, "--json"))
    found = document["models"][0]["measures"]
    for name, interval in expected.items():
        assert found[name]["error"] == pytest.approx(interval.error, nan_ok=True), name
    wrong = run("evaluate", *arguments[:-1], "nobody", "--drop", "who")
    refused(wrong, 1, "no column is named 'nobody'")
    refused(run("evaluate", "-y", "figure1", "-s", "S.csv", "--groups", "no"), 2, "has no columns")
    (folder / "who.txt").write_text("\n".join(["anna", "", "bert", "7"]))
    wrong = run("evaluate", *arguments[:-1], "who.txt", "--drop", "who")
    refused(wrong, 1, "instance 1 has no group")
