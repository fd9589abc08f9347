"""Custom objectives: one for all scores at once, and one for CatBoost, which asks per instance."""

import importlib
import reprlib
from collections.abc import Iterable
from typing import Any

import numpy as np

from limo._checks import check_labels, check_scores
from limo._types import Anything, Values
from limo._views import Pattern
from limo.losses._sums import Derivatives, add_up
from limo.losses._term import Term, Weighted, check_terms

# The least second derivative: leaves divide by the sum of these.
_LEAST = 1e-6


def _numbers(values: Any, name: str) -> Anything:
    """An array of real numbers, whose type is kept if it is one of these."""
    try:
        given = np.asarray(values)
        if np.iscomplexobj(given):
            raise TypeError
        return given if given.dtype.kind in "fiu" else given.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must hold numbers, got {reprlib.repr(values)}.") from None


class MarginObjective:
    """Gradient and Hessian diagonal of a loss, as XGBoost and LightGBM ask for them.

    An object is called with the raw scores and the library's data set, which is not used. The loss
    is multiplied by the number of entries, so that ``"pointwise"`` is the libraries' own binary
    logistic loss of each label, and their settings, such as ``min_child_weight``, keep their
    meaning.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        Labels of the training instances, 0 or 1, in their order in the data set.
    terms : Term, str, or sequence of these
        The terms of the loss, as for :class:`limo.MarginClassifier`. The hinge has no second
        derivatives and is rejected.
    offset : array-like of shape (n_labels,), optional
        Numbers added to the scores of each label before the loss is computed.

    Examples
    --------
    >>> from limo.objectives import MarginObjective
    >>> objective = MarginObjective([[1, 0], [0, 1]], "pointwise")
    >>> gradient, hessian = objective([[0.0, 0.0], [0.0, 0.0]])
    >>> gradient
    array([[-0.5,  0.5],
           [ 0.5, -0.5]])
    >>> hessian
    array([[0.25, 0.25],
           [0.25, 0.25]])

    With XGBoost, ``xgboost.train({"base_score": 0.0}, DMatrix(X, label=Y), obj=objective)``; with
    LightGBM, ``lightgbm.train({"objective": objective, "num_class": n_labels}, Dataset(X, label=
    numpy.zeros(n_samples)))``.
    """

    __module__ = "limo.objectives"  # the public name

    def __init__(
        self,
        y_true: Any,
        terms: Term | str | Iterable[Term | str] = ("pointwise", "rows mean", "columns mean"),
        *,
        offset: Any = None,
    ) -> None:
        self.terms = _smooth_terms(terms)
        self._Y = y_true if isinstance(y_true, Pattern) else check_labels(y_true, "y_true")
        n_labels = self._Y.shape[1]
        self.offset = np.zeros(n_labels) if offset is None else _numbers(offset, "offset")
        if self.offset.shape != (n_labels,) or not np.isfinite(self.offset).all():
            raise ValueError(
                f"offset must hold a finite number for each label: expected {n_labels}, got shape "
                f"{self.offset.shape}."
            )
        self._parts = tuple(Weighted.of(term, self._Y) for term in self.terms)

    def __call__(self, scores: Any, data: Any = None) -> tuple[Anything, Anything]:
        """The gradient and the diagonal of the Hessian, in the shape of the scores."""
        given, factor = _numbers(scores, "scores"), float(np.prod(self._Y.shape))
        loss = self._derivatives(given)
        hessian = np.maximum(factor * loss.hessian_diagonal, _LEAST)
        return (factor * loss.gradient).reshape(given.shape), hessian.reshape(given.shape)

    def value(self, scores: Any) -> float:
        """The loss of raw scores, not multiplied by the number of entries."""
        return self._derivatives(_numbers(scores, "scores")).value

    def _derivatives(self, scores: Anything) -> Derivatives:
        if scores.size != np.prod(self._Y.shape):
            raise ValueError(
                f"The scores must have the shape of y_true: expected {self._Y.shape}, got "
                f"{scores.shape}. The data set must hold the instances of y_true, and the booster "
                "must predict a score for each label."
            )
        S: Values = check_scores(scores.reshape(self._Y.shape), "scores") + self.offset
        S = np.ascontiguousarray(S, dtype=np.float64)
        return Derivatives(*add_up(S, self._Y, self._parts), S, self._Y, self._parts)


def _smooth_terms(terms: Term | str | Iterable[Term | str]) -> tuple[Term, ...]:
    checked = tuple(check_terms(terms))
    for term in checked:
        if not term.is_smooth:
            raise ValueError(
                "Boosting needs second derivatives, which the hinge does not have, got "
                f"{term}. Take the base 'squared_hinge' or 'logistic'."
            )
    return checked


# CatBoost


class InstanceDerivatives:
    """Derivatives of a loss by the scores of one instance, as CatBoost asks for them.

    CatBoost climbs: it expects the derivatives of minus the loss. Instances that have the same
    labels share what depends on labels only.
    """

    def __init__(self, terms: Term | str | Iterable[Term | str]) -> None:
        self.terms = _smooth_terms(terms)
        for term in self.terms:
            if term.view != "rows" and term.aggregation != "pointwise":
                raise ValueError(
                    "CatBoost asks for derivatives instance by instance, so the loss cannot "
                    f"compare instances, got {term}. Take terms of rows and 'pointwise' here, or "
                    "MarginObjective with XGBoost or LightGBM."
                )
        self._known: dict[bytes, tuple[Pattern, tuple[Weighted, ...]]] = {}

    def calc_ders_multi(self, scores: Any, labels: Any, weight: Any) -> tuple[list[float], Any]:
        """The gradient and the Hessian, of which only the diagonal differs from 0."""
        Y, parts = self._of_labels(np.asarray(labels, dtype=np.float64))
        S = np.array(scores, dtype=np.float64).reshape(1, -1)
        loss = Derivatives(*add_up(S, Y, parts), S, Y, parts)
        factor = S.size * (1.0 if weight is None else float(weight))
        hessian = np.maximum(factor * loss.hessian_diagonal[0], _LEAST)
        return (-factor * loss.gradient[0]).tolist(), np.diag(-hessian).tolist()

    def _of_labels(self, labels: Values) -> tuple[Pattern, tuple[Weighted, ...]]:
        key = labels.tobytes()
        if key not in self._known:
            Y = check_labels(labels.reshape(1, -1), "labels")
            self._known[key] = Y, tuple(Weighted.of(term, Y) for term in self.terms)
        return self._known[key]


def catboost_objective(
    terms: Term | str | Iterable[Term | str] = ("pointwise", "rows mean"),
) -> Any:
    """A custom objective for CatBoost, from the terms of a loss that judges each instance alone.

    Parameters
    ----------
    terms : Term, str, or sequence of these
        ``"pointwise"`` and terms of rows. CatBoost asks for derivatives instance by instance, so
        terms that compare instances, such as ``"columns mean"``, are rejected.

    Returns
    -------
    catboost.MultiTargetCustomObjective
        For ``CatBoostRegressor(loss_function=..., eval_metric="MultiRMSE")``, whose ``y`` are the
        0/1 labels. With ``"pointwise"`` alone it is CatBoost's own ``MultiLogloss``. It runs in
        Python, once per instance and round.

    Examples
    --------
    >>> from limo.objectives import catboost_objective
    >>> catboost_objective("columns mean")
    Traceback (most recent call last):
        ...
    ValueError: CatBoost asks for derivatives instance by instance, so the loss cannot compare
    instances, got columns mean. Take terms of rows and 'pointwise' here, or MarginObjective with
    XGBoost or LightGBM.
    """
    derivatives = InstanceDerivatives(terms)
    try:
        base = importlib.import_module("catboost").MultiTargetCustomObjective
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "This needs catboost, which is not installed. Install it with pip install catboost.",
            name="catboost",
        ) from error
    kind = type("CatBoostObjective", (base,), {"calc_ders_multi": _pass_on})
    objective = kind()
    objective.derivatives = derivatives
    return objective


def _pass_on(self: Any, scores: Any, labels: Any, weight: Any) -> Any:
    return self.derivatives.calc_ders_multi(scores, labels, weight)
