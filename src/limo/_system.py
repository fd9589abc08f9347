"""Files written completely or not at all, threads, processes, memory, time, imports, versions.

Also where the documentation of estimators is.
"""

import importlib
import importlib.metadata
import importlib.util
import math
import os
import platform
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import count
from pathlib import Path
from typing import IO, Any

import limo

# Files


def as_path(path: Any, name: str = "path") -> Path:
    """The path, or an error that says what was given instead.

    Examples
    --------
    >>> as_path(None)
    Traceback (most recent call last):
        ...
    ValueError: path must be the name of a file, got None
    """
    if not isinstance(path, str | os.PathLike) or not str(path) or "\0" in str(path):
        raise ValueError(f"{name} must be the name of a file, got {path!r}")
    return Path(path)


def check_target(file: Path, *, force: bool) -> None:
    """Reject a file that cannot or must not be written, before any work is done for it.

    Examples
    --------
    >>> check_target(Path("no/such/folder/report.html"), force=False)
    Traceback (most recent call last):
        ...
    FileNotFoundError: the folder no/such/folder does not exist; create it first
    """
    if not isinstance(force, bool):
        raise ValueError(f"force must be True or False, got {force!r}")
    if not file.parent.is_dir():
        raise FileNotFoundError(f"the folder {file.parent} does not exist; create it first")
    if file.is_dir():
        raise IsADirectoryError(f"{file} is a folder; name a file")
    if not os.access(file.parent, os.W_OK | os.X_OK):
        raise PermissionError(f"the folder {file.parent} cannot be written; choose another")
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
    packers = {file.resolve(): packer for file, packer in packers.items()}  # links stay links
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


def write_text(path: Any, text: str) -> None:
    """Write a text and a line end to a file; if that fails, the old file stays."""
    with replacing(as_path(path)) as handle:
        handle.write(f"{text}\n".encode())


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
    return _allowed() if limit is None else limit


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
    yield partial(_run_in_threads, n_threads)


def _run_in_threads(
    n_threads: int, function: Callable[[Any], Any], items: Iterable[Any]
) -> list[Any]:
    """Call the function of every item; this thread and others take the next item in turn.

    Threads are kept from call to call, because a product of small matrices takes no longer than
    to start one. Others that are busy are not waited for, so calls within calls cannot block.
    """
    given = list(items)
    results: list[Any] = [None] * len(given)
    errors: dict[int, BaseException] = {}
    places = count()  # next() of it is atomic

    def work() -> None:
        while not errors and (place := next(places)) < len(given):
            try:
                results[place] = function(given[place])
            except BaseException as error:
                errors[place] = error

    pool = _threads(n_threads - 1)
    others = [pool.submit(work) for _ in range(min(n_threads, len(given)) - 1)]
    try:
        work()
    finally:
        for other in others:
            if not other.cancel():
                other.result()
    if errors:
        raise errors[min(errors)]
    return results


_pool: ThreadPoolExecutor | None = None
_pool_lock = threading.Lock()


def _threads(number: int) -> ThreadPoolExecutor:
    """At least so many threads, started when they are first needed."""
    global _pool
    with _pool_lock:
        if _pool is None or _pool._max_workers < number:
            _pool = ThreadPoolExecutor(number, thread_name_prefix="limo")
        return _pool


def _forget_threads() -> None:
    """A forked process has none of the threads of its parent."""
    global _pool, _pool_lock
    _pool, _pool_lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)


# Memory


def memory_limit() -> float:
    """The bytes this process may use: of the machine, its container and its ``ulimit``.

    8 GiB if the system reports none of them.
    """
    known = [_machine_memory(), _container_memory(Path("/sys/fs/cgroup")), _address_space()]
    return min((limit for limit in known if limit is not None), default=2.0**33)


def _machine_memory() -> float | None:
    try:
        return float(os.sysconf("SC_PAGE_SIZE")) * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


def _container_memory(groups: Path) -> float | None:
    """The limit of the control group, in the file of version 2 or of version 1 of the interface."""
    for file in (groups / "memory.max", groups / "memory" / "memory.limit_in_bytes"):
        try:
            text = file.read_text().strip()
        except (OSError, UnicodeDecodeError):
            continue
        if text.isdecimal():  # "max" means no limit
            return float(text)
    return None


def _address_space() -> float | None:
    if importlib.util.find_spec("resource") is None:  # Windows
        return None
    resource = importlib.import_module("resource")
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if limit == resource.RLIM_INFINITY else float(limit)


def resident_memory() -> float:
    """The bytes that this process has in memory now; 0 where the system does not say it."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return float(pages) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, AttributeError):
        return 0.0


# Processes


def start_worker(parent: int) -> None:
    """Leave Ctrl-C to the parent process, and end when it ends.

    The parent passes its own process id: it may have been killed before this process could ask.
    This module loads nothing large, so a process that is still starting notices at once.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_exit_with, args=(parent,), daemon=True).start()


def _exit_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


# Time


class OutOfTimeError(RuntimeError):
    """Work stopped because its time limit was reached."""


_deadline: ContextVar[float] = ContextVar("_deadline", default=math.inf)


@contextmanager
def stopping_at(deadline: float) -> Iterator[None]:
    """Let :func:`check_time` stop the work of this block at a time of ``time.monotonic()``."""
    token = _deadline.set(min(deadline, _deadline.get()))
    try:
        yield
    finally:
        _deadline.reset(token)


def current_deadline() -> float:
    """When the work of this block must stop. Other threads do not inherit it: pass it to them."""
    return _deadline.get()


def time_is_over() -> bool:
    """Whether the work of this block should stop here."""
    return time.monotonic() > _deadline.get()


def check_time() -> None:
    """Stop the work here if its time is over."""
    if time_is_over():
        raise OutOfTimeError("the time limit was reached")


# Shares of the time after which parts of a search should be done. The rest is for the final
# thresholds and the leaderboard.
_END_OF_TRIALS = 0.75
_END_OF_WEIGHTS = 0.9
_END_OF_FITS = 0.95


@dataclass(frozen=True)
class Budget:
    """The time for everything, from ``start`` on; without a limit, ``seconds`` is infinite."""

    start: float
    seconds: float = math.inf

    @classmethod
    def of(cls, seconds: float | None) -> "Budget":
        """From now on."""
        return cls(time.monotonic(), math.inf if seconds is None else float(seconds))

    @property
    def spent(self) -> float:
        """Seconds so far."""
        return time.monotonic() - self.start

    def end_of_trials(self, reserved: float) -> float:
        """When the last cross-fit must be done, if fits on all data take ``reserved`` seconds."""
        return self.start + _END_OF_TRIALS * self.seconds - reserved

    def end_of_weights(self, reserved: float) -> float:
        """When fits on all data must begin."""
        return self.start + _END_OF_WEIGHTS * self.seconds - reserved

    @property
    def end_of_fits(self) -> float:
        """When fits on all data must be done."""
        return self.start + _END_OF_FITS * self.seconds


# Documentation

SITE = "https://limo-ml.readthedocs.io/en/latest"


class Documented:
    """An estimator whose HTML form in a notebook links to its page on the site of limo.

    scikit-learn reads these two names. A class is in the module that its users import it from.
    """

    _doc_link_module = "limo"
    _doc_link_template = f"{SITE}/generated/reference/{{estimator_module}}.{{estimator_name}}.html"


# Libraries

_PACKAGES = {
    "numpy": "numpy",
    "scipy": "scipy",
    "scikit-learn": "scikit-learn",
    "numba": "numba",
}


# Which extra of limo installs a library that limo itself does without.
_EXTRAS = {
    "lightgbm": "boosting",
    "matplotlib": "plots",
    "pyarrow": "parquet",
    "xgboost": "boosting",
}


def need(name: str) -> Any:
    """Import a module; if its library is not installed, say which extra of limo installs it.

    Parameters
    ----------
    name : str
        The module to import.

    Returns
    -------
    module
        The imported module.
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        library = name.partition(".")[0]
        if library not in _EXTRAS or (error.name or "").partition(".")[0] != library:
            raise
        raise ModuleNotFoundError(
            f"This needs {library}, which is not installed. Install it with "
            f"pip install 'limo-ml[{_EXTRAS[library]}]'.",
            name=library,
        ) from None


def importable(name: str) -> bool:
    """Whether a library can be used.

    One that is installed may still lack a library of the system: LightGBM needs libgomp, which
    small containers do not have.
    """
    try:
        importlib.import_module(name)
    except (ImportError, OSError):
        return False
    return True


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
        if wanted == "__wrapped__":  # tools that look for wrapped functions import nothing
            raise AttributeError(wanted)
        return getattr(need(self._name), wanted)


@lru_cache(maxsize=1)
def versions() -> dict[str, str]:
    """The versions of Python, limo, and the libraries that results depend on."""
    packages = {name: importlib.metadata.version(package) for name, package in _PACKAGES.items()}
    return {"python": platform.python_version(), "limo": limo.__version__} | packages
