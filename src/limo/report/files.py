"""Files that are whole or not there at all."""

import contextlib
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from limo.report.page import render

__all__ = ["write"]


def write(document: Mapping[str, Any], path: str | Path, force: bool = False) -> Path:
    """Write the report of a document as one HTML file that needs nothing else.

    The file appears under its name when it is complete, never before; an interrupted run leaves
    nothing behind.

    Parameters
    ----------
    document : mapping
        What :func:`limo.findings.judge` or :func:`limo.findings.compare` gave.
    path : str or Path
        Where to.
    force : bool, default=False
        Whether to replace a file that is there already.

    Returns
    -------
    Path

    Examples
    --------
    >>> import tempfile, limo
    >>> from limo.findings import judge
    >>> document = judge([[1, 0], [0, 1]], {"mine": [[3.0, 2.0], [0.0, 1.0]]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = limo.report.write(document, folder + "/mine.html")
    ...     page.read_text(encoding="utf-8").startswith("<!doctype html>")
    True
    """
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a folder. Give the name of a file, such as "
                                f"{target / 'report.html'}.")  # fmt: skip
    if target.exists() and not force:
        raise FileExistsError(
            f"{target} exists already. Choose another name, or replace it with force=True "
            "(--force on the command line)."
        )
    if not target.parent.is_dir():
        raise FileNotFoundError(
            f"The folder {target.parent} does not exist. Make it first, or choose another."
        )
    _replace(target, render(document))
    return target


def _replace(target: Path, text: str) -> None:
    """Write beside the target, then rename: renaming is atomic within a folder."""
    handle, name = tempfile.mkstemp(prefix=f".{target.name[:32]}.", dir=target.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace", newline="\n") as file:
            file.write(text)
        Path(name).chmod(0o666 & ~_umask())
        Path(name).replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise


def _umask() -> int:
    """The permissions new files are refused; asking means setting, so it is put back at once."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
