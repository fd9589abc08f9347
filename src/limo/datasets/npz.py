"""NPZ: NumPy's own archive, read without pickle and without trusting its claims."""

import io
import math
import zipfile
import zlib
from typing import Any

import numpy as np
from scipy import sparse

from limo.datasets.dataset import Dataset
from limo.datasets.errors import DataError, Limits
from limo.datasets.options import Options
from limo.datasets.source import Source
from limo.datasets.storage import csr

__all__ = ["read_npz", "to_arrays"]

_PARTS = ("data", "indices", "indptr", "shape")
_DAMAGE = (
    OSError,
    EOFError,
    KeyError,
    ValueError,
    TypeError,
    SyntaxError,
    NotImplementedError,
    RuntimeError,
    OverflowError,
    MemoryError,
    zipfile.BadZipFile,
    zlib.error,
)


def read_npz(source: Source, options: Options) -> Dataset:
    """Read arrays ``X`` and ``Y``, dense or as the four parts of a CSR matrix."""
    arrays = _arrays(source, options.limits)
    X, Y = _matrix(arrays, "X", source.path), _matrix(arrays, "Y", source.path)
    _check_values(X, Y, source.path, options.missing)
    for A, what in ((X, "features"), (Y, "labels")):
        options.limits.check("max_columns", A.shape[1], what, source.path)
    features = _names(arrays, "feature_names", X.shape[1], "x", source.path)
    labels = _names(arrays, "label_names", Y.shape[1], "y", source.path)
    return Dataset(X, Y.astype(np.int64), features, labels, source.path, source.checksum)


def to_arrays(dataset: Dataset) -> dict[str, Any]:
    """The arrays to store: what :func:`read_npz` reads."""
    arrays = {
        "feature_names": np.array(dataset.feature_names, dtype=np.str_),
        "label_names": np.array(dataset.label_names, dtype=np.str_),
    }
    for letter, A in (("X", dataset.X), ("Y", dataset.Y)):
        if sparse.issparse(A):
            A = sparse.csr_array(A)
            parts = (A.data, A.indices, A.indptr, np.array(A.shape))
            arrays |= {f"{letter}_{p}": v for p, v in zip(_PARTS, parts, strict=True)}
        else:
            arrays[letter] = np.asarray(A)
    return arrays


def _arrays(source: Source, limits: Limits) -> dict[str, Any]:
    """Every array of the archive, each no larger than its member really is."""
    try:
        with zipfile.ZipFile(io.BytesIO(source.data)) as archive:
            infos = archive.infolist()
            total = sum(info.file_size for info in infos)
            limits.check("max_bytes", total, "bytes after unpacking", source.path)
            return {i.filename.removesuffix(".npy"): _array(archive.read(i)) for i in infos}
    except _DAMAGE as error:
        if isinstance(error, DataError):
            raise
        raise DataError(
            f"expected an NPZ file of plain arrays, but {error or type(error).__name__}",
            path=source.path,
        ) from None


def _array(member: bytes) -> Any:
    """One array; object arrays, which need pickle, are refused."""
    handle = io.BytesIO(member)
    version = np.lib.format.read_magic(handle)
    read_header = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }.get(version)
    if read_header is None:
        raise ValueError(f"version {version} of the format is not known")
    shape, by_column, kind = read_header(handle)
    content = member[handle.tell() :]
    if kind.hasobject:
        raise ValueError("an array holds Python objects, which limo never loads")
    if math.prod(shape) * kind.itemsize != len(content):
        raise ValueError(f"an array claims the shape {shape}, but has {len(content)} bytes")
    array = np.frombuffer(content, dtype=kind).reshape(shape, order="F" if by_column else "C")
    return array.copy()


def _matrix(arrays: dict[str, Any], letter: str, path: str) -> Any:
    if letter in arrays:
        A = arrays[letter]
        good = A.ndim == 2 and A.dtype.kind in "bif" + "u"
    elif all(f"{letter}_{part}" in arrays for part in _PARTS):
        A = _checked_csr(*(arrays[f"{letter}_{part}"] for part in _PARTS))
        good = A is not None
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
    A = csr(data, indices, indptr, (n_rows, n_columns))
    return A if A.has_canonical_format else None


def _check_values(X: Any, Y: Any, path: str, missing: str) -> None:
    if X.shape[0] != Y.shape[0]:
        raise DataError(
            f"X and Y must have the same rows: X has {X.shape[0]}, Y has {Y.shape[0]}", path=path
        )
    x, y = (A.data if sparse.issparse(A) else A for A in (X, Y))
    if ((y != 0) & (y != 1)).any():
        raise DataError("Y must hold only 0 and 1", path=path)
    if missing == "error" and not np.isfinite(x).all():
        raise DataError(
            "X must hold finite numbers. If it is meant to hold nan, pass missing='nan'", path=path
        )


def _names(arrays: dict[str, Any], key: str, count: int, letter: str, path: str) -> tuple[str, ...]:
    if key not in arrays:
        return tuple(f"{letter}{j}" for j in range(count))
    names = arrays[key]
    if names.ndim != 1 or len(names) != count or (names.dtype.kind != "U" and count):
        raise DataError(f"{key} must be {count} names", path=path)
    return tuple(names.tolist())
