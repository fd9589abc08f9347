"""Parquet files, read with pyarrow after the size they claim is checked."""

import importlib
import io
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from limo._system import Later
from limo.datasets._columns import ColumnHeader, Columns, check_names, labelled_dataset
from limo.datasets._dataset import Dataset
from limo.datasets._options import DataError, ReadOptions
from limo.datasets._source import Source

pd = Later("pandas")

_AT_ONCE = 1 << 22  # values
# What pyarrow raises besides its own errors; RuntimeError comes from its C++ part.
_PARQUET_ERRORS = (ValueError, TypeError, LookupError, OSError, RuntimeError, MemoryError)


def read_parquet(source: Source, options: ReadOptions) -> Dataset:
    """Read a Parquet file; needs the extra ``limo-ml[parquet]``."""
    return labelled_dataset(parquet_columns(source, options), options, source.checksum)


def parquet_columns(source: Source, options: ReadOptions) -> Columns:
    """Read the columns of a Parquet file, labels and features alike."""
    return _columns(lambda parquet: parquet.ParquetFile(io.BytesIO(source.data)), source, options)


def group_columns(path: str, number: int, options: ReadOptions) -> Columns:
    """Read the columns of one row group; nothing else of the file is in memory."""
    source = Source(path, path, b"", lambda name: None)
    return _columns(lambda parquet: _RowGroup(parquet.ParquetFile(path), number), source, options)


def group_shapes(path: str) -> list[tuple[int, int]]:
    """How many rows and columns each row group of a file has."""
    parquet = need_parquet(path)
    try:
        with parquet.ParquetFile(path) as file:
            groups = map(file.metadata.row_group, range(file.num_row_groups))
            return [(group.num_rows, len(file.schema_arrow.names)) for group in groups]
    except (*_PARQUET_ERRORS, importlib.import_module("pyarrow").ArrowException) as error:
        reason = str(error).partition("\n")[0]
        raise DataError(f"expected a Parquet file, but {reason}", path=path) from None


class _RowGroup:
    """One row group, with what is used of a file."""

    num_row_groups = 1

    def __init__(self, file: Any, number: int) -> None:
        self.file, self.number, self.metadata = file, number, self
        self.schema_arrow = file.schema_arrow
        self.num_rows = self.row_group(0).num_rows

    def row_group(self, _: int) -> Any:
        return self.file.metadata.row_group(self.number)

    def read(self, columns: Any = None) -> Any:
        return self.file.read_row_group(self.number, columns=columns)

    def iter_batches(self, size: int, columns: Any = None) -> Any:
        return self.file.iter_batches(size, row_groups=[self.number], columns=columns)


def _columns(open_file: Callable[[Any], Any], source: Source, options: ReadOptions) -> Columns:
    """Read the columns of a file, or of a part that looks like one."""
    parquet = need_parquet(source.path)
    try:
        file = open_file(parquet)
        names, n_rows = _checked_size(file, source, options)
        texts = {name for place, name in enumerate(names) if options.is_text(name, place)}
        kept = [name for name in names if name not in texts]
        plain = [name for name in kept if _is_plain(file.schema_arrow.field(name).type)]
        values: dict[str, tuple[str, ...] | None] = dict.fromkeys(plain)
        apart: dict[str, Any] = {}
        cells = np.empty((n_rows, len(kept)))
        _fill_numbers(cells, file, plain, kept, source.path)
        for name, series in _series(file, [name for name in names if name not in values]):
            if name in texts:
                apart[name] = _text(series)
            else:
                cells[:, kept.index(name)], values[name] = _numbers(series, name, source.path)
    except DataError:
        raise
    except (*_PARQUET_ERRORS, importlib.import_module("pyarrow").ArrowException) as error:
        reason = str(error).partition("\n")[0]
        raise DataError(f"expected a Parquet file, but {reason}", path=source.path) from None
    headers = tuple(ColumnHeader(name, values[name]) for name in kept)
    return Columns(headers, cells, source.path, lambda row: row + 1, apart)


def need_parquet(path: str) -> Any:
    """The module that reads and writes Parquet; if it is not installed, say how to get it."""
    try:
        return importlib.import_module("pyarrow.parquet")
    except ImportError:
        problem = "Parquet needs pyarrow: pip install 'limo-ml[parquet]'"
        raise DataError(problem, path=path) from None


def _checked_size(file: Any, source: Source, options: ReadOptions) -> tuple[list[str], int]:
    """The columns and the number of rows, checked before anything is unpacked."""
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
    return names, n_rows


def _is_plain(kind: Any) -> bool:
    """Whether a column holds numbers, which need no dictionary of values."""
    types = importlib.import_module("pyarrow.types")
    return bool(types.is_integer(kind) or types.is_floating(kind))


def _fill_numbers(cells: Any, file: Any, plain: list[str], kept: list[str], path: str) -> None:
    """Copy the plain columns into ``cells``, some rows at a time.

    A file of some kilobytes may hold a hundred million equal values, so that no second copy of
    them should be made.
    """
    places = {name: place for place, name in enumerate(kept)}
    start, step = 0, max(1, _AT_ONCE // max(len(plain), 1))
    for batch in file.iter_batches(step, columns=plain) if plain else ():
        batch.validate(full=True)
        for name in plain:
            numbers = batch.column(name).to_numpy(zero_copy_only=False).astype(float, copy=False)
            infinite = np.flatnonzero(np.isinf(numbers))
            if len(infinite):
                problem = f"expected a finite number for {name!r}, got infinity"
                raise DataError(problem, path=path, line=start + int(infinite[0]) + 1)
            cells[start : start + len(numbers), places[name]] = numbers
        start += batch.num_rows


def _series(file: Any, names: list[str]) -> Iterator[tuple[str, Any]]:
    """Other columns, one by one."""
    for name in names:
        table = file.read(columns=[name])
        table.validate(full=True)
        yield name, table.to_pandas(ignore_metadata=True)[name]


def _text(series: Any) -> Any:
    """A column as text; missing cells are empty, and lists stay lists."""
    cells = series.astype(object).tolist()
    texts = np.empty(len(cells), dtype=object)
    for row, cell in enumerate(cells):
        if isinstance(cell, list | tuple | np.ndarray):
            texts[row] = tuple(map(str, cell))
        else:
            texts[row] = "" if pd.isna(cell) else str(cell).strip()
    return texts


def _numbers(series: Any, name: str, path: str) -> tuple[Any, tuple[str, ...] | None]:
    """A column as numbers (nan: missing) and, if it is nominal, the values behind the codes."""
    kinds = pd.api.types
    if kinds.is_numeric_dtype(series.dtype) and not kinds.is_complex_dtype(series.dtype):
        numbers = series.to_numpy(dtype=float, na_value=np.nan)
        infinite = np.flatnonzero(np.isinf(numbers))
        if len(infinite):
            problem = f"expected a finite number for {name!r}, got infinity"
            raise DataError(problem, path=path, line=int(infinite[0]) + 1)
        return numbers, None
    if isinstance(series.dtype, pd.CategoricalDtype):
        codes, values = series.cat.codes.to_numpy(), series.cat.categories
    elif kinds.infer_dtype(series, skipna=True) in ("string", "empty", "boolean"):
        codes, values = pd.factorize(series, sort=True)
    else:
        raise DataError(
            f"the column {name!r} holds {series.dtype}, but limo needs numbers. "
            f"drop=[{name!r}] leaves it out",
            path=path,
        )
    return np.where(codes < 0, np.nan, codes), tuple(str(value) for value in values) or None
