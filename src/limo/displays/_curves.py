"""Curves of each label: ROC, precision against recall, and calibration."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from limo._checks import Checked
from limo._drawing import FAINT, INK, draw_lines, new_axes
from limo._types import Anything, Booleans, Values
from limo.displays._display import Display, names_of

Curve = tuple[Values, Values]

_HIGHLIGHTED = 5


def _counts(marks: Booleans, scores: Anything) -> tuple[Values, Values]:
    """True and false positives above each distinct score, from the highest down, 0 first."""
    order = np.argsort(-scores, kind="stable")
    ends = np.flatnonzero(np.append(np.diff(scores[order]) != 0, True))
    hits = np.cumsum(marks[order])[ends]
    zero = np.zeros(1)
    return np.concatenate([zero, hits]), np.concatenate([zero, 1 + ends - hits])


def roc_curve(marks: Booleans, scores: Anything) -> Curve:
    """Shares of irrelevant and of relevant instances above each score; nan if there are none."""
    hits, false = _counts(marks, scores)
    with np.errstate(invalid="ignore"):
        return false / false[-1], hits / hits[-1]


def precision_recall_curve(marks: Booleans, scores: Anything) -> Curve:
    """Recall and precision above each score, from the highest down."""
    hits, false = _counts(marks, scores)
    with np.errstate(invalid="ignore"):
        return hits[1:] / hits[-1], hits[1:] / (hits[1:] + false[1:])


def calibration_curve(marks: Booleans, scores: Anything, n_bins: int) -> Curve:
    """Mean probability and share of relevant instances in each bin that has any instance."""
    bins = np.minimum((scores * n_bins).astype(np.int64), n_bins - 1)
    n = np.bincount(bins, minlength=n_bins)
    filled = n > 0
    given = np.bincount(bins, weights=scores, minlength=n_bins)[filled] / n[filled]
    share = np.bincount(bins, weights=marks, minlength=n_bins)[filled] / n[filled]
    return given, share


@dataclass(eq=False)
class _CurvesDisplay(Display):
    """A curve for each label, and one number for each.

    Attributes
    ----------
    curves : list of (x, y)
        The curve of each label.
    values : array of shape (n_labels,)
        The number of each label: the area, or how far it is from calibrated.
    label_names : list of str
        Names of the labels.
    highlighted : list of int
        The labels in colour; by default the five worst.
    """

    curves: list[Curve]
    values: Values
    label_names: list[str]
    highlighted: list[int]

    title = ""
    axes = ("", "")
    higher_is_better = True

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        highlight: Sequence[int | str] | None = None,
        label_names: Iterable[str] | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw the curve of each label.

        Parameters
        ----------
        y_true : array-like or sparse matrix of shape (n_samples, n_labels)
            True labels, 0 or 1.
        y_score : array-like of shape (n_samples, n_labels)
            Scores; probabilities for the calibration.
        highlight : list of names or numbers of labels, optional
            The labels to draw in colour; by default the five worst.
        label_names : iterable of str, optional
            Names of the labels; by default the columns of a data frame.
        ax : matplotlib axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        display
        """
        options = {"label_names": label_names, "ax": ax, "highlight": highlight}
        return cls._made(y_true, y_score, **options)

    @classmethod
    def _from_checked(cls, checked: Checked, highlight: Sequence[int | str] | None = None) -> Self:
        marks, S = checked.Y.csr.toarray().astype(bool), checked.scores
        cls._check(S)
        parts = [(marks[:, j], S[:, j]) for j in range(S.shape[1])]
        curves = [cls._curve(*part) for part in parts]
        values = np.array([cls._value(*part) for part in parts])
        names = names_of(checked)
        if highlight is None:
            order = np.argsort(values if cls.higher_is_better else -values, kind="stable")
            shown = [int(j) for j in order if not np.isnan(values[j])][:_HIGHLIGHTED]
        else:
            shown = [names.index(one) if isinstance(one, str) else int(one) for one in highlight]
        return cls(curves, values, names, shown)

    @staticmethod
    def _check(S: Anything) -> None:
        """Reject scores that cannot be drawn."""

    @staticmethod
    def _curve(marks: Booleans, scores: Anything) -> Curve:
        raise NotImplementedError

    @staticmethod
    def _value(marks: Booleans, scores: Anything) -> float:
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
    def _curve(marks: Booleans, scores: Anything) -> Curve:
        return roc_curve(marks, scores)

    @staticmethod
    def _value(marks: Booleans, scores: Anything) -> float:
        x, y = roc_curve(marks, scores)
        return float(np.sum(np.diff(x) * (y[1:] + y[:-1])) / 2)

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
    def _curve(marks: Booleans, scores: Anything) -> Curve:
        return precision_recall_curve(marks, scores)

    @staticmethod
    def _value(marks: Booleans, scores: Anything) -> float:
        recall, precision = precision_recall_curve(marks, scores)
        return float(np.sum(np.diff(recall, prepend=0.0) * precision))


class CalibrationDisplay(_CurvesDisplay):
    """How often labels are relevant that have a given probability; the five furthest off in colour.

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
    n_bins = 10

    @staticmethod
    def _check(S: Anything) -> None:
        if S.min() < 0 or S.max() > 1:
            bad = S.min() if S.min() < 0 else S.max()
            raise ValueError(
                f"The calibration needs probabilities, from 0 to 1: found {bad:g}. Pass the output "
                "of predict_proba."
            )

    @staticmethod
    def _curve(marks: Booleans, scores: Anything) -> Curve:
        return calibration_curve(marks, scores, CalibrationDisplay.n_bins)

    @staticmethod
    def _value(marks: Booleans, scores: Anything) -> float:
        n_bins = CalibrationDisplay.n_bins
        bins = np.minimum((scores * n_bins).astype(np.int64), n_bins - 1)
        off = np.bincount(bins, weights=scores - marks, minlength=n_bins)
        return float(np.abs(off).sum() / scores.size)

    def _draw(self, ax: Any) -> Any:
        ax = super()._draw(ax)
        ax.plot([0, 1], [0, 1], color=FAINT, linestyle="--", linewidth=1)
        return ax
