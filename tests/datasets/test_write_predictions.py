"""Predictions written come back by ``read_matrix``."""

import numpy as np
import pytest
from scipy import sparse

from limo.datasets import DataError, read_matrix, write_predictions
from limo.datasets._write import check_suffix

NAMES = ("a", "b,c", 'q"<script>')
S = np.array([[0.1, -2.5, 1 / 3], [1e-300, 7.0, 0.0]])
P = np.array([[1, 0, 1], [0, 0, 1]])


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "pq", "npz"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_both_come_back(tmp_path, suffix, form):
    file = write_predictions(tmp_path / f"p.{suffix}", NAMES, scores=S, labels=form(P))
    scores, labels = read_matrix(file, "scores"), read_matrix(file, "predictions")
    assert np.array_equal(scores.values, S)
    found = labels.values
    assert np.array_equal(found.toarray() if sparse.issparse(found) else found, P)
    assert scores.label_names == labels.label_names == NAMES


@pytest.mark.parametrize("suffix", ["csv", "parquet", "npz", "npy"])
def test_one_alone_has_plain_names(tmp_path, suffix):
    expected = None if suffix == "npy" else NAMES
    found = read_matrix(write_predictions(tmp_path / f"s.{suffix}", NAMES, scores=S), "scores")
    assert np.array_equal(found.values, S)
    assert found.label_names == expected
    file = write_predictions(tmp_path / f"p.{suffix}", NAMES, labels=sparse.csr_array(P))
    found = read_matrix(file, "predictions").values
    assert np.array_equal(found.toarray() if sparse.issparse(found) else found, P)


def test_names_and_ids_are_text_to_a_spreadsheet_if_asked(tmp_path):
    given = {"labels": [[1, 0]], "ids": ["=2+2"], "id_column": "@id"}
    plain = write_predictions(tmp_path / "p.csv", ["=cmd|' /C calc'!A0", "safe"], **given)
    assert plain.read_text().splitlines() == ["@id,=cmd|' /C calc'!A0,safe", "=2+2,1,0"]
    text = write_predictions(
        tmp_path / "q.csv", ["=cmd|' /C calc'!A0", "safe"], **given, spreadsheet=True
    )
    assert text.read_text().splitlines() == ["'@id,'=cmd|' /C calc'!A0,safe", "'=2+2,1,0"]


def test_what_cannot_be_written_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"ends in .csv, .tsv, .*; got p.xls"):
        check_suffix(tmp_path / "p.xls")
    with pytest.raises(DataError, match="p.npy can hold one matrix"):
        write_predictions(tmp_path / "p.npy", NAMES, scores=S, labels=P)
    with pytest.raises(DataError, match=r"scores must have 2 columns, got the shape \(2, 3\)"):
        write_predictions(tmp_path / "p.csv", ["a", "b"], scores=S)
    assert list(tmp_path.iterdir()) == []
    write_predictions(tmp_path / "p.csv", NAMES, scores=S)
    with pytest.raises(FileExistsError):
        write_predictions(tmp_path / "p.csv", NAMES, scores=S)
    write_predictions(tmp_path / "p.csv", NAMES, labels=P, force=True)
