"""The header of an ARFF file: its relation, its attributes, and where the data begin."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from limo.datasets.errors import DataError, Limits

__all__ = ["Attribute", "Header", "parse_header", "quote", "split_values", "unquote"]

_BLANKS = "".join(map(chr, range(33)))  # as in the data section, and in Weka
_DATA = re.compile(rb"(?im)^[\x00-\x09\x0b-\x20]*@data[\x00-\x09\x0b-\x20]*(?:%[^\n]*)?$")
_KEYWORD = re.compile(r"@(\w+)[\x00-\x20]*(.*)", re.DOTALL)
_QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_NAME = re.compile(rf"({_QUOTED}|[^\x00-\x20{{'\"][^\x00-\x20{{]*)[\x00-\x20]*(.*)", re.DOTALL)
_TYPE = re.compile(r"([A-Za-z]+)\b(.*)", re.DOTALL)
# Possessive (*+): a value that does not end is refused at once, however long it is.
_VALUE = re.compile(rf"[\x00-\x20]*+(?:({_QUOTED})[\x00-\x20]*+|([^,}}'\"][^,}}]*+))([,}}])")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}
_NEEDS_QUOTES = re.compile(r"[\s,{}%'\"\\\x00-\x20]")
_CONTROL = re.compile(r"[\x00-\x1f\x85\u2028\u2029]")
_KINDS = {"numeric": "numeric", "real": "numeric", "integer": "numeric"}
_TEXT_KINDS = ("string", "date", "relational")


@dataclass(frozen=True)
class Attribute:
    """A column as the header declares it.

    Attributes
    ----------
    name : str
        Without quotes and escapes.
    kind : str
        ``numeric``, ``nominal``, ``string``, ``date`` or ``relational``.
    values : tuple of str
        The declared values of a nominal attribute, in order.
    line : int
        Where it stands.
    """

    name: str
    kind: str
    values: tuple[str, ...]
    line: int


@dataclass(frozen=True)
class Header:
    """The header, the place after it, and the encoding of the file."""

    relation: str
    attributes: tuple[Attribute, ...]
    data_start: int
    data_line: int


def unquote(token: str) -> str:
    r"""The value a token stands for.

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
    r"""A token that stands for ``value``, in quotes where ARFF needs them.

    >>> print(quote("happy"), quote("don't know"))
    happy 'don\'t know'
    """
    if value and value != "?" and not _NEEDS_QUOTES.search(value):
        return value
    text = value.replace("\\", "\\\\").replace("'", "\\'")
    for letter, character in _ESCAPED.items():
        text = text.replace(character, "\\" + letter)
    return "'" + _CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", text) + "'"


def parse_header(data: bytes, encoding: str, path: str, limits: Limits) -> Header:
    """Read everything up to ``@data``."""
    match = _DATA.search(data)
    if match is None:
        raise DataError("expected a line @data, found none. Is this an ARFF file?", path=path)
    relation, attributes = "", []
    header_lines = data[: match.start()].decode(encoding).split("\n")
    for line, keyword, rest in _statements(header_lines, path):
        if keyword == "relation":
            relation = unquote(rest)
        elif keyword == "attribute":
            attributes.append(_attribute(rest, line, path))
            limits.check("max_columns", len(attributes), "attributes", path)
        else:
            raise DataError(
                f"expected @relation, @attribute or @data, got {'@' + keyword!r}",
                path=path,
                line=line,
            )
    _check_names(attributes, path)
    return Header(relation, tuple(attributes), match.end() + 1, len(header_lines))


def _statements(lines: list[str], path: str) -> Iterator[tuple[int, str, str]]:
    """Line number, keyword and the rest of each line that says something."""
    for number, raw in enumerate(lines, start=1):
        text = raw.strip(_BLANKS)
        if not text or text.startswith("%"):
            continue
        match = _KEYWORD.match(text)
        if match is None:
            raise DataError(
                f"expected @relation, @attribute, @data or a comment, got {_short(text)}",
                path=path,
                line=number,
            )
        yield number, match[1].lower(), match[2]


def _attribute(text: str, line: int, path: str) -> Attribute:
    """Read ``name type``."""
    match = _NAME.match(text)
    if match is None or not match[2]:
        raise DataError(
            f"expected '@attribute name type', got {_short('@attribute ' + text)}. "
            "A name with spaces needs quotes",
            path=path,
            line=line,
        )
    kind, values = _kind(match[2], line, path)
    return Attribute(unquote(match[1]), kind, values, line)


def _kind(text: str, line: int, path: str) -> tuple[str, tuple[str, ...]]:
    if text.startswith("{"):
        try:
            return "nominal", split_values(text)
        except ValueError as error:
            raise DataError(str(error), path=path, line=line) from None
    match = _TYPE.match(text)
    name = match[1].lower() if match else ""
    kind = _KINDS.get(name, name if name in _TEXT_KINDS else "")
    rest = match[2].strip(_BLANKS) if match else ""
    if not kind or (kind == "numeric" and rest and not rest.startswith(("%", "["))):
        raise DataError(
            "expected a type: numeric, real, integer, {value, value, ...}, string or date; "
            f"got {_short(text)}. A name with spaces needs quotes",
            path=path,
            line=line,
        )
    return kind, ()


@lru_cache(maxsize=1024)
def split_values(text: str) -> tuple[str, ...]:
    """The values of ``{a, 'b c', ...}``; raise ValueError saying what is wrong.

    >>> split_values("{ 0, 1 }")
    ('0', '1')
    """
    values, i, closed = [], 1, False
    while not closed:
        match = _VALUE.match(text, i)
        if match is None:
            raise ValueError(f"expected {{value, value, ...}}, got {_short(text)}")
        values.append(match[2].strip(_BLANKS) if match[1] is None else unquote(match[1]))
        i, closed = match.end(), match[3] == "}"
    rest = text[i:].strip(_BLANKS)
    if rest and not rest.startswith("%"):
        raise ValueError(f"expected nothing after {{value, value, ...}}, got {_short(rest)}")
    if len(set(values)) < len(values):
        twice = Counter(values).most_common(1)[0][0]
        raise ValueError(f"expected different values, got {_short(twice)} twice")
    return tuple(values)


def _check_names(attributes: list[Attribute], path: str) -> None:
    seen: dict[str, int] = {}
    for attribute in attributes:
        if attribute.name in seen:
            raise DataError(
                f"expected different names, got {attribute.name!r} again (first in line "
                f"{seen[attribute.name]}). Rename one",
                path=path,
                line=attribute.line,
            )
        seen[attribute.name] = attribute.line


def _short(text: str, width: int = 60) -> str:
    return repr(text if len(text) <= width else text[: width - 3] + "...")
