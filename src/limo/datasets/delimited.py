"""CSV and TSV: rows of text, columns told apart by what is in them."""

import csv
import io
import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from limo._kernels.numbers import EXACT, UNSETTLED, read_numbers
from limo.datasets.dataset import Dataset
from limo.datasets.errors import DataError
from limo.datasets.frames import check_names, table_to_dataset
from limo.datasets.options import Options
from limo.datasets.source import Source
from limo.datasets.table import Column, Table
from limo.datasets.text import encoding_of, normalise

__all__ = ["csv_table", "read_csv", "read_tsv", "tsv_table"]

_MISSING = {"", "?", "NA", "N/A", "NaN", "nan", "NULL", "null", "None"}
_TRUTH = {"true": 1.0, "false": 0.0}
_BLOCK = 4096  # rows held as text at a time


def read_csv(source: Source, options: Options) -> Dataset:
    """Read values parted by commas (or semicolons, if the first line has only those)."""
    return table_to_dataset(csv_table(source, options), options, source.checksum)


def read_tsv(source: Source, options: Options) -> Dataset:
    """Read values parted by tabs."""
    return table_to_dataset(tsv_table(source, options), options, source.checksum)


def csv_table(source: Source, options: Options) -> Table:
    """Read the columns of a CSV file, whichever of them are labels."""
    first = source.data.partition(b"\n")[0]
    return _table(source, options, ";" if b";" in first and b"," not in first else ",")


def tsv_table(source: Source, options: Options) -> Table:
    """Read the columns of a TSV file, whichever of them are labels."""
    return _table(source, options, "\t")


def _table(source: Source, options: Options, delimiter: str) -> Table:
    data = normalise(source.data, source.path)
    text = data.decode(encoding_of(data, options.encoding, source.path))
    rows = _rows(text, delimiter, source.path)
    first = next(rows, None)
    if first is None:
        raise DataError(
            "expected column names in the first line, got an empty file", path=source.path
        )
    names = [name.strip(" \t") for name in first[1]]
    has_names = _are_names(names, options.header, source.path)
    if not has_names:
        names, rows = list(map(str, range(len(names)))), itertools.chain([first], rows)
    check_names(names, source.path)
    options.limits.check("max_columns", len(names), "columns", source.path)

    def line_of(row: int) -> int:
        place = row + has_names
        return next(itertools.islice(_rows(text, delimiter, source.path), place, None))[0]

    builders = [_Builder(name) for name in names]
    _fill(builders, rows, source.path)
    columns = [b.column(source.path, line_of, b.name in options.drop) for b in builders]
    cells = np.array([numbers for _, numbers in columns]).T.copy()
    return Table(tuple(column for column, _ in columns), cells, source.path, line_of)


def _are_names(first: list[str], header: bool | None, path: str) -> bool:
    """Whether the first line names the columns; told by what stands there if nobody says so.

    0,1,2 are the names a data frame gives itself, yet 0,1 may as well be two labels.
    """
    if header is not None:
        return header
    if not np.isin(_parse(tuple(first))[1], (EXACT, UNSETTLED)).all():
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


def _rows(text: str, delimiter: str, path: str) -> Iterator[tuple[int, list[str]]]:
    """Line number and values of each row that is not blank, the names first."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        for row in reader:
            if row:
                yield reader.line_num, row
    except csv.Error as error:
        raise DataError(f"expected a table, but {error}", path=path, line=reader.line_num) from None


def _fill(builders: list["_Builder"], rows: Iterator[tuple[int, list[str]]], path: str) -> None:
    """Hand the cells to their columns, block by block."""
    while block := list(itertools.islice(rows, _BLOCK)):
        for line, row in block:
            if len(row) != len(builders):
                raise DataError(
                    f"expected {len(builders)} values, one for each column name, got {len(row)}",
                    path=path,
                    line=line,
                )
        columns = zip(*(row for _, row in block), strict=True)
        for builder, cells in zip(builders, columns, strict=True):
            builder.add(cells)


class _Builder:
    """A column as it grows: numbers where the text is one, the text itself elsewhere."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.blocks: list[Any] = []
        self.texts: dict[int, str] = {}
        self.n_rows = 0

    def add(self, cells: tuple[str, ...]) -> None:
        values, verdicts = _parse(cells)
        for k in np.flatnonzero(verdicts != EXACT).tolist():
            text = cells[k].strip(" \t")
            if verdicts[k] == UNSETTLED:
                values[k] = float(text)
            elif text in _MISSING:
                values[k] = np.nan
            else:
                self.texts[self.n_rows + k] = text
        self.blocks.append(values)
        self.n_rows += len(cells)

    def column(self, path: str, line_of: Any, dropped: bool) -> tuple[Column, Any]:
        """The column, its cells as numbers or codes; nan is missing."""
        numbers = np.concatenate([np.empty(0), *self.blocks])
        if dropped:
            return Column(self.name), numbers
        if self.texts:
            return self._nominal(numbers, path, line_of)
        wrong = np.flatnonzero(np.isinf(numbers))
        if len(wrong):
            raise DataError(
                f"expected a finite number for {self.name!r}, got one too large",
                path=path,
                line=line_of(int(wrong[0])),
            )
        return Column(self.name), numbers

    def _nominal(self, numbers: Any, path: str, line_of: Any) -> tuple[Column, Any]:
        """Codes of text; text among numbers is a slip of the pen, not a value."""
        rows = np.fromiter(self.texts, dtype=np.intp)
        if np.count_nonzero(~np.isnan(numbers)) > len(rows):
            row, text = next(iter(self.texts.items()))
            raise DataError(
                f"expected a number for {self.name!r} as in other rows, got {text[:40]!r}",
                path=path,
                line=line_of(row),
            )
        values = sorted(set(self.texts.values()))
        truth = [_TRUTH.get(value.lower()) for value in values]
        meaning = range(len(values)) if None in truth else truth
        code = dict(zip(values, meaning, strict=True))
        numbers[rows] = [code[text] for text in self.texts.values()]
        return Column(self.name, tuple(values) if None in truth else None), numbers


def _parse(cells: tuple[str, ...]) -> tuple[Any, Any]:
    """Each cell as a number, and whether it is one."""
    joined = "\n".join(cells)
    if joined.count("\n") >= len(cells):
        joined = "\n".join(cell.replace("\n", "|") for cell in cells)
    values, verdicts = np.zeros(len(cells)), np.empty(len(cells), dtype=np.int8)
    read_numbers(np.frombuffer(joined.encode(), dtype=np.uint8), values, verdicts)
    return values, verdicts
