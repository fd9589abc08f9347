"""Parquet, and what tables of named columns share: which are labels, what is missing."""

import importlib
import io
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from limo._later import Later
from limo.datasets.dataset import Dataset
from limo.datasets.errors import DataError
from limo.datasets.labels import given_labels
from limo.datasets.options import Options
from limo.datasets.source import Source
from limo.datasets.table import Column, Table, to_dataset

__all__ = [
    "check_names",
    "kept_columns",
    "need_parquet",
    "parquet_table",
    "read_parquet",
    "table_to_dataset",
]

pd = Later("pandas")

# What pyarrow raises besides its own errors; RuntimeError stands for an exception of its C++ part.
_PARQUET_ERRORS = (ValueError, TypeError, LookupError, OSError, RuntimeError, MemoryError)


def read_parquet(source: Source, options: Options) -> Dataset:
    """Read a Parquet file; needs the extra ``limo[parquet]``."""
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
        raise DataError("Parquet needs pyarrow: pip install 'limo[parquet]'", path=path) from None


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
