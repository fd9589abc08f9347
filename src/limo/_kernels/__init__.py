"""Functions compiled with numba.

Kernels take C-contiguous arrays and scalars and write only into arrays they were given. They do
not check their input: ``limo._checks`` did. They release the interpreter lock, so callers may run
them in several threads.

numba keeps the machine code in the folder of the package, or in the user's cache folder. Where it
may write to neither, as in a read-only container, a temporary folder serves this process and those
it starts. ``NUMBA_CACHE_DIR`` names a folder to keep.
"""

import atexit
import os
import secrets
import shutil
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, TypeVar, cast

import numba
from numba.core import bytecode, event

Function = TypeVar("Function", bound=Callable[..., object])


def _random_numbers() -> Iterator[int]:
    """Numbers that no two processes share, also if one is a copy of the other."""
    while True:
        yield secrets.randbits(62)


# numba numbers what a process compiles, and the functions that make up its sorts differ in nothing
# else: an argsort of one process and a sort of another may have the same name. A third process that
# loads both from the cache calls one of them for both, and sorts wrongly without an error (numba's
# issue 10486). With random numbers the names differ.
bytecode.FunctionIdentity._unique_ids = _random_numbers()  # type: ignore[assignment]


def kernel(function: Function) -> Function:
    """Compile ``function`` on its first call and cache the machine code for later processes."""
    return _compiled(function, freedoms=False)


def vector_kernel(function: Function) -> Function:
    """Compile as :func:`kernel` does, and allow sums to be added up in any order.

    Loops that sum can then use vector instructions. Infinite values and nan keep their meaning.
    """
    return _compiled(function, freedoms={"reassoc", "nsz", "contract"})


def _compiled(function: Function, *, freedoms: bool | set[str]) -> Function:
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": freedoms}
    try:
        return cast("Function", numba.njit(cache=True, **options)(function))
    except RuntimeError:  # numba may write to none of its folders
        return cast("Function", numba.njit(cache=_has_temporary_cache(), **options)(function))


@lru_cache(maxsize=1)
def _has_temporary_cache() -> bool:
    """Make numba use a temporary folder, and say so once; False if there can be none."""
    try:
        folder = tempfile.mkdtemp(prefix="limo-numba-")
    except OSError:
        folder = ""
    else:
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        # the variable is for processes that this one starts
        os.environ["NUMBA_CACHE_DIR"] = folder
        numba.config.CACHE_DIR = folder  # type: ignore[attr-defined]
    warnings.warn(
        "limo cannot keep its compiled code: neither its own folder nor your cache folder can be "
        f"written. It is compiled again in every {'session' if folder else 'process'}. Set "
        "NUMBA_CACHE_DIR to a folder that you can write to.",
        RuntimeWarning,
        stacklevel=2,
    )
    return bool(folder)


class _Stopwatch(event.Listener):
    """How long this process has been compiling; code from the cache takes no time here."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._here = threading.local()  # a function compiles those that it calls: nested events

    def on_start(self, event: Any) -> None:
        self._here.depth = getattr(self._here, "depth", 0) + 1
        if self._here.depth == 1:
            self._here.start = time.perf_counter()

    def on_end(self, event: Any) -> None:
        self._here.depth -= 1
        if not self._here.depth:
            self.seconds += time.perf_counter() - self._here.start

    def so_far(self) -> float:
        """The seconds until now, those of a function that is being compiled included."""
        running = getattr(self._here, "depth", 0) > 0
        return self.seconds + (time.perf_counter() - self._here.start if running else 0.0)


_stopwatch = _Stopwatch()
event.register("numba:compile", _stopwatch)  # type: ignore[no-untyped-call]


def compile_seconds() -> float:
    """The seconds this process has spent compiling."""
    return _stopwatch.so_far()
