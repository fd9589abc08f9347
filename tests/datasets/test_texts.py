"""Ids that name rows, and columns that list labels."""

import numpy as np
import pandas as pd
import pytest

import limo
from limo.datasets import DataError, read_ids, read_instances, read_matrix, write_predictions

NAMES = ["calm", "sad", "wild"]
Y = np.array([[1, 0, 1], [0, 1, 0], [0, 0, 0], [1, 1, 1]])
S = np.array([[0.9, 0.2, 0.4], [0.5, 0.1, 0.8], [0.3, 0.7, 0.1], [0.2, 0.3, 0.6]])
IDS = ["007", "12", "a b", "x"]
ORDER = [2, 0, 3, 1]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def table(values, ids=IDS, **more):
    return pd.DataFrame({"id": ids, **dict(zip(NAMES, values.T, strict=True)), **more})


def save(frame, name):
    if name.endswith(".parquet"):
        frame.to_parquet(name, index=False)
    else:
        frame.to_csv(name, index=False, sep="\t" if name.endswith(".tsv") else ",")


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet"])
def test_rows_are_matched_by_id(suffix):
    save(table(Y), f"Y.{suffix}")
    save(table(S).iloc[ORDER], f"S.{suffix}")
    truth = read_matrix(f"Y.{suffix}", "truth", id="id")
    found = read_matrix(f"S.{suffix}", id="id")
    assert found.ids.tolist() == [IDS[k] for k in ORDER]
    assert found.label_names == tuple(NAMES)
    assert np.array_equal(found.rows_as(truth, match=True).values, S)
    assert truth.rows_as(truth, match=True) is truth
    assert read_ids(f"S.{suffix}", "id").tolist() == [IDS[k] for k in ORDER]


def test_a_shuffled_file_is_noticed_by_its_index():
    pd.DataFrame(Y, columns=NAMES).to_csv("Y.csv")
    pd.DataFrame(S, columns=NAMES).iloc[ORDER].to_csv("S.csv")
    truth, scores = read_matrix("Y.csv", "truth"), read_matrix("S.csv")
    assert truth.label_names == tuple(NAMES)
    with pytest.raises(DataError, match="S.csv: the rows are those of Y.csv in another order"):
        scores.rows_as(truth, match=False)
    found = read_matrix("S.csv", id="").rows_as(read_matrix("Y.csv", "truth", id=""), match=True)
    assert np.array_equal(found.values, S)


def test_rows_of_other_instances_are_not_compared_without_ids():
    pd.DataFrame(Y, columns=NAMES).to_csv("Y.csv")
    pd.DataFrame(S, columns=NAMES, index=[10, 11, 12, 13]).to_csv("S.csv")
    scores = read_matrix("S.csv")
    assert scores.rows_as(read_matrix("Y.csv", "truth"), match=False) is scores


@pytest.mark.parametrize(
    ("ids", "words"),
    [
        (["007", "12", "a b", "007"], "line 5: expected a different id in each row of 'id', got '007'"),
        (["007", "", "a b", "x"], "line 3: expected a different id in each row of 'id', got none"),
    ],
)  # fmt: skip
def test_ids_must_differ(ids, words):
    save(table(Y, ids), "Y.csv")
    with pytest.raises(DataError, match=words):
        read_matrix("Y.csv", "truth", id="id")


def test_other_ids_are_rejected():
    save(table(Y), "Y.csv")
    save(table(S, ["007", "12", "a b", "z"]), "S.csv")
    truth, scores = read_matrix("Y.csv", "truth", id="id"), read_matrix("S.csv", id="id")
    with pytest.raises(DataError, match="no row for 'x' and rows for 'z', which Y.csv lacks"):
        scores.rows_as(truth, match=True)
    with pytest.raises(DataError, match="no column is named 'song'; there are 'id', 'calm'"):
        read_matrix("Y.csv", "truth", id="song", drop=["id"])
    np.save("S.npy", S)
    with pytest.raises(DataError, match="a .npy file has no column of ids"):
        read_matrix("S.npy", id="id")


def test_ids_in_arrays():
    write_predictions("P.npz", NAMES, labels=Y, ids=IDS)
    found = read_matrix("P.npz", "predictions", id="id")
    assert found.ids.tolist() == IDS == read_ids("P.npz", "id").tolist()
    write_predictions("Q.csv", NAMES, scores=S, labels=Y, ids=IDS, id_column="song")
    again = read_matrix("Q.csv", "predictions", id="song")
    assert (again.ids.tolist(), again.label_names) == (IDS, tuple(NAMES))
    assert np.array_equal(read_matrix("Q.csv", "scores", id="song").values, S)
    with pytest.raises(DataError, match="P.npy cannot hold ids"):
        write_predictions("P.npy", NAMES, labels=Y, ids=IDS)
    with pytest.raises(DataError, match="ids must name the 4 rows of labels, got 2"):
        write_predictions("R.csv", NAMES, labels=Y, ids=["a", "b"])
    with pytest.raises(DataError, match="expected different names of columns, got 'sad' twice"):
        write_predictions("R.csv", NAMES, labels=Y, ids=IDS, id_column="sad")


# Columns that list labels


def tags(separator=";"):
    return [separator.join(n for n, one in zip(NAMES, row, strict=True) if one) for row in Y]


def test_tags_are_labels():
    pd.DataFrame({"id": IDS, "mood": tags(" ; "), "length": [1, 2, 3, 4]}).to_csv("T.csv")
    found = read_matrix("T.csv", "truth", tags="mood", id="id")
    assert np.array_equal(found.values.toarray(), Y)
    assert found.label_names == tuple(NAMES)
    data = limo.read("T.csv", tags="mood", drop=["id"])
    assert np.array_equal(data.Y.toarray(), Y)
    assert (data.feature_names, data.label_names) == (("length",), tuple(NAMES))
    assert data.X.ravel().tolist() == [1, 2, 3, 4]


def test_tags_of_known_labels():
    pd.DataFrame({"mood": tags()}).to_csv("T.csv", index=False)
    more = ["wild", "loud", "sad", "calm"]
    found = read_matrix("T.csv", "truth", tags="mood", label_names=more)
    assert np.array_equal(found.values.toarray()[:, [3, 2, 0]], Y)
    assert found.label_names == tuple(more)
    with pytest.raises(DataError, match="line 2: the label 'wild' in 'mood' is unknown"):
        read_matrix("T.csv", "truth", tags="mood", label_names=["calm", "sad"])


def test_tags_that_are_numbers_or_lists():
    pd.DataFrame({"t": ["1;3", "2", "", "10"]}).to_csv("T.csv")
    assert read_matrix("T.csv", "truth", tags="t").label_names == ("1", "10", "2", "3")
    lists = [["calm", "wild"], ["sad"], [], NAMES]
    pd.DataFrame({"t": lists}).to_parquet("T.parquet")
    found = read_matrix("T.parquet", "truth", tags="t")
    assert np.array_equal(found.values.toarray(), Y)


def test_another_separator():
    pd.DataFrame({"mood": tags("|")}).to_csv("T.csv", index=False)
    with pytest.raises(DataError, match=r"no row of 'mood' has a semicolon, but .* has '\|'"):
        read_matrix("T.csv", "truth", tags="mood")
    found = read_matrix("T.csv", "truth", tags="mood", separator="|")
    assert np.array_equal(found.values.toarray(), Y)
    with pytest.raises(DataError, match="separator= is what is between two labels"):
        read_matrix("T.csv", "truth", separator="|")
    with pytest.raises(DataError, match="labels= and tags= both say"):
        limo.read("T.csv", tags="mood", labels=1)
    with pytest.raises(DataError, match="no column is named 'x'"):
        read_matrix("T.csv", "truth", tags="x")


# The real cause


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a;b\n0,5;0,25\n0,1;1\n", "line 2: .* got a decimal comma: '0,5'. Write 0.5"),
        ("0,5;0,25\n0,1;0,2\n", "line 1: .* got a decimal comma: '0,5'"),
        ('a,b\n1,2\n"0,5",3\n', "line 3: .* got a decimal comma: '0,5'"),
        (
            "id,a\n17,0.5\n18,0.5\nx,0.1\n",
            "line 4: expected a number for 'id' as .* or id='id' to match",
        ),
    ],
)
def test_decimal_commas(folder, text, words):
    (folder / "S.csv").write_text(text)
    with pytest.raises(DataError, match=words):
        read_matrix("S.csv")


def test_a_numeric_id_is_recognised():
    save(table(Y, [17, 18, 19, 20]), "Y.csv")
    with pytest.raises(DataError, match="'id' has a different number in each row.* id='id'"):
        read_matrix("Y.csv", "truth")
    save(table(S, [17, 18, 19, 20]), "S.csv")
    scores = read_matrix("S.csv")
    with pytest.raises(DataError, match="If 'id' names the rows, match by it with id='id'"):
        scores.ordered_as(tuple(NAMES))


def test_an_unseen_value_is_remarked_on(folder):
    (folder / "new.csv").write_text("key,length\nlydian,3.5\nminor,1\n")
    with pytest.warns(UserWarning, match="not trained on 'key=lydian'"):
        X = read_instances("new.csv", ["length", "key=major", "key=minor"])
    assert X.tolist() == [[3.5, 0, 0], [1, 0, 1]]
