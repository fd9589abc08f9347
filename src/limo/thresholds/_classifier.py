"""A model and a threshold rule in one estimator."""

from typing import Any, Self

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from limo._checks import check_weights
from limo._frames import column_names
from limo._scores import readable
from limo._settings import check_n_jobs
from limo._types import Anything, Values
from limo.thresholds._calibration import ScoreCalibration
from limo.thresholds._coding import CodedLabels
from limo.thresholds._fit import (
    OWN,
    ConstantLabels,
    Fitted,
    Source,
    Training,
    label_matrix,
    make_rule,
)
from limo.thresholds._rules import ThresholdRule


def _inner_has(method: str) -> Any:
    def check(self: "ThresholdClassifier") -> bool:
        if method == "predict_proba" and self.probability is not None:
            return True
        getattr(getattr(self, "estimator_", self.estimator), method)
        return True

    return check


class ThresholdClassifier(CodedLabels, ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Any multi-label model with thresholds that suit a measure.

    The rule is fitted on cross-fitted scores: each instance is scored by a model that has not seen
    it. Scores of the training data itself are too optimistic, and so are thresholds fitted to them.
    The model is then fitted on all data. ``predict`` applies the rule; ``decision_function`` and
    ``predict_proba`` give the scores and probabilities of the model, always as one matrix.

    Parameters
    ----------
    estimator : estimator
        A multi-label model with ``decision_function`` or ``predict_proba``: one-vs-rest,
        ``MultiOutputClassifier``, ``ClassifierChain``, a pipeline, ...
    threshold : rule, str or None, default=None
        A rule, such as ``LabelThreshold()``; or ``"label"``, ``"instance"``, ``"global"``,
        ``"mixed"`` (t(x) + t_j), ``"top_k"``, ``"expected_f1"``. By default ``"auto"``:
        :class:`limo.AutoThreshold` tries the kinds that can serve the measure and reports why it
        took one. ``"own"`` keeps the model's own ``predict``.
    measure : str, optional
        The target of the rule, unless it has one; by default the rule's own default. If there is
        no rule either: macro-F1.
    cv : int, splitter, iterable, "training" or "prefit", default=5
        The folds for cross-fitting: their number (stratified by label), a scikit-learn splitter, or
        pairs of training and test rows. ``"training"`` fits the rule on training scores, as the
        paper does. ``"prefit"`` takes the estimator as already fitted and fits the rule on
        its scores of the data given to ``fit``, which should be held-out data.
    n_jobs : int, optional
        How many folds are fitted in parallel.
    probability : {"sigmoid", "isotonic"}, optional
        Makes probabilities of the scores, by :class:`limo.thresholds.ScoreCalibration` fitted on
        the same cross-fitted scores as the rule. By default probabilities are those of the model.
    missing : number, optional
        The number that stands for a missing label in ``y``: nan or -1. The estimator gets nan in
        its place, so it must take that, as ``BinaryRelevance(missing=nan)`` does. Thresholds are
        fitted to the known labels.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model, of the labels that are not constant in the training data.
    rule_ : rule or None
        The fitted rule; None for ``"own"``.
    calibration_ : ScoreCalibration or None
        How scores become probabilities; None if the model's own are used.
    never_, always_ : array of bool of shape (n_labels,)
        Labels that no training instance has, and labels that all have.
    n_labels_ : int
        The number of labels.
    classes_ : array
        The indices of the labels, which are the columns of the scores; or, for a one-dimensional y,
        its two classes.
    label_names_ : tuple of str or None
        Their names, if ``y`` was a data frame with names.

    Notes
    -----
    A label that no training instance has is never predicted, and gets the lowest score of each
    instance; a label that all have is always predicted, and gets the highest.

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
    AutoThreshold(target='macro_f1')
    >>> tuned.rule_.kind_
    'instance + label'
    >>> limo.macro_f1(test.Y, tuned.predict(test.X)) > limo.macro_f1(test.Y, plain)
    True
    """

    __module__ = "limo"  # the public name, which model files contain
    __metadata_request__fit = {"sample_weight": None}  # so that it can be requested # noqa: RUF012

    def __init__(
        self,
        estimator: Any,
        threshold: ThresholdRule | str | None = None,
        *,
        measure: str | None = None,
        cv: Any = 5,
        n_jobs: int | None = None,
        probability: str | None = None,
        missing: float | None = None,
    ) -> None:
        self.estimator = estimator
        self.threshold = threshold
        self.measure = measure
        self.cv = cv
        self.n_jobs = n_jobs
        self.probability = probability
        self.missing = missing

    def fit(self, X: Any, y: Any, **params: Any) -> Self:
        """Fit the rule on cross-fitted scores, and the model on all data.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Instances, as the estimator takes them.
        y : array-like, sparse matrix or data frame of shape (n_samples, n_labels)
            True labels, 0 or 1; or -1 and 1, or two strings; or one label with two classes, of
            shape (n_samples,). Predictions are coded in the same way.
        **params
            Passed on to the estimator's ``fit``. Values given per instance are split with the
            instances. ``sample_weight`` says how much each instance counts, for the thresholds too
            (AutoThreshold then tries no threshold per instance). With scikit-learn's metadata
            routing, the estimator gets what it requests.

        Returns
        -------
        self
        """
        own = isinstance(self.threshold, str) and self.threshold == OWN
        wanted = "auto" if self.threshold is None else self.threshold
        rule = None if own else make_rule(wanted, self.measure)
        if not hasattr(self.estimator, "fit"):
            raise ValueError(f"estimator must be a model with fit, got {self.estimator!r}.")
        check_n_jobs(self.n_jobs)
        X = readable(X)
        Y = self._read_labels(X, y)
        given = self._as_given() if self._is("prefit") else None
        training = Training(
            self.estimator,
            X,
            Y,
            self.cv,
            params=self._routed(params),
            n_jobs=self.n_jobs,
            fitted=given,
            sample_weight=check_weights(params.get("sample_weight"), Y.shape[0]),
        )
        on_training = self._is("prefit") or self._is("training")
        source: Source = "training scores" if on_training else "cross-fitted scores"
        if rule is not None:
            training.fit_rule(rule, source)
        self.calibration_ = None
        if self.probability is not None:
            self.calibration_ = training.calibrate(ScoreCalibration(self.probability), source)
        fitted = training.fitted
        self.rule_, self.estimator_ = rule, fitted.estimator
        self.never_, self.always_ = fitted.constant.never, fitted.constant.always
        return self

    def predict(self, X: Any) -> Any:
        """Score with the model, then apply the rule; or predict as the model does.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        array or CSR array of shape (n_samples, n_labels)
            In the form of the training labels.
        """
        check_is_fitted(self)
        X = readable(X)
        rule, fitted = self.rule_, self._fitted
        if rule is not None:
            S = self._probable(X) if rule.needs_probabilities else fitted.scores(X)
            return self._labels(fitted.cut(rule, S, X))
        if self._is("prefit") and self.target_form_ in ("classes", "values"):
            return self.estimator_.predict(X)  # it was fitted to labels in this coding
        return self._labels(fitted.own_labels(X))

    @available_if(_inner_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Values:
        """Scores of the model; thresholds do not change them.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        array of shape (n_samples, n_labels)
            For a one-dimensional y: of shape (n_samples,).
        """
        check_is_fitted(self)
        return self._scores(self._fitted.scores(readable(X)))

    @available_if(_inner_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Values:
        """Probabilities of the model, or of its calibrated scores; thresholds do not change them.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        array of shape (n_samples, n_labels)
            For a one-dimensional y: of its two classes.
        """
        check_is_fitted(self)
        return self._probabilities(self._probable(readable(X)))

    @property
    def n_features_in_(self) -> int:
        """The number of features the model was fitted on."""
        check_is_fitted(self)
        return int(self.estimator_.n_features_in_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        tags.target_tags.multi_output = True
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.multi_label = True
        return tags

    def get_metadata_routing(self) -> MetadataRouter:
        """The metadata that this model and its estimator request from scikit-learn's routing."""
        fit = MethodMapping().add(caller="fit", callee="fit")
        router = MetadataRouter(owner=self).add_self_request(self)
        return router.add(estimator=self.estimator, method_mapping=fit)

    def _routed(self, params: dict[str, Any]) -> dict[str, Any]:
        """The parameters of the estimator's ``fit``."""
        given = {name: value for name, value in params.items() if value is not None}
        if not get_config()["enable_metadata_routing"]:
            return given
        return dict(process_routing(self, "fit", **given).estimator.fit)

    @property
    def _fitted(self) -> Fitted:
        return Fitted(self.estimator_, ConstantLabels(self.never_, self.always_))

    def _probable(self, X: Any) -> Values:
        """Probabilities of all labels."""
        fitted = self._fitted
        if self.calibration_ is None:
            return fitted.scores(X, probabilities=True)
        return fitted.constant.complete(self.calibration_.transform(fitted.scores(X)), 0.0, 1.0)

    def _is(self, cv: str) -> bool:
        return isinstance(self.cv, str) and self.cv == cv

    def _read_labels(self, X: Any, y: Any) -> Any:
        if X is None:
            raise ValueError("ThresholdClassifier requires X to be passed, but X is None.")
        if y is None:
            raise ValueError(
                "ThresholdClassifier requires y to be passed, but the target y is None."
            )
        pattern = self._check_target(y, self.missing)
        check_consistent_length(X, pattern.csr)
        self.n_labels_, self.label_names_ = pattern.shape[1], column_names(y)
        labels = label_matrix(pattern, as_sparse=self.target_form_ == "sparse")
        flat = self.target_form_ == "classes" and _takes_one_dimension(self.estimator)
        return labels[:, 0] if flat else labels

    def _as_given(self) -> Fitted:
        check_is_fitted(self.estimator)
        none: Anything = np.zeros(self.n_labels_, dtype=bool)
        return Fitted(self.estimator, ConstantLabels(none, none))


def _takes_one_dimension(estimator: Any) -> bool:
    """Whether labels of one dimension suit an estimator; not so for ``MultiOutputClassifier``."""
    last = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    return bool(get_tags(last).target_tags.single_output)
