"""Measures as scorers for scikit-learn's model selection."""

from dataclasses import dataclass
from typing import Any

from limo._checks import check_inputs, check_name
from limo.measures.compute import check_conventions, compute
from limo.measures.conventions import Conventions
from limo.measures.table import MEASURES
from limo.responses import scores_of

__all__ = ["MeasureScorer", "make_scorer"]


@dataclass(frozen=True)
class MeasureScorer:
    """A callable ``(estimator, X, y) -> float`` whose greater values are better.

    Measures of which less is better are negated, as scikit-learn expects.
    """

    measure: str
    conventions: Conventions

    def __call__(self, estimator: Any, X: Any, y: Any) -> float:
        """Score a fitted estimator on ``X`` and the true labels ``y``."""
        measure = MEASURES[self.measure]
        if measure.needs == "scores":
            checked = check_inputs(y, y_score=scores_of(estimator, X))
        else:
            checked = check_inputs(y, y_pred=estimator.predict(X))
        result = compute([measure], checked, self.conventions).results[self.measure]
        return measure.sign * result.value

    def __repr__(self) -> str:
        return f"make_scorer({self.measure!r}, conventions={self.conventions.name!r})"


def make_scorer(measure: str, *, conventions: str | Conventions = "standard") -> MeasureScorer:
    """Make a scorer for ``cross_validate``, ``GridSearchCV`` and their like.

    Works with any multi-label estimator: measures of scores take ``decision_function`` or else
    ``predict_proba``, be it one matrix or a list of arrays; measures of labels take ``predict``.

    Parameters
    ----------
    measure : str
        Name of a measure, such as ``"macro_auc"``; ``limo.MEASURES`` lists them.
    conventions : str or Conventions, default="standard"
        What ties and undefined rows count.

    Returns
    -------
    MeasureScorer
        Greater is better: losses come out negative.

    Examples
    --------
    >>> import limo
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.multiclass import OneVsRestClassifier
    >>> data = limo.datasets.figure1(200)
    >>> model = OneVsRestClassifier(LogisticRegression())
    >>> scores = cross_val_score(model, data.X, data.Y, scoring=limo.make_scorer("ranking_loss"))
    >>> bool((scores <= 0).all())
    True
    """
    name = check_name(measure, MEASURES, "measure")
    return MeasureScorer(name, check_conventions(conventions))
