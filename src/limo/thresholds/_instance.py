"""t(x): a threshold per instance, predicted by a regression; and t(x) + t_j, with an offset."""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import Ridge, RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from sklearn.utils.validation import has_fit_parameter

from limo._settings import check_flag, check_name, check_number
from limo._sparse import check_sparse
from limo._types import Values
from limo._views import COLUMNS, ENTRIES, ROWS, Pattern
from limo.thresholds._best import Labels
from limo.thresholds._rules import SHRINKAGE, ThresholdRule, shrunk_by
from limo.thresholds._scores import Scores
from limo.thresholds._search import Kept, Thresholds, best_thresholds
from limo.thresholds._target import Target, check_target

_SOURCES = ("scores", "features", "both")
_REGRESSORS = ("ridge", "svr")
_TIES = ("fewest", "most")
_OFFSETS = ("global", "label")
_PENALTIES = np.logspace(-2, 4, 13)
# How many of the highest scores the regression reads. Scores far from the highest carry little
# information about the threshold, and mislead where they differ between fitting and use, as those
# of labels that are constant in training may. On five data sets, fewer were as good, and more were
# no better.
_MOST_SCORES = 20
_LARGEST = 1e100  # scores beyond count as this, so that their squares are finite


class InstanceThreshold(ThresholdRule):
    """A threshold per instance, t(x): the rule for instance-F1.

    For each training instance the best threshold is found exactly; a regression then predicts the
    threshold of new instances from their features, their sorted scores, or both. An offset turns
    t(x) into t(x) + t, or into t(x) + t_j with one number per label. With it, t(x) can serve every
    measure of labels: t(x) is fitted to the instance average of the target, then the offset to the
    target itself, on the scores minus t(x).

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
    offset : {"global", "label"}, optional
        What is added to t(x): one number, or one per label. By default nothing.

    Attributes
    ----------
    regressor_ : estimator
        The fitted regression.
    offset_ : float or array of shape (n_labels,)
        What is added to t(x); 0 by default.

    Examples
    --------
    >>> import limo
    >>> y_true = [[1, 0, 0], [1, 1, 0]] * 3
    >>> y_score = [[0.9, 0.6, 0.1], [0.5, 0.4, 0.0]] * 3
    >>> rule = limo.InstanceThreshold().fit(y_true, y_score)
    >>> rule.predict([[0.9, 0.6, 0.1], [0.5, 0.4, 0.0]])
    array([[1, 0, 0],
           [1, 1, 0]])
    >>> limo.InstanceThreshold("macro_f1", offset="label").fit(y_true, y_score).offset_.shape
    (3,)
    """

    __module__ = "limo"  # the public name, which model files contain
    takes_weights = True

    def __init__(
        self,
        target: Any = None,
        *,
        source: str = "scores",
        regressor: Any = "ridge",
        end_gap: float = 0.5,
        ties: str = "fewest",
        at_least_one: bool = False,
        offset: str | None = None,
    ) -> None:
        self.target = target
        self.source = source
        self.regressor = regressor
        self.end_gap = end_gap
        self.ties = ties
        self.at_least_one = at_least_one
        self.offset = offset

    @property
    def needs_features(self) -> bool:  # type: ignore[override]
        """Whether ``fit`` and ``predict`` need ``X``."""
        return self.source != "scores"

    def thresholds(self, y_score: Any, X: Any = None) -> Values:
        """The threshold t(x) of each instance, without the offset."""
        return self._thresholds(self._checked(y_score), X)

    def _fit(self, Y: Pattern, scores: Scores, X: Any) -> None:
        target = check_target("instance_f1" if self.target is None else self.target)
        if self.offset is not None:
            check_name(self.offset, _OFFSETS, "offset")
        check_number(self.end_gap, "end_gap", least=0)
        check_flag(self.at_least_one, "at_least_one")
        if not isinstance(self.regressor, str) and not hasattr(self.regressor, "fit"):
            raise ValueError(f"regressor must be a model with fit, got {self.regressor!r}.")
        self.width_ = scores_read(scores)
        seen, best = self._seen(scores, X), self._best(Y, scores, target)
        t, weights = finite_thresholds(best, scores, self.end_gap), Y.row_weights
        read = seen
        if Y.unknown is not None:  # without any known label there is no best threshold
            known = np.flatnonzero(Y.unknown.ones_per_row < Y.shape[1])
            t, read = t[known], seen[known]
            weights = None if weights is None else weights[known]
        self.regressor_ = self._learn(read, t, weights)
        self.offset_: Any = 0.0
        if self.offset is not None:
            rest = scores.minus(self.regressor_.predict(seen))
            self.offset_ = best_offset(self.offset, target, Y, rest)

    def _best(self, Y: Pattern, scores: Scores, target: Target) -> Thresholds:
        """The best threshold of each training instance."""
        most = check_name(self.ties, _TIES, "rule for ties") == "most"
        if self.offset is not None:
            target = replace(target, average=ROWS.average)
        if self.at_least_one and target.view(ROWS) is not ROWS:
            raise ValueError(
                f"at_least_one=True needs a target that judges each instance, got {str(target)!r}: "
                "thresholds for it are chosen jointly. Use at_least_one=False."
            )
        return best_thresholds(ROWS, target, Y, scores, most=most, at_least_one=self.at_least_one)

    def _predict(self, scores: Scores, X: Any) -> Labels:
        return scores.minus(self._thresholds(scores, X)).cut(self.offset_)

    def _thresholds(self, scores: Scores, X: Any) -> Values:
        thresholds: Values = self.regressor_.predict(self._seen(scores, X))
        return thresholds

    def _seen(self, scores: Scores, X: Any) -> Any:
        """The input of the regression."""
        source = check_name(self.source, _SOURCES, "source of t(x)")
        parts = []
        if source != "scores":
            parts.append(_features(X, scores.shape[0], source))
        if source != "features":
            parts.append(highest_scores(scores, self.width_))
        if len(parts) == 1:
            return parts[0]
        return sparse.hstack(parts).tocsr() if sparse.issparse(parts[0]) else np.hstack(parts)

    def _learn(self, seen: Any, thresholds: Values, weights: Values | None) -> Any:
        given = {} if weights is None else {"sample_weight": weights}
        if not isinstance(self.regressor, str):
            if given and not has_fit_parameter(self.regressor, "sample_weight"):
                raise ValueError(
                    f"{type(self.regressor).__name__} takes no sample_weight: leave the weights "
                    "out, or use another regressor, such as regressor='ridge'."
                )
            return clone(self.regressor).fit(seen, thresholds, **given)
        if check_name(self.regressor, _REGRESSORS, "regressor") == "svr":
            return SVR(C=1.0, gamma="auto").fit(seen, thresholds, **given)
        if sparse.issparse(seen) or seen.shape[1] > seen.shape[0]:
            ridge = make_pipeline(StandardScaler(with_mean=False), RidgeCV(_PENALTIES))
            steps = {f"{step}__sample_weight": weights for step, _ in ridge.steps} if given else {}
            return ridge.fit(seen, thresholds, **steps)
        return linear_model(*fit_ridge(seen, thresholds, weights))


def highest_scores(scores: Scores, width: int) -> Values:
    """The input of the regression: the ``width`` highest scores of each instance."""
    return np.clip(scores.descending(width, scores.lowest()), -_LARGEST, _LARGEST)


def scores_read(scores: Scores) -> int:
    """How many of the highest scores of an instance the regression reads."""
    return min(scores.width, _MOST_SCORES)


def fit_ridge(X: Values, y: Values, rows: Values | None = None) -> tuple[Values, float]:
    """Ridge regression on standardised features, its penalty chosen by leave-one-out.

    The same as scikit-learn's ``StandardScaler`` and ``RidgeCV``, for few dense features and
    without their overhead. With X'X = Q diag(e) Q' and Z = XQ, the fitted values for a penalty a
    are Z diag(1 / (e + a)) Z'y, so that all penalties need one decomposition. Row i is left out by
    dividing its residual by 1 - h_i, where h_i = 1/m + sum_k z_ik^2 / (e_k + a). Rows with weights
    count as so many copies, of which one is left out.
    """
    if rows is None:
        rows = np.ones(len(X))
    centre = np.average(X, axis=0, weights=rows)
    scale = np.sqrt(np.average(np.square(X - centre), axis=0, weights=rows))
    scale[scale <= 10 * np.finfo(np.float64).eps * np.abs(centre)] = 1.0
    level = np.average(y, weights=rows)
    Z = (X - centre) / scale
    e, Q = np.linalg.eigh(Z.T @ (rows[:, np.newaxis] * Z))
    Z = Z @ Q
    onto = Z.T @ (rows * (y - level))
    weights = 1.0 / (np.maximum(e, 0.0)[:, np.newaxis] + _PENALTIES)
    rest = (y - level)[:, np.newaxis] - Z @ (onto[:, np.newaxis] * weights)
    leverage = 1.0 / rows.sum() + np.square(Z) @ weights
    with np.errstate(divide="ignore", invalid="ignore"):
        loss = rows @ np.square(rest / (1.0 - leverage))
    best = 0 if np.isnan(loss).all() else int(np.nanargmin(loss))
    coef: Values = Q @ (onto * weights[:, best]) / scale
    return coef, float(level - centre @ coef)


def linear_model(coef: Values, intercept: float) -> Ridge:
    """A fitted linear regression with these weights."""
    model = Ridge()
    model.coef_, model.intercept_, model.n_features_in_ = coef, intercept, coef.size
    return model


def best_offset(
    kind: str, target: Target, Y: Pattern, rest: Scores, kept: Kept | None = None
) -> Any:
    """The best offset of t(x), one number or one per label, for scores minus t(x)."""
    if kind == "global":
        return float(best_thresholds(ENTRIES, target, Y, rest, kept=kept).values[0])
    t = best_thresholds(COLUMNS, label_target(target), Y, rest, kept=kept).values
    return shrunk_by(t, Y, rest, SHRINKAGE)


def label_target(target: Target) -> Target:
    """The target that a threshold per label is fitted to, so that it serves a given target.

    It is the same one unless that judges instances. Then it is the micro average: thresholds of
    labels can be chosen together for the whole matrix, but not for each of many instances.
    """
    return replace(target, average="micro") if target.average == ROWS.average else target


def finite_thresholds(best: Thresholds, scores: Scores, end_gap: float = 0.5) -> Values:
    """The thresholds, where those beyond all scores of an instance are moved near its last one."""
    high, low = (np.clip(s, -_LARGEST, _LARGEST) for s in (scores.highest(), scores.lowest()))
    beyond = end_gap * (high - low) / max(scores.width - 1, 1)
    below = np.nextafter(low - beyond, -np.inf)
    t = np.where(np.isposinf(best.upper), high + beyond, best.values)
    return np.clip(np.where(np.isneginf(t), below, t), -2 * _LARGEST, 2 * _LARGEST)


def _features(X: Any, n_rows: int, source: str) -> Any:
    if X is None:
        raise ValueError(
            f"InstanceThreshold(source={source!r}) reads the features: pass X to fit and to "
            "predict, or use source='scores'."
        )
    check_sparse(X, "X")
    features = X if sparse.issparse(X) else np.asarray(X)
    if features.ndim != 2 or features.shape[0] != n_rows:
        raise ValueError(
            f"X must have one row per instance: expected {n_rows} rows, got shape {features.shape}."
        )
    return features
