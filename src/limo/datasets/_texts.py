"""Columns of text: ids that name the rows, and lists of labels such as ``rock;jazz``."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from limo.datasets._dataset import csr
from limo.datasets._options import DataError, ReadOptions, shorten

_ROW_ID_LEAST = 3  # rows; labels and scores of two instances differ as ids do
_SEPARATORS = (";", "|", ",")


def is_row_name(cells: Any) -> bool:
    """Whether a column can only name the rows: texts or whole numbers that all differ."""
    cells = np.asarray(cells)
    if cells.size < _ROW_ID_LEAST or len(set(cells.tolist())) < cells.size:
        return False
    if cells.dtype.kind == "f":
        return bool(np.isfinite(cells).all() and (cells == np.round(cells)).all())
    return cells.dtype.kind not in "OU" or all(cells.tolist())


def named_rows(ids: Any, name: str, path: str, line_of: Callable[[int], int] | None = None) -> Any:
    """The ids, checked to be there and to differ."""
    seen: dict[str, int] = {}
    for row, one in enumerate(ids.tolist()):
        if one == "" or one in seen:
            problem = f"{one!r} twice" if one else "none"
            raise DataError(
                f"expected a different id in each row of {name!r}, got {problem}",
                path=path,
                line=None if line_of is None else line_of(row),
            )
        seen[one] = row
    return ids


def tag_labels(
    cells: Any,
    options: ReadOptions,
    path: str,
    line_of: Callable[[int], int],
    known: Sequence[str] | None = None,
) -> tuple[Any, tuple[str, ...]]:
    """The labels of cells such as ``rock;jazz`` as a CSR matrix, and their names."""
    cells = cells.tolist()
    separator = options.separator or _SEPARATORS[0]
    if options.separator is None and not any(separator in cell for cell in cells):
        _refuse_other_separator(cells, str(options.tags), path)
    parts = [_split(cell, separator) for cell in cells]
    names = sorted({one for row in parts for one in row}) if known is None else list(known)
    place = {name: j for j, name in enumerate(names)}
    for row, labels in enumerate(parts):
        if not place.keys() >= labels:
            unknown = min(labels - place.keys())
            raise DataError(
                f"the label {unknown!r} in {options.tags!r} is unknown; expected "
                f"{shorten(names, 4)}",
                path=path,
                line=line_of(row),
            )
    if not names:
        raise DataError(f"the column {options.tags!r} holds no label", path=path)
    options.limits.check("max_columns", len(names), "labels", path)
    indices = [j for labels in parts for j in sorted(place[one] for one in labels)]
    indptr = np.concatenate([[0], np.cumsum([len(labels) for labels in parts])]).astype(np.int64)
    ones = np.ones(len(indices), dtype=np.int64)
    shape = (len(parts), len(names))
    return csr(ones, np.array(indices, dtype=np.int64), indptr, shape), tuple(names)


def _split(cell: Any, separator: str) -> set[str]:
    """The labels of one row; a list has been split already."""
    parts = cell if isinstance(cell, tuple) else cell.split(separator)
    return {part.strip() for part in parts} - {""}


def _refuse_other_separator(cells: list[Any], name: str, path: str) -> None:
    """Raise if the labels look separated by something else than by default."""
    for other in _SEPARATORS[1:]:
        example = next((cell for cell in cells if isinstance(cell, str) and other in cell), None)
        if example is not None:
            raise DataError(
                f"no row of {name!r} has a semicolon, but {example[:40]!r} has {other!r}. What "
                f"separates the labels? separator={other!r}, or separator=';' if nothing does",
                path=path,
            )
