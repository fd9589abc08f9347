"""The features of instances to predict for, in the order of the training data."""

import os
import warnings
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from limo._settings import check_number
from limo.datasets._columns import Columns, feature_columns
from limo.datasets._dataset import names_of
from limo.datasets._npz import column_names, named_matrix, read_arrays
from limo.datasets._options import DataError, Limits, ReadOptions, shorten
from limo.datasets._read import FORMATS, check_format, read_columns, read_source, recognise
from limo.datasets._source import Source, open_source
from limo.datasets._texts import named_rows

Names = Sequence[str]


def read_instances(
    path: str | os.PathLike[str],
    feature_names: Sequence[str] | None,
    label_names: Sequence[str] = (),
    *,
    format: str | None = None,
    missing: str = "error",
    drop: Sequence[str] = (),
    id: str | None = None,
    limits: Limits | None = None,
) -> Any:
    r"""Read the features of instances whose labels are to be predicted.

    The file needs no labels; columns named like a label are skipped. Columns are matched by name
    where the file has names, in any order; an absent or unknown feature is an error. A nominal
    feature may have values that the training data lack: its columns for the known values are 0,
    and a warning names the values.

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
    id : str, optional
        A column that names the rows and is no feature; :func:`read_ids` reads it.

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
    options = ReadOptions(missing=missing, drop=drop, id=id, limits=Limits.of(limits))
    source = open_source(path, None, options.limits)
    name = recognise(source) if format is None else check_format(format)
    wanted = None if feature_names is None else names_of(feature_names, "feature_names")
    labels = set(names_of(label_names, "label_names"))
    if FORMATS[name].columns is not None:
        X, names = _features_from_columns(source, name, labels - set(wanted or ()), options)
    else:
        X, names = _from_arrays(source, name, wanted, options)
    return X if wanted is None else order_features(X, names, wanted, source.path)


def order_features(X: Any, names: Names, wanted: Names, path: str) -> Any:
    """Columns of ``X`` in the order of ``wanted``; an absent or unknown name is an error."""
    names, wanted = names_of(names, "names"), names_of(wanted, "wanted")
    if names == wanted or (len(names) == len(wanted) and _are_numbered(names)):
        return X
    place = {name: j for j, name in enumerate(names)}
    absent = _unknown(wanted, names)
    extra = _unknown(names, wanted)
    if absent or extra:
        raise DataError(_difference(names, wanted, absent, extra), path=path)
    _remark_unseen(names, wanted, path)
    columns = [place.get(name, -1) for name in wanted]
    return (_with_empty_column(X) if -1 in columns else X)[:, columns]


def _remark_unseen(names: Names, wanted: Names, path: str) -> None:
    """Warn of values of nominal features that the training data lack."""
    known = set(wanted)
    unseen = [name for name in names if name not in known]
    if unseen:
        warnings.warn(
            f"{path}: the model was not trained on {shorten(unseen, 4)}: no column of such a "
            "feature is 1 for these instances. Check the spelling, or train with such instances.",
            UserWarning,
            stacklevel=3,
        )


def read_ids(path: str | os.PathLike[str], column: str, *, format: str | None = None) -> Any:
    r"""Read the column of a file that names its rows.

    Parameters
    ----------
    path : path
        A CSV, TSV or Parquet file, or an NPZ file with an array ``ids``.
    column : str
        The column; ``""`` is a first column without a name.
    format : str, optional
        The format, if the suffix does not say it.

    Returns
    -------
    array of str, of shape (n_samples,)

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> import limo
    >>> file = Path(mkdtemp()) / "new.csv"
    >>> _ = file.write_text("song,length\n007,3.5\n008,2.5\n")
    >>> limo.datasets.read_ids(file, "song").tolist()
    ['007', '008']
    """
    source = open_source(path, None, Limits())
    name = recognise(source) if format is None else check_format(format)
    if name == "npz":
        arrays = read_arrays(source, Limits())
        if "ids" not in arrays:
            raise DataError("the file has no array 'ids'", path=source.path)
        return named_rows(arrays["ids"].astype(str), "ids", source.path)
    columns = _with_text(source, name, column, "ids")
    return named_rows(columns.text(column), column, source.path, columns.line_of)


def read_groups(
    path: str | os.PathLike[str],
    column: str | None = None,
    *,
    n_instances: int | None = None,
    drop: Sequence[str] = (),
) -> Any:
    r"""Read the group of each instance, such as the patient a picture is of.

    Parameters
    ----------
    path : path
        A CSV, TSV or Parquet file with that column; or a text file with one group per line.
    column : str, optional
        The column; by default there is only one.
    n_instances : int, optional
        How many groups to expect of a text file: one line more is a first line with a name.
    drop : list of str, optional
        Other columns of text, which are not read.

    Returns
    -------
    array of str, of shape (n_samples,)

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> import limo
    >>> file = Path(mkdtemp()) / "groups.txt"
    >>> _ = file.write_text("patient\nanna\nanna\nbert\n")
    >>> limo.datasets.read_groups(file, n_instances=3).tolist()
    ['anna', 'anna', 'bert']
    """
    if n_instances is not None:
        check_number(n_instances, "n_instances", least=0, integer=True)
    source = open_source(path, None, Limits())
    if column is not None:
        groups = _with_text(source, recognise(source), column, "groups", drop).text(column)
    else:
        try:
            lines = source.data.decode("utf-8-sig").splitlines()
        except UnicodeDecodeError:
            raise DataError("expected text, one group per line", path=source.path) from None
        has_name = n_instances is not None and len(lines) == n_instances + 1
        groups = np.array([line.strip() for line in lines[has_name:]], dtype=str)
    if not all(groups.tolist()):
        place = groups.tolist().index("")
        raise DataError(f"instance {place} has no group: give it its own", path=source.path)
    return groups


def _with_text(
    source: Source, format: str, column: str, what: str, drop: Sequence[str] = ()
) -> Columns:
    """The columns of a file, one of them read as text."""
    reader = FORMATS[format].columns
    if reader is None:
        raise DataError(f"a file in the {format} format has no column of {what}", path=source.path)
    return reader(source, ReadOptions(id=column, drop=drop, missing="nan", header=True))


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
    return all(name == f"x{j}" for j, name in enumerate(names))


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
