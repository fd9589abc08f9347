"""Parquet files, read with pyarrow after the size they claim is checked."""

import importlib
import io
from collections.abc import Iterator
from typing import Any

import numpy as np

from limo._system import Later
from limo.datasets._columns import ColumnHeader, Columns, check_names, labelled_dataset
from limo.datasets._dataset import DataError, Dataset, ReadOptions
from limo.datasets._source import Source

pd = Later("pandas")

_AT_ONCE = 1 << 25  # values
# What pyarrow raises besides its own errors; RuntimeError comes from its C++ part.
_PARQUET_ERRORS = (ValueError, TypeError, LookupError, OSError, RuntimeError, MemoryError)


def read_parquet(source: Source, options: ReadOptions) -> Dataset:
    """Read a Parquet file; needs the extra ``limo-ml[parquet]``."""
    return labelled_dataset(parquet_columns(source, options), options, source.checksum)


def parquet_columns(source: Source, options: ReadOptions) -> Columns:
    """Read the columns of a Parquet file, labels and features alike."""
    parquet = need_parquet(source.path)
    try:
        file = parquet.ParquetFile(io.BytesIO(source.data))
        names, n_rows = _checked_size(file, source, options)
        headers: list[ColumnHeader] = []
        texts = {name for place, name in enumerate(names) if options.is_text(name, place)}
        apart: dict[str, Any] = {}
        cells = np.empty((n_rows, len(names) - len(texts)))
        for name, series in _series(file, names, n_rows):
            if name in texts:
                apart[name] = _text(series)
                continue
            cells[:, len(headers)], values = _numbers(series, name, source.path)
            headers.append(ColumnHeader(name, values))
    except DataError:
        raise
    except (*_PARQUET_ERRORS, importlib.import_module("pyarrow").ArrowException) as error:
        reason = str(error).partition("\n")[0]
        raise DataError(f"expected a Parquet file, but {reason}", path=source.path) from None
    return Columns(tuple(headers), cells, source.path, lambda row: row + 1, apart)


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


def _series(file: Any, names: list[str], n_rows: int) -> Iterator[tuple[str, Any]]:
    """The columns one by one; of a long file only a few are in memory at a time."""
    step = max(1, _AT_ONCE // max(n_rows, 1))
    for start in range(0, len(names), step):
        chosen = names[start : start + step]
        table = file.read() if step >= len(names) else file.read(columns=chosen)
        table.validate(full=True)
        frame = table.to_pandas(ignore_metadata=True)
        yield from ((name, frame[name]) for name in chosen)


def _text(series: Any) -> Any:
    """A column as text; missing cells are empty, and lists stay lists."""
    cells = series.astype(object).tolist()
    found = np.empty(len(cells), dtype=object)
    for row, cell in enumerate(cells):
        if isinstance(cell, list | tuple | np.ndarray):
            found[row] = tuple(map(str, cell))
        else:
            found[row] = "" if pd.isna(cell) else str(cell).strip()
    return found


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
