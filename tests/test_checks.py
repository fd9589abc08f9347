"""Checks of input: what is accepted, what is rejected, and the error messages."""

import inspect

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

import limo
from limo._checks import check_inputs, check_labels, check_scores, check_sparse
from limo._frames import column_names

Y = np.array([[1, 0, 0], [0, 1, 1]])
S = np.array([[0.9, 0.2, 0.4], [0.5, 0.1, 0.8]])


@pytest.mark.parametrize(
    "labels",
    [
        Y,
        Y.tolist(),
        Y.astype(bool),
        Y.astype(np.uint8),
        Y.astype(np.float32),
        Y.astype(object),
        np.asfortranarray(Y),
        pd.DataFrame(Y, columns=list("abc")),
        pd.DataFrame(Y).astype("boolean"),
        pl.DataFrame(Y, schema=["a", "b", "c"]),
        Y.view(np.matrix),
        sparse.csr_matrix(Y),
        sparse.csc_array(Y),
        sparse.coo_array(Y.astype(bool)),
        sparse.lil_matrix(Y),
    ],
    ids=lambda y: f"{type(y).__name__}-{getattr(y, 'dtype', '')}",
)
def test_labels_of_all_kinds_become_one_pattern(labels):
    pattern = check_labels(labels, "y_true")
    assert pattern.csr.toarray().tolist() == Y.tolist()


def test_stored_zeros_and_other_copies_are_left_alone():
    given = sparse.csr_array((np.array([1, 0, 1]), np.array([0, 1, 2]), np.array([0, 2, 3])))
    before = given.copy()
    assert check_labels(given, "y_true").indices.tolist() == [0, 2]
    assert (given.data == before.data).all()
    assert given.nnz == 3


def test_labels_longer_than_one_chunk(monkeypatch):
    monkeypatch.setattr("limo._checks._CHUNK", 4)
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, (23, 3))
    assert check_labels(labels, "y_true").csr.toarray().tolist() == labels.tolist()
    labels[17, 2] = 5
    with pytest.raises(ValueError, match="found 5 at row 17, column 2"):
        check_labels(labels, "y_true")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_float_scores_are_not_copied(dtype):
    scores = np.random.default_rng(0).normal(size=(4, 3)).astype(dtype)
    assert np.shares_memory(check_scores(scores), scores)
    assert check_scores(scores).dtype == dtype


def test_memory_mapped_scores_are_not_copied(tmp_path):
    scores = np.memmap(tmp_path / "scores", dtype=np.float32, mode="w+", shape=(50, 4))
    scores[:] = np.random.default_rng(0).normal(size=scores.shape)
    checked = check_scores(scores)
    assert np.shares_memory(checked, scores)
    labels = (scores > 1).astype(int)
    assert limo.evaluate(labels, scores)["micro_auc"] == 1


def test_other_numbers_become_floats():
    assert check_scores(np.array([[3, 1], [2, 0]])).dtype == np.float64
    assert check_scores(np.array([[0.5, 1]], dtype=np.float16)).dtype == np.float32
    assert check_scores([[0.5, 1], [2, 3]]).dtype == np.float64


def refused(*args, **kwargs):
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        check_inputs(*args, **kwargs)
    return str(caught.value)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, -1e308])
def test_scores_must_be_finite(bad):
    scores = S.copy()
    scores[1, 2] = bad
    assert refused(Y, scores) == (
        f"y_score must hold finite numbers up to 1e150: found {bad} at row 1, column 2. Give such "
        "entries a number (one below all others if they mean 'never') or leave the instance out."
    )
    largest = np.full(S.shape, np.finfo(np.float32).max, dtype=np.float32)
    assert check_scores(largest) is largest


def test_scores_passed_as_labels():
    assert refused(S, Y) == (
        "y_true must hold only 0 and 1: found 0.9 at row 0, column 0. "
        "The order is (y_true, y_score): are the two swapped?"
    )
    assert refused(Y, y_pred=S) == (
        "y_pred must hold only 0 and 1: found 0.9 at row 0, column 0. "
        "Pass scores as y_score, or cut them into labels first."
    )


@pytest.mark.parametrize("labels", [Y, Y.astype(bool), Y.tolist()])
def test_labels_passed_as_scores(labels):
    assert refused(Y, labels) == (
        "y_score looks like labels: it holds only the integers 0 and 1. Pass predicted labels as "
        "y_pred; if these really are scores, pass y_score.astype(float)."
    )
    assert check_inputs(Y, np.array(labels).astype(float)).S is not None


def test_sparse_scores():
    assert refused(Y, sparse.csr_array(S)) == (
        "y_score must be a dense array of scores here, got a sparse csr matrix. If these are predicted "
        "labels, pass them as y_pred; if absent scores mean 0, pass toarray()."
    )


@pytest.mark.parametrize("make", [np.array, sparse.csr_array])
def test_labels_other_than_0_and_1(make):
    wrong = Y.copy()
    wrong[1, 1] = 2
    assert refused(make(wrong), S).startswith(
        "y_true must hold only 0 and 1: found 2 at row 1, column 1."
    )
    assert refused(make(2 * Y - 1), S).endswith(
        "Labels coded -1/+1 become 0/1 with (y_true > 0). "
        "If it is a missing label, pass missing=-1."
    )


def test_missing_labels():
    assert "found nan at row 0, column 1" in refused([[1, np.nan], [0, 1]], S[:, :2])
    frame = pd.DataFrame({"a": [1, None], "b": [0, 1]})
    assert "found nan at row 1, column 0" in refused(frame, S[:, :2])


def test_shapes_that_differ():
    assert refused(Y, S[:, :2]) == (
        "y_score must have the shape of y_true: expected (2, 3), got (2, 2). "
        "Rows are instances and columns are labels, in both."
    )
    assert "y_pred must have the shape of y_true: expected (2, 3), got (1, 3)" in refused(
        Y, y_pred=Y[:1]
    )


def test_one_dimension():
    assert refused([1, 0, 1], [0.5, 0.2, 0.1]) == (
        "y_true must have two dimensions, instances x labels, got shape (3,). "
        "A single label needs reshape(-1, 1), a single instance reshape(1, -1)."
    )
    assert refused(Y, S[0]).startswith("y_score must have two dimensions")
    assert refused(pd.Series([1, 0]), S).startswith("y_true must have two dimensions")


@pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
def test_empty(shape):
    assert refused(np.zeros(shape), np.zeros(shape)) == (
        f"y_true is empty: got shape {shape}, expected at least one instance and one label."
    )
    assert "two non-empty dimensions" in refused(sparse.csr_array(shape), np.zeros(shape))
    with pytest.raises(ValueError, match="y_true must have two dimensions"):
        check_labels([], "y_true")


def test_label_sets_instead_of_a_table():
    message = refused([["a", "b"], ["c"]], S)
    assert message.startswith("y_true must be a table with one row per instance")
    assert "MultiLabelBinarizer" in message
    assert refused([["a", "b", "c"], ["c", "d", "e"]], S) == (
        "y_true must hold numbers, got values of type <U1. "
        "Names of labels become 0/1 columns with scikit-learn's MultiLabelBinarizer."
    )
    assert "got values of type object" in refused(np.array([["1", 0, 0]] * 2, dtype=object), S)
    assert "got values of type complex128" in refused(Y, S + 1j)


def test_masked_entries():
    masked = np.ma.masked_array(S, mask=S > 0.8)
    assert refused(Y, masked) == "y_score has masked entries. Fill them, or leave those rows out."


def test_integers_too_large_for_floats():
    assert "integers beyond 2**53" in refused(Y, (S * 2**60).astype(np.int64))


def test_frames_with_columns_in_another_order():
    y_true, y_score = pd.DataFrame(Y, columns=list("abc")), pd.DataFrame(S, columns=list("bac"))
    assert refused(y_true, y_score) == (
        "The columns of y_score are those of y_true in another order: expected ['a', 'b', 'c'], "
        "got ['b', 'a', 'c']. Reorder them with y_score[y_true.columns], or pass "
        "y_score.to_numpy() if the columns are already in the right order."
    )
    assert check_inputs(y_true, y_score[y_true.columns]).label_names == ("a", "b", "c")


def test_frames_with_other_columns():
    y_true = pd.DataFrame(Y, columns=list("abc"))
    y_pred = pd.DataFrame(Y, columns=["p", "q", "r"])
    message = refused(y_true, y_pred=y_pred)
    assert message.startswith(
        "The columns of y_pred must be those of y_true: expected ['a', 'b', 'c']"
    )
    assert "y_pred.to_numpy()" in message
    wide = pd.DataFrame(np.tile(Y, 2), columns=list("abcdef"))
    assert "['a', 'b', 'c', 'd', ...]" in refused(wide, y_pred=wide.rename(columns=str.upper))


def test_frames_with_rows_in_another_order():
    y_true = pd.DataFrame(Y, columns=list("abc"), index=["x", "y"])
    y_score = pd.DataFrame(S, columns=list("abc"), index=["y", "x"])
    assert "The rows of y_score are those of y_true in another order" in refused(y_true, y_score)
    for other in (["p", "q"], [0, 1]):  # other names, or none: the order is taken as it is
        assert check_inputs(y_true, y_score.set_axis(other)).S is not None


def test_names_come_from_whoever_has_them():
    frame = pd.DataFrame(S, columns=["a", "b", 3])
    assert check_inputs(Y, frame).label_names == ("a", "b", "3")
    assert check_inputs(Y, pl.DataFrame(S, schema=["a", "b", "c"])).label_names == ("a", "b", "c")
    assert check_inputs(Y, pd.DataFrame(S)).label_names is None
    assert check_inputs(Y, S, label_names="abc").label_names == ("a", "b", "c")
    assert refused(Y, S, label_names=["a"]) == (
        "label_names must name every label: expected 3 names, got 1."
    )


def test_column_names_are_those_somebody_gave():
    assert column_names(pd.DataFrame([[1, 2]], columns=["a", 3])) == ("a", "3")
    assert column_names(pd.DataFrame([[1, 2]])) is None
    assert column_names([[1, 2]]) is None


def public_functions():
    """Public functions of labels with scores or predictions, and the arguments they need."""
    for package in (limo, limo.measures, limo.thresholds):
        for name in dir(package):
            function = getattr(package, name)
            if inspect.isfunction(function):
                known = inspect.signature(function).parameters.values()
                needed = [one.name for one in known if one.default is inspect.Parameter.empty]
                if set(needed) <= GIVEN.keys():
                    yield from ((function, needed, none) for none in needed if none[:2] == "y_")


GIVEN = {"y_true": Y, "y_score": S, "y_pred": Y, "threshold": 0.5, "k": 1}


@pytest.mark.parametrize(("function", "needed", "none"), [*public_functions()])
def test_none_in_place_of_labels_or_scores_is_a_sentence(function, needed, none):
    with pytest.raises(ValueError, match=f"{none} is None: expected a table|needs y_score"):
        function(**{name: GIVEN[name] for name in needed} | {none: None})


def broken(**parts):
    """A sparse matrix with a part that does not fit the others."""
    matrix = sparse.csr_array(Y)
    for name, part in parts.items():
        setattr(matrix, name, np.array(part))
    return matrix


BROKEN = {
    "expected indices from 0 to 2, got 3": broken(indices=[0, 1, 3]),
    "expected indices from 0 to 2, got -1": broken(indices=[-1, 1, 2]),
    "indptr must start at 0 and never fall": broken(indptr=[0, 4, 3]),
    "indptr must start at 0 and never fall.": broken(indptr=[1, 1, 3]),
    "indptr must hold 3 integers": broken(indptr=[0, 3]),
    "indptr must hold 3 integers.": broken(indptr=[0.0, 1.0, 3.0]),
    "indptr counts 9 entries, but there are 3 indices and 3 values": broken(indptr=[0, 1, 9]),
    "indptr counts 3 entries, but there are 3 indices and 2 values": broken(data=[1, 1]),
    "its indices must be one list of integers, got float64": broken(indices=[0.0, 1.0, 2.0]),
    "its indices must be one list of integers, got int64": broken(indices=[[0], [1], [2]]),
}
for kind in ("csc", "bsr", "coo"):
    matrix = sparse.csr_array(Y).asformat(kind)
    if kind == "coo":
        matrix.coords = (matrix.coords[0], matrix.coords[1] + 1)
    else:
        matrix.indices = matrix.indices + 1
    BROKEN[f"expected indices from 0 to .*{kind}"] = matrix


@pytest.mark.parametrize("problem", BROKEN)
@pytest.mark.parametrize("entrance", [
    lambda A: limo.evaluate(A, S),
    lambda A: limo.evaluate(Y, y_pred=A),
    lambda A: limo.BinaryRelevance().fit(S, A),
    lambda A: limo.MLKNNClassifier().fit(A, Y),
    lambda A: limo.BinaryRelevance().fit(S, Y).predict(A),
    lambda A: list(limo.datasets.StratifiedFolds(2).split(S, A)),
    lambda A: limo.Dataset(A, Y, tuple("abc"), tuple("abc")),
    lambda A: limo.Dataset(S, A, tuple("abc"), tuple("abc")),
    lambda A: limo.LabelThreshold("macro_f1").fit(Y, A),
    lambda A: limo.thresholds.best_global_threshold(Y, A),
])  # fmt: skip
def test_a_malformed_sparse_matrix_is_an_error_at_every_entrance(entrance, problem):
    words = problem.rstrip(".").partition(".*")[0]
    with pytest.raises(ValueError, match=f"is a malformed ... matrix of shape .2, 3.: {words}"):
        entrance(BROKEN[problem])


def test_sparse_matrices_of_every_format_pass():
    for kind in ("csr", "csc", "bsr", "coo", "lil", "dok", "dia"):
        A = sparse.csr_array(Y).asformat(kind)
        check_sparse(A, "y")
        assert check_labels(A, "y").csr.toarray().tolist() == Y.tolist()
    assert check_sparse(Y, "y") is None
    spare = sparse.csr_array((np.ones(5), np.array([0, 1, 2, 9, 9]), np.array([0, 1, 3])), (2, 3))
    check_sparse(spare, "y")  # what lies beyond the last row is not used
    assert check_labels(spare, "y").csr.toarray().tolist() == Y.tolist()
