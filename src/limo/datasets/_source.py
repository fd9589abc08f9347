"""Open a file, plain or compressed, and prepare its text: line ends, encoding, quotes.

Everything happens in memory and within limits. Nothing is unpacked to disk, so an archive cannot
write anywhere.
"""

import bz2
import gzip
import hashlib
import io
import lzma
import os
import re
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any

from limo._system import as_path
from limo.datasets._options import DataError, Limits, shorten

_PACKED_SUFFIXES = (".gz", ".bz2", ".xz", ".zip")
_DAMAGE = (OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, ValueError)
_UNSUPPORTED = (NotImplementedError, RuntimeError)  # a zip with a password or an odd method
_UNPACKERS: dict[bytes, Any] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
}
_PIECE = 1 << 22
_ZIP = b"PK\x03\x04"
# What a file name has besides the name of the data set: enron-train, Corel5k-test-sparse.
_PART = re.compile(r"(?i)^(.+)[-_.](train|test|sparse|dense|full)$")


@dataclass(frozen=True)
class Source:
    """An opened file: its name, its content, and the files beside it.

    Attributes
    ----------
    path : str
        The path for messages; ``archive.zip/member`` for a member of an archive.
    name : str
        The file name without .gz, .bz2, .xz or .zip.
    data : bytes
        The content after decompression.
    beside : callable
        From the name of a file in the same folder (or archive) to its content; None if absent.
    """

    path: str
    name: str
    data: bytes
    beside: Callable[[str], bytes | None]

    @property
    def checksum(self) -> str:
        """The sha256 of the content."""
        return hashlib.sha256(self.data).hexdigest()

    @property
    def stem(self) -> str:
        """The name without its suffix."""
        return PurePosixPath(self.name).stem

    @property
    def set_names(self) -> list[str]:
        """The names the data set may have: the stem, also without -train, -test, -sparse."""
        return set_names(self.stem)


def set_names(stem: str) -> list[str]:
    """The names the data set of a file may have, from the stem of the file's name."""
    names = [stem]
    while match := _PART.match(names[-1]):
        names.append(match[1])
    return names


def bare_name(file: Path) -> str:
    """The name of a file without .gz, .bz2, .xz or .zip."""
    return file.stem if file.suffix.lower() in _PACKED_SUFFIXES else file.name


def open_source(path: str | os.PathLike[str], member: str | None, limits: Limits) -> Source:
    """Read ``path`` (or one ``member`` of a zip), unpacking .gz, .bz2, .xz and .zip."""
    file = as_path(path)
    with file.open("rb") as handle:
        start = handle.read(6)
        handle.seek(0)
        if start.startswith(_ZIP) and not _holds_arrays(handle):
            return _open_member(file, handle, member, limits)
        if member is not None:
            raise DataError(f"member={member!r} needs a zip archive", path=str(file))
        data = _read_packed(handle, start, str(file), limits)
    name = bare_name(file)
    return Source(str(file), name, data, lambda other: _read_beside(file.parent / other, limits))


def _read_packed(handle: IO[bytes], start: bytes, path: str, limits: Limits) -> bytes:
    for magic, unpacker in _UNPACKERS.items():
        if start.startswith(magic):
            return _read_within(unpacker(handle), path, limits)
    return _read_within(handle, path, limits)


def _read_within(handle: IO[bytes], path: str, limits: Limits) -> bytes:
    """Everything in ``handle``; stops as soon as the limit is exceeded.

    It is read in pieces, because a single read would reserve memory for the whole limit.
    """
    content = io.BytesIO()
    try:
        while content.tell() <= limits.max_bytes and (piece := handle.read(_PIECE)):
            content.write(piece)
    except MemoryError as error:
        raise DataError(
            f"there is not enough memory for the file: it was full after {content.tell():,} bytes",
            path=path,
        ) from error
    except (*_DAMAGE, *_UNSUPPORTED) as error:
        raise DataError(
            f"the file is damaged or incomplete ({error or type(error).__name__}). "
            "Download it again",
            path=path,
        ) from error
    data = content.getvalue()  # no copy
    if len(data) > limits.max_bytes:
        raise DataError(
            f"expected at most {limits.max_bytes:,} bytes after unpacking, got more. If you trust "
            f"the file, pass limits=limo.datasets.Limits(max_bytes=...)",
            path=path,
        )
    return data


def _read_beside(file: Path, limits: Limits) -> bytes | None:
    if not file.is_file():
        return None
    with file.open("rb") as handle:
        return _read_within(handle, str(file), limits)


def _holds_arrays(handle: IO[bytes]) -> bool:
    """Whether a zip is an NPZ file, which is read as a whole."""
    try:
        with zipfile.ZipFile(handle) as archive:
            names = archive.namelist()
    except (*_DAMAGE, *_UNSUPPORTED):
        names = []
    handle.seek(0)
    return bool(names) and all(name.endswith(".npy") for name in names)


def _open_member(file: Path, handle: IO[bytes], member: str | None, limits: Limits) -> Source:
    """Read one member of a zip; the files beside it are the other members of its folder."""
    limits.check("max_bytes", file.stat().st_size, "bytes", str(file))
    content = handle.read()
    chosen = _choose(_members(content, str(file)), member, file)
    path = f"{file}/{chosen}"
    data = _read_member(content, chosen, path, limits)
    start = data[:6]
    data = _read_packed(io.BytesIO(data), start, path, limits)
    folder = PurePosixPath(chosen).parent

    def beside(other: str) -> bytes | None:
        name = str(folder / other)
        if name not in _members(content, str(file)):
            return None
        return _read_member(content, name, f"{file}/{name}", limits)

    return Source(path, PurePosixPath(chosen).name, data, beside)


def _members(content: bytes, path: str) -> list[str]:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            infos = archive.infolist()
    except (*_DAMAGE, *_UNSUPPORTED) as error:
        raise DataError(f"the zip is damaged ({error}). Download it again", path=path) from error
    return [info.filename for info in infos if _is_file(info.filename)]


def _is_file(name: str) -> bool:
    """Whether a member is a file of the user, not a folder or a hidden file of the system."""
    hidden = name.startswith("__MACOSX/") or PurePosixPath(name).name.startswith(".")
    return bool(name) and not name.endswith("/") and not hidden


def _read_member(content: bytes, name: str, path: str, limits: Limits) -> bytes:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive, archive.open(name) as handle:
            return _read_within(handle, path, limits)
    except (*_DAMAGE, *_UNSUPPORTED, KeyError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"the member cannot be unpacked ({error})", path=path) from error


def _choose(names: list[str], member: str | None, file: Path) -> str:
    """The member asked for, else the only data file, else the one named like the XML or zip."""
    if member is not None:
        if member in names:
            return member
        raise DataError(f"no member {member!r}; the archive holds {shorten(names)}", path=str(file))
    data = [name for name in names if not _is_companion(name)]
    stems = {PurePosixPath(n).stem for n in names if n.lower().endswith(".xml")} | {file.stem}
    named = [name for name in data if PurePosixPath(name).stem in stems]
    for candidates in (data, named):
        if len(candidates) == 1:
            return candidates[0]
    raise DataError(
        f"expected one data file, got {shorten(data) or 'none'}. Choose with member=...",
        path=str(file),
    )


def _is_companion(name: str) -> bool:
    return name.lower().endswith((".xml", ".md", ".txt.names", ".json", ".pdf"))


# Text: line ends, encodings, the line of a position, and quoted values of ARFF.

_UTF8_MARK = b"\xef\xbb\xbf"
_SYNTAX = "@{0 1},\n"  # must be encoded as in ASCII
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


_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}
_NEEDS_QUOTES = re.compile(r"[\s,{}%'\"\\\x00-\x20]")
_CONTROL = re.compile(r"[\x00-\x1f\x85\u2028\u2029]")


def unquote(token: str) -> str:
    r"""The value of a token: without quotes, escapes replaced.

    >>> print(unquote(r"'MacGillivray\'s Warbler'"))
    MacGillivray's Warbler
    """
    if len(token) < 2 or token[0] not in "'\"" or token[-1] != token[0]:
        return token
    return _ESCAPE.sub(_unescape, token[1:-1])


def _unescape(match: re.Match[str]) -> str:
    code = match[1]
    return chr(int(code[1:], 16)) if len(code) == 5 else _ESCAPED.get(code, code)


def quote(value: str) -> str:
    r"""``value`` as a token, in quotes where ARFF needs them.

    >>> print(quote("happy"), quote("don't know"))
    happy 'don\'t know'
    """
    if value and value != "?" and not _NEEDS_QUOTES.search(value):
        return value
    text = value.replace("\\", "\\\\").replace("'", "\\'")
    for letter, character in _ESCAPED.items():
        text = text.replace(character, "\\" + letter)
    return "'" + _CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", text) + "'"
