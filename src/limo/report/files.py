"""The page as a file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from limo.files import check_target, replacing
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
    check_target(target, force=force)
    page = render(document)
    with replacing(target, force=force) as file:
        # names of files may hold bytes that are no text: they become question marks
        file.write(page.encode("utf-8", "replace"))
    return target
