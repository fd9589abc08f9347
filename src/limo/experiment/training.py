"""From a method to an estimator of its own: scaled, fitted for a measure, cut as it should be."""

from typing import Any

from sklearn.pipeline import make_pipeline

from limo._checks import check_name
from limo.experiment.method import Method
from limo.measures.table import MEASURES
from limo.thresholds import ThresholdClassifier

__all__ = ["estimator_for"]

# What predict cuts for where the measure judges scores and needs no cut.
_ANY_CUT = "micro_f1"


def estimator_for(method: Method, measure: str, *, seed: int | None = None) -> Any:
    """Make an estimator that does all that a comparison does with a method, for one measure.

    Parameters
    ----------
    method : Method
        One of ``limo.experiment.METHODS``, or of your own.
    measure : str
        What the model is for: the cut of ``predict`` suits it, and a method that aims at a measure
        aims at this one.
    seed : int, optional
        For what draws at random.

    Returns
    -------
    estimator
        Unfitted: the scaling and the learner in a pipeline, with a cross-fitted threshold
        unless the learner has its own.

    Examples
    --------
    >>> import limo
    >>> from limo.experiment import METHODS, estimator_for
    >>> estimator_for(METHODS["mlknn"], "macro_f1")
    Pipeline(steps=[('maxabsscaler', MaxAbsScaler()), ('mlknnclassifier', MLKNNClassifier())])
    """
    check_name(measure, MEASURES, "measure")
    model, scaler = method.build([measure], seed), method.scaler()
    learner = model if scaler is None else make_pipeline(scaler, model)
    judged = measure if MEASURES[measure].needs == "labels" else _ANY_CUT
    cut = method.cuts([judged])[judged]
    if cut.rule is None:
        return learner
    return ThresholdClassifier(learner, cut.rule, cv=method.cv)
