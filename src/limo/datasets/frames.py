"""CSV, TSV and Parquet: tables whose columns have names and types."""

import csv
import importlib
import io
import itertools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import lazy_loader
import numpy as np

from limo.datasets.dataset import Dataset
from limo.datasets.errors import DataError
from limo.datasets.labels import given_labels
from limo.datasets.options import Options
from limo.datasets.source import Source
from limo.datasets.table import Column, Table, to_dataset
from limo.datasets.text import encoding_of, normalise

__all__ = ["read_csv", "read_parquet", "read_tsv"]

pd = lazy_loader.load("pandas")

_MISSING = ["", "?", "NA", "N/A", "NaN", "nan", "NULL", "null", "None"]
_PARQUET_ERRORS = (ValueError, TypeError, KeyError, OSError, NotImplementedError, MemoryError)


def read_csv(source: Source, options: Options) -> Dataset:
    """Read values parted by commas (or semicolons, if the first line has only those)."""
    first = source.data.partition(b"\n")[0]
    return _read_delimited(source, options, ";" if b";" in first and b"," not in first else ",")


def read_tsv(source: Source, options: Options) -> Dataset:
    """Read values parted by tabs."""
    return _read_delimited(source, options, "\t")


def read_parquet(source: Source, options: Options) -> Dataset:
    """Read a Parquet file; needs the extra ``limo[parquet]``."""
    try:
        parquet = importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise DataError(
            "Parquet needs pyarrow: pip install 'limo[parquet]'", path=source.path
        ) from None
    try:
        frame = _parquet_frame(parquet.ParquetFile(io.BytesIO(source.data)), source, options)
    except DataError:
        raise
    except (*_PARQUET_ERRORS, importlib.import_module("pyarrow").ArrowException) as error:
        told = str(error).partition("\n")[0]
        raise DataError(f"expected a Parquet file, but {told}", path=source.path) from None
    return _to_dataset(frame, source, options, lambda row: row + 1)


def _parquet_frame(file: Any, source: Source, options: Options) -> Any:
    """The table as a frame, its claimed size checked before anything is unpacked."""
    names = list(file.schema_arrow.names)
    n_bytes = sum(file.metadata.row_group(k).total_byte_size for k in range(file.num_row_groups))
    options.limits.check("max_columns", len(names), "columns", source.path)
    options.limits.check("max_bytes", n_bytes, "bytes after unpacking", source.path)
    options.limits.check("max_values", file.metadata.num_rows * len(names), "values", source.path)
    _check_names(names, source.path)
    table = file.read()
    table.validate(full=True)
    return table.to_pandas(ignore_metadata=True)


def _read_delimited(source: Source, options: Options, delimiter: str) -> Dataset:
    data = normalise(source.data, source.path)
    text = data.decode(encoding_of(data, options.encoding, source.path))
    names, n_rows = _check_shape(text, delimiter, source.path)
    options.limits.check("max_columns", len(names), "columns", source.path)
    frame = _parse(text, delimiter, source.path)
    if frame.shape != (n_rows, len(names)):
        raise DataError(
            f"expected {n_rows} rows of {len(names)} values, got {frame.shape[0]} of "
            f"{frame.shape[1]}: a quote may be out of place",
            path=source.path,
        )
    frame.columns = names

    def line_of(row: int) -> int:
        return next(itertools.islice(_rows(text, delimiter, source.path), row + 1, None))[0]

    return _to_dataset(frame, source, options, line_of)


def _rows(text: str, delimiter: str, path: str) -> Iterator[tuple[int, list[str]]]:
    """Line number and values of each row that is not blank, the names first."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        for row in reader:
            if row:
                yield reader.line_num, row
    except csv.Error as error:
        raise DataError(f"expected a table, but {error}", path=path, line=reader.line_num) from None


def _check_shape(text: str, delimiter: str, path: str) -> tuple[list[str], int]:
    """The column names and the number of rows, all of which must be as wide as the names."""
    rows = _rows(text, delimiter, path)
    _, names = next(rows, (1, []))
    if not names:
        raise DataError("expected column names in the first line, got an empty file", path=path)
    names = [name.strip() for name in names]
    _check_names(names, path)
    n_rows = 0
    for line, row in rows:
        if len(row) != len(names):
            raise DataError(
                f"expected {len(names)} values, one for each column name, got {len(row)}",
                path=path,
                line=line,
            )
        n_rows += 1
    return names, n_rows


def _check_names(names: list[str], path: str) -> None:
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"expected different column names, got {twice!r} twice", path=path, line=1)


def _parse(text: str, delimiter: str, path: str) -> Any:
    try:
        return pd.read_csv(
            io.StringIO(text, newline=""),
            sep=delimiter,
            index_col=False,
            keep_default_na=False,
            na_values=_MISSING,
            low_memory=False,
            float_precision="round_trip",
        )
    except (ValueError, OverflowError) as error:  # pandas' parser errors are ValueErrors
        raise DataError(f"expected a table, but {error}", path=path) from None


def _to_dataset(
    frame: Any, source: Source, options: Options, line_of: Callable[[int], int]
) -> Dataset:
    """Turn each column into numbers or codes, then part features and labels."""
    names = [str(name) for name in frame.columns]
    unknown = set(options.drop) - set(names)
    if unknown:
        raise DataError(f"drop names no column: {sorted(unknown)}", path=source.path)
    kept = [j for j, name in enumerate(names) if name not in options.drop]
    place = _Place(source.path, line_of)
    columns, cells = [], np.empty((len(frame), len(kept)))
    for k, j in enumerate(kept):
        cells[:, k], values = _codes(frame.iloc[:, j], names[j], place)
        columns.append(Column(names[j], values))
    table = Table(tuple(columns), cells, source.path, line_of)
    if options.missing == "error":
        _refuse_missing(table)
    if options.labels is None:
        raise DataError(
            "which columns are the labels? Name them: labels=['a', 'b'], labels='tag_*' for a "
            "prefix, or labels=6 for the last six",
            path=source.path,
        )
    labels = given_labels(
        [column.name for column in columns], options.labels, options.label_location, source.path
    )
    return to_dataset(table, labels, options, source.checksum)


class _Place(NamedTuple):
    """Where a complaint belongs."""

    path: str
    line_of: Callable[[int], int]

    def error(self, problem: str, row: int) -> DataError:
        return DataError(problem, path=self.path, line=self.line_of(row))


def _codes(series: Any, name: str, place: _Place) -> tuple[Any, tuple[str, ...] | None]:
    """A column as numbers (nan: missing) and, if it is nominal, the values behind the codes."""
    kinds = pd.api.types
    if kinds.is_numeric_dtype(series.dtype) and not kinds.is_complex_dtype(series.dtype):
        numbers = series.to_numpy(dtype=float, na_value=np.nan)
        _refuse_infinite(numbers, name, place)
        return numbers, None
    if isinstance(series.dtype, pd.CategoricalDtype):
        codes, values = series.cat.codes.to_numpy(), series.cat.categories
    elif kinds.infer_dtype(series, skipna=True) in ("string", "empty", "boolean"):
        _refuse_mixture(series, name, place)
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


def _refuse_mixture(series: Any, name: str, place: _Place) -> None:
    """Text among numbers is a slip of the pen, not a nominal value."""
    numeric = pd.to_numeric(series, errors="coerce").notna().to_numpy()
    text = series.notna().to_numpy() & ~numeric
    if numeric.any() and text.any():
        row = int(np.flatnonzero(text)[0])
        got = str(series.iloc[row])[:40]
        raise place.error(f"expected a number for {name!r} as in other rows, got {got!r}", row)


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
