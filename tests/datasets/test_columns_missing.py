"""Missing labels in files: nan in ``Y``, if that is asked for."""

import math

import numpy as np
import pandas as pd
import pytest

import limo
from limo.datasets import DataError, read_matrix

GAPS = [[1.0, 0.0], [math.nan, 1.0], [0.0, math.nan]]

ARFF = """@relation 'toy: -C 2'
@attribute a {0, 1}
@attribute b {0, 1}
@attribute x numeric
@data
1, 0, 2.5
?, 1, 3.5
0, ?, 4.5
"""
SPARSE_ARFF = """@relation 'toy: -C 2'
@attribute a {0, 1}
@attribute b {0, 1}
@attribute x numeric
@data
{0 1, 2 2.5}
{0 ?, 1 1, 2 3.5}
{1 ?, 2 4.5}
"""


def written(folder, name, text):
    file = folder / name
    file.write_text(text)
    return file


def files(folder):
    frame = pd.DataFrame(GAPS, columns=["a", "b"]).assign(x=[2.5, 3.5, 4.5])
    frame.to_parquet(folder / "toy.parquet")
    np.savez(folder / "toy.npz", X=np.array([[2.5], [3.5], [4.5]]), Y=np.array(GAPS))
    return {
        "arff": (written(folder, "toy.arff", ARFF), {}),
        "sparse arff": (written(folder, "sparse.arff", SPARSE_ARFF), {}),
        "csv": (written(folder, "toy.csv", "a,b,x\n1,0,2.5\n,1,3.5\n0,?,4.5\n"), {"labels": "ab"}),
        "yes and no": (
            written(folder, "words.csv", "a,b,x\nyes,no,2.5\n,yes,3.5\nno,NA,4.5\n"),
            {"labels": "ab"},
        ),
        "parquet": (folder / "toy.parquet", {"labels": "ab"}),
        "npz": (folder / "toy.npz", {}),
    }


@pytest.mark.parametrize("kind", ["arff", "sparse arff", "csv", "yes and no", "parquet", "npz"])
def test_missing_labels_become_nan_if_that_is_asked_for(tmp_path, kind):
    file, how = files(tmp_path)[kind]
    how = {"labels": list(how["labels"])} if how else {}
    with pytest.raises(DataError, match=r"missing|only 0 and 1, got nan"):
        limo.read(file, missing="zero" if kind != "npz" else "nan", **how)
    data = limo.read(file, missing_labels=math.nan, **how)
    np.testing.assert_array_equal(data.to_dense().Y, GAPS)
    assert data.to_dense().X.tolist() == [[2.5], [3.5], [4.5]]
    facts = limo.describe(data)
    assert facts.n_missing == 2
    assert facts.positives == (1, 1)
    assert facts.density == 0.5
    assert "missing labels              2 (33.33%)" in str(facts)


def test_a_number_can_stand_for_a_missing_label(tmp_path):
    file = written(tmp_path, "toy.csv", "a,b,x\n1,0,2\n-1,1,3\n0,,4\n")
    found = limo.read(file, labels=["a", "b"], missing_labels=-1)
    np.testing.assert_array_equal(found.Y, GAPS)
    np.save(tmp_path / "Y.npy", np.array([[1, 0], [-1, 1]]))
    read = read_matrix(tmp_path / "Y.npy", "truth", missing_labels=-1)
    np.testing.assert_array_equal(read.values, GAPS[:2])
    with pytest.raises(DataError, match="missing_labels must be nan, or a number that is no label"):
        limo.read(file, labels=["a", "b"], missing_labels=0)


def test_a_complete_file_still_gives_integers(tmp_path):
    file = written(tmp_path, "toy.csv", "a,b,x\n1,0,2\n0,1,3\n")
    data = limo.read(file, labels=["a", "b"], missing_labels=math.nan)
    assert data.Y.dtype == np.int64
    assert limo.describe(data).n_missing == 0


@pytest.mark.parametrize("text", [ARFF, SPARSE_ARFF])
def test_a_missing_feature_is_still_an_error_with_its_line(tmp_path, text):
    file = written(tmp_path, "toy.arff", text.replace("4.5", "?"))
    with pytest.raises(DataError, match="line 8: the value of 'x' is missing"):
        limo.read(file, missing_labels=math.nan)
    assert np.isnan(limo.read(file, missing="nan", missing_labels=math.nan).to_dense().X[2, 0])


def test_stratified_folds_take_labels_with_gaps():
    data = limo.datasets.figure1(60)
    rng = np.random.default_rng(0)
    gaps = np.where(rng.random(data.Y.shape) < 0.2, np.nan, data.Y)
    folds = limo.datasets.StratifiedFolds(3)
    for (_, found), (_, expected) in zip(
        folds.split(data.X, gaps), folds.split(data.X, np.nan_to_num(gaps)), strict=True
    ):
        assert found.tolist() == expected.tolist()
