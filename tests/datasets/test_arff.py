"""ARFF in all the forms that real files use; one small file for each trap."""

from collections.abc import Callable

import arff as liac
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import limo
from limo.datasets import DataError, Dataset
from naive import datasets_arff
from naive.datasets_fuzz import TARGETS

Read = Callable[..., Dataset]

HEADER = "@relation 'toy: -C -2'\n@attribute f numeric\n@attribute g numeric\n@attribute a {0,1}\n@attribute b {0,1}\n@data\n"


def rows(data: Dataset) -> tuple[list[list[float]], list[list[int]]]:
    dense = data.to_dense()
    return dense.X.tolist(), dense.Y.tolist()


def test_sparse_width_comes_from_the_header(read_text: Read) -> None:
    # A peer takes it from the largest index seen. Label b never occurs here, so there the label
    # block slips to the left by one and the feature value 2.0 of g becomes a label.
    data = read_text(HEADER + "{1 2.0, 2 1}\n{0 1.5}\n{}\n")
    assert rows(data) == ([[0, 2], [1.5, 0], [0, 0]], [[1, 0], [0, 0], [0, 0]])
    assert data.X.shape == (3, 2)
    assert data.label_names == ("a", "b")
    peer = liac.loads(HEADER + "{1 2.0, 2 1}\n{0 1.5}\n{}\n", return_type=liac.COO)["data"]
    values, _, columns = peer
    width = max(columns) + 1
    assert (width, [v for v, c in zip(values, columns, strict=True) if c >= width - 2]) == (
        3,
        [2.0, "1"],
    )


def test_dense_and_sparse_rows_mean_the_same(read_text: Read, same: Callable[..., None]) -> None:
    dense = read_text(HEADER + "0,2.5,1,0\n1,0,0,1\n")
    braced = read_text(HEADER + "{1 2.5,2 1}\n{0 1,3 1}\n")
    mixed = read_text(HEADER + "0,2.5,1,0\n{0 1,3 1}\n")
    same(dense, braced)
    same(dense, mixed)
    assert isinstance(dense.X, np.ndarray)
    assert sparse.issparse(braced.X)
    assert sparse.issparse(mixed.Y)


def test_an_omitted_nominal_is_its_first_value(read_text: Read) -> None:
    data = read_text(
        "@relation 'r: -C -1'\n@attribute c {red,green}\n@attribute f {1,0}\n@attribute a {1,0}\n"
        "@data\n{}\n{0 green}\n{1 0,2 0}\n"
    )
    assert data.feature_names == ("c=red", "c=green", "f")
    assert rows(data) == ([[1, 0, 1], [0, 1, 1], [1, 0, 0]], [[1], [1], [0]])


def test_quotes_escapes_and_odd_names(read_text: Read) -> None:
    data = read_text(
        "@relation r\n"
        "@attribute 'a name' {0, 1}\n"
        "@attribute 'MacGillivray\\'s Warbler' { 0 , 1 }\n"
        '@attribute "say \\"hi\\"" numeric\n'
        "@attribute 0; {0,1}\n@attribute - {0,1}\n@attribute 1-1/2 {0,1}\n@attribute Genre--_(x) {0,1}\n"
        "@data\n1,0,-3e2,1,0,1,0\n",
        labels=["a name", "MacGillivray's Warbler"],
    )
    assert data.feature_names == ('say "hi"', "0;", "-", "1-1/2", "Genre--_(x)")
    assert rows(data) == ([[-300, 1, 0, 1, 0]], [[1, 0]])


def test_quoted_values(read_text: Read) -> None:
    data = read_text(
        "@attribute c {'dark, red','it\\'s',\"}\"}\n@attribute n numeric\n@attribute a {'0','1'}\n"
        "@data\n'dark, red','1.5','1'\n\"it's\", 2 ,0\n{0 '}',1 '3'}\n",
        labels=["a"],
    )
    assert data.feature_names == ("c=dark, red", "c=it's", "c=}", "n")
    assert rows(data) == ([[1, 0, 0, 1.5], [0, 1, 0, 2], [0, 0, 1, 3]], [[1], [0], [0]])


def test_a_declared_value_with_quotes_in_it(read_text: Read) -> None:
    data = read_text(
        "@attribute c {x,'\\'x\\''}\n@attribute a {0,1}\n@data\n'x',0\n'\\'x\\'',1\n", labels=1
    )
    assert rows(data)[0] == [[1, 0], [0, 1]]


def test_comments_blank_lines_case_and_trailing_remarks(read_text: Read) -> None:
    data = read_text(
        "% a comment\n\n  @RELATION r\n@Attribute a {0,1} % remark\n@attribute n INTEGER % remark\n"
        "@DATA % go\n\n% between\n  1 , 2  \n\t0,\t3\n",
        labels=["a"],
    )
    assert rows(data) == ([[2], [3]], [[1], [0]])


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", [True, False])
def test_line_ends(read_text: Read, end: str, last: bool) -> None:
    text = HEADER + "1,2,0,1\n{0 3,2 1}" + ("\n" if last else "")
    assert rows(read_text(text.replace("\n", end))) == ([[1, 2], [3, 0]], [[0, 1], [1, 0]])


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1"])
def test_encodings(read_text: Read, encoding: str) -> None:
    text = "@attribute größe {klein,groß}\n@attribute é {0,1}\n@data\ngroß,1\n"
    data = read_text(text.encode(encoding), labels=["é"])
    assert data.feature_names == ("größe=klein", "größe=groß")
    assert rows(data) == ([[0, 1]], [[1]])
    if encoding == "latin-1":
        with pytest.raises(DataError, match="not in the encoding 'utf-8'"):
            read_text(text.encode(encoding), labels=["é"], encoding="utf-8")
        assert read_text(text.encode(encoding), labels=1, encoding="latin-1").label_names == ("é",)


def test_unsorted_and_repeated_indices(read_text: Read) -> None:
    data = read_text(HEADER + "{3 1,0 5,1 2.5,0 5}\n{2 1,2 1}\n")
    assert rows(data) == ([[5, 2.5], [0, 0]], [[0, 1], [1, 0]])
    assert data.X.has_canonical_format
    with pytest.raises(DataError, match=r"line 8: 'f' is given two different values in one row"):
        read_text(HEADER + "{}\n{0 5,0 6}\n")


def test_explicit_zeros_are_not_stored(read_text: Read) -> None:
    assert read_text(HEADER + "{0 0,1 0.0,2 0}\n").X.nnz == 0


def test_missing_values(read_text: Read) -> None:
    text = (
        "@attribute n numeric\n@attribute c {x,y}\n@attribute a {0,1}\n@data\n?,x,0\n2,?,1\n4,y,1\n"
    )
    with pytest.raises(
        DataError, match=r"line 5: the value of 'n' is missing.*missing='mean', 'zero' or 'nan'"
    ):
        read_text(text, labels=1)
    nan = np.nan
    expected = {
        "nan": [[nan, 1, 0], [2, nan, nan], [4, 0, 1]],
        "mean": [[3, 1, 0], [2, 0.5, 0.5], [4, 0, 1]],
        "zero": [[0, 1, 0], [2, 0, 0], [4, 0, 1]],
    }
    braced = text.replace("?,x,0", "{0 ?}").replace("2,?,1", "{2 1,1 ?,0 2}")
    for missing, X in expected.items():
        assert np.array_equal(read_text(text, labels=1, missing=missing).X, X, equal_nan=True)
        dense = read_text(braced, labels=1, missing=missing).to_dense()
        assert np.array_equal(dense.X, X, equal_nan=True)


def test_a_missing_label_is_never_imputed(read_text: Read) -> None:
    with pytest.raises(
        DataError, match=r"line 8: the label 'b' must be 0 or 1, got a missing value"
    ):
        read_text(HEADER + "1,1,0,1\n1,1,0,?\n", missing="zero")


def test_text_and_dates_are_dropped_by_request(read_text: Read) -> None:
    text = "@attribute id string\n@attribute d DATE 'yyyy-MM-dd'\n@attribute n real\n@attribute a {0,1}\n@data\n"
    body = "'x, y',2020-01-01,1,1\n{2 3,0 abc}\n"
    with pytest.raises(
        DataError, match=r"line 1: the attribute 'id' is of type string.*drop=\['id', 'd'\]"
    ):
        read_text(text + body, labels=["a"])
    data = read_text(text + body, labels=["a"], drop=["id", "d"])
    assert data.feature_names == ("n",)
    assert rows(data) == ([[1], [3]], [[1], [0]])
    with pytest.raises(DataError, match=r"drop names no attribute of the file: \['x'\]"):
        read_text(text + body, labels=["a"], drop=["x"])


def test_a_row_name_is_refused_as_a_feature(read_text: Read) -> None:
    names = [f"protein{i}" for i in range(30)]
    text = f"@attribute id {{{','.join(names)}}}\n@attribute n real\n@attribute a {{0,1}}\n@data\n"
    text += "".join(f"{name},1,0\n" for name in names)
    with pytest.raises(
        DataError, match=r"'id' has a different value in each of the 30 rows.*drop=\['id'\]"
    ):
        read_text(text, labels=1)
    assert read_text(text, labels=1, drop=["id"]).X.shape == (30, 1)
    assert read_text(text, labels=1, nominal="codes").X[:, 0].tolist() == list(range(30))


def test_codes_instead_of_columns(read_text: Read) -> None:
    text = "@attribute c {x,y,z}\n@attribute a {0,1}\n@data\nz,0\n{0 y}\n{}\n"
    data = read_text(text, labels=1, nominal="codes")
    assert data.feature_names == ("c",)
    assert rows(data)[0] == [[2], [1], [0]]


def test_labels_in_other_words(read_text: Read) -> None:
    text = "@attribute n real\n@attribute a {no,yes}\n@attribute b {TRUE,FALSE}\n@attribute c {-1,1}\n@attribute d real\n@data\n"
    data = read_text(text + "1,yes,FALSE,1,0\n{}\n", labels=4)
    assert data.Y.toarray().tolist() == [[1, 0, 1, 0], [0, 1, 0, 0]]
    with pytest.raises(
        DataError, match=r"the label 'a' must have the values \{0, 1\}.*got \{x, y\}"
    ):
        read_text("@attribute n real\n@attribute a {x,y}\n@data\n", labels=1)
    with pytest.raises(DataError, match=r"line 4: the label 'a' must be 0 or 1, got 2"):
        read_text("@attribute n real\n@attribute a real\n@data\n1,2\n", labels=1)


def test_numbers_agree_with_python(read_text: Read) -> None:
    texts = [
        "1",
        "-0.1",
        ".5",
        "5.",
        "1e3",
        "1E-320",
        "123456789012345678901234567890",
        "0.30000000000000004",
        "1.7976931348623157e308",
        "9007199254740993",
    ]
    data = read_text(
        "@attribute n real\n@attribute a {0,1}\n@data\n" + "".join(f"{t},0\n" for t in texts),
        labels=1,
    )
    assert data.X[:, 0].tolist() == [float(t) for t in texts]


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("1,2,0", "expected 4 values, one for each attribute, got 3"),
        ("1,2,0,1,1", "expected 4 values, one for each attribute, got 5"),
        ("1,,0,1", "expected a value, got nothing; a missing value is written ?"),
        ("1,2,0,", "expected a value, got nothing"),
        ("1,x,0,1", "expected a finite number for 'g', got 'x'"),
        ("1,nan,0,1", "expected a finite number for 'g', got 'nan'"),
        ("1,1e999,0,1", "expected a finite number for 'g', got '1e999'"),
        ("1,1_0,0,1", "expected a finite number for 'g', got '1_0'"),
        ("1,2,2,1", "expected a value of 'a', one of {0, 1}, got '2'"),
        ("1,'2,0,1", "a quote is opened and not closed in this line"),
        ("1,'2'3,0,1", "expected a comma or the end of the row, got '3,0,1'"),
        ("{0 1", "the brace that opens this row is not closed"),
        ("{0 1,}", "expected 'index value' in a row with braces, got '}'"),
        ("{x 1}", "expected 'index value' in a row with braces, got 'x 1}'"),
        ("{0}", "expected a space after the index 0, got '}'"),
        ("{0 }", "expected a value after the index 0, got nothing"),
        ("{-1 5}", "expected 'index value' in a row with braces, got '-1 5}'"),
        ("{4 1}", "index 4 is out of range: the header has 4 attributes, numbered from 0"),
        ("{99999999999999999999 1}", "is out of range: the header has 4 attributes"),
        ("{0 1} 2", "expected a comma or the end of the row, got '2'"),
        ("{0 '1}", "a quote is opened and not closed in this line"),
    ],
)  # fmt: skip
def test_a_malformed_line_is_named(read_text: Read, line: str, sentence: str) -> None:
    with pytest.raises(DataError) as caught:
        read_text(HEADER + "0,0,0,0\n% remark\n" + line + "\n0,0,0,0\n")
    assert "toy.arff, line 9: " in str(caught.value)
    assert sentence in str(caught.value)
    assert caught.value.line == 9


def test_an_empty_data_section_gives_no_rows(read_text: Read) -> None:
    data = read_text(HEADER)
    assert data.X.shape == (0, 2)
    assert data.Y.shape == (0, 2)


def test_the_record_says_where_it_came_from(read_text: Read, tmp_path: object) -> None:
    data = read_text(HEADER + "1,2,0,1\n")
    assert data.source == str(tmp_path / "toy.arff")  # type: ignore[operator]
    assert len(data.checksum) == 64


names = st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), min_size=1, max_size=6)


@st.composite
def files(draw: st.DrawFn) -> str:
    """A well-formed ARFF text of every kind of attribute and row."""
    quote = limo.datasets._source.quote
    attributes = draw(st.lists(names, min_size=1, max_size=4, unique=True))
    kinds = [
        draw(st.none() | st.lists(names, min_size=1, max_size=4, unique=True)) for _ in attributes
    ]
    lines = ["@relation r"]
    for name, values in zip(attributes, kinds, strict=True):
        kind = "numeric" if values is None else "{" + ",".join(map(quote, values)) + "}"
        lines.append(f"@attribute {quote(name)} {kind}")
    lines += ["@attribute 'the label' {0,1}", "@data"]
    kinds.append(["0", "1"])
    for _ in range(draw(st.integers(0, 4))):
        cells = [
            repr(draw(st.floats(allow_nan=False, allow_infinity=False)))
            if values is None
            else quote(draw(st.sampled_from(values)))
            for values in kinds
        ]
        if draw(st.booleans()):
            chosen = draw(st.lists(st.sampled_from(range(len(cells))), unique=True))
            lines.append("{" + ", ".join(f"{j} {cells[j]}" for j in chosen) + "}")
        else:
            lines.append(draw(st.sampled_from([",", " , "])).join(cells))
    return "\n".join(lines) + draw(st.sampled_from(["", "\n"]))


@settings(deadline=None)
@given(files())
def test_agrees_with_the_slow_twin(text: str) -> None:
    if "the label" in datasets_arff.read(text.encode()).names[:-1]:
        return
    TARGETS["arff"](bytes([5]) + text.encode())  # one label, missing='nan': compares every cell


@pytest.mark.parametrize(
    "name",
    [
        "CAL500/cal500.arff",
        pytest.param("enron/enron.arff", marks=pytest.mark.slow),
        "medical/medical.arff",
        pytest.param("Corel5k/Corel5k-sparse.arff", marks=pytest.mark.slow),
    ],
)
def test_agrees_with_liac_arff_cell_by_cell(real_data: object, name: str) -> None:
    file = real_data / name  # type: ignore[operator]
    ours = limo.read(file).to_dense()
    peer = liac.loads(file.read_text(), return_type=liac.DENSE)
    cells = np.array(peer["data"], dtype=float)
    place = {attribute: j for j, (attribute, _) in enumerate(peer["attributes"])}
    assert np.array_equal(ours.X, cells[:, [place[n] for n in ours.feature_names]])
    assert np.array_equal(ours.Y, cells[:, [place[n] for n in ours.label_names]])


@pytest.mark.slow
def test_agrees_with_liac_arff_on_bibtex(real_data: object) -> None:
    import lzma

    file = real_data / "bibtex" / "bibtex.arff.xz"  # type: ignore[operator]
    ours = limo.read(file)
    with lzma.open(file, "rt") as handle:
        peer = liac.load(handle, return_type=liac.COO)
    values, rows_, columns = peer["data"]
    shape = (ours.X.shape[0], len(peer["attributes"]))
    cells = sparse.csr_array((np.array(values, dtype=float), (rows_, columns)), shape=shape)
    place = {attribute: j for j, (attribute, _) in enumerate(peer["attributes"])}
    assert abs(cells[:, [place[n] for n in ours.feature_names]] - ours.X).nnz == 0
    assert abs(cells[:, [place[n] for n in ours.label_names]] - ours.Y).nnz == 0
