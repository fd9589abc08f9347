"""Provenance: the command, seeds, files, versions and checksums behind a result."""

import hashlib
import platform
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from limo._system import as_path, versions
from limo._types import Anything, check_kind
from limo._views import Pattern

_CHUNK = 1 << 22


def collect_provenance(
    command: str | None = None,
    *,
    seeds: Any = None,
    files: Mapping[str, Path | str] | Iterable[Path | str] = (),
) -> dict[str, Any]:
    """Record how a result was computed, for the last section of a page.

    Parameters
    ----------
    command : str, optional
        The command as typed.
    seeds : int or list of int, optional
        The seeds used.
    files : mapping of str to path, or iterable of paths
        The files read; each is recorded with its SHA-256.

    Returns
    -------
    dict

    Examples
    --------
    >>> from limo.report import collect_provenance
    >>> made = collect_provenance("limo demo", seeds=0)
    >>> made["command"], made["seeds"], "numpy" in made["versions"]
    ('limo demo', 0, True)
    """
    check_kind(command, str | None, "command must be a text")
    check_kind(files, Iterable, "files must be a list of paths, or a mapping of names to paths")
    if seeds is not None:
        check_kind(seeds, int | list | tuple, "seeds must be a number or a list of numbers")
    named = files if isinstance(files, Mapping) else {as_path(path).name: path for path in files}
    provenance: dict[str, Any] = {
        "command": command,
        "seeds": seeds,
        "files": {
            name: {"path": str(path), "sha256": _of_file(as_path(path))}
            for name, path in named.items()
        },
        "versions": {name: number for name, number in versions().items() if name != "python"},
        "python": versions()["python"],
        "system": platform.platform(terse=True),
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    return {key: value for key, value in provenance.items() if value not in (None, {}, [])}


def checksum(matrix: Pattern | Anything) -> str:
    """SHA-256 of labels or scores: of shape, type and values, independent of memory layout."""
    digest = hashlib.sha256()
    if isinstance(matrix, Pattern):
        digest.update(repr(matrix.shape).encode())
        for part in (matrix.indptr, matrix.indices):
            digest.update(np.ascontiguousarray(part, dtype="<i8").data)
        if matrix.unknown is not None:
            digest.update(checksum(matrix.unknown).encode())
        if matrix.row_weights is not None:
            digest.update(np.ascontiguousarray(matrix.row_weights, dtype="<f8").data)
        return digest.hexdigest()
    digest.update(f"{matrix.shape} {matrix.dtype.newbyteorder('<').str}".encode())
    step = max(1, _CHUNK // matrix.shape[1])
    for start in range(0, matrix.shape[0], step):
        part = matrix[start : start + step]
        digest.update(np.ascontiguousarray(part, dtype=part.dtype.newbyteorder("<")).data)
    return digest.hexdigest()


def _of_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
