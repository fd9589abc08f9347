"""How far a plan is: what runs, what is done, what is left and for how long."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from statistics import median

from limo.experiment.job import Outcome
from limo.experiment.plan import Job

__all__ = ["Clock", "Progress", "Tell", "Teller"]


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
