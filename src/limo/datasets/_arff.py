"""ARFF files with dense or sparse rows, in Mulan's form (an XML beside) or MEKA's (``-C n``).

Read by our own code because no library knows which attributes are labels, or that an omitted cell
of a sparse row is the first value of a nominal attribute; and liac-arff takes 5 to 10 times as
long (``benchmarks/data.py``). The header is parsed here, the data in ``limo._kernels.arff``.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from limo._kernels import arff as kernels
from limo.datasets._columns import (
    ColumnHeader,
    Columns,
    arff_labels,
    features_only_may_miss,
    missing_value,
    names_labels,
    to_dataset,
)
from limo.datasets._dataset import Dataset, csr, without_repeats
from limo.datasets._options import DataError, Limits, ReadOptions
from limo.datasets._source import Source, encoding_of, line_at, normalise, unquote

# The header: the relation, the attributes and where the data begin.

_BLANKS = "".join(map(chr, range(33)))  # the same characters as in the data section and in Weka
_DATA = re.compile(rb"(?im)^[\x00-\x09\x0b-\x20]*@data[\x00-\x09\x0b-\x20]*(?:%[^\n]*)?$")
_KEYWORD = re.compile(r"@(\w+)[\x00-\x20]*(.*)", re.DOTALL)
_QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_NAME = re.compile(rf"({_QUOTED}|[^\x00-\x20{{'\"][^\x00-\x20{{]*)[\x00-\x20]*(.*)", re.DOTALL)
_TYPE = re.compile(r"([A-Za-z]+)\b(.*)", re.DOTALL)
# Possessive (*+), so that a value without an end is rejected in linear time, however long it is.
_VALUE = re.compile(rf"[\x00-\x20]*+(?:({_QUOTED})[\x00-\x20]*+|([^,}}'\"][^,}}]*+))([,}}])")
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
        The line of its declaration.
    """

    name: str
    kind: str
    values: tuple[str, ...]
    line: int


@dataclass(frozen=True)
class ArffHeader:
    """The relation, the attributes, and the position and line where the data begin."""

    relation: str
    attributes: tuple[Attribute, ...]
    data_start: int
    data_line: int


def parse_header(data: bytes, encoding: str, path: str, limits: Limits) -> ArffHeader:
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
    return ArffHeader(relation, tuple(attributes), match.end() + 1, len(header_lines))


def _statements(lines: list[str], path: str) -> Iterator[tuple[int, str, str]]:
    """Line number, keyword and the rest of each line that is not blank or a comment."""
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
    """The values of ``{a, 'b c', ...}``; ValueError if that is malformed.

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


# The data section.

_SHORT = 7  # the kernel looks up values of at most this many bytes
_PROBLEMS = {
    kernels.WRONG_WIDTH: "expected {width} values, one for each attribute, got {count}",
    kernels.EMPTY_VALUE: "expected a value, got nothing; a missing value is written ?",
    kernels.UNCLOSED_QUOTE: "a quote is opened and not closed in this line",
    kernels.STRAY_TEXT: "expected a comma or the end of the row, got {got}",
    kernels.NO_INDEX: "expected 'index value' in a row with braces, got {got}",
    kernels.BAD_INDEX: "expected a space after the index {detail}, got {got}",
    kernels.OUT_OF_RANGE: "index {detail} is out of range: the header has {width} attributes, "
    "numbered from 0",
    kernels.NO_VALUE: "expected a value after the index {detail}, got nothing",
    kernels.UNCLOSED_BRACE: "the brace that opens this row is not closed",
}


def read_arff(source: Source, options: ReadOptions) -> Dataset:
    """Read an ARFF file; see :func:`limo.read`."""
    opened = _open(source, options)
    names = [attribute.name for attribute in opened.kept]
    labels = arff_labels(names, opened.body.header.relation, source, options)
    columns = opened.columns(features_only_may_miss(options))
    return to_dataset(columns, labels, options, source.checksum)


def arff_columns(source: Source, options: ReadOptions) -> Columns:
    """Read the attributes of an ARFF file, labels and features alike."""
    return _open(source, options).columns(options.missing)


def says_labels(source: Source, options: ReadOptions) -> bool:
    """Whether the file, or an XML file beside it, says which attributes are labels."""
    opened = _open(source, options)
    return names_labels(opened.body.header.relation, len(opened.kept), source, options)


def _open(source: Source, options: ReadOptions) -> "_Opened":
    """Read the header; the data are read when they are asked for."""
    data = normalise(source.data, source.path)
    encoding = encoding_of(data, options.encoding, source.path)
    header = parse_header(data, encoding, source.path, options.limits)
    kept = _kept(header, options, source.path)
    return _Opened(kept, _Body(data[header.data_start :], header, encoding, source.path))


class _Opened(NamedTuple):
    """An ARFF file whose header has been read, and the attributes to keep."""

    kept: list[Attribute]
    body: "_Body"

    def columns(self, missing: str) -> Columns:
        cells, row_starts = self.body.cells(self.kept, missing)
        headers = tuple(
            ColumnHeader(a.name, a.values if a.kind == "nominal" else None) for a in self.kept
        )
        return Columns(
            headers, cells, self.body.path, lambda row: self.body.line(int(row_starts[row]))
        )


def _kept(header: ArffHeader, options: ReadOptions, path: str) -> list[Attribute]:
    """The attributes left after ``drop``; text and dates among them are rejected."""
    unknown = set(options.drop) - {attribute.name for attribute in header.attributes}
    if unknown:
        raise DataError(f"drop names no attribute of the file: {sorted(unknown)}", path=path)
    kept = [a for a in header.attributes if a.name not in options.drop]
    text = [a for a in kept if a.kind not in ("numeric", "nominal")]
    if text:
        names = [*options.drop, *(a.name for a in text)]
        raise DataError(
            f"the attribute {text[0].name!r} is of type {text[0].kind}, but limo needs numbers. "
            f"drop={names} leaves out all such attributes",
            path=path,
            line=text[0].line,
        )
    return kept


class _Body:
    """The data section, and the line of a position in it."""

    def __init__(self, text: bytes, header: ArffHeader, encoding: str, path: str) -> None:
        self.text, self.header, self.encoding, self.path = text, header, encoding, path

    def line(self, position: int) -> int:
        return line_at(self.text, position) + self.header.data_line

    def error(self, problem: str, position: int) -> DataError:
        return DataError(problem, path=self.path, line=self.line(position))

    def token(self, start: int, end: int) -> str:
        return self.text[start:end].decode(self.encoding)

    def cells(self, kept: list[Attribute], missing: str) -> tuple[Any, Any]:
        """The matrix of the kept attributes, and where each row begins."""
        cells = _empty_cells(self.text)
        text = np.frombuffer(self.text, dtype=np.uint8)
        attributes = _attribute_arrays(self.header.attributes, kept, self.encoding)
        position, problem, detail = kernels.read_rows(text, attributes, cells)
        if problem != kernels.END:
            raise self.error(self._problem(position, problem, detail), position)
        self._read_noted(cells, missing)
        n_rows = int(cells.used[2])
        return self._matrix(cells, kept), cells.row_starts[:n_rows]

    def _problem(self, position: int, problem: int, detail: int) -> str:
        """The message for a problem the kernel found."""
        rest = self.text[position : position + 200].decode(self.encoding, "replace")
        got = repr(rest.partition("\n")[0][:40]) if rest.strip("\n") else "the end of the line"
        start = self.text.rfind(b"\n", 0, position) + 1
        row = self.text[start:].partition(b"\n")[0]
        width, count = len(self.header.attributes), max(detail, row.count(b",") + 1)
        return _PROBLEMS[problem].format(width=width, count=count, got=got, detail=detail)

    def _read_noted(self, cells: kernels.Cells, missing: str) -> None:
        """Read the values that the kernel noted but could not read."""
        places: list[dict[str, int] | None] = [None] * len(self.header.attributes)
        for cell, start, end in cells.noted[: cells.used[1]].tolist():
            column = int(cells.columns[cell])
            attribute = self.header.attributes[column]
            token = self.token(start, end)
            if token == "?":
                if missing == "error":
                    raise missing_value(attribute.name, self.path, self.line(start))
                cells.values[cell] = np.nan
            elif attribute.kind == "numeric":
                cells.values[cell] = self._number(unquote(token), attribute, start)
            else:
                if places[column] is None:
                    places[column] = {value: k for k, value in enumerate(attribute.values)}
                cells.values[cell] = self._place(token, attribute, places[column], start)

    def _number(self, token: str, attribute: Attribute, start: int) -> float:
        try:
            value = float(token) if token.isascii() and "_" not in token else np.nan
        except ValueError:
            value = np.nan
        if not np.isfinite(value):
            raise self.error(
                f"expected a finite number for {attribute.name!r}, got {token[:40]!r}", start
            )
        return value

    def _place(
        self, token: str, attribute: Attribute, places: dict[str, int] | None, start: int
    ) -> int:
        code = (places or {}).get(unquote(token))
        if code is None:
            declared = ", ".join(attribute.values[:6])
            more = ", ..." if len(attribute.values) > 6 else ""
            raise self.error(
                f"expected a value of {attribute.name!r}, one of {{{declared}{more}}}, "
                f"got {token[:40]!r}",
                start,
            )
        return code

    def _matrix(self, cells: kernels.Cells, kept: list[Attribute]) -> Any:
        """Dense if every row is, else CSR; without the columns of dropped attributes."""
        n_cells, _, n_rows, n_braced = cells.used.tolist()
        if n_braced == 0:
            return cells.values[:n_cells].reshape(n_rows, len(kept))
        new = np.full(len(self.header.attributes), -1, dtype=np.int32)
        place = {a.name: j for j, a in enumerate(self.header.attributes)}
        new[[place[a.name] for a in kept]] = np.arange(len(kept))
        indptr = np.concatenate([[0], cells.row_ends[:n_rows]])
        indices = new[cells.columns[:n_cells]]
        values = cells.values[:n_cells].copy()
        matrix = csr(values, indices, indptr, (n_rows, len(kept)))

        def clash(row: int, column: int) -> DataError:
            return self.error(
                f"{kept[column].name!r} is given two different values in one row. Remove one",
                int(cells.row_starts[row]),
            )

        return without_repeats(matrix, clash)


def _empty_cells(text: bytes) -> kernels.Cells:
    """Arrays for as many cells and rows as the text can hold; unused memory costs nothing."""
    n_rows = text.count(b"\n") + 1
    n_cells = text.count(b",") + n_rows
    return kernels.Cells(
        np.empty(n_cells),
        np.empty(n_cells, dtype=np.int32),
        np.empty(n_rows, dtype=np.int64),
        np.empty(n_rows, dtype=np.int64),
        np.empty((n_cells, 3), dtype=np.int64),
        np.zeros(4, dtype=np.int64),
    )


def _attribute_arrays(
    attributes: tuple[Attribute, ...], kept: list[Attribute], encoding: str
) -> kernels.Attributes:
    """The header as arrays for the kernel; long values have no key and are looked up later."""
    names = {attribute.name for attribute in kept}
    kinds = [
        _kernel_kind(attribute) if attribute.name in names else kernels.SKIPPED
        for attribute in attributes
    ]
    keyed = [_keys(a.values, encoding) for a in attributes]
    starts = np.concatenate([[0], np.cumsum([len(keys) for keys, _ in keyed])])
    keys = [key for keys, _ in keyed for key in keys]
    codes = [code for _, codes in keyed for code in codes]
    return kernels.Attributes(
        np.array(kinds, dtype=np.int8),
        starts.astype(np.int64),
        np.array(keys, dtype=np.uint64),
        np.array(codes, dtype=np.int64),
    )


def _kernel_kind(attribute: Attribute) -> int:
    return kernels.NUMERIC if attribute.kind == "numeric" else kernels.NOMINAL


@lru_cache(maxsize=1024)
def _keys(values: tuple[str, ...], encoding: str) -> tuple[list[int], list[int]]:
    """Sorted keys of the short values, and their places."""
    pairs = []
    for code, value in enumerate(values):
        raw = value.encode(encoding, "replace")
        if 0 < len(raw) <= _SHORT and raw[0] not in b"?'\"":
            pairs.append((int.from_bytes(bytes([len(raw)]) + raw), code))
    pairs.sort()
    return [key for key, _ in pairs], [code for _, code in pairs]
