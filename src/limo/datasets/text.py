"""Text in bytes: line ends, encodings, and the line of a position."""

from limo.datasets.errors import DataError

__all__ = ["encoding_of", "line_at", "normalise"]

_UTF8_MARK = b"\xef\xbb\xbf"
_SYNTAX = "@{0 1},\n"  # must be the same bytes as in ASCII
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def normalise(data: bytes, path: str) -> bytes:
    r"""The same text without a byte order mark and with \n at the line ends."""
    if data.startswith(_UTF16_MARKS):
        raise DataError("expected UTF-8 or Latin-1, got UTF-16. Save the file as UTF-8", path=path)
    data = data.removeprefix(_UTF8_MARK)
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return data


def encoding_of(data: bytes, wanted: str | None, path: str) -> str:
    """The encoding asked for, else UTF-8 if the bytes are that, else Latin-1."""
    if wanted is None and data.isascii():
        return "utf-8"
    try:
        data.decode(wanted or "utf-8")
        good = _SYNTAX.encode(wanted or "utf-8") == _SYNTAX.encode("ascii")
    except (UnicodeError, LookupError):
        good = False
    if wanted is not None and not good:
        raise DataError(
            f"the file is not in the encoding {wanted!r}; leave encoding= out", path=path
        )
    return wanted or ("utf-8" if good else "latin-1")


def line_at(text: bytes, position: int) -> int:
    """The line of a position, counted from 1."""
    return text.count(b"\n", 0, position) + 1
