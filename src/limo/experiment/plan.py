"""A plan: which methods on which data, split how, judged by what. A plan runs nothing."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from limo._checks import check_name
from limo.experiment.data import Data, Split, Splits
from limo.experiment.errors import PlanError
from limo.experiment.identity import content_hash, seed_from
from limo.experiment.method import Method
from limo.experiment.planfile import named_method, naming, read_plan
from limo.experiment.procedure import Procedure
from limo.measures.compute import check_conventions
from limo.measures.conventions import Conventions
from limo.measures.table import MEASURES

__all__ = ["Job", "Plan"]


@dataclass(frozen=True, eq=False)
class Job:
    """One run to be made: a method on a split of a data set, judged by all measures of the plan.

    Attributes
    ----------
    data, split, method, measures, conventions
        What to do.
    seed : int
        From the names of plan seed, data, split and method.
    run : str
        A hash of all that decides the result.
    """

    data: Data
    split: Split
    method: Method | Procedure
    measures: tuple[str, ...]
    conventions: Conventions
    seed: int
    run: str

    def __str__(self) -> str:
        return f"{self.method.name} on {self.data.name}, split {self.split.number}"


@dataclass(frozen=True, eq=False)
class Plan:
    """Which methods on which data, split how, judged by what.

    Parameters
    ----------
    datasets : sequence
        Names of :func:`limo.datasets.catalogue`, paths, :class:`limo.Dataset` or :class:`Data`.
    methods : sequence
        Names of ``limo.experiment.METHODS``, :class:`Method` or :class:`Procedure`.
    measures : sequence of str, optional
        Of ``limo.MEASURES``; by default all eleven.
    splits : Splits, optional
        How data are split that say nothing else; by default ten stratified splits 70/30.
    repetitions : int, default=1
        How often all splits are made: others are drawn, folds are dealt anew, stored
        permutations come again with other seeds. Split numbers go on.
    seed : int, default=0
        Decides splits and seeds, together with the names.
    conventions : str or Conventions, default="standard"
        What the measures do at ties and in rows without pairs.

    Examples
    --------
    >>> import limo
    >>> from limo.experiment import Plan, Splits
    >>> plan = Plan(["figure1"], ["limo", "mlknn"], splits=Splits(number=3))
    >>> plan
    Plan(1 data set, 2 methods, 11 measures)
    >>> [str(job) for job in plan.jobs()][:3]
    ['limo on figure1, split 0', 'mlknn on figure1, split 0', 'limo on figure1, split 1']
    >>> Plan(["figure1"], ["lino"])
    Traceback (most recent call last):
        ...
    limo.experiment.errors.PlanError: no method is called 'lino'. Did you mean 'limo'? ...
    """

    datasets: Sequence[Any]
    methods: Sequence[Any]
    measures: Sequence[str] = tuple(MEASURES)
    splits: Splits = field(default_factory=Splits)
    repetitions: int = 1
    seed: int = 0
    conventions: str | Conventions = "standard"

    def __post_init__(self) -> None:
        for name in ("datasets", "methods", "measures"):
            given = getattr(self, name)
            if isinstance(given, str) or not isinstance(given, Iterable) or not list(given):
                raise PlanError(f"{name} of a plan must be a list of at least one, got {given!r}")
        for name, least in (("repetitions", 1), ("seed", 0)):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise PlanError(f"{name} must be a whole number from {least} up, got {value!r}")
        settle = object.__setattr__
        settle(self, "datasets", tuple(Data.of(given) for given in self.datasets))
        settle(self, "methods", tuple(_method(given) for given in self.methods))
        settle(self, "measures", tuple(check_name(m, MEASURES, "measure") for m in self.measures))
        settle(self, "conventions", check_conventions(self.conventions))
        _must_differ("data set", [data.name for data in self.datasets])
        _must_differ("method", [method.name for method in self.methods])
        _must_differ("measure", list(self.measures))

    @classmethod
    def from_file(cls, path: str | Path) -> "Plan":
        """Read a plan from a TOML file; ``docs/experiments.md`` lists its settings.

        Parameters
        ----------
        path : path
            The file. Paths in it are taken from its folder.

        Returns
        -------
        Plan
        """
        with naming(Path(path)):
            return cls(**read_plan(Path(path)))

    def jobs(self) -> list[Job]:
        """Every run of the plan: data set by data set, split by split, method by method."""
        found = []
        methods = [(method, content_hash(method.describe())) for method in self.methods]
        for data in self.datasets:
            splits = (data.splits or self.splits).resolved(data.name)
            content = data.fingerprint()
            assert splits.number is not None
            for number in range(splits.number * self.repetitions):
                split = Split.of(splits, data.name, number, self.seed)
                decided = content_hash(content, split.identity(), self.measures, self.conventions)
                found += [self._job(data, split, method, decided + how) for method, how in methods]
        return found

    def _job(self, data: Data, split: Split, method: Method | Procedure, decided: str) -> Job:
        assert isinstance(self.conventions, Conventions)
        seed = seed_from(self.seed, data.name, split.number, method.name)
        run = content_hash(decided, seed)
        return Job(data, split, method, tuple(self.measures), self.conventions, seed, run)

    def __repr__(self) -> str:
        counts = (("data set", self.datasets), ("method", self.methods), ("measure", self.measures))
        parts = [f"{len(items)} {noun}{'s' * (len(items) != 1)}" for noun, items in counts]
        return f"Plan({', '.join(parts)})"


def _method(given: Any) -> Method | Procedure:
    if isinstance(given, Method | Procedure):
        return given
    if isinstance(given, str):
        return named_method(given)
    raise PlanError(f"a method is a name or Method('its name', estimator), got {given!r}")


def _must_differ(what: str, names: list[str]) -> None:
    for name, times in Counter(names).items():
        if times > 1:
            raise PlanError(f"each {what} needs a name of its own, but {times} are {name!r}")
