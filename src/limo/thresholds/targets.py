"""What a threshold should make as high as possible: functions of the confusion counts.

A :class:`Target` judges the counts (tp, fp, fn, tn) of many cuts at once. Its average says whose
counts: of each label (macro), of each instance, or of all entries together (micro).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from limo._checks import check_name, check_number
from limo._types import Anything, Values
from limo.views import COLUMNS, ENTRIES, ROWS, View

__all__ = ["AVERAGES", "TARGETS", "Target", "check_target", "f_beta"]

Judge = Callable[[Values, Values, Values, Values], Anything]

AVERAGES: dict[str, View] = {"macro": COLUMNS, "instance": ROWS, "micro": ENTRIES}


@dataclass(frozen=True)
class Target:
    """A function of confusion counts that a threshold should make as high as possible.

    Parameters
    ----------
    function : callable
        Takes the arrays tp, fp, fn, tn (float, one cell per cut) and returns an array of values,
        the higher the better. A cut whose value is nan is not chosen.
    average : {"macro", "instance", "micro"}, optional
        Whose counts are judged: those of each label, of each instance (then the mean is what
        counts), or of the whole matrix. By default those the threshold cuts.
    fractional : bool, default=False
        Whether the function is a ratio of linear functions of the counts that rises with tp and
        falls with fp, as F-beta is. It then has its best cut just below a relevant item,
        which saves time, and the best cuts of many rows *together* can be found.
    name : str, optional
        What tables and errors call it.

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
            raise TypeError(
                f"A target needs a function of (tp, fp, fn, tn), got {self.function!r}."
            )

    def view(self, own: View) -> View:
        """Whose counts are judged, ``own`` being what the threshold cuts."""
        return own if self.average is None else AVERAGES[self.average]

    def __call__(self, tp: Values, fp: Values, true: Values, n_items: int) -> Values:
        """Judge cuts with ``tp`` of ``true`` relevant items and ``fp`` others above them."""
        counts = tp, fp, true - tp, n_items - true - fp
        try:
            with np.errstate(divide="ignore", invalid="ignore"):
                found = np.asarray(self.function(*counts), dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"The target {self.name!r} must take four arrays, tp, fp, fn, tn, and give an "
                f"array of values (numpy.where in place of if). It failed with: {error}"
            ) from error
        if found.shape != tp.shape:
            raise ValueError(
                f"The target {self.name!r} must give one value for each cut: expected shape "
                f"{tp.shape}, got {found.shape}. Write it for arrays tp, fp, fn, tn."
            )
        return found

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
    """A class, not a closure: targets travel to worker processes."""

    beta: float

    def __call__(self, tp: Values, fp: Values, fn: Values, tn: Values) -> Values:
        weight = self.beta**2
        return _ratio((1 + weight) * tp, (1 + weight) * tp + weight * fn + fp)


def _jaccard(tp: Values, fp: Values, fn: Values, tn: Values) -> Values:
    """Hits among all items true or predicted; 0 where there are none."""
    return _ratio(tp, tp + fp + fn)


def _hamming(tp: Values, fp: Values, fn: Values, tn: Values) -> Values:
    """Minus the share of wrong items."""
    return -(fp + fn) / (tp + fp + fn + tn)


def _balanced_accuracy(tp: Values, fp: Values, fn: Values, tn: Values) -> Values:
    """Mean of the shares of relevant and irrelevant items judged rightly, where there are any."""
    positive, negative = tp + fn, tn + fp
    kinds = (positive > 0).astype(np.float64) + (negative > 0)
    return (_ratio(tp, positive) + _ratio(tn, negative)) / kinds


def _ratio(numerator: Values, denominator: Values) -> Values:
    values = np.zeros_like(denominator)
    np.divide(numerator, denominator, out=values, where=denominator > 0)
    return values


_BUILT_IN = (
    Target(_FBeta(1.0), fractional=True, name="f1"),
    Target(_jaccard, fractional=True, name="jaccard"),
    Target(_hamming, fractional=True, name="hamming_loss"),
    Target(_balanced_accuracy, fractional=True, name="balanced_accuracy"),
)

TARGETS: dict[str, Target] = {target.name: target for target in _BUILT_IN} | {
    str(named): named
    for target in _BUILT_IN
    for named in (replace(target, average=average) for average in AVERAGES)
}
"""All targets by name; a prefix (``macro_``, ``instance_``, ``micro_``) says whose counts."""


def check_target(target: Any) -> Target:
    """Look up a named target; wrap a function; pass a record through."""
    if isinstance(target, Target):
        return target
    if callable(target):
        return Target(target, name=getattr(target, "__name__", "custom"))
    return TARGETS[check_name(target, TARGETS, "target")]
