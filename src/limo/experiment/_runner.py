"""Run a plan into a store: skip what is there, keep what comes, say how far it is."""

import signal
import tempfile
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from os import _exit, getppid
from pathlib import Path
from statistics import median
from typing import Any, Protocol

from joblib.externals.loky import ProcessPoolExecutor

from limo._system import n_workers
from limo.experiment._identity import Interrupted
from limo.experiment._job import Outcome, outcome_of, run_job
from limo.experiment._judge import failures, said
from limo.experiment._plan import Job, Plan
from limo.experiment._store import Store, rows_of

__all__ = ["Clock", "Executor", "Processes", "Progress", "Serial", "Tell", "Teller", "run"]


# Executors: who makes the runs. Any object with ``submit``, as concurrent.futures has it, will do.


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


# How far a plan is: what runs, what is done, what is left and for how long.


@dataclass(frozen=True)
class Progress:
    """The state of a plan, told when it starts and after every run.

    Attributes
    ----------
    total : int
        Runs of the plan.
    found : int
        Runs that had been made before, and are not made again.
    done, failed : int
        Runs made now, and how many of these failed.
    running : tuple of str
        What runs now.
    seconds : float
        Since the start.
    seconds_left : float or None
        Estimated from the runs made so far; None before the first.
    last : Outcome or None
        The run that has just ended.
    """

    total: int
    found: int = 0
    done: int = 0
    failed: int = 0
    running: tuple[str, ...] = ()
    seconds: float = 0.0
    seconds_left: float | None = None
    last: Outcome | None = None

    @property
    def left(self) -> int:
        """Runs that have not ended."""
        return self.total - self.found - self.done

    def __str__(self) -> str:
        text = f"{self.found + self.done} of {self.total} runs"
        text += f", {self.failed} failed" if self.failed else ""
        if self.running:
            text += f"; running {'; '.join(self.running)}"
        if self.seconds_left is not None and self.left:
            text += f"; about {_duration(self.seconds_left)} left"
        return text


Tell = Callable[[Progress], object]


@dataclass
class Clock:
    """What runs cost so far, by data set and method, by method, by data set and at all."""

    n_jobs: int
    _seen: dict[tuple[str, str], list[float]] = field(default_factory=lambda: defaultdict(list))

    def note(self, outcome: Outcome) -> None:
        """Remember what a run took."""
        for key in _keys(outcome.dataset, outcome.method):
            self._seen[key].append(outcome.seconds)

    def left(self, jobs: Iterable[Job]) -> float | None:
        """Seconds these jobs will take, shared out; None if nothing is known yet."""
        if not self._seen:
            return None
        return sum(self._expected(job) for job in jobs) / self.n_jobs

    def _expected(self, job: Job) -> float:
        known = (self._seen[k] for k in _keys(job.data.name, job.method.name) if k in self._seen)
        seconds = next(known)
        return median(seconds)  # the first run compiles, and would spoil a mean


class Teller:
    """Keeps the progress of a plan, and tells it."""

    def __init__(
        self,
        total: int,
        left: Sequence[Job],
        before: Iterable[Outcome],
        n_jobs: int,
        tell: Tell | None,
    ) -> None:
        self.clock, self.tell, self.started = Clock(n_jobs), tell, time.monotonic()
        for outcome in before:
            self.clock.note(outcome)
        self.left = {job.run: job for job in left}
        self.now = Progress(total, found=total - len(left))

    def running(self, jobs: Sequence[Job]) -> None:
        """Take note of what runs now, and tell."""
        self.now = replace(self.now, running=tuple(map(str, jobs)))
        self._say()

    def ended(self, outcomes: Sequence[Outcome]) -> None:
        """Take note of runs that have ended; they are told with what runs next."""
        for outcome in outcomes:
            del self.left[outcome.run]
            self.clock.note(outcome)
        failed = sum(outcome.status == "failed" for outcome in outcomes)
        self.now = replace(
            self.now,
            done=self.now.done + len(outcomes),
            failed=self.now.failed + failed,
            last=outcomes[-1],
        )

    def _say(self) -> None:
        if self.tell is not None:
            spent, ahead = time.monotonic() - self.started, self.clock.left(self.left.values())
            self.now = replace(self.now, seconds=spent, seconds_left=ahead)
            self.tell(self.now)


def _keys(dataset: str, method: str) -> list[tuple[str, str]]:
    """From the nearest likeness to none."""
    return [(dataset, method), ("", method), (dataset, ""), ("", "")]


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def run(
    plan: Plan,
    store: str | Path,
    *,
    n_jobs: int | None = None,
    executor: Executor | None = None,
    retry_failed: bool = False,
    progress: Tell | None = None,
) -> Any:
    """Run a plan, or what is left of it.

    Runs that the store has already are not made again; a run with another setting is another
    run. A run is written, whole and safely, as soon as it has ended: kill the process at any
    moment, and the same call goes on where it stopped. Runs that fail become rows with the
    error.

    Parameters
    ----------
    plan : Plan
        What to run.
    store : path
        A SQLite file; made if there is none.
    n_jobs : int, optional
        How many processes; by default as many as there are cores. 1 runs everything here.
    executor : Executor, optional
        Instead of processes: anything with ``submit``, as ``client.get_executor()`` of a Dask
        cluster; ``n_jobs`` then says how many jobs it works on at a time. Data in memory travel
        with every job then; a name or a path does not.
    retry_failed : bool, default=False
        Whether to make runs again that failed before.
    progress : callable, optional
        Told a :class:`Progress` at the start, whenever runs end, and at the end.

    Returns
    -------
    pandas.DataFrame
        The rows of the plan, in its order; columns as ``limo.experiment.COLUMNS``.

    Raises
    ------
    Interrupted
        On Ctrl-C, after everything is put in order. A KeyboardInterrupt that says how to go on.

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
    n_jobs = n_workers() if n_jobs is None else _at_least_one(n_jobs)
    jobs = plan.jobs()
    with Store(store) as opened:
        known = {outcome.run: outcome for outcome in opened.outcomes()}
        left = [job for job in jobs if _is_left(known.get(job.run), retry_failed)]
        before = [known[job.run] for job in jobs if job.run in known]
        told = Teller(len(jobs), left, before, n_jobs, progress)
        try:
            with closing(_finished(left, n_jobs, executor, told)) as finished:
                for outcomes in finished:
                    opened.add(outcomes)
                    known |= {outcome.run: outcome for outcome in outcomes}
                    told.ended(outcomes)
        except KeyboardInterrupt:
            # asked of the store: the interrupt may have come between writing and counting
            kept = {outcome.run for outcome in opened.outcomes()} & {job.run for job in jobs}
            raise Interrupted(
                f"Stopped. {len(kept)} of {len(jobs)} runs are kept in {opened.path}; "
                "the same call goes on from there."
            ) from None
    return rows_of(known[job.run] for job in jobs)


def _finished(
    jobs: Sequence[Job], n_jobs: int, executor: Executor | None, told: Teller
) -> Generator[list[Outcome]]:
    """Outcomes as they come, by the given executor or one of our own."""
    with ExitStack() as stack:
        if executor is None and n_jobs > 1 and len(jobs) > 1:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="limo-")))
            jobs = _shipped(jobs, folder)
            own = Processes(n_jobs)
            stack.callback(own.close)
            yield from _drive(jobs, own, n_jobs, told)
        elif executor is None:
            yield from _drive(jobs, Serial(), 1, told)
        else:
            yield from _drive(jobs, executor, n_jobs, told)


def _shipped(jobs: Sequence[Job], folder: Path) -> list[Job]:
    """The jobs with data in memory laid down in a file once, instead of travelling with each."""
    data = {id(job.data): job.data for job in jobs}
    laid = {key: one.shipped(folder) for key, one in data.items()}
    return [replace(job, data=laid[id(job.data)]) for job in jobs]


def _drive(
    jobs: Sequence[Job], executor: Executor, n_jobs: int, told: Teller
) -> Iterator[list[Outcome]]:
    """Keep the executor busy; give what has ended.

    One job for each worker waits beside the one it works on, so that none is idle while results
    are written. If a worker dies, nobody knows by whose fault: those in its hands are tried again,
    one at a time, and only one that kills its worker alone has failed.
    """
    waiting, suspects = deque(jobs), deque[Job]()
    flying: dict[Future[Any], Job] = {}
    room = 1 if isinstance(executor, Serial) else 2 * n_jobs
    while waiting or suspects or flying:
        while waiting and len(flying) < room and not suspects:
            job = waiting.popleft()
            flying[executor.submit(run_job, job)] = job
        if suspects and not flying:
            job = suspects.popleft()
            told.running([job])
            yield [_outcome(executor.submit(run_job, job), job)]
            continue
        told.running(list(flying.values())[:n_jobs])
        ended = {future: flying.pop(future) for future in _next(flying)}
        suspects += [job for future, job in ended.items() if _broke(future)]
        outcomes = [_outcome(future, job) for future, job in ended.items() if not _broke(future)]
        if outcomes:
            yield outcomes
    told.running([])


def _next(flying: Iterable["Future[Any]"]) -> set["Future[Any]"]:
    return wait(flying, return_when=FIRST_COMPLETED).done


def _broke(future: "Future[Any]") -> bool:
    return isinstance(future.exception(), BrokenExecutor)


def _outcome(future: "Future[Any]", job: Job) -> Outcome:
    """What a run became, or why it came to no end: it could not travel, or lost its worker."""
    error = future.exception()
    if error is None:
        outcome: Outcome = future.result()
        return outcome
    died = "the process that made this run died; it may have run out of memory: " * _broke(future)
    return outcome_of(job, failures(job.measures, died + said(error)))


def _is_left(known: Outcome | None, retry_failed: bool) -> bool:
    return known is None or (retry_failed and known.status == "failed")


def _at_least_one(n_jobs: int) -> int:
    if n_jobs < 1:
        raise ValueError(
            f"n_jobs must be a whole number from 1 up, got {n_jobs!r}; None takes all cores"
        )
    return n_jobs
