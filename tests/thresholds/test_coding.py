"""Codings of labels: what comes in is what comes out. ``estimators`` runs this on each learner."""

import numpy as np
import pandas
import pytest
from scipy import sparse

from limo.thresholds._coding import CodedLabels

MARKS = np.array([[1, 0, 0], [0, 1, 0]])


@pytest.mark.parametrize(
    ("y", "form"),
    [
        (MARKS, "dense"),
        (MARKS.astype(bool), "dense"),
        (MARKS.astype(float).tolist(), "dense"),
        (sparse.coo_array(MARKS), "sparse"),
        (2 * MARKS - 1, "values"),
        ((2.0 * MARKS - 1).tolist(), "values"),
        (pandas.DataFrame(2 * MARKS - 1), "values"),
        (np.array(["no", "yes"])[MARKS], "values"),
        (np.array(["no", "yes"], dtype=object)[MARKS].tolist(), "values"),
        (pandas.DataFrame(np.array(["-", "+"])[1 - MARKS]), "values"),
    ],
)
def test_a_matrix_comes_back_as_it_came(y, form):
    coding = CodedLabels()
    Y = coding._check_target(y)
    assert coding.target_form_ == form
    assert coding.classes_.tolist() == [0, 1, 2]
    assert Y.csr.toarray().tolist() == MARKS.tolist()
    for marks in (Y.csr, Y.csr.toarray()):
        back = coding._labels(marks)
        assert sparse.issparse(back) == (form == "sparse")
        expected = y.toarray() if sparse.issparse(y) else np.asarray(y)
        assert (sparse.coo_array(back).toarray() if form == "sparse" else back).tolist() == (
            expected.astype(int) if form == "dense" else expected
        ).tolist()


def test_all_absent_is_a_coding_too():
    coding = CodedLabels()
    Y = coding._check_target([[-1, -1], [-1, -1]])
    assert Y.n_ones == 0
    assert coding._labels(np.array([[0, 1]])).tolist() == [[-1, 1]]


def test_later_labels_are_read_in_the_coding_of_the_first():
    coding = CodedLabels()
    coding._check_target([[-1, 1], [-1, -1]])
    assert coding._decode([[1, 1]]).csr.toarray().tolist() == [[1, 1]]
    with pytest.raises(ValueError, match="y must hold only -1 and 1: found 0 at row 0, column 1"):
        coding._decode([[1, 0]])
    strings = CodedLabels()
    strings._check_target([["a", "b"]])
    with pytest.raises(ValueError, match="y must hold only 'a' and 'b': found c at row 1, column"):
        strings._decode([["a", "b"], ["c", "a"]])


def test_one_label_with_two_classes():
    coding = CodedLabels()
    Y = coding._check_target(["spam", "ham"])
    assert Y.csr.toarray().tolist() == [[1], [0]]
    assert coding._labels(np.array([[0], [1]])).tolist() == ["ham", "spam"]
    assert coding._scores(np.array([[0.5]])).tolist() == [0.5]
    assert coding._probabilities(np.array([[0.25]])).tolist() == [[0.75, 0.25]]


def test_a_coding_can_be_taken_over():
    first, second = CodedLabels(), CodedLabels()
    first._check_target([["n", "y"]])
    second._code_as(first)
    assert second._labels(np.array([[1, 0]])).tolist() == [["y", "n"]]


@pytest.mark.parametrize(
    ("y", "sentence"),
    [
        ([[-1, 0], [1, 1]], "y must hold only 0 and 1: found -1 .*become 0/1 with"),
        ([[-1, 2], [1, 1]], "y must hold only 0 and 1: found -1"),
        ([[1, 2], [1, 1]], "y must hold only 0 and 1: found 2"),
        (sparse.csr_array([[-1, 1]]), "y must hold only 0 and 1: found -1"),
        ([["a", "b"], ["c", "a"]], "must hold two different ones.*Found 'a', 'b', 'c'. If"),
        ([list("abcdef")], "Found 'a', 'b', 'c', 'd', ...* MultiLabelBinarizer makes one"),
        ([["a", "a"]], "must hold two different ones.*Found 'a'. If"),
        ([["a", None]], "y must hold numbers, got values of type object"),
        ([[1, 0], [1]], "rows of different lengths"),
        (np.empty((0, 2)), "y is empty: got shape"),
        ([], "y is empty: expected the labels of at least one instance"),
    ],
)
def test_other_codings_are_explained(y, sentence):
    with pytest.raises(ValueError, match=sentence):
        CodedLabels()._check_target(y)
