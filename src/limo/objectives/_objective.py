"""A custom objective for boosting libraries that pass the scores of all labels at once."""

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
        self.terms = check_terms(terms)
        for term in self.terms:
            if not term.is_smooth:
                raise ValueError(
                    "Boosting needs second derivatives, which the hinge does not have, got "
                    f"{term}. Take the base 'squared_hinge' or 'logistic'."
                )
        self._Y = y_true if isinstance(y_true, Pattern) else check_labels(y_true, "y_true")
        n_labels = self._Y.shape[1]
        self.offset = np.zeros(n_labels) if offset is None else np.asarray(offset, dtype=float)
        if self.offset.shape != (n_labels,):
            raise ValueError(
                f"offset must hold a number for each label: expected {n_labels}, got shape "
                f"{self.offset.shape}."
            )
        self._parts = tuple(Weighted.of(term, self._Y) for term in self.terms)

    def __call__(self, scores: Any, data: Any = None) -> tuple[Anything, Anything]:
        """The gradient and the diagonal of the Hessian, in the shape of the scores."""
        given, factor = np.asarray(scores), float(np.prod(self._Y.shape))
        found = self._derivatives(given)
        hessian = np.maximum(factor * found.hessian_diagonal, _LEAST)
        return (factor * found.gradient).reshape(given.shape), hessian.reshape(given.shape)

    def value(self, scores: Any) -> float:
        """The loss of raw scores, not multiplied by the number of entries."""
        return self._derivatives(np.asarray(scores)).value

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
