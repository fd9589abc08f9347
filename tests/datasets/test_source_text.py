import pytest

from limo.datasets import DataError
from limo.datasets._source import encoding_of, line_at, normalise


def test_line_ends_and_marks() -> None:
    assert normalise(b"\xef\xbb\xbfa\r\nb\rc\n", "") == b"a\nb\nc\n"
    with pytest.raises(
        DataError, match="toy: expected UTF-8 or Latin-1, got UTF-16. Save the file as UTF-8"
    ):
        normalise("a".encode("utf-16"), "toy")


@pytest.mark.parametrize(
    ("data", "wanted", "encoding"),
    [
        (b"abc", None, "utf-8"),
        ("é".encode(), None, "utf-8"),
        (b"\xe9", None, "latin-1"),
        (b"\xe9", "cp1252", "cp1252"),
    ],
)
def test_encodings(data: bytes, wanted: str | None, encoding: str) -> None:
    assert encoding_of(data, wanted, "") == encoding


@pytest.mark.parametrize("wanted", ["utf-16", "no-such", "ascii", "utf-32"])
def test_wrong_encodings(wanted: str) -> None:
    with pytest.raises(
        DataError, match=f"toy: the file is not in the encoding '{wanted}'; leave encoding= out"
    ):
        encoding_of("é".encode(), wanted, "toy")


def test_lines() -> None:
    assert [line_at(b"a\nb\n", p) for p in (0, 1, 2, 3)] == [1, 1, 2, 2]
