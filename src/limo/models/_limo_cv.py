"""LIMO for a measure: regularisation, margins and threshold chosen by cross-validation.

:class:`LIMOClassifierCV` is the estimator. Its grid is searched along paths of falling alpha, one
:class:`Paths` for all of them, and each cell of the grid is a :class:`Trial`.
"""

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.parallel import Parallel, delayed

from limo._checks import check_inputs, check_name
from limo._system import Later
from limo._types import Integers, Values
from limo._views import ROWS, VIEWS
from limo.measures._compute import compute
from limo.measures._conventions import CONVENTIONS
from limo.measures._measure import Measure
from limo.measures._table import MEASURES
from limo.models._base import MultiLabelClassifier
from limo.models._limo import LIMOClassifier
from limo.thresholds._fit import (
    Folds,
    Training,
    folds_of,
    label_matrix,
    make_rule,
    threshold_folds,
)
from limo.thresholds._rules import ThresholdRule

plt = Later("matplotlib.pyplot")

Weights = tuple[float, float, float]

WEIGHT_NAMES = tuple(view.weight for view in VIEWS.values())
# Each margin alone, the paper's two together, and all three.
WEIGHTS: tuple[Weights, ...] = ((1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (1, 1, 1))
# Half decades: on CAL500, whole decades miss the best.
ALPHAS = tuple(10 ** (-k / 2) for k in range(1, 11))


class LIMOClassifierCV(MultiLabelClassifier):
    """LIMO tuned for a measure by cross-validation.

    Chooses alpha, the weights of the three margins and the kind of threshold by cross-validation.
    For each choice of weights, the folds are solved along a path of falling alpha, each from the
    solution before. All measures share the held-out scores, so that all eleven cost one
    cross-validation. A measure of labels is evaluated with each kind of threshold that may suit it,
    fitted on the scores of the other folds. Models trained on less data have shifted scores, so the
    best threshold is refitted on more folds in the end.

    Parameters
    ----------
    measure : str or list of str, default="macro_f1"
        The measure to train for, any of ``limo.MEASURES``. If there are several, ``predict`` and
        ``decision_function`` use the model for the first, and :meth:`model_for` returns the others.
    alphas : sequence of float, optional
        Regularisation strengths to try, relative to the mean squared length of the rows, as for
        :class:`LIMOClassifier`; by default ten half decades, from 0.32 to 1e-5.
    weights : sequence of (float, float, float)
        Weights of the label-wise, instance-wise and entry-wise margin to try; by default each
        alone, the first two together, and all three.
    cv : int, splitter or iterable, default=3
        The number of folds (stratified by label), a scikit-learn splitter, or pairs of rows.
    loss, pair_weight, fit_intercept, intercept_scaling, tol, max_iter, working_memory
        As for :class:`LIMOClassifier`.
    threshold_cv : int, splitter or iterable, default=10
        The folds on whose scores the thresholds for measures of labels are fitted in the end, at
        most one per instance.
    threshold_measure : str, default="micro_f1"
        The measure for which ``predict`` cuts if the chosen measure needs no threshold; this
        threshold is fitted on the scores of the search.
    n_jobs : int or None, default=None
        The number of processes that share the choices of weights, and the folds; -1 for one per
        core. None makes one fit after the other, each on all cores, which is better for large
        data and saves memory.
    callback : callable, optional
        Called with the number of fits done and the total, after each fit or, with several
        processes, after each choice of weights. Fits that measures share count for each.

    Attributes
    ----------
    cv_results_ : dict of array
        One entry per cell of the grid: ``label_weight``, ``instance_weight``, ``entry_weight``,
        ``alpha``, and ``mean_<measure>`` and ``std_<measure>`` over the folds; for measures of
        labels also ``threshold_<measure>``, the best kind of threshold.
    best_params_ : dict
        The best cell for the first measure.
    best_params_by_measure_ : dict of dict
        The best cell for each measure.
    best_thresholds_ : dict of str
        For each measure of labels the kind of threshold chosen: "label", "instance" or "global".
    models_ : dict of LIMOClassifier
        A model for each measure, fitted on all data; equal cells share their weights.

    Examples
    --------
    >>> import limo
    >>> train, test = limo.datasets.split(limo.datasets.figure1(300))
    >>> search = limo.LIMOClassifierCV(["macro_auc", "ranking_loss"], alphas=[1e-2, 1e-3])
    >>> search = search.fit(train.X, train.Y)
    >>> sorted(search.best_params_)
    ['alpha', 'entry_weight', 'instance_weight', 'label_weight']
    >>> limo.macro_auc(test.Y, search.decision_function(test.X)) > 0.8
    True
    """

    __module__ = "limo"  # the public name, which model files contain

    def __init__(
        self,
        measure: str | Sequence[str] = "macro_f1",
        *,
        alphas: Sequence[float] | None = None,
        weights: Sequence[Weights] = WEIGHTS,
        cv: Any = 3,
        loss: str = "squared_hinge",
        pair_weight: str = "measure",
        fit_intercept: bool = True,
        intercept_scaling: float = 3.0,
        tol: float = 1e-2,
        max_iter: int = 1000,
        working_memory: float | None = None,
        threshold_cv: Any = 10,
        threshold_measure: str = "micro_f1",
        n_jobs: int | None = None,
        callback: Callable[[int, int], object] | None = None,
    ) -> None:
        self.measure = measure
        self.alphas = alphas
        self.weights = weights
        self.cv = cv
        self.loss = loss
        self.pair_weight = pair_weight
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.tol = tol
        self.max_iter = max_iter
        self.working_memory = working_memory
        self.threshold_cv = threshold_cv
        self.threshold_measure = threshold_measure
        self.n_jobs = n_jobs
        self.callback = callback

    def fit(self, X: Any, y: Any) -> Self:
        """Search the grid, then fit the best cells on all data.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        y : array-like or sparse matrix of shape (n_samples, n_labels)
            Labels, 0 or 1 (or -1 and 1, or two strings); or one label with two classes.

        Returns
        -------
        self
        """
        measures = self._measures()
        X, Y = self._check_training(X, y)
        labels = label_matrix(Y, as_sparse=True)
        paths = self._paths(X, labels, measures)
        folds = threshold_folds(self.threshold_cv, X, labels)
        progress = _Progress(
            self.callback,
            len(self.weights) * paths.n_fits + sum(_n_refits(m.name, folds) for m in measures),
        )
        lines: list[dict[str, Any]] = []
        best: dict[str, Trial] = {}
        for path_lines, path_best in self._walk(paths, X, labels, progress):
            lines += path_lines
            for m in measures:
                if better(m, path_best[m.name], best.get(m.name)):
                    best[m.name] = path_best[m.name]
        self.n_folds_ = len(paths.folds)
        self.cv_results_ = {name: np.array([line[name] for line in lines]) for name in lines[0]}
        self.best_params_by_measure_ = {m.name: best[m.name].params for m in measures}
        self.best_thresholds_ = {
            name: kind for name, trial in best.items() if (kind := trial.judged[name].threshold)
        }
        self.best_params_ = self.best_params_by_measure_[measures[0].name]
        self.models_ = self._refit(paths, X, labels, best, folds, progress)
        self.n_iter_ = self._first.n_iter_
        return self

    def model_for(self, measure: str) -> LIMOClassifier:
        """The model fitted for one of the measures."""
        if not hasattr(self, "models_"):
            raise NotFittedError("LIMOClassifierCV is not fitted yet: call fit first.")
        model: LIMOClassifier = self.models_[check_name(measure, self.models_, "measure here")]
        return model

    def decision_function(self, X: Any) -> Values:
        """Scores of the model for the first measure."""
        return self._scores(self._first._raw_scores(self._check_instances(X)))

    def predict(self, X: Any) -> Any:
        """Labels of the model for the first measure."""
        return self._first.predict(self._check_instances(X))

    def plot(self, measure: str | None = None, *, ax: Any = None) -> Any:
        """Draw a measure over alpha: a line per choice of weights, with bars of one standard error.

        Parameters
        ----------
        measure : str, optional
            One of the measures trained for; by default the first.
        ax : matplotlib axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        matplotlib axes
        """
        name = measure or self._measures()[0].name
        self.model_for(name)
        ax = _axes() if ax is None else ax
        found = self.cv_results_
        cells = np.column_stack([found[k] for k in WEIGHT_NAMES])
        for weights in dict.fromkeys(map(tuple, cells.tolist())):
            own = (cells == weights).all(axis=1)
            mean, error = found[f"mean_{name}"][own], found[f"std_{name}"][own]
            ax.errorbar(
                found["alpha"][own],
                mean,
                error / np.sqrt(self.n_folds_),
                capsize=2,
                marker="o",
                label="{:g}, {:g}, {:g}".format(*weights),
            )
        ax.set(xscale="log", xlabel="alpha", ylabel=MEASURES[name].title)
        ax.legend(title="label, instance, entry")
        return ax

    @property
    def _first(self) -> LIMOClassifier:
        return self.model_for(self._measures()[0].name)

    def _measures(self) -> list[Measure]:
        names = [self.measure] if isinstance(self.measure, str) else list(self.measure)
        if not names:
            raise ValueError("measure must name at least one measure to train for, got none.")
        return [MEASURES[check_name(name, MEASURES, "measure")] for name in names]

    def _paths(self, X: Any, labels: Any, measures: list[Measure]) -> "Paths":
        given = ALPHAS if self.alphas is None else map(float, self.alphas)
        alphas = tuple(sorted(given, reverse=True))
        if not alphas or not len(self.weights):
            raise ValueError("alphas and weights must each hold at least one choice.")
        model = LIMOClassifier(
            loss=self.loss,
            pair_weight=self.pair_weight,
            fit_intercept=self.fit_intercept,
            intercept_scaling=self.intercept_scaling,
            tol=self.tol,
            max_iter=self.max_iter,
            working_memory=self.working_memory,
            threshold_measure=None,
            warm_start=True,
        )
        return Paths(model, alphas, folds_of(self.cv, X, labels), tuple(measures))

    def _walk(
        self, paths: "Paths", X: Any, labels: Any, progress: "_Progress"
    ) -> "Iterator[tuple[list[dict[str, Any]], dict[str, Trial]]]":
        """Search every path, in this process or in several, and report progress."""
        if self.n_jobs is None:
            for choice in self.weights:
                yield paths.best(choice, X, labels, progress.tick)
            return
        work = (delayed(paths.best)(choice, X, labels) for choice in self.weights)
        for found in Parallel(n_jobs=self.n_jobs, return_as="generator")(work):
            progress.tick(paths.n_fits)
            yield found

    def _refit(
        self,
        paths: "Paths",
        X: Any,
        labels: Any,
        best: "dict[str, Trial]",
        folds: Folds,
        progress: "_Progress",
    ) -> dict[str, LIMOClassifier]:
        """A model for each measure. Measures with the same best cell share weights and scores."""
        models = {}
        for trial, names in _by_trial(best).items():
            fresh = clone(paths.model).set_params(**trial.params, warm_start=False)
            training = Training(fresh, X, labels, folds, n_jobs=self.n_jobs)
            fitted = clone(fresh).fit(X, labels)
            for name in names:
                kind = trial.judged[name].threshold
                if kind is None:
                    rule = make_rule(None, self.threshold_measure)
                    rule.fit(labels[paths.rows], trial.S)
                else:
                    rule = training.fit_rule(make_rule(kind, name))
                models[name] = self._with_threshold(fitted, rule)
            progress.tick(sum(_n_refits(name, folds) for name in names))
        return {name: models[name] for name in best}

    def _with_threshold(self, fitted: LIMOClassifier, rule: ThresholdRule) -> LIMOClassifier:
        model: LIMOClassifier = copy(fitted)
        model.set_params(threshold_measure=rule.get_params()["target"])
        model._set_threshold(rule)
        model._code_as(self)
        return model


class _Progress:
    """Counts fits, and reports them to a callback."""

    def __init__(self, callback: Callable[[int, int], object] | None, total: int) -> None:
        self.callback, self.total, self.done = callback, total, 0

    def tick(self, fits: int = 1) -> None:
        self.done += fits
        if self.callback is not None:
            self.callback(self.done, self.total)


def _by_trial(best: "dict[str, Trial]") -> "dict[Trial, list[str]]":
    """The measures that chose each trial."""
    found: dict[Trial, list[str]] = {}
    for name, trial in best.items():
        found.setdefault(trial, []).append(name)
    return found


def _n_refits(measure: str, folds: Folds) -> int:
    """One fit on all data, and one per fold if there is a threshold to fit."""
    return 1 + (len(folds) if MEASURES[measure].threshold else 0)


def _axes() -> Any:
    """Axes of a new figure."""
    return plt.subplots(layout="constrained")[1]


# The search: one path of falling alpha for each choice of weights


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
    """One cell of the grid: its held-out scores, and their value by each measure."""

    weights: Weights
    alpha: float
    S: Values
    judged: dict[str, Judged]

    @property
    def params(self) -> dict[str, float]:
        """The cell as parameters of LIMOClassifier."""
        weights = zip(WEIGHT_NAMES, map(float, self.weights), strict=True)
        return dict(weights) | {"alpha": self.alpha}

    @property
    def row(self) -> dict[str, Any]:
        """Its row in the table of results."""
        line: dict[str, Any] = dict(self.params)
        for name, judged in self.judged.items():
            line[f"mean_{name}"] = judged.mean
            line[f"std_{name}"] = float(np.std(judged.values))
            if judged.threshold is not None:
                line[f"threshold_{name}"] = judged.threshold
        return line


def better(measure: Measure, new: Trial, old: Trial | None) -> bool:
    """Whether a trial is better by a measure than the best one so far."""
    return old is None or _beats(measure, new.judged[measure.name], old.judged[measure.name])


def _beats(measure: Measure, new: Judged, old: Judged) -> bool:
    return measure.sign * new.mean > measure.sign * old.mean or bool(np.isnan(old.mean))


@dataclass(frozen=True, eq=False)
class Paths:
    """What all paths of a search share; :meth:`walk` follows one of them."""

    model: LIMOClassifier
    alphas: tuple[float, ...]
    folds: Folds
    measures: tuple[Measure, ...]

    @property
    def rows(self) -> Integers:
        """The held-out instances, fold after fold: the rows of a trial's scores."""
        return np.concatenate([test for _, test in self.folds])

    @property
    def n_fits(self) -> int:
        """The number of fits along a path."""
        return len(self.alphas) * len(self.folds)

    def best(
        self, weights: Weights, X: Any, labels: Any, tick: Callable[[], object] | None = None
    ) -> tuple[list[dict[str, Any]], dict[str, Trial]]:
        """Follow a path: the rows of all its trials, and the best trial for each measure."""
        lines, best = [], dict[str, Trial]()
        for trial in self.walk(weights, X, labels, tick):
            lines.append(trial.row)
            best |= {m.name: trial for m in self.measures if better(m, trial, best.get(m.name))}
        return lines, best

    def walk(
        self, weights: Weights, X: Any, labels: Any, tick: Callable[[], object] | None = None
    ) -> Iterator[Trial]:
        """Try each alpha in turn, each fold starting from its solution for the alpha before.

        Only the scores of one trial are in memory at a time.
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
            judged = self._score_values(labels, scores) | self._label_values(labels, scores)
            yield Trial(weights, alpha, np.concatenate(scores), judged)

    def _score_values(self, labels: Any, scores: list[Values]) -> dict[str, Judged]:
        """The measures of scores, by fold."""
        measures = [m for m in self.measures if m.needs == "scores"]
        folds = [
            _values(measures, labels[test], S)
            for (_, test), S in zip(self.folds, scores, strict=True)
        ]
        return {m.name: Judged(np.array([f[m.name] for f in folds]), None) for m in measures}

    def _label_values(self, labels: Any, scores: list[Values]) -> dict[str, Judged]:
        """The measures of labels, by fold, under the best kind of threshold."""
        found: dict[str, Judged] = {}
        for m in self.measures:
            for kind in _kinds(m):
                values = [self._label_value(m, kind, labels, scores, k) for k in range(len(scores))]
                judged = Judged(np.array(values), kind)
                if m.name not in found or _beats(m, judged, found[m.name]):
                    found[m.name] = judged
        return found

    def _label_value(
        self, measure: Measure, kind: str, labels: Any, scores: list[Values], k: int
    ) -> float:
        """A measure of labels on one fold, with a threshold fitted on the scores of the others."""
        others = [j for j in range(len(self.folds)) if j != k] or [k]
        rows = np.concatenate([self.folds[j][1] for j in others])
        known = np.concatenate([scores[j] for j in others])
        rule = make_rule(kind, measure.name).fit(labels[rows], known)
        P = rule.predict(scores[k])
        return _values([measure], labels[self.folds[k][1]], P=P)[measure.name]


def _kinds(measure: Measure) -> Iterator[str]:
    """Kinds of threshold to try: the one that suits the measure, a global one, one per label.

    For measures of single instances, thresholds per label cannot be optimised one by one.
    """
    if measure.threshold is not None:
        by_label = () if measure.view is ROWS else ("label",)
        yield from dict.fromkeys((measure.threshold, "global", *by_label))


def _values(measures: list[Measure], Y: Any, S: Any = None, P: Any = None) -> dict[str, float]:
    """The values of the measures; each view of the scores is read once for all of them."""
    if not measures:
        return {}
    results = compute(measures, check_inputs(Y, S, P), CONVENTIONS["standard"]).results
    return {name: float(result.value) for name, result in results.items()}
