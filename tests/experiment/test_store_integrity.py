import os
import sqlite3
from dataclasses import replace

import numpy as np
import pytest

import limo
from experiment.test_store import ONE
from limo.datasets import DataError
from limo.experiment import Data, Plan, Splits, Store, StoreError, read_rows, run
from limo.experiment._store import _is_empty, _pragma, _store_errors


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "results.sqlite"
    with Store(file) as store:
        store.add(replace(ONE, run=f"{k:016x}", scores=ONE.scores * 3) for k in range(40))
    return file


def rejected(path, message):
    before = path.read_bytes()
    for attempt in (read_rows, Store):
        with pytest.raises(StoreError) as error:
            attempt(path)
        assert message in str(error.value)
        assert path.name in str(error.value)
    assert path.read_bytes() == before


def test_a_tail_cut_off_is_an_error_wherever_it_is_cut(path):
    whole = path.read_bytes()
    for kept in {len(whole) - 1, len(whole) - 4096, len(whole) // 2, 5000, 4096, 200}:
        path.write_bytes(whole[:kept])
        rejected(path, "is damaged: ")
    path.write_bytes(whole[:10])
    rejected(path, "is not a store of results: expected a SQLite file")


def test_a_tail_added_is_an_error(path):
    size = path.stat().st_size
    with path.open("ab") as file:
        file.write(b"garbage")
    rejected(path, f"is damaged: expected {size} bytes, the file has {size + 7}")


@pytest.mark.parametrize("filling", [0, 255, 65])
def test_a_tail_overwritten_is_an_error(path, filling):
    whole = bytearray(path.read_bytes())
    whole[-4096:] = bytes([filling]) * 4096
    path.write_bytes(whole)
    rejected(path, "is damaged: ")


@pytest.mark.slow
def test_no_flipped_byte_loses_or_alters_a_row_in_silence(path):
    """Whatever is damaged, reading fails or gives every row as it was written."""
    whole, rows = path.read_bytes(), read_rows(path)
    rng = np.random.default_rng(0)
    found = 0
    for place in [*range(0, 108), *rng.integers(0, len(whole), 300)]:
        damaged = bytearray(whole)
        damaged[place] ^= int(rng.integers(1, 256))
        path.write_bytes(damaged)
        try:
            assert read_rows(path).equals(rows), place
        except StoreError:
            found += 1
    assert found > 100


def test_files_of_other_kinds_are_left_alone(path):
    path.write_text("dataset,split,method\n")
    rejected(
        path,
        "is not a store of results: expected a SQLite file. Nothing was changed; choose another",
    )


def test_databases_of_other_programs_are_left_alone(path):
    path.unlink()
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("CREATE TABLE runs (number)")
    connection.close()
    rejected(path, "is a SQLite file of another program. Nothing was changed")


def test_another_version_is_named(path):
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA user_version = 9")
    connection.close()
    rejected(
        path, "has version 9 of the format, this limo reads version 1. Use the limo that wrote it"
    )


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (sqlite3.SQLITE_BUSY, "is in use by another program; try again"),
        (sqlite3.SQLITE_CANTOPEN, "cannot be opened or created. Check the permissions of its fol"),
        (sqlite3.SQLITE_READONLY_DIRECTORY, "cannot be written: the file or its folder is read-o"),
        (sqlite3.SQLITE_IOERR_WRITE, "could not be read or written: the disk reports an error"),
        (sqlite3.SQLITE_IOERR_SHORT_READ, "is damaged: SQLite reports: why"),
        (sqlite3.SQLITE_CORRUPT, "is damaged: SQLite reports: why"),
        (None, "is damaged: SQLite reports: why"),
    ],
)
def test_only_damage_is_called_damage(path, code, message):
    error = sqlite3.OperationalError("why")
    if code is not None:
        error.sqlite_errorcode = code
    with pytest.raises(StoreError, match=message), _store_errors(path):
        raise error


def test_a_full_disk_and_a_read_only_store_keep_what_they_have(path):
    with Store(path) as store:
        before = store.outcomes()
        [(pages,)] = store._connection.execute("PRAGMA page_count").fetchall()
        store._connection.execute(f"PRAGMA max_page_count = {pages}")
        long = replace(before[0], run="long", finished="x" * 100_000)
        with pytest.raises(StoreError, match="cannot grow: the disk is full. .* it has are kept"):
            store.add([long])
        store._connection.execute("PRAGMA query_only = 1")
        with pytest.raises(StoreError, match="the file or its folder is read-only. Change the per"):
            store.add([replace(before[0], run="more")])
        assert repr(store.outcomes()) == repr(before)  # nan equals nan there


def test_text_that_is_not_utf8_is_named(path):
    with Store(path) as store:
        before = store.outcomes()
        with pytest.raises(StoreError, match="a name or message has a character that .* cannot st"):
            store.add([replace(before[0], run="odd", method="\udcff")])
        assert repr(store.outcomes()) == repr(before)  # nan equals nan there


def test_data_and_a_store_whose_paths_are_not_utf8(tmp_path):
    file = limo.write(limo.datasets.figure1(50), tmp_path / os.fsdecode(b"x\xff.npz"))
    plan = Plan([file], ["mlknn"], ["one_error"], splits=Splits(number=1))
    rows = run(plan, tmp_path / os.fsdecode(b"r\xff.sqlite"), n_jobs=1)
    assert rows[["dataset", "status"]].values.tolist() == [["x\\udcff", "ok"]]
    file.unlink()
    with pytest.raises(DataError, match="is neither a file"):
        Data.of(file)


def test_numbers_and_emptiness():
    connection = sqlite3.connect(":memory:")
    assert _is_empty(connection)
    connection.execute("CREATE TABLE a (b)")
    assert not _is_empty(connection)
    assert _pragma(connection, "user_version") == 0
    connection.close()
