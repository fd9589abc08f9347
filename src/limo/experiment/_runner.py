"""Run a plan: skip the runs that the store already has, store each new one, report progress.

``run`` first, then the executors that compute the jobs, then the estimate of the time left.
"""

import shutil
import tempfile
import time
from collections import defaultdict, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from contextlib import ExitStack, closing, nullcontext, suppress
from dataclasses import dataclass, field, replace
from os import getpid, kill
from pathlib import Path
from statistics import median
from typing import Any, Protocol

from joblib.externals.loky import ProcessPoolExecutor

from limo._settings import check_number
from limo._system import n_workers, start_worker
from limo.datasets import Dataset
from limo.experiment._job import Outcome, outcome_of, run_job
from limo.experiment._judge import error_text, failures
from limo.experiment._plan import Job, Plan
from limo.experiment._store import Store, rows_of


class Interrupted(KeyboardInterrupt):
    """Stopped by the user; says how many runs are stored and how to continue.

    Examples
    --------
    >>> import limo
    >>> issubclass(limo.experiment.Interrupted, KeyboardInterrupt)
    True
    """

    __module__ = "limo.experiment"  # the name that users see and import


class Executor(Protocol):
    """Computes jobs: any object with the ``submit`` of ``concurrent.futures``.

    Examples
    --------
    >>> import limo, pathlib, tempfile
    >>> from limo.experiment import Data, Plan, Splits
    >>> plan = Plan([Data("toy", "figure1", {"n": 60})], ["mlknn"], ["macro_auc"], Splits(number=1))
    >>> store = pathlib.Path(tempfile.mkdtemp()) / "results.sqlite"
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> with ThreadPoolExecutor(1) as threads:
    ...     rows = limo.experiment.run(plan, store, executor=threads)
    >>> len(rows)
    1
    """

    def submit(self, function: Callable[[Any], Any], argument: Any, /) -> "Future[Any]":
        """Start computing ``function(argument)``."""


@dataclass(frozen=True)
class Progress:
    """The progress of a plan.

    Attributes
    ----------
    total : int
        Runs of the plan.
    skipped : int
        Runs that were already in the store.
    done, failed : int
        Runs finished by this call, and how many of them failed.
    running : tuple of str
        The current runs.
    seconds : float
        Time since the start.
    seconds_left : float or None
        Estimated from finished runs; None before the first.
    last : Outcome or None
        The run that finished last.

    Examples
    --------
    >>> import limo, pathlib, tempfile
    >>> from limo.experiment import Data, Plan, Splits
    >>> plan = Plan([Data("toy", "figure1", {"n": 60})], ["mlknn"], ["macro_auc"], Splits(number=1))
    >>> store = pathlib.Path(tempfile.mkdtemp()) / "results.sqlite"
    >>> seen = []
    >>> rows = limo.experiment.run(plan, store, n_jobs=1, progress=seen.append)
    >>> seen[-1].done, seen[-1].total
    (1, 1)
    """

    total: int
    skipped: int = 0
    done: int = 0
    failed: int = 0
    running: tuple[str, ...] = ()
    seconds: float = 0.0
    seconds_left: float | None = None
    last: Outcome | None = None

    @property
    def left(self) -> int:
        """Runs that are not finished."""
        return self.total - self.skipped - self.done

    def __str__(self) -> str:
        text = f"{self.skipped + self.done} of {self.total} runs"
        text += f", {self.failed} failed" if self.failed else ""
        if self.running:
            text += f"; running {'; '.join(self.running)}"
        if self.seconds_left is not None and self.left:
            text += f"; about {_duration(self.seconds_left)} left"
        return text


OnProgress = Callable[[Progress], object]


def run(
    plan: Plan,
    store: str | Path,
    *,
    n_jobs: int | None = None,
    executor: Executor | None = None,
    retry_failed: bool = False,
    progress: OnProgress | None = None,
) -> Any:
    """Run a plan, or the rest of it.

    Runs that are already in the store are skipped; a run with another setting is another run.
    Each run is stored as soon as it is finished: if the process is killed at any time, the same
    call resumes where it stopped. A failed run becomes rows with the error.

    Parameters
    ----------
    plan : Plan
        What to run.
    store : path
        A SQLite file; created if it does not exist.
    n_jobs : int, optional
        The number of processes; by default the number of cores. 1 runs all jobs in this process.
    executor : Executor, optional
        Used instead of processes: any object with ``submit``, such as ``client.get_executor()``
        of a Dask cluster; ``n_jobs`` is then the number of jobs it runs at a time. It gets data
        in memory with every job; data given by name or path are not sent.
    retry_failed : bool, default=False
        Whether to repeat runs that failed before.
    progress : callable, optional
        Called with a :class:`Progress` at the start, whenever runs finish, and at the end.

    Returns
    -------
    pandas.DataFrame
        The results of the plan, in its order, with the columns ``limo.experiment.COLUMNS``.

    Raises
    ------
    Interrupted
        On Ctrl-C, after the workers have been stopped: a KeyboardInterrupt that says how to
        continue.

    Examples
    --------
    >>> import tempfile
    >>> from limo.experiment import Data, Plan, Splits, run
    >>> data = Data("toy", "figure1", {"n": 50})
    >>> plan = Plan([data], ["limo", "mlknn"], ["ranking_loss"], splits=Splits(number=2))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rows = run(plan, f"{folder}/results.sqlite", n_jobs=1)
    >>> rows[["dataset", "split", "method", "measure", "status"]].values.tolist()
    [['toy', 0, 'limo', 'ranking_loss', 'ok'], ['toy', 0, 'mlknn', 'ranking_loss', 'ok'],
     ['toy', 1, 'limo', 'ranking_loss', 'ok'], ['toy', 1, 'mlknn', 'ranking_loss', 'ok']]
    """
    if n_jobs is None:
        n_jobs = n_workers()
    check_number(n_jobs, "n_jobs", least=1, integer=True)
    jobs = plan.jobs()
    with Store(store) as opened:
        known = {outcome.run: outcome for outcome in opened.outcomes()}
        left = [job for job in jobs if _is_left(known.get(job.run), retry_failed)]
        before = [known[job.run] for job in jobs if job.run in known]
        reporter = ProgressReporter(len(jobs), left, before, n_jobs, progress)
        try:
            with closing(_outcomes(left, n_jobs, executor, reporter)) as finished:
                for outcomes in finished:
                    opened.add(outcomes)
                    known |= {outcome.run: outcome for outcome in outcomes}
                    reporter.finish(outcomes)
        except KeyboardInterrupt:
            # count in the store: the interrupt may have come between writing and counting
            stored = {outcome.run for outcome in opened.outcomes()} & {job.run for job in jobs}
            raise Interrupted(
                f"Stopped. {len(stored)} of {len(jobs)} runs are stored in {opened.path}; "
                "the same call continues from there."
            ) from None
    return rows_of(known[job.run] for job in jobs)


def _is_left(known: Outcome | None, retry_failed: bool) -> bool:
    return known is None or (retry_failed and known.status == "failed")


def _outcomes(
    jobs: Sequence[Job], n_jobs: int, executor: Executor | None, reporter: "ProgressReporter"
) -> Generator[list[Outcome]]:
    """Outcomes as jobs finish, by the given executor or one of ours."""
    with ExitStack() as stack:
        if executor is None and n_jobs > 1 and len(jobs) > 1:
            jobs = _with_data_in_files(jobs, stack)
            processes = Processes(n_jobs)
            stack.callback(processes.close)
            yield from _execute(jobs, processes, n_jobs, reporter)
        elif executor is None:
            yield from _execute(jobs, Serial(), 1, reporter)
        else:
            yield from _execute(jobs, executor, n_jobs, reporter)


def _with_data_in_files(jobs: Sequence[Job], stack: ExitStack) -> Sequence[Job]:
    """Save data in memory to a file once, instead of sending them with each job."""
    data = {id(job.data): job.data for job in jobs}
    in_memory = any(isinstance(one.source, Dataset) for one in data.values())
    with nullcontext() if in_memory else suppress(OSError):  # then there need be no folder
        _remove_abandoned()
        # also without data: it tells the next run what to remove if this process is killed
        own = tempfile.TemporaryDirectory(prefix=f"{_FOLDER}{getpid()}-")
        folder = Path(stack.enter_context(own))
    if not in_memory:
        return jobs
    saved = {key: one.saved_to(folder) for key, one in data.items()}
    return [replace(job, data=saved[id(job.data)]) for job in jobs]


_FOLDER = "limo-data-"
_SEMAPHORES = Path("/dev/shm")  # of Linux; other systems list them nowhere


def _remove_abandoned() -> None:
    """Remove folders and semaphores of processes that were killed: they could not do it."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_FOLDER}*"):
        owner = folder.name.removeprefix(_FOLDER).partition("-")[0]
        if owner.isdecimal() and not _is_alive(int(owner)):
            for semaphore in _SEMAPHORES.glob(f"sem.loky-{owner}-*"):
                with suppress(OSError):
                    semaphore.unlink()
            shutil.rmtree(folder, ignore_errors=True)  # of another user: not ours to remove


def _is_alive(process: int) -> bool:
    try:
        kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # it belongs to another user
        return True
    return True


def _execute(
    jobs: Sequence[Job], executor: Executor, n_jobs: int, reporter: "ProgressReporter"
) -> Iterator[list[Outcome]]:
    """Keep the executor busy, and yield outcomes as jobs finish.

    One more job per worker is submitted than it can run, so that no worker is idle while results
    are written. If a worker dies, any of the submitted jobs may have killed it: they are repeated
    one at a time. A job has failed only if its worker dies twice while it runs alone: once may be
    chance, as when someone ends a process.
    """
    waiting, suspects = deque(jobs), deque[Job]()
    submitted: dict[Future[Any], Job] = {}
    capacity = 1 if isinstance(executor, Serial) else 2 * n_jobs
    while waiting or suspects or submitted:
        while waiting and len(submitted) < capacity and not suspects:
            job = waiting.popleft()
            submitted[executor.submit(run_job, job)] = job
        if suspects and not submitted:
            job = suspects.popleft()
            reporter.start([job])
            yield [_outcome(_run_alone(executor, job), job)]
            continue
        reporter.start(list(submitted.values())[:n_jobs])
        done = {future: submitted.pop(future) for future in _next_done(submitted)}
        suspects += [job for future, job in done.items() if _worker_died(future)]
        outcomes = [_outcome(*item) for item in done.items() if not _worker_died(item[0])]
        if outcomes:
            yield outcomes
    reporter.start([])


def _run_alone(executor: Executor, job: Job) -> "Future[Any]":
    """Run a job with no other beside it, and once more if its worker dies."""
    future = executor.submit(run_job, job)
    return executor.submit(run_job, job) if _worker_died(future) else future


def _next_done(futures: Iterable["Future[Any]"]) -> set["Future[Any]"]:
    return wait(futures, return_when=FIRST_COMPLETED).done


def _worker_died(future: "Future[Any]") -> bool:
    return isinstance(future.exception(), BrokenExecutor)


def _outcome(future: "Future[Any]", job: Job) -> Outcome:
    """The outcome of a job, also if it could not be sent or its worker died."""
    error = future.exception()
    if error is None:
        outcome: Outcome = future.result()
        return outcome
    text = error_text(error)
    if _worker_died(future):
        text = f"the process of this run died; it may have run out of memory: {text}"
    return outcome_of(job, failures(job.measures, text))


# Executors of this machine.


class Serial:
    """Run each job immediately, in this process."""

    def submit(self, function: Callable[[Any], Any], argument: Any, /) -> "Future[Any]":
        """Compute, and return a finished future."""
        future: Future[Any] = Future()
        future.set_result(function(argument))
        return future

    def close(self) -> None:
        """Nothing to close."""


class Processes:
    """Worker processes of this machine.

    They are joblib's loky, which can also send classes defined in a script or notebook.

    Parameters
    ----------
    n_jobs : int
        The number of processes.
    """

    def __init__(self, n_jobs: int) -> None:
        self.n_jobs = n_jobs
        self._pool: Any = None

    def submit(self, function: Callable[[Any], Any], argument: Any, /) -> "Future[Any]":
        """Compute in the next free process; dead processes are replaced."""
        try:
            return self._submit(function, argument)
        except BrokenExecutor:
            self._pool = None
            return self._submit(function, argument)

    def close(self) -> None:
        """End the processes, even busy ones."""
        if self._pool is not None:
            # loky's own kill fails on work that is about to start
            for worker in list(self._pool._processes.values()):
                worker.terminate()
            self._pool.shutdown(wait=True)
            self._pool = None

    def _submit(self, function: Callable[[Any], Any], argument: Any) -> "Future[Any]":
        if self._pool is None:
            self._pool = ProcessPoolExecutor(
                self.n_jobs, initializer=start_worker, initargs=(getpid(),)
            )
        future: Future[Any] = self._pool.submit(function, argument)
        return future


# Progress, and the time left.


@dataclass
class TimeEstimate:
    """Estimates the time of jobs from the finished runs most similar to them."""

    n_jobs: int
    _seconds: dict[tuple[str, str], list[float]] = field(default_factory=lambda: defaultdict(list))

    def add(self, outcome: Outcome) -> None:
        """Take the time of a finished run into account."""
        for key in _keys(outcome.dataset, outcome.method):
            self._seconds[key].append(outcome.seconds)

    def seconds(self, jobs: Iterable[Job]) -> float | None:
        """The seconds until these jobs are finished; None if no run is finished yet."""
        if not self._seconds:
            return None
        return sum(self._expected(job) for job in jobs) / self.n_jobs

    def _expected(self, job: Job) -> float:
        keys = _keys(job.data.name, job.method.name)
        seconds = next(self._seconds[key] for key in keys if key in self._seconds)
        return median(seconds)  # the first run compiles kernels, which would distort a mean


def _keys(dataset: str, method: str) -> list[tuple[str, str]]:
    """Keys, most to least specific."""
    return [(dataset, method), ("", method), (dataset, ""), ("", "")]


class ProgressReporter:
    """Counts finished runs and calls ``on_progress`` with the current :class:`Progress`."""

    def __init__(
        self,
        total: int,
        left: Sequence[Job],
        before: Iterable[Outcome],
        n_jobs: int,
        on_progress: OnProgress | None,
    ) -> None:
        self.estimate, self.on_progress = TimeEstimate(n_jobs), on_progress
        self.started = time.monotonic()
        for outcome in before:
            self.estimate.add(outcome)
        self.left = {job.run: job for job in left}
        self.now = Progress(total, skipped=total - len(left))

    def start(self, jobs: Sequence[Job]) -> None:
        """Report the jobs that run now, with the runs finished since the last report."""
        if self.on_progress is None:
            return
        self.now = replace(
            self.now,
            running=tuple(map(str, jobs)),
            seconds=time.monotonic() - self.started,
            seconds_left=self.estimate.seconds(self.left.values()),
        )
        self.on_progress(self.now)

    def finish(self, outcomes: Sequence[Outcome]) -> None:
        """Count finished runs; the next report includes them."""
        for outcome in outcomes:
            del self.left[outcome.run]
            self.estimate.add(outcome)
        self.now = replace(
            self.now,
            done=self.now.done + len(outcomes),
            failed=self.now.failed + sum(outcome.status == "failed" for outcome in outcomes),
            last=outcomes[-1],
        )


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
