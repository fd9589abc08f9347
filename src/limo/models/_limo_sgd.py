"""LIMO as in the paper: Algorithm 1 on random pairs, and the settings behind the paper's tables."""

from collections.abc import Callable
from typing import Any, Literal, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from limo._checks import check_known_labels, weighted
from limo._settings import check_name, check_number
from limo._solvers import sgd
from limo._solvers.problem import Features, Problem, Solution
from limo._sparse import check_sparse
from limo._views import Pattern
from limo.models._limo import LinearMarginClassifier, check_weights, mean_terms
from limo.thresholds._rules import ThresholdRule


class LIMOClassifierSGD(LinearMarginClassifier):
    """LIMO by stochastic steps on random pairs: the paper's Algorithm 1.

    Scores are S = X W + b. A step draws an instance with a relevant and an irrelevant label, and a
    label with a positive and a negative instance. A pair that violates its margin of 1 shrinks its
    weights by 1 - step * alpha and takes a hinge step in the pair's direction. The weights are the
    mean of all iterates. A step costs O(nonzeros of the instances drawn), regardless of the number
    of features. :class:`LIMOClassifier` solves the same kind of problem over all pairs, to a
    certified gap.

    Parameters
    ----------
    label_weight, instance_weight : float, default=1
        The weight of each margin; at least one must be positive. A half with weight 0 does not run.
    alpha : float, default=1.0
        How much weights shrink when they change; 1 in the paper. ``step * alpha`` must be below 1.
    step : float, default=0.01
        The step size.
    sampling : {"pairs", "instances"}, default="pairs"
        ``"pairs"``, as printed: all pairs are equally likely. ``"instances"``, as the authors ran
        it: an instance, one of its labels, then a label it lacks; and again an instance, one
        of its labels, then an instance without that label.
    n_passes : float, default=20
        Passes of m * round(mean number of labels per instance) steps.
    n_steps : int or None, default=None
        The number of steps, instead of passes.
    average : bool, default=True
        Whether to use the mean of all iterates or the last one.
    fit_intercept : bool, default=True
        Whether to add a constant feature.
    intercept_scaling : float, default=3.0
        The value of the constant feature.
    threshold_measure, threshold_cv, threshold
        As for :class:`LIMOClassifier`.
    warm_start : bool, default=False
        Whether ``fit`` continues from the steps of the previous ``fit``.
    random_state : int, RandomState or None, default=None
        Draws the first weights and the pairs.
    callback : callable, optional
        Called with a ``Progress`` record after each pass; returning True stops it.
    missing : number, optional
        The number that stands for a missing label in ``y``: nan or -1. Such entries are in no pair.

    Attributes
    ----------
    coef_ : array of shape (n_labels, n_features)
        The weights.
    intercept_ : array of shape (n_labels,)
        The intercepts, minus the threshold if a single one cuts all scores.
    solution_ : Solution
        How the solver ended, with the state it needs to continue.
    threshold_ : rule
        The fitted threshold rule.
    never_, always_ : array of bool of shape (n_labels,)
        Labels that no training instance has, and labels that all have.

    References
    ----------
    Wu and Zhou, "A Unified View of Multi-Label Performance Measures", ICML 2017.

    Examples
    --------
    >>> import limo
    >>> train, test = limo.datasets.split(limo.datasets.figure1(400))
    >>> model = limo.LIMOClassifierSGD(alpha=0.1, random_state=0).fit(train.X, train.Y)
    >>> limo.evaluate(test.Y, model.decision_function(test.X))["ranking_loss"] < 0.05
    True
    >>> model.solution_.iterations == 20 * 280 * 2
    True
    """

    __module__ = "limo"  # the public name, which model files contain

    def __init__(
        self,
        label_weight: float = 1.0,
        instance_weight: float = 1.0,
        *,
        alpha: float = 1.0,
        step: float = 0.01,
        sampling: str = "pairs",
        n_passes: float = 20,
        n_steps: int | None = None,
        average: bool = True,
        fit_intercept: bool = True,
        intercept_scaling: float = 3.0,
        threshold_measure: str | None = "micro_f1",
        threshold_cv: Any = 5,
        threshold: ThresholdRule | str | None = None,
        warm_start: bool = False,
        random_state: Any = None,
        callback: Callable[..., object] | None = None,
        missing: float | None = None,
    ) -> None:
        self.label_weight = label_weight
        self.instance_weight = instance_weight
        self.alpha = alpha
        self.step = step
        self.sampling = sampling
        self.n_passes = n_passes
        self.n_steps = n_steps
        self.average = average
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.threshold_measure = threshold_measure
        self.threshold_cv = threshold_cv
        self.threshold = threshold
        self.warm_start = warm_start
        self.random_state = random_state
        self.callback = callback
        self.missing = missing

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Make the steps on some more instances, continuing from the last ones.

        The threshold is fitted on the scores of these instances.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        y : array-like or sparse matrix of shape (n_samples, n_labels)
            Labels, 0 or 1 (or -1 and 1, or two strings); or one label with two classes.
        classes : array-like, optional
            The two classes of a one-dimensional ``y``, if the first batch may lack one.
        sample_weight : array-like of shape (n_samples,), optional
            How likely each of these instances is drawn, and how much it counts for the threshold.

        Returns
        -------
        self
        """
        self._check_settings()
        before = getattr(self, "solution_", None)
        X, Y = self._check_batch(X, y, classes, first=before is None)
        Y = weighted(Y, sample_weight)
        self._fit_weights(X, Y, before)
        self._set_threshold(self._fit_threshold_on(X, Y))
        return self

    def _check_settings(self) -> None:
        super()._check_settings()
        check_weights(self, "label_weight", "instance_weight")
        check_name(self.sampling, sgd.SAMPLINGS, "sampling")
        check_number(self.n_passes, "n_passes", least=0, most=10**6)
        check_number(self.step, "step", above=0)
        if self.n_steps is not None:
            check_number(self.n_steps, "n_steps", least=0, most=10**12, integer=True)
        if self.step * self.alpha >= 1:
            raise ValueError(
                f"step * alpha must be below 1, got {self.step} * {self.alpha}: a step would "
                "erase the weights it changes. Take a smaller step."
            )

    def _problem(self, features: Features, Y: Pattern) -> Problem:
        terms = mean_terms(self.label_weight, self.instance_weight, base="hinge")
        return Problem(features, Y, terms, self.alpha)

    def _solve(self, problem: Problem, before: Solution | None) -> Solution:
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        return sgd.solve(
            problem,
            np.random.default_rng(seed + (0 if before is None else before.iterations)),
            step=self.step,
            sampling=self.sampling,
            n_passes=self.n_passes,
            n_steps=self.n_steps,
            average=self.average,
            start=before,
            callback=self.callback,
        )

    def _check_batch(self, X: Any, y: Any, classes: Any, *, first: bool) -> tuple[Any, Pattern]:
        """Some instances; later batches have the features, labels and classes of the first."""
        if first and (classes is None or np.ndim(y) != 1):
            return self._check_training(X, y, missing=self.missing)
        if first:
            self.classes_, self.target_form_ = np.unique(classes), "classes"
        check_sparse(X, "X")
        X = validate_data(self, X, reset=first, accept_sparse="csr", dtype=np.float64, order="C")
        known = self.missing is None
        Y = self._decode(y) if known else check_known_labels(y, "y", self.missing)
        if not first and Y.shape[1] != len(self.coef_):
            raise ValueError(
                f"y must have the {len(self.coef_)} labels of the first batch, got {Y.shape[1]}."
            )
        return X, Y


def paper_limo(
    kind: Literal["LIMO", "LIMO-label", "LIMO-inst"] = "LIMO",
    dataset: Literal["benchmark", "synthetic"] = "benchmark",
    *,
    random_state: Any = None,
) -> LIMOClassifierSGD:
    """LIMO with the settings behind the paper's tables.

    Parameters
    ----------
    kind : {"LIMO", "LIMO-label", "LIMO-inst"}, default="LIMO"
        Both margins, or one of them.
    dataset : {"benchmark", "synthetic"}, default="benchmark"
        For the five benchmark sets: weights 1, step 0.01, 20 passes, no intercept; divide each
        feature by its largest absolute value first. For the synthetic data: weights 100,
        step 0.1, 20 000 steps, a constant feature 1. Both draw instances as the authors' program
        did, use alpha 1 and average all iterates.
    random_state : int, RandomState or None, default=None
        Draws the first weights and the pairs.

    Returns
    -------
    LIMOClassifierSGD

    Examples
    --------
    >>> import limo
    >>> limo.paper_limo("LIMO-inst").label_weight
    0.0
    """
    check_name(kind, ("LIMO", "LIMO-label", "LIMO-inst"), "kind of LIMO")
    check_name(dataset, ("benchmark", "synthetic"), "kind of data")
    benchmark = dataset == "benchmark"
    weight = 1.0 if benchmark else 100.0
    return LIMOClassifierSGD(
        0.0 if kind == "LIMO-inst" else weight,
        0.0 if kind == "LIMO-label" else weight,
        fit_intercept=not benchmark,
        intercept_scaling=1.0,
        sampling="instances",
        step=0.01 if benchmark else 0.1,
        n_passes=20,
        n_steps=None if benchmark else 20_000,
        threshold_cv="training",
        random_state=random_state,
    )
