"""Executors: who makes the runs. Any object with ``submit``, as concurrent.futures has it, will do.

A Dask cluster is one by ``client.get_executor()``. Executors know nothing of stores: only the
process that drives them writes.
"""

import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Future
from os import _exit, getppid
from typing import Any, Protocol

from joblib.externals.loky import ProcessPoolExecutor

__all__ = ["Executor", "Processes", "Serial"]


class Executor(Protocol):
    """What drives a plan: anything that takes a function with an argument and promises a result."""

    def submit(self, function: Callable[[Any], Any], argument: Any, /) -> "Future[Any]":
        """Have ``function(argument)`` computed."""


class Serial:
    """Everything at once, here and now."""

    def submit(self, function: Callable[[Any], Any], argument: Any, /) -> "Future[Any]":
        """Compute, and give a future that is done."""
        future: Future[Any] = Future()
        future.set_result(function(argument))
        return future

    def close(self) -> None:
        """Nothing is open."""


class Processes:
    """Processes of this machine (joblib's loky: classes of a script or notebook travel too).

    Parameters
    ----------
    n_jobs : int
        How many.
    """

    def __init__(self, n_jobs: int) -> None:
        self.n_jobs = n_jobs
        self._pool: Any = None

    def submit(self, function: Callable[[Any], Any], argument: Any, /) -> "Future[Any]":
        """Have it computed by the next free process; those that died are replaced."""
        try:
            return self._submit(function, argument)
        except BrokenExecutor:
            self._pool = None
            return self._submit(function, argument)

    def close(self) -> None:
        """End the processes, busy or not."""
        if self._pool is not None:
            # loky's own way of killing trips over work that is about to start
            for worker in list(self._pool._processes.values()):
                worker.terminate()
            self._pool.shutdown(wait=True)
            self._pool = None

    def _submit(self, function: Callable[[Any], Any], argument: Any) -> "Future[Any]":
        if self._pool is None:
            self._pool = ProcessPoolExecutor(self.n_jobs, initializer=_settle_in)
        future: Future[Any] = self._pool.submit(function, argument)
        return future


def _settle_in() -> None:
    """Leave Ctrl-C to the parent, and never outlive it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(getppid(),), daemon=True).start()


def _end_with(parent: int) -> None:
    while getppid() == parent:
        time.sleep(1)
    _exit(1)
