"""Linear models that maximise margins, for any loss, and LIMO, whose loss is the paper's.

:class:`LinearClassifier` is the part that does not depend on how the weights are found: checks,
constant labels, threshold and prediction. :class:`MarginClassifier` minimises any list of terms
over all pairs, and :class:`LIMOClassifier` is the same with the paper's terms; ``_limo_sgd`` holds
the estimator that draws pairs.
"""

import warnings
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Self

from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if

from limo._settings import check_name, check_number
from limo._solvers import exact
from limo._solvers.blocks import Local, part_of, rows_per_block

# with "as": models re-exports these, and a stub can name modules of its own package only
from limo._solvers.problem import Features, Problem
from limo._solvers.problem import Iterates as Iterates
from limo._solvers.problem import Progress as Progress
from limo._solvers.problem import Solution as Solution
from limo._system import at_most
from limo._types import Values
from limo._views import Pattern
from limo.losses._term import Term, check_terms
from limo.models._limo_blocks import (
    Weights,
    as_shards,
    check_plain,
    fit_over,
    fit_threshold_over,
    from_shards,
)
from limo.models._linear import LinearClassifier, row_length
from limo.thresholds._calibration import sigmoid
from limo.thresholds._fit import (
    ConstantLabels,
)
from limo.thresholds._rules import ThresholdRule


class LinearMarginClassifier(LinearClassifier):
    """A linear model that minimises one loss by a solver.

    A subclass states its :meth:`_problem` and solves it in :meth:`_solve`.
    """

    alpha: float
    warm_start: bool
    callback: Callable[..., object] | None
    alpha_: float

    @abstractmethod
    def _problem(self, features: Features, Y: Pattern) -> Problem:
        """The problem to minimise."""

    @abstractmethod
    def _solve(self, problem: Problem, before: Solution | None) -> Solution:
        """Minimise it, starting from a former solution if there is one."""

    def _check_settings(self) -> None:
        super()._check_settings()
        check_number(self.alpha, "alpha", above=0)

    def _unit(self, X: Any, weights: Values | None) -> float:
        """The length of a row that ``alpha`` and ``intercept_scaling`` are relative to."""
        return 1.0

    def _fit_weights(self, X: Any, Y: Pattern, before: Solution | None = None) -> None:
        if self.warm_start and before is None:
            before = getattr(self, "solution_", None)
        unit = self._unit(X, Y.row_weights)
        self.alpha_ = float(self.alpha) * unit**2
        constant = float(self.intercept_scaling) * unit if self.fit_intercept else 0.0
        problem = self._problem(Features(X, constant), Y)
        if before is not None and before.W.shape != (problem.features.shape[1], Y.shape[1]):
            before = None
        self.solution_ = self._solve(problem, before)
        self.n_iter_ = self.solution_.iterations
        self._set_weights(self.solution_.W, constant)
        constant_labels = ConstantLabels.among(Y)
        if before is not None and before.iterates is not None:
            # Steps on earlier instances continue: constant means constant in those, too.
            constant_labels = ConstantLabels(
                constant_labels.never & self.never_, constant_labels.always & self.always_
            )
        self.never_, self.always_ = constant_labels.never, constant_labels.always


_LIMO = Term("rows", "mean"), Term("columns", "mean")


def _gives_probabilities(model: "MarginClassifier") -> bool:
    """Whether the loss is the logistic loss of all entries, so that a sigmoid is a probability."""
    terms = [term for term in model._loss_terms() if term.weight]
    return all((t.aggregation, t.base, t.share) == _LOGISTIC for t in terms)


_LOGISTIC = ("pointwise", "logistic", "uniform")


class MarginClassifier(LinearMarginClassifier):
    """Linear multi-label classifier for any loss of :mod:`limo.losses`.

    Scores are S = X W + b. W and b minimise

        alpha r^2 / 2 (||W||^2 + ||b / (c r)||^2) + the terms of the loss of S,

    over all pairs and entries, to a certified gap. r^2 is the mean squared length of the rows of X,
    so that multiplying X by a number does not change predictions. :class:`LIMOClassifier` is the
    same with the paper's terms. A label that no training instance has gets the lowest score of each
    instance and is never predicted; a label that all have gets the highest and is always predicted.

    Parameters
    ----------
    terms : Term or sequence of Term
        The terms of the loss, which are added; by default those of the paper's LIMO, means over
        label pairs and over instance pairs. ``docs/learning.md`` says which terms suit which
        measure.
    alpha : float, default=1e-3
        Regularisation strength, relative to the mean squared length of the rows of X. With the
        term ``Term("entries", "pointwise")`` and without intercept, this is logistic regression
        of each label with C = 1 / (alpha r^2 m l), for m instances and l labels.
    fit_intercept : bool, default=True
        Whether to add a constant feature.
    intercept_scaling : float, default=3.0
        c: the constant feature has the value c r. Its weight is regularised like the others; a
        higher c regularises the intercept less.
    tol, max_iter, threshold_measure, threshold_cv, threshold
        As for :class:`LIMOClassifier`.
    warm_start, callback, n_jobs, working_memory, missing
        As for :class:`LIMOClassifier`. With pointwise terms, ``threshold_measure=None`` cuts at 0,
        which is where a label is as likely as not.

    Attributes
    ----------
    coef_, intercept_, alpha_, solution_, threshold_, never_, always_
        As for :class:`LIMOClassifier`.

    Examples
    --------
    >>> import limo
    >>> from limo.losses import Term
    >>> train, test = limo.datasets.split(limo.datasets.figure1(400))
    >>> model = limo.MarginClassifier(Term("rows", "top")).fit(train.X, train.Y)
    >>> model.solution_.converged
    True
    >>> limo.one_error(test.Y, model.decision_function(test.X)) < 0.05
    True
    """

    __module__ = "limo"  # the public name, which model files contain

    def __init__(
        self,
        terms: Any = _LIMO,
        *,
        alpha: float = 1e-3,
        fit_intercept: bool = True,
        intercept_scaling: float = 3.0,
        tol: float = 1e-2,
        max_iter: int = 1000,
        threshold_measure: str | None = "micro_f1",
        threshold_cv: Any = 5,
        threshold: ThresholdRule | str | None = None,
        warm_start: bool = False,
        callback: Callable[..., object] | None = None,
        n_jobs: int | None = None,
        working_memory: float | None = None,
        missing: float | None = None,
    ) -> None:
        self.terms = terms
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.tol = tol
        self.max_iter = max_iter
        self.threshold_measure = threshold_measure
        self.threshold_cv = threshold_cv
        self.threshold = threshold
        self.warm_start = warm_start
        self.callback = callback
        self.n_jobs = n_jobs
        self.working_memory = working_memory
        self.missing = missing

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the weights, and the threshold on scores of instances they have not seen.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or Shards
            Features. :class:`limo.datasets.Shards`, and memory-mapped arrays beyond
            ``working_memory``, are read block by block in every pass.
        y : array-like or sparse matrix of shape (n_samples, n_labels)
            Labels, 0 or 1 (or -1 and 1, or two strings); or one label with two classes. Only with
            ``missing`` may labels be missing. Shards hold the labels, too; read in blocks, labels
            are 0 and 1, and none is missing.
        sample_weight : array-like of shape (n_samples,), optional
            How much each instance counts, in the loss and for the threshold: 2 as much as two equal
            instances. Thresholds per instance do not use it. Not for data read in blocks.

        Returns
        -------
        self
        """
        limit = exact.bytes_of(self.working_memory)
        shards = as_shards(X, y, limit)
        if shards is None:
            return super().fit(X, y, sample_weight)
        check_plain(self, sample_weight)
        with at_most(self.n_jobs):
            fit_over(self, from_shards(shards, limit))
        return self

    @available_if(_gives_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Values:
        """Probabilities of the labels, if the loss is that of logistic regression.

        That is a single pointwise term with logistic base, in which all entries have the same
        weight. For other losses, ``ThresholdClassifier(model, probability="sigmoid")`` makes
        probabilities of cross-fitted scores.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.

        Returns
        -------
        array of shape (n_samples, n_labels)
            0 for labels that no training instance has, 1 for those that all have. For a
            one-dimensional y: of its two classes.
        """
        S = self._raw_scores(self._check_instances(X)) + self.moved_
        return self._probabilities(self._constant_labels.complete(sigmoid(S), 0.0, 1.0))

    def _loss_terms(self) -> tuple[Term, ...]:
        """The terms of the loss, checked."""
        return check_terms(self.terms)

    def _check_settings(self) -> None:
        super()._check_settings()
        self._loss_terms()
        check_number(self.tol, "tol", above=0)
        check_number(self.max_iter, "max_iter", least=1, integer=True)

    def _problem(self, features: Features, Y: Pattern) -> Problem:
        return Problem(features, Y, self._loss_terms(), self.alpha_)

    def _fit_threshold(self, X: Any, Y: Pattern) -> ThresholdRule:
        limit, given = exact.bytes_of(self.working_memory), isinstance(self.threshold_cv, int | str)
        if rows_per_block(limit, Y.shape[1]) >= Y.shape[0] or not (Y.is_plain and given):
            return super()._fit_threshold(X, Y)
        unit = (self.alpha_ / self.alpha) ** 0.5
        constant = float(self.intercept_scaling) * unit if self.fit_intercept else 0.0
        weights = Weights(self.solution_, constant, self._constant_labels, self.alpha_)
        return fit_threshold_over(self, Local(part_of(X, Y, limit)), weights)

    def _unit(self, X: Any, weights: Values | None) -> float:
        """The root of the mean squared length of the rows, so that the scale of X is irrelevant."""
        return row_length(X, weights)

    def _solve(self, problem: Problem, before: Solution | None) -> Solution:
        solution = exact.solve(
            problem,
            tol=self.tol,
            max_iter=self.max_iter,
            start=before,
            callback=self.callback,
            working_memory=self.working_memory,
        )
        if not solution.converged:
            warnings.warn(str(solution), ConvergenceWarning, stacklevel=4)
        return solution


class LIMOClassifier(MarginClassifier):
    """Linear multi-label classifier that maximises the margins a measure depends on.

    Scores are S = X W + b. W and b minimise

        alpha r^2 / 2 (||W||^2 + ||b / (c r)||^2)
            + label_weight L_1 + instance_weight L_2 + entry_weight L_3.

    L_1 is the mean over instances of the mean of phi(1 - (s_u - s_v)) over all pairs of a relevant
    label u and an irrelevant label v. L_2 is the same over labels and pairs of instances, L_3 over
    all pairs of entries. They are surrogates of ranking loss, macro-AUC and micro-AUC. The sum
    is minimised over *all* pairs, by sorting, to a certified gap. A label that no training instance
    has gets the lowest score of each instance and is never predicted; a label that all have
    gets the highest and is always predicted.

    r^2 is the mean squared length of the rows of X, so that multiplying X by a number does not
    change predictions.

    The paper's LIMO has ``label_weight = instance_weight``, its LIMO-label ``instance_weight=0``
    and its LIMO-inst ``label_weight=0``. :class:`LIMOClassifierSGD` is the paper's algorithm;
    :func:`paper_limo` gives its exact settings.

    Parameters
    ----------
    label_weight, instance_weight, entry_weight : float, default=1, 1, 0
        The weight of each margin; at least one must be positive.
    alpha : float, default=1e-3
        Regularisation strength, relative to the mean squared length of the rows of X.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        phi.
    pair_weight : {"measure", "uniform"}, default="measure"
        Whether all instances and all labels have the same weight, as in the measures, or all pairs,
        as in the paper's Equation (1). With N_1 label pairs in all, its lambda_1 corresponds to
        ``label_weight = alpha_ * lambda_1 * N_1 / 2``, and likewise lambda_2.
    fit_intercept : bool, default=True
        Whether to add a constant feature.
    intercept_scaling : float, default=3.0
        c: the constant feature has the value c r. Its weight is regularised like the others; a
        higher c regularises the intercept less. 3 ranked better than 1 on CAL500 and enron, and
        equally well elsewhere.
    tol : float, default=1e-2
        The objective is proven to be within this share of the minimum, and within this share of
        its gain over weights of 0.
    max_iter : int, default=1000
        Iterations before the solver gives up with a ``ConvergenceWarning``.
    threshold_measure : str or None, default="micro_f1"
        The measure for which ``predict`` cuts the scores; None cuts at 0, although these scores
        have no natural zero.
    threshold_cv : int, splitter, iterable or "training", default=5
        The folds on whose cross-fitted scores the threshold is fitted, at most one per instance.
        ``"training"`` fits it on training scores, which overfits.
    threshold : rule, str or None, default=None
        The rule to fit for ``threshold_measure``, as for :class:`ThresholdClassifier`; ``"auto"``
        chooses among all kinds. By default the rule of :func:`suggest_threshold`.
    warm_start : bool, default=False
        Whether ``fit`` starts from the weights of the previous ``fit``.
    callback : callable, optional
        Called with a ``Progress`` record at each iteration; returning True stops it.
    n_jobs : int or None, default=None
        The number of threads; None or -1 for one per core.
    working_memory : float, optional
        MiB that matrices of scores may take before they are computed in blocks; by default half of
        what the process may use: machine, container and ``ulimit`` set limits. With missing labels,
        ``sample_weight`` or given folds, the scores for the threshold are not computed in blocks.
    missing : number, optional
        The number that stands for a missing label in ``y``: nan or -1. Such entries take no part in
        any pair, mean or threshold.

    Attributes
    ----------
    coef_ : array of shape (n_labels, n_features)
        The weights.
    intercept_ : array of shape (n_labels,)
        b, minus the threshold if a single one cuts all scores (for micro-F1). Pairwise losses
        ignore a common offset, and labels are then predicted where scores exceed 0.
    alpha_ : float
        alpha r^2, the regularisation strength of the weights.
    solution_ : Solution
        How the solver ended: objective, certified gap, iterations, passes, seconds, status.
    threshold_ : rule
        The fitted threshold rule.
    never_, always_ : array of bool of shape (n_labels,)
        Labels that no training instance has, and labels that all have.

    Examples
    --------
    >>> import limo
    >>> train, test = limo.datasets.split(limo.datasets.figure1(400))
    >>> model = limo.LIMOClassifier().fit(train.X, train.Y)
    >>> model.solution_.converged, model.solution_.relative_gap <= 0.01
    (True, True)
    >>> limo.evaluate(test.Y, model.decision_function(test.X))["ranking_loss"] < 0.05
    True
    >>> limo.LIMOClassifier(alpha=0).fit(train.X, train.Y)
    Traceback (most recent call last):
        ...
    ValueError: alpha must be a number above 0, got 0.
    """

    __module__ = "limo"  # the public name, which model files contain

    def __init__(
        self,
        label_weight: float = 1.0,
        instance_weight: float = 1.0,
        entry_weight: float = 0.0,
        *,
        alpha: float = 1e-3,
        loss: str = "squared_hinge",
        pair_weight: str = "measure",
        fit_intercept: bool = True,
        intercept_scaling: float = 3.0,
        tol: float = 1e-2,
        max_iter: int = 1000,
        threshold_measure: str | None = "micro_f1",
        threshold_cv: Any = 5,
        threshold: ThresholdRule | str | None = None,
        warm_start: bool = False,
        callback: Callable[..., object] | None = None,
        n_jobs: int | None = None,
        working_memory: float | None = None,
        missing: float | None = None,
    ) -> None:
        self.label_weight = label_weight
        self.instance_weight = instance_weight
        self.entry_weight = entry_weight
        self.alpha = alpha
        self.loss = loss
        self.pair_weight = pair_weight
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.tol = tol
        self.max_iter = max_iter
        self.threshold_measure = threshold_measure
        self.threshold_cv = threshold_cv
        self.threshold = threshold
        self.warm_start = warm_start
        self.callback = callback
        self.n_jobs = n_jobs
        self.working_memory = working_memory
        self.missing = missing

    def _loss_terms(self) -> tuple[Term, ...]:
        check_name(self.loss, ("squared_hinge", "hinge"), "loss")
        check_name(self.pair_weight, ("measure", "uniform"), "pair_weight")
        weights = check_weights(self, "label_weight", "instance_weight", "entry_weight")
        return mean_terms(*weights, base=self.loss, share=self.pair_weight)


def check_weights(model: Any, *names: str) -> list[float]:
    """The weights of margins that a model has as parameters; one must be positive."""
    weights = [check_number(getattr(model, name), name, least=0) for name in names]
    if not any(weights):
        listed = (
            f"{', '.join(names[:-1])} and {names[-1]} are {'all' if len(names) > 2 else 'both'}"
        )
        raise ValueError(
            f"{listed} 0: nothing would be learnt. Give at least one of them a positive value."
        )
    return weights


def mean_terms(
    label_weight: float,
    instance_weight: float,
    entry_weight: float = 0.0,
    *,
    base: str,
    share: str = "measure",
) -> tuple[Term, ...]:
    """The paper's terms, means over pairs: label-wise, instance-wise, and entry-wise."""
    weights = {"rows": label_weight, "columns": instance_weight, "entries": entry_weight}
    return tuple(Term(view, "mean", base, weight, share) for view, weight in weights.items())
