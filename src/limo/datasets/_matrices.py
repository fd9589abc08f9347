"""One matrix from a file: labels or scores to evaluate, or features to predict from.

Rows are instances. Columns are matched by name if there are names. A ``.npy`` file is mapped.
"""

import hashlib
import os
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from scipy import sparse

from limo._frames import as_names
from limo._system import as_path
from limo.datasets._arff import says_labels
from limo.datasets._columns import (
    Columns,
    binary_columns,
    check_names,
    feature_columns,
    given_labels,
)
from limo.datasets._dataset import (
    DataError,
    LabelChoice,
    Limits,
    NumberedNames,
    ReadOptions,
    shorten,
    with_gaps,
)
from limo.datasets._npz import DAMAGE, column_names, named_matrix, read_arrays, scipy_matrix
from limo.datasets._read import (
    FORMATS,
    check_format,
    read_columns,
    read_source,
    recognise,
    without_index,
)
from limo.datasets._source import Source, open_source

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
    label_names : sequence of str or None
        A name for each column.
    source, checksum : str
        The file, and its sha256 after decompression.
    """

    values: Any
    label_names: Sequence[str] | None
    source: str
    checksum: str

    def ordered_as(self, names: Sequence[str] | None) -> "LabelMatrix":
        """The same columns in the order of ``names``; raise if the names are not the same."""
        own = self.label_names
        if names is None or own is None or own == names:
            return self
        if len(set(own)) < len(own) or set(own) != set(names):
            raise DataError(
                f"the columns must be named like the true labels: expected {shorten(names, 4)}; "
                f"got {shorten(own, 4)}. Rename the columns, or leave some out with drop=",
                path=self.source,
            )
        place = {name: j for j, name in enumerate(own)}
        return replace(self, values=self.values[:, [place[n] for n in names]], label_names=names)


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
        limits=limits,
    )
    file = as_path(path)
    if not isinstance(kind, str) or kind not in _ARRAYS:
        raise DataError(f"kind must be one of {', '.join(_ARRAYS)}; got {kind!r}")
    if (isinstance(format, str) and format == "npy") or (format is None and _is_npy(file)):
        found = _map_npy(file, options)
        return replace(found, values=with_gaps(found.values, missing_labels))
    source = open_source(path, None, limits)
    name = recognise(source) if format is None else check_format(format, " or npy")
    if name == "npz":
        values, names = _from_npz(source, kind, options)
        values = with_gaps(values, missing_labels)
    elif FORMATS[name].columns is not None:
        values, names = _from_columns(source, name, kind, options)
    else:
        values, names = _from_rows(source, name, kind, options, n_labels)
    return LabelMatrix(values, names, source.path, source.checksum)


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
    if _is_npy(file):
        weights = np.load(file, allow_pickle=False)
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


def _is_npy(file: Path) -> bool:
    with file.open("rb") as handle:
        return handle.read(len(_NPY)) == _NPY


def _map_npy(file: Path, options: ReadOptions) -> LabelMatrix:
    """An array mapped into memory, so that only the parts in use are read."""
    try:
        values = np.load(file, mmap_mode="r", allow_pickle=False)
    except DAMAGE as error:
        raise DataError(
            f"expected an array in NumPy's format, but {error}", path=str(file)
        ) from None
    _check_array(values, str(file))
    if options.labels is not None or options.drop:
        raise DataError("the columns of a .npy file have no names to choose by", path=str(file))
    with file.open("rb") as handle:
        checksum = hashlib.file_digest(handle, "sha256").hexdigest()
    return LabelMatrix(values, None, str(file), checksum)


def _from_npz(
    source: Source, kind: MatrixKind, options: ReadOptions
) -> tuple[Any, Sequence[str] | None]:
    arrays = read_arrays(source, options.limits)
    whole = scipy_matrix(arrays, source.path)
    values = _find_array(arrays, kind, source.path) if whole is None else whole
    if kind == "scores" and sparse.issparse(values):
        values = _dense_scores(values, options.limits, source.path)
    if not sparse.issparse(values):
        _check_array(values, source.path)
    if "label_names" not in arrays:
        return values, None
    names = column_names(arrays, "label_names", values.shape[1], "y", source.path)
    check_names(list(names), source.path)
    return values, names


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


def _dense_scores(values: Any, limits: Limits, path: str) -> Any:
    """Sparse scores as a dense array; an absent score is 0, which must be the lowest."""
    if values.nnz and values.data.min() < 0:
        raise DataError(
            "an absent score counts as 0, which ranks it above the negative scores in the file. "
            "Store the scores as a dense array",
            path=path,
        )
    limits.check("max_values", values.shape[0] * values.shape[1], "scores", path)
    return values.toarray()


def _check_array(values: Any, path: str) -> None:
    if values.ndim != 2 or values.dtype.kind not in "biuf":
        raise DataError(
            "expected a matrix of numbers, instances x labels; got shape "
            f"{values.shape} of type {values.dtype}",
            path=path,
        )


def _from_columns(
    source: Source, format: str, kind: MatrixKind, options: ReadOptions
) -> tuple[Any, Sequence[str] | None]:
    """The columns of a file with named columns: all of them, or those of the labels."""
    asks_file = format == "arff" and kind != "scores" and options.labels is None
    if asks_file and says_labels(source, options):
        data = read_source(source, format, replace(options, header=True))
        return data.Y, data.label_names
    read_all = FORMATS[format].columns
    assert read_all is not None
    columns = without_index(read_all(source, options))
    chosen = _choose(columns.names, kind, options, source.path)
    names = tuple(columns.names[j].removeprefix(_PREFIXES[kind]) for j in chosen)
    values = (
        _scores(columns, chosen) if kind == "scores" else binary_columns(columns, chosen, options)
    )
    return values, None if names == NumberedNames("", len(names)) else names


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
                f"{(header.values or ('',))[0]!r}. Leave the column out with drop=",
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


# The features of new instances, in the order of the training data.

Names = Sequence[str]


def read_instances(
    path: str | os.PathLike[str],
    feature_names: Sequence[str] | None,
    label_names: Sequence[str] = (),
    *,
    format: str | None = None,
    missing: str = "error",
    drop: Sequence[str] = (),
    limits: Limits | None = None,
) -> Any:
    r"""Read the features of instances whose labels are to be predicted.

    The file needs no labels; columns named like a label are skipped. Columns are matched by name
    where the file has names, in any order; an absent or unknown feature is an error. A nominal
    feature may have values that the training data lack: its columns for the known values are 0.

    Parameters
    ----------
    path : path
        A file of any format :func:`limo.read` knows.
    feature_names : sequence of str or None
        The features of the training data; None reads all columns as they are.
    label_names : sequence of str, optional
        The labels of the training data.
    format, missing, drop, limits
        As for :func:`limo.read`.

    Returns
    -------
    array or CSR array of shape (n_samples, len(feature_names))

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> import limo
    >>> file = Path(mkdtemp()) / "new.csv"
    >>> _ = file.write_text("key,length\nminor,3.5\n")
    >>> limo.datasets.read_instances(file, ["length", "key=major", "key=minor"])
    array([[3.5, 0. , 1. ]])
    """
    options = ReadOptions(missing=missing, drop=drop, limits=Limits.of(limits))
    source = open_source(path, None, options.limits)
    name = recognise(source) if format is None else check_format(format)
    wanted = None if feature_names is None else as_names(feature_names, "feature_names")
    if FORMATS[name].columns is not None:
        X, names = _features_from_columns(
            source, name, set(as_names(label_names)) - set(wanted or ()), options
        )
    else:
        X, names = _from_arrays(source, name, wanted, options)
    return X if wanted is None else order_features(X, names, wanted, source.path)


def order_features(X: Any, names: Names, wanted: Names, path: str) -> Any:
    """Columns of ``X`` in the order of ``wanted``; an absent or unknown name is an error."""
    names, wanted = as_names(names, "names"), as_names(wanted, "wanted")
    if names == wanted or (len(names) == len(wanted) and _are_numbered(names)):
        return X
    place = {name: j for j, name in enumerate(names)}
    absent = _unknown(wanted, names)
    extra = _unknown(names, wanted)
    if absent or extra:
        raise DataError(_difference(names, wanted, absent, extra), path=path)
    columns = [place.get(name, -1) for name in wanted]
    return (_with_empty_column(X) if -1 in columns else X)[:, columns]


def _unknown(names: Names, known: Names) -> list[str]:
    """The names that are not known, nor values (``key=minor``) of a known nominal feature."""
    exact, ordered = set(known), sorted(known)

    def is_value(name: str) -> bool:
        feature = name[: name.rfind("=") + 1]
        place = bisect_left(ordered, feature)
        return bool(feature) and place < len(ordered) and ordered[place].startswith(feature)

    return [name for name in names if name not in exact and not is_value(name)]


def _difference(names: Names, wanted: Names, absent: list[str], extra: list[str]) -> str:
    problem = f"expected the {len(wanted)} features the model was trained on, got {len(names)}. "
    if absent:
        problem += f"Absent: {shorten(absent)}. "
    if extra:
        problem += f"Unknown to the model: {shorten(extra)}; leave them out with drop=. "
    return problem.strip()


def _with_empty_column(X: Any) -> Any:
    """``X`` with a column of zeros at the end, for nominal values that no row has."""
    if sparse.issparse(X):
        return sparse.hstack([X, sparse.csr_array((X.shape[0], 1))], format="csr")
    return np.hstack([X, np.zeros((X.shape[0], 1))])


def _are_numbered(names: Names) -> bool:
    """Whether the names are those that limo gives to columns without names."""
    return NumberedNames("x", len(names)) == names


def _features_from_columns(
    source: Source, format: str, labels: set[str], options: ReadOptions
) -> tuple[Any, Names]:
    """Features of a file with named columns; columns named like a label are skipped."""
    columns = read_columns(source, format, options)
    kept = [j for j, name in enumerate(columns.names) if name not in labels]
    return feature_columns(columns, np.array(kept, dtype=np.intp), options)


def _from_arrays(
    source: Source, format: str, wanted: Names | None, options: ReadOptions
) -> tuple[Any, Names]:
    """Features of a file that holds a matrix; an NPZ file needs no labels here."""
    if format == "npz":
        arrays = read_arrays(source, options.limits)
        X = named_matrix(arrays, "X", source.path)
        return X, column_names(arrays, "feature_names", X.shape[1], "x", source.path)
    width = len(wanted) if wanted is not None and format == "libsvm" else None
    data = read_source(source, format, replace(options, n_features=width))
    return data.X, data.feature_names
