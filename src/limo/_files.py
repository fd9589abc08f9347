"""Whole files or none: what is written appears under its name when it is complete."""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

__all__ = ["check_target", "replacing"]


def check_target(file: Path, *, force: bool) -> None:
    """Refuse a file that could not be written, or must not be, before any work is done for it.

    Examples
    --------
    >>> check_target(Path("no/such/folder/report.html"), force=False)
    Traceback (most recent call last):
        ...
    FileNotFoundError: the folder no/such/folder does not exist; create it first
    """
    if not file.parent.is_dir():
        raise FileNotFoundError(f"the folder {file.parent} does not exist; create it first")
    if file.is_dir():
        raise IsADirectoryError(f"{file} is a folder; name a file")
    if file.exists() and not force:
        raise FileExistsError(f"{file} exists; choose another name, or replace it with force=True")


@contextlib.contextmanager
def replacing(file: Path, packer: Any = None, *, force: bool = True) -> Iterator[IO[bytes]]:
    """A handle whose content appears under ``file`` when it is complete, and not before.

    Without ``force`` a file that came to be there in the meantime is left alone.
    """
    check_target(file, force=force)
    descriptor, name = tempfile.mkstemp(prefix=f".{file.name}.", suffix=".part", dir=file.parent)
    part = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as raw:
            with contextlib.ExitStack() as stack:
                yield stack.enter_context(packer(raw)) if packer else raw
            raw.flush()
            os.fsync(raw.fileno())
        _set_usual_mode(part)
        check_target(file, force=force)
        part.replace(file)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _set_usual_mode(part: Path) -> None:
    """Give a temporary file, born private, the permissions of any new file."""
    mask = os.umask(0)
    os.umask(mask)
    part.chmod(0o666 & ~mask)
