"""Where a prediction falls short: because of the ranking of the scores, or because of the cut."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any, Literal

import numpy as np

from limo._checks import Names, check_inputs, check_name
from limo._margins import threshold_bounds
from limo._system import Later
from limo._text import Rows, align, as_html
from limo._types import Integers, Values
from limo._views import THRESHOLDS, Counts, count
from limo.measures._conventions import CONVENTIONS
from limo.measures._measure import RowFunction
from limo.measures._rows import f1, hamming
from limo.measures._table import MEASURES
from limo.thresholds._scores import check_pair
from limo.thresholds._search import TARGETS, best_counts

__all__ = ["Loss", "Shortfall", "ThresholdReport", "threshold_report"]


pandas = Later("pandas")


_TABLES = ("overall", "labels", "instances")


@dataclass(frozen=True, eq=False)
class Loss:
    """A measure of each row as it is, with the best cut of the same scores, and at its best.

    ``sign`` is 1 where higher is better, -1 where lower is.
    ``ranking + cut`` is the whole shortfall. ``ranking`` is what no threshold can win back; ``cut``
    is what better thresholds can. It is negative where the labels predicted are better than
    any cut of this row, which happens if thresholds of another kind made them.
    """

    found: Values
    best_cut: Values
    possible: Values
    sign: int

    @property
    def ranking(self) -> Values:
        """Shortfall due to the order of the scores."""
        return self.sign * (self.possible - self.best_cut)

    @property
    def cut(self) -> Values:
        """Shortfall due to where they were cut."""
        return self.sign * (self.best_cut - self.found)

    @property
    def mean(self) -> "Loss":
        """The same of all rows together."""
        found, best_cut, possible = (
            part.mean(keepdims=True) for part in (self.found, self.best_cut, self.possible)
        )
        return Loss(found, best_cut, possible, self.sign)

    def record(self, name: str) -> dict[str, Values]:
        """Columns of a table."""
        return {
            name: self.found,
            f"{name}_best_cut": self.best_cut,
            f"{name}_lost_to_ranking": self.ranking,
            f"{name}_lost_to_cut": self.cut,
        }


@dataclass(frozen=True, eq=False)
class Shortfall:
    """What is lost in each row of a view.

    Attributes
    ----------
    f1, hamming_loss : Loss
        Both measures of each row, and what they lose to ranking and to the cut.
    threshold_error : array of int
        Definition 6: by how many items the number predicted misses the number relevant.
    """

    f1: Loss
    hamming_loss: Loss
    threshold_error: Integers

    def to_dict(self) -> dict[str, Any]:
        """Columns of a table, one line a row."""
        return {
            **self.f1.record("f1"),
            **self.hamming_loss.record("hamming_loss"),
            "threshold_error": self.threshold_error,
        }


@dataclass(frozen=True, eq=False, repr=False)
class ThresholdReport:
    """How much of the shortfall in F1 and Hamming loss is due to ranking, and how much to the cut.

    Attributes
    ----------
    instances, labels, overall : Shortfall
        For each instance, for each label, and for the matrix as a whole, each against its own
        best cut: t(x), t_j, and one global threshold.
    bounds : mapping
        By kind of threshold (``"instance"``, ``"label"``, ``"global"``), what the threshold errors
        would leave of F1 and Hamming loss at the worst, were the scores effective
        (Theorems 4 and 5).
    label_names : tuple of str or None
        Names of the labels, where the input carried any.
    """

    instances: Shortfall
    labels: Shortfall
    overall: Shortfall
    bounds: Mapping[str, Mapping[str, float]]
    label_names: Names

    @cached_property
    def measures(self) -> dict[str, Loss]:
        """The four measures of labels, each against the cut that suits it (``limo.MEASURES``)."""
        by_kind = {"instance": self.instances, "label": self.labels, "global": self.overall}
        found = {}
        for name, kind in _suited().items():
            shortfall = by_kind[kind]
            part = shortfall.hamming_loss if name == "hamming_loss" else shortfall.f1
            found[name] = part.mean
        return found

    def to_frame(self, of: Literal["overall", "labels", "instances"] = "overall") -> Any:
        """Make a data frame of the measures, or of every label or instance."""
        check_name(of, _TABLES, "table")
        if of == "labels":
            names = self.label_names or range(self.labels.threshold_error.size)
            return pandas.DataFrame(self.labels.to_dict(), index=pandas.Index(names, name="label"))
        if of == "instances":
            return pandas.DataFrame(self.instances.to_dict()).rename_axis("instance")
        return pandas.DataFrame.from_dict(self._overall(), orient="index").rename_axis("measure")

    def to_json(self, path: str | Path | None = None) -> str:
        """Write the measures, the labels and the bounds as JSON."""
        labels = {name: part.tolist() for name, part in self.labels.to_dict().items()}
        names = None if self.label_names is None else list(self.label_names)
        document = {
            "measures": self._overall(),
            "label_names": names,
            "labels": labels,
            "bounds": self.bounds,
        }
        text = json.dumps(document, indent=2, allow_nan=False)
        if path is not None:
            Path(path).write_text(text + "\n", encoding="utf-8")
        return text

    def _overall(self) -> dict[str, dict[str, float]]:
        return {
            name: {
                "found": float(loss.found[0]),
                "best_cut": float(loss.best_cut[0]),
                "possible": float(loss.possible[0]),
                "lost_to_ranking": float(loss.ranking[0]),
                "lost_to_cut": float(loss.cut[0]),
                "bound": self.bounds[_suited()[name]][name],
            }
            for name, loss in self.measures.items()
        }

    def table(self) -> Rows:
        """Lines of the table of measures, the head first."""
        head: tuple[str, ...] = (
            "measure",
            "found",
            "best cut",
            "possible",
            "lost to ranking",
            "lost to cut",
            "threshold per",
        )
        return [head] + [
            (
                MEASURES[name].title,
                *(f"{value:.4f}" for key, value in line.items() if key != "bound"),
                _suited()[name].replace("global", "matrix"),
            )
            for name, line in self._overall().items()
        ]

    def sentence(self) -> str:
        """What to work on first."""
        losses = [loss for name, loss in self.measures.items() if name != "hamming_loss"]
        ranking = sum(float(loss.ranking[0]) for loss in losses)
        cut = sum(max(float(loss.cut[0]), 0.0) for loss in losses)
        if ranking + cut == 0:
            return "Nothing is lost: every label is predicted rightly."
        share = cut / (ranking + cut)
        part, remedy = ("cut", "better thresholds") if share > 0.5 else ("ranking", "better scores")
        return (
            f"Of what the F1 measures lose, {max(share, 1 - share):.0%} is due to the {part}: "
            f"{remedy} would help most."
        )

    def __str__(self) -> str:
        return f"{align(self.table())}\n\n{self.sentence()}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return as_html(self.table()) + f"<p>{escape(self.sentence())}</p>"


def threshold_report(
    y_true: Any, y_score: Any, y_pred: Any, *, label_names: Iterable[str] | None = None
) -> ThresholdReport:
    """Tell what a prediction loses to the ranking of its scores, and what to its thresholds.

    For each label, each instance and the whole matrix, F1 and Hamming loss of the labels predicted
    stand beside those of the best cut of the same scores. What the best cut still misses is due to
    the ranking; the rest is due to the cut. Threshold errors are those of Definition 6, the
    bounds those of Theorems 4 and 5.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        True labels, 0 or 1.
    y_score : array-like or sparse matrix of shape (n_samples, n_labels)
        Scores; those absent from a sparse matrix are above no threshold.
    y_pred : array-like or sparse matrix of shape (n_samples, n_labels)
        Labels predicted from these scores.
    label_names : iterable of str, optional
        Names for tables; by default the columns of a data frame, if one is given.

    Returns
    -------
    ThresholdReport

    Examples
    --------
    >>> import limo
    >>> y_true = [[1, 0], [1, 0], [0, 1], [0, 1]]
    >>> y_score = [[0.9, 0.1], [0.4, 0.3], [0.6, 0.4], [0.1, 0.3]]
    >>> y_pred = limo.FixedThreshold(0.5).predict(y_score)
    >>> print(limo.threshold_report(y_true, y_score, y_pred))
    measure       found   best cut  possible  lost to ranking  lost to cut  threshold per
    Hamming loss  0.5000  0.2500    0.0000    0.2500           0.2500       label
    macro-F1      0.2500  0.8000    1.0000    0.2000           0.5500       label
    instance-F1   0.2500  0.9167    1.0000    0.0833           0.6667       instance
    micro-F1      0.3333  0.8000    1.0000    0.2000           0.4667       matrix
    <BLANKLINE>
    Of what the F1 measures lose, 78% is due to the cut: better thresholds would help most.
    """
    checked = check_inputs(y_true, y_pred=y_pred, label_names=label_names)
    Y, scores = check_pair(y_true, y_score)
    assert checked.P is not None
    used = count(Y, checked.P, THRESHOLDS.values())
    names = ("f1", "hamming_loss")
    targets = [TARGETS[name] for name in names]
    best = {
        view: dict(zip(names, best_counts(view, targets, Y, scores), strict=True))
        for view in THRESHOLDS.values()
    }
    found = {kind: _shortfall(used[view], best[view]) for kind, view in THRESHOLDS.items()}
    return ThresholdReport(
        found["instance"],
        found["label"],
        found["global"],
        {
            kind: threshold_bounds(y_true, found[kind].threshold_error, by=view.threshold)
            for kind, view in THRESHOLDS.items()
        },
        checked.label_names,
    )


def _shortfall(used: Counts, best: Mapping[str, Counts]) -> Shortfall:
    standard = CONVENTIONS["standard"]

    def loss(name: str, function: RowFunction, sign: int) -> Loss:
        found, cut, possible = (function(c, standard) for c in (used, best[name], used.perfect))
        return Loss(found, cut, possible, sign)

    error = np.abs(used.predicted - used.true)
    return Shortfall(loss("f1", f1, 1), loss("hamming_loss", hamming, -1), error)


def _suited() -> dict[str, str]:
    """The measures of labels, and the kind of threshold that suits each."""
    return {name: m.threshold for name, m in MEASURES.items() if m.threshold is not None}
