"""The search behind :class:`limo.LIMOClassifierCV`: fits along paths of alpha, fold by fold.

A :class:`Cell` is a loss with an alpha. On the first fold all cells are tried, and each path of
falling alpha ends once its measures get worse. On the other folds only the best cells of each
measure are tried, so that most of the time goes to cells that may be chosen.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from limo._checks import Checked, Truth, check_truth
from limo._types import Anything, Values
from limo._views import Pattern
from limo.losses._sums import loss
from limo.losses._term import Term
from limo.measures._compute import plain_values
from limo.measures._conventions import CONVENTIONS
from limo.measures._measure import Measure
from limo.models._limo_average import Cell, Prepared, Solving
from limo.models._limo_plan import LOGISTIC, Candidate
from limo.thresholds._fit import ConstantLabels, Folds, label_matrix
from limo.thresholds._rules import GlobalThreshold, LabelThreshold, ThresholdRule
from limo.thresholds._scores import join_scores
from limo.thresholds._target import Target, check_target

# How many cells of a measure remain after the first fold, and how many logistic ones at least.
_KEPT, _KEPT_LOGISTIC = 16, 3
# How far behind the best a cell may be: its share falls by e with every so many standard errors.
_STANDARD_ERRORS = 2.0
# Cells with less than this share, relative to the best, are not worth a fit.
_SMALLEST_SHARE = 0.1
# The share of the logistic regression with the lowest log loss. A log loss is far less noisy than
# most measures, so this cell is a safe choice; the rest goes to the cells of the measure.
LOGISTIC_SHARE = 0.5
# A path ends after so many values of alpha without a new best one.
_PATIENCE = 2


@dataclass(eq=False)
class Trial:
    """A cell with its held-out scores, and the values of the measures, fold by fold.

    ``values`` has only measures that still consider the cell; ``first`` has the first fold.
    """

    cell: Cell
    scores: list[Anything]
    values: dict[str, list[float]]
    first: dict[str, float]

    def row(self, measures: Sequence[Measure]) -> dict[str, Any]:
        """Its row in the table of results; nan for measures that do not try it."""
        line: dict[str, Any] = {"terms": self.cell.terms, "alpha": self.cell.alpha}
        for m in measures:
            values = self.values.get(m.name, [self.first.get(m.name, np.nan)])
            line[f"mean_{m.name}"] = float(np.mean(values))
            line[f"std_{m.name}"] = float(np.std(values))
            line[f"folds_{m.name}"] = 0 if np.isnan(values[0]) else len(values)
        return line


def shares_of(trials: Sequence[Trial], measure: Measure) -> dict[Cell, float]:
    """How much each cell counts in the average for a measure; the shares add up to 1.

    The share falls with the distance from the best cell, in standard errors: values that differ by
    less than chance count almost alike. The standard error is the median, over the cells, of that
    of the difference from the best over the folds.
    """
    complete = [t for t in trials if len(t.values.get(measure.name, ())) == len(t.scores) > 0]
    values = measure.sign * np.array([t.values[measure.name] for t in complete])
    means = values.mean(axis=1)
    undefined = np.isnan(means)
    means = np.where(undefined, 0.0 if undefined.all() else -np.inf, means)
    behind = means.max() - means
    n_folds = values.shape[1]
    others = np.delete(values - values[means.argmax()], means.argmax(), axis=0)
    error = 0.0
    others = others[np.isfinite(others).all(axis=1)]
    if n_folds > 1 and len(others):
        error = float(np.median(others.std(axis=1, ddof=1))) / np.sqrt(n_folds)
    with np.errstate(divide="ignore", invalid="ignore"):
        raw = np.where(behind > 0, np.exp(-behind / (_STANDARD_ERRORS * error)), 1.0)
    raw = np.where(raw < _SMALLEST_SHARE, 0.0, raw)
    return {
        t.cell: float(share) for t, share in zip(complete, raw / raw.sum(), strict=True) if share
    }


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Labels of held-out instances, nan where they are missing, and what the instances weigh."""

    labels: Any
    weights: Values | None

    @property
    def given(self) -> dict[str, Any]:
        """The options for functions of these labels: weights, and how missing labels are marked."""
        options: dict[str, Any] = {} if self.weights is None else {"sample_weight": self.weights}
        return options | ({"missing": np.nan} if self.labels.dtype.kind == "f" else {})

    @cached_property
    def truth(self) -> Truth:
        """The labels, checked once for all cells and measures."""
        return check_truth(self.labels, **self.given)

    def values(self, measures: Sequence[Measure], S: Any = None, P: Any = None) -> dict[str, float]:
        """The values of the measures; each view of the scores is read once for all of them."""
        if not measures:
            return {}
        labels = None if P is None else Pattern.from_flat(np.flatnonzero(P), P.shape)
        checked = Checked(self.truth.Y, S, labels, None)
        return plain_values(measures, checked, CONVENTIONS["standard"])

    def fit(self, rule: ThresholdRule, S: Values, X: Any = None) -> ThresholdRule:
        """Fit a threshold rule to scores; rules that take no weights get none."""
        if rule.takes_weights or self.weights is None:
            return rule.fit_checked(self.truth.Y, join_scores(self.truth, S), X)
        return HeldOut(self.labels, None).fit(rule, S, X)


@dataclass(frozen=True, eq=False)
class Fold:
    """Training rows, and held-out rows.

    ``strength`` is how many times as much all instances weigh as the training rows. Losses are
    means, and the ridge that suits a mean falls with the number of instances: alpha is for all of
    them, and a fold takes ``strength`` times as much.
    """

    X: Any
    Y: Pattern
    X_test: Any
    test: "HeldOut"
    strength: float
    _known: dict[Solving, Prepared] = field(default_factory=dict)

    def prepared(self, solving: Solving) -> Prepared:
        """The training features as a solver takes them, kept for all losses."""
        if solving not in self._known:
            self._known[solving] = solving.prepare(self.X, self.Y.row_weights)
        return self._known[solving]

    def scores(
        self, solving: Solving, terms: tuple[Term, ...], alphas: Sequence[float]
    ) -> Iterator[Values]:
        """The held-out scores for each alpha."""
        constant_labels = ConstantLabels.among(self.Y)
        own = [self.strength * alpha for alpha in alphas]
        for solution, constant in solving.path(self.prepared(solving), self.Y, terms, own):
            S = np.asarray(self.X_test @ solution.W[: self.X.shape[1]])
            if constant:
                S += constant * solution.W[-1]
            yield constant_labels.complete(S)

    def values(self, measures: Sequence[Measure], S: Values) -> dict[str, float]:
        """The measures of held-out scores.

        Measures of labels have the threshold that suits these very scores: that is optimistic, but
        equally so for all cells.
        """
        of_scores = [m for m in measures if m.needs == "scores"]
        results = self.test.values(of_scores, S)
        for m in measures:
            if m.needs == "labels":
                P = self.test.fit(simple_rule(m), S).predict(S)
                results |= self.test.values([m], P=P)
        return results


def simple_rule(measure: Measure) -> ThresholdRule:
    """A threshold to compare cells with: one per label if the measure looks at labels, else one."""
    kind = LabelThreshold if measure.threshold == "label" else GlobalThreshold
    return kind(_target_of(measure))


@lru_cache
def _target_of(measure: Measure) -> Target:
    """Looked up once: on very small data that takes a fifth of the time of a fit."""
    return check_target(measure.name)


def explore(
    fold: Fold, solving: Solving, candidate: Candidate, measures: Sequence[Measure]
) -> list[tuple[Values, dict[str, float]]]:
    """Follow a path until no measure has had a new best value for a while.

    A measure has values up to the end of its own path, so that they do not depend on which other
    measures are asked for.
    """
    tried: list[tuple[Values, dict[str, float]]] = []
    best = {m.name: (-np.inf, 0) for m in measures}
    open_ = list(measures)
    for k, S in enumerate(fold.scores(solving, candidate.terms, candidate.alphas)):
        values = fold.values(open_, S)
        tried.append((S, values))
        for m in open_:
            value = m.sign * values[m.name]
            if value > best[m.name][0] or k == 0:
                best[m.name] = (value, k)
        open_ = [m for m in open_ if k - best[m.name][1] < _PATIENCE]
        if not open_:
            break
    return tried


@dataclass(frozen=True, eq=False)
class Search:
    """The folds, and what each measure tries on them."""

    X: Any
    Y: Pattern
    rows: Folds
    solving: Solving
    measures: Sequence[Measure]
    candidates: dict[str, list[Candidate]]
    n_jobs: int | None = None
    tick: Callable[[int], object] = bool

    def run(self) -> list[Trial]:
        """All trials, in the order of the candidates and of falling alpha."""
        asking = {
            c: [m for m in self.measures if c in self.candidates[m.name]]
            for c in dict.fromkeys(c for m in self.measures for c in self.candidates[m.name])
        }
        first, *others = (self._fold(train, test) for train, test in self.rows)
        trials = self._first_fold(first, asking)
        kept = self._kept(trials)
        for trial in trials:
            if trial not in kept:
                trial.scores.clear()
        paths = [[t for t in kept if t.cell.terms == c.terms] for c in asking]
        self._other_folds(others, [path for path in paths if path])
        for trial in kept:
            self._judge_labels(trial)
        return trials

    def _first_fold(self, fold: Fold, asking: dict[Candidate, list[Measure]]) -> list[Trial]:
        trials = []
        work = [(fold, self.solving, c, ms) for c, ms in asking.items()]
        for candidate, path in zip(asking, self._run(explore, work), strict=True):
            for alpha, (S, values) in zip(candidate.alphas, path, strict=False):
                known = {name: [value] for name, value in values.items()}
                cell = Cell(candidate.terms, alpha)
                trials.append(Trial(cell, [_stored(S)], known, values))
            self.tick(len(candidate.alphas))
        return trials

    def _other_folds(self, folds: list[Fold], paths: list[list[Trial]]) -> None:
        of_scores = [m for m in self.measures if m.needs == "scores"]
        jobs = [(fold, path) for fold in folds for path in paths]
        work = [(fold, self.solving, path[0].cell.terms, _alphas(path)) for fold, path in jobs]
        for (fold, path), scores in zip(jobs, self._run(_held_out, work), strict=True):
            for trial, S in zip(path, scores, strict=True):
                trial.scores.append(_stored(S))
                asked = [m for m in of_scores if m.name in trial.values]
                for name, value in fold.test.values(asked, S).items():
                    trial.values[name].append(value)
            self.tick(len(path))

    def _judge_labels(self, trial: Trial) -> None:
        """Measures of labels, each fold with a threshold fitted on the scores of the others."""
        for m in self.measures:
            if m.needs == "labels" and m.name in trial.values:
                trial.values[m.name] = [
                    self._label_value(m, trial, k) for k in range(len(self.rows))
                ]

    def _label_value(self, measure: Measure, trial: Trial, k: int) -> float:
        others, known, test = self._sides[k]
        S = np.concatenate([trial.scores[j] for j in others]).astype(np.float64)
        rule = known.fit(simple_rule(measure), S)
        P = rule.predict(trial.scores[k].astype(np.float64))
        return test.values([measure], P=P)[measure.name]

    @cached_property
    def _sides(self) -> list[tuple[list[int], HeldOut, HeldOut]]:
        """For each fold: the other folds, their labels, and its own."""
        tests = [test for _, test in self.rows]
        others = [[j for j in range(len(tests)) if j != k] or [k] for k in range(len(tests))]
        return [
            (own, self.held_out(np.concatenate([tests[j] for j in own])), self.held_out(test))
            for own, test in zip(others, tests, strict=True)
        ]

    def log_loss(self, trial: Trial) -> float:
        """The mean logistic loss of the held-out scores of a logistic cell."""
        tests = [test for _, test in self.rows][: len(trial.scores)]
        S = np.concatenate(trial.scores, dtype=np.float64)
        test = self.held_out(np.concatenate(tests))
        return loss(test.labels, S, LOGISTIC, **test.given)

    def spread(self, trial: Trial) -> float:
        """The standard deviation of the held-out scores."""
        tests = [test for _, test in self.rows][: len(trial.scores)]
        own = self.Y.row_weights
        weights = None if own is None else own[np.concatenate(tests)]
        S = np.concatenate(trial.scores, dtype=np.float64)
        mean = np.average(S.mean(axis=1), weights=weights)
        squares = np.square(S - mean).mean(axis=1)
        return float(np.sqrt(np.average(squares, weights=weights))) or 1.0

    @cached_property
    def labels(self) -> Any:
        """The labels as a matrix, with nan where they are missing."""
        return label_matrix(self.Y, as_sparse=True)

    def held_out(self, rows: Any) -> HeldOut:
        """The labels of some instances."""
        own = self.Y.row_weights
        return HeldOut(self.labels[rows], None if own is None else own[rows])

    def most_likely(self, trials: list[Trial]) -> Cell | None:
        """The logistic cell with the lowest log loss; None if logistic regression is not tried."""
        known = [t for t in trials if t.cell.terms == LOGISTIC and len(t.scores) == len(self.rows)]
        return min(known, key=self.log_loss).cell if known else None

    def _fold(self, train: Any, test: Any) -> Fold:
        given = self.held_out(train)
        Y = check_truth(given.labels, **given.given).Y
        return Fold(self.X[train], Y, self.X[test], self.held_out(test), self._weight / _weight(Y))

    @cached_property
    def _weight(self) -> float:
        return _weight(self.Y)

    def _run(self, function: Callable[..., Any], work: list[tuple[Any, ...]]) -> Iterator[Any]:
        """Call a function one time after the other, each on all cores; or in several processes."""
        if self.n_jobs is None:
            return (function(*inputs) for inputs in work)
        calls = (delayed(function)(*inputs) for inputs in work)
        return iter(Parallel(n_jobs=self.n_jobs, return_as="generator")(calls))

    def _kept(self, trials: list[Trial]) -> list[Trial]:
        """The trials that are among the best of some measure, and the best logistic ones."""
        kept: set[int] = set()
        for m in self.measures:
            value = {
                k: m.sign * trial.first[m.name]
                for k, trial in enumerate(trials)
                if m.name in trial.first
            }
            ranked = sorted(value, key=value.__getitem__, reverse=True)
            logistic = [k for k in ranked if trials[k].cell.terms == LOGISTIC]
            chosen = {*ranked[:_KEPT], *logistic[:_KEPT_LOGISTIC]}
            for k in set(ranked) - chosen:
                del trials[k].values[m.name]
            kept |= chosen
        logistic = [k for k, trial in enumerate(trials) if trial.cell.terms == LOGISTIC]
        kept |= set(sorted(logistic, key=lambda k: self.log_loss(trials[k]))[:_KEPT_LOGISTIC])
        return [trials[k] for k in sorted(kept)]


def _held_out(
    fold: Fold, solving: Solving, terms: tuple[Term, ...], alphas: list[float]
) -> list[Values]:
    return list(fold.scores(solving, terms, alphas))


def _weight(Y: Pattern) -> float:
    """What the instances weigh together, at least 1."""
    return max(1.0, float(Y.shape[0] if Y.row_weights is None else Y.row_weights.sum()))


def _alphas(path: list[Trial]) -> list[float]:
    return [trial.cell.alpha for trial in path]


def _stored(S: Values) -> Anything:
    """Scores in half the memory."""
    return S.astype(np.float32)
