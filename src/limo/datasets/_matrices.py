"""One matrix from a file: labels or scores to evaluate, or features to predict from.

Rows are instances. Columns are matched by name if there are names. A ``.npy`` file is mapped.
"""

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from scipy import sparse

from limo._system import as_path
from limo.datasets._arff import says_labels
from limo.datasets._columns import (
    Columns,
    binary_columns,
    check_names,
    given_labels,
)
from limo.datasets._dataset import with_gaps
from limo.datasets._npz import DAMAGE, column_names, named_matrix, read_arrays, scipy_matrix
from limo.datasets._options import DataError, LabelChoice, Limits, ReadOptions, shorten
from limo.datasets._read import (
    FORMATS,
    check_format,
    read_source,
    recognise,
    without_index,
)
from limo.datasets._source import Source, open_source
from limo.datasets._texts import is_row_name, named_rows

MatrixKind = Literal["truth", "scores", "predictions"]

# Prefixes of the columns of a file that holds both labels and scores.
LABEL_PREFIX, SCORE_PREFIX = "label:", "score:"
_PREFIXES = {"truth": LABEL_PREFIX, "scores": SCORE_PREFIX, "predictions": LABEL_PREFIX}
# The names under which an NPZ file may hold each kind of matrix.
_ARRAYS: dict[MatrixKind, tuple[str, ...]] = {
    "truth": ("Y", "y_true", "truth", "labels"),
    "scores": ("S", "y_score", "scores"),
    "predictions": ("P", "y_pred", "predictions", "labels", "Y"),
}
_NPY = b"\x93NUMPY"


@dataclass(frozen=True, eq=False)
class LabelMatrix:
    """Labels or scores, one column per label, with the names of the labels if the file has any.

    Attributes
    ----------
    values : array or CSR array of shape (n_samples, n_labels)
        Labels or scores; an array may be mapped into memory.
    label_names : tuple of str or None
        A name for each column.
    source, checksum : str
        The file, and its sha256 after decompression.
    ids : array of str or None
        A name for each row, if the file has any.
    id_column : str or None
        The column of the ids.
    """

    values: Any
    label_names: Sequence[str] | None
    source: str
    checksum: str
    ids: Any = None
    id_column: str | None = None

    def ordered_as(self, names: Sequence[str] | None) -> "LabelMatrix":
        """The same columns in the order of ``names``; raise if the names are not the same."""
        own = self.label_names
        if names is None or own is None or own == names:
            return self
        if len(set(own)) < len(own) or set(own) != set(names):
            raise DataError(self._other_columns(own, names), path=self.source)
        place = {name: j for j, name in enumerate(own)}
        return replace(self, values=self.values[:, [place[n] for n in names]], label_names=names)

    def _other_columns(self, own: Sequence[str], names: Sequence[str]) -> str:
        """What is wrong with the names of the columns, and what to do."""
        extra = [name for name in own if name not in set(names)]
        advice = "Rename the columns, or leave some out with drop="
        if len(extra) == 1 and is_row_name(self.values[:, own.index(extra[0])]):
            advice = (
                f"If {extra[0]!r} names the rows, match by it with id={extra[0]!r}, or leave it "
                f"out with drop=[{extra[0]!r}]"
            )
        return (
            f"the columns must be named like the labels: expected {shorten(names, 4)}; got "
            f"{shorten(own, 4)}. {advice}"
        )

    def rows_as(self, other: "LabelMatrix", *, match: bool) -> "LabelMatrix":
        """The same rows in the order of another matrix, by their ids.

        Without ``match``, rows stay where they are, and it is an error if both files name the same
        rows in another order.
        """
        if self.ids is None or other.ids is None or np.array_equal(self.ids, other.ids):
            return self
        place = {name: row for row, name in enumerate(self.ids)}
        absent = [name for name in other.ids if name not in place]
        if match:
            self._refuse_other_rows(other, absent)
            return replace(self, values=self.values[[place[n] for n in other.ids]], ids=other.ids)
        if self.id_column == other.id_column and not absent and len(self.ids) == len(other.ids):
            column = self.id_column
            raise DataError(
                f"the rows are those of {other.source} in another order, says "
                f"{f'the column {column!r}' if column else 'the first column'}. Match them by it: "
                f"id={column!r}",
                path=self.source,
            )
        return self

    def _refuse_other_rows(self, other: "LabelMatrix", absent: list[str]) -> None:
        known = set(other.ids)
        extra = [name for name in self.ids if name not in known]
        if absent or extra:
            problems = [f"no row for {shorten(absent, 4)}"] * bool(absent)
            problems += [f"rows for {shorten(extra, 4)}, which {other.source} lacks"] * bool(extra)
            raise DataError(
                f"expected the ids of {other.source}, got {' and '.join(problems)}. Remove or add "
                "these rows",
                path=self.source,
            )


def read_matrix(
    path: str | os.PathLike[str],
    kind: MatrixKind = "scores",
    *,
    format: str | None = None,
    labels: LabelChoice = None,
    drop: Sequence[str] = (),
    header: bool | None = None,
    n_labels: int | None = None,
    missing_labels: float | None = None,
    id: str | None = None,
    tags: str | None = None,
    separator: str | None = None,
    label_names: Sequence[str] | None = None,
    limits: Limits | None = None,
) -> LabelMatrix:
    r"""Read true labels, scores or predicted labels from a file.

    CSV, TSV, Parquet and ARFF files have a column for each label, NPY and NPZ files an array (or a
    SciPy sparse matrix), LIBSVM and extreme-classification files the labels at the start of
    each row. An ARFF file that says which attributes are labels may hold features too. A first
    column without a name, which is how data frames write their index, is left out.

    Parameters
    ----------
    path : path
        The file, plain or compressed.
    kind : {"truth", "scores", "predictions"}, default="scores"
        What to read from a file that holds several.
    format : str, optional
        One of the formats of :func:`limo.read`, or "npy"; detected by default.
    labels : list of str, str or int, optional
        Which columns to read, as for :func:`limo.read`; by default all.
    drop : list of str, optional
        Columns to leave out, if they exist.
    header : bool, optional
        Whether the first line of a CSV file names the columns; by default decided by its content.
    n_labels : int, optional
        How many labels there are, for LIBSVM, whose files do not state it.
    missing_labels : float, optional
        The number that stands for a missing true label, nan or -1. Such labels and empty cells are
        nan in the result. By default a file with a missing label is rejected.
    id : str, optional
        The column that names the rows, a different text or number in each; ``""`` is a first column
        without a name. An NPZ file has them in the array ``ids``.
    tags : str, optional
        A column with the labels of each row as text, such as ``rock;jazz``. Files of scores, and
        of predictions if they have no such column, are read as usual.
    separator : str, optional
        What is between two labels in that column; by default a semicolon.
    label_names : sequence of str, optional
        All labels that the column of tags may hold, in order; by default those that occur, sorted.
    limits : Limits, optional
        How large the file may be before reading stops.

    Returns
    -------
    LabelMatrix

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> import limo
    >>> file = Path(mkdtemp()) / "scores.csv"
    >>> _ = file.write_text("calm,sad\n0.9,0.1\n0.2,0.7\n")
    >>> scores = limo.datasets.read_matrix(file)
    >>> scores.label_names, scores.values.shape
    (('calm', 'sad'), (2, 2))
    """
    limits = Limits.of(limits)
    options = ReadOptions(
        labels=labels,
        drop=drop,
        header=header,
        missing="nan",
        missing_labels=missing_labels,
        id=id,
        tags=tags,
        separator=separator,
        limits=limits,
    )
    file = as_path(path)
    if not isinstance(kind, str) or kind not in _ARRAYS:
        raise DataError(f"kind must be one of {', '.join(_ARRAYS)}; got {kind!r}")
    if (isinstance(format, str) and format == "npy") or (format is None and is_npy(file)):
        matrix = _map_npy(file, options)
        return replace(matrix, values=with_gaps(matrix.values, missing_labels))
    source = open_source(path, None, limits)
    name = recognise(source) if format is None else check_format(format, " or npy")
    matrix = LabelMatrix(None, None, source.path, source.checksum)
    if name == "npz":
        return _from_npz(source, kind, options, matrix)
    if FORMATS[name].columns is not None:
        return _from_columns(source, name, kind, options, matrix, label_names)
    if id is not None or tags is not None:
        raise DataError(f"a file in the {name} format has no columns{_IDS}", path=source.path)
    values, names = _from_rows(source, name, kind, options, n_labels)
    return replace(matrix, values=values, label_names=names)


_IDS = ". Ids are read from CSV, TSV and Parquet files, and from the array 'ids' of NPZ files"


def read_weights(path: str | os.PathLike[str], column: str | None = None) -> Any:
    """Read one number for each instance from a file.

    Parameters
    ----------
    path : path
        A file of one column, or an array of one dimension (.npy).
    column : str, optional
        Which column, if the file has several.

    Returns
    -------
    array of shape (n_samples,)
    """
    file = as_path(path)
    if is_npy(file):
        weights = _load_npy(file)
        weights = weights.reshape(-1, 1) if weights.ndim == 1 else weights
    else:
        weights = read_matrix(file, "scores", labels=None if column is None else [column]).values
    if weights.ndim != 2 or weights.shape[1] != 1:
        raise DataError(
            f"expected one column of weights, got shape {weights.shape}. Keep the column of "
            "weights only",
            path=str(path),
        )
    return weights[:, 0]


def is_npy(file: Path) -> bool:
    """Whether a file begins as those in NumPy's format do."""
    with file.open("rb") as handle:
        return handle.read(len(_NPY)) == _NPY


def _load_npy(file: Path, **how: Any) -> Any:
    try:
        return np.load(file, **how, allow_pickle=False)
    except DAMAGE as error:
        problem = f"expected an array in NumPy's format, but {error}"
        raise DataError(problem, path=str(file)) from None


def map_array(file: Path) -> Any:
    """The matrix of a .npy file, mapped into memory."""
    values = _load_npy(file, mmap_mode="r")
    _check_array(values, str(file))
    return values


def _map_npy(file: Path, options: ReadOptions) -> LabelMatrix:
    """An array mapped into memory, so that only the parts in use are read."""
    values = map_array(file)
    if options.labels is not None or options.drop:
        raise DataError("the columns of a .npy file have no names to choose by", path=str(file))
    if options.id is not None:
        raise DataError(f"a .npy file has no column of ids{_IDS}", path=str(file))
    with file.open("rb") as handle:
        checksum = hashlib.file_digest(handle, "sha256").hexdigest()
    return LabelMatrix(values, None, str(file), checksum)


def _from_npz(
    source: Source, kind: MatrixKind, options: ReadOptions, matrix: LabelMatrix
) -> LabelMatrix:
    arrays = read_arrays(source, options.limits)
    whole = scipy_matrix(arrays, source.path)
    values = _find_array(arrays, kind, source.path) if whole is None else whole
    if not sparse.issparse(values):
        _check_array(values, source.path)
    names = None
    if "label_names" in arrays:
        names = column_names(arrays, "label_names", values.shape[1], "y", source.path)
        check_names(list(names), source.path)
    values = with_gaps(values, options.missing_labels)
    matrix = replace(matrix, values=values, label_names=names)
    if options.id is None:
        return matrix
    if "ids" not in arrays:
        raise DataError(f"the file has no array 'ids'{_IDS}", path=source.path)
    ids = named_rows(arrays["ids"].astype(str), "ids", source.path)
    if len(ids) != values.shape[0]:
        raise DataError(f"expected {values.shape[0]} ids, got {len(ids)}", path=source.path)
    return replace(matrix, ids=ids, id_column="ids")


def _find_array(arrays: dict[str, Any], kind: MatrixKind, path: str) -> Any:
    """The array with one of the usual names, or the only matrix there is."""
    for name in _ARRAYS[kind]:
        if name in arrays or f"{name}_data" in arrays:
            return named_matrix(arrays, name, path)
    matrices = [name for name, array in arrays.items() if array.ndim == 2]
    if len(matrices) == 1:
        return arrays[matrices[0]]
    raise DataError(
        f"expected one matrix, or one called {' or '.join(_ARRAYS[kind])}; the file holds "
        f"{', '.join(sorted(arrays)) or 'nothing'}",
        path=path,
    )


def _check_array(values: Any, path: str) -> None:
    if values.ndim != 2 or values.dtype.kind not in "biuf":
        raise DataError(
            "expected a matrix of numbers, instances x labels; got shape "
            f"{values.shape} of type {values.dtype}",
            path=path,
        )


def _from_columns(
    source: Source,
    format: str,
    kind: MatrixKind,
    options: ReadOptions,
    matrix: LabelMatrix,
    label_names: Sequence[str] | None,
) -> LabelMatrix:
    """The columns of a file with named columns: all of them, or those of the labels."""
    asks_file = format == "arff" and kind != "scores" and options.labels is None
    if asks_file and says_labels(source, options):
        data = read_source(source, format, replace(options, header=True))
        return replace(matrix, values=data.Y, label_names=data.label_names)
    read_all = FORMATS[format].columns
    assert read_all is not None
    return matrix_of(read_all(source, options), kind, options, matrix, label_names)


def matrix_of(
    columns: Columns,
    kind: MatrixKind,
    options: ReadOptions,
    matrix: LabelMatrix,
    label_names: Sequence[str] | None = None,
) -> LabelMatrix:
    """The matrix of some columns."""
    matrix = _with_ids(matrix, columns, options)
    columns = without_index(columns)
    if kind != "scores" and options.tags is not None and _has_tags(columns, kind, options):
        values, names = columns.tag_labels(options, label_names)
        return replace(matrix, values=values, label_names=names)
    chosen = _choose(columns.names, kind, options, columns.path)
    names = tuple(columns.names[j].removeprefix(_PREFIXES[kind]) for j in chosen)
    values = (
        _scores(columns, chosen) if kind == "scores" else binary_columns(columns, chosen, options)
    )
    return replace(
        matrix, values=values, label_names=None if names == _numbered(len(names)) else names
    )


def _with_ids(matrix: LabelMatrix, columns: Columns, options: ReadOptions) -> LabelMatrix:
    """The matrix with the ids asked for, or with those of a first column that can only be ids."""
    if options.id is not None:
        ids = columns.text(options.id)
        line = columns.line_of
        return replace(
            matrix, ids=named_rows(ids, options.id, columns.path, line), id_column=options.id
        )
    for name in ("", *options.drop):
        if name in columns.texts and is_row_name(columns.texts[name]):
            return replace(matrix, ids=columns.texts[name], id_column=name)
    return matrix


def _has_tags(columns: Columns, kind: MatrixKind, options: ReadOptions) -> bool:
    """Whether the file has the column of tags, which true labels must have."""
    return kind == "truth" or options.tags in columns.texts


def _numbered(count: int) -> tuple[str, ...]:
    """The names of columns that have none in the file."""
    return tuple(map(str, range(count)))


def _choose(names: list[str], kind: MatrixKind, options: ReadOptions, path: str) -> list[int]:
    """The columns asked for, else those with the prefix of ``kind``, else all not dropped."""
    if options.labels is not None:
        return given_labels(names, options.labels, options.label_location, path)
    kept = [j for j, name in enumerate(names) if name not in options.drop]
    if kept and all(names[j].startswith((LABEL_PREFIX, SCORE_PREFIX)) for j in kept):
        return given_labels(names, f"{_PREFIXES[kind]}*", "end", path)
    return kept


def _scores(columns: Columns, chosen: list[int]) -> Any:
    """The chosen columns as a dense matrix; text and missing values are not scores."""
    headers = [columns.headers[j] for j in chosen]
    for header in headers:
        if not header.is_plain:
            raise DataError(
                f"the scores of {header.name!r} must be numbers, got text such as "
                f"{(header.values or ('',))[0]!r}. If it names the rows, match by it with "
                f"id={header.name!r}; else leave it out with drop=[{header.name!r}]",
                path=columns.path,
            )
    cells = columns.cells[:, chosen]
    S = cells.toarray() if sparse.issparse(cells) else cells
    if not S.size:
        raise DataError(
            "expected a line of scores for each instance, got none after the column names. Is it "
            "the right file?",
            path=columns.path,
        )
    if np.isin(S, (0, 1)).all():
        raise DataError(
            "expected scores, got only 0 and 1: these look like labels. Read predicted labels "
            "with kind='predictions'; real scores of this kind go into a .npy file, as floats",
            path=columns.path,
        )
    if np.isnan(S).any():
        row, place = np.argwhere(np.isnan(S))[0].tolist()
        raise DataError(
            f"the score of {headers[place].name!r} is missing. Give it a number: the lowest, if it "
            "means 'never'",
            path=columns.path,
            line=columns.line_of(row),
        )
    return S


def _from_rows(
    source: Source, format: str, kind: MatrixKind, options: ReadOptions, n_labels: int | None
) -> tuple[Any, Sequence[str] | None]:
    """The labels at the start of the rows of a LIBSVM or extreme-classification file."""
    if kind == "scores":
        raise DataError(f"a file in the {format} format holds labels, not scores", path=source.path)
    data = read_source(source, format, ReadOptions(labels=options.labels, limits=options.limits))
    if format == "xmc" or options.labels is not None or n_labels is None:
        return data.Y, data.label_names
    return _widen(data.Y, data.label_names, n_labels, source.path)


def _widen(Y: Any, names: Sequence[str], n_labels: int, path: str) -> tuple[Any, Any]:
    """The labels that occur, as columns of all ``n_labels``; these count from 0, or from 1."""
    if not all(name.isdecimal() for name in names):
        return Y, names
    ids = np.array([int(name) for name in names], dtype=np.int64)
    start = int(len(ids) > 0 and ids.min() > 0 and ids.max() == n_labels)
    if len(ids) and ids.max() - start >= n_labels:
        raise DataError(
            f"label {ids.max()} occurs, but there are {n_labels} columns of scores", path=path
        )
    wide = sparse.csr_array(
        (Y.data, (ids - start)[Y.indices], Y.indptr), shape=(Y.shape[0], n_labels)
    )
    return wide, None
