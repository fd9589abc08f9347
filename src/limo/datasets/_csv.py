"""CSV and TSV files, read with the C parser of pandas.

pandas is exact and about six times as fast as splitting rows with Python's csv module. But it pads
short rows, accepts text after a closing quote and does not give the line of a wrong value. So the
csv module checks the rows unless counting delimiters proves them complete, and finds the
line of an error in a second pass.
"""

import csv
import io
import itertools
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from limo._system import Later
from limo.datasets._columns import ColumnHeader, Columns, check_names, labelled_dataset
from limo.datasets._dataset import Dataset
from limo.datasets._options import DataError, ReadOptions
from limo.datasets._source import Source, encoding_of, line_at, normalise
from limo.datasets._texts import is_row_name

pd = Later("pandas")

_MISSING = frozenset({"", "?", "NA", "N/A", "NaN", "nan", "NULL", "null", "None"})
_TRUTH = {"true": 1.0, "false": 0.0}
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+([eE][+-]?[0-9]+)?")
_COMMA_BYTES = re.compile(_COMMA.pattern.encode())
_BLANKS = " \t"


def read_csv(source: Source, options: ReadOptions) -> Dataset:
    """Read comma-separated values (or semicolons, if the first line has no commas)."""
    return labelled_dataset(csv_columns(source, options), options, source.checksum)


def read_tsv(source: Source, options: ReadOptions) -> Dataset:
    """Read tab-separated values."""
    return labelled_dataset(tsv_columns(source, options), options, source.checksum)


def csv_columns(source: Source, options: ReadOptions) -> Columns:
    """Read the columns of a CSV file, labels and features alike."""
    first = io.BytesIO(source.data).readline()
    if b";" in first and all(map(_COMMA_BYTES.fullmatch, first.strip().split(b";"))):
        raise _decimal_comma(first.split(b";")[0].decode("ascii"), source.path, 1)
    return _read(source, options, ";" if b";" in first and b"," not in first else ",")


def tsv_columns(source: Source, options: ReadOptions) -> Columns:
    """Read the columns of a TSV file, labels and features alike."""
    return _read(source, options, "\t")


def _read(source: Source, options: ReadOptions, delimiter: str) -> Columns:
    data = normalise(source.data, source.path)
    encoding = encoding_of(data, options.encoding, source.path)
    if encoding != "utf-8":
        data = data.decode(encoding).encode("utf-8", "replace")
    if (place := data.find(0)) >= 0:  # pandas before 3.1 would cut the cell there
        problem = "expected text, got a zero byte. Save the file as UTF-8"
        raise DataError(problem, path=source.path, line=line_at(data, place))
    text = _Text(data, delimiter, source.path)
    line, first = next(text.rows(), (0, None))
    if first is None:
        problem = "expected column names in the first line, got an empty file"
        raise DataError(problem, path=source.path)
    names = [name.strip(_BLANKS) for name in first]
    if _are_names(names, options.header, source.path):
        text = text._replace(n_names=1, n_lines=line)
    else:
        names = list(map(str, range(len(names))))
    check_names(names, source.path)
    options.limits.check("max_columns", len(names), "columns", source.path)
    texts = [j for j, name in enumerate(names) if options.is_text(name, j)]
    return _to_columns(_frame(text, len(names), texts), names, options, text, texts)


def _decimal_comma(cell: str, path: str, line: int | None = None) -> DataError:
    return DataError(
        f"expected numbers with a decimal point, got a decimal comma: {cell.strip()!r}. Write "
        f"{cell.strip().replace(',', '.')}",
        path=path,
        line=line,
    )


def _are_names(first: list[str], header: bool | None, path: str) -> bool:
    """Whether the first line holds names: as the caller says, else if not all are numbers.

    0,1,2 are the names pandas gives to columns without any, but 0,1 may also be two labels.
    """
    if header is not None:
        return header
    if not all(_NUMBER.fullmatch(value) for value in first):
        return True
    if first != list(map(str, range(len(first)))):
        return False
    if len(first) > 2:
        return True
    raise DataError(
        f"the first line, {','.join(first)}, may hold names or numbers. Say which: header=True "
        "or header=False",
        path=path,
        line=1,
    )


class _Text(NamedTuple):
    """The text of a file as UTF-8, and its rows as the csv module reads them."""

    data: bytes
    delimiter: str
    path: str
    n_names: int = 0  # rows of names: 0 or 1
    n_lines: int = 0  # lines down to the end of the names

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Line number and values of each row that is not blank."""
        lines = io.TextIOWrapper(io.BytesIO(self.data), "utf-8", newline="")
        reader = csv.reader(lines, delimiter=self.delimiter, strict=True)
        try:
            for row in reader:
                if row:
                    yield reader.line_num, row
        except csv.Error as error:
            problem = f"expected a table, but {error}"
            raise DataError(problem, path=self.path, line=reader.line_num) from None

    def check_rows(self, n_columns: int) -> None:
        """Raise for the first row that is malformed or does not have ``n_columns`` values."""
        for line, row in itertools.islice(self.rows(), self.n_names, None):
            if len(row) != n_columns:
                raise DataError(
                    f"expected {n_columns} values, one for each column name, got {len(row)}",
                    path=self.path,
                    line=line,
                )
            if n_columns == 1 and row[0].isspace():  # pandas would skip it as a blank line
                problem = "expected a value, got only spaces; write NA for a missing value"
                raise DataError(problem, path=self.path, line=line)

    def line_of(self, row: int) -> int:
        """The line of a row of data, found in a second pass."""
        return self._at(row)[0]

    def wrong_cell(self, expected: str, row: int, column: int) -> DataError:
        """The error for a cell: what was expected, and the text that is there."""
        line, values = self._at(row)
        got = values[column].strip(_BLANKS)[:40]
        return DataError(f"expected {expected}, got {got!r}", path=self.path, line=line)

    def _at(self, row: int) -> tuple[int, list[str]]:
        return next(itertools.islice(self.rows(), self.n_names + row, None))


def _frame(text: _Text, n_columns: int, texts: list[int]) -> Any:
    """The rows below the names as a data frame whose columns are numbered; some are text."""
    body = io.BytesIO(text.data)
    for _ in range(text.n_lines):
        body.readline()
    if not _is_regular(text, body.tell(), n_columns):
        text.check_rows(n_columns)
    options: dict[str, Any] = {"names": range(n_columns), "header": None, "index_col": False}
    if not _defaults_are_exact():
        options["float_precision"] = "round_trip"
    try:
        return pd.read_csv(
            body,
            sep=text.delimiter,
            keep_default_na=False,
            na_values=sorted(_MISSING),
            low_memory=False,
            dtype=dict.fromkeys(texts, "str"),
            **options,
        )
    except pd.errors.ParserError as error:
        text.check_rows(n_columns)
        raise DataError(f"expected a table, but {error}", path=text.path) from None


def _is_regular(text: _Text, start: int, n_columns: int) -> bool:
    """Whether counting proves that pandas will notice every row of a wrong length.

    With no quotes, and as many delimiters as complete rows have, a short row needs a long one to
    make up for it. pandas rejects a long row unless it is the first. A file of one column is
    never regular, because pandas skips a line of spaces, which may be a missing value.
    """
    data, comma = text.data, text.delimiter.encode()
    end = len(data)
    while end > start and data[end - 1] == ord("\n"):
        end -= 1
    first_end = data.find(b"\n", start, end)
    n_lines = data.count(b"\n", start, end) + 1
    return (
        n_columns > 1
        and data.find(b'"', start, end) < 0
        and data.count(comma, start, end) == n_lines * (n_columns - 1)
        and data.count(comma, start, first_end if first_end >= 0 else end) == n_columns - 1
    )


def _defaults_are_exact() -> bool:
    """Whether pandas reads the nearest float by default, as from 3.1 on."""
    major, minor = pd.__version__.split(".")[:2]
    return (int(major), int(minor)) >= (3, 1)


def _to_columns(
    frame: Any, names: list[str], options: ReadOptions, text: _Text, texts: list[int]
) -> Columns:
    """Numbers as they are, words as codes, and the columns of text by themselves."""
    apart = {names[j]: _stripped(frame[j]) for j in texts}
    if texts:
        frame = frame.drop(columns=texts)
    columns = _numbers(frame, names, text)
    return replace(columns, texts=apart)


def _stripped(series: Any) -> Any:
    """A column of text as an array; missing cells are empty."""
    cells = series.astype(object).where(series.notna(), "").tolist()
    return np.array([str(cell).strip(_BLANKS) for cell in cells], dtype=object)


def _numbers(frame: Any, names: list[str], text: _Text) -> Columns:
    """The columns as numbers; those of words are codes."""
    places = frame.columns.tolist()
    headers = [ColumnHeader(names[j]) for j in places]
    numeric = np.array([pd.api.types.is_numeric_dtype(kind) for kind in frame.dtypes], dtype=bool)
    if numeric.all():
        cells = np.ascontiguousarray(frame.to_numpy(dtype=float))
    else:
        cells = np.full(frame.shape, np.nan)
        cells[:, numeric] = frame.loc[:, numeric].to_numpy(dtype=float)
    for k in np.flatnonzero(~numeric).tolist():
        name, place = headers[k].name, places[k]
        cells[:, k], values = _codes(frame[place], name, place, text)
        headers[k] = ColumnHeader(name, values)
    infinite = np.isinf(cells)
    if infinite.any():
        row, k = np.argwhere(infinite)[0].tolist()
        raise text.wrong_cell(f"a finite number for {headers[k].name!r}", row, places[k])
    return Columns(tuple(headers), cells, text.path, text.line_of)


def _codes(series: Any, name: str, column: int, text: _Text) -> tuple[Any, tuple[str, ...] | None]:
    """A column of text as numbers (nan: missing) and, if it is nominal, the values they stand for.

    Text among numbers is taken for a typing error, not for a value.
    """
    places, distinct = pd.factorize(series)  # -1 is missing
    cells = [str(cell).strip(_BLANKS) for cell in distinct]
    if any(len(cell) > csv.field_size_limit() for cell in cells):
        deque(text.rows(), maxlen=0)  # raises with the line
    numbers = {cell: float(cell) for cell in cells if _NUMBER.fullmatch(cell)}
    words = sorted(set(cells) - numbers.keys() - _MISSING)
    if words and (numbers or all(map(_COMMA.fullmatch, words))):
        wrong = [k for k, cell in enumerate(cells) if cell in set(words)]
        row = int(np.flatnonzero(np.isin(places, wrong))[0])
        if _COMMA.fullmatch(cell := cells[places[row]]):
            raise _decimal_comma(cell, text.path, text.line_of(row))
        error = text.wrong_cell(f"a number for {name!r} as in other rows", row, column)
        if not is_row_name(np.array(cells, dtype=object)[places]):
            raise error
        hint = f". If it names the rows: drop=[{name!r}], or id={name!r} to match files by it"
        raise DataError(error.problem + hint, path=error.path, line=error.line)
    truth = [_TRUTH.get(word.lower()) for word in words]
    codes = range(len(words)) if None in truth else truth
    meaning = numbers | dict(zip(words, codes, strict=True))
    values = np.array([*(meaning.get(cell, np.nan) for cell in cells), np.nan])
    return values[places], tuple(words) if None in truth else None
