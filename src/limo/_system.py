"""Files written completely or not at all, threads, time limits, late imports, and versions."""

import importlib
import importlib.metadata
import math
import os
import platform
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

# Files


def check_target(file: Path, *, force: bool) -> None:
    """Reject a file that cannot or must not be written, before any work is done for it.

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


@contextmanager
def replacing(file: Path, packer: Any = None, *, force: bool = True) -> Iterator[IO[bytes]]:
    """Open a temporary file that replaces ``file`` when it is complete, and not before.

    ``packer`` wraps the handle, to compress what is written. Without ``force``, a file created in
    the meantime is kept.
    """
    with replacing_all({file: packer}, force=force) as (handle,):
        yield handle


@contextmanager
def replacing_all(packers: Mapping[Path, Any], *, force: bool = True) -> Iterator[list[IO[bytes]]]:
    """Open a temporary file for each file of a set; they replace the set when all are complete.

    As in :func:`replacing`, of which the ``packers`` are the arguments. If one cannot be written,
    as on a full disk, every old file stays.
    """
    for file in packers:
        check_target(file, force=force)
    with ExitStack() as parts:
        opened = {file: parts.enter_context(_part(file)) for file in packers}
        with ExitStack() as stack:
            handles = zip(packers.values(), opened.values(), strict=True)
            yield [
                stack.enter_context(packer(raw)) if packer else raw for packer, (_, raw) in handles
            ]
        for part, raw in opened.values():
            raw.flush()
            os.fsync(raw.fileno())
            raw.close()
            _set_usual_mode(part)
        for file in packers:
            check_target(file, force=force)
        for file, (part, _) in opened.items():
            part.replace(file)


@contextmanager
def _part(file: Path) -> Iterator[tuple[Path, IO[bytes]]]:
    """A temporary file beside ``file``, removed unless it was renamed."""
    descriptor, name = tempfile.mkstemp(prefix=f".{file.name}.", suffix=".part", dir=file.parent)
    try:
        with os.fdopen(descriptor, "wb") as raw:
            yield Path(name), raw
    finally:
        Path(name).unlink(missing_ok=True)


def _set_usual_mode(part: Path) -> None:
    """Give a temporary file, which only its owner may read, the permissions of any new file."""
    mask = os.umask(0)
    os.umask(mask)
    part.chmod(0o666 & ~mask)


# Threads

Run = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]

_limit: ContextVar[int | None] = ContextVar("_limit", default=None)


@contextmanager
def at_most(n_threads: int | None) -> Iterator[None]:
    """Limit the number of threads in this block.

    None sets no limit; -1 means all cores, -2 all but one, and so on. An outer limit still holds.
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
    """The number of cores this process may use; ``OMP_NUM_THREADS`` and a limit can lower it."""
    limit = _limit.get()
    return _allowed() if limit is None else min(_allowed(), limit)


def _allowed() -> int:
    known = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    cores = known or 1
    asked = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    return min(cores, int(asked)) if asked.isdecimal() and int(asked) else cores


@contextmanager
def workers(*, enough: bool = True) -> Iterator[Run]:
    """A ``map`` whose calls run in parallel threads, if there is enough to do.

    Threads suffice: sorts and kernels release the interpreter lock, and nothing is copied.
    Results come in order, and the first error reaches the caller.
    """
    n_threads = n_workers()
    if n_threads <= 1 or not enough:
        yield map
        return
    with ThreadPoolExecutor(n_threads) as pool:
        yield pool.map


# Time


class OutOfTimeError(RuntimeError):
    """Work stopped because its time was over."""


_deadline: ContextVar[float] = ContextVar("_deadline", default=math.inf)


@contextmanager
def stopping_at(deadline: float) -> Iterator[None]:
    """Let :func:`check_time` stop the work of this block at a time of ``time.monotonic()``."""
    token = _deadline.set(min(deadline, _deadline.get()))
    try:
        yield
    finally:
        _deadline.reset(token)


def check_time() -> None:
    """Stop the work here if its time is over."""
    if time.monotonic() > _deadline.get():
        raise OutOfTimeError("the time was over")


# Libraries

_PACKAGES = {
    "limo": "limo-ml",
    "numpy": "numpy",
    "scipy": "scipy",
    "scikit-learn": "scikit-learn",
    "numba": "numba",
}


class Later:
    """A module that is imported when one of its attributes is first used.

    Unlike the standard library's lazy loader, it puts no unloaded module into ``sys.modules``.
    There, scikit-learn would load it, two threads could find it half loaded, and an interrupted
    import would leave it broken.

    Parameters
    ----------
    name : str
        The module to import.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, wanted: str) -> Any:
        return getattr(importlib.import_module(self._name), wanted)


@lru_cache(maxsize=1)
def versions() -> dict[str, str]:
    """The versions of Python, limo, and the libraries that results depend on."""
    found = {name: importlib.metadata.version(package) for name, package in _PACKAGES.items()}
    return {"python": platform.python_version()} | found
