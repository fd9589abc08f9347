"""What is written reads back the same, and never half."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import limo
from limo._system import replacing
from limo.datasets import DataError, Dataset

SUFFIXES = [".arff", ".arff.gz", ".arff.xz", ".arff.bz2", ".svm", ".libsvm.gz", ".npz"]

# XML 1.0 has no control characters, and neither have real names
texts = st.text(st.characters(codec="utf-8", min_codepoint=32, exclude_categories=["Cc", "Cs"], exclude_characters="\ufffe\uffff"), min_size=1, max_size=5)  # fmt: skip


@st.composite
def datasets(draw: st.DrawFn) -> Dataset:
    m, d, n_labels = draw(st.integers(0, 4)), draw(st.integers(0, 3)), draw(st.integers(1, 3))
    names = draw(st.lists(texts, min_size=d + n_labels, max_size=d + n_labels, unique=True))
    value = st.sampled_from([0.0, 1.0, -2.5]) | st.floats(allow_nan=False, allow_infinity=False)
    X = np.array(draw(st.lists(value, min_size=m * d, max_size=m * d))).reshape(m, d)
    Y = np.array(
        draw(st.lists(st.integers(0, 1), min_size=m * n_labels, max_size=m * n_labels)),
        dtype=np.int8,
    )
    data = Dataset(X, Y.reshape(m, n_labels), tuple(names[:d]), tuple(names[d:]))
    return data.to_sparse() if draw(st.booleans()) else data


@settings(deadline=None)
@given(data=datasets(), suffix=st.sampled_from(SUFFIXES))
def test_what_is_written_reads_back(
    tmp_path_factory: pytest.TempPathFactory, same: Callable[..., None], data: Dataset, suffix: str
) -> None:
    file = limo.write(data, tmp_path_factory.mktemp("w") / f"toy{suffix}")
    again = limo.read(file)
    same(again, data)
    if data.X.shape[0] and "npz" in suffix:
        assert sparse.issparse(again.X) == sparse.issparse(data.X)


def test_labels_without_positives_and_whole_number_names_survive(
    tmp_path: Path, same: Callable[..., None]
) -> None:
    data = Dataset(
        np.eye(3), np.array([[0, 1, 0], [0, 0, 0], [0, 1, 0]]), ("x0", "x1", "x2"), ("7", "3", "11")
    )
    file = limo.write(data, tmp_path / "toy.svm")
    assert file.read_text() == "3 1:1\n 2:1\n3 3:1\n"
    same(limo.read(file), data)


def test_the_files_are_what_others_read(tmp_path: Path) -> None:
    import arff
    from sklearn.datasets import load_svmlight_file

    data = limo.datasets.make_multilabel(30, 12, 5)
    peer = arff.loads(limo.write(data, tmp_path / "a.arff").read_text(), return_type=arff.DENSE)
    assert np.array_equal(np.array(peer["data"], dtype=float)[:, :12], data.X.toarray())
    X, _ = load_svmlight_file(
        str(limo.write(data, tmp_path / "a.svm")), multilabel=True, n_features=12
    )
    assert np.array_equal(X.toarray(), data.X.toarray())
    assert (tmp_path / "a.xml").read_text().count("<label ") == 5


def test_wrong_requests(tmp_path: Path) -> None:
    data = limo.datasets.figure1(3)
    with pytest.raises(
        DataError,
        match=r"format must be one of arff, libsvm, npz, or the path must end in .arff, .*; got 'toy.csv'",
    ):
        limo.write(data, tmp_path / "toy.csv")
    with pytest.raises(DataError, match="got 'excel'"):
        limo.write(data, tmp_path / "toy.arff", format="excel")
    with pytest.raises(DataError, match="an NPZ file is compressed already"):
        limo.write(data, tmp_path / "toy.npz.gz")
    twice = Dataset(data.X, data.Y, ("x", "x"), data.label_names)
    with pytest.raises(DataError, match="expected different feature names, got 'x' twice"):
        limo.write(twice, tmp_path / "toy.arff")
    with pytest.raises(
        FileNotFoundError, match=r"the folder .*nowhere does not exist; create it first"
    ):
        limo.write(data, tmp_path / "nowhere" / "toy.npz")
    assert limo.write(data, tmp_path / "plain", format="arff").name == "plain"
    assert (tmp_path / "plain.xml").exists()


def test_missing_values(tmp_path: Path) -> None:
    data = Dataset(np.array([[np.nan, 1.0], [0, 2]]), np.eye(2), ("x", "y"), ("a", "b"))
    for made in (data, data.to_sparse()):
        for suffix in (".arff", ".npz"):
            again = limo.read(limo.write(made, tmp_path / f"toy{suffix}"), missing="nan")
            assert np.array_equal(again.to_dense().X, data.X, equal_nan=True)
        with pytest.raises(DataError, match="a LIBSVM file cannot hold missing values"):
            limo.write(made, tmp_path / "toy.svm")


@pytest.mark.parametrize(
    ("X", "Y", "labels", "sentence"),
    [
        (np.eye(2), np.eye(2), ("x", "b"), "a feature and a label are both called 'x'; rename one"),
        (np.eye(2), np.eye(2), ("a\x01", "b"), "has a character that XML cannot hold; rename it"),
        (np.eye(2), 2 * np.eye(2), ("a", "b"), "Y must hold only 0 and 1"),
        (np.full((2, 2), np.inf), np.eye(2), ("a", "b"), "X must hold finite numbers"),
    ],
)  # fmt: skip
def test_what_cannot_be_written(
    tmp_path: Path, X: np.ndarray, Y: np.ndarray, labels: tuple[str, str], sentence: str
) -> None:
    with pytest.raises(DataError, match=sentence):
        limo.write(Dataset(X, Y, ("x", "y"), labels), tmp_path / "toy.arff")
    assert list(tmp_path.iterdir()) == []


def test_a_failure_leaves_the_old_file(tmp_path: Path) -> None:
    file = tmp_path / "toy.txt"
    file.write_text("old")

    def fail() -> None:
        with replacing(file) as handle:
            handle.write(b"new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert file.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["toy.txt"]


def test_a_new_file_has_the_usual_permissions(tmp_path: Path) -> None:
    file = limo.write(limo.datasets.figure1(3), tmp_path / "toy.npz")
    (tmp_path / "other").touch()
    assert file.stat().st_mode == (tmp_path / "other").stat().st_mode


WRITER = """
import sys, limo
data = limo.datasets.figure1(200_000)
print("go", flush=True)
while True:
    limo.write(data, sys.argv[1])
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["toy.arff", "toy.npz", "toy.svm"])
def test_killing_a_writer_leaves_nothing_half_made(
    tmp_path: Path, name: str, same: Callable[..., None]
) -> None:
    expected = limo.datasets.figure1(200_000)
    for wait in (0.2, 0.9, 2.3):
        process = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path / name)], stdout=subprocess.PIPE
        )
        assert process.stdout is not None
        assert process.stdout.readline() == b"go\n"
        time.sleep(wait)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
        if (tmp_path / name).exists():
            same(limo.read(tmp_path / name), expected)
        finals = [p.name for p in tmp_path.iterdir() if not p.name.startswith(".")]
        assert set(finals) <= {name, "toy.xml", "toy.svm.names.json"}


@pytest.mark.parametrize("name", ["toy.arff", "toy.arff.gz", "toy.libsvm"])
@pytest.mark.parametrize("failing", [1, 2])
def test_a_full_disk_leaves_all_old_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, failing: int
) -> None:
    old = limo.datasets.figure1(20)
    file = limo.write(old, tmp_path / name)
    before = {one: one.read_bytes() for one in tmp_path.iterdir()}
    synced = iter(range(1, 9))

    def sync(descriptor: int) -> None:
        if next(synced) == failing:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", sync)
    new = Dataset(old.X, old.Y, old.feature_names, tuple("WXYZ"))
    with pytest.raises(OSError, match="No space left on device"):
        limo.write(new, file)
    assert {one: one.read_bytes() for one in tmp_path.iterdir()} == before
