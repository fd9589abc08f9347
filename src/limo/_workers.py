"""Work shared out among the cores."""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

__all__ = ["Run", "at_most", "n_workers", "workers"]


Run = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]

_limit: ContextVar[int | None] = ContextVar("_limit", default=None)


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
