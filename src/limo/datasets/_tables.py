"""CSV and TSV: rows of text, columns told apart by what is in them."""

import csv
import importlib
import io
import itertools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from limo._kernels.numbers import EXACT, UNSETTLED, read_numbers
from limo._system import Later
from limo.datasets._columns import Column, Table, given_labels, to_dataset
from limo.datasets._dataset import DataError, Dataset, Options
from limo.datasets._source import Source, encoding_of, normalise

__all__ = [
    "check_names",
    "csv_table",
    "kept_columns",
    "need_parquet",
    "parquet_table",
    "read_csv",
    "read_parquet",
    "read_tsv",
    "table_to_dataset",
    "tsv_table",
]


# Parquet, and what tables of named columns share: which are labels, what is missing.

pd = Later("pandas")

# What pyarrow raises besides its own errors; RuntimeError stands for an exception of its C++ part.
_PARQUET_ERRORS = (ValueError, TypeError, LookupError, OSError, RuntimeError, MemoryError)


def read_parquet(source: Source, options: Options) -> Dataset:
    """Read a Parquet file; needs the extra ``limo-ml[parquet]``."""
    return table_to_dataset(parquet_table(source, options), options, source.checksum)


def parquet_table(source: Source, options: Options) -> Table:
    """Read the columns of a Parquet file, whichever of them are labels."""
    parquet = need_parquet(source.path)
    try:
        frame = _parquet_frame(parquet.ParquetFile(io.BytesIO(source.data)), source, options)
    except DataError:
        raise
    except (*_PARQUET_ERRORS, importlib.import_module("pyarrow").ArrowException) as error:
        told = str(error).partition("\n")[0]
        raise DataError(f"expected a Parquet file, but {told}", path=source.path) from None
    place = _Place(source.path, lambda row: row + 1)
    columns, cells = [], np.empty(frame.shape)
    for j, name in enumerate(map(str, frame.columns)):
        cells[:, j], values = _codes(frame.iloc[:, j], name, place, name in options.drop)
        columns.append(Column(name, values))
    return Table(tuple(columns), cells, source.path, place.line_of)


def need_parquet(path: str) -> Any:
    """The module that reads and writes Parquet; where it is not installed, say how to get it."""
    try:
        return importlib.import_module("pyarrow.parquet")
    except ImportError:
        problem = "Parquet needs pyarrow: pip install 'limo-ml[parquet]'"
        raise DataError(problem, path=path) from None


def _parquet_frame(file: Any, source: Source, options: Options) -> Any:
    """The table as a frame, its claimed size checked before anything is unpacked."""
    names = list(file.schema_arrow.names)
    groups = [file.metadata.row_group(k) for k in range(file.num_row_groups)]
    n_rows = sum(group.num_rows for group in groups)
    n_bytes = sum(group.total_byte_size for group in groups)
    options.limits.check("max_columns", len(names), "columns", source.path)
    options.limits.check("max_bytes", n_bytes, "bytes after unpacking", source.path)
    options.limits.check("max_values", n_rows * len(names), "values", source.path)
    check_names(names, source.path)
    if n_rows != file.metadata.num_rows:
        raise DataError(
            f"the file contradicts itself: {file.metadata.num_rows} rows in all, "
            f"{n_rows} in its parts. Write it again",
            path=source.path,
        )
    table = file.read()
    table.validate(full=True)
    return table.to_pandas(ignore_metadata=True)


def table_to_dataset(table: Table, options: Options, checksum: str) -> Dataset:
    """Drop what is to be dropped, find the labels the caller named, and part the rest."""
    if options.labels is None:
        raise DataError(
            "which columns are the labels? Name them: labels=['a', 'b'], labels='tag_*' for a "
            "prefix, or labels=6 for the last six",
            path=table.path,
        )
    rest = kept_columns(table, options)
    names = [column.name for column in rest.columns]
    labels = given_labels(names, options.labels, options.label_location, table.path)
    return to_dataset(rest, labels, options, checksum)


def kept_columns(table: Table, options: Options) -> Table:
    """The table without what is to be dropped; a missing value is refused unless allowed."""
    names = [column.name for column in table.columns]
    unknown = set(options.drop) - set(names)
    if unknown:
        raise DataError(f"drop names no column: {sorted(unknown)}", path=table.path)
    kept = [j for j, name in enumerate(names) if name not in options.drop]
    columns = tuple(table.columns[j] for j in kept)
    rest = Table(columns, table.cells[:, kept], table.path, table.line_of)
    if options.missing == "error":
        _refuse_missing(rest)
    return rest


def check_names(names: list[str], path: str) -> None:
    """Raise if two columns have the same name."""
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"expected different column names, got {twice!r} twice", path=path, line=1)


class _Place(NamedTuple):
    """Where a complaint belongs."""

    path: str
    line_of: Callable[[int], int]

    def error(self, problem: str, row: int) -> DataError:
        return DataError(problem, path=self.path, line=self.line_of(row))


def _codes(
    series: Any, name: str, place: _Place, dropped: bool
) -> tuple[Any, tuple[str, ...] | None]:
    """A column as numbers (nan: missing) and, if it is nominal, the values behind the codes."""
    kinds = pd.api.types
    if dropped:
        return np.nan, None
    if kinds.is_numeric_dtype(series.dtype) and not kinds.is_complex_dtype(series.dtype):
        numbers = series.to_numpy(dtype=float, na_value=np.nan)
        _refuse_infinite(numbers, name, place)
        return numbers, None
    if isinstance(series.dtype, pd.CategoricalDtype):
        codes, values = series.cat.codes.to_numpy(), series.cat.categories
    elif kinds.infer_dtype(series, skipna=True) in ("string", "empty", "boolean"):
        codes, values = pd.factorize(series, sort=True)
    else:
        raise DataError(
            f"the column {name!r} holds {series.dtype}, and limo keeps numbers. "
            f"drop=[{name!r}] leaves it out",
            path=place.path,
        )
    numbers = np.where(codes < 0, np.nan, codes)
    return numbers, tuple(str(value) for value in values) or None


def _refuse_infinite(numbers: Any, name: str, place: _Place) -> None:
    wrong = np.flatnonzero(np.isinf(numbers))
    if len(wrong):
        raise place.error(f"expected a finite number for {name!r}, got infinity", int(wrong[0]))


def _refuse_missing(table: Table) -> None:
    unknown = np.isnan(table.cells)
    if unknown.any():
        row, column = np.argwhere(unknown)[0]
        raise DataError(
            f"the value of {table.columns[column].name!r} is missing. Choose what to do with "
            "missing values: missing='mean', 'zero' or 'nan'",
            path=table.path,
            line=table.line_of(int(row)),
        )


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
