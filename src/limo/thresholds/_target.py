"""Targets: the functions of confusion counts that thresholds maximise, by name or your own."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from limo._settings import check_name, check_number
from limo._types import Anything, Values
from limo._views import AVERAGES, Counts, View
from limo.measures._conventions import CONVENTIONS
from limo.measures._measure import Measure
from limo.measures._own import check_counts, check_no_loss
from limo.measures._rows import f_measure
from limo.measures._table import MEASURES, measures_of_labels

Judge = Callable[[Values, Values, Values, Values], Anything]


@dataclass(frozen=True)
class Target:
    """A function of confusion counts that a threshold should maximise.

    Parameters
    ----------
    function : callable
        Takes the arrays tp, fp, fn, tn (float, one cell per threshold) and returns an array of
        values, where higher is better. A threshold whose value is nan is not chosen.
    average : {"macro", "instance", "micro"}, optional
        Whose counts are judged: those of each label or of each instance, of which the mean is
        taken, or those of the whole matrix. By default those the threshold cuts.
    fractional : bool, default=False
        Whether the function is a ratio of linear functions of the counts that rises with tp and
        falls with fp, as F-beta is. Its best threshold is then just below the score of a relevant
        item, which saves time, and the best thresholds of many rows *together* can be found.
    name : str, optional
        Its name in tables and errors.

    Examples
    --------
    >>> import limo
    >>> from limo.thresholds import Target, best_label_thresholds
    >>> as_many_as_there_are = Target(lambda tp, fp, fn, tn: -abs(fp - fn), name="cardinality")
    >>> y_true, y_score = [[1], [0], [1], [0]], [[0.75], [0.5], [0.25], [0.0]]
    >>> best_label_thresholds(y_true, y_score, as_many_as_there_are)
    array([0.375])
    """

    function: Judge
    average: str | None = None
    fractional: bool = False
    name: str = "custom"

    def __post_init__(self) -> None:
        if self.average is not None:
            check_name(self.average, AVERAGES, "average")
        if not callable(self.function):
            raise TypeError(f"A target needs a function of tp, fp, fn, tn, got {self.function!r}.")

    def view(self, own: View) -> View:
        """Whose counts are judged, if the threshold cuts the rows of ``own``."""
        return own if self.average is None else AVERAGES[self.average]

    def __call__(self, tp: Values, fp: Values, true: Values, n_items: Any) -> Values:
        """Values of thresholds with ``tp`` of ``true`` relevant items and ``fp`` others above."""
        counts = tp, fp, true - tp, n_items - true - fp
        try:
            with np.errstate(divide="ignore", invalid="ignore"):
                values = np.asarray(self.function(*counts), dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"The target {self.name!r} must take four arrays, tp, fp, fn, tn, and give an "
                f"array of values (numpy.where in place of if). It failed with: {error}"
            ) from error
        if values.shape != tp.shape:
            raise ValueError(
                f"The target {self.name!r} must give one value for each threshold: expected shape "
                f"{tp.shape}, got {values.shape}. Write it for arrays tp, fp, fn, tn."
            )
        return values

    def __str__(self) -> str:
        return self.name if self.average is None else f"{self.average}_{self.name}"

    def __repr__(self) -> str:
        return f"Target({self})"


def f_beta(beta: float, average: str | None = None) -> Target:
    """F-beta as a target: recall weighs ``beta`` times as much as precision.

    F = (1 + b²) tp / ((1 + b²) tp + b² fn + fp), and 0 where nothing is true and nothing predicted.

    Parameters
    ----------
    beta : float
        Above 0.
    average : {"macro", "instance", "micro"}, optional
        Whose counts are judged; by default those the threshold cuts.

    Returns
    -------
    Target

    Examples
    --------
    >>> import limo
    >>> limo.LabelThreshold(limo.thresholds.f_beta(2.0))
    LabelThreshold(target=Target(f_beta(2)))
    """
    check_number(beta, "beta", above=0)
    return Target(_FBeta(float(beta)), average, fractional=True, name=f"f_beta({beta:g})")


@dataclass(frozen=True)
class _FBeta:
    """A class, not a closure, so that it can be sent to worker processes."""

    beta: float

    def __call__(self, tp: Values, fp: Values, fn: Values, tn: Values) -> Values:
        return f_measure(Counts(tp, tp + fn, tp + fp, None), self.beta)


@dataclass(frozen=True)
class _OfMeasure:
    """A measure of labels as a function to maximise, under the standard conventions."""

    values: Callable[..., Values]
    sign: int

    def __call__(self, tp: Values, fp: Values, fn: Values, tn: Values) -> Values:
        counts = Counts(tp, tp + fn, tp + fp, tp + fp + fn + tn)
        return self.sign * self.values(counts, CONVENTIONS["standard"])


def target_of(measure: Measure) -> Target:
    """The measure of a row as a target: thresholds then make it as good as the scores allow."""
    function = _OfMeasure(measure.function, measure.sign)
    return Target(function, fractional=measure.fractional, name=measure.family)


class _Targets(Mapping[str, Target]):
    """Every measure of labels in the registry, plain and averaged; others are found by name."""

    def _all(self) -> dict[str, Target]:
        return _targets_of(tuple(measures_of_labels().items()))

    def canonical(self, name: str) -> str:
        """The name of a target for any usual spelling of its measure."""
        return name if name in self._all() else MEASURES.canonical(name)

    def __getitem__(self, name: str) -> Target:
        name = self.canonical(name)
        if (target := self._all().get(name)) is not None:
            return target
        average = name.partition("_")[0] if name in MEASURES else None
        measure = MEASURES[name if average else f"macro_{name}"]
        if measure.threshold is None:
            raise KeyError(name)
        return replace(target_of(measure), average=average if average in AVERAGES else None)

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())


@lru_cache(maxsize=4)
def _targets_of(families: tuple[tuple[str, Measure], ...]) -> dict[str, Target]:
    """The targets of these measures, plain and averaged. They are looked up thousands of times."""
    also = ("jaccard", "balanced_accuracy")
    plain = {name: target_of(MEASURES[f"macro_{name}"]) for name in also}
    plain |= {family: target_of(m) for family, m in families}
    averaged = (replace(t, average=average) for t in plain.values() for average in AVERAGES)
    return plain | {str(target): target for target in averaged}


TARGETS: Mapping[str, Target] = _Targets()  # by name; a prefix such as macro_ selects the counts


def check_target(target: Any) -> Target:
    """Look up a named target; make one of a function or a measure."""
    if isinstance(target, Target):
        return target
    if isinstance(target, Measure):
        return replace(
            target_of(check_counts(target)), average=target.view.average, name=target.name
        )
    if callable(target):
        return Target(target, name=check_no_loss(getattr(target, "__name__", "custom")))
    return TARGETS[check_name(target, TARGETS, "target")]
