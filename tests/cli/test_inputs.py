import sys

import pytest

import limo
from limo._cli.command import WrongUse
from limo._cli.inputs import Reading, check_file, is_known, open_dataset, output, typed_command


def test_options_go_down_only_if_set():
    assert Reading().arguments() == {}
    assert Reading("tag_*", "id,text", "mean").arguments() == {
        "labels": "tag_*",
        "drop": ["id", "text"],
        "missing": "mean",
    }


def test_a_file_comes_before_a_known_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert is_known("enron")
    assert is_known("ENRON:train")
    assert not is_known("enrn")
    (tmp_path / "enron").touch()
    assert not is_known("enron")


def test_data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert open_dataset("figure1", Reading(), seed=3).X.shape == (1000, 2)
    limo.write(limo.datasets.figure1(10), "ten.npz")
    assert open_dataset("ten.npz", Reading()).X.shape == (10, 2)
    with pytest.raises(WrongUse, match="--labels is for files; figure1 is a known data set"):
        open_dataset("figure1", Reading("6"))


def test_what_is_not_there(tmp_path):
    with pytest.raises(WrongUse, match="There is no file .*no.csv, and no data set of that name"):
        check_file(str(tmp_path / "no.csv"), or_known=True)
    with pytest.raises(WrongUse, match=r"There is no file .*no.csv. Check the path.$"):
        check_file(str(tmp_path / "no.csv"))
    with pytest.raises(WrongUse, match="is a folder"):
        check_file(str(tmp_path))


def test_outputs_are_refused_early(tmp_path):
    (tmp_path / "old").touch()
    with pytest.raises(
        WrongUse, match="exists; choose another name, or replace it with force=True"
    ):
        output(tmp_path / "old", force=False)
    assert output(tmp_path / "old", force=True) == tmp_path / "old"
    with pytest.raises(WrongUse, match="does not exist; create it first"):
        output(tmp_path / "no" / "new", force=True)


def test_the_command_can_be_typed_again(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["/usr/bin/limo", "fit", "my songs.csv", "-o", "m.skops"])
    assert typed_command() == "limo fit 'my songs.csv' -o m.skops"
