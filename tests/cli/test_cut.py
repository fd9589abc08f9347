import json

import numpy as np
import pandas as pd
import pytest

import limo
from cli.running import names_in, printed_json, process, refused, run

RNG = np.random.default_rng(0)
NAMES = ["calm", "sad", "wild", "loud"]
IDS = [f"s{k:03d}" for k in RNG.permutation(120)]
Y = (RNG.random((120, 4)) < 0.35).astype(int)
S = np.clip(0.3 * Y + 0.7 * RNG.random((120, 4)), 0, 1)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, matrix in (("Y", Y), ("S", S)):
        frame = pd.DataFrame(matrix, columns=NAMES)
        frame.to_csv(f"{name}.csv", index=False)
        frame.insert(0, "song", IDS)
        frame.to_csv(f"{name}_id.csv", index=False)
    pd.DataFrame(S, columns=NAMES).assign(song=IDS).sample(frac=1, random_state=1)[
        ["song", *NAMES[::-1]]
    ].to_csv("turned.csv", index=False)
    np.save("S.npy", S)
    return tmp_path


KINDS = {
    "auto": limo.AutoThreshold("macro_f1"),
    "label": limo.LabelThreshold("macro_f1"),
    "global": limo.GlobalThreshold("macro_f1"),
    "instance": limo.InstanceThreshold("instance_f1"),
    "instance+label": limo.InstanceThreshold("macro_f1", offset="label"),
    "instance + global": limo.InstanceThreshold("macro_f1", offset="global"),
    "top-k": limo.TopK(target="macro_f1"),
    "expected_f1": limo.ExpectedF1(),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_rule(folder, kind):
    measure = "instance_f1" if kind == "instance" else "Macro-F1"
    given = ("-y", "Y.csv", "-s", "S.csv", "-m", measure, "--rule", kind, "-o", "r.json")
    found = printed_json(run("cut", "fit", *given, "--json"))
    assert found["measure"] == limo.MEASURES[measure].name
    assert 0 < found["value"] < 1
    assert found["usual"] == pytest.approx(limo.evaluate(Y, y_pred=S > 0.5)[measure])
    done = printed_json(run("cut", "apply", "r.json", "turned.csv", "-o", "P.csv", "--id", "song", "--json"))  # fmt: skip
    assert (done["instances"], done["labels"]) == (120, 4)
    P = pd.read_csv("P.csv").set_index("song").loc[IDS, NAMES].to_numpy()
    assert np.array_equal(P, KINDS[kind].fit(Y, S).predict(S))


def test_rules_are_readable(folder):
    run("cut", "fit", "-y", "Y.csv", "-s", "S.csv", "--rule", "label", "-o", "r.json")
    rule = json.loads((folder / "r.json").read_text())
    expected = limo.LabelThreshold("macro_f1").fit(Y, S).thresholds_
    assert list(rule["thresholds"].values()) == pytest.approx(expected.tolist())
    assert list(rule["thresholds"]) == rule["label_names"] == NAMES
    assert rule["target"] == "macro_f1"


def test_given_numbers(folder):
    run(
        "cut", "fit", "-y", "Y.csv", "-s", "S.csv", "--rule", "fixed", "--at", "0.6", "-o", "f.json"
    )
    run("cut", "fit", "-y", "Y.csv", "-s", "S.csv", "--rule", "top_k", "--k", "2", "-o", "k.json")
    for rule, expected in (("f", S > 0.6), ("k", limo.TopK(2).predict(S))):
        assert run("cut", "apply", f"{rule}.json", "S.npy", "-o", f"{rule}.csv").exit_code == 0
        frame = pd.read_csv(f"{rule}.csv")
        assert list(frame) == NAMES
        assert np.array_equal(frame.to_numpy(), expected)


def test_the_value_is_that_of_held_out_rows(folder):
    given = ("-y", "Y.csv", "-s", "S.csv", "--rule", "label", "-o", "r.json")
    found = printed_json(run("cut", "fit", *given, "--json"))
    P = limo.thresholds.held_out_labels(limo.LabelThreshold("macro_f1"), Y, S)
    assert found["value"] == limo.macro_f1(Y, P)
    fitted = limo.LabelThreshold("macro_f1").fit(Y, S).predict(S)
    assert found["value"] < limo.macro_f1(Y, fitted)


def test_what_is_printed(folder):
    found = run("cut", "fit", "-y", "Y_id.csv", "-s", "turned.csv", "--id", "song", "-o", "r.json")
    assert found.exit_code == 0, found.output
    for words in ("Kinds of threshold", "chosen", "on held-out rows", "Next: limo cut apply"):
        assert words in found.stdout
    assert "turned.csv: rows are matched with those of Y_id.csv by their ids" in found.stderr
    said = run("cut", "apply", "r.json", "S.csv", "-o", "P.csv").stdout
    assert "120 instances x 4 labels to P.csv" in said


def test_the_next_command_works_as_printed(folder):
    given = ("-y", "Y_id.csv", "-s", "turned.csv", "--id", "song", "--rule", "fixed", "--at", "0.5")
    found = run("cut", "fit", *given, "-o", "r.json").stdout
    value = limo.macro_f1(Y, S > 0.5)
    assert f"macro-F1 {value:.4f} on these rows, cut at 0.5." in found
    typed = found.split("Next: limo ")[1].replace("SCORES", "turned.csv").split()
    assert run(*typed).exit_code == 0
    assert sorted(pd.read_csv("labels.csv")["song"]) == sorted(IDS)


def test_ids_weights_and_missing_labels(folder):
    gaps = Y.astype(float)
    gaps[0, 0] = np.nan
    pd.DataFrame(gaps, columns=NAMES).assign(song=IDS, w=range(1, 121)).to_csv("G.csv", index=False)
    given = ("-y", "G.csv", "-s", "turned.csv", "--id", "song", "--missing", "nan")
    found = run("cut", "fit", *given, "--weights", "w", "--rule", "label", "-o", "r.json")
    assert found.exit_code == 0, found.output
    weights = np.arange(1.0, 121)
    rule = limo.LabelThreshold("macro_f1").fit(gaps, S, sample_weight=weights, missing=np.nan)
    stored = json.loads((folder / "r.json").read_text())["thresholds"]
    assert list(stored.values()) == pytest.approx(rule.thresholds_.tolist())


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("fit", "-y", "no.csv", "-s", "S.csv", "-o", "r.json"), 2, ("There is no file no.csv",)),
        (("fit", "-y", "Y.csv", "-s", "S.csv", "-m", "macro_auc", "-o", "r.json"), 2, ("judges scores",)),
        (("fit", "-y", "Y.csv", "-s", "S.csv", "--rule", "lable", "-o", "r.json"), 2, ("'label'?",)),
        (("fit", "-y", "Y.csv", "-s", "S.csv", "--at", "0.5", "-o", "r.json"), 2, ("--rule fixed",)),
        (("fit", "-y", "Y.csv", "-s", "S.csv", "--rule", "fixed", "-o", "r.json"), 2, ("--at 0.5",)),
        (("fit", "-y", "Y.csv", "-s", "S.csv", "--k", "2", "-o", "r.json"), 2, ("--rule top_k",)),
        (("fit", "-y", "Y.csv", "-s", "S.csv", "--rule", "instance", "-o", "r.json"), 2, ("instance+label",)),
        (("fit", "-y", "Y.csv", "-s", "S.csv", "--rule", "label", "-m", "instance_f1", "-o", "r.json"), 2, ("--rule instance",)),
        (("fit", "-y", "Y.csv", "-s", "Y.csv", "-o", "r.json"), 1, ("only 0 and 1", "Real scores")),
        (("fit", "-y", "Y_id.csv", "-s", "S_id.csv", "-o", "r.json"), 1, ("--id song",)),
        (("fit", "-y", "Y.csv", "-s", "S.csv", "-o", "Y.csv"), 2, ("Y.csv exists",)),
        (("apply", "Y.csv", "S.csv", "-o", "P.csv"), 1, ("Y.csv is not a rule that limo cut fit wrote", "The rule comes first")),
        (("apply", "no.json", "S.csv", "-o", "P.csv"), 2, ("There is no file no.json. Check the path.",)),
        (("apply", "rule.json", "other.csv", "-o", "P.csv"), 1, ("must be named like the labels",)),
        (("apply", "rule.json", "narrow.npy", "-o", "P.csv"), 1, ("was fitted on 4 labels",)),
        (("apply", "rule.json", "S.csv", "--id", "song", "-o", "P.npy"), 2, ("cannot hold ids",)),
        (("apply", "rule.json", "S.csv", "-o", "P.xls"), 2, ("ends in .csv",)),
    ],
)  # fmt: skip
def test_wrong_input_is_a_sentence(folder, arguments, code, words):
    rule = limo.LabelThreshold().fit(Y, pd.DataFrame(S, columns=NAMES))
    limo.thresholds.rule_to_json(rule, folder / "rule.json")
    pd.DataFrame(S, columns=[*NAMES[:3], "x"]).to_csv("other.csv", index=False)
    np.save("narrow.npy", S[:, :2])
    before = names_in(folder)
    refused(run("cut", *arguments), code, *words)
    assert names_in(folder) == before


@pytest.mark.slow
def test_as_processes(folder):
    fit = process("cut", "fit", "-y", "Y_id.csv", "-s", "turned.csv", "--id", "song", "-m", "f1_macro", "-o", "r.json", folder=folder)  # fmt: skip
    assert fit.returncode == 0, fit.stderr
    cut = process("cut", "apply", "r.json", "turned.csv", "--id", "song", "-o", "P.csv", folder=folder)  # fmt: skip
    assert (cut.returncode, cut.stderr) == (0, "")
    done = process("evaluate", "-y", "Y_id.csv", "-p", "P.csv", "--id", "song", "--json", folder=folder)  # fmt: skip
    value = json.loads(done.stdout)["models"][0]["measures"]["macro_f1"]["value"]
    assert value == pytest.approx(limo.macro_f1(Y, limo.AutoThreshold("macro_f1").fit(Y, S).predict(S)))  # fmt: skip
    for words, code in (
        (("fit", "-y", "no.csv", "-s", "S.csv", "-o", "q.json"), 2),
        (("apply", "S.csv", "S.csv", "-o", "q.csv"), 1),
        (("apply", "r.json", "Y_id.csv", "-o", "q.csv"), 1),
    ):
        bad = process("cut", *words, folder=folder)
        assert (bad.returncode, bad.stdout) == (code, "")
        assert bad.stderr.startswith("Error: ")
