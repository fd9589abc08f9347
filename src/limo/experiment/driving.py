"""Run a plan into a store: skip what is there, keep what comes, say how far it is."""

import tempfile
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from limo.experiment.errors import Interrupted
from limo.experiment.executor import Executor, Processes, Serial
from limo.experiment.job import Outcome, outcome_of, run_job
from limo.experiment.judging import failures, said
from limo.experiment.plan import Job, Plan
from limo.experiment.progress import Tell, Teller
from limo.experiment.store import Store, rows_of
from limo.workers import n_workers

__all__ = ["run"]


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
