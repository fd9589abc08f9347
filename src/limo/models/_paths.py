"""Cross-validation of LIMO along paths of falling alpha, for any number of measures at once."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from limo._checks import check_inputs
from limo._types import Integers, Values
from limo._views import ROWS
from limo.measures._compute import compute
from limo.measures._conventions import CONVENTIONS
from limo.measures._measure import Measure
from limo.models._limo import LIMOClassifier
from limo.thresholds._fit import Folds, make_rule

__all__ = ["WEIGHT_NAMES", "Judged", "Paths", "Trial", "Weights", "better"]


Weights = tuple[float, float, float]

WEIGHT_NAMES = ("label_weight", "instance_weight", "entry_weight")


@dataclass(frozen=True, eq=False)
class Judged:
    """One measure of one trial, fold by fold, and the kind of threshold it was judged under."""

    values: Values
    threshold: str | None

    @property
    def mean(self) -> float:
        """Mean over the folds."""
        return float(np.mean(self.values))


@dataclass(frozen=True, eq=False)
class Trial:
    """One cell of the grid: its scores of instances left out, and what each measure says."""

    weights: Weights
    alpha: float
    S: Values
    judged: dict[str, Judged]

    @property
    def params(self) -> dict[str, float]:
        """Its settings, as LIMOClassifier names them."""
        weights = zip(WEIGHT_NAMES, map(float, self.weights), strict=True)
        return dict(weights) | {"alpha": self.alpha}

    @property
    def row(self) -> dict[str, Any]:
        """Its line in the table of results."""
        line: dict[str, Any] = dict(self.params)
        for name, judged in self.judged.items():
            line[f"mean_{name}"] = judged.mean
            line[f"std_{name}"] = float(np.std(judged.values))
            if judged.threshold is not None:
                line[f"threshold_{name}"] = judged.threshold
        return line


def better(measure: Measure, new: Trial, old: Trial | None) -> bool:
    """Whether a trial serves a measure better than the best one so far."""
    return old is None or _beats(measure, new.judged[measure.name], old.judged[measure.name])


def _beats(measure: Measure, new: Judged, old: Judged) -> bool:
    return measure.sign * new.mean > measure.sign * old.mean or bool(np.isnan(old.mean))


@dataclass(frozen=True, eq=False)
class Paths:
    """What all paths of a search share; :meth:`walk` goes along one of them."""

    model: LIMOClassifier
    alphas: tuple[float, ...]
    folds: Folds
    measures: tuple[Measure, ...]

    @property
    def rows(self) -> Integers:
        """The instances left out, fold after fold: the rows of a trial's scores."""
        return np.concatenate([test for _, test in self.folds])

    @property
    def n_fits(self) -> int:
        """How many models a path takes."""
        return len(self.alphas) * len(self.folds)

    def best(
        self, weights: Weights, X: Any, labels: Any, tick: Callable[[], object] | None = None
    ) -> tuple[list[dict[str, Any]], dict[str, Trial]]:
        """Walk a path: the lines of all its trials, and the best trial for each measure."""
        lines, best = [], dict[str, Trial]()
        for trial in self.walk(weights, X, labels, tick):
            lines.append(trial.row)
            best |= {m.name: trial for m in self.measures if better(m, trial, best.get(m.name))}
        return lines, best

    def walk(
        self, weights: Weights, X: Any, labels: Any, tick: Callable[[], object] | None = None
    ) -> Iterator[Trial]:
        """Try each alpha in turn, every fold from its solution of the one before.

        Scores are those of one trial at a time: a path takes no more memory than a step.
        """
        chosen = dict(zip(WEIGHT_NAMES, weights, strict=True))
        models = [clone(self.model).set_params(**chosen) for _ in self.folds]
        for alpha in self.alphas:
            scores = []
            for model, (train, test) in zip(models, self.folds, strict=True):
                model.set_params(alpha=alpha).fit(X[train], labels[train])
                scores.append(model.decision_function(X[test]))
                if tick is not None:
                    tick()
            judged = self._rankings(labels, scores) | self._cuts(labels, scores)
            yield Trial(weights, alpha, np.concatenate(scores), judged)

    def _rankings(self, labels: Any, scores: list[Values]) -> dict[str, Judged]:
        """The measures of scores, on each fold."""
        measures = [m for m in self.measures if m.needs == "scores"]
        folds = [
            _values(measures, labels[test], S)
            for (_, test), S in zip(self.folds, scores, strict=True)
        ]
        return {m.name: Judged(np.array([f[m.name] for f in folds]), None) for m in measures}

    def _cuts(self, labels: Any, scores: list[Values]) -> dict[str, Judged]:
        """The measures of labels, on each fold, under the kind of threshold that does best."""
        found: dict[str, Judged] = {}
        for m in self.measures:
            for kind in _kinds(m):
                values = [self._cut(m, kind, labels, scores, k) for k in range(len(scores))]
                judged = Judged(np.array(values), kind)
                if m.name not in found or _beats(m, judged, found[m.name]):
                    found[m.name] = judged
        return found

    def _cut(self, measure: Measure, kind: str, labels: Any, scores: list[Values], k: int) -> float:
        """A measure of labels on one fold, its threshold fitted on the scores of the others."""
        others = [j for j in range(len(self.folds)) if j != k] or [k]
        rows = np.concatenate([self.folds[j][1] for j in others])
        known = np.concatenate([scores[j] for j in others])
        rule = make_rule(kind, measure.name).fit(labels[rows], known)
        P = rule.predict(scores[k])
        return _values([measure], labels[self.folds[k][1]], P=P)[measure.name]


def _kinds(measure: Measure) -> Iterator[str]:
    """Kinds of threshold to try: what suits the measure, one for all, and one for each label.

    Where single instances are judged, thresholds of labels cannot be found one by one.
    """
    if measure.threshold is not None:
        by_label = () if measure.view is ROWS else ("label",)
        yield from dict.fromkeys((measure.threshold, "global", *by_label))


def _values(measures: list[Measure], Y: Any, S: Any = None, P: Any = None) -> dict[str, float]:
    """The measures, each view of the scores being read once for all of them."""
    if not measures:
        return {}
    results = compute(measures, check_inputs(Y, S, P), CONVENTIONS["standard"]).results
    return {name: float(result.value) for name, result in results.items()}
