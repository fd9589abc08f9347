"""Learners fitted where the rows of a Dask collection are: margin classifiers, and a search."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from limo._settings import check_name, check_number
from limo._views import Pattern
from limo.dask._cluster import Cluster, blocks_of, client_of, dask, is_collection
from limo.losses import Term
from limo.measures._measure import Measure
from limo.measures._table import MEASURES
from limo.models import _limo
from limo.models._limo_average import Solving
from limo.models._limo_blocks import (
    Fold,
    Weights,
    check_plain,
    chosen_of,
    evaluate_over,
    fit_over,
    fit_rule_over,
    solve_path,
    summarise,
    take_weights,
)
from limo.models._limo_plan import candidates_for
from limo.thresholds._fit import make_rule
from limo.thresholds._rules import ThresholdRule


class _Distributed:
    """Lets a margin classifier take Dask collections; other input goes to its base class."""

    def fit(
        self: Any, X: Any, y: Any = None, sample_weight: Any = None, *, client: Any = None
    ) -> Any:
        """Fit the weights, and the threshold on scores of instances they have not seen.

        Parameters
        ----------
        X : dask array or data frame of shape (n_samples, n_features)
            Features. Blocks are dense arrays, CSR matrices or data frames; chunk sizes may be
            unknown. Each block must fit the memory of a worker twice.
        y : dask array or data frame of shape (n_samples, n_labels)
            Labels, 0 or 1, in the blocks of X.
        sample_weight : None
            Only for data in memory.
        client : distributed.Client, optional
            The cluster; by default the client in use.

        Returns
        -------
        self
        """
        if not is_collection(X):
            return super().fit(X, y, sample_weight)  # type: ignore[misc]
        self._check_settings()
        check_plain(self, sample_weight)
        fit_over(self, Cluster(client_of(client), blocks_of(X, y)))
        if isinstance(X, dask.dataframe.DataFrame):
            self.feature_names_in_ = np.array(list(map(str, X.columns)), dtype=object)
        return self

    def decision_function(self: Any, X: Any) -> Any:
        """Scores of the labels; for a Dask collection an array that is computed on demand."""
        if not is_collection(X):
            return super().decision_function(X)  # type: ignore[misc]
        return _lazily(self, "decision_function", X, np.float64)

    def predict(self: Any, X: Any) -> Any:
        """Labels whose scores exceed the threshold; an array that is computed on demand."""
        if not is_collection(X):
            return super().predict(X)  # type: ignore[misc]
        return _lazily(self, "predict", X, np.int64)

    def to_local(self: Any) -> Any:
        """The fitted model as one of ``limo``, which model files and all other functions take."""
        kind = next(base for base in type(self).__mro__ if base.__module__ == "limo")
        model = kind(**self.get_params(deep=False))
        vars(model).update(vars(self))
        return model


def _lazily(model: Any, method: str, X: Any, kind: Any) -> Any:
    """Call a method of the model for each block of rows."""
    local, n_labels = model.to_local(), model.coef_.shape[0]
    if isinstance(X, dask.dataframe.DataFrame):
        names, known = list(map(str, X.columns)), getattr(model, "feature_names_in_", None)
        if known is not None and names != known.tolist():
            raise ValueError(
                "The columns of X must be those of training, in the same order: expected "
                f"{known.tolist()[:4]}, got {names[:4]}."
            )
        X = X.to_dask_array()
    if hasattr(local, "feature_names_in_"):
        del local.feature_names_in_  # blocks are plain arrays, and the names are checked
    if X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    call = _OfBlock(local, method, n_labels)
    return X.map_blocks(
        call, chunks=(X.chunks[0], (n_labels,)), dtype=kind, meta=np.empty((0, n_labels), kind)
    )


class _OfBlock:
    """A method of a model as a function of a block; a block without rows gives one."""

    def __init__(self, model: Any, method: str, n_labels: int) -> None:
        self.model, self.method, self.n_labels = model, method, n_labels
        self.__name__ = method  # what Dask calls the tasks

    def __call__(self, X: Any) -> Any:
        if not X.shape[0]:
            return np.empty((0, self.n_labels))
        return getattr(self.model, self.method)(X)


class MarginClassifier(_Distributed, _limo.MarginClassifier):
    """:class:`limo.MarginClassifier`, fitted where the rows of a Dask collection are.

    The same objective over all pairs is minimised to the same certified gap, by the same solver.
    It runs where ``fit`` is called; the workers compute the objective. Per evaluation the weights
    and their gradient move, and for the views "columns" and "entries" the scores of the relevant
    entries, a few times; never the features, and never all scores. A worker that is lost costs
    what it had computed.

    Parameters, attributes
        As for :class:`limo.MarginClassifier`, with ``threshold_cv`` a number of folds or
        ``"training"``. Folds are drawn within each block. A single threshold and thresholds per
        label are exact for F1 and Hamming loss; other rules are fitted to a sample of at most four
        million scores.
    """

    __module__ = "limo.dask"  # the public name


class LIMOClassifier(_Distributed, _limo.LIMOClassifier):
    """:class:`limo.LIMOClassifier`, fitted where the rows of a Dask collection are.

    See :class:`limo.dask.MarginClassifier`, which takes any loss.

    Examples
    --------
    >>> import dask.array, distributed, limo
    >>> client = distributed.Client(processes=False, n_workers=1, dashboard_address=":0")
    >>> data = limo.datasets.figure1(200)
    >>> X, Y = (dask.array.from_array(one, chunks=(50, -1)) for one in (data.X, data.Y))
    >>> model = limo.dask.LIMOClassifier().fit(X, Y)
    >>> model.solution_.converged
    True
    >>> model.predict(X)
    dask.array<predict, shape=(200, 4), dtype=int64, chunksize=(50, 4), chunktype=numpy.ndarray>
    >>> client.close()
    """

    __module__ = "limo.dask"  # the public name


# Losses, regularisation and threshold, chosen by cross-validation


@dataclass(frozen=True, eq=False)
class _Trial:
    """A loss with an alpha: its models of the folds, and the measure of their held-out scores."""

    terms: tuple[Term, ...]
    alpha: float
    models: list[Weights]
    value: float
    rule: ThresholdRule


class LIMOClassifierCV(BaseEstimator):  # type: ignore[misc]
    """Choose losses, alpha and threshold for a measure by cross-validation on Dask collections.

    It tries the losses of :class:`limo.LIMOClassifierCV` along paths of falling alpha. Folds are
    drawn within each block, and the held-out scores of all instances are evaluated where they are,
    exactly. Unlike :class:`limo.LIMOClassifierCV` it takes the best loss and alpha alone, for one
    measure, and averages no models.

    Parameters
    ----------
    measure : str, default="macro_f1"
        The measure to train for, any of ``limo.MEASURES``.
    terms, alphas, fit_intercept, intercept_scaling, tol, max_iter
        As for :class:`limo.LIMOClassifierCV`.
    cv : int, default=3
        The number of folds.
    threshold : None, rule or name, optional
        How labels are cut out of scores; by default as :func:`limo.suggest_threshold` says. It is
        fitted to the held-out scores.
    threshold_measure : str, default="micro_f1"
        The measure for which ``predict`` cuts if the chosen measure needs no threshold.
    callback : callable, optional
        Called with the number of losses tried and their number.

    Attributes
    ----------
    best_params_ : dict
        The terms and the alpha of the best model.
    best_score_ : float
        The measure of its held-out scores. If it is a measure of labels, the threshold was fitted
        to the same scores, so it is a little optimistic.
    best_estimator_ : limo.dask.MarginClassifier
        The model, fitted to all instances.
    cv_results_ : dict of list
        ``terms``, ``alpha`` and ``value`` of all that were tried.

    Examples
    --------
    >>> import dask.array, distributed, limo
    >>> client = distributed.Client(processes=False, n_workers=1, dashboard_address=":0")
    >>> data = limo.datasets.figure1(200)
    >>> X, Y = (dask.array.from_array(one, chunks=(50, -1)) for one in (data.X, data.Y))
    >>> search = limo.dask.LIMOClassifierCV("macro_auc", alphas=[1e-2, 1e-3]).fit(X, Y)
    >>> bool(search.best_score_ > 0.8)
    True
    >>> client.close()
    """

    __module__ = "limo.dask"  # the public name

    def __init__(
        self,
        measure: str = "macro_f1",
        *,
        terms: Sequence[Any] | None = None,
        alphas: Sequence[float] | None = None,
        cv: int = 3,
        fit_intercept: bool = True,
        intercept_scaling: float = 3.0,
        tol: float = 5e-3,
        max_iter: int = 1000,
        threshold: Any = None,
        threshold_measure: str = "micro_f1",
        callback: Callable[[int, int], None] | None = None,
    ) -> None:
        self.measure = measure
        self.terms = terms
        self.alphas = alphas
        self.cv = cv
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.tol = tol
        self.max_iter = max_iter
        self.threshold = threshold
        self.threshold_measure = threshold_measure
        self.callback = callback

    def fit(self, X: Any, y: Any, *, client: Any = None) -> "LIMOClassifierCV":
        """Try all losses and alphas on folds, and fit the best one to all instances.

        Parameters
        ----------
        X, y : dask array or data frame
            As for :class:`limo.dask.MarginClassifier`.
        client : distributed.Client, optional
            The cluster; by default the client in use.

        Returns
        -------
        self
        """
        measure = MEASURES[check_name(self.measure, MEASURES, "measure")]
        check_number(self.cv, "cv", least=2, integer=True)
        rule = make_rule(self.threshold, self._aim(measure))
        engine = Cluster(client_of(client), blocks_of(X, y))
        trials = list(self._trials(engine, measure, rule))
        known = [trial for trial in trials if not math.isnan(trial.value)] or trials
        best = max(known, key=lambda trial: measure.sign * trial.value)
        (weights,) = solve_path(engine, best.terms, [best.alpha], Solving.of(self))
        model = MarginClassifier(
            best.terms,
            alpha=best.alpha,
            fit_intercept=self.fit_intercept,
            intercept_scaling=self.intercept_scaling,
            tol=self.tol,
            max_iter=self.max_iter,
            threshold_measure=self._aim(measure),
        )
        take_weights(model, weights)
        model._set_threshold(best.rule)
        if hasattr(X, "columns"):
            model.feature_names_in_ = np.array(list(map(str, X.columns)), dtype=object)
        self.best_estimator_, self.best_score_ = model, best.value
        self.best_params_ = {"terms": best.terms, "alpha": best.alpha}
        names = ("terms", "alpha", "value")
        self.cv_results_ = {name: [getattr(one, name) for one in trials] for name in names}
        return self

    def decision_function(self, X: Any) -> Any:
        """Scores of the labels; for a Dask collection an array that is computed on demand."""
        return self.best_estimator_.decision_function(X)

    def predict(self, X: Any) -> Any:
        """Labels whose scores exceed the threshold; an array that is computed on demand."""
        return self.best_estimator_.predict(X)

    def to_local(self) -> Any:
        """The model as a :class:`limo.MarginClassifier`."""
        return self.best_estimator_.to_local()

    def _aim(self, measure: Measure) -> str:
        """The measure that thresholds are fitted to."""
        return self.threshold_measure if measure.threshold is None else measure.name

    def _trials(self, engine: Cluster, measure: Measure, rule: ThresholdRule) -> Iterator[_Trial]:
        totals = summarise(engine).totals
        some = Pattern.from_flat(np.zeros(1, dtype=np.int64), (1, totals.ones.size))
        candidates = candidates_for([measure], some, self.terms, self.alphas, totals)[measure.name]
        folds = [engine.derive(chosen_of, Fold(k, self.cv, inside=False)) for k in range(self.cv)]
        for done, candidate in enumerate(candidates, 1):
            how = candidate.terms, candidate.alphas, Solving.of(self)
            paths = [solve_path(fold, *how, for_rows=totals.n_rows) for fold in folds]
            for alpha, models in zip(candidate.alphas, zip(*paths, strict=True), strict=True):
                yield self._judged(engine, measure, rule, candidate.terms, alpha, list(models))
            if self.callback is not None:
                self.callback(done, len(candidates))

    def _judged(
        self,
        engine: Cluster,
        measure: Measure,
        rule: ThresholdRule,
        terms: tuple[Term, ...],
        alpha: float,
        models: list[Weights],
    ) -> _Trial:
        fitted = fit_rule_over(engine, rule, models) if rule.needs_fit else rule
        values = evaluate_over(engine, models, [measure], fitted)
        return _Trial(terms, alpha, models, values[measure.name], fitted)
