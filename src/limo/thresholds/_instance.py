"""t(x): a threshold per instance, predicted by a regression."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from limo._checks import check_name, check_number
from limo._types import Values
from limo._views import ROWS, Pattern
from limo.thresholds._best import Labels, cut_scores
from limo.thresholds._rules import ThresholdRule
from limo.thresholds._scores import Scores
from limo.thresholds._search import Thresholds, best_thresholds, check_target

_SOURCES = ("scores", "features", "both")
_REGRESSORS = ("ridge", "svr")
_TIES = ("fewest", "most")
# How many of the highest scores the regression reads. Scores far from the highest carry little
# information about the threshold, and mislead where they differ between fitting and use, as those
# of labels that are constant in training may. On five data sets, fewer were as good, and more were
# no better.
_MOST_SCORES = 20


class InstanceThreshold(ThresholdRule):
    """A threshold per instance, t(x): the rule for instance-F1.

    For each training instance the best threshold is found exactly; a regression then predicts the
    threshold of new instances from their features, their sorted scores, or both.

    Parameters
    ----------
    target : str, callable or Target, optional
        What the training thresholds maximise; by default ``"instance_f1"``.
    source : {"scores", "features", "both"}, default="scores"
        What the regression reads: the twenty highest scores of the instance, in order; its
        features; or both.
    regressor : {"ridge", "svr"} or estimator, default="ridge"
        Ridge regression with a penalty chosen by leave-one-out, on standardised input; or support
        vector regression with an RBF kernel, C = 1 and gamma = 1 / n_features, as in the
        paper; or any scikit-learn regressor.
    end_gap : float, default=0.5
        If all labels, or none, are best for an instance, its threshold is placed beyond its lowest
        or highest score, by this many times the average gap between its neighbouring scores. 0
        puts it at that score, as the paper does.
    ties : {"fewest", "most"}, default="fewest"
        Which of several equally good training thresholds to take: the one with fewest or with most
        labels above it.
    at_least_one : bool, default=False
        Whether no training threshold may be above the highest score of its instance, even where
        predicting nothing is best. The program of the paper's authors does so for Hamming loss.
        New instances may still get no label.

    Attributes
    ----------
    regressor_ : estimator
        The fitted regression.

    Examples
    --------
    >>> import limo
    >>> y_true = [[1, 0, 0], [1, 1, 0]] * 3
    >>> y_score = [[0.9, 0.6, 0.1], [0.5, 0.4, 0.0]] * 3
    >>> rule = limo.InstanceThreshold().fit(y_true, y_score)
    >>> rule.predict([[0.9, 0.6, 0.1], [0.5, 0.4, 0.0]])
    array([[1, 0, 0],
           [1, 1, 0]])
    """

    __module__ = "limo"  # the public name, which model files contain

    def __init__(
        self,
        target: Any = None,
        *,
        source: str = "scores",
        regressor: Any = "ridge",
        end_gap: float = 0.5,
        ties: str = "fewest",
        at_least_one: bool = False,
    ) -> None:
        self.target = target
        self.source = source
        self.regressor = regressor
        self.end_gap = end_gap
        self.ties = ties
        self.at_least_one = at_least_one

    @property
    def needs_features(self) -> bool:  # type: ignore[override]
        """Whether ``fit`` and ``predict`` need ``X``."""
        return self.source != "scores"

    def thresholds(self, y_score: Any, X: Any = None) -> Values:
        """The threshold t(x) of each instance."""
        return self._thresholds(self._checked(y_score), X)

    def _fit(self, Y: Pattern, scores: Scores, X: Any) -> None:
        target = check_target("instance_f1" if self.target is None else self.target)
        check_number(self.end_gap, "end_gap", least=0)
        most = check_name(self.ties, _TIES, "rule for ties") == "most"
        self.width_ = min(scores.width, _MOST_SCORES)
        seen = self._seen(scores, X)
        if self.at_least_one and target.view(ROWS) is not ROWS:
            raise ValueError(
                f"at_least_one=True needs a target that judges each instance, got {str(target)!r}: "
                "thresholds for it are chosen jointly. Use at_least_one=False."
            )
        best = best_thresholds(ROWS, target, Y, scores, most=most, at_least_one=self.at_least_one)
        self.regressor_ = self._new_regressor().fit(seen, _finite(best, scores, self.end_gap))

    def _predict(self, scores: Scores, X: Any) -> Labels:
        return cut_scores(scores, self._thresholds(scores, X), ROWS)

    def _thresholds(self, scores: Scores, X: Any) -> Values:
        found: Values = self.regressor_.predict(self._seen(scores, X))
        return found

    def _seen(self, scores: Scores, X: Any) -> Any:
        """What the regression reads."""
        source = check_name(self.source, _SOURCES, "source of t(x)")
        parts = []
        if source != "scores":
            parts.append(_features(X, scores.shape[0], source))
        if source != "features":
            parts.append(scores.descending(self.width_, scores.lowest()))
        if len(parts) == 1:
            return parts[0]
        return sparse.hstack(parts).tocsr() if sparse.issparse(parts[0]) else np.hstack(parts)

    def _new_regressor(self) -> Any:
        if not isinstance(self.regressor, str):
            return clone(self.regressor)
        if check_name(self.regressor, _REGRESSORS, "regressor") == "svr":
            return SVR(C=1.0, gamma="auto")
        return make_pipeline(StandardScaler(with_mean=False), RidgeCV(np.logspace(-2, 4, 13)))


def _finite(best: Thresholds, scores: Scores, end_gap: float) -> Values:
    """The thresholds, where those beyond all scores of an instance are moved near its last one."""
    high, low = scores.highest(), scores.lowest()
    beyond = end_gap * (high - low) / max(scores.width - 1, 1)
    below = np.nextafter(low - beyond, -np.inf)
    t = np.where(np.isposinf(best.upper), high + beyond, best.values)
    return np.where(np.isneginf(t), below, t)


def _features(X: Any, n_rows: int, source: str) -> Any:
    if X is None:
        raise ValueError(
            f"InstanceThreshold(source={source!r}) reads the features: pass X to fit and to "
            "predict, or use source='scores'."
        )
    features = X if sparse.issparse(X) else np.asarray(X)
    if features.ndim != 2 or features.shape[0] != n_rows:
        raise ValueError(
            f"X must have one row per instance: expected {n_rows} rows, got shape {features.shape}."
        )
    return features
