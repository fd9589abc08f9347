"""The average of linear models that minimise different losses: one linear model again."""

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from limo._settings import check_number
from limo._solvers import exact
from limo._solvers.problem import Features, Problem, Solution, principal_axes
from limo._types import Values, check_kind
from limo._views import Pattern
from limo.losses._term import Term, check_terms
from limo.models._linear import LinearClassifier, row_length
from limo.thresholds._fit import ConstantLabels


@dataclass(frozen=True)
class Cell:
    """A loss and an alpha."""

    terms: tuple[Term, ...]
    alpha: float


@dataclass(frozen=True)
class Solving:
    """How a linear model is fitted; ``alpha`` and the constant are relative to the rows' length."""

    fit_intercept: bool
    intercept_scaling: float
    tol: float
    max_iter: int
    working_memory: float | None = None

    @classmethod
    def of(cls, model: Any) -> "Solving":
        """The parameters of a model; over blocks, there is no ``working_memory``."""
        return cls(model.fit_intercept, model.intercept_scaling, model.tol, model.max_iter)

    def prepare(self, X: Any, weights: Values | None) -> "Prepared":
        """The features of instances, which may have weights, for any number of fits."""
        unit = row_length(X, weights)
        constant = self.intercept_scaling * unit if self.fit_intercept else 0.0
        axes = principal_axes(X, weights)
        if axes is None:
            return Prepared(Features(X, constant), unit, None)
        return Prepared(Features(np.asarray(X @ axes), constant, uncorrelated=True), unit, axes)

    def path(
        self, given: "Prepared", Y: Pattern, terms: tuple[Term, ...], alphas: Sequence[float]
    ) -> Iterator["Solved"]:
        """Solutions for falling alpha, each from the one before, with the constant feature."""
        problem, solution = Problem(given.features, Y, terms, 1.0), None
        # Asked once: to ask the system takes as long as an iteration on very small data.
        mebibytes = exact.bytes_of(self.working_memory) / 2**20
        for alpha in alphas:
            solution = exact.solve(
                problem.with_alpha(alpha * given.unit**2),
                tol=self.tol,
                max_iter=self.max_iter,
                start=solution,
                working_memory=mebibytes,
            )
            yield given.rotated_back(solution), given.features.constant

    def solve(self, X: Any, Y: Pattern, cells: Iterable[Cell]) -> "dict[Cell, Solved]":
        """The weights of each cell; the cells of a loss are solved along one path."""
        solutions, given = {}, self.prepare(X, Y.row_weights)
        ordered = sorted(cells, key=lambda cell: -cell.alpha)
        for terms in dict.fromkeys(cell.terms for cell in ordered):
            path = [cell for cell in ordered if cell.terms == terms]
            alphas = [cell.alpha for cell in path]
            for cell, solved in zip(path, self.path(given, Y, terms, alphas), strict=True):
                solutions[cell] = solved
        return solutions


@dataclass(frozen=True, eq=False)
class Prepared:
    """Features as a solver takes them, along their principal axes if there are any.

    The constant feature stays as it is: losses of pairs in columns do not depend on its weight, so
    that it stays 0, which it would not along other axes. ``unit`` is the length of the rows.
    """

    features: Features
    unit: float
    axes: Values | None

    def rotated_back(self, solution: Solution) -> Solution:
        """A solution with weights of the features as they were given."""
        if self.axes is None:
            return solution
        W = np.vstack(
            [self.axes @ solution.W[: self.axes.shape[1]], solution.W[self.axes.shape[1] :]]
        )
        return replace(solution, W=W)


Solved = tuple[Solution, float]
"""A solution and the value of its constant feature."""


class AveragedClassifier(LinearClassifier):
    """The average of several :class:`limo.MarginClassifier`, which is a linear model again.

    The average of linear models that do about equally well is often better than each of them, and
    more stable. :class:`limo.LIMOClassifierCV` makes its models this way.

    Parameters
    ----------
    members : sequence of (terms, alpha, weight)
        The terms of the loss and the alpha of each model, as :class:`limo.MarginClassifier` takes
        them, and the factor of its scores in the sum.
    fit_intercept, intercept_scaling, tol, max_iter, threshold, threshold_measure, threshold_cv, \
n_jobs, working_memory, missing
        As for :class:`limo.MarginClassifier`.

    Attributes
    ----------
    coef_, intercept_, threshold_, never_, always_
        As for :class:`limo.MarginClassifier`.
    n_iter_ : int
        Iterations of the solver for all members.
    relative_gap_ : float
        The largest certified gap of a member.

    Examples
    --------
    >>> import limo
    >>> from limo.losses import Term
    >>> from limo.models import AveragedClassifier
    >>> train, test = limo.datasets.split(limo.datasets.figure1(400))
    >>> members = [(Term("rows", "top"), 1e-3, 0.5), (Term("rows", "mean"), 1e-3, 0.5)]
    >>> model = AveragedClassifier(members).fit(train.X, train.Y)
    >>> limo.one_error(test.Y, model.decision_function(test.X)) < 0.05
    True
    """

    __module__ = "limo.models"  # the public name, which model files contain

    def __init__(
        self,
        members: Sequence[tuple[Any, float, float]],
        *,
        fit_intercept: bool = True,
        intercept_scaling: float = 3.0,
        tol: float = 1e-3,
        max_iter: int = 1000,
        threshold: Any = None,
        threshold_measure: str | None = "micro_f1",
        threshold_cv: Any = 5,
        n_jobs: int | None = None,
        working_memory: float | None = None,
        missing: float | None = None,
    ) -> None:
        self.members = members
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.tol = tol
        self.max_iter = max_iter
        self.threshold = threshold
        self.threshold_measure = threshold_measure
        self.threshold_cv = threshold_cv
        self.n_jobs = n_jobs
        self.working_memory = working_memory
        self.missing = missing

    def _check_settings(self) -> None:
        super()._check_settings()
        check_number(self.tol, "tol", above=0)
        check_number(self.max_iter, "max_iter", least=1, integer=True)
        what = "members must be a list of (terms, alpha, weight)"
        check_kind(self.members, Sequence, what)
        if not len(self.members):
            raise ValueError("members must hold at least one model, got none.")
        for member in self.members:
            if not isinstance(member, Sequence) or len(member) != 3:
                raise ValueError(f"{what}, got {member!r} in it.")
        for _ in self._cells():
            pass

    def _cells(self) -> Iterator[tuple[Cell, float]]:
        """The members, checked, with their weights."""
        for terms, alpha, weight in self.members:
            alpha = check_number(alpha, "the alpha of a member", above=0)
            weight = check_number(weight, "the weight of a member")
            yield Cell(check_terms(terms), float(alpha)), float(weight)

    def _solving(self) -> Solving:
        return Solving(
            bool(self.fit_intercept),
            float(self.intercept_scaling),
            float(self.tol),
            int(self.max_iter),
            self.working_memory,
        )

    def _fit_weights(self, X: Any, Y: Pattern) -> None:
        cells = [cell for cell, _ in self._cells()]
        self._combine(self._solving().solve(X, Y, cells), Y)

    def _combine(self, solved: dict[Cell, Solved], Y: Pattern) -> None:
        """Take the weighted sum of solved members."""
        members = [(*solved[cell], weight) for cell, weight in self._cells()]
        W: Values = np.sum([weight * one.W for one, _, weight in members], axis=0)
        self._set_weights(W, members[0][1])
        self.n_iter_ = sum(one.iterations for one, _, _ in members)
        worst = max((one for one, _, _ in members), key=lambda one: (not one.converged, one.gap))
        self.relative_gap_ = max(one.relative_gap for one, _, _ in members)
        constant = ConstantLabels.among(Y)
        self.never_, self.always_ = constant.never, constant.always
        if not worst.converged:
            warnings.warn(str(worst), ConvergenceWarning, stacklevel=5)
