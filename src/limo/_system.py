"""What the machine offers: files written whole or not at all, threads, libraries and versions."""

import contextlib
import importlib
import importlib.metadata
import os
import platform
import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

__all__ = [
    "Later",
    "Run",
    "at_most",
    "check_target",
    "n_workers",
    "replacing",
    "versions",
    "workers",
]

Run = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]

_limit: ContextVar[int | None] = ContextVar("_limit", default=None)


_PACKAGES = {
    "limo": "limo-ml",
    "numpy": "numpy",
    "scipy": "scipy",
    "scikit-learn": "scikit-learn",
    "numba": "numba",
}


class Later:
    """A module that is imported when something of it is first asked for.

    Unlike the standard library's lazy loader it leaves no unloaded module where others look for
    modules: scikit-learn would wake it, two threads could meet in it half loaded, and an
    interrupted load would leave it broken for good.

    Parameters
    ----------
    name : str
        What one would import.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, wanted: str) -> Any:
        return getattr(importlib.import_module(self._name), wanted)


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


@contextmanager
def at_most(n_threads: int | None) -> Iterator[None]:
    """Let the work in this block be shared among so many threads and no more.

    None sets no limit; -1 stands for all cores, -2 for all but one, and so on. A limit around
    this one stays in force.
    """
    allowed = n_workers()
    if n_threads is not None:
        asked = n_threads if n_threads > 0 else _allowed() + 1 + n_threads
        allowed = max(1, min(allowed, asked))
    token = _limit.set(allowed)
    try:
        yield
    finally:
        _limit.reset(token)


def n_workers() -> int:
    """The cores this process may use, or fewer if ``OMP_NUM_THREADS`` or a limit says so."""
    limit = _limit.get()
    return _allowed() if limit is None else min(_allowed(), limit)


def _allowed() -> int:
    known = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    cores = known or 1
    asked = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    return min(cores, int(asked)) if asked.isdecimal() and int(asked) else cores


@contextmanager
def workers(*, enough: bool = True) -> Iterator[Run]:
    """A ``map`` whose calls run side by side, if there is enough to do.

    Threads, not processes: sorts and kernels run without the interpreter lock, and nothing
    need be copied. Results come in order, and the first error reaches the caller.
    """
    n_threads = n_workers()
    if n_threads <= 1 or not enough:
        yield map
        return
    with ThreadPoolExecutor(n_threads) as pool:
        yield pool.map


@lru_cache(maxsize=1)
def versions() -> dict[str, str]:
    """The versions of Python, of limo, and of the libraries its numbers depend on."""
    found = {name: importlib.metadata.version(package) for name, package in _PACKAGES.items()}
    return {"python": platform.python_version()} | found
