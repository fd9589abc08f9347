"""Curves of each label: ROC, precision against recall, and calibration."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from limo._checks import Checked
from limo._drawing import FAINT, INK, draw_lines, new_axes
from limo._settings import check_name, check_number
from limo._types import Booleans, Floats, Values
from limo.displays._display import ScoresDisplay, names_of

Curve = tuple[Values, Values]

_HIGHLIGHTED = 5
N_BINS = 10


def _counts(marks: Booleans, scores: Floats, weights: Values) -> tuple[Values, Values]:
    """Weights of true and false positives above each distinct score, from the highest; 0 first."""
    order = np.argsort(-scores, kind="stable")
    ends = np.flatnonzero(np.append(np.diff(scores[order]) != 0, True))[: scores.size]
    hits, false = (
        np.concatenate([[0.0], np.cumsum((weights * kind)[order])[ends]])
        for kind in (marks, ~marks)
    )
    return hits, false


def roc_curve(marks: Booleans, scores: Floats, weights: Values) -> Curve:
    """Shares of irrelevant and of relevant instances above each score; nan if there are none."""
    hits, false = _counts(marks, scores, weights)
    with np.errstate(invalid="ignore"):
        return false / false[-1], hits / hits[-1]


def precision_recall_curve(marks: Booleans, scores: Floats, weights: Values) -> Curve:
    """Recall and precision above each score, from the highest score down."""
    hits, false = _counts(marks, scores, weights)
    with np.errstate(invalid="ignore"):
        return hits[1:] / hits[-1], hits[1:] / (hits[1:] + false[1:])


def calibration_curve(marks: Booleans, scores: Floats, weights: Values) -> tuple[Curve, float]:
    """Mean probability and share of relevant instances in each bin that has any instance.

    The calibration error, the mean of their distances, comes with it; nan without any instance.
    """
    bins = np.minimum((scores * N_BINS).astype(np.int64), N_BINS - 1)
    n, given, share = (
        np.bincount(bins, weights=weights * values, minlength=N_BINS)
        for values in (np.ones(scores.size), scores, marks)
    )
    filled = n > 0
    error = np.abs(given - share).sum() / n.sum() if filled.any() else np.nan
    return (given[filled] / n[filled], share[filled] / n[filled]), float(error)


def _place(label: int | str, names: list[str]) -> int:
    """The place of a label, given by its name or its place."""
    if isinstance(label, str):
        return names.index(check_name(label, names, "label"))
    return int(
        check_number(label, "the place of a label", least=0, most=len(names) - 1, integer=True)
    )


@dataclass(eq=False)
class _CurvesDisplay(ScoresDisplay):
    """A curve for each label, and one number for each.

    Attributes
    ----------
    curves : list of (x, y)
        The curve of each label.
    values : array of shape (n_labels,)
        The number of each label: the area, or the calibration error.
    label_names : list of str
        Names of the labels.
    highlighted : list of int
        The labels in colour: those named by the option ``highlight``, by name or by place; by
        default the five worst.
    """

    curves: list[Curve]
    values: Values
    label_names: list[str]
    highlighted: list[int]

    options = ("highlight",)
    title = ""
    axes = ("", "")
    higher_is_better = True

    @classmethod
    def _from_checked(cls, checked: Checked, highlight: Sequence[int | str] | None = None) -> Self:
        cls._check(checked.scores)
        curves = [cls._curve(*column) for column in checked.Y.known_columns(checked.scores)]
        values = np.array([value for _, value in curves])
        names = names_of(checked)
        if highlight is None:
            order = np.argsort(values if cls.higher_is_better else -values, kind="stable")
            shown = [int(j) for j in order if not np.isnan(values[j])][:_HIGHLIGHTED]
        else:
            shown = [_place(one, names) for one in highlight]
        return cls([curve for curve, _ in curves], values, names, shown)

    @staticmethod
    def _check(S: Floats) -> None:
        """Reject scores that cannot be drawn."""

    @staticmethod
    def _curve(marks: Booleans, scores: Floats, weights: Values) -> tuple[Curve, float]:
        """The curve of a label, and its number."""
        raise NotImplementedError

    def _draw(self, ax: Any) -> Any:
        ax = new_axes(ax, 5.0, 4.6)
        names = [f"{n} ({v:.2f})" for n, v in zip(self.label_names, self.values, strict=True)]
        draw_lines(ax, self.curves, names, self.highlighted)
        known = self.values[~np.isnan(self.values)]
        mean = f", mean {known.mean():.3f}" if known.size else ""
        ax.set(xlabel=self.axes[0], ylabel=self.axes[1], xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        ax.set_title(f"{self.title}{mean}", fontsize=10, color=INK, loc="left")
        return ax


class RocDisplay(_CurvesDisplay):
    """The ROC curve of each label; the five with the lowest AUC in colour.

    Examples
    --------
    >>> import limo
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> data = limo.datasets.figure1(100)
    >>> model = RandomForestClassifier(20, random_state=0).fit(data.X[:50], data.Y[:50])
    >>> display = limo.displays.RocDisplay.from_estimator(model, data.X[50:], data.Y[50:])
    >>> display.figure_.savefig("picture.png")  # doctest: +SKIP
    """

    title = "AUC of labels"
    axes = ("share of irrelevant instances above", "share of relevant instances above")

    @staticmethod
    def _curve(marks: Booleans, scores: Floats, weights: Values) -> tuple[Curve, float]:
        x, y = roc_curve(marks, scores, weights)
        area = float(np.sum(np.diff(x) * (y[1:] + y[:-1])) / 2)
        return (x, y), area if scores.size else np.nan

    def _draw(self, ax: Any) -> Any:
        ax = super()._draw(ax)
        ax.plot([0, 1], [0, 1], color=FAINT, linestyle="--", linewidth=1)
        return ax


class PrecisionRecallDisplay(_CurvesDisplay):
    """Precision against recall of each label; the five with the lowest average precision in colour.

    Average precision is the sum of precisions weighted by the increases of recall.

    Examples
    --------
    >>> import limo
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> data = limo.datasets.figure1(100)
    >>> model = RandomForestClassifier(20, random_state=0).fit(data.X[:50], data.Y[:50])
    >>> X, Y = data.X[50:], data.Y[50:]
    >>> display = limo.displays.PrecisionRecallDisplay.from_estimator(model, X, Y)
    >>> display.figure_.savefig("picture.png")  # doctest: +SKIP
    """

    title = "Average precision of labels"
    axes = ("recall", "precision")

    @staticmethod
    def _curve(marks: Booleans, scores: Floats, weights: Values) -> tuple[Curve, float]:
        recall, precision = precision_recall_curve(marks, scores, weights)
        area = float(np.sum(np.diff(recall, prepend=0.0) * precision))
        return (recall, precision), area if scores.size else np.nan


class CalibrationDisplay(_CurvesDisplay):
    """How often labels with a given probability are relevant; the five furthest off in colour.

    The number of a label is its calibration error: the mean distance of the probability from the
    share of relevant instances in ten bins, weighted by the number of instances.

    Examples
    --------
    >>> import limo
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> data = limo.datasets.figure1(100)
    >>> model = RandomForestClassifier(20, random_state=0).fit(data.X[:50], data.Y[:50])
    >>> display = limo.displays.CalibrationDisplay.from_estimator(model, data.X[50:], data.Y[50:])
    >>> display.figure_.savefig("picture.png")  # doctest: +SKIP
    """

    needs = "probabilities"
    title = "Calibration error of labels"
    axes = ("mean probability", "share of relevant instances")
    higher_is_better = False

    @staticmethod
    def _check(S: Floats) -> None:
        if S.min() < 0 or S.max() > 1:
            bad = S.min() if S.min() < 0 else S.max()
            raise ValueError(
                f"The calibration needs probabilities, from 0 to 1: found {bad:g}. Pass the output "
                "of predict_proba."
            )

    @staticmethod
    def _curve(marks: Booleans, scores: Floats, weights: Values) -> tuple[Curve, float]:
        return calibration_curve(marks, scores, weights)

    def _draw(self, ax: Any) -> Any:
        ax = super()._draw(ax)
        ax.plot([0, 1], [0, 1], color=FAINT, linestyle="--", linewidth=1)
        return ax
