import pytest

import limo
from limo import _profiles as profiles
from limo._checks import check_inputs
from limo.measures import _compute as room

Y, S = [[1, 0, 1], [0, 1, 0]], [[0.3, 0.2, 0.1], [0.5, 0.6, 0.7]]


def test_each_view_is_read_once(monkeypatch):
    seen = []
    read = profiles.read_profiles
    monkeypatch.setattr(
        room, "read_profiles", lambda view, *rest: seen.append(view.name) or read(view, *rest)
    )
    limo.evaluate(Y, S, Y)
    assert seen == ["rows", "columns", "entries"]


def test_a_single_measure_reads_its_own_view_only(monkeypatch):
    seen = []
    read = profiles.read_profiles
    monkeypatch.setattr(
        room, "read_profiles", lambda view, *rest: seen.append(view.name) or read(view, *rest)
    )
    limo.macro_auc(Y, S)
    limo.hamming_loss(Y, Y)
    assert seen == ["columns"]


def test_diagnostics_are_given_for_every_view():
    found = room.compute(
        [], check_inputs(Y, S), limo.Conventions(), {"pairs": lambda profile: profile.n_pairs}
    )
    assert {view.name: rows["pairs"].tolist() for view, rows in found.diagnostics.items()} == {
        "rows": [2, 2],
        "columns": [1, 1, 1],
        "entries": [9],
    }


def test_conventions_by_name_and_by_record():
    record = limo.Conventions()
    assert room.check_conventions(record) is record
    assert room.check_conventions("paper").name == "paper"
    with pytest.raises(ValueError, match="Unknown conventions"):
        room.check_conventions("")
