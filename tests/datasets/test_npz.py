"""NPZ: plain arrays in, objects never."""

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import limo
from limo.datasets import DataError, Dataset, Limits

EYE = np.eye(2)
CSR = {
    "X_data": np.array([1.5, 2]),
    "X_indices": np.array([0, 2]),
    "X_indptr": np.array([0, 1, 2]),
    "X_shape": np.array([2, 3]),
}


def save(file: Path, **arrays: object) -> Path:
    np.savez(file, **{key: np.asarray(value) for key, value in arrays.items()})
    return file


def test_dense_and_sparse(tmp_path: Path) -> None:
    file = tmp_path / "toy.npz"
    data = limo.read(save(file, X=EYE, Y=EYE, label_names=["a", "b"], feature_names=["f", "g"]))
    assert (data.label_names, data.feature_names) == (("a", "b"), ("f", "g"))
    assert data.X.tolist() == data.Y.tolist() == EYE.tolist()
    data = limo.read(save(file, Y=np.asfortranarray([[1, 0, 1], [0, 0, 1]]), **CSR))
    assert sparse.issparse(data.X)
    assert data.X.toarray().tolist() == [[1.5, 0, 0], [0, 0, 2]]
    assert data.Y.tolist() == [[1, 0, 1], [0, 0, 1]]
    assert (data.label_names, data.feature_names) == (("y0", "y1", "y2"), ("x0", "x1", "x2"))


def test_pickle_is_never_read(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[object, ...]:
            return (Path.touch, (tmp_path / "sprung",))

    X = np.empty((1, 1), dtype=object)
    X[0, 0] = Trap()
    np.savez(tmp_path / "toy.npz", X=X, Y=np.eye(1))
    with pytest.raises(DataError, match="an array holds Python objects, which limo never loads"):
        limo.read(tmp_path / "toy.npz")
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({"X": EYE}, "expected an array 'Y', or Y_data, Y_indices, Y_indptr and Y_shape of a CSR matrix; the file holds X"),
        ({"X": [1.0], "Y": EYE}, "X must be a matrix of numbers, or valid CSR parts"),
        ({"X": [["a", "b"]], "Y": EYE}, "X must be a matrix of numbers"),
        ({"X": np.ones((3, 1)), "Y": EYE}, "X and Y must have the same rows: X has 3, Y has 2"),
        ({"X": EYE, "Y": 2 * EYE}, "Y must hold only 0 and 1"),
        ({"X": EYE * np.nan, "Y": EYE}, "X must hold finite numbers. If it is meant to hold nan, pass missing='nan'"),
        ({"X": EYE, "Y": EYE, "label_names": ["a"]}, "label_names must be 2 names"),
        ({"X": EYE, "Y": EYE, "feature_names": [1, 2]}, "feature_names must be 2 names"),
        ({**CSR, "X_indices": [0, 3], "Y": EYE}, "X must be a matrix of numbers, or valid CSR parts"),
        ({**CSR, "X_indptr": [0, 2, 1], "Y": EYE}, "valid CSR parts"),
        ({**CSR, "X_indptr": [1, 1, 2], "Y": EYE}, "valid CSR parts"),
        ({**CSR, "X_indptr": [0, 1], "Y": EYE}, "valid CSR parts"),
        ({**CSR, "X_shape": [2], "Y": EYE}, "valid CSR parts"),
        ({**CSR, "X_data": [1.0], "Y": EYE}, "valid CSR parts"),
        ({**CSR, "X_indices": [0.0, 2.0], "Y": EYE}, "valid CSR parts"),
        ({**CSR, "X_indptr": [0, 2, 2], "X_indices": [2, 0], "Y": EYE}, "valid CSR parts"),
    ],
)  # fmt: skip
def test_wrong_arrays(tmp_path: Path, arrays: dict[str, object], sentence: str) -> None:
    with pytest.raises(DataError) as caught:
        limo.read(save(tmp_path / "toy.npz", **arrays))
    assert sentence in str(caught.value)


def test_missing_values_are_kept_if_you_say_so(tmp_path: Path) -> None:
    file = save(tmp_path / "toy.npz", X=EYE * np.nan, Y=EYE)
    assert np.isnan(limo.read(file, missing="nan").X).any()


def members(**content: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in content.items():
            archive.writestr(f"{name}.npy", data)
    return buffer.getvalue()


def npy(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def test_an_array_that_claims_more_than_it_has(tmp_path: Path) -> None:
    file = tmp_path / "toy.npz"
    claim = npy(EYE).replace(b"(2, 2), }          ", b"(2, 200000000000), }"[:19].ljust(19))
    file.write_bytes(members(X=npy(EYE).replace(b"(2, 2)", b"(2, 9)"), Y=npy(EYE)))
    with pytest.raises(DataError, match=r"an array claims the shape \(2, 9\), but has 32 bytes"):
        limo.read(file)
    assert claim != npy(EYE)


def test_damaged_members(tmp_path: Path) -> None:
    file = tmp_path / "toy.npz"
    for X in (
        b"",
        b"nonsense",
        npy(EYE)[:40],
        npy(EYE).replace(b"\x93NUMPY\x01", b"\x93NUMPY\x09"),
    ):
        file.write_bytes(members(X=X, Y=npy(EYE)))
        with pytest.raises(DataError, match="expected an NPZ file of plain arrays, but"):
            limo.read(file)
    file.write_bytes(members(X=npy(np.zeros((1000, 1000))), Y=npy(np.zeros((1000, 1)))))
    assert file.stat().st_size < 50_000
    with pytest.raises(DataError, match="bytes after unpacking"):
        limo.read(file, limits=Limits(max_bytes=100_000))


def test_limits(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="at most 1 features, got 2"):
        limo.read(save(tmp_path / "toy.npz", X=EYE, Y=EYE), limits=Limits(max_columns=1))


def test_round_trip(tmp_path: Path, same: Callable[[Dataset, Dataset], None]) -> None:
    for data in (limo.datasets.figure1(20), limo.datasets.make_multilabel(20, 10, 4)):
        again = limo.read(limo.write(data, tmp_path / "toy.npz"))
        same(again, data)
        assert sparse.issparse(again.X) == sparse.issparse(data.X)
