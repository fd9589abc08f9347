"""LIMO: a linear model that maximises label-wise, instance-wise and entry-wise margins."""

import warnings
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import validate_data

from limo._checks import check_labels, check_name, check_number
from limo._solvers.exact import solve
from limo._solvers.problem import Features, Problem, Solution
from limo._solvers.sgd import SGD, SGDSolution
from limo._system import at_most
from limo._types import Booleans, Values
from limo._views import Pattern
from limo.losses import PairWeights
from limo.models._base import MultiLabelClassifier
from limo.thresholds._fit import fit_cross_fitted, fit_rule
from limo.thresholds._rules import ThresholdRule

__all__ = ["LIMOClassifier"]


_CHOICES = {
    "loss": ("squared_hinge", "hinge"),
    "pair_weight": ("measure", "uniform"),
    "solver": ("exact", "sgd"),
}
_WEIGHTS = ("label_weight", "instance_weight", "entry_weight")


def _is_sgd(self: "LIMOClassifier") -> bool:
    return self.solver == "sgd"


class LIMOClassifier(MultiLabelClassifier):
    """Linear multi-label classifier that maximises the margins a measure depends on.

    Scores are S = X W + b. W and b minimise

        alpha / 2 (||W||^2 + ||b / c||^2)
            + label_weight L_1 + instance_weight L_2 + entry_weight L_3,

    where L_1 is the mean over instances of the mean of phi(1 - (s_u - s_v)) over all pairs of a
    relevant label u and an irrelevant label v, L_2 the like over labels and pairs of instances,
    and L_3 over all pairs of entries: surrogates of ranking loss, macro-AUC and micro-AUC. By
    default this is solved over *all* pairs, by sorting, to a certified gap; ``solver="sgd"`` is
    the paper's Algorithm 1, which draws pairs. A label that no training instance has gets the
    lowest score of each instance and is not predicted; one that all have gets the highest, and is.

    LIMO of the paper is ``label_weight = instance_weight``, LIMO-label ``instance_weight=0``,
    LIMO-inst ``label_weight=0``; :func:`paper_limo` gives their exact settings.

    Parameters
    ----------
    label_weight, instance_weight, entry_weight : float, default=1, 1, 0
        What each margin weighs; at least one must be positive. ``"sgd"`` has no entry-wise half.
    alpha : float, default=1e-3
        Strength of the ridge. For ``"sgd"``, the shrinkage of Algorithm 1, where the paper has 1.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        phi. ``"sgd"`` takes hinge steps and needs ``"hinge"``.
    pair_weight : {"measure", "uniform"}, default="measure"
        Whether every instance and every label weighs the same, as in the measures, or every pair,
        as in the paper's Equation (1). With N_1 label pairs in all, its lambda_1 corresponds to
        ``label_weight = alpha * lambda_1 * N_1 / 2``, and likewise lambda_2. For ``"sgd"`` the
        sampling decides.
    solver : {"exact", "sgd"}, default="exact"
        All pairs to a certified gap, or random pairs.
    fit_intercept : bool, default=True
        Whether to add a constant feature.
    intercept_scaling : float, default=3.0
        c, the value of the constant feature. Its weight is regularised as the others are; the
        higher c, the freer the intercept. For rows of length 1, which suit this model, 3 ranked
        better than 1 on CAL500 and enron, and as well elsewhere.
    tol : float, default=1e-2
        For ``"exact"``: the objective is proven to be within this share of the minimum, and
        within this share of what it gained over no model at all.
    max_iter : int, default=1000
        For ``"exact"``: iterations before giving up with a ``ConvergenceWarning``.
    sampling : {"pairs", "instances"}, default="pairs"
        For ``"sgd"``: as printed, or as the authors ran it.
    step : float, default=0.01
        For ``"sgd"``: the step size.
    n_passes : float, default=20
        For ``"sgd"``: passes of m * round(mean labels of an instance) steps.
    n_steps : int or None, default=None
        For ``"sgd"``: the number of steps, instead of passes.
    average : bool, default=True
        For ``"sgd"``: whether to use the mean of all iterates or the last one.
    threshold_measure : str or None, default="micro_f1"
        The measure that ``predict`` cuts the scores for, by the rule that
        :func:`suggest_threshold` gives; None cuts at 0, which has no meaning in itself.
    threshold_cv : int, splitter or "prefit", default=5
        Fit the threshold on cross-fitted scores, or on training scores, which overfit. A number
        of folds is at most that of instances.
    warm_start : bool, default=False
        Whether ``fit`` starts from the weights it found before.
    random_state : int, RandomState or None, default=None
        For ``"sgd"``: draws the first weights and the pairs.
    callback : callable, optional
        Told the progress: for ``"exact"`` a ``Progress`` record each iteration (a true answer
        stops), for ``"sgd"`` the steps made and to be made.
    n_jobs : int or None, default=None
        For ``"exact"``: threads that share the work; None or -1 for one on each core.
    working_memory : float, optional
        For ``"exact"``: MiB that matrices of scores may take before they are made in blocks;
        by default half of the machine's memory.

    Attributes
    ----------
    coef_ : array of shape (n_labels, n_features)
        The weights.
    intercept_ : array of shape (n_labels,)
        b, less the threshold if one cuts all scores (for micro-F1): no pair sees a constant
        added to all of them, and labels are then predicted where scores exceed 0.
    solution_ : Solution or SGDSolution
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

    def __init__(
        self,
        label_weight: float = 1.0,
        instance_weight: float = 1.0,
        entry_weight: float = 0.0,
        *,
        alpha: float = 1e-3,
        loss: str = "squared_hinge",
        pair_weight: str = "measure",
        solver: str = "exact",
        fit_intercept: bool = True,
        intercept_scaling: float = 3.0,
        tol: float = 1e-2,
        max_iter: int = 1000,
        sampling: str = "pairs",
        step: float = 0.01,
        n_passes: float = 20,
        n_steps: int | None = None,
        average: bool = True,
        threshold_measure: str | None = "micro_f1",
        threshold_cv: Any = 5,
        warm_start: bool = False,
        random_state: Any = None,
        callback: Callable[..., object] | None = None,
        n_jobs: int | None = None,
        working_memory: float | None = None,
    ) -> None:
        self.label_weight = label_weight
        self.instance_weight = instance_weight
        self.entry_weight = entry_weight
        self.alpha = alpha
        self.loss = loss
        self.pair_weight = pair_weight
        self.solver = solver
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.tol = tol
        self.max_iter = max_iter
        self.sampling = sampling
        self.step = step
        self.n_passes = n_passes
        self.n_steps = n_steps
        self.average = average
        self.threshold_measure = threshold_measure
        self.threshold_cv = threshold_cv
        self.warm_start = warm_start
        self.random_state = random_state
        self.callback = callback
        self.n_jobs = n_jobs
        self.working_memory = working_memory

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the weights, and the threshold on scores of instances they have not seen.

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
        self._check_settings()
        before = self.solution_ if self.warm_start and hasattr(self, "solution_") else None
        X, Y = self._check_training(X, y)
        with at_most(self.n_jobs):
            self._learn(X, Y, before)
            self._settle(self._fit_threshold(X, Y))
        return self

    @available_if(_is_sgd)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Make the steps on some more instances, going on from where the last ones ended.

        The threshold is fitted on the scores of these instances.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        y : array-like or sparse matrix of shape (n_samples, n_labels)
            Labels, 0 or 1; or one label with two classes.
        classes : array-like, optional
            The two classes of a one-dimensional ``y``, if the first batch may lack one.

        Returns
        -------
        self
        """
        self._check_settings()
        before = getattr(self, "solution_", None)
        X, Y = self._check_batch(X, y, classes, first=before is None)
        self._learn(X, Y, before)
        self._settle(fit_rule(self.threshold_measure, Y, self._raw_scores(X), X))
        return self

    def decision_function(self, X: Any) -> Values:
        """Scores of the labels; the higher, the more likely relevant."""
        return self._scores(self._raw_scores(self._check_instances(X)))

    def predict(self, X: Any) -> Any:
        """Labels whose scores exceed the fitted threshold."""
        X = self._check_instances(X)
        P = self.threshold_.predict(self._raw_scores(X), X)
        P[:, self.never_], P[:, self.always_] = 0, 1
        return self._labels(P)

    def _raw_scores(self, X: Any) -> Values:
        S = np.asarray(X @ self.coef_.T) + self.intercept_
        S[:, self.never_] = S.min(axis=1, keepdims=True)
        S[:, self.always_] = S.max(axis=1, keepdims=True)
        return S

    def _check_settings(self) -> None:
        for name, known in _CHOICES.items():
            check_name(getattr(self, name), known, name)
        for name in _WEIGHTS:
            check_number(getattr(self, name), name, least=0)
        for name in ("alpha", "tol", "intercept_scaling"):
            check_number(getattr(self, name), name, above=0)
        check_number(self.max_iter, "max_iter", least=1, integer=True)
        if self.n_jobs is not None:
            check_number(self.n_jobs, "n_jobs", integer=True)
        if not any(getattr(self, name) for name in _WEIGHTS):
            raise ValueError(
                "label_weight, instance_weight and entry_weight are all 0: nothing would be "
                "learnt. Give at least one of them a positive value."
            )
        if self.solver == "sgd" and (self.loss != "hinge" or self.entry_weight):
            raise ValueError(
                "solver='sgd' is the paper's Algorithm 1: it needs loss='hinge' and "
                f"entry_weight=0, got loss={self.loss!r} and entry_weight={self.entry_weight!r}."
            )
        if self.solver == "sgd" and self.pair_weight != "measure":
            raise ValueError(
                "pair_weight acts in solver='exact' only, got 'uniform' with 'sgd': there "
                "sampling='pairs' makes all pairs alike."
            )

    @property
    def _constant(self) -> float:
        """The value of the constant feature, 0 if there is none."""
        return float(self.intercept_scaling) if self.fit_intercept else 0.0

    def _learn(self, X: Any, Y: Pattern, before: Any) -> None:
        learn = self._solve_exactly if self.solver == "exact" else self._draw
        before = before if self._can_go_on(before, X, Y) else None
        W = learn(X, Y, before)
        self.coef_ = np.ascontiguousarray(W[: X.shape[1]].T)
        self.intercept_ = self._constant * W[-1] if self._constant else np.zeros(Y.shape[1])
        self.never_, self.always_ = self._constant_labels(Y, before)

    def _can_go_on(self, before: Any, X: Any, Y: Pattern) -> bool:
        """Whether a former solution is of this solver, these features and these labels."""
        width, n_labels = X.shape[1] + bool(self._constant), Y.shape[1]
        if self.solver == "exact":
            return isinstance(before, Solution) and before.W.shape == (width, n_labels)
        return isinstance(before, SGDSolution) and before.last.shape == (n_labels, width)

    def _constant_labels(self, Y: Pattern, before: Any) -> tuple[Booleans, Booleans]:
        """Labels never or always seen, in this batch and, for ``partial_fit``, in those before."""
        never, always = Y.ones_per_column == 0, Y.ones_per_column == Y.shape[0]
        if isinstance(before, SGDSolution):
            return never & self.never_, always & self.always_
        return never, always

    def _solve_exactly(self, X: Any, Y: Pattern, before: Any) -> Values:
        features = Features(X, self._constant)
        weights = PairWeights.of(
            Y,
            label=self.label_weight,
            instance=self.instance_weight,
            entry=self.entry_weight,
            scheme=self.pair_weight,  # type: ignore[arg-type]
        )
        found = solve(
            Problem(features, Y, weights, self.alpha, self.loss),  # type: ignore[arg-type]
            tol=self.tol,
            max_iter=self.max_iter,
            start=None if before is None else before.W,
            callback=self.callback,
            working_memory=self.working_memory,
        )
        if not found.converged:
            warnings.warn(str(found), ConvergenceWarning, stacklevel=4)
        self.solution_: Solution | SGDSolution = found
        self.n_iter_ = found.iterations
        return found.W

    def _draw(self, X: Any, Y: Pattern, before: Any) -> Values:
        settings = SGD(
            self.label_weight,
            self.instance_weight,
            step=self.step,
            shrinkage=self.alpha,
            sampling=self.sampling,
            n_passes=self.n_passes,
            n_steps=self.n_steps,
            average=self.average,
        )
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        found = settings.solve(
            _with_constant(X, self._constant) if self._constant else X,
            Y,
            np.random.default_rng(seed + (0 if before is None else before.n_steps)),
            before,
            self.callback,
        )
        self.solution_ = found
        self.n_iter_ = found.n_steps
        return found.coef.T

    def _check_batch(self, X: Any, y: Any, classes: Any, *, first: bool) -> tuple[Any, Pattern]:
        """Some instances; those after the first batch have its features, labels and classes."""
        if first and (classes is None or np.ndim(y) != 1):
            return self._check_training(X, y)
        if first:
            self.classes_, self.target_form_ = np.unique(classes), "classes"
        X = validate_data(self, X, reset=first, accept_sparse="csr", dtype=np.float64, order="C")
        if self.target_form_ == "classes":
            y = np.asarray(y)[:, np.newaxis] == self.classes_[-1]
        Y = check_labels(y, "y")
        if not first and Y.shape[1] != len(self.coef_):
            raise ValueError(
                f"y must have the {len(self.coef_)} labels of the first batch, got {Y.shape[1]}."
            )
        return X, Y

    def _fit_threshold(self, X: Any, Y: Pattern) -> ThresholdRule:
        measure = self.threshold_measure
        if measure is None or self.threshold_cv == "prefit":
            return fit_rule(measure, Y, self._raw_scores(X), X)
        inner = clone(self).set_params(threshold_measure=None, warm_start=False, callback=None)
        return fit_cross_fitted(inner, measure, self.threshold_cv, X, Y)

    def _settle(self, rule: ThresholdRule) -> None:
        """Take a threshold; if one cuts all scores, put 0 there.

        No pair sees a constant added to all scores, so it is free, and the model sets it here
        once and for all: labels are then predicted where scores exceed 0, as in scikit-learn.
        """
        self.threshold_ = rule
        self.intercept_ = self.intercept_ - rule.move_to_zero()


def _with_constant(X: Any, constant: float) -> Any:
    column = np.full((X.shape[0], 1), constant)
    if sparse.issparse(X):
        return sparse.csr_array(sparse.hstack([X, column]))
    return np.hstack([X, column])
