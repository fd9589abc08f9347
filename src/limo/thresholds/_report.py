"""How much a prediction loses to its scores and to its thresholds, with the paper's bounds."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any, Literal

import numpy as np

from limo._checks import check_truth
from limo._frames import Names
from limo._profiles import Profile, read_profiles
from limo._settings import check_name
from limo._system import Later, write_text
from limo._text import Rows, align, as_html, plain
from limo._types import Anything, Values
from limo._views import ENTRIES, THRESHOLDS, Counts, Pattern, ThresholdKind, View, count
from limo.measures._compute import ByView, ProfileFunction
from limo.measures._conventions import CONVENTIONS
from limo.measures._measure import average
from limo.measures._table import MEASURES, measures_of_labels
from limo.thresholds._error import bounds_of, errors_of
from limo.thresholds._scores import DenseScores, Scores, join_scores, through
from limo.thresholds._search import Steps, read_steps
from limo.thresholds._target import Target, target_of

pandas = Later("pandas")


_TABLES = ("overall", "labels", "instances")
_STANDARD = CONVENTIONS["standard"]

BestCounts = Mapping[str, Mapping[str, Counts]]
"""Counts above the best thresholds, by the name of the view, then by family of measures."""


@dataclass(frozen=True, eq=False)
class Loss:
    """A measure of each row: as found, with the best threshold, and the best possible value.

    ``best_threshold`` is the value of the measure with the best threshold. The whole shortfall is
    ``lost_to_ranking + lost_to_threshold``: the first is lost with any threshold, the second could
    be regained by a better one. ``lost_to_threshold`` is negative if the predicted labels are
    better than any threshold of this row could make them, which happens with thresholds of another
    kind. ``sign`` is 1 if higher is better, -1 if lower is. ``weights`` are those of the rows in
    their mean; None if all count once.
    """

    found: Values
    best_threshold: Values
    possible: Values
    sign: int
    weights: Values | None = None

    @property
    def lost_to_ranking(self) -> Values:
        """Shortfall due to the order of the scores."""
        return self.sign * (self.possible - self.best_threshold)

    @property
    def lost_to_threshold(self) -> Values:
        """Shortfall due to the thresholds."""
        return self.sign * (self.best_threshold - self.found)

    @property
    def mean(self) -> "Loss":
        """The means over the rows that are defined, as a single row."""
        parts = (self.found, self.best_threshold, self.possible)
        found, best, possible = (np.array([average(part, self.weights, None)]) for part in parts)
        return Loss(found, best, possible, self.sign)

    def record(self, name: str) -> dict[str, Values]:
        """Columns of a table."""
        return {
            name: self.found,
            f"{name}_best_threshold": self.best_threshold,
            f"{name}_lost_to_ranking": self.lost_to_ranking,
            f"{name}_lost_to_threshold": self.lost_to_threshold,
        }


@dataclass(frozen=True, eq=False)
class Shortfall:
    """The losses of each row of a view.

    Attributes
    ----------
    losses : mapping of str to Loss
        By family of measures (``"f1"``, ``"hamming_loss"``, ...), what each row loses.
    threshold_error : array
        Definition 6: the difference between the numbers of predicted and of relevant items.
    """

    losses: Mapping[str, Loss]
    threshold_error: Anything

    def to_dict(self) -> dict[str, Any]:
        """Columns of a table with one line per row."""
        columns: dict[str, Any] = {}
        for family, loss in self.losses.items():
            columns |= loss.record(family)
        return columns | {"threshold_error": self.threshold_error}


@dataclass(frozen=True, eq=False, repr=False)
class ThresholdReport:
    """How much measures of labels lose to the ranking of the scores, and how much to thresholds.

    Attributes
    ----------
    instances, labels, overall : Shortfall
        For each instance, for each label, and for the matrix as a whole, each compared with its own
        best threshold: per instance, per label, and global.
    bounds : mapping
        By kind of threshold (``"instance"``, ``"label"``, ``"global"``), the bounds of F1 and
        Hamming loss that would follow from the threshold errors if the scores were effective
        (Theorems 4 and 5).
    label_names : tuple of str or None
        Names of the labels, if the input had any.
    """

    instances: Shortfall
    labels: Shortfall
    overall: Shortfall
    bounds: Mapping[str, Mapping[str, float]]
    label_names: Names

    @cached_property
    def measures(self) -> dict[str, Loss]:
        """Each measure of labels, compared with the best threshold of the kind that suits it."""
        by_kind = {"instance": self.instances, "label": self.labels, "global": self.overall}
        return {
            name: by_kind[kind].losses[MEASURES[name].family].mean
            for name, kind in _suited().items()
        }

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
        document = {
            "measures": self._overall(),
            "label_names": self.label_names,
            "labels": self.labels.to_dict(),
            "bounds": self.bounds,
        }
        text = json.dumps(plain(document), indent=2, allow_nan=False)
        if path is not None:
            write_text(path, text)
        return text

    def _overall(self) -> dict[str, dict[str, float | None]]:
        return {
            name: {
                "found": float(loss.found[0]),
                "best_threshold": float(loss.best_threshold[0]),
                "possible": float(loss.possible[0]),
                "lost_to_ranking": float(loss.lost_to_ranking[0]),
                "lost_to_threshold": float(loss.lost_to_threshold[0]),
                "bound": self.bounds[_suited()[name]].get(name),
            }
            for name, loss in self.measures.items()
        }

    def table(self) -> Rows:
        """Lines of the table of measures, the head first."""
        head: tuple[str, ...] = (
            "measure",
            "found",
            "best threshold",
            "possible",
            "lost to ranking",
            "lost to threshold",
            "threshold per",
        )
        return [head] + [
            (
                MEASURES[name].title,
                *(f"{value:.4f}" for key, value in line.items() if key != "bound"),
                THRESHOLDS[_suited()[name]].row,
            )
            for name, line in self._overall().items()
        ]

    def sentence(self) -> str:
        """A sentence on what to improve first."""
        losses = [loss for n, loss in self.measures.items() if MEASURES[n].family == "f1"]
        ranking = sum(float(loss.lost_to_ranking[0]) for loss in losses)
        thresholds = sum(max(float(loss.lost_to_threshold[0]), 0.0) for loss in losses)
        if ranking + thresholds == 0:
            return "Nothing is lost: every label is predicted correctly."
        share = thresholds / (ranking + thresholds)
        cause = "thresholds" if share > 0.5 else "ranking"
        remedy = {"thresholds": "better thresholds", "ranking": "better scores"}[cause]
        return (
            f"Of what the F1 measures lose, {max(share, 1 - share):.0%} is due to the {cause}: "
            f"{remedy} would help most."
        )

    def __str__(self) -> str:
        return f"{align(self.table())}\n\n{self.sentence()}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return as_html(self.table()) + f"<p>{escape(self.sentence())}</p>"


def threshold_report(
    y_true: Any,
    y_score: Any,
    y_pred: Any,
    *,
    label_names: Iterable[str] | None = None,
    sample_weight: Any = None,
    missing: Any = None,
) -> ThresholdReport:
    """Find out how much a prediction loses to the ranking of its scores, and to its thresholds.

    For each label, each instance and the whole matrix, F1, Hamming loss and all other measures of
    labels are compared with those of the best threshold on the same scores. What the best
    threshold still loses is due to the ranking; the rest is due to the thresholds used. Threshold
    errors are those of Definition 6, bounds those of Theorems 4 and 5.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        True labels, 0 or 1.
    y_score : array-like or sparse matrix of shape (n_samples, n_labels)
        Scores; those absent from a sparse matrix are above no threshold.
    y_pred : array-like or sparse matrix of shape (n_samples, n_labels)
        The labels predicted from these scores.
    label_names : iterable of str, optional
        Names for tables; by default the columns of a data frame, if one is given.
    sample_weight : array-like of shape (n_samples,), optional
        How much each instance counts.
    missing : number or array-like of bool, optional
        The number that stands for a missing label in ``y_true`` (nan or -1), or a mask that is true
        where a label is missing. Such entries take no part.

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
    measure       found   best threshold  possible  lost to ranking  lost to threshold  threshold per
    Hamming loss  0.5000  0.2500          0.0000    0.2500           0.2500             label
    macro-F1      0.2500  0.8000          1.0000    0.2000           0.5500             label
    instance-F1   0.2500  0.9167          1.0000    0.0833           0.6667             instance
    micro-F1      0.3333  0.8000          1.0000    0.2000           0.4667             matrix
    <BLANKLINE>
    Of what the F1 measures lose, 78% is due to the thresholds: better thresholds would help most.
    """  # noqa: E501
    truth = check_truth(y_true, label_names, sample_weight=sample_weight, missing=missing)
    checked = truth.join(y_pred=y_pred)
    scores = join_scores(truth, y_score)
    families = measures_of_labels()
    targets = [target_of(measure) for measure in families.values()]
    best = {
        view.name: dict(zip(families, best_counts(view, targets, truth.Y, scores), strict=True))
        for view in THRESHOLDS.values()
    }
    return report_of(truth.Y, checked.labels, best, checked.label_names)


def report_of(Y: Pattern, P: Pattern, best: BestCounts, label_names: Names) -> ThresholdReport:
    """The report on checked labels, from the counts above the best thresholds."""
    used = count(Y, P, THRESHOLDS.values())
    shortfalls = {
        kind: _shortfall(used[v.name], best[v.name], v, Y) for kind, v in THRESHOLDS.items()
    }
    return ThresholdReport(
        shortfalls["instance"],
        shortfalls["label"],
        shortfalls["global"],
        {kind: bounds_of(v, Y, shortfalls[kind].threshold_error) for kind, v in THRESHOLDS.items()},
        label_names,
    )


def _shortfall(used: Counts, best: Mapping[str, Counts], view: View, Y: Pattern) -> Shortfall:
    losses = {}
    for family, measure in measures_of_labels().items():
        found, best_threshold, possible = (
            measure.values(counts, _STANDARD) for counts in (used, best[family], used.perfect)
        )
        weights = measure.row_weights(view, Y)
        losses[family] = Loss(found, best_threshold, possible, measure.sign, weights)
    return Shortfall(losses, errors_of(used.true, used.predicted))


def _suited() -> dict[str, ThresholdKind]:
    """The measures of labels, and the kind of threshold that suits each."""
    return {name: m.threshold for name, m in MEASURES.items() if m.threshold is not None}


# Counts above the best thresholds


def best_functions(view: View, results: ByView) -> dict[str, ProfileFunction]:
    """Functions of profiles that count, for measures of labels, above the best thresholds."""
    targets = [t for t in _targets().values() if _can_count(view, [t])]
    return {"best": lambda profile: _count_best(profile, targets)}


def best_of(Y: Pattern, scores: Scores, results: ByView) -> BestCounts:
    """The counts from what :func:`best_functions` found; what they could not count is read here."""
    return {
        view.name: _best_of(view, Y, scores, results[view.name]["best"])
        for view in THRESHOLDS.values()
    }


def _best_of(view: View, Y: Pattern, scores: Scores, sums: Anything) -> dict[str, Counts]:
    ready = [family for family, target in _targets().items() if _can_count(view, [target])]
    rest = {family: target for family, target in _targets().items() if family not in ready}
    counts = dict(zip(ready, _counts_of(view, Y, sums), strict=True))
    if rest:
        counts |= zip(rest, best_counts(view, list(rest.values()), Y, scores), strict=True)
    return counts


def _targets() -> dict[str, Target]:
    return {family: target_of(measure) for family, measure in measures_of_labels().items()}


def best_counts(view: View, targets: Sequence[Target], Y: Pattern, scores: Scores) -> list[Counts]:
    """Count, for each target, what is above the best threshold of each row of the view.

    The rows are sorted once for all targets, and dense scores are never copied as a whole unless
    one global threshold is sought for a target that is not fractional.
    """
    if isinstance(scores, DenseScores) and _can_count(view, targets):
        sums = read_profiles(view, Y, scores.S, lambda profile: _count_best(profile, targets))
    else:
        every = not all(target.fractional for target in targets)

        def read(steps: Steps) -> Anything:
            return np.stack([_at_best(steps, target) for target in targets])

        sums = read_steps(*through(view, Y, scores), read, every=every)
    return _counts_of(view, Y, np.concatenate(sums, axis=-1))


def _can_count(view: View, targets: Sequence[Target]) -> bool:
    """Whether profiles suffice: that of the whole matrix cannot try every threshold."""
    return view is not ENTRIES or all(target.fractional for target in targets)


def _count_best(profile: Profile, targets: Sequence[Target]) -> Anything:
    """Items both true and predicted, and items predicted, above each row's best threshold.

    Of shape (targets, 2, rows).
    """
    below = Steps.below_relevant(profile)
    every = (
        below
        if all(target.fractional for target in targets)
        else Steps.of(profile.sorted_rows, every=True)
    )
    return np.stack([_at_best(below if t.fractional else every, t) for t in targets])


def _at_best(steps: Steps, target: Target) -> Anything:
    counts = steps.counts(steps.best(target, most=False))
    return np.stack([counts.both, counts.predicted])


def _counts_of(view: View, Y: Pattern, sums: Anything) -> list[Counts]:
    """Confusion counts from what :func:`_count_best` gave for all rows of a view."""
    true, n_items = view.ones(Y), view.n_items(Y)
    return [Counts(both, true, predicted, n_items) for both, predicted in sums]
