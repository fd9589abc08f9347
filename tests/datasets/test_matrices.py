"""Labels and scores from files of every format."""

import io
import zipfile

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from limo.datasets import DataError, read_matrix

Y = np.array([[1, 0, 1], [0, 1, 0]])
S = np.array([[0.9, 0.25, 0.5], [0.1, 0.7, -2.0]])
NAMES = ("calm", "sad", "loud")


def frame(matrix):
    return pd.DataFrame(matrix, columns=list(NAMES))


def npz(**arrays):
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def scipy_npz(matrix):
    buffer = io.BytesIO()
    sparse.save_npz(buffer, matrix)
    return buffer.getvalue()


def npy(matrix):
    buffer = io.BytesIO()
    np.save(buffer, matrix)
    return buffer.getvalue()


@pytest.fixture
def read(tmp_path):
    def reader(content, name, kind="scores", **options):
        file = tmp_path / name
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_matrix(file, kind, **options)

    return reader


NAMED = {
    "s.csv": frame(S).to_csv(index=False),
    "index.csv": frame(S).to_csv(),
    "s.tsv": frame(S).to_csv(index=False, sep="\t"),
    "semicolons.csv": frame(S).to_csv(index=False, sep=";"),
    "s.parquet": frame(S).to_parquet(),
    "s.npz": npz(scores=S, labels=Y, label_names=np.array(NAMES)),
    "s.arff": "@relation s\n"
    + "".join(f"@attribute {name} numeric\n" for name in NAMES)
    + "@data\n0.9,0.25,0.5\n0.1,0.7,-2\n",
}
NAMELESS = {
    "s.npy": npy(S),
    "fortran.npy": npy(np.asfortranarray(S)),
    "any.npz": npz(anything=S),
    "bare.csv": "0.9,0.25,0.5\n0.1,0.7,-2\n",
    "numbers.csv": pd.DataFrame(S).to_csv(index=False),
}


@pytest.mark.parametrize("name", NAMED)
def test_scores_with_names(read, name):
    found = read(NAMED[name], name)
    assert np.array_equal(found.values, S)
    assert found.label_names == NAMES
    assert len(found.checksum) == 64


@pytest.mark.parametrize("name", NAMELESS)
def test_scores_without_names(read, name):
    found = read(NAMELESS[name], name)
    assert np.array_equal(found.values, S)
    assert found.label_names is None


def test_npy_is_mapped_not_read(read):
    found = read(npy(S.astype(np.float32)), "s.npy").values
    assert isinstance(found, np.memmap)
    assert found.dtype == np.float32


@pytest.mark.parametrize("kind", ["truth", "predictions"])
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("y.csv", frame(Y).to_csv(index=False)),
        ("words.csv", "calm,sad,loud\nyes,no,yes\nno,yes,no\n"),
        ("truth.csv", "calm,sad,loud\nTrue,False,True\nFalse,True,False\n"),
        ("y.parquet", frame(Y.astype(bool)).to_parquet()),
        ("y.npz", scipy_npz(sparse.csr_array(Y))),
        ("csc.npz", scipy_npz(sparse.csc_matrix(Y))),
        ("set.npz", npz(X=S, Y=Y)),
        ("y.npy", npy(Y.astype(np.uint8))),
        ("y.svm", "0,2 1:0.5\n1 2:1\n"),
        ("only.svm", "0,2\n1\n"),
        ("y.xmc", "2 4 3\n0,2 1:0.5\n1 2:1\n"),
        (
            "y.arff",
            "@relation 'y: -C 3'\n"
            + "".join(f"@attribute {name} {{0,1}}\n" for name in NAMES)
            + "@attribute length numeric\n@data\n1,0,1,3\n0,1,0,4\n",
        ),
        (
            "all.arff",
            "@relation y\n"
            + "".join(f"@attribute {name} {{0,1}}\n" for name in NAMES)
            + "@data\n1,0,1\n0,1,0\n",
        ),
    ],
)
def test_labels(read, name, content, kind):
    found = read(content, name, kind).values
    assert np.array_equal(found.toarray() if sparse.issparse(found) else found, Y)


def test_a_file_with_both(read):
    text = "label:a,label:b,score:a,score:b\n1,0,0.5,0.25\n"
    assert read(text, "p.csv", "predictions").values.tolist() == [[1, 0]]
    found = read(text, "p.csv", "scores")
    assert (found.values.tolist(), found.label_names) == ([[0.5, 0.25]], ("a", "b"))
    both = npz(Y=Y, P=1 - Y, S=S)
    assert np.array_equal(read(both, "b.npz", "truth").values, Y)
    assert np.array_equal(read(both, "b.npz", "predictions").values, 1 - Y)
    assert np.array_equal(read(both, "b.npz", "scores").values, S)


def test_some_columns(read):
    text = "id,length,tag_a,tag_b\nr1,3,1,0\nr2,4,0,1\n"
    for options in ({"labels": "tag_*"}, {"labels": 2}, {"drop": ["id", "length", "no such"]}):
        found = read(text, "y.csv", "truth", **options)
        assert found.label_names == ("tag_a", "tag_b")
        assert found.values.tolist() == [[1, 0], [0, 1]]


def test_columns_go_by_name(read):
    found = read(NAMED["s.csv"], "s.csv")
    turned = found.ordered_as(("loud", "calm", "sad"))
    assert np.array_equal(turned.values, S[:, [2, 0, 1]])
    assert turned.label_names == ("loud", "calm", "sad")
    assert found.ordered_as(None) is found
    with pytest.raises(DataError, match=r"expected 'a', 'b', 'c'; got 'calm', 'sad', 'loud'"):
        found.ordered_as(("a", "b", "c"))


@pytest.mark.parametrize(
    ("text", "n_labels", "expected"),
    [
        ("0,2 1:1\n1 1:1\n", 4, [[1, 0, 1, 0], [0, 1, 0, 0]]),
        ("1,3 1:1\n2 1:1\n", 3, [[1, 0, 1], [0, 1, 0]]),
        ("1,3 1:1\n2 1:1\n", 4, [[0, 1, 0, 1], [0, 0, 1, 0]]),
    ],
)
def test_libsvm_is_as_wide_as_the_scores(read, text, n_labels, expected):
    found = read(text, "y.svm", "truth", n_labels=n_labels)
    assert found.values.toarray().tolist() == expected
    assert found.label_names is None


def test_named_libsvm_labels_stay_named(read, tmp_path):
    (tmp_path / "y.svm.names.json").write_text('{"label_names": ["a", "b", "c"], "n_features": 1}')
    assert read("0,2 1:1\n", "y.svm", "truth", n_labels=3).label_names == ("a", "b", "c")


def test_header_can_be_given(read):
    assert read("0,1\n1,0\n", "y.csv", "truth", header=False).values.shape == (2, 2)
    assert read("0,1\n1,0\n", "y.csv", "truth", header=True).values.shape == (1, 2)
    assert read("5,7\n1,0\n", "y.csv", "truth", header=True).label_names == ("5", "7")


def test_sparse_scores_stay_sparse(read):
    """An absent score is below all stored ones, also below negative ones."""
    found = read(scipy_npz(sparse.csr_array([[0, 0.5], [-0.25, 0]])), "s.npz").values
    assert sparse.issparse(found)
    assert found.toarray().tolist() == [[0, 0.5], [-0.25, 0]]
    large = read(scipy_npz(sparse.csr_array((10**5, 10**5))), "s.npz").values
    assert large.shape == (10**5, 10**5)


@pytest.mark.parametrize(
    ("content", "name", "kind", "options", "sentence"),
    [
        ("a,b\n1,2\n", "y.csv", "truth", {}, "line 2: the label 'b' must be 0 or 1, got 2"),
        ("a,b\n1,\n", "y.csv", "truth", {}, "line 2: the label 'b' must be 0 or 1, got a missing"),
        ("a,b\n1,\n", "s.csv", "scores", {}, "line 2: the score of 'b' is missing. Give it"),
        ("a,b\n1,x\n", "s.csv", "scores", {}, "scores of 'b' must be numbers, got text such as 'x'"),
        ("", "s.csv", "scores", {}, "empty file"),
        ("a,b\n1,0\n", "s.csv", "scores", {}, "only 0 and 1: these look like labels"),
        ("a,b\n", "s.csv", "scores", {}, "got none after the column names. Is it the right file"),
        ("0,1\n1,0\n", "y.csv", "truth", {}, "0,1, may hold names or numbers. .* header=False"),
        ("0,2 1:1\n", "y.svm", "scores", {}, "libsvm format holds labels, not scores"),
        ("0,9 1:1\n", "y.svm", "truth", {"n_labels": 3}, "label 9 occurs, .* 3 columns of scores"),
        (npy(S)[:-8], "s.npy", "scores", {}, "expected an array in NumPy's format, but"),
        (npy(np.zeros(3)), "s.npy", "scores", {}, r"expected a matrix of numbers.* shape \(3,\)"),
        (npy(np.array([["a"]])), "s.npy", "scores", {}, "of type <U1"),
        (npy(S), "s.npy", "scores", {"labels": 2}, "have no names to choose by"),
        (npz(A=S, B=S), "s.npz", "scores", {}, "called S or y_score or scores; the file holds A, B"),
        (npz(S=np.zeros(3)), "s.npz", "scores", {}, "S must be a matrix of numbers"),
        (scipy_npz(sparse.coo_array(S)), "s.npz", "scores", {}, "csr or csc format, got 'coo'"),
        (
            npz(format=np.array("csr"), shape=[1, 2], data=[1], indices=[5], indptr=[0, 1]),
            "s.npz",
            "scores",
            {},
            "parts of the sparse matrix do not fit",
        ),
        (b"\x00\x01", "s.bin", "scores", {}, "format is not recognised"),
        ("a\n1\n", "s.csv", "scores", {"format": "xls"}, "format must be one of .* or npy; got 'xls'"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(read, content, name, kind, options, sentence):
    with pytest.raises(DataError, match=sentence):
        read(content, name, kind, **options)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["calm", "sad"], "label_names must be 3 names"),
        ([*NAMES, "more"], "label_names must be 3 names"),
        ([[*NAMES]], "label_names must be 3 names"),
        (["calm", "sad", "calm"], "expected different column names, got 'calm' twice"),
    ],
)
def test_names_in_an_npz_file_must_fit_its_matrix(tmp_path, names, message):
    (tmp_path / "scores.npz").write_bytes(npz(S=S, label_names=np.array(names)))
    with pytest.raises(DataError, match=message):
        read_matrix(tmp_path / "scores.npz")


@pytest.mark.parametrize("header", ["{'shape': (2, 3", "{'shape': 2L, (", "{" * 200, "[].x", "1"])
@pytest.mark.parametrize("packed", [False, True])
def test_a_malformed_numpy_header_is_an_error_of_the_file(tmp_path, header, packed):
    text = header.encode().ljust(118 - 10)
    content = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + bytes(48)
    file = tmp_path / ("scores.npz" if packed else "scores.npy")
    if packed:
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("S.npy", content)
    else:
        file.write_bytes(content)
    with pytest.raises(
        DataError, match=r"scores.np.: expected an (array in NumPy's format|NPZ file)"
    ):
        read_matrix(file)
