"""Features for a model: by name, no matter the order."""

import io

import numpy as np
import pytest
from scipy import sparse

from limo.datasets import DataError, read_instances

FEATURES = ("length", "key=major", "key=minor")


@pytest.fixture
def read(tmp_path):
    def reader(content, name="new.csv", features=FEATURES, labels=("sad",), **options):
        file = tmp_path / name
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        found = read_instances(file, features, labels, **options)
        return found.toarray() if sparse.issparse(found) else found

    return reader


def npz(**arrays):
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("length,key,sad\n3,minor,1\n4,major,0\n", [[3, 0, 1], [4, 1, 0]]),
        ("key,length\nminor,3\nmajor,4\n", [[3, 0, 1], [4, 1, 0]]),
        ("key,length\nminor,3\n", [[3, 0, 1]]),
        (",key,length\n0,minor,3\n", [[3, 0, 1]]),
    ],
    ids=["with labels", "other order", "a value too few", "an index"],
)
def test_columns_go_by_name(read, text, expected):
    assert read(text).tolist() == expected


def test_sparse_arff(read):
    text = (
        "@relation r\n@attribute b numeric\n@attribute a numeric\n@attribute sad {0,1}\n"
        "@data\n{0 2}\n{1 3, 2 1}\n"
    )
    assert read(text, "new.arff", ("a", "b")).tolist() == [[0, 2], [3, 0]]


def test_files_without_names(read):
    assert read("0 2:5\n", "new.svm", ("a", "b", "c")).tolist() == [[0, 5, 0]]
    assert read(npz(X=np.eye(2)), "new.npz", ("a", "b")).tolist() == [[1, 0], [0, 1]]
    named = npz(X=np.eye(2), feature_names=np.array(["b", "a"]))
    assert read(named, "new.npz", ("a", "b")).tolist() == [[0, 1], [1, 0]]
    assert read("1 3 2\n0 0:1 2:4\n", "new.xmc", ("a", "b", "c")).tolist() == [[1, 0, 4]]


def test_what_is_missing_is_filled_as_asked(read):
    assert read("length,key\n,minor\n", missing="zero").tolist() == [[0, 0, 1]]


@pytest.mark.parametrize(
    ("content", "name", "sentence"),
    [
        ("key\nminor\n", "new.csv", "expected the 3 features .*, got 1. Absent: 'length'"),
        ("id,length,key\n1,3,minor\n", "new.csv", r"Unknown to the model: 'id'; leave .*drop="),
        (npz(X=np.eye(2)), "new.npz", "expected the 3 features the model was trained on, got 2"),
        ("0 9:5\n", "new.svm", "feature 9 is out of range"),
        ("length,key\n,minor\n", "new.csv", "the value of 'length' is missing"),
    ],
)
def test_what_is_wrong_is_said(read, content, name, sentence):
    with pytest.raises(DataError, match=sentence):
        read(content, name)


def test_format_is_checked(read):
    with pytest.raises(DataError, match="format must be one of"):
        read("", format="xls")


def test_a_value_too_few_in_sparse_rows(read):
    text = "@relation r\n@attribute key {minor,major}\n@attribute length numeric\n@data\n{1 3}\n{0 major}\n"
    features = ("length", "key=minor", "key=major", "key=locrian")
    assert read(text, "new.arff", features).tolist() == [[3, 1, 0, 0], [0, 0, 1, 0]]


@pytest.mark.slow
def test_very_many_unknown_names_are_found_soon(read):
    names = [f"key={k}" for k in range(20_000)]
    content = ",".join(names) + "\n" + ",".join("0" * len(names)) + "\n"
    with pytest.raises(DataError, match="Absent: 'tone=0'.* Unknown to the model: 'key=0'"):
        read(content, features=tuple(f"tone={k}" for k in range(20_000)))
