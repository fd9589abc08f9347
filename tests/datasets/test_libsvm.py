"""LIBSVM multi-label and the extreme-classification format."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

import limo
from limo.datasets import DataError, Dataset, Limits

Read = Callable[..., Dataset]


def dense(data: Dataset) -> tuple[list[list[float]], list[list[int]]]:
    made = data.to_dense()
    return made.X.tolist(), made.Y.tolist()


def test_libsvm(read_text: Read) -> None:
    data = read_text("2,7 1:0.5 3:-1e3 # note\n 2:4\n# only a note\n7 3:1 3:1 1:2\n\n", "toy.svm")
    assert data.label_names == ("2", "7")
    assert data.feature_names == ("x0", "x1", "x2")
    assert dense(data) == ([[0.5, 0, -1000], [0, 4, 0], [2, 0, 1]], [[1, 1], [0, 0], [0, 1]])


def test_a_row_without_labels_or_without_anything(read_text: Read) -> None:
    data = read_text("1:1\n \n5 2:1\n \n", "toy.libsvm")
    assert dense(data) == ([[1, 0], [0, 0], [0, 1], [0, 0]], [[0], [0], [1], [0]])


@pytest.mark.parametrize("text", ["\n1 1:1\n", "1 1:1\n2 1:1\n\n3 1:1\n", "1 1:1\r\r\n2 1:1\n"])
def test_a_blank_line_is_no_instance(read_text: Read, text: str) -> None:
    with pytest.raises(DataError, match=r"line [123]: the line is blank. Remove it; or if it is"):
        read_text(text, "toy.libsvm")


def test_features_from_zero_or_one(read_text: Read) -> None:
    assert dense(read_text("1 0:1 2:2\n", "toy.svm"))[0] == [[1, 0, 2]]
    assert dense(read_text("1 1:1 2:2\n", "toy.svm"))[0] == [[1, 2]]
    assert dense(read_text("1 1:1 2:2\n", "toy.svm", zero_based=True))[0] == [[0, 1, 2]]
    with pytest.raises(DataError, match=r"line 1: feature 0 is out of range: expected 1 to 2"):
        read_text("1 0:1 2:2\n", "toy.svm", zero_based=False)


def test_train_and_test_get_the_same_columns(read_text: Read) -> None:
    train = read_text("1 1:1\n2,3 4:1\n", "train.svm")
    test = read_text("3 2:1\n", "test.svm", labels=train.label_names, n_features=train.X.shape[1])
    assert test.label_names == train.label_names
    assert dense(test) == ([[0, 1, 0, 0]], [[0, 0, 1]])
    with pytest.raises(
        DataError,
        match=r"line 1: feature 5 is out of range: expected 1 to 4 \(n_features=4, numbered from 1\)",
    ):
        read_text("3 5:1\n", "test.svm", n_features=4)
    with pytest.raises(
        DataError, match=r"line 2: label 9 is not one of the 3 labels 1, 2, 3. Is labels= right?"
    ):
        read_text("3 2:1\n9 1:1\n", "test.svm", labels=train.label_names)


def test_labels_by_count_and_by_other_names(read_text: Read) -> None:
    assert read_text("0,2 1:1\n", "toy.svm", labels=4).Y.toarray().tolist() == [[1, 0, 1, 0]]
    named = read_text("0,2 1:1\n", "toy.svm", labels=["cat", "dog", "owl"])
    assert named.label_names == ("cat", "dog", "owl")
    assert named.Y.toarray().tolist() == [[1, 0, 1]]
    assert read_text("-1 1:1\n3 1:1\n", "toy.svm").label_names == ("-1", "3")
    with pytest.raises(
        DataError, match=r"labels='a\*': the labels of the file are numbers; pass a list or a count"
    ):
        read_text("0 1:1\n", "toy.svm", labels="a*")


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("a 1:1", "expected labels such as 0,3,7 (whole numbers and commas), got 'a 1:1'"),
        ("1,, 1:1", "expected labels such as 0,3,7"),
        ("1.5 1:1", "expected labels such as 0,3,7"),
        ("99999999999999 1:1", "expected labels such as 0,3,7"),
        ("1 1", "expected index:value, got '1'"),
        ("1 x:1", "expected index:value, got 'x:1'"),
        ("1 qid:3", "expected index:value, got 'qid:3'"),
        ("1 -1:3", "expected index:value, got '-1:3'"),
        ("1 1:", "expected index:value with a finite number as value, got '1:'"),
        ("1 1:x", "expected index:value with a finite number as value, got '1:x'"),
        ("1 1:nan", "with a finite number as value"),
        ("1 1:1e999", "expected a finite number as value, got one too large"),
        ("1 99999999999999:1", "the index in '99999999999999:1' is too large"),
        ("1 4:1 4:2", "feature number 3 (from 0) is given two different values in one row"),
        ("1 20000000:1", "expected at most 10,000,000 features, got 20,000,000"),
    ],
)  # fmt: skip
def test_a_malformed_line_is_named(read_text: Read, line: str, sentence: str) -> None:
    with pytest.raises(DataError) as caught:
        read_text(f"1 1:1\n{line}\n1 1:1\n", "toy.svm")
    assert sentence in str(caught.value)
    assert caught.value.line == 2 or "at most" in sentence


def test_an_empty_file(read_text: Read) -> None:
    data = read_text("", "toy.svm", n_features=3)
    assert data.X.shape == (0, 3)
    assert data.Y.shape == (0, 0)


def test_xmc(read_text: Read) -> None:
    data = read_text("3 4 5\n0,4 0:1 3:2.5\n 1:1\n\n", "train.txt")
    assert data.label_names == ("0", "1", "2", "3", "4")
    assert dense(data) == (
        [[1, 0, 0, 2.5], [0, 1, 0, 0], [0, 0, 0, 0]],
        [[1, 0, 0, 0, 1], [0] * 5, [0] * 5],
    )
    assert dense(read_text("1 2 1\n0 1:1", "train.xmc")) == ([[0, 1]], [[1]])
    assert read_text("2 2 1\n0 1:1\n0 0:1\n\n\n", "train.xmc").X.shape == (2, 2)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("x", "line 1: expected 'rows features labels' in the first line, three whole numbers"),
        ("2 2 1\n0 1:1\n", "line 1: the first line announces 2 rows, the file has 1. Is it incomplete?"),
        ("1 2 1\n0 1:1\n0 1:1\n", "announces 1 rows, the file has 2"),
        ("1 2 1\n0 2:1\n", "line 2: feature 2 is out of range: expected 0 to 1"),
        ("1 2 1\n1 1:1\n", "line 2: label 1 is not one of the 1 labels 0"),
        ("1 1000000000 1\n0 1:1\n", "expected at most 10,000,000 features, got 1,000,000,000"),
        ("1 1 1000000000\n0 1:1\n", "expected at most 10,000,000 labels, got 1,000,000,000"),
    ],
)  # fmt: skip
def test_malformed_xmc(read_text: Read, text: str, sentence: str) -> None:
    with pytest.raises(DataError) as caught:
        read_text(text, "toy.xmc")
    assert sentence in str(caught.value)


def test_more_columns_are_read_if_you_say_so(read_text: Read) -> None:
    with pytest.raises(DataError, match=r"at most 5 features, got 20.*Limits\(max_columns=20\)"):
        read_text("1 20:1\n", "toy.svm", limits=Limits(max_columns=5))
    assert read_text("1 20:1\n", "toy.svm", limits=Limits(max_columns=20)).X.shape == (1, 20)


@pytest.mark.parametrize(
    "content", ["[", "[1]", '{"label_names": [1]}', '{"n_features": "x"}', '{"label_names": "ab"}']
)
def test_wrong_names_beside(read_text: Read, tmp_path: Path, content: str) -> None:
    (tmp_path / "toy.svm.names.json").write_text(content)
    with pytest.raises(DataError, match=r"toy.svm.names.json: expected (JSON|\{)"):
        read_text("1 1:1\n", "toy.svm")


def test_names_beside_that_do_not_fit(read_text: Read, tmp_path: Path) -> None:
    (tmp_path / "toy.svm.names.json").write_text('{"feature_names": ["a", "b"]}')
    with pytest.raises(DataError, match="toy.svm.names.json: expected 1 feature names, got 2"):
        read_text("1 1:1\n", "toy.svm")


rows = st.lists(
    st.tuples(
        st.sets(st.integers(0, 5), min_size=1),
        st.dictionaries(st.integers(0, 6), st.floats(-1e9, 1e9).filter(bool), max_size=4),
    ),
    min_size=1,
    max_size=5,
)


@settings(deadline=None)
@given(rows)
def test_agrees_with_scikit_learn(
    tmp_path_factory: pytest.TempPathFactory, made: list[tuple[set[int], dict[int, float]]]
) -> None:
    file = tmp_path_factory.mktemp("svm") / "toy.svm"
    X, Y = np.zeros((len(made), 7)), np.zeros((len(made), 6), dtype=int)
    for i, (labels, pairs) in enumerate(made):
        Y[i, list(labels)] = 1
        for j, value in pairs.items():
            X[i, j] = value
    dump_svmlight_file(X, Y, str(file), multilabel=True, zero_based=False)
    ours = limo.read(file, labels=6, n_features=7).to_dense()
    theirs, labels_ = load_svmlight_file(str(file), multilabel=True, n_features=7, zero_based=False)
    assert np.array_equal(ours.X, theirs.toarray())
    assert [tuple(np.flatnonzero(y)) for y in ours.Y] == [
        tuple(sorted(map(int, t))) for t in labels_
    ]


def test_labels_by_count_need_no_comparison_of_names(
    read_text: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    def compared(name: str) -> bool:
        raise AssertionError(name)

    monkeypatch.setattr("limo.datasets._libsvm.is_whole", compared)
    data = read_text("1 3 4\n0,3 0:1\n", "toy.xmc", format="xmc")
    assert dense(data) == ([[1, 0, 0]], [[1, 0, 0, 1]])
    with pytest.raises(DataError, match="label 4 is not one of the 4 labels 0, 1, 2, 3"):
        read_text("1 3 4\n4 0:1\n", "toy.xmc", format="xmc")
