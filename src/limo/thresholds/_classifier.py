"""A model and a threshold rule in one estimator, the rule fitted on scores of unseen instances."""

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from limo._checks import check_labels, column_names
from limo._types import Integers, Values
from limo.thresholds._best import Labels
from limo.thresholds._fit import Fitted, cross_fit, fit_varying, folds_of, label_matrix, make_rule
from limo.thresholds._rules import ThresholdRule

__all__ = ["ThresholdClassifier"]


def _inner_has(method: str) -> Any:
    def check(self: "ThresholdClassifier") -> bool:
        getattr(getattr(self, "estimator_", self.estimator), method)
        return True

    return check


class ThresholdClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Any multi-label model with thresholds that suit a measure.

    The rule is fitted on cross-fitted scores: each instance is scored by a model that has not seen
    it. Scores of the training data itself are too good to be true, and so would be thresholds
    fitted to them. The model is then fitted on all data. ``predict`` applies the rule;
    ``decision_function`` and ``predict_proba`` are those of the model.

    Parameters
    ----------
    estimator : estimator
        A multi-label model with ``decision_function`` or ``predict_proba``: one-vs-rest,
        ``MultiOutputClassifier``, ``ClassifierChain``, a pipeline, ...
    threshold : rule, str or None, default=None
        A rule, as ``LabelThreshold()``; or ``"label"``, ``"instance"``, ``"global"``, ``"top_k"``,
        ``"expected_f1"``; by default the one :func:`limo.suggest_threshold` gives for
        ``measure``.
    measure : str, optional
        What the rule should make as good as possible, unless it has a target of its own;
        by default what the rule is best at. Without a rule too: macro-F1.
    cv : int, splitter, iterable or "prefit", default=5
        How to cross-fit: a number of folds (stratified by label), a scikit-learn splitter, or
        pairs of training and test rows. With ``"prefit"`` the estimator is taken as it is, and
        the rule is fitted on its scores of the data given to ``fit``: data held out, or,
        as in the paper, its training data.
    n_jobs : int, optional
        How many folds are fitted side by side.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model, of the labels that vary in the training data.
    rule_ : rule
        The fitted rule.
    n_labels_ : int
        How many labels there are.
    classes_ : list of array
        The classes of each label: 0 and 1.
    label_names_ : tuple of str or None
        Their names, if ``y`` was a data frame that had any.

    Notes
    -----
    A label that no training instance has is never predicted, one that all have always is. In such
    cases the scores of the model are completed by the lowest or highest of the instance.

    Examples
    --------
    >>> import limo
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.multiclass import OneVsRestClassifier
    >>> train, test = limo.datasets.split(limo.datasets.figure1(400))
    >>> model = OneVsRestClassifier(LogisticRegression())
    >>> plain = model.fit(train.X, train.Y).predict(test.X)
    >>> tuned = limo.ThresholdClassifier(model, measure="macro_f1").fit(train.X, train.Y)
    >>> tuned.rule_
    LabelThreshold(target='macro_f1')
    >>> limo.macro_f1(test.Y, tuned.predict(test.X)) > limo.macro_f1(test.Y, plain)
    True
    """

    def __init__(
        self,
        estimator: Any,
        threshold: ThresholdRule | str | None = None,
        *,
        measure: str | None = None,
        cv: Any = 5,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.threshold = threshold
        self.measure = measure
        self.cv = cv
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, **params: Any) -> Self:
        """Fit the rule on cross-fitted scores, and the model on all data.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Instances, as the estimator takes them.
        y : array-like, sparse matrix or data frame of shape (n_samples, n_labels)
            True labels, 0 or 1.
        **params
            Passed on to the estimator's ``fit``; what has a value for each instance, as
            ``sample_weight``, is parted with the instances.

        Returns
        -------
        self
        """
        rule = make_rule(self.threshold, self.measure)
        Y = self._read_labels(X, y)
        if self._prefit:
            self._fitted = self._as_given()
            rows = np.arange(Y.shape[0])
            unseen = self._scores(rule, X)
        else:
            if rule.needs_fit:
                rows, unseen = self._cross_fit(rule, X, Y, params)
            self._fitted = fit_varying(self.estimator, X, Y, params)
        if rule.needs_fit:
            features = _safe_indexing(X, rows) if rule.needs_features else None
            rule.fit(Y[rows], unseen, features)
        self.rule_, self.estimator_ = rule, self._fitted.estimator
        return self

    def predict(self, X: Any) -> Labels:
        """Score with the model, then cut by the rule.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        array or CSR array of shape (n_samples, n_labels)
            Labels 0 and 1; sparse if those given to ``fit`` were.
        """
        check_is_fitted(self)
        P = self.rule_.predict(self._scores(self.rule_, X), X)
        P[:, self._fitted.never] = 0
        P[:, self._fitted.always] = 1
        return sparse.csr_array(P) if self.sparse_labels_ else P

    @available_if(_inner_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Any:
        """Scores of the model, untouched by thresholds."""
        check_is_fitted(self)
        if self._fitted.complete:
            return self.estimator_.decision_function(X)
        return self._fitted.scores(X)

    @available_if(_inner_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """Probabilities of the model, untouched by thresholds, in the form the model gives them."""
        check_is_fitted(self)
        if self._fitted.complete:
            return self.estimator_.predict_proba(X)
        return self._fitted.probabilities(X)

    @property
    def n_features_in_(self) -> int:
        """How many features the model was fitted on."""
        check_is_fitted(self)
        return int(self.estimator_.n_features_in_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        tags.target_tags.multi_output = True
        tags.target_tags.two_d_labels = True
        tags.target_tags.single_output = False
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.multi_label = True
        return tags

    @property
    def _prefit(self) -> bool:
        return isinstance(self.cv, str) and self.cv == "prefit"

    def _read_labels(self, X: Any, y: Any) -> Any:
        if y is None:
            raise ValueError(
                "ThresholdClassifier requires y to be passed, but the target y is None."
            )
        pattern = check_labels(y, "y")
        check_consistent_length(X, pattern.csr)
        self.n_labels_, self.label_names_ = pattern.shape[1], column_names(y)
        self.classes_ = [np.array([0, 1])] * self.n_labels_
        self.sparse_labels_ = sparse.issparse(y)
        return label_matrix(pattern, as_sparse=self.sparse_labels_)

    def _as_given(self) -> Fitted:
        check_is_fitted(self.estimator)
        none = np.zeros(self.n_labels_, dtype=bool)
        return Fitted(self.estimator, none, none)

    def _scores(self, rule: ThresholdRule, X: Any) -> Values:
        fitted = self._fitted
        return fitted.probabilities(X) if rule.needs_probabilities else fitted.scores(X)

    def _cross_fit(
        self, rule: ThresholdRule, X: Any, Y: Any, params: dict[str, Any]
    ) -> tuple[Integers, Values]:
        return cross_fit(
            self.estimator,
            X,
            Y,
            folds_of(self.cv, X, Y),
            probabilities=rule.needs_probabilities,
            params=params,
            n_jobs=self.n_jobs,
        )
