import numpy as np
import pytest
from scipy import sparse

import limo
from limo.datasets import DataError, Shards

DATA = limo.datasets.figure1(30)


@pytest.fixture
def folder(tmp_path):
    for k in range(3):
        limo.write(DATA.take(range(10 * k, 10 * k + 10)), tmp_path / f"part-{k}.npz")
        np.save(tmp_path / f"x-{k}.npy", DATA.X[10 * k : 10 * k + 10])
        np.save(tmp_path / f"y-{k}.npy", DATA.Y[10 * k : 10 * k + 10])
    return tmp_path


def rows(shards):
    X, Y = zip(*shards, strict=True)
    return np.concatenate(X), np.concatenate(Y)


def test_files_of_a_pattern_a_list_and_a_folder(folder):
    paths = [folder / f"part-{k}.npz" for k in range(3)]
    for given in (str(folder / "part-*.npz"), paths):
        shards = Shards(given)
        assert len(shards) == len(shards.split(2)) == 3  # a file is read whole
        X, Y = rows(shards)
        np.testing.assert_allclose(X, DATA.X)
        np.testing.assert_array_equal(Y, DATA.Y)
    for file in (*folder.glob("*.npy"),):
        file.unlink()
    assert len(Shards(folder)) == 3


def test_arrays_in_files_are_mapped_and_cut(folder):
    shards = Shards.of(folder / "x-*.npy", folder / "y-*.npy")
    assert isinstance(shards.pieces[0].X, np.memmap)
    assert len(shards.split(4)) == 9
    assert [piece.open()[0].shape[0] for piece in shards.split(4)] == [4, 4, 2] * 3
    np.testing.assert_array_equal(rows(shards)[1], DATA.Y)
    csr = Shards.of(sparse.csr_array(DATA.X), DATA.Y)
    assert [piece.open()[0].shape for piece in csr.split(20)] == [(20, 2), (10, 2)]


def test_clear_errors(folder):
    with pytest.raises(DataError, match="no file matches .*none-"):
        Shards(folder / "none-*.npz")
    (folder / "empty").mkdir()
    with pytest.raises(DataError, match="there are no files in the folder .*empty"):
        Shards(folder / "empty")
    with pytest.raises(ValueError, match="piece 0 has 30 rows of X and 29 of Y"):
        Shards.of(DATA.X, DATA.Y[1:])
    with pytest.raises(ValueError, match="a piece for each of X: got 1 and 3"):
        Shards.of(folder / "x-*.npy", DATA.Y)
    np.save(folder / "flat.npy", np.zeros(3))
    with pytest.raises(ValueError, match="two dimensions, got \\(3,\\)"):
        Shards.of(folder / "flat.npy", DATA.Y)
