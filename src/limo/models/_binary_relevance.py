"""Binary relevance: one binary learner for each label."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.svm import LinearSVC
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _num_samples

from limo._checks import check_weights, weighted
from limo._settings import check_n_jobs, check_name
from limo._types import Anything, Booleans, Values
from limo._views import Pattern
from limo.models._base import MultiLabelClassifier
from limo.thresholds._fit import ConstantLabels

# Half decades, as finely as LIMOClassifierCV searches alpha.
_CS = tuple(10 ** (k / 2) for k in range(-6, 7))
_N_FOLDS = 3
_SMALLEST_PROBABILITY = 1e-15


def _learner_has(method: str) -> Any:
    return available_if(lambda model: hasattr(model._learner(), method))


class BinaryRelevance(MultiLabelClassifier):
    """One binary learner for each label, each trained on all instances.

    A label that is constant in training needs no learner. If no training instance has it, it
    scores below all other labels and has probability 0; if all have it, above all others and 1.

    ``decision_function`` and ``predict_proba`` exist if the learner has them.

    Parameters
    ----------
    estimator : None, "logistic" or a scikit-learn classifier, default=None
        The learner of each label. None is a linear SVM with C = 1, the paper's baseline.
        ``"logistic"`` is logistic regression with one C for all labels, chosen by the log loss of
        three-fold cross-validation over all labels, among 0.001, 0.0032, 0.01, ... up to 1000 or to
        the first that does worse. Rare labels hardly affect this choice. For a C per label pass
        ``LogisticRegressionCV()``.
    n_jobs : int or None, default=None
        How many labels are learnt in parallel; -1 for all cores.
    missing : number, optional
        The number that stands for a missing label in ``y``: nan or -1. Each label is then learnt
        from the instances where it is known.

    Attributes
    ----------
    estimators_ : list of length n_labels
        The fitted learners; None for labels that are constant in training.
    never_, always_ : array of bool of shape (n_labels,)
        Labels that no training instance has, and labels that all have.
    C_ : float
        The C chosen, with ``"logistic"``.
    log_loss_ : dict of float to float
        The cross-validated mean log loss per entry for each C tried, with ``"logistic"``.
    classes_ : array
        The indices of the labels or, for a one-dimensional y, its two classes.

    Examples
    --------
    >>> import limo
    >>> data = limo.datasets.figure1(200)
    >>> model = limo.BinaryRelevance("logistic").fit(data.X, data.Y)
    >>> model.predict([[0.9, 0.0], [-0.9, 0.0]])
    array([[1, 0, 0, 0],
           [0, 1, 1, 1]])
    """

    __module__ = "limo"  # the public name, which model files contain

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_jobs: int | None = None,
        missing: float | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_jobs = n_jobs
        self.missing = missing

    def __sklearn_tags__(self) -> Any:
        """The learner decides which values X may hold."""
        tags = super().__sklearn_tags__()
        learner = get_tags(self._learner())
        tags.input_tags.sparse = learner.input_tags.sparse
        tags.input_tags.allow_nan = learner.input_tags.allow_nan
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "BinaryRelevance":
        """Train a learner for each label.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances; or what a given estimator takes, such as texts for a pipeline.
        y : array-like or sparse matrix of shape (n_samples, n_labels)
            Labels, 0 or 1 (or -1 and 1, or two strings); or one label with two classes, of
            shape (n_samples,). Only with ``missing`` may labels be missing.
        sample_weight : array-like of shape (n_samples,), optional
            How much each instance counts; passed on to the learners.

        Returns
        -------
        BinaryRelevance
        """
        if isinstance(self.estimator, str):
            check_name(self.estimator, ["logistic"], "estimator")
        check_n_jobs(self.n_jobs)
        X, Y = self._check_training(X, y, missing=self.missing, **self._rules())
        weights = check_weights(sample_weight, Y.shape[0])
        learner = self._learner()
        if isinstance(self.estimator, str):
            self.log_loss_ = _log_losses(X, Y, self.n_jobs, weights)
            self.C_ = min(self.log_loss_, key=self.log_loss_.__getitem__)
            learner.set_params(C=self.C_)
        self.estimators_ = _fit_all(learner, X, Y, self.n_jobs, weights)
        constant = _constant(Y, weights)
        self.never_, self.always_ = constant.never, constant.always
        self._bounds = self._outer_scores(X)
        return self

    @_learner_has("decision_function")  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Values:
        """Score every label.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        array of shape (n_samples, n_labels)
            For a one-dimensional y: of shape (n_samples,).
        """
        S = self._respond(self._instances(X), "decision_function")
        low, high = self._bounds
        lowest = np.minimum(low, S.min(axis=1, initial=0.0) - 1.0)
        highest = np.maximum(high, S.max(axis=1, initial=0.0) + 1.0)
        return self._scores(self._constant_labels.complete(S, lowest[:, None], highest[:, None]))

    @_learner_has("predict_proba")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Values:
        """The probability of every label.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        array of shape (n_samples, n_labels)
            For a one-dimensional y: of its two classes.
        """
        P = self._respond(self._instances(X), "predict_proba")
        return self._probabilities(self._constant_labels.complete(P, 0.0, 1.0))

    def predict(self, X: Any) -> Any:
        """Predict the labels, each as its learner does.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Instances.

        Returns
        -------
        array or CSR array of shape (n_samples, n_labels)
            In the form of the training labels.
        """
        marks = self._respond(self._instances(X), "predict")
        return self._labels(self._constant_labels.complete(marks, 0.0, 1.0))

    def _learner(self) -> Any:
        """An unfitted learner; ``fit`` rejects names other than "logistic"."""
        if self.estimator is None:
            return LinearSVC(C=1.0, random_state=0)
        if isinstance(self.estimator, str):
            return logistic()
        if not hasattr(self.estimator, "fit"):
            raise ValueError(f"estimator must be a model with fit, got {self.estimator!r}.")
        return clone(self.estimator)

    def _rules(self) -> dict[str, Any]:
        """User-supplied estimators validate X themselves."""
        brought = self.estimator is not None and not isinstance(self.estimator, str)
        return {"skip_check_array": True} if brought else {}

    def _instances(self, X: Any) -> Any:
        """Check instances to predict for, as far as the learners do not check them."""
        rules = self._rules()
        if rules and _is_flat(X) and hasattr(self, "n_features_in_"):
            raise ValueError(
                f"X must have two dimensions, instances x features, got shape ({len(X)},). "
                "Reshape your data: a single instance needs reshape(1, -1)."
            )
        return self._check_instances(X, **rules)

    def _respond(self, X: Any, method: str) -> Values:
        """The answers of the learners, a column per label that has one."""
        learners = [learner for learner in self.estimators_ if learner is not None]
        columns = Parallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(_column)(learner, X, method) for learner in learners
        )
        return np.column_stack([np.empty((_num_samples(X), 0)), *columns])

    @property
    def _constant_labels(self) -> ConstantLabels:
        return ConstantLabels(self.never_, self.always_)

    def _outer_scores(self, X: Any) -> tuple[float, float]:
        """Scores below and above those of all training instances, by as much as their range."""
        varying = self._constant_labels.varying
        if varying.all() or not hasattr(self, "decision_function"):
            return -1.0, 1.0
        S = self._respond(X, "decision_function")
        low, high = S.min(initial=0.0), S.max(initial=0.0)
        return float(2 * low - high) - 1.0, float(2 * high - low) + 1.0


def _constant(Y: Pattern, weights: Values | None) -> ConstantLabels:
    """Labels that no known instance of positive weight has, and labels that all have."""
    return ConstantLabels.among(Y if weights is None else weighted(Y, weights > 0))


def _is_flat(X: Any) -> bool:
    """Whether X is one instance instead of a matrix; lists of unequal rows are not flat."""
    if isinstance(X, list):
        return not any(isinstance(row, Sequence | np.ndarray) for row in X)
    return isinstance(X, np.ndarray) and X.ndim == 1


def _fit_all(
    learner: Any, X: Any, Y: Pattern, n_jobs: int | None, weights: Values | None
) -> list[Any]:
    """A fitted learner per label; None for constant ones."""
    learnt = np.flatnonzero(_constant(Y, weights).varying)
    fitted = Parallel(n_jobs=n_jobs)(
        delayed(_fit_one)(clone(learner), X, _marks(Y, j), _known(Y, j), weights)
        for j in learnt.tolist()
    )
    learners: list[Any] = [None] * Y.shape[1]
    for j, one in zip(learnt, fitted, strict=True):
        learners[j] = one
    return learners


def _fit_one(
    learner: Any, X: Any, y: Anything, known: Booleans | None, weights: Values | None
) -> Any:
    if known is not None:
        X, y = _safe_indexing(X, np.flatnonzero(known)), y[known]
    if weights is None:
        return learner.fit(X, y)
    return learner.fit(X, y, sample_weight=weights if known is None else weights[known])


def _known(Y: Pattern, j: int) -> Booleans | None:
    """For which instances label ``j`` is known; None if for all."""
    if Y.unknown is None:
        return None
    return ~_marks(Y.unknown, j).astype(bool)


def _marks(Y: Pattern, j: int) -> Anything:
    """Label ``j`` of every instance, 0 or 1."""
    y = np.zeros(Y.shape[0], dtype=np.int64)
    y[Y.T.indices[Y.T.indptr[j] : Y.T.indptr[j + 1]]] = 1
    return y


def _column(learner: Any, X: Any, method: str) -> Values:
    answer: Values = getattr(learner, method)(X)
    return answer[:, 1] if method == "predict_proba" else answer


def logistic(C: float = 1.0) -> LogisticRegression:
    """Logistic regression by LIBLINEAR: the optimum of scikit-learn's default, many times faster.

    LIBLINEAR penalises the intercept; scaling it by 10 leaves a hundredth of that penalty.
    """
    return LogisticRegression(C=C, solver="liblinear", intercept_scaling=10.0, max_iter=1000)


def _log_losses(
    X: Any, Y: Pattern, n_jobs: int | None, weights: Values | None
) -> dict[float, float]:
    """The cross-validated mean log loss per entry, for growing C until it rises."""
    losses: dict[float, float] = {}
    total = Y.shape[0] if weights is None else float(weights.sum())
    if Y.shape[0] < 2:
        return {1.0: 0.0}
    labels = Y.csr.astype(np.float64)
    if Y.unknown is not None:
        labels = sparse.csr_array(labels + np.nan * Y.unknown.csr)
    missing = None if Y.unknown is None else np.nan
    folds = list(KFold(min(_N_FOLDS, Y.shape[0]), shuffle=True, random_state=0).split(X))
    with warnings.catch_warnings():
        # A C that converges slowly is still a candidate; only the final fit may warn.
        warnings.simplefilter("ignore", ConvergenceWarning)
        for C in _CS:
            model = BinaryRelevance(logistic(C), n_jobs=n_jobs, missing=missing)
            parts = (_log_loss(model, X, labels, train, test, weights) for train, test in folds)
            losses[C] = sum(parts) / total
            if losses[C] > min(losses.values()):
                break
    return losses


def _log_loss(
    model: BinaryRelevance, X: Any, Y: Any, train: Any, test: Any, weights: Values | None
) -> float:
    """The weighted sum over the instances of ``test`` of the mean log loss of their known labels.

    ``Y`` is a CSR array with nan where a label is missing.
    """
    own = None if weights is None else weights[train]
    P = model.fit(X[train], Y[train], sample_weight=own).predict_proba(X[test])
    true = Y[test].toarray()
    loss = -np.log(np.maximum(np.where(true == 1, P, 1 - P), _SMALLEST_PROBABILITY))
    known = ~np.isnan(true)
    rows = (loss * known).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
    return float(rows.sum() if weights is None else rows @ weights[test])
