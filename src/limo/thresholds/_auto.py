"""The kind of threshold for a measure, chosen on held-out rows of the same scores.

A kind is a threshold per label, a global one, one per instance t(x), or a sum t(x) + t or t(x) +
t_j. Each is fitted on most rows and used on the others, fold by fold, so that every row is cut by
thresholds that have not seen it. Only counts of hits and predictions are kept. They give the value
of any measure of labels and, by leaving out groups of rows, the standard error of the difference
between two kinds. Everything that kinds or measures have in common is computed once.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np

from limo._kernels.thresholds import count_predicted
from limo._settings import check_number
from limo._text import Rows, align
from limo._types import Anything, Integers, Values
from limo._views import AVERAGES, COLUMNS, ENTRIES, ROWS, Pattern, View
from limo.measures._table import MEASURES
from limo.thresholds._best import Labels
from limo.thresholds._instance import (
    InstanceThreshold,
    best_offset,
    finite_thresholds,
    fit_ridge,
    highest_scores,
    label_target,
    scores_read,
)
from limo.thresholds._rules import GlobalThreshold, LabelThreshold, ThresholdRule
from limo.thresholds._scores import DenseScores, Scores
from limo.thresholds._search import Kept, best_thresholds
from limo.thresholds._target import Target, check_target

# How t(x) is combined with an offset in each kind.
KINDS: dict[str, tuple[bool, str | None]] = {
    "label": (False, "label"),
    "global": (False, "global"),
    "instance": (True, None),
    "instance + global": (True, "global"),
    "instance + label": (True, "label"),
}
"""The kinds by name: whether they have t(x), and what else they have."""

_GROUPS = 20  # of rows, each left out once to estimate standard errors


@dataclass(frozen=True)
class Tried:
    """The result of one kind of threshold on held-out rows.

    Attributes
    ----------
    kind : str
        ``"label"``, ``"global"``, ``"instance"``, ``"instance + global"`` or
        ``"instance + label"``.
    value : float
        The measure of all rows, each cut by thresholds fitted on other rows.
    gain : float
        How much better that is than the kind that suits the measure; negative if worse.
    error : float
        The standard error of the gain.
    chosen : bool
        Whether this kind was taken.

    Examples
    --------
    >>> from limo.thresholds import Tried
    >>> Tried("label", value=0.5, gain=0.0, error=0.0, chosen=True).kind
    'label'
    """

    __module__ = "limo.thresholds"  # the public name, which model files contain

    kind: str
    value: float
    gain: float
    error: float
    chosen: bool = False


def suited_kind(target: Target) -> str:
    """The kind that suits a target: it cuts the rows that the target judges."""
    measure = MEASURES.get(str(target))
    if measure is not None and measure.threshold is not None:
        return measure.threshold
    return "label" if target.average is None else AVERAGES[target.average].threshold


def kinds_for(target: Target) -> Iterator[str]:
    """The kinds that can serve a target, first the one that suits it."""
    suited = suited_kind(target)
    # thresholds per label are chosen together unless each label is judged by itself
    by_label = target.average in (None, COLUMNS.average) or target.fractional
    by_instance = target.average in (None, ROWS.average)
    for kind in (suited, *(kind for kind in KINDS if kind != suited)):
        if (by_label or KINDS[kind][1] != "label") and (by_instance or kind != "instance"):
            yield kind


def try_kinds(
    Y: Pattern, scores: Scores, targets: Sequence[Target], n_folds: int, errors: float
) -> list[list[Tried]]:
    """Try, for each target, the kinds that can serve it, and choose one.

    The kind that suits the target is kept unless another is better by more than ``errors`` standard
    errors of the difference.
    """
    _, values = _cross_fit(Y, scores, targets, n_folds)
    return [choose(target, values[target], errors) for target in targets]


def gains_over(
    Y: Pattern,
    scores: Scores,
    P: Pattern | None,
    targets: Sequence[Target],
    n_folds: int,
    errors: float = 1.0,
    by_instance: bool = True,
) -> list[Tried]:
    """For each target the kind that :func:`try_kinds` chooses, and its gain over predictions ``P``.

    Without predictions, gain and error are nan. ``by_instance`` says whether to try t(x).
    """
    trial, values = _cross_fit(Y, scores, targets, n_folds, by_instance)
    gains = []
    for target in targets:
        best = next(t for t in choose(target, values[target], errors) if t.chosen)
        gain, error = math.nan, math.nan
        if P is not None:
            now = trial.values(target, trial.counts_of(P))
            gain, error = _gain(values[target][best.kind] - now)
        gains.append(replace(best, gain=gain, error=error))
    return gains


def _cross_fit(
    Y: Pattern,
    scores: Scores,
    targets: Sequence[Target],
    n_folds: int,
    by_instance: bool = True,
) -> tuple["Trial", dict[Target, dict[str, Values]]]:
    """Cut every row by thresholds fitted on others: the values of each target, by kind."""
    trial = Trial.of(Y, scores, n_folds)
    # with a single label, all kinds are the same threshold
    most = None if Y.shape[1] > 1 else 1
    kinds = {
        target: [k for k in islice(kinds_for(target), most) if by_instance or not KINDS[k][0]]
        for target in targets
    }
    counts = {(target, kind): trial.counts() for target in targets for kind in kinds[target]}
    for fold in range(trial.n_folds):
        part = trial.part(fold)
        for (target, kind), counted in counts.items():
            part.count(kind, target, counted)
    return trial, {
        target: {kind: trial.values(target, counts[target, kind]) for kind in kinds[target]}
        for target in targets
    }


def choose(target: Target, values: dict[str, Values], errors: float) -> list[Tried]:
    """Compare kinds with the first: their values on all rows, then with each group left out."""
    first, sign = next(iter(values.values())), getattr(target.function, "sign", 1)
    tried = []
    for kind, own in values.items():
        tried.append(Tried(kind, float(sign * own[0]), *_gain(own - first)))
    better = [t for t in tried if t.gain > errors * t.error]
    chosen = max(better, key=lambda t: t.gain, default=tried[0])
    return [replace(t, chosen=t is chosen) for t in tried]


def _gain(differences: Values) -> tuple[float, float]:
    """A gain and its standard error, from differences on all rows and with each group left out."""
    rest = differences[1:] if differences.size > 1 else differences
    apart = rest - rest.mean()
    error = np.sqrt((apart.size - 1) / apart.size * np.square(apart).sum())
    return float(differences[0]), float(error)


@dataclass(frozen=True, eq=False)
class Trial:
    """Labels and scores, their rows in groups, and what t(x) is learnt from."""

    Y: Pattern
    scores: Scores
    group: Integers
    n_groups: int
    n_folds: int
    seen: Values

    @classmethod
    def of(cls, Y: Pattern, scores: Scores, n_folds: int) -> "Trial":
        """Divide the rows at random, always in the same way."""
        n_rows = Y.shape[0]
        n_groups = min(_GROUPS, n_rows)
        group = np.random.default_rng(0).permutation(n_rows) % n_groups
        seen = highest_scores(scores, scores_read(scores))
        return cls(Y, scores, group, n_groups, min(n_folds, n_groups), seen)

    def counts(self) -> tuple[Integers, Integers]:
        """Zeros to count hits and predictions in: by row; by group and label."""
        n_rows, n_labels = self.Y.shape
        return np.zeros((2, n_rows), np.int64), np.zeros((2, self.n_groups, n_labels), np.int64)

    def counts_of(self, P: Pattern) -> tuple[Integers, Integers]:
        """Hits and predictions of given labels."""
        hits = Pattern.from_csr(P.csr.multiply(self.Y.csr).tocsr())
        both = (hits, P)
        return (
            np.stack([part.ones_per_row for part in both]),
            np.stack([_by_group(part, self.group, self.n_groups) for part in both]),
        )

    def part(self, fold: int) -> "Part":
        """The rows to fit to and the rows to cut, for one of the folds."""
        held_out = self.group % self.n_folds == fold
        if held_out.all():
            return Part(self, np.arange(held_out.size), np.arange(held_out.size))
        return Part(self, np.flatnonzero(~held_out), np.flatnonzero(held_out))

    def values(self, target: Target, counts: tuple[Integers, Integers]) -> Values:
        """The target's value of all rows, then with each group of them left out."""
        judged = judged_view(target)
        if judged is ROWS:
            return self._mean_of_rows(target, counts[0])
        in_groups = _by_group(self.Y, self.group, self.n_groups)
        sizes = np.bincount(self.group, minlength=self.n_groups)
        hits, predicted, true, items = (
            _with_and_without(part) for part in (*counts[1], in_groups, sizes[:, np.newaxis])
        )
        if judged is ENTRIES:
            items = items * self.Y.shape[1]
            hits, predicted, true = (
                part.sum(axis=1, keepdims=True) for part in (hits, predicted, true)
            )
        means: Values = np.nan_to_num(target(hits, predicted - hits, true, items)).mean(axis=1)
        return means

    def _mean_of_rows(self, target: Target, counts: Integers) -> Values:
        hits, predicted = counts.astype(np.float64)
        true = self.Y.ones_per_row.astype(np.float64)
        own = np.nan_to_num(target(hits, predicted - hits, true, self.Y.shape[1]))
        sums = np.bincount(self.group, own, self.n_groups)[:, np.newaxis]
        sizes = np.bincount(self.group, minlength=self.n_groups)[:, np.newaxis]
        return (_with_and_without(sums) / _with_and_without(sizes))[:, 0]


class Part:
    """One fold: thresholds are fitted to some rows and cut others."""

    def __init__(self, trial: Trial, known: Integers, cut: Integers) -> None:
        self.trial, self.known, self.cut = trial, known, cut
        self.Y, self.Y_cut = (Pattern.from_csr(trial.Y.csr[rows]) for rows in (known, cut))
        self.scores, self.scores_cut = (trial.scores.take(rows) for rows in (known, cut))
        self._kept: Kept = {}
        self._instance: dict[Target, tuple[Scores, Values, Kept]] = {}

    def count(self, kind: str, target: Target, counts: tuple[Integers, Integers]) -> None:
        """Add the hits and predictions of the rows that are cut."""
        by_instance, offset = KINDS[kind]
        rest, rows, kept = self.scores, np.zeros(self.cut.size), self._kept
        if by_instance:
            rest, rows, kept = self.above_instance(replace(target, average=ROWS.average))
        columns = np.zeros(self.Y.shape[1])
        if offset is not None:
            columns = columns + best_offset(offset, target, self.Y, rest, kept)
        by_row = np.zeros((2, self.cut.size), np.int64)
        group = self.trial.group[self.cut]
        count_cut(self.scores_cut, rows, columns, self.Y_cut, group, by_row, counts[1])
        counts[0][:, self.cut] = by_row

    def above_instance(self, target: Target) -> tuple[Scores, Values, Kept]:
        """Scores minus t(x) of the rows to fit to with their cuts, and t(x) of the rows to cut."""
        if target not in self._instance:
            best = best_thresholds(ROWS, target, self.Y, self.scores, kept=self._kept)
            seen = self.trial.seen
            coef, level = fit_ridge(seen[self.known], finite_thresholds(best, self.scores))
            t = seen @ coef + level
            rest = self.scores.minus(t[self.known])
            self._instance[target] = rest, t[self.cut], {}
        return self._instance[target]


def judged_view(target: Target) -> View:
    """The view whose counts a target judges: that of its measure, or by default the columns."""
    measure = MEASURES.get(str(target))
    if measure is not None:
        return measure.view
    return target.view(COLUMNS)


def count_cut(
    scores: Scores,
    rows: Values,
    columns: Values,
    Y: Pattern,
    group: Integers,
    in_rows: Integers,
    in_columns: Integers,
) -> None:
    """Count hits and predictions where a score minus its row's threshold is above its column's."""
    if isinstance(scores, DenseScores):
        count_predicted(scores.S, rows, columns, Y.indptr, Y.indices, group, in_rows, in_columns)
        return
    P = scores.minus(rows).cut(columns)
    for k, part in enumerate((P.multiply(Y.csr).tocsr(), P)):
        in_rows[k] += part.sum(axis=1)
        in_columns[k] += _by_group(Pattern.from_csr(part), group, len(in_columns[k]))


def _by_group(pattern: Pattern, group: Integers, n_groups: int) -> Integers:
    """The ones of each column, by group of rows."""
    cells = np.repeat(group, pattern.ones_per_row) * pattern.shape[1] + pattern.indices
    counts: Integers = np.bincount(cells, minlength=n_groups * pattern.shape[1])
    return counts.reshape(n_groups, pattern.shape[1])


def _with_and_without(by_group: Anything) -> Values:
    """Sums over all groups, then over all but each."""
    total = by_group.sum(axis=0, keepdims=True)
    rest = np.concatenate([total, total - by_group]) if len(by_group) > 1 else total
    return rest.astype(np.float64)


# The rule


class AutoThreshold(ThresholdRule):
    """The kind of threshold that is best for a measure on held-out rows.

    Tries a threshold per label, a global one, one per instance t(x), and the sums t(x) + t and
    t(x) + t_j, as far as they can serve the measure. Every row is cut by thresholds fitted on other
    rows. The kind of :func:`suggest_threshold` is kept unless another is better by more than
    ``errors`` standard errors of the difference; smaller differences are mostly chance. The chosen
    kind is then fitted to all rows.

    With sample weights or missing labels no kinds are compared: the first kind without t(x) is
    fitted.

    Parameters
    ----------
    target : str, callable or Target, optional
        What to maximise; by default ``"macro_f1"``.
    errors : float, default=1.0
        By how many standard errors another kind must be better.
    cv : int, default=5
        The number of folds.

    Attributes
    ----------
    kind_ : str
        The kind that was chosen.
    rule_ : rule
        The fitted rule of that kind.
    tried_ : tuple of Tried
        The kinds, best first: ``kind``, ``value``, ``gain``, ``error``, ``chosen``.

    Examples
    --------
    >>> import limo
    >>> train, test = limo.datasets.split(limo.datasets.figure1(400))
    >>> scores = limo.LIMOClassifier().fit(train.X, train.Y).decision_function(test.X)
    >>> rule = limo.AutoThreshold("micro_f1").fit(test.Y, scores)
    >>> rule.kind_
    'instance + global'
    >>> print(rule.report())
    kind               micro_f1  gain     error
    instance + ...
    """

    __module__ = "limo"  # the public name, which model files contain
    takes_weights = True

    def __init__(self, target: Any = None, *, errors: float = 1.0, cv: int = 5) -> None:
        self.target = target
        self.errors = errors
        self.cv = cv

    def report(self) -> str:
        """The kinds that were tried and how good they were, as a table."""
        self.check_fitted()
        rows: Rows = [("kind", str(check_target(self._target)), "gain", "error", "")]
        rows += [
            (t.kind, f"{t.value:.4f}", f"{t.gain:+.4f}", f"{t.error:.4f}", "chosen" * t.chosen)
            for t in self.tried_
        ]
        return align(rows)

    def move_to_zero(self) -> float:
        """Shift a single finite threshold to 0 and return the old value."""
        return self.rule_.move_to_zero()

    @property
    def _target(self) -> Any:
        return "macro_f1" if self.target is None else self.target

    def _fit(self, Y: Pattern, scores: Scores, X: Any) -> None:
        check_number(self.errors, "errors", least=0)
        check_number(self.cv, "cv", least=2, integer=True)
        target = check_target(self._target)
        if Y.is_plain:
            tried = try_kinds(Y, scores, [target], self.cv, self.errors)[0]
        else:
            kind = next(kind for kind in kinds_for(target) if not KINDS[kind][0])
            tried = [Tried(kind, math.nan, 0.0, math.nan, chosen=True)]
        self.tried_ = tuple(sorted(tried, key=lambda t: -t.gain))
        self.kind_ = next(t.kind for t in tried if t.chosen)
        self.rule_ = rule_of(self.kind_, self._target)
        self.rule_._fit(Y, scores, X)
        self.rule_.n_labels_ = Y.shape[1]

    def _predict(self, scores: Scores, X: Any) -> Labels:
        return self.rule_._predict(scores, X)


def rule_of(kind: str, target: Any) -> ThresholdRule:
    """The rule of a kind for a target, ready to be fitted."""
    by_instance, offset = KINDS[kind]
    if by_instance:
        return InstanceThreshold(target, offset=offset)
    if offset == "global":
        return GlobalThreshold(target)
    suited = label_target(check_target(target))
    return LabelThreshold(target if suited == check_target(target) else str(suited))
