"""Files in blocks of rows: the same bits as matrices in memory, within the memory given."""

import gzip
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import limo
from limo import _evaluate_files
from limo._evaluate_files import _Needs, parse_size
from limo._system import n_workers
from limo.datasets import DataError
from limo.datasets._shards import _size_read

rng = np.random.default_rng(0)
Y = (rng.random((300, 5)) < 0.3).astype(np.int8)
S = (rng.normal(size=Y.shape) + Y).astype(np.float32)
P = (S > 0.5).astype(np.int8)
NAMES = list("abcde")


def write(folder, name, values, number, kind="npy", names=NAMES):
    for k, rows in enumerate(np.array_split(values, number)):
        path = folder / f"{name}-{k}.{kind}"
        if kind == "npy":
            np.save(path, rows)
        elif kind == "npz":
            sparse.save_npz(path, sparse.csr_array(rows))
        elif kind == "csv":
            pd.DataFrame(rows, columns=names).to_csv(path, index=False)
        else:
            pd.DataFrame(rows, columns=names).to_parquet(path, row_group_size=37)
    return str(folder / f"{name}-*.{kind}")


def test_files_divided_in_different_ways(tmp_path, monkeypatch):
    monkeypatch.setattr(_evaluate_files, "_LEAST_ENTRIES", 205)
    monkeypatch.setattr(_evaluate_files, "_MOST_ENTRIES", 205)  # blocks of 41 rows
    truth = write(tmp_path, "Y", Y, 1)
    seen = []
    found = limo.evaluate_files(
        truth,
        write(tmp_path, "S", S, 7),
        write(tmp_path, "P", P, 2, "csv"),
        progress=lambda *now: seen.append(now),
    )
    assert found.label_names == tuple(NAMES)
    assert replace(found, label_names=None).to_json() == limo.evaluate(Y, S, P).to_json()
    assert seen[0] == (41, 600, "first pass")
    assert seen[-1] == (600, 600, "second pass")


def test_parquet_by_row_groups_with_columns_in_another_order(tmp_path, monkeypatch):
    truth = write(tmp_path, "Y", Y, 3, "parquet")
    scores = write(tmp_path, "S", S[:, ::-1], 2, "parquet", NAMES[::-1])
    whole = limo.datasets.read_matrix
    monkeypatch.setattr("limo.datasets._shards.read_matrix", None)  # nothing is read whole
    found = limo.evaluate_files(truth, scores)
    assert found.to_json() == limo.evaluate(Y, S.astype(float), label_names=NAMES).to_json()
    np.testing.assert_array_equal(whole(tmp_path / "S-0.parquet").values, S[:150, ::-1])


def test_sparse_scores_and_missing_labels(tmp_path):
    kept = np.where(S > 0, S, 0)
    found = limo.evaluate_files(
        write(tmp_path, "Y", Y, 2, "npz"), write(tmp_path, "S", kept, 3, "npz")
    )
    assert found.to_json() == limo.evaluate(Y, sparse.csr_array(kept)).to_json()
    assert found.n_absent > 0
    gaps = np.where(rng.random(Y.shape) < 0.1, -1, Y)
    found = limo.evaluate_files(
        write(tmp_path, "gaps", gaps, 4), write(tmp_path, "dense", S, 1), missing_labels=-1
    )
    assert found.to_json() == limo.evaluate(gaps, S, missing=-1).to_json()


def test_arrays_by_columns(tmp_path):
    np.save(tmp_path / "S.npy", np.asfortranarray(S))
    np.save(tmp_path / "Y.npy", Y)
    found = limo.evaluate_files(tmp_path / "Y.npy", tmp_path / "S.npy")
    assert found.to_json() == limo.evaluate(Y, S).to_json()


def test_what_does_not_fit_is_an_error(tmp_path):
    truth = write(tmp_path, "Y", Y, 2)
    with pytest.raises(ValueError, match="scores, predictions or both: got neither"):
        limo.evaluate_files(truth)
    with pytest.raises(DataError, match="the same number of rows: got truth 300, scores 200"):
        limo.evaluate_files(truth, write(tmp_path, "few", S[:200], 2))
    with pytest.raises(DataError, match="truth 300 or more, predictions 200"):
        limo.evaluate_files(truth, predictions=write(tmp_path, "few", P[:200], 2, "csv"))
    with pytest.raises(DataError, match="a column for each label: got truth 5, scores 4"):
        limo.evaluate_files(truth, write(tmp_path, "narrow", S[:, :4], 2))
    odd = write(tmp_path, "odd", S, 2)
    np.save(tmp_path / "odd-1.npy", S[150:, :3])
    with pytest.raises(DataError, match="those before have 5 columns, this one has 3"):
        limo.evaluate_files(truth, odd)
    with pytest.raises(DataError, match="no names to choose by"):
        limo.evaluate_files(truth, odd, drop=["a"])
    whole = (tmp_path / "odd-0.npy").read_bytes()
    (tmp_path / "odd-0.npy").write_bytes(whole[:-40])
    with pytest.raises(DataError):
        limo.evaluate_files(truth, odd)


def test_sizes_of_memory():
    assert [parse_size(one) for one in ("2GB", "1.5 GiB", "500mb", "64", 1e6)] == [
        2e9, 1.5 * 2**30, 5e8, 64.0, 1e6,
    ]  # fmt: skip
    for wrong in ("much", "2XB", "-1GB", 0, True, math.nan, "iB"):
        with pytest.raises(ValueError, match="memory must be"):
            parse_size(wrong)


def test_too_little_memory_is_an_error(tmp_path, monkeypatch):
    truth, scores = write(tmp_path, "Y", Y, 2), write(tmp_path, "S", S, 2)
    with pytest.raises(ValueError, match="This program alone needs at least .* GB are allowed"):
        limo.evaluate_files(truth, scores, memory="1MB")
    monkeypatch.setattr(_evaluate_files, "resident_memory", lambda: 0.0)
    monkeypatch.setattr(_evaluate_files, "_SLACK", 0.0)
    monkeypatch.setattr(limo.Evaluator, "update", None)  # no score is read for nothing
    monkeypatch.setattr(_evaluate_files._Run, "_warm_up", lambda *_: 0.0)
    with pytest.raises(ValueError, match=f"Evaluating {Y.sum()} relevant entries needs at least"):
        limo.evaluate_files(truth, scores, memory=15_000)
    with pytest.raises(ValueError, match="Reading a row group of .* needs .*write smaller ones"):
        limo.evaluate_files(truth, write(tmp_path, "Q", S, 2, "parquet"), memory=1000)


@pytest.mark.parametrize("limit", [3e8, 5e8, 1e9, 4e9])
def test_blocks_fill_the_memory_and_no_more(limit):
    needs = _Needs(1e8, 1e7, 5e7, per_row=2000.0, per_entry=12.0, entries_per_row=100.0)
    n_rows = needs.rows(limit)
    # on threads are all entries of a block, or as many as all threads work on at once
    on_threads = min(n_rows * 100, n_workers() * 2**20)
    used = 1.6e8 + _evaluate_files._SLACK + 2000 * n_rows + 12 * on_threads
    assert used <= limit
    assert n_rows == 2**24 // 100 or used > limit - 3200


def test_sizes_of_files_that_are_read_whole(tmp_path):
    text = "0,1\n" * 1000
    (tmp_path / "Y.csv").write_text(text)
    with gzip.open(tmp_path / "Y.csv.gz", "wt") as file:
        file.write(text)
    assert _size_read(tmp_path / "Y.csv.gz") == _size_read(tmp_path / "Y.csv") > 8 * 2000
    np.savez_compressed(tmp_path / "Y.npz", Y=np.zeros((1000, 2)))
    assert _size_read(tmp_path / "Y.npz") > 8 * 2000


def test_wide_sparse_scores_come_in_large_blocks(tmp_path):
    wide = sparse.csr_array((np.ones(300), (np.arange(300), np.arange(300))), (300, 200_000))
    sparse.save_npz(tmp_path / "Y.npz", wide)
    sparse.save_npz(tmp_path / "S.npz", wide)
    seen = []
    limo.evaluate_files(
        tmp_path / "Y.npz",
        tmp_path / "S.npz",
        measures=["one_error"],
        progress=lambda *now: seen.append(now),
    )
    assert [done for done, *_ in seen] == [300, 600]  # a row of dense scores would be a block
