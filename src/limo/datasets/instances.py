"""The features of new instances, in the columns a model was trained on."""

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from limo.datasets.errors import DataError, Limits, shorten
from limo.datasets.npz import column_names, named_matrix, read_arrays
from limo.datasets.options import Options
from limo.datasets.reading import FORMATS, read_columns, read_source, recognise
from limo.datasets.source import Source, open_source
from limo.datasets.table import feature_columns

__all__ = ["order_features", "read_instances"]

Names = tuple[str, ...]


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

    The file needs no labels; columns named like a label are passed over. Columns go by name where
    the file has names, in whatever order, and a name too few or too many is refused. Only the
    values of a nominal feature may differ: one that training did not see is none of those it saw.

    Parameters
    ----------
    path : path
        A file of any format :func:`limo.read` knows.
    feature_names : sequence of str or None
        The features of the training data; None takes all columns as they are.
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
    options = Options(missing=missing, drop=drop, limits=limits or Limits())
    source = open_source(path, None, options.limits)
    name = format or recognise(source)
    if name not in FORMATS:
        raise DataError(f"format must be one of {', '.join(FORMATS)}; got {format!r}")
    wanted = None if feature_names is None else tuple(feature_names)
    if FORMATS[name].table is not None:
        X, names = _from_columns(source, name, set(label_names) - set(wanted or ()), options)
    else:
        X, names = _from_arrays(source, name, wanted, options)
    return X if wanted is None else order_features(X, names, wanted, source.path)


def order_features(X: Any, names: Names, wanted: Names, path: str) -> Any:
    """Columns of ``X`` in the order of ``wanted``; a name too few or too many is refused."""
    if names == wanted or (len(names) == len(wanted) and _numbered(names)):
        return X
    place = {name: j for j, name in enumerate(names)}
    absent = [n for n in wanted if n not in place and not _is_value_of(n, names)]
    extra = [n for n in names if n not in set(wanted) and not _is_value_of(n, wanted)]
    if absent or extra:
        raise DataError(_difference(names, wanted, absent, extra), path=path)
    columns = [place.get(name, -1) for name in wanted]
    return (_with_empty_column(X) if -1 in columns else X)[:, columns]


def _is_value_of(name: str, names: Names) -> bool:
    """Whether ``name`` is a value of a nominal feature (``key=minor``) that ``names`` know."""
    feature, equals, _ = name.rpartition("=")
    return bool(equals) and any(other.startswith(f"{feature}=") for other in names)


def _difference(names: Names, wanted: Names, absent: list[str], extra: list[str]) -> str:
    told = f"expected the {len(wanted)} features the model was trained on, got {len(names)}. "
    if absent:
        told += f"Absent: {shorten(absent)}. "
    if extra:
        told += f"Unknown to the model: {shorten(extra)}; leave them out with drop=. "
    return told.strip()


def _with_empty_column(X: Any) -> Any:
    """``X`` and, last, a column of zeros, for the values that no row has."""
    if sparse.issparse(X):
        return sparse.hstack([X, sparse.csr_array((X.shape[0], 1))], format="csr")
    return np.hstack([X, np.zeros((X.shape[0], 1))])


def _numbered(names: Names) -> bool:
    """Whether the columns have only the names that limo gives to nameless ones."""
    return all(name == f"x{j}" for j, name in enumerate(names))


def _from_columns(
    source: Source, format: str, labels: set[str], options: Options
) -> tuple[Any, Names]:
    """Features of a file that has them as columns; those named like a label are passed over."""
    table = read_columns(source, format, options)
    kept = [j for j, column in enumerate(table.columns) if column.name not in labels]
    return feature_columns(table, np.array(kept, dtype=np.intp), options)


def _from_arrays(
    source: Source, format: str, wanted: Names | None, options: Options
) -> tuple[Any, Names]:
    """Features of a file that has them as a matrix; NPZ may lack labels, LIBSVM a width."""
    if format == "npz":
        arrays = read_arrays(source, options.limits)
        X = named_matrix(arrays, "X", source.path)
        return X, column_names(arrays, "feature_names", X.shape[1], "x", source.path)
    width = len(wanted) if wanted is not None and format == "libsvm" else None
    data = read_source(source, format, replace(options, n_features=width))
    return data.X, data.feature_names
