"""NPZ files: archives of NumPy arrays, read without pickle and without trusting their claims."""

import io
import math
import tokenize
import zipfile
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from limo.datasets._dataset import (
    Dataset,
    NumberedNames,
    as_labels,
    check_binary,
    check_different,
    csr,
    with_gaps,
)
from limo.datasets._options import DataError, Limits, ReadOptions
from limo.datasets._source import Source

_LAST_CHARACTER = 0x10FFFF
_PARTS = ("data", "indices", "indptr", "shape")
# What NumPy and zipfile raise for malformed headers and archives.
DAMAGE = (
    AttributeError,
    EOFError,
    LookupError,
    MemoryError,
    OSError,
    OverflowError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
    tokenize.TokenError,
    zipfile.BadZipFile,
    zlib.error,
)


def read_npz(source: Source, options: ReadOptions) -> Dataset:
    """Read arrays ``X`` and ``Y``, dense or as the four parts of a CSR matrix."""
    arrays = read_arrays(source, options.limits)
    X, Y = named_matrix(arrays, "X", source.path), named_matrix(arrays, "Y", source.path)
    if X.shape[0] != Y.shape[0]:
        raise DataError(
            f"X and Y must have the same rows: X has {X.shape[0]}, Y has {Y.shape[0]}",
            path=source.path,
        )
    Y = with_gaps(Y, options.missing_labels)
    check_binary(Y, source.path, gaps=options.missing_labels is not None)
    _check_finite(X, options.missing, source.path)
    for A, what in ((X, "features"), (Y, "labels")):
        options.limits.check("max_columns", A.shape[1], what, source.path)
    features = column_names(arrays, "feature_names", X.shape[1], "x", source.path)
    labels = column_names(arrays, "label_names", Y.shape[1], "y", source.path)
    return Dataset(X, as_labels(Y), features, labels, source.path, source.checksum)


def to_arrays(dataset: Dataset) -> dict[str, Any]:
    """The arrays to store: what :func:`read_npz` reads."""
    arrays = {
        "feature_names": np.array(dataset.feature_names, dtype=np.str_),
        "label_names": np.array(dataset.label_names, dtype=np.str_),
    }
    for letter, A in (("X", dataset.X), ("Y", dataset.Y)):
        if sparse.issparse(A):
            arrays |= csr_parts(letter, sparse.csr_array(A))
        else:
            arrays[letter] = np.asarray(A)
    return arrays


def csr_parts(letter: str, A: Any) -> dict[str, Any]:
    """The four arrays a CSR matrix is stored as under a name."""
    parts = (A.data, A.indices, A.indptr, np.array(A.shape))
    return {f"{letter}_{part}": values for part, values in zip(_PARTS, parts, strict=True)}


def read_arrays(source: Source, limits: Limits) -> dict[str, Any]:
    """Every array of the archive; one that claims to be larger than its content is rejected."""
    try:
        with zipfile.ZipFile(io.BytesIO(source.data)) as archive:
            infos = archive.infolist()
            total = sum(info.file_size for info in infos)
            limits.check("max_bytes", total, "bytes after unpacking", source.path)
            return {i.filename.removesuffix(".npy"): _array(archive.read(i)) for i in infos}
    except DAMAGE as error:
        if isinstance(error, DataError):
            raise
        raise DataError(
            f"expected an NPZ file of plain arrays, but {error or type(error).__name__}",
            path=source.path,
        ) from None


def _array(member: bytes) -> Any:
    """One array; arrays of Python objects, which need pickle, are rejected."""
    handle = io.BytesIO(member)
    version = np.lib.format.read_magic(handle)
    read_header = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }.get(version)
    if read_header is None:
        raise ValueError(f"version {version} of the format is unknown")
    shape, by_column, kind = read_header(handle)
    content = member[handle.tell() :]
    if kind.hasobject:
        raise ValueError("an array holds Python objects, which limo never loads")
    if math.prod(shape) * kind.itemsize != len(content):
        raise ValueError(f"an array claims the shape {shape}, but has {len(content)} bytes")
    array = np.frombuffer(content, dtype=kind).reshape(shape, order="F" if by_column else "C")
    return array.copy()


def named_matrix(arrays: dict[str, Any], letter: str, path: str) -> Any:
    """The matrix stored under a name, whole or as the four parts of a CSR matrix."""
    if letter in arrays:
        A = arrays[letter]
        good = A.ndim == 2 and A.dtype.kind in "biuf"
    elif all(f"{letter}_{part}" in arrays for part in _PARTS):
        A = _checked_csr(*(arrays[f"{letter}_{part}"] for part in _PARTS))
        good = A is not None and A.has_canonical_format
    else:
        held = ", ".join(sorted(arrays)) or "nothing"
        raise DataError(
            f"expected an array {letter!r}, or {letter}_data, {letter}_indices, {letter}_indptr "
            f"and {letter}_shape of a CSR matrix; the file holds {held}",
            path=path,
        )
    if not good:
        raise DataError(f"{letter} must be a matrix of numbers, or valid CSR parts", path=path)
    return A


def scipy_matrix(arrays: dict[str, Any], path: str) -> Any:
    """The matrix that ``scipy.sparse.save_npz`` stored, as CSR; None if it stored none.

    Entries given twice are added up, as everywhere in SciPy.
    """
    if "format" not in arrays or "shape" not in arrays:
        return None
    kind = arrays["format"].item() if arrays["format"].ndim == 0 else b""
    name = kind.decode("latin-1") if isinstance(kind, bytes) else str(kind)
    if name not in ("csr", "csc") or any(part not in arrays for part in _PARTS):
        raise DataError(
            f"expected a sparse matrix in the csr or csc format, got {name!r}. "
            "Store matrix.tocsr()",
            path=path,
        )
    data, indices, indptr, shape = (arrays[part] for part in _PARTS)
    A = _checked_csr(data, indices, indptr, shape if name == "csr" else np.flip(shape))
    if A is None:
        raise DataError("the parts of the sparse matrix do not fit together", path=path)
    A = A if name == "csr" else A.T.tocsr()
    A.sum_duplicates()
    return A


def _checked_csr(data: Any, indices: Any, indptr: Any, shape: Any) -> Any:
    """The CSR array, or None if the parts do not fit together."""
    kinds = [data.dtype.kind in "biuf", *(a.dtype.kind in "iu" for a in (indices, indptr, shape))]
    flat = all(a.ndim == 1 for a in (data, indices, indptr, shape))
    if not all(kinds) or not flat or len(shape) != 2 or len(data) != len(indices):
        return None
    n_rows, n_columns = map(int, shape)
    rising = len(indptr) == n_rows + 1 and (np.diff(indptr.astype(np.int64)) >= 0).all()
    if not rising or indptr[0] != 0 or indptr[-1] != len(data) or n_columns < 0:
        return None
    if len(indices) and not 0 <= indices.min() <= indices.max() < n_columns:
        return None
    return csr(data, indices, indptr, (n_rows, n_columns))


def _check_finite(X: Any, missing: str, path: str) -> None:
    values = X.data if sparse.issparse(X) else X
    if missing == "error" and not np.isfinite(values).all():
        raise DataError(
            "X must hold finite numbers. If it is meant to hold nan, pass missing='nan'", path=path
        )


def column_names(
    arrays: dict[str, Any], key: str, count: int, letter: str, path: str
) -> Sequence[str]:
    """The names stored under ``key``; x0, x1, ... (or another letter) if there are none."""
    if key not in arrays:
        return NumberedNames(letter, count)
    names = arrays[key]
    if names.ndim != 1 or len(names) != count or (names.dtype.kind != "U" and count):
        raise DataError(f"{key} must be {count} names", path=path)
    if names.size and np.ascontiguousarray(names).view(np.uint32).max() > _LAST_CHARACTER:
        raise DataError(f"{key} holds a number that is no character; write it again", path=path)
    check_different(names.tolist(), "column names", path)
    return tuple(names.tolist())
