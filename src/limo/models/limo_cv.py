"""LIMO aimed at a measure: strength, margins and threshold chosen by cross-validation."""

import importlib
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.exceptions import NotFittedError

from limo._checks import check_inputs, check_name
from limo._types import Integers, Values
from limo.measures.base import Measure
from limo.measures.compute import compute
from limo.measures.conventions import CONVENTIONS
from limo.measures.table import MEASURES
from limo.models.limo import LIMOClassifier
from limo.models.multilabel import MultiLabelClassifier
from limo.pattern import Pattern
from limo.thresholds.crossfit import Folds, folds_of, label_matrix
from limo.thresholds.suggest import suggest_threshold

__all__ = ["LIMOClassifierCV"]

Grid = tuple[float, float, float]

# Each margin alone, the paper's two together, and all three.
WEIGHTS: tuple[Grid, ...] = ((1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (1, 1, 1))
ALPHAS = (1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5)


@dataclass(frozen=True, eq=False)
class _Trial:
    """One cell of the grid: its scores of instances left out, and each measure fold by fold."""

    weights: Grid
    alpha: float
    S: Values
    values: dict[str, Values]


class LIMOClassifierCV(MultiLabelClassifier):
    """LIMO trained for the measure you are judged on.

    Chooses alpha, the weights of the three margins and the threshold by cross-validation. The folds
    of one choice of weights are solved along a path of falling alpha, each from the solution of
    the one before. Scores of instances left out serve every measure, so that aiming at all eleven
    costs one cross-validation. A measure of labels is judged under the threshold that suits it,
    fitted on the other folds' scores; the final threshold is fitted on all of them.

    Parameters
    ----------
    measure : str or list of str, default="macro_f1"
        What to aim at, any of ``limo.MEASURES``. The first of several is what ``predict`` and
        ``decision_function`` serve; :meth:`model_for` gives the others.
    alphas : sequence of float, optional
        Strengths of the ridge to try; by default the mean squared length of the rows of X (1 for
        unit rows) times the powers of ten from 1 to 1e-5.
    weights : sequence of (float, float, float)
        Weights of the label-wise, instance-wise and entry-wise margin to try; by default each
        alone, the first two together, and all three.
    cv : int, splitter or iterable, default=3
        Folds: a number of them (stratified by label), a scikit-learn splitter, or pairs of rows.
    loss, pair_weight, fit_intercept, tol, max_iter, working_memory
        As for :class:`LIMOClassifier`.
    threshold_measure : str, default="micro_f1"
        What ``predict`` cuts for where the measure aimed at needs no threshold.
    callback : callable, optional
        Told how many fits are done and how many there are.

    Attributes
    ----------
    cv_results_ : dict of array
        One entry per cell: ``label_weight``, ``instance_weight``, ``entry_weight``, ``alpha``, and
        ``mean_<measure>`` and ``std_<measure>`` over the folds.
    best_params_ : dict
        The best cell for the first measure.
    best_params_by_measure_ : dict of dict
        The best cell for each measure.
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
        weights: Sequence[Grid] = WEIGHTS,
        cv: Any = 3,
        loss: str = "squared_hinge",
        pair_weight: str = "measure",
        fit_intercept: bool = True,
        tol: float = 1e-2,
        max_iter: int = 1000,
        working_memory: float | None = None,
        threshold_measure: str = "micro_f1",
        callback: Callable[[int, int], object] | None = None,
    ) -> None:
        self.measure = measure
        self.alphas = alphas
        self.weights = weights
        self.cv = cv
        self.loss = loss
        self.pair_weight = pair_weight
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.working_memory = working_memory
        self.threshold_measure = threshold_measure
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
        folds = folds_of(self.cv, X, label_matrix(Y, as_sparse=True))
        best: dict[str, _Trial] = {}
        rows = []
        for trial in self._trials(X, Y, folds, measures):
            rows.append(self._row(trial, measures))
            for m in measures:
                if m.name not in best or _beats(m, trial, best[m.name]):
                    best[m.name] = trial
        self.cv_results_ = {name: np.array([row[name] for row in rows]) for name in rows[0]}
        self.best_params_by_measure_ = {m: _params(trial) for m, trial in best.items()}
        self.best_params_ = self.best_params_by_measure_[measures[0].name]
        self.models_ = self._refit(X, Y, _left_out(folds), best)
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
        cells = np.column_stack([found[k] for k in _WEIGHT_NAMES])
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

    def _model(self, weights: Grid, alpha: float) -> LIMOClassifier:
        return LIMOClassifier(
            *weights,
            alpha=alpha,
            loss=self.loss,
            pair_weight=self.pair_weight,
            fit_intercept=self.fit_intercept,
            tol=self.tol,
            max_iter=self.max_iter,
            working_memory=self.working_memory,
            threshold_measure=None,
            warm_start=True,
        )

    def _trials(
        self, X: Any, Y: Pattern, folds: Folds, measures: list[Measure]
    ) -> Iterable[_Trial]:
        """Every cell of the grid, weights by weights."""
        alphas = sorted(self._alphas(X), reverse=True)
        if not alphas or not len(self.weights):
            raise ValueError("alphas and weights must each hold at least one choice.")
        self.n_folds_ = len(folds)
        total, done = len(self.weights) * len(alphas) * len(folds), 0
        labels = label_matrix(Y, as_sparse=True)
        for weights in self.weights:
            scores: dict[float, list[Values]] = {alpha: [] for alpha in alphas}
            for train, test in folds:
                model = self._model(weights, alphas[0])
                for alpha in alphas:
                    model.set_params(alpha=alpha).fit(X[train], labels[train])
                    scores[alpha].append(model.decision_function(X[test]))
                    done += 1
                    if self.callback is not None:
                        self.callback(done, total)
            for alpha in alphas:
                values = self._judge(labels, folds, scores[alpha], measures)
                yield _Trial(weights, alpha, np.concatenate(scores[alpha]), values)

    def _judge(
        self, labels: Any, folds: Folds, scores: list[Values], measures: list[Measure]
    ) -> dict[str, Values]:
        """Each measure on each fold; thresholds for a fold come from the scores of the others."""
        found: dict[str, list[float]] = {m.name: [] for m in measures}
        ranking = [m for m in measures if m.needs == "scores"]
        for k, (_, test) in enumerate(folds):
            checked = check_inputs(labels[test], scores[k])
            results = compute(ranking, checked, CONVENTIONS["standard"]).results
            for m in measures:
                if m.needs == "labels":
                    P = self._cut_fold(labels, folds, scores, k, m.name)
                    judged = check_inputs(labels[test], y_pred=P)
                    results |= compute([m], judged, CONVENTIONS["standard"]).results
                found[m.name].append(results[m.name].value)
        return {name: np.array(values) for name, values in found.items()}

    def _cut_fold(
        self, labels: Any, folds: Folds, scores: list[Values], k: int, measure: str
    ) -> Any:
        others = [j for j in range(len(folds)) if j != k] or [k]
        rows = np.concatenate([folds[j][1] for j in others])
        known = np.concatenate([scores[j] for j in others])
        return suggest_threshold(measure).fit(labels[rows], known).predict(scores[k])

    def _row(self, trial: _Trial, measures: list[Measure]) -> dict[str, float]:
        row = _params(trial)
        for m in measures:
            row[f"mean_{m.name}"] = float(np.mean(trial.values[m.name]))
            row[f"std_{m.name}"] = float(np.std(trial.values[m.name]))
        return row

    def _refit(
        self, X: Any, Y: Pattern, rows: Integers, best: dict[str, _Trial]
    ) -> dict[str, LIMOClassifier]:
        labels = label_matrix(Y, as_sparse=True)
        fitted: dict[tuple[Grid, float], LIMOClassifier] = {}
        models = {}
        for name, trial in best.items():
            cell = (trial.weights, trial.alpha)
            if cell not in fitted:
                fitted[cell] = self._model(*cell).fit(X, labels)
            wanted = name if MEASURES[name].needs == "labels" else self.threshold_measure
            model = copy(fitted[cell]).set_params(threshold_measure=wanted, warm_start=False)
            model.threshold_ = suggest_threshold(wanted).fit(labels[rows], trial.S)
            model.target_form_, model.classes_ = self.target_form_, self.classes_
            models[name] = model
        return models


_WEIGHT_NAMES = ("label_weight", "instance_weight", "entry_weight")


def _axes() -> Any:
    """Axes of a new figure, shown by whatever shows pictures here."""
    plt = importlib.import_module("matplotlib.pyplot")  # loaded when the first one is drawn
    return plt.subplots(layout="constrained")[1]


def _params(trial: _Trial) -> dict[str, float]:
    return dict(zip(_WEIGHT_NAMES, map(float, trial.weights), strict=True)) | {"alpha": trial.alpha}


def _beats(measure: Measure, trial: _Trial, other: _Trial) -> bool:
    new, old = (measure.sign * float(np.mean(t.values[measure.name])) for t in (trial, other))
    return new > old or bool(np.isnan(old))


def _left_out(folds: Folds) -> Integers:
    return np.concatenate([test for _, test in folds])
