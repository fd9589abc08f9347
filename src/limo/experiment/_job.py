"""One run, from a job to its outcome: seeded by its names, independent of its executor."""

import json
import random
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from threadpoolctl import ThreadpoolController

from limo._system import at_most, versions
from limo.datasets import Dataset
from limo.experiment._judge import Score, error_text, failures, judge
from limo.experiment._method import Method
from limo.experiment._plan import Job, Procedure


@dataclass(frozen=True)
class Outcome:
    """The result of a run: a score for each measure, and how they were computed.

    Attributes
    ----------
    run, dataset, split, method, seed
        Which run.
    scores : tuple of Score
        One for each measure of the plan.
    seconds : float
        For fitting, predicting and scoring, without loading the data.
    versions : str
        Versions of Python and the libraries used, as JSON.
    warnings : tuple of str
        The warnings of the run, without repetitions.
    finished : str
        When it finished, in ISO format.

    Examples
    --------
    >>> import limo, pathlib, tempfile
    >>> from limo.experiment import Data, Plan, Splits
    >>> plan = Plan([Data("toy", "figure1", {"n": 60})], ["mlknn"], ["macro_auc"], Splits(number=1))
    >>> store = pathlib.Path(tempfile.mkdtemp()) / "results.sqlite"
    >>> seen = []
    >>> rows = limo.experiment.run(plan, store, n_jobs=1, progress=seen.append)
    >>> seen[-1].last.method, seen[-1].last.dataset
    ('mlknn', 'toy')
    """

    run: str
    dataset: str
    split: int
    method: str
    seed: int
    scores: tuple[Score, ...]
    seconds: float
    versions: str
    warnings: tuple[str, ...]
    finished: str

    @property
    def status(self) -> Literal["ok", "failed"]:
        """``"failed"`` if any measure failed."""
        return "failed" if any(score.error for score in self.scores) else "ok"


def run_job(job: Job) -> Outcome:
    """Run one job; an error becomes part of the outcome.

    It uses one thread: the runs are distributed over processes, and sums computed by one thread
    do not depend on the number of cores.
    """
    started = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught, _one_thread(), _seeded(job.seed):
        warnings.simplefilter("always")
        try:
            data = job.data.load(job.content)
            started = time.perf_counter()
            scores = _scores(job, data)
        except Exception as error:
            scores = failures(job.measures, error_text(error))
    seconds = time.perf_counter() - started
    texts = (f"{warning.category.__name__}: {warning.message}" for warning in caught)
    return outcome_of(job, scores, seconds, tuple(dict.fromkeys(texts)))


def outcome_of(
    job: Job, scores: Sequence[Score], seconds: float = 0.0, caught: tuple[str, ...] = ()
) -> Outcome:
    """The outcome of a job that has just ended, its scores in the order of the plan."""
    by_name = {score.measure: score for score in scores}
    return Outcome(
        job.run,
        job.data.name,
        job.split.number,
        job.method.name,
        job.seed,
        tuple(by_name[measure] for measure in job.measures),
        seconds,
        json.dumps(versions() | _version_of(job.method)),
        caught,
        datetime.now(UTC).isoformat(timespec="seconds"),
    )


def _scores(job: Job, data: Dataset) -> list[Score]:
    method, (train, test) = job.method, job.split.instances(data)
    if isinstance(method, Procedure):
        return method.scores(data, train, test, job.measures, job.seed)
    parts = data.take(train), data.take(test)
    return list(judge(method, *parts, job.measures, job.conventions, job.seed))


def _version_of(method: Method | Procedure) -> dict[str, str]:
    """The version of the learner's package, unless it is recorded anyway."""
    given = method.estimator if isinstance(method, Method) else method.function
    path = given.partition(":")[0] if isinstance(given, str) else type(given).__module__
    package = path.partition(".")[0]
    version = getattr(sys.modules.get(package), "__version__", None)
    return {package: str(version)} if version and package not in ("limo", "sklearn") else {}


@contextmanager
def _one_thread() -> Iterator[None]:
    with _libraries(len(sys.modules)).limit(limits=1), at_most(1):
        yield


@lru_cache(maxsize=1)
def _libraries(n_modules: int) -> ThreadpoolController:
    """Libraries with their own threads; found again when more modules have been loaded."""
    return ThreadpoolController()


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Seed the global generators, for learners that draw from them, and restore them afterwards."""
    numpy_state: Any = np.random.get_state()  # noqa: NPY002
    python_state = random.getstate()
    np.random.seed(seed)  # noqa: NPY002
    random.seed(seed)
    try:
        yield
    finally:
        np.random.set_state(numpy_state)  # noqa: NPY002
        random.setstate(python_state)
