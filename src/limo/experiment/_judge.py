"""Fit a method on training data and evaluate it on test data, by one or more measures.

The model is fitted once for all measures, and each kind of scores is computed once. Models and
rules are fitted by :class:`limo.thresholds._fit.Training`, as in ``estimator_for``, so that a
comparison and ``limo fit`` give the same predictions.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from traceback import extract_tb
from typing import Any, Literal

from sklearn.base import clone
from sklearn.pipeline import Pipeline

from limo._checks import Checked, check_inputs, check_labels
from limo._types import Values
from limo.datasets import Dataset
from limo.experiment._method import Method, ThresholdSetting
from limo.measures._compute import compute
from limo.measures._conventions import Conventions
from limo.measures._table import MEASURES
from limo.thresholds._fit import Fitted, Training, label_matrix


@dataclass(frozen=True)
class Score:
    """The value of one measure, or the error that prevented it.

    Attributes
    ----------
    measure : str
        The name of the measure.
    value : float
        Its value; nan if it is undefined or there was an error.
    threshold : str
        The threshold that cut the scores; empty for measures of scores.
    error : str
        Why there is no value; empty if there is one.
    """

    measure: str
    value: float
    threshold: str = ""
    error: str = ""

    @property
    def status(self) -> Literal["ok", "failed"]:
        """Whether there is a value."""
        return "failed" if self.error else "ok"


def judge(
    method: Method,
    train: Dataset,
    test: Dataset,
    measures: Sequence[str],
    conventions: Conventions,
    seed: int,
) -> Iterator[Score]:
    """Fit once, then score each measure; an error for one measure does not affect the others."""
    # Dense labels: every estimator takes them.
    Y = label_matrix(check_labels(train.Y, "y"), as_sparse=False)
    learner = method.learner(measures, seed)
    fitted = Training(learner, train.X, Y, method.cv).fitted
    for own, names in _models(fitted, measures, method.targeted):
        training = Training(learner, train.X, Y, method.cv, fitted=own)
        yield from _judge_model(_Tested(training, test), method, names, conventions)


def failures(measures: Sequence[str], error: str, threshold: str = "") -> list[Score]:
    """The same error for each measure."""
    return [Score(measure, float("nan"), threshold, error) for measure in measures]


def error_text(error: BaseException) -> str:
    """The error in one line, with the file and line that raised it."""
    frames = extract_tb(error.__traceback__)
    place = f" [{Path(frames[-1].filename).name}, line {frames[-1].lineno}]" if frames else ""
    return f"{type(error).__name__}: {error}{place}"


class _Tested:
    """A fitted model on test data; each kind of scores is computed when first needed."""

    def __init__(self, training: Training, test: Dataset) -> None:
        self.training, self.test = training, test
        self._scores: dict[bool, Values] = {}

    def scored(self) -> Checked:
        """True labels and scores."""
        return check_inputs(self.test.Y, self.scores())

    def predicted(self, threshold: ThresholdSetting) -> Checked:
        """True labels and predicted labels."""
        return check_inputs(self.test.Y, y_pred=self.labels(threshold))

    def labels(self, threshold: ThresholdSetting) -> Any:
        """Predicted labels, by a rule or by the model's own ``predict``."""
        if threshold.rule is None:
            return self.training.fitted.own_labels(self.test.X)
        rule = clone(threshold.rule)
        S = self.scores(rule.needs_probabilities)
        if threshold.fitted_on == "test labels":
            rule.fit(self.test.Y, S, self.test.X)
        else:
            self.training.fit_rule(rule, threshold.fitted_on)
        return self.training.fitted.cut(rule, S, self.test.X)

    def scores(self, probabilities: bool = False) -> Values:
        """Scores or probabilities."""
        if probabilities not in self._scores:
            fitted = self.training.fitted
            self._scores[probabilities] = fitted.scores(self.test.X, probabilities=probabilities)
        return self._scores[probabilities]


def _models(
    fitted: Fitted, measures: Sequence[str], targeted: bool
) -> Iterator[tuple[Fitted, Sequence[str]]]:
    """One model for all measures or, if the method is targeted, a model for each."""
    if not targeted:
        yield fitted, measures
        return
    for name in measures:
        yield Fitted(_model_for(fitted.estimator, name), fitted.constant), [name]


def _model_for(estimator: Any, measure: str) -> Any:
    """The model of a fitted search for one measure, behind the same scaling."""
    if not isinstance(estimator, Pipeline):
        return estimator.model_for(measure)
    return Pipeline([*estimator.steps[:-1], ("model", estimator[-1].model_for(measure))])


def _judge_model(
    tested: _Tested, method: Method, measures: Sequence[str], conventions: Conventions
) -> Iterator[Score]:
    """All measures of scores at once, then those of labels, threshold by threshold."""
    ranking = [name for name in measures if MEASURES[name].needs == "scores"]
    yield from _values(ranking, conventions, tested.scored)
    for text, (threshold, names) in _grouped(method.thresholds(measures)).items():
        yield from _values(names, conventions, partial(tested.predicted, threshold), text)


def _grouped(
    thresholds: dict[str, ThresholdSetting],
) -> dict[str, tuple[ThresholdSetting, list[str]]]:
    """Equal thresholds once, with their measures."""
    groups: dict[str, tuple[ThresholdSetting, list[str]]] = {}
    for measure, threshold in thresholds.items():
        groups.setdefault(str(threshold), (threshold, []))[1].append(measure)
    return groups


def _values(
    names: Sequence[str], conventions: Conventions, make: Callable[[], Checked], threshold: str = ""
) -> Iterator[Score]:
    if not names:
        return
    try:
        results = compute([MEASURES[name] for name in names], make(), conventions).results
    except Exception as error:
        yield from failures(names, error_text(error), threshold)
        return
    for name in names:
        yield Score(name, results[name].value, threshold)
