"""LIMO for a measure: losses, regularisation and threshold chosen by cross-validation.

``_limo_plan`` says which losses and alphas suit a measure, ``_limo_search`` tries them, and
``_limo_average`` averages the best ones. :class:`LIMOClassifierCV` is the estimator.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from limo._checks import weighted
from limo._settings import check_callback, check_flag, check_n_jobs, check_name, check_number
from limo._system import Later, at_most
from limo._types import Values, check_kind
from limo._views import Pattern
from limo.measures._measure import Measure
from limo.measures._table import MEASURES
from limo.models._base import MultiLabelClassifier
from limo.models._limo_average import AveragedClassifier, Cell, Solved, Solving
from limo.models._limo_plan import candidates_for
from limo.models._limo_search import LOGISTIC_SHARE, Search, Trial, shares_of
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


class LIMOClassifierCV(MultiLabelClassifier):
    """The linear model for a measure: losses, regularisation and threshold by cross-validation.

    For each measure it tries the losses of :mod:`limo.losses` that suit it, one logistic regression
    per label among them, along paths of falling alpha. All measures share the held-out scores, so
    that all eleven cost one cross-validation. Cells that are behind on the first fold are not tried
    on the others.

    The best cell of a grid is partly a matter of luck. So the model is an average. One half is the
    logistic regression with the lowest log loss, which is the least noisy choice. The other half
    goes to all cells that are about as good as the best, each with a share that falls by e for
    every two standard errors that it is behind. An average of linear models is one linear model.
    Its threshold is fitted on the held-out scores of the search.

    Parameters
    ----------
    measure : str or list of str, default="macro_f1"
        The measure to train for, any of ``limo.MEASURES``. If there are several, ``predict`` and
        ``decision_function`` use the model for the first, and :meth:`model_for` returns the others.
    terms : sequence, optional
        The losses to try, each a :class:`limo.losses.Term`, a list of them, or their names such as
        ``"rows mean + columns mean"``; by default those that suit each measure, which
        ``docs/learning.md`` lists.
    alphas : sequence of float, optional
        Regularisation strengths to try with every loss, relative to the mean squared length of the
        rows; by default nine half decades that suit the loss. They are for all instances: a fold
        takes as many times more as all instances are more than its training instances.
    cv : int, splitter or iterable, default=3
        The number of folds (stratified by label), a scikit-learn splitter, or pairs of rows.
    average : bool, default=True
        Whether to average cells as described above, or to take the best alone.
    fit_intercept, intercept_scaling, max_iter, working_memory
        As for :class:`limo.MarginClassifier`.
    tol : float, default=5e-3
        The certified gap of every fit. Looser fits are faster, but their scores are noisier.
    threshold : None, rule or name, default="auto"
        How labels are cut out of scores. "auto" tries all kinds (:class:`limo.AutoThreshold`);
        None is the kind that suits the measure, as :func:`limo.suggest_threshold` says.
    threshold_cv : int, splitter or iterable, optional
        Fits the threshold on the scores of these folds instead of those of the search, which takes
        as many more fits of the chosen model.
    threshold_measure : str, default="micro_f1"
        The measure for which ``predict`` cuts if the chosen measure needs no threshold.
    n_jobs : int or None, default=None
        The number of processes that share the losses and folds; -1 for one per core. None makes one
        fit after the other, each on all cores.
    callback : callable, optional
        Called with the number of fits done and the largest number there may be.
    missing : number, optional
        The number that stands for a missing label in ``y``: nan or -1. Such entries take no part in
        any pair, mean or threshold.

    Attributes
    ----------
    cv_results_ : dict of array
        One entry per cell that was tried: ``terms``, ``alpha``, and for each measure
        ``mean_<measure>`` and ``std_<measure>`` over the folds, ``folds_<measure>``, the number of
        folds, and ``share_<measure>``, its share of the model. Nan if the measure does not try it.
    best_params_ : dict
        The terms and the alpha of the best cell for the first measure.
    best_params_by_measure_ : dict of dict
        The best cell for each measure.
    models_ : dict of AveragedClassifier
        A model for each measure, fitted on all data; its ``members`` are the cells it consists of.

    Examples
    --------
    >>> import limo
    >>> train, test = limo.datasets.split(limo.datasets.figure1(300))
    >>> search = limo.LIMOClassifierCV(["macro_auc", "ranking_loss"], alphas=[1e-2, 1e-3])
    >>> search = search.fit(train.X, train.Y)
    >>> sorted(search.best_params_)
    ['alpha', 'terms']
    >>> limo.macro_auc(test.Y, search.decision_function(test.X)) > 0.8
    True
    """

    __module__ = "limo"  # the public name, which model files contain

    def __init__(
        self,
        measure: str | Sequence[str] = "macro_f1",
        *,
        terms: Sequence[Any] | None = None,
        alphas: Sequence[float] | None = None,
        cv: Any = 3,
        average: bool = True,
        fit_intercept: bool = True,
        intercept_scaling: float = 3.0,
        tol: float = 5e-3,
        max_iter: int = 1000,
        working_memory: float | None = None,
        threshold: Any = "auto",
        threshold_cv: Any = None,
        threshold_measure: str = "micro_f1",
        n_jobs: int | None = None,
        callback: Callable[[int, int], object] | None = None,
        missing: float | None = None,
    ) -> None:
        self.measure = measure
        self.terms = terms
        self.alphas = alphas
        self.cv = cv
        self.average = average
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.tol = tol
        self.max_iter = max_iter
        self.working_memory = working_memory
        self.threshold = threshold
        self.threshold_cv = threshold_cv
        self.threshold_measure = threshold_measure
        self.n_jobs = n_jobs
        self.callback = callback
        self.missing = missing

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Search the losses and alphas, then fit the best cells on all data.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        y : array-like or sparse matrix of shape (n_samples, n_labels)
            Labels, 0 or 1 (or -1 and 1, or two strings); or one label with two classes. Only with
            ``missing`` may labels be missing.
        sample_weight : array-like of shape (n_samples,), optional
            How much each instance counts, in the losses, in the measures and for the thresholds: 2
            as much as two equal instances. Thresholds per instance are then not tried.

        Returns
        -------
        self
        """
        measures, solving = self._measures(), self._solving()
        X, Y = self._check_training(X, y, missing=self.missing)
        Y = weighted(Y, sample_weight)
        candidates = candidates_for(measures, Y, self.terms, self.alphas)
        rows = folds_of(self.cv, X, label_matrix(Y, as_sparse=True))
        cells = {
            (c.terms, alpha) for found in candidates.values() for c in found for alpha in c.alphas
        }
        progress = _Progress(self.callback, (len(rows) + 1) * len(cells))
        search = Search(X, Y, rows, solving, measures, candidates, self.n_jobs, progress.tick)
        with at_most(None):
            trials = search.run()
            likely = search.most_likely(trials)
            shares = {m.name: self._shares(trials, m, likely) for m in measures}
            chosen = dict.fromkeys(cell for found in shares.values() for cell in found)
            solved = solving.solve(X, Y, chosen)
            self.models_ = {
                m.name: self._model(m, shares[m.name], search, trials, solved, Y) for m in measures
            }
        progress.finish()
        self.n_folds_ = len(rows)
        self.cv_results_ = _table(trials, measures, shares)
        self.best_params_by_measure_ = {
            m.name: _params(max(shares[m.name], key=shares[m.name].__getitem__)) for m in measures
        }
        self.best_params_ = self.best_params_by_measure_[measures[0].name]
        self.n_iter_ = self._first.n_iter_
        return self

    def model_for(self, measure: str) -> AveragedClassifier:
        """The model fitted for one of the measures."""
        if not hasattr(self, "models_"):
            raise NotFittedError("LIMOClassifierCV is not fitted yet: call fit first.")
        name = check_name(MEASURES.canonical(measure), self.models_, "measure here")
        model: AveragedClassifier = self.models_[name]
        return model

    def decision_function(self, X: Any) -> Values:
        """Scores of the model for the first measure."""
        return self._scores(self._first._raw_scores(self._check_instances(X)))

    def predict(self, X: Any) -> Any:
        """Labels of the model for the first measure."""
        return self._first.predict(self._check_instances(X))

    def plot(self, measure: str | None = None, *, ax: Any = None) -> Any:
        """Draw a measure over alpha: a line for each loss, with bars of one standard error.

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
        ax = plt.subplots(layout="constrained")[1] if ax is None else ax
        results = self.cv_results_
        tried = results[f"folds_{name}"] > 0
        for terms in dict.fromkeys(results["terms"][tried].tolist()):
            own = tried & np.array([one == terms for one in results["terms"].tolist()])
            error = results[f"std_{name}"][own] / np.sqrt(results[f"folds_{name}"][own])
            ax.errorbar(
                results["alpha"][own],
                results[f"mean_{name}"][own],
                error,
                capsize=2,
                marker="o",
                label=" + ".join(map(str, terms)),
            )
        ax.set(xscale="log", xlabel="alpha", ylabel=MEASURES[name].title)
        ax.legend()
        return ax

    @property
    def _first(self) -> AveragedClassifier:
        return self.model_for(self._measures()[0].name)

    def _measures(self) -> list[Measure]:
        check_kind(self.measure, Iterable, "measure must be a name or a list of names")
        names = [self.measure] if isinstance(self.measure, str) else list(self.measure)
        if not names:
            raise ValueError("measure must name at least one measure to train for, got none.")
        known = dict.fromkeys(check_name(name, MEASURES, "measure") for name in names)
        return [MEASURES[name] for name in known]

    def _solving(self) -> Solving:
        for name in ("intercept_scaling", "tol"):
            check_number(getattr(self, name), name, above=0)
        check_number(self.max_iter, "max_iter", least=1, integer=True)
        if self.working_memory is not None:
            check_number(self.working_memory, "working_memory", above=0)
        for name in ("fit_intercept", "average"):
            check_flag(getattr(self, name), name)
        check_n_jobs(self.n_jobs)
        check_callback(self.callback)
        model = AveragedClassifier((), **self._common())
        return model._solving()

    def _common(self) -> dict[str, Any]:
        """The parameters that the models share with the search."""
        names = (
            "fit_intercept",
            "intercept_scaling",
            "tol",
            "max_iter",
            "working_memory",
            "missing",
        )
        return {name: getattr(self, name) for name in names}

    def _shares(
        self, trials: list[Trial], measure: Measure, logistic: Cell | None
    ) -> dict[Cell, float]:
        shares = shares_of(trials, measure)
        if not self.average:
            return {max(shares, key=shares.__getitem__): 1.0}
        if logistic is None:
            return shares
        rest = {cell: (1 - LOGISTIC_SHARE) * share for cell, share in shares.items()}
        return rest | {logistic: rest.get(logistic, 0.0) + LOGISTIC_SHARE}

    def _model(
        self,
        measure: Measure,
        shares: dict[Cell, float],
        search: Search,
        trials: list[Trial],
        solved: dict[Cell, Solved],
        Y: Pattern,
    ) -> AveragedClassifier:
        """The average of the cells of a measure, with its threshold."""
        members = [trial for trial in trials if trial.cell in shares]
        # Losses differ in the size of their scores: the average gives them a common one. A single
        # model keeps its own, which means a probability if it is logistic.
        weights = [
            shares[trial.cell] / search.spread(trial) if len(members) > 1 else 1.0
            for trial in members
        ]
        cells = [trial.cell for trial in members]
        aim = self.threshold_measure if measure.threshold is None else measure.name
        model = AveragedClassifier(
            tuple((c.terms, c.alpha, w) for c, w in zip(cells, weights, strict=True)),
            **self._common(),
            threshold_measure=aim,
        )
        model._combine(solved, Y)
        rule = make_rule(self.threshold if measure.threshold else None, aim)
        model._set_threshold(self._fit_rule(rule, model, members, weights, search))
        model._code_as(self)
        return model

    def _fit_rule(
        self,
        rule: ThresholdRule,
        model: AveragedClassifier,
        members: list[Trial],
        weights: list[float],
        search: Search,
    ) -> ThresholdRule:
        X, own = search.X, search.Y.row_weights
        if self.threshold_cv is not None:
            labels = label_matrix(search.Y, as_sparse=True)
            folds = threshold_folds(self.threshold_cv, X, labels)
            missing = None if search.Y.unknown is None else np.nan
            # alpha is for all instances, as in the search
            more = _strength(folds, np.ones(labels.shape[0]) if own is None else own)
            larger = [(terms, more * alpha, weight) for terms, alpha, weight in model.members]
            plain = clone(model).set_params(members=larger, threshold_measure=None, missing=missing)
            given = {} if own is None else {"sample_weight": own}
            training = Training(
                plain, X, labels, folds, params=given, n_jobs=self.n_jobs, sample_weight=own
            )
            return training.fit_rule(rule)
        if not rule.needs_fit:
            return rule
        parts = zip(members, weights, strict=True)
        S = np.sum([w * np.concatenate(t.scores, dtype=np.float64) for t, w in parts], axis=0)
        rows = np.concatenate([test for _, test in search.rows])
        return search.held_out(rows).fit(rule, S, X[rows] if rule.needs_features else None)


class _Progress:
    """Counts fits, and reports them to a callback."""

    def __init__(self, callback: Callable[[int, int], object] | None, total: int) -> None:
        self.callback, self.total, self.done = callback, total, 0

    def tick(self, fits: int) -> None:
        self.done += fits
        if self.callback is not None:
            self.callback(self.done, self.total)

    def finish(self) -> None:
        """Count fits that are skipped as done."""
        self.tick(self.total - self.done)


def _strength(folds: Folds, weights: Values) -> float:
    """How many times as much all instances weigh as the training rows of a fold, on average."""
    return float(np.mean([weights.sum() / weights[train].sum() for train, _ in folds]))


def _params(cell: Cell) -> dict[str, Any]:
    return {"terms": cell.terms, "alpha": cell.alpha}


def _table(
    trials: list[Trial], measures: list[Measure], shares: dict[str, dict[Cell, float]]
) -> dict[str, Any]:
    """The rows of all trials, as columns."""
    lines = [trial.row(measures) for trial in trials]
    columns = {
        name: np.array([line[name] for line in lines]) for name in lines[0] if name != "terms"
    }
    terms = np.empty(len(lines), dtype=object)
    terms[:] = [line["terms"] for line in lines]
    share = {
        f"share_{name}": np.array([own.get(trial.cell, 0.0) for trial in trials])
        for name, own in shares.items()
    }
    return {"terms": terms, **columns, **share}
