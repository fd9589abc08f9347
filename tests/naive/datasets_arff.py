"""ARFF read the slow, obvious way: character by character, one Python object per cell."""

from typing import NamedTuple

BLANKS = "".join(map(chr, range(33)))
Cell = float | str | None  # a number, a nominal value, or missing


class Naive(NamedTuple):
    names: list[str]
    values: list[list[str] | None]  # the declared values of a nominal attribute
    rows: list[list[Cell]]


def read(data: bytes) -> Naive:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    is_data = [
        line.strip(BLANKS).lower().partition("%")[0].strip(BLANKS) == "@data" for line in lines
    ]
    start = is_data.index(True)
    names, values = [], []
    for line in lines[:start]:
        if line.strip(BLANKS).lower().startswith("@attribute"):
            name, rest = first_token(line.strip(BLANKS)[len("@attribute") :].strip(BLANKS))
            names.append(name)
            values.append(nominal(rest.strip(BLANKS)))
    rows = []
    for line in lines[start + 1 :]:
        line = line.strip(BLANKS)
        if line and not line.startswith("%"):
            rows.append(braced(line, values) if line.startswith("{") else dense(line, values))
    return Naive(names, values, rows)


def first_token(text: str) -> tuple[str, str]:
    """The first word or quoted text, and what follows."""
    if text[0] in "'\"":
        raw = ""
        i = 1
        while text[i] != text[0]:
            raw += text[i]
            i += 1
            if raw[-1] == "\\":
                raw += text[i]
                i += 1
        return unescape(raw), text[i + 1 :]
    i = 0
    while i < len(text) and text[i] not in BLANKS and text[i] != "{":
        i += 1
    return text[:i], text[i:]


def unescape(raw: str) -> str:
    out, i = "", 0
    while i < len(raw):
        if raw[i] == "\\" and i + 1 < len(raw):
            letter = raw[i + 1]
            code = raw[i + 2 : i + 6]
            if (
                letter == "u"
                and len(code) == 4
                and all(c in "0123456789abcdefABCDEF" for c in code)
            ):
                out += chr(int(code, 16))
                i += 6
                continue
            out += {"n": "\n", "t": "\t", "r": "\r"}.get(letter, letter)
            i += 2
        else:
            out += raw[i]
            i += 1
    return out


def nominal(text: str) -> list[str] | None:
    if not text.startswith("{"):
        return None
    pieces = split(text[1:], ",", "}")
    return [value(piece) for piece in pieces]


def split(text: str, comma: str, end: str) -> list[str]:
    """Cut at commas outside quotes, up to ``end``."""
    pieces, piece, i = [], "", 0
    while True:
        if i >= len(text):
            if end:
                raise ValueError("not closed")
            return [*pieces, piece.strip(BLANKS)]
        c = text[i]
        if c == end and end:
            rest = text[i + 1 :].strip(BLANKS)
            if rest and not rest.startswith("%"):
                raise ValueError("stray text")
            return [*pieces, piece.strip(BLANKS)]
        if c == comma:
            pieces.append(piece.strip(BLANKS))
            piece = ""
        elif c in "'\"" and begins_value(piece):
            j = i + 1
            while text[j] != c:
                j += 2 if text[j] == "\\" else 1
            piece += text[i : j + 1]
            i = j
        else:
            piece += c
        i += 1


def begins_value(piece: str) -> bool:
    """Whether a quote here opens a value: at its start, or after the index of a sparse cell."""
    index = piece.strip(BLANKS)
    return not index or (index.isdigit() and piece[-1] in BLANKS)


def value(piece: str) -> str:
    if piece == "":
        raise ValueError("empty value")
    if piece[0] in "'\"":
        text, rest = first_token(piece)
        if rest:
            raise ValueError("text after a quote")
        return text
    return piece


def cell(piece: str, declared: list[str] | None) -> Cell:
    if piece == "?":
        return None
    text = value(piece)
    if declared is None:
        number = float(text)
        if not abs(number) < float("inf") or "_" in text:
            raise ValueError("not finite")
        return number
    if text not in declared:
        raise ValueError("not declared")
    return text


def dense(line: str, values: list[list[str] | None]) -> list[Cell]:
    pieces = split(line, ",", "")
    if len(pieces) != len(values):
        raise ValueError("wrong width")
    return [cell(piece, declared) for piece, declared in zip(pieces, values, strict=True)]


def braced(line: str, values: list[list[str] | None]) -> list[Cell]:
    row: list[Cell] = [0.0 if declared is None else declared[0] for declared in values]
    seen: dict[int, Cell] = {}
    pieces = split(line[1:], ",", "}")
    if pieces == [""]:
        return row
    for piece in pieces:
        blank = next(c for c in piece if c in BLANKS)
        index, _, rest = piece.partition(blank)
        j = int(index)
        found = cell(rest.strip(BLANKS), values[j])
        if j in seen and seen[j] != found:
            raise ValueError("two values")
        seen[j] = row[j] = found
    return row
