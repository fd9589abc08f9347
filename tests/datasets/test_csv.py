"""CSV and TSV."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import limo
from limo.datasets import DataError, Dataset, Limits
from limo.datasets._csv import csv_columns, tsv_columns
from limo.datasets._options import ReadOptions
from limo.datasets._source import Source
from naive import datasets_csv

Read = Callable[..., Dataset]

CSV = "x,colour,tag_a,tag_b\n1.5,red,1,0\n-2,blue,0,1\n1e3,red,1,1\n"


def test_labels_by_prefix_names_and_count(read_text: Read, same: Callable[..., None]) -> None:
    data = read_text(CSV, "toy.csv", labels="tag_*")
    assert data.feature_names == ("x", "colour=blue", "colour=red")
    assert data.X.tolist() == [[1.5, 0, 1], [-2, 1, 0], [1000, 0, 1]]
    assert data.Y.tolist() == [[1, 0], [0, 1], [1, 1]]
    same(data, read_text(CSV, "toy.csv", labels=["tag_a", "tag_b"]))
    same(data, read_text(CSV, "toy.csv", labels=2))
    same(data, read_text(CSV.replace(",", "\t"), "toy.tsv", labels=2))
    same(data, read_text(CSV.replace(",", ";"), "toy.csv", labels=2))
    same(data, read_text(CSV.replace("\n", "\r\n").encode("utf-8-sig"), "toy.csv", labels=2))
    same(data, read_text(CSV.rstrip() + "\n\n", "toy.csv", labels=2))


def test_quotes_truth_and_names(read_text: Read) -> None:
    data = read_text('"a ""b""",t\n"1,5",True\nx,False\n', "toy.csv", labels=["t"])
    assert data.feature_names == ('a "b"=1,5', 'a "b"=x')
    assert data.Y.tolist() == [[1], [0]]


def test_numbers_are_exact(read_text: Read) -> None:
    values = [
        "0.30000000000000004",
        "1e-320",
        "123456789012345678901234",
        "2.2250738585072011e-308",
    ]
    data = read_text("x,t\n" + "".join(f"{v},1\n" for v in values), "toy.csv", labels=1)
    assert data.X[:, 0].tolist() == [float(v) for v in values]


def test_missing(read_text: Read) -> None:
    text = "x,c,t\n1,red,1\n?,,0\n3,NA,1\n"
    with pytest.raises(
        DataError, match=r"toy.csv, line 3: the value of 'x' is missing.*missing='mean'"
    ):
        read_text(text, "toy.csv", labels=1)
    data = read_text(text, "toy.csv", labels=1, missing="mean")
    assert data.feature_names == ("x", "c=red")
    assert data.X.tolist() == [[1, 1], [2, 1], [3, 1]]
    empty = read_text("x,c,t\n,,1\n,,0\n", "toy.csv", labels=1, missing="zero")
    assert empty.X.tolist() == [[0, 0], [0, 0]]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("x,t\n1,0\n2\n", "line 3: expected 2 values, one for each column name, got 1"),
        ("x,t\n1,0\n2,1,1\n", "line 3: expected 2 values, one for each column name, got 3"),
        ("x,t\n1,0\nl.5,1\n", "line 3: expected a number for 'x' as in other rows, got 'l.5'"),
        ("x,t\n1,0\n2,3\n", "line 3: the label 't' must be 0 or 1, got 3"),
        ("x,t\n1,0\n2,\n", "line 3: the label 't' must be 0 or 1, got a missing value"),
        ("x,t\n1,0\n1e999,1\n", "line 3: expected a finite number for 'x', got '1e999'"),
        ("x,x,t\n1,1,0\n", "line 1: expected different column names, got 'x' twice"),
        ("", "expected column names in the first line, got an empty file"),
        ('x,t\n"1,0\n', "a table"),
    ],
)  # fmt: skip
def test_a_malformed_table_is_named(read_text: Read, text: str, sentence: str) -> None:
    with pytest.raises(DataError) as caught:
        read_text(text, "toy.csv", labels=1)
    assert "toy.csv" in str(caught.value)
    assert sentence in str(caught.value) or sentence == "a table"


def test_labels_must_be_named(read_text: Read) -> None:
    with pytest.raises(
        DataError, match=r"which columns are the labels\? Name them: labels=\['a', 'b'\]"
    ):
        read_text(CSV, "toy.csv")
    with pytest.raises(DataError, match="no column to drop is named 'z'; there are 'x', 'colour'"):
        read_text(CSV, "toy.csv", labels=2, drop=["z"])
    with pytest.raises(DataError, match="Did you mean 'colour'"):
        read_text(CSV, "toy.csv", labels=2, drop=["color"])
    with pytest.raises(DataError, match="no column is named 'colors'.*Did you mean 'colour'"):
        read_text(CSV, "toy.csv", labels=["colors"])
    assert read_text(CSV, "toy.csv", labels=2, drop=["colour"]).feature_names == ("x",)
    with pytest.raises(DataError, match="at most 3 columns, got 4"):
        read_text(CSV, "toy.csv", labels=2, limits=Limits(max_columns=3))


def test_an_overlong_field(read_text: Read) -> None:
    with pytest.raises(DataError, match="expected a table, but field larger than field limit"):
        read_text("x,t\n" + "a" * 200_000 + ",1\n", "toy.csv", labels=1)


def test_a_frame_written_by_pandas(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(50, 3)), rng.integers(0, 2, size=(50, 2))
    frame = pd.DataFrame(np.hstack([X, Y]), columns=["a", "b", "c", "y1", "y2"])
    frame.to_csv(tmp_path / "toy.csv.gz", index=False)
    data = limo.read(tmp_path / "toy.csv.gz", labels="y*")
    assert np.array_equal(data.X, X)
    assert np.array_equal(data.Y, Y)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('x,t\n"1"0,1\n', """line 2: expected a table, but ',' expected after '"'"""),
        ('x,t\n"a\nb",1\n"c\nd",2\n', "line 5: the label 't' must be 0 or 1, got 2"),
        ("x,t\n\n1,1\n\n2,2\n", "line 5: the label 't' must be 0 or 1, got 2"),
        ("x,t\n1,1,1\n2\n", "line 2: expected 2 values, one for each column name, got 3"),
        ("x,t\n1,1\n2\n3,1,1\n", "line 3: expected 2 values, one for each column name, got 1"),
        ("x,t\n1,1\n  \n", "line 3: expected 2 values, one for each column name, got 1"),
        ("t\n1\n  \n", "line 3: expected a value, got only spaces; write NA for a missing value"),
        ("x,t\n1,1\n-inf,1\n", "line 3: expected a finite number for 'x', got '-inf'"),
        ("x,t\n NA ,1\n1e999,1\n", "line 3: expected a finite number for 'x', got '1e999'"),
    ],
)  # fmt: skip
def test_what_pandas_would_accept_or_not_place(read_text: Read, text: str, sentence: str) -> None:
    with pytest.raises(DataError) as caught:
        read_text(text, "toy.csv", labels=["t"], missing="nan")
    assert sentence in str(caught.value)


def test_short_rows_do_not_fill_memory(read_text: Read) -> None:
    wide = "a" + "".join(f",{j}" for j in range(20_000)) + "\n" + "1\n" * 20_000
    with pytest.raises(DataError, match="line 2: expected 20001 values, .* got 1"):
        read_text(wide, "toy.csv", labels=1)


def test_large_and_spaced_numbers(read_text: Read) -> None:
    huge = "123456789012345678901234"
    data = read_text(f"x,y,t\n{huge}, 1 ,1\n{huge}, NA,0\n", "toy.csv", labels=1, missing="nan")
    assert data.X[:, 0].tolist() == [float(huge)] * 2
    assert np.array_equal(data.X[:, 1], [1, np.nan], equal_nan=True)


def test_a_column_to_drop_may_hold_anything(read_text: Read) -> None:
    text = "id,x,t\na,1e999,1\n5,2,0\n"
    assert read_text(text, "toy.csv", labels=1, drop=["id", "x"]).X.shape == (2, 0)


@settings(deadline=None)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_every_float_comes_back(values: list[float]) -> None:
    text = "x,t\n" + "".join(f"{value!r},1\n" for value in values)
    source = Source("toy", "toy", text.encode(), lambda name: None)
    assert csv_columns(source, ReadOptions()).cells[:, 0].tolist() == values


CELLS = ["1", "0", "2.5", "-3e2", "5.", "+.5", "9007199254740993", "", "?", "NA", "red", "blue"]
CELLS += [
    "True",
    "false",
    " 1 ",
    "\tNA ",
    "red ",
    '"a"',
    '"1,5"',
    '"x""y"',
    '"a\nb"',
    '"a"b',
    'a"b',
]
CELLS += ["1e999", "1_0", "0x1", "1e", "é", "12345678901234567890123", " ", "1 2", "\x00"]


@st.composite
def tables(draw: st.DrawFn) -> tuple[str, str]:
    """A delimiter, and a text with rows that may be blank or of another length."""
    delimiter, width = draw(st.sampled_from([",", ";", "\t"])), draw(st.integers(1, 4))
    delimiter = "," if width == 1 and delimiter == ";" else delimiter  # no ; to recognise it by
    pools = [draw(st.lists(st.sampled_from(CELLS), min_size=1, max_size=3)) for _ in range(width)]
    row = st.tuples(*map(st.sampled_from, pools)).map(list)
    odd = st.lists(st.sampled_from(CELLS), max_size=5)
    rows = draw(st.lists(st.one_of(row, row, row, row, row, odd), max_size=5))
    names = [f"c{j}" for j in range(width)]
    lines = [delimiter.join(cells) for cells in (names, *rows)]
    return delimiter, "\n".join(lines) + draw(st.sampled_from(["", "\n", "\n\n"]))


def test_a_zero_byte_is_named_with_its_line() -> None:
    source = Source("toy", "toy", b"a,b\n1,2\n1,\x00x\n", lambda name: None)
    with pytest.raises(DataError, match="line 3: expected text, got a zero byte. Save the file as"):
        csv_columns(source, ReadOptions())


@settings(deadline=None, max_examples=300)
@given(tables())
def test_agrees_with_the_slow_reader(made: tuple[str, str]) -> None:
    delimiter, text = made
    source = Source("toy", "toy", text.encode(), lambda name: None)
    reader = tsv_columns if delimiter == "\t" else csv_columns
    try:
        expected = datasets_csv.read(text, delimiter)
    except datasets_csv.MalformedError:
        with pytest.raises(DataError):
            reader(source, ReadOptions())
        return
    columns = reader(source, ReadOptions())
    assert columns.names == [column.name for column in expected]
    for j, (header, column) in enumerate(zip(columns.headers, expected, strict=True)):
        assert header.values == (tuple(column.values) if column.values else None)
        cells = [np.nan if cell is None else cell for cell in column.cells]
        found = columns.cells[:, j].tolist()
        if header.values:
            found = [cell if np.isnan(cell) else header.values[int(cell)] for cell in found]
        assert str(found) == str(cells)
