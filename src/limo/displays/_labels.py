"""Drawings of measures, margins and labels: skill, histograms, frequency, confusion."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from limo._checks import Checked, check_truth
from limo._drawing import FAINT, GOOD, INK, POOR, new_axes, tidy
from limo._evaluate import evaluate_checked
from limo._evaluation import Evaluation
from limo._settings import check_number
from limo._system import Later
from limo._types import Values
from limo._views import COLUMNS, ROWS, Pattern
from limo.displays._display import Display, LabelsDisplay, ScoresDisplay, names_of
from limo.measures._compute import check_conventions
from limo.measures._intervals import check_sampling

sparse = Later("scipy.sparse")
ticker = Later("matplotlib.ticker")

_STANDARD = check_conventions("standard")


@dataclass(eq=False)
class SkillDisplay(Display):
    """The skill on all measures, with intervals: 0 is blind guessing, 1 the best possible value.

    Attributes
    ----------
    evaluation : Evaluation
        What is drawn.

    Examples
    --------
    >>> import limo
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> data = limo.datasets.figure1(100)
    >>> model = RandomForestClassifier(20, random_state=0).fit(data.X[:50], data.Y[:50])
    >>> display = limo.displays.SkillDisplay.from_estimator(model, data.X[50:], data.Y[50:])
    >>> display.figure_.savefig("picture.png")  # doctest: +SKIP
    """

    needs = "both"
    options = ("intervals",)
    evaluation: Evaluation

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any = None,
        y_pred: Any = None,
        *,
        intervals: float = 0.95,
        sample_weight: Any = None,
        missing: Any = None,
        label_names: Iterable[str] | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw the skill of scores, predicted labels or both.

        Parameters
        ----------
        y_true : array-like or sparse matrix of shape (n_samples, n_labels)
            True labels, 0 or 1.
        y_score : array-like of shape (n_samples, n_labels), optional
            Scores.
        y_pred : array-like or sparse matrix of shape (n_samples, n_labels), optional
            Predicted labels.
        intervals : float, default=0.95
            The level of the intervals.
        sample_weight : array-like of shape (n_samples,), optional
            How much each instance counts.
        missing : number or array-like of bool, optional
            What stands for a missing label in ``y_true``, as in :func:`limo.evaluate`.
        label_names : iterable of str, optional
            Names of the labels.
        ax : matplotlib axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        display
        """
        truth = check_truth(y_true, label_names, missing=missing, sample_weight=sample_weight)
        return cls._made(truth, y_score, y_pred, ax=ax, intervals=intervals)

    @classmethod
    def _from_checked(cls, checked: Checked, intervals: float = 0.95) -> Self:
        sampling = check_sampling(intervals, n_instances=checked.Y.shape[0])
        return cls(evaluate_checked(checked, _STANDARD, sampling=sampling)[0])

    def _draw(self, ax: Any) -> Any:
        return self.evaluation.plot(ax=ax).axes[0] if ax is None else self._draw_on(ax)

    def _draw_on(self, ax: Any) -> Any:
        self.evaluation.plot(ax=ax)
        return ax


@dataclass(eq=False)
class MarginDisplay(ScoresDisplay):
    """The margins of instances and of labels as histograms; a positive one is perfect.

    Attributes
    ----------
    margins : dict of str to array
        Margins by the name of their kind: label-wise (of instances), instance-wise (of labels).
    weights : dict of str to array
        How much each of them counts.

    Examples
    --------
    >>> import limo
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> data = limo.datasets.figure1(100)
    >>> model = RandomForestClassifier(20, random_state=0).fit(data.X[:50], data.Y[:50])
    >>> display = limo.displays.MarginDisplay.from_estimator(model, data.X[50:], data.Y[50:])
    >>> display.figure_.savefig("picture.png")  # doctest: +SKIP
    """

    margins: dict[str, Values]
    weights: dict[str, Values]

    @classmethod
    def _from_checked(cls, checked: Checked) -> Self:
        margins = evaluate_checked(checked, _STANDARD)[0].margins
        both = {view.margin: margins[view.name] for view in (ROWS, COLUMNS)}
        return cls(
            {kind: one.margins for kind, one in both.items()},
            {
                kind: np.ones(one.margins.size) if one.weights is None else one.weights
                for kind, one in both.items()
            },
        )

    def _draw(self, ax: Any) -> Any:
        ax = new_axes(ax, 5.6, 3.6)
        finite = {kind: np.isfinite(margins) for kind, margins in self.margins.items()}
        every = np.concatenate([self.margins[kind][kept] for kind, kept in finite.items()])
        ends = np.histogram_bin_edges(every if every.size else np.zeros(1), bins=30)
        for (kind, kept), colour in zip(finite.items(), (GOOD, POOR), strict=True):
            values, weights = self.margins[kind][kept], self.weights[kind][kept]
            weights = weights / max(weights.sum(), np.finfo(float).tiny)
            share = f"{weights[values > 0].sum():.0%}" if values.size else "none"
            options = {"histtype": "stepfilled", "alpha": 0.5, "color": colour}
            ax.hist(values, ends, weights=weights, label=f"{kind}: {share} positive", **options)
        ax.axvline(0, color=INK, linewidth=1)
        ax.set(xlabel="margin", ylabel="share of instances or labels")
        ax.legend(frameon=False, fontsize=8)
        return tidy(ax)


@dataclass(eq=False)
class FrequencyDisplay(LabelsDisplay):
    """F1 of each label against how many instances have it.

    Attributes
    ----------
    positives : array of shape (n_labels,)
        How many instances have each label, or their weight.
    f1 : array of shape (n_labels,)
        F1 of each label.
    label_names : list of str
        Names of the labels.

    Examples
    --------
    >>> import limo
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> data = limo.datasets.figure1(100)
    >>> model = RandomForestClassifier(20, random_state=0).fit(data.X[:50], data.Y[:50])
    >>> display = limo.displays.FrequencyDisplay.from_estimator(model, data.X[50:], data.Y[50:])
    >>> display.figure_.savefig("picture.png")  # doctest: +SKIP
    """

    needs = "labels"
    positives: Values
    f1: Values
    label_names: list[str]

    @classmethod
    def _from_checked(cls, checked: Checked) -> Self:
        f1 = evaluate_checked(checked, _STANDARD)[0].per_label["macro_f1"]
        return cls(_totals(checked.Y), f1, names_of(checked))

    def _draw(self, ax: Any) -> Any:
        ax = new_axes(ax, 5.4, 3.8)
        used = self.positives > 0
        ax.plot(self.positives[used], self.f1[used], "o", color=GOOD, alpha=0.6, markersize=5)
        for j in np.flatnonzero(used)[np.argsort(self.f1[used])[:3]]:
            place = (self.positives[j], self.f1[j])
            ax.annotate(self.label_names[j], place, (4, 4), textcoords="offset points", fontsize=8)
        weighted = "weight of the " if (self.positives % 1).any() else ""
        ax.set(
            xscale="log",
            xlabel=f"{weighted}instances with the label",
            ylabel="F1",
            ylim=(-0.03, 1.05),
        )
        ax.xaxis.set_major_formatter(ticker.LogFormatter())
        ax.xaxis.set_minor_formatter(ticker.LogFormatter(minor_thresholds=(1, 0.4)))
        ax.set_title(f"macro-F1 {self.f1.mean():.3f}", fontsize=10, color=INK, loc="left")
        return tidy(ax)


def _totals(pattern: Pattern) -> Values:
    """How many ones each column has, or the weight of their rows."""
    weights = pattern.row_weights
    ones: Values = np.ones(pattern.shape[0]) if weights is None else weights
    return np.asarray(pattern.csr.T @ ones)


@dataclass(eq=False)
class ConfusionDisplay(LabelsDisplay):
    """Which labels are confused with which.

    Attributes
    ----------
    matrix : array of shape (n_labels, n_labels)
        In row i and column j: how many instances have label i, which was not predicted, and were
        given label j, which they do not have. On the diagonal: how many have label i and were given
        it.
    missed : array of shape (n_labels,)
        How many instances have each label, but were not given it.

    Instances count as much as they weigh. A missing label counts as neither true nor wrongly
    predicted. The option ``most`` says how many labels are drawn, those confused most. label_names
    : list of str
        Names of the labels.

    Examples
    --------
    >>> import limo
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> data = limo.datasets.figure1(100)
    >>> model = RandomForestClassifier(20, random_state=0).fit(data.X[:50], data.Y[:50])
    >>> display = limo.displays.ConfusionDisplay.from_estimator(model, data.X[50:], data.Y[50:])
    >>> display.figure_.savefig("picture.png")  # doctest: +SKIP
    """

    needs = "labels"
    options = ("most",)
    matrix: Values
    missed: Values
    label_names: list[str]
    most: int = 15

    @classmethod
    def _from_checked(cls, checked: Checked, most: int = 15) -> Self:
        check_number(most, "most", least=1, integer=True)
        Y, P = checked.Y, checked.labels.without(checked.Y.unknown)
        both = replace(Y.overlap(P), row_weights=Y.row_weights)
        missed = (Y.csr - both.csr).astype(np.float64)
        if Y.row_weights is not None:
            missed = sparse.diags_array(Y.row_weights) @ missed
        matrix = (missed.T @ (P.csr - both.csr)).toarray()
        np.fill_diagonal(matrix, _totals(both))
        return cls(matrix, np.asarray(missed.sum(axis=0)), names_of(checked), most)

    def _draw(self, ax: Any) -> Any:
        off = self.matrix - np.diag(np.diag(self.matrix))
        order = np.argsort(-(off.sum(axis=0) + off.sum(axis=1)), kind="stable")
        shown = np.sort(order[: self.most])
        true = np.maximum(np.diag(self.matrix) + self.missed, 1)
        share = (self.matrix / true[:, np.newaxis])[np.ix_(shown, shown)]
        size = 2.4 + 0.34 * len(shown)
        ax = new_axes(ax, size + 0.6, size)
        ax.imshow(share, cmap="Blues", vmin=0, vmax=1)
        names = [self.label_names[j] for j in shown]
        ax.set_xticks(range(len(shown)), names, rotation=90, fontsize=8)
        ax.set_yticks(range(len(shown)), names, fontsize=8)
        for i, j in np.argwhere(share >= 0.005):
            colour = "white" if share[i, j] > 0.5 else INK
            text = f"{100 * share[i, j]:.0f}"
            ax.text(j, i, text, ha="center", va="center", color=colour, fontsize=7)
        ax.set(xlabel="predicted but not true (diagonal: found)", ylabel="true, not predicted")
        ax.set_title("% of the instances with the true label", fontsize=9, color=INK, loc="left")
        ax.tick_params(length=0, colors=INK)
        ax.spines[:].set_color(FAINT)
        return ax
