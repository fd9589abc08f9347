"""Rules that turn scores into labels: ``fit`` them to labels and scores, then ``predict``.

A rule never changes scores. It predicts a label where its score is higher than the threshold.
"""

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from limo._frames import column_names
from limo._settings import check_number
from limo._system import Documented
from limo._types import Anything, Values
from limo._views import COLUMNS, ENTRIES, Pattern
from limo.thresholds._best import Labels, check_count, cut_scores
from limo.thresholds._expected import check_probabilities, expected_f1_thresholds, gfm_labels
from limo.thresholds._scores import Scores, check_pair, read_scores, takes_no_weights
from limo.thresholds._search import best_thresholds
from limo.thresholds._target import check_target

SHRINKAGE = 5.0
"""How many positives the usual place of a label's threshold counts for."""


class ThresholdRule(Documented, BaseEstimator):  # type: ignore[misc]
    """The base of all rules: checks their input against the labels they were fitted on.

    Examples
    --------
    >>> import limo
    >>> isinstance(limo.suggest_threshold("macro_f1"), limo.thresholds.ThresholdRule)
    True
    """

    __module__ = "limo.thresholds"  # the public name, which model files contain

    needs_fit = True
    needs_features = False
    needs_probabilities = False
    takes_weights = False  # whether ``_fit`` uses weights, and leaves missing labels out

    def fit(
        self,
        y_true: Any,
        y_score: Any,
        X: Any = None,
        *,
        sample_weight: Any = None,
        missing: Any = None,
    ) -> Self:
        """Fit to true labels and the scores made for them.

        Parameters
        ----------
        y_true : array-like or sparse matrix of shape (n_samples, n_labels)
            True labels, 0 or 1.
        y_score : array-like or sparse matrix of shape (n_samples, n_labels)
            Scores, preferably by a model that has not seen these instances. Scores absent from a
            sparse matrix are above no threshold.
        X : array-like or sparse matrix of shape (n_samples, n_features), optional
            Features, for rules that read them.
        sample_weight : array-like of shape (n_samples,), optional
            How much each instance counts.
        missing : number or array-like of bool, optional
            The number of a missing label (nan or -1), or a mask. Such entries take no part.

        Returns
        -------
        self
        """
        checked = check_pair(y_true, y_score, sample_weight=sample_weight, missing=missing)
        self.fit_checked(*checked, X)
        self.label_names_ = column_names(y_score) or column_names(y_true)
        return self

    def fit_checked(self, Y: Pattern, scores: Scores, X: Any = None) -> Self:
        """Fit to labels and scores that have been checked, for searches that fit many rules."""
        if self.needs_fit and not (self.takes_weights or Y.is_plain):
            raise takes_no_weights(type(self).__name__)
        self._fit(Y, scores, X)
        self.n_labels_, self.label_names_ = Y.shape[1], None
        return self

    def predict(self, y_score: Any, X: Any = None) -> Labels:
        """Cut scores into labels.

        Parameters
        ----------
        y_score : array-like or sparse matrix of shape (n_samples, n_labels)
            Scores of the labels the rule was fitted on, in the same order.
        X : array-like or sparse matrix of shape (n_samples, n_features), optional
            Features, for rules that read them.

        Returns
        -------
        array or CSR array of shape (n_samples, n_labels)
            Labels 0 and 1, sparse if the scores are.
        """
        return self._predict(self._checked(y_score), X)

    def move_to_zero(self) -> float:
        """Shift a single finite threshold to 0 and return the old value; otherwise return 0.

        The model subtracts that value from its intercept.
        """
        return 0.0

    def check_fitted(self) -> None:
        """Raise an error if the rule needs fitting and has not been fitted."""
        if self.needs_fit and not hasattr(self, "n_labels_"):
            raise NotFittedError(
                f"This {type(self).__name__} has not been fitted: call fit(y_true, y_score) first."
            )

    def _checked(self, y_score: Any) -> Scores:
        """The scores, checked to be of the labels that the rule was fitted on."""
        self.check_fitted()
        scores = read_scores(y_score)
        fitted = getattr(self, "n_labels_", scores.shape[1])
        if scores.shape[1] != fitted:
            raise ValueError(
                f"{type(self).__name__} was fitted on {fitted} labels, but y_score has "
                f"{scores.shape[1]} columns. Pass the scores of the same labels, or refit the rule."
            )
        names, known = column_names(y_score), getattr(self, "label_names_", None)
        if names is not None and known is not None and names != known:
            other = next(
                k for k, pair in enumerate(zip(names, known, strict=True)) if len({*pair}) > 1
            )
            raise ValueError(
                f"{type(self).__name__} was fitted on other labels, or in another order: column "
                f"{other} was {known[other]!r} and is now {names[other]!r}. Reorder the columns of "
                "y_score, or refit the rule."
            )
        return scores

    @abstractmethod
    def _fit(self, Y: Pattern, scores: Scores, X: Any) -> None:
        """Learn what the rule needs."""

    @abstractmethod
    def _predict(self, scores: Scores, X: Any) -> Labels:
        """Cut checked scores."""


class FixedThreshold(ThresholdRule):
    """A given threshold: one number for all labels, or one per label.

    Parameters
    ----------
    threshold : float or array-like of shape (n_labels,)
        Predict a label where its score is higher; 0.5 is usual for probabilities, 0 for decision
        functions.

    Examples
    --------
    >>> import limo
    >>> limo.FixedThreshold(0.5).predict([[0.75, 0.25], [0.5, 1.0]])
    array([[1, 0],
           [0, 1]])
    """

    __module__ = "limo"  # the public name, which model files contain

    needs_fit = False

    def __init__(self, threshold: Any) -> None:
        self.threshold = threshold

    def _fit(self, Y: Pattern, scores: Scores, X: Any) -> None:
        self._predict(scores, X)

    def _predict(self, scores: Scores, X: Any) -> Labels:
        return cut_scores(scores, self.threshold, COLUMNS)


class TopK(ThresholdRule):
    """The k labels of each instance with the highest scores; k is given or learnt.

    Ties are never split: labels tied across the k-th place are all left out.

    Parameters
    ----------
    k : int, optional
        The largest number of labels per instance; by default ``fit`` finds the best one for the
        target.
    target : str, callable or Target, optional
        What a learnt k maximises; by default ``"instance_f1"``.

    Attributes
    ----------
    k_ : int
        The number in use.

    Examples
    --------
    >>> import limo
    >>> y_score = [[0.75, 0.25, 0.5], [1.0, 0.5, 0.75]]
    >>> limo.TopK(2).predict(y_score)
    array([[1, 0, 1],
           [1, 0, 1]])
    >>> limo.TopK().fit([[1, 0, 0], [1, 0, 0]], y_score).k_
    1
    """

    __module__ = "limo"  # the public name, which model files contain
    takes_weights = True

    def __init__(self, k: int | None = None, target: Any = None) -> None:
        self.k = k
        self.target = target

    @property
    def needs_fit(self) -> bool:  # type: ignore[override]
        """Whether k is to be learnt."""
        return self.k is None

    def _fit(self, Y: Pattern, scores: Scores, X: Any) -> None:
        self.k_ = self._learn(Y, scores) if self.k is None else check_count(self.k, "k")

    def _learn(self, Y: Pattern, scores: Scores) -> int:
        """A global threshold of the ranks is a k."""
        target = check_target("instance_f1" if self.target is None else self.target)
        t = float(best_thresholds(ENTRIES, target, Y, scores.worst_ranks()).values[0])
        return int(np.clip(np.floor(-t), 0, scores.shape[1]))

    def _predict(self, scores: Scores, X: Any) -> Labels:
        k = check_count(self.k, "k") if self.k is not None else self.k_
        return scores.worst_ranks().cut(np.asarray(-k - 0.5))


class GlobalThreshold(ThresholdRule):
    """One threshold for all labels and instances: the rule for micro-F1.

    Parameters
    ----------
    target : str, callable or Target, optional
        What to maximise; by default ``"micro_f1"``. Exact for every target.

    Attributes
    ----------
    threshold_ : float
        ``inf`` predicts nothing, ``-inf`` everything.

    Examples
    --------
    >>> import limo
    >>> rule = limo.GlobalThreshold().fit([[1, 0], [0, 1]], [[0.75, 0.25], [0.5, 1.0]])
    >>> rule.threshold_
    0.625
    """

    __module__ = "limo"  # the public name, which model files contain
    takes_weights = True

    def __init__(self, target: Any = None) -> None:
        self.target = target

    def _fit(self, Y: Pattern, scores: Scores, X: Any) -> None:
        target = check_target("micro_f1" if self.target is None else self.target)
        self.threshold_ = float(best_thresholds(ENTRIES, target, Y, scores).values[0])

    def move_to_zero(self) -> float:
        """Shift a finite threshold to 0 and return the old value."""
        before = self.threshold_
        if not np.isfinite(before):
            return 0.0
        self.threshold_ = 0.0
        return before

    def _predict(self, scores: Scores, X: Any) -> Labels:
        return cut_scores(scores, self.threshold_, ENTRIES)


class LabelThreshold(ThresholdRule):
    """A threshold per label, t_j: the rule for macro-F1 and Hamming loss.

    Each threshold is the best one on the scores it is fitted to. With few positives it is
    unreliable, so it is moved towards the usual place of a threshold.

    Parameters
    ----------
    target : str, callable or Target, optional
        What to maximise; by default ``"macro_f1"``. With a micro target (``"micro_f1"``) the
        thresholds are chosen together, for the whole matrix.
    shrinkage : float, default=5.0
        How many positives the usual place counts for. With n_j positives, the threshold of label j
        becomes (n_j t_j + shrinkage u_j) / (n_j + shrinkage). The usual place u_j is as far from
        the mean score of label j as the median label's threshold is from its mean score.
        Infinite thresholds stay, and a label without positives is never predicted. 0 keeps the
        best threshold of every label.

    Attributes
    ----------
    thresholds_ : array of shape (n_labels,)
        ``inf`` predicts a label for no instance, ``-inf`` for all.

    Notes
    -----
    On six data sets (``benchmarks/thresholds.py``) shrinkage raises macro-F1, most where labels
    are rarest. Distances from the mean are used because scores of different labels need not
    be comparable. Thresholds fitted to training scores are too high: fit the rule in
    :class:`limo.ThresholdClassifier`, which cross-fits.

    Examples
    --------
    >>> import limo
    >>> y_true, y_score = [[1, 0], [1, 0], [0, 1]], [[0.75, 0.5], [0.25, 0.5], [0.0, 0.75]]
    >>> rule = limo.LabelThreshold(shrinkage=0).fit(y_true, y_score)
    >>> rule.thresholds_
    array([0.125, 0.625])
    >>> rule.predict([[0.5, 0.5]])
    array([[1, 0]])
    >>> rule.predict([[0.5, 0.5, 0.5]])
    Traceback (most recent call last):
        ...
    ValueError: LabelThreshold was fitted on 2 labels, but y_score has 3 columns. Pass the scores
    of the same labels, or refit the rule.
    """

    __module__ = "limo"  # the public name, which model files contain
    takes_weights = True

    def __init__(self, target: Any = None, *, shrinkage: float = SHRINKAGE) -> None:
        self.target = target
        self.shrinkage = shrinkage

    def _fit(self, Y: Pattern, scores: Scores, X: Any) -> None:
        target = check_target("macro_f1" if self.target is None else self.target)
        prior = float(check_number(self.shrinkage, "shrinkage", least=0))
        self.thresholds_ = best_thresholds(COLUMNS, target, Y, scores).values
        if prior:
            self.thresholds_ = shrunk_by(self.thresholds_, Y, scores, prior)

    def move_to_zero(self) -> float:
        """Shift the finite threshold of a single label to 0 and return the old value."""
        if self.thresholds_.size != 1 or not np.isfinite(self.thresholds_[0]):
            return 0.0
        before, self.thresholds_ = float(self.thresholds_[0]), np.zeros(1)
        return before

    def _predict(self, scores: Scores, X: Any) -> Labels:
        return cut_scores(scores, self.thresholds_, COLUMNS)


def shrunk_by(t: Values, Y: Pattern, scores: Scores, prior: float) -> Values:
    """Thresholds of labels, moved as :func:`shrunk` does."""
    return shrunk(t, COLUMNS.ones(Y), scores.T.means(Y.row_weights), prior)


def shrunk(t: Values, positives: Anything, means: Values, prior: float) -> Values:
    """Thresholds of labels, moved towards the usual distance from the label's mean score."""
    finite = np.isfinite(t)
    usual = means + (np.median((t - means)[finite]) if finite.any() else 0.0)
    # infinite ones stay: they are left out of the sum, which would be nan for 0 positives
    moved = (positives * np.where(finite, t, 0.0) + prior * usual) / (positives + prior)
    return np.where(positives == 0, np.inf, np.where(finite, moved, t))


class ExpectedF1(ThresholdRule):
    """The label set of highest expected F1 for each instance, from probabilities.

    Exact if labels are independent given the instance; with the GFM matrix, exact without that.
    Nothing is fitted. The probabilities must be calibrated.

    Parameters
    ----------
    f1_of_nothing : float, default=0
        F1 where nothing is true and nothing predicted.

    Examples
    --------
    >>> import limo
    >>> limo.ExpectedF1().predict([[0.9, 0.4, 0.1], [0.4, 0.4, 0.1]])
    array([[1, 0, 0],
           [1, 1, 0]])

    With P(y_j = 1, |y| = s) in an array of three dimensions no independence is assumed:

    >>> limo.ExpectedF1().predict([[[0.0, 0.5], [0.0, 0.5], [0.5, 0.0]]])
    array([[1, 1, 1]])
    """

    __module__ = "limo"  # the public name, which model files contain

    needs_fit = False
    needs_probabilities = True

    def __init__(self, *, f1_of_nothing: float = 0.0) -> None:
        self.f1_of_nothing = f1_of_nothing

    def predict(self, y_score: Any, X: Any = None) -> Labels:
        """Predict from probabilities, or from the GFM matrix.

        Parameters
        ----------
        y_score : array-like or sparse matrix
            Probabilities of shape (n_samples, n_labels), absent ones being 0; or an array of shape
            (n_samples, n_labels, n_sizes) with P(y_j = 1, |y| = s), s from 1 up.
        X : ignored
            Part of the common interface.

        Returns
        -------
        array or CSR array of shape (n_samples, n_labels)
        """
        if np.ndim(y_score) == 3:
            return gfm_labels(y_score, f1_of_nothing=self._of_nothing())
        return super().predict(y_score, X)

    def _of_nothing(self) -> float:
        return float(check_number(self.f1_of_nothing, "f1_of_nothing", least=0, most=1))

    def _fit(self, Y: Pattern, scores: Scores, X: Any) -> None:
        self._of_nothing()
        check_probabilities(scores)

    def _predict(self, scores: Scores, X: Any) -> Labels:
        t = expected_f1_thresholds(check_probabilities(scores), self._of_nothing())
        return scores.cut(t[:, np.newaxis])
