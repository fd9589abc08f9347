import hashlib
from importlib.metadata import version

import numpy as np

from limo._checks import check_labels
from limo.report._provenance import checksum, collect_provenance


def test_all_that_is_known_is_told(tmp_path):
    file = tmp_path / "scores.csv"
    file.write_bytes(b"1,2\n")
    made = collect_provenance("limo evaluate", seeds=[1, 2], files=[file])
    assert made["command"] == "limo evaluate"
    assert made["seeds"] == [1, 2]
    digest = hashlib.sha256(b"1,2\n").hexdigest()
    assert made["files"] == {"scores.csv": {"path": str(file), "sha256": digest}}
    assert made["versions"]["numpy"] == version("numpy")
    named = collect_provenance(files={"truth": file})
    assert named["files"]["truth"]["sha256"] == digest


def test_nothing_unknown_is_told():
    assert set(collect_provenance()) == {"versions", "python", "system", "made"}
    assert collect_provenance(seeds=0)["seeds"] == 0


def test_checksums_depend_on_numbers_not_on_memory(monkeypatch):
    S = np.arange(12.0).reshape(4, 3)
    assert checksum(S) == checksum(np.asfortranarray(S)) == checksum(S.astype(">f8"))
    assert checksum(S) != checksum(S.reshape(3, 4))
    assert checksum(S) != checksum(S.astype(np.float32))
    whole = checksum(S)
    monkeypatch.setattr("limo.report._provenance._CHUNK", 3)
    assert checksum(S) == whole
    Y = check_labels([[1, 0], [0, 1]], "y_true")
    assert checksum(Y) != checksum(check_labels([[1, 0], [1, 0]], "y_true"))
    assert len(checksum(Y)) == 64
