"""Scorers for scikit-learn's model selection."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from limo._checks import check_inputs
from limo._scores import scores_of
from limo._system import Later
from limo.measures._compute import check_conventions, compute
from limo.measures._conventions import Conventions
from limo.measures._measure import Measure
from limo.measures._own import as_measure

routing = Later("sklearn.utils.metadata_routing")


@dataclass(frozen=True)
class MeasureScorer:
    """A callable ``(estimator, X, y) -> float`` that returns higher values for better estimators.

    Measures for which lower is better are negated, as scikit-learn expects.
    """

    measure: str | Measure
    conventions: Conventions
    missing: Any = None
    requested: bool | str | None = None

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Score a fitted estimator on ``X`` and the true labels ``y``."""
        measure = as_measure(self.measure)
        if measure.needs == "scores":
            outputs: dict[str, Any] = {"y_score": scores_of(estimator, X)}
        else:
            outputs = {"y_pred": estimator.predict(X)}
        checked = check_inputs(y, **outputs, missing=self.missing, sample_weight=sample_weight)
        result = compute([measure], checked, self.conventions).results[measure.name]
        return measure.sign * result.value

    def set_score_request(self, *, sample_weight: bool | str | None) -> "MeasureScorer":
        """Return a scorer that asks scikit-learn's metadata routing for sample weights, or not.

        Parameters
        ----------
        sample_weight : bool, str or None
            True asks for them, False does without, a string is the name they are passed under, and
            None makes passing them an error.
        """
        return replace(self, requested=sample_weight)

    def get_metadata_routing(self) -> Any:
        """The metadata that this scorer requests from scikit-learn's routing."""
        request = routing.MetadataRequest(owner=self)
        request.score.add_request(param="sample_weight", alias=self.requested)
        return request

    def __getstate__(self) -> dict[str, Any]:
        # model files hold plain types only
        return {**self.__dict__, "conventions": self.conventions.to_dict()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__dict__["conventions"] = Conventions(**state["conventions"])

    def _accept_sample_weight(self) -> bool:
        return True  # scikit-learn's searches ask this when metadata routing is off

    def __repr__(self) -> str:
        name = self.measure if isinstance(self.measure, str) else self.measure.name
        return f"make_scorer({name!r}, conventions={self.conventions.name!r})"


def make_scorer(
    measure: str | Measure | Callable[..., Any],
    *,
    conventions: str | Conventions = "standard",
    missing: float | None = None,
) -> MeasureScorer:
    """Make a scorer for ``cross_validate``, ``GridSearchCV`` and similar functions.

    Works with any multi-label estimator: measures of scores use ``decision_function``, or else
    ``predict_proba``, which may return one matrix or a list of arrays; measures of labels use
    ``predict``.

    Parameters
    ----------
    measure : str, Measure or callable
        Name of a measure, such as ``"macro_auc"`` or ``"precision_at_5"``; a record; or a function
        of your own, see :func:`limo.measures.make_measure`.
    conventions : str or Conventions, default="standard"
        How ties and undefined rows count.
    missing : float, optional
        The number that stands for a missing label in the true labels: nan or -1.

    Returns
    -------
    MeasureScorer
        Higher is better: losses are negative. ``set_score_request(sample_weight=True)`` lets
        metadata routing pass weights on.

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
    record = as_measure(measure)
    known = measure if isinstance(measure, str) else record
    return MeasureScorer(known, check_conventions(conventions), missing)
