import pytest
from hypothesis import given
from hypothesis import strategies as st

from limo.datasets import DataError, Limits
from limo.datasets._arff import parse_header, split_values
from limo.datasets._source import quote, unquote


def parse(text: str) -> object:
    return parse_header(text.encode(), "utf-8", "toy.arff", Limits(max_columns=3))


def test_a_header() -> None:
    header = parse(
        "@relation 'a b'\n% note\n@attribute x Real\n@attribute 'y z' { a, 'b c' }\n@data\n1,a"
    )
    assert header.relation == "a b"
    assert [(a.name, a.kind, a.values, a.line) for a in header.attributes] == [
        ("x", "numeric", (), 3),
        ("y z", "nominal", ("a", "b c"), 4),
    ]
    assert header.data_line == 5


@pytest.mark.parametrize("kind", ["numeric", "REAL", "integer", "real [0,1]", "real % note"])
def test_numbers(kind: str) -> None:
    assert parse(f"@attribute x {kind}\n@data").attributes[0].kind == "numeric"


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("@attribute x", "expected '@attribute name type', got '@attribute x'. A name with spaces needs quotes"),
        ("@attribute 'x numeric", "expected '@attribute name type'"),
        ("@attribute a name numeric", "expected a type: numeric, real, integer, {value, value, ...}, string or date; got 'name numeric'. A name with spaces needs quotes"),
        ("@attribute x {a,b", "expected {value, value, ...}, got '{a,b'"),
        ("@attribute x {}", "expected {value, value, ...}, got '{}'"),
        ("@attribute x {a,,b}", "expected {value, value, ...}"),
        ("@attribute x {a} b", "expected nothing after {value, value, ...}, got 'b'"),
        ("@attribute x {a,b,a}", "expected different values, got 'a' twice"),
        ("@atribute x numeric", "expected @relation, @attribute or @data, got '@atribute'"),
        ("1,2,3", "expected @relation, @attribute, @data or a comment, got '1,2,3'"),
        ("@attribute first numeric", "expected different names, got 'first' again (first in line 1). Rename one"),
    ],
)  # fmt: skip
def test_a_malformed_header_is_named(line: str, sentence: str) -> None:
    with pytest.raises(DataError) as caught:
        parse(f"@attribute first numeric\n{line}\n@data\n")
    assert str(caught.value).startswith("toy.arff, line 2: ")
    assert sentence in str(caught.value)


def test_no_data_line() -> None:
    with pytest.raises(DataError, match="expected a line @data, found none. Is this an ARFF file?"):
        parse("@attribute x numeric\n% @data\n")


def test_too_many_attributes() -> None:
    with pytest.raises(DataError, match=r"at most 3 attributes, got 4.*Limits\(max_columns=4\)"):
        parse("".join(f"@attribute x{j} numeric\n" for j in range(9)) + "@data\n")


@given(st.text(max_size=12))
def test_what_is_quoted_reads_back(text: str) -> None:
    assert unquote(quote(text)) == text
    assert "\n" not in quote(text)
    assert split_values("{" + quote(text) + ",other!}") == (text, "other!") or text == "other!"


@pytest.mark.parametrize(
    ("token", "text"),
    [
        ("'a\\tb'", "a\tb"),
        ("'a\\u00e9'", "aé"),
        ("'\\%'", "%"),
        ("'a", "'a"),
        ("'", "'"),
        ("x", "x"),
        ("''", ""),
    ],
)
def test_unquote(token: str, text: str) -> None:
    assert unquote(token) == text


def test_a_value_without_end_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="expected"):
        split_values("{" + " " * 300_000)
    with pytest.raises(ValueError, match="expected"):
        split_values("{'" + "\\'" * 300_000)
