"""LIMO aimed at a measure: strength, margins and threshold chosen by cross-validation."""

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.parallel import Parallel, delayed

from limo._checks import check_name
from limo._system import Later
from limo._types import Values
from limo.measures._measure import Measure
from limo.measures._table import MEASURES
from limo.models._base import MultiLabelClassifier
from limo.models._limo import LIMOClassifier
from limo.models._paths import WEIGHT_NAMES, Paths, Trial, Weights, better
from limo.thresholds._fit import (
    Folds,
    cross_fit,
    folds_of,
    label_matrix,
    make_rule,
    threshold_folds,
)

__all__ = ["LIMOClassifierCV"]


plt = Later("matplotlib.pyplot")

# Each margin alone, the paper's two together, and all three.
WEIGHTS: tuple[Weights, ...] = ((1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (1, 1, 1))
# Half decades: on CAL500 whole ones step over the best.
ALPHAS = tuple(10 ** (-k / 2) for k in range(1, 11))


class LIMOClassifierCV(MultiLabelClassifier):
    """LIMO trained for the measure you are judged on.

    Chooses alpha, the weights of the three margins and the threshold by cross-validation. The folds
    of one choice of weights are solved along a path of falling alpha, each from the solution of
    the one before. Scores of instances left out serve every measure, so that aiming at all eleven
    costs one cross-validation. A measure of labels is judged under the kinds of threshold that may
    serve it, fitted on the other folds' scores. For the best cell the best kind is then fitted anew
    on more folds: scores of models that saw less of the data lie elsewhere.

    Parameters
    ----------
    measure : str or list of str, default="macro_f1"
        What to aim at, any of ``limo.MEASURES``. The first of several is what ``predict`` and
        ``decision_function`` serve; :meth:`model_for` gives the others.
    alphas : sequence of float, optional
        Strengths of the ridge to try; by default the mean squared length of the rows of X (1 for
        unit rows) times ten half decades, from 0.32 to 1e-5.
    weights : sequence of (float, float, float)
        Weights of the label-wise, instance-wise and entry-wise margin to try; by default each
        alone, the first two together, and all three.
    cv : int, splitter or iterable, default=3
        Folds: a number of them (stratified by label), a scikit-learn splitter, or pairs of rows.
    loss, pair_weight, fit_intercept, intercept_scaling, tol, max_iter, working_memory
        As for :class:`LIMOClassifier`.
    threshold_cv : int, splitter or iterable, default=10
        Folds whose scores the thresholds of measures of labels are fitted on, in the end; a number
        of them is at most that of instances.
    threshold_measure : str, default="micro_f1"
        What ``predict`` cuts for where the measure aimed at needs no threshold; that one is fitted
        on the scores of the search.
    n_jobs : int or None, default=None
        Processes that share the choices of weights, and folds; -1 for one on each core. None
        makes one fit after the other, each on all cores: better for large data, and frugal with
        memory.
    callback : callable, optional
        Told how many fits are done and how many there are, after each or, with several
        processes, after each choice of weights. Fits that measures share count for each.

    Attributes
    ----------
    cv_results_ : dict of array
        One entry per cell: ``label_weight``, ``instance_weight``, ``entry_weight``, ``alpha``, and
        ``mean_<measure>`` and ``std_<measure>`` over the folds; for measures of labels also
        ``threshold_<measure>``, the kind of threshold that did best.
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
            Labels, 0 or 1; or one label with two classes.

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
        """Give the model fitted for one of the measures aimed at."""
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
        """Draw a measure over alpha, a line for each choice of weights, one standard error around.

        Parameters
        ----------
        measure : str, optional
            One of the measures aimed at; by default the first.
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
            raise ValueError("measure must name at least one measure to aim at, got none.")
        return [MEASURES[check_name(name, MEASURES, "measure")] for name in names]

    def _alphas(self, X: Any) -> list[float]:
        if self.alphas is not None:
            return list(map(float, self.alphas))
        length = float((X.multiply(X) if sparse.issparse(X) else np.square(X)).sum() / X.shape[0])
        return [alpha * (length or 1.0) for alpha in ALPHAS]

    def _paths(self, X: Any, labels: Any, measures: list[Measure]) -> Paths:
        alphas = tuple(sorted(self._alphas(X), reverse=True))
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
        self, paths: Paths, X: Any, labels: Any, progress: "_Progress"
    ) -> Iterator[tuple[list[dict[str, Any]], dict[str, Trial]]]:
        """Every path, here or in processes; progress is told on the way."""
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
        paths: Paths,
        X: Any,
        labels: Any,
        best: dict[str, Trial],
        folds: Folds,
        progress: "_Progress",
    ) -> dict[str, LIMOClassifier]:
        """A model for each measure; those of one cell share their weights, and scores to cut."""
        models = {}
        for trial, names in _by_trial(best).items():
            fresh = clone(paths.model).set_params(**trial.params, warm_start=False)
            fitted = clone(fresh).fit(X, labels)
            rows, S = paths.rows, trial.S
            if any(MEASURES[name].threshold for name in names):
                rows, S = cross_fit(
                    fresh, X, labels, folds, probabilities=False, params={}, n_jobs=self.n_jobs
                )
            for name in names:
                models[name] = self._with_threshold(fitted, name, trial, labels[rows], S)
            progress.tick(sum(_n_refits(name, folds) for name in names))
        return {name: models[name] for name in best}

    def _with_threshold(
        self, fitted: LIMOClassifier, measure: str, trial: Trial, labels: Any, S: Values
    ) -> LIMOClassifier:
        """The model with the threshold of its measure, fitted on scores of rows left out."""
        kind = trial.judged[measure].threshold
        wanted = measure if kind else self.threshold_measure
        model: LIMOClassifier = copy(fitted)
        model.set_params(threshold_measure=wanted)
        model._settle(make_rule(kind, wanted).fit(labels, S))
        model.target_form_, model.classes_ = self.target_form_, self.classes_
        return model


class _Progress:
    """Counts fits, and tells of them."""

    def __init__(self, callback: Callable[[int, int], object] | None, total: int) -> None:
        self.callback, self.total, self.done = callback, total, 0

    def tick(self, fits: int = 1) -> None:
        self.done += fits
        if self.callback is not None:
            self.callback(self.done, self.total)


def _by_trial(best: dict[str, Trial]) -> dict[Trial, list[str]]:
    """The measures that chose each trial."""
    found: dict[Trial, list[str]] = {}
    for name, trial in best.items():
        found.setdefault(trial, []).append(name)
    return found


def _n_refits(measure: str, folds: Folds) -> int:
    """Fits on all data, and on all but a fold where there is a threshold to fit."""
    return 1 + (len(folds) if MEASURES[measure].threshold else 0)


def _axes() -> Any:
    """Axes of a new figure, shown by whatever shows pictures here."""
    return plt.subplots(layout="constrained")[1]
