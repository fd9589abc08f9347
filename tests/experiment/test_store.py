import math
import sqlite3
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from limo.experiment import COLUMNS, Outcome, Store, StoreError, read_rows
from limo.experiment._judge import Score

SCORES = (
    Score("one_error", 0.1 + 0.2, "", ""),
    Score("macro_f1", math.nan, "TopK()", "ValueError: a “bad” day\n[x.py]"),
    Score("coverage", math.inf),
    Score("macro_auc", math.nan),
)
ONE = Outcome("abc", "toy", 3, "limo", 7, SCORES, 1.5, "{}", ("careful",), "2026-01-01T00:00:00")
TWO = replace(ONE, run="def", method="br", scores=SCORES[:1])


@pytest.fixture
def path(tmp_path):
    return tmp_path / "results.sqlite"


def written(path, *outcomes):
    with Store(path) as store:
        store.add(outcomes)
    with Store(path) as store:
        return store.outcomes()


def test_what_is_read_is_what_was_written_to_the_last_bit(path):
    assert list(map(repr, written(path, ONE, TWO))) == [repr(ONE), repr(TWO)]
    assert written(path)[0].status == "failed"


def test_rows_have_the_documented_columns(path):
    written(path, ONE, TWO)
    rows = read_rows(path)
    assert tuple(rows) == COLUMNS
    assert rows["measure"].tolist() == [
        "one_error",
        "macro_f1",
        "coverage",
        "macro_auc",
        "one_error",
    ]
    assert rows["status"].tolist() == ["ok", "failed", "ok", "ok", "ok"]
    assert rows["value"].tolist()[0] == 0.1 + 0.2
    assert np.isnan(rows["value"][1])
    assert rows["run"].tolist() == ["abc"] * 4 + ["def"]
    assert rows.loc[1, "error"] == SCORES[1].error
    assert rows["split"].dtype == rows["seed"].dtype == int
    assert rows["value"].dtype == rows["seconds"].dtype == float


def test_an_empty_store_has_the_same_columns(path):
    written(path)
    rows = read_rows(path)
    assert tuple(rows) == COLUMNS
    assert isinstance(rows, pd.DataFrame)
    assert rows.empty


def test_a_run_made_again_replaces_the_former(path):
    again = replace(ONE, scores=SCORES[:1], seconds=2.0)
    assert written(path, ONE, TWO, again) == [TWO, again]
    assert len(read_rows(path)) == 2


def test_runs_are_added_together_or_not_at_all(path):
    written(path, TWO)
    with Store(path) as store, pytest.raises(StoreError):
        store.add([ONE, replace(ONE, run=None)])
    assert written(path) == [TWO]


def test_a_reader_sees_whole_runs_only(path):
    with Store(path) as store:
        store.add([ONE])
        assert len(read_rows(path)) == 4
        with store._transaction("IMMEDIATE") as connection:
            connection.execute("DELETE FROM scores")
            assert len(read_rows(path)) == 4
            connection.execute("DELETE FROM runs")
        assert read_rows(path).empty


def test_an_error_inside_rolls_everything_back(path):
    with Store(path) as store:
        store.add([ONE])
        with pytest.raises(sqlite3.Error), store._transaction("IMMEDIATE") as connection:
            connection.execute("DELETE FROM runs; nonsense")
        assert len(store.outcomes()) == 1


WRITER = """
import sys
from limo.experiment import Outcome, Store
from limo.experiment._judge import Score
with Store(sys.argv[1]) as store:
    for k in range(20):
        name = f"{sys.argv[2]}{k}"
        store.add([Outcome(name, "", 0, "", 0, (Score("coverage", 1.0),), 0.0, "", (), "")])
"""


@pytest.mark.slow
def test_several_processes_may_write(path):
    commands = [[sys.executable, "-c", WRITER, path, name] for name in "ab"]
    writers = [subprocess.Popen(command) for command in commands]
    assert [writer.wait() for writer in writers] == [0, 0]
    assert sorted(read_rows(path)["run"]) == sorted(
        f"{name}{k}" for name in "ab" for k in range(20)
    )


def test_only_one_file_is_left_behind(path):
    written(path, ONE)
    assert [file.name for file in path.parent.iterdir()] == ["results.sqlite"]


def test_there_must_be_a_store_to_read_and_a_folder_to_write_in(path):
    with pytest.raises(
        StoreError, match=r"there is no store at .*results.sqlite: run a plan first"
    ):
        read_rows(path)
    assert not path.exists()
    with pytest.raises(StoreError, match=r"there is no folder .*nowhere for results.sqlite"):
        Store(path.parent / "nowhere" / "results.sqlite")
    path.touch()
    with pytest.raises(StoreError, match="is empty: run a plan first"):
        read_rows(path)
    assert written(path, ONE)


def test_a_store_whose_creation_was_interrupted_is_created_again(path):
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA user_version = 0")
    connection.close()
    assert repr(written(path, ONE)) == repr([ONE])


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE scores SET value = 0.5 WHERE place = 0",
        "UPDATE scores SET measure = 'macro_auc' WHERE place = 0",
        "DELETE FROM scores WHERE place = 1",
        "UPDATE runs SET seconds = 3",
        "UPDATE runs SET status = 'ok'",
        "UPDATE runs SET method = 'br'",
        "DELETE FROM runs",
        "UPDATE runs SET warnings = '['",
    ],
)
def test_rows_that_are_not_those_written_are_found(path, statement):
    written(path, ONE)
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(statement)
    connection.close()
    with pytest.raises(StoreError, match="results.sqlite is damaged: "):
        read_rows(path)
