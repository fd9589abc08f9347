"""A procedure: any function from data and a split to values, where a method is too narrow."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from limo.datasets import Dataset
from limo.experiment.errors import PlanError
from limo.experiment.identity import describe
from limo.experiment.imports import file_digest, import_object
from limo.experiment.judging import Score, failures
from limo.experiment.suggestions import check_keys, parameters_of

__all__ = ["Procedure"]

# What every procedure is called with, before its settings.
_GIVEN = ("data", "train", "test", "seed")


@dataclass(frozen=True, eq=False)
class Procedure:
    """A function that does everything itself, under a name.

    For what a :class:`Method` cannot say, as a paper's own way of scaling and cutting. What it
    does with the test part is its own responsibility.

    Parameters
    ----------
    name : str
        What the rows call it.
    function : callable or str
        ``function(data, train, test, seed, **settings)``, with a ``Dataset`` and the rows to train
        and to test on, gives (measure, value) or (measure, value, threshold) for each measure; or
        its import path.
    settings : mapping of str to object, default={}
        Passed on.

    Examples
    --------
    >>> import limo
    >>> def frequency(data, train, test, seed):
    ...     S = [data.Y[train].mean(axis=0)] * len(test)
    ...     yield "ranking_loss", limo.ranking_loss(data.Y[test], S)
    >>> data = limo.datasets.figure1(100)
    >>> procedure = Procedure("frequency", frequency)
    >>> procedure.scores(data, range(70), range(70, 100), ["ranking_loss"], seed=0)
    [Score(measure='ranking_loss', value=0.24..., threshold='', error='')]
    """

    name: str
    function: Any
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.name or not isinstance(self.name, str):
            raise PlanError(f"a procedure needs a name, got {self.name!r}")
        function = self._function()
        if not callable(function):
            raise PlanError(f"procedure {self.name!r} needs a function, got {function!r}")
        check_keys(self.settings, parameters_of(function, _GIVEN), f"procedure {self.name!r}")
        object.__setattr__(self, "settings", MappingProxyType(dict(self.settings)))

    def scores(
        self, data: Dataset, train: Any, test: Any, measures: Sequence[str], seed: int
    ) -> list[Score]:
        """Call the function; a measure it gives no value for has failed."""
        found = self._function()(data, train, test, seed, **self.settings)
        by_name = {score.measure: score for score in _read(found)}
        absent = [name for name in measures if name not in by_name]
        missing = failures(absent, f"procedure {self.name!r} gave no value for this measure")
        return [by_name[name] for name in measures if name in by_name] + missing

    def describe(self) -> dict[str, Any]:
        """All that decides the results, as plain JSON."""
        given = self.function
        digest = file_digest(given) if isinstance(given, str) else ""
        return {
            "name": self.name,
            "procedure": describe(given),
            "settings": describe(self.settings),
            "file": digest,
        }

    def __reduce__(self) -> tuple[Any, ...]:
        # a mapping proxy cannot be pickled
        return Procedure, (self.name, self.function, dict(self.settings))

    def _function(self) -> Any:
        return import_object(self.function) if isinstance(self.function, str) else self.function


def _read(found: Iterable[Any]) -> Iterable[Score]:
    for one in found:
        if isinstance(one, Score):
            yield one
        else:
            measure, value, *threshold = one
            yield Score(measure, float(value), *threshold)
