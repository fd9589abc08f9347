"""Predictions as files that :func:`limo.datasets.read_matrix` and any other program can read."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
from scipy import sparse

from limo._later import Later
from limo.datasets.errors import DataError
from limo.datasets.frames import need_parquet
from limo.datasets.matrices import LABEL_PREFIX, SCORE_PREFIX
from limo.datasets.npz import csr_parts
from limo.files import replacing

__all__ = ["check_suffix", "write_predictions"]

pd = Later("pandas")


def write_predictions(
    path: str | os.PathLike[str],
    label_names: Sequence[str],
    *,
    scores: Any = None,
    labels: Any = None,
    force: bool = False,
) -> Path:
    """Write scores, predicted labels or both; the suffix tells the format.

    Parameters
    ----------
    path : path
        Ends in .csv, .tsv, .parquet, .npz, or, for one matrix, .npy.
    label_names : sequence of str
        A name for each column. In a table of both, columns are called label:NAME and score:NAME.
    scores : array of shape (n_samples, n_labels), optional
        Scores.
    labels : array or sparse matrix of shape (n_samples, n_labels), optional
        Predicted labels, 0 or 1.
    force : bool, default=False
        Whether to replace a file that exists.

    Returns
    -------
    Path

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> import limo
    >>> file = mkdtemp() + "/predictions.csv"
    >>> S, P = [[0.5, 2.0]], [[0, 1]]
    >>> file = limo.datasets.write_predictions(file, ["a", "b"], scores=S, labels=P)
    >>> print(file.read_text())
    label:a,label:b,score:a,score:b
    0,1,0.5,2.0
    """
    file, names = Path(path), list(map(str, label_names))
    given = {"labels": labels, "scores": scores}
    matrices = {what: _array(A) for what, A in given.items() if A is not None}
    check_suffix(file, len(matrices))
    for what, A in matrices.items():
        if A.ndim != 2 or A.shape[1] != len(names):
            raise DataError(f"{what} must have {len(names)} columns, got the shape {A.shape}")
    with replacing(file, force=force) as handle:
        _WRITERS[file.suffix.lower()](handle, matrices, names)
    return file


def check_suffix(file: Path, n_matrices: int = 1) -> None:
    """Refuse a file whose name tells no format, or one that cannot hold what is to be written."""
    suffix = file.suffix.lower()
    if suffix not in _WRITERS:
        raise DataError(
            f"predictions are written to a file that ends in {', '.join(_WRITERS)}; got {file.name}"
        )
    if suffix == ".npy" and n_matrices != 1:
        raise DataError(
            f"{file.name} can hold one matrix: write scores or labels, or both to a .npz file"
        )
    if suffix in (".parquet", ".pq"):
        need_parquet(str(file))


def _array(A: Any) -> Any:
    return sparse.csr_array(A) if sparse.issparse(A) else np.asarray(A)


def _frame(matrices: dict[str, Any], names: list[str]) -> Any:
    """A table with a column for each label of each matrix."""
    prefixes = {"labels": LABEL_PREFIX, "scores": SCORE_PREFIX}
    dense = {w: A.toarray() if sparse.issparse(A) else A for w, A in matrices.items()}
    if len(dense) == 1:
        return pd.DataFrame(next(iter(dense.values())), columns=names)
    parts = [
        pd.DataFrame(A, columns=[f"{prefixes[what]}{name}" for name in names])
        for what, A in dense.items()
    ]
    return pd.concat(parts, axis=1)


def _write_csv(handle: IO[bytes], matrices: dict[str, Any], names: list[str]) -> None:
    _frame(matrices, names).to_csv(handle, index=False)


def _write_tsv(handle: IO[bytes], matrices: dict[str, Any], names: list[str]) -> None:
    _frame(matrices, names).to_csv(handle, index=False, sep="\t")


def _write_parquet(handle: IO[bytes], matrices: dict[str, Any], names: list[str]) -> None:
    _frame(matrices, names).to_parquet(handle, index=False)


def _write_npz(handle: IO[bytes], matrices: dict[str, Any], names: list[str]) -> None:
    arrays: dict[str, Any] = {"label_names": np.array(names, dtype=np.str_)}
    for what, A in matrices.items():
        arrays |= csr_parts(what, A) if sparse.issparse(A) else {what: A}
    np.savez_compressed(handle, **arrays)


def _write_npy(handle: IO[bytes], matrices: dict[str, Any], names: list[str]) -> None:
    A = next(iter(matrices.values()))
    np.save(handle, A.toarray() if sparse.issparse(A) else A)


_WRITERS: dict[str, Callable[[IO[bytes], dict[str, Any], list[str]], None]] = {
    ".csv": _write_csv,
    ".tsv": _write_tsv,
    ".parquet": _write_parquet,
    ".pq": _write_parquet,
    ".npz": _write_npz,
    ".npy": _write_npy,
}
