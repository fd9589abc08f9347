"""Fit a method on one part, cut its scores, judge it on the other."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from traceback import extract_tb
from typing import Any, Literal

import numpy as np
from scipy import sparse
from sklearn.base import clone

from limo._checks import Checked, check_inputs, check_labels
from limo._types import Values
from limo.datasets import Dataset
from limo.experiment._method import Cut, FittedOn, Method
from limo.measures._compute import compute
from limo.measures._conventions import Conventions
from limo.measures._table import MEASURES
from limo.thresholds._fit import Fitted, cross_fit, fit_varying, folds_of, label_matrix

__all__ = ["Score", "failures", "judge", "said"]


@dataclass(frozen=True)
class Score:
    """The value of one measure; nan with an error if it could not be had.

    Attributes
    ----------
    measure : str
        Which one.
    value : float
        What it is; nan where the measure is undefined too.
    threshold : str
        What cut the scores; empty for measures of scores.
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


@dataclass(frozen=True, eq=False)
class Parts:
    """Scaled features and labels to learn from and to be judged on."""

    X: Any
    Y: Any
    X_test: Any
    Y_test: Any

    @classmethod
    def of(cls, train: Dataset, test: Dataset, scaler: Any) -> "Parts":
        """Scale by what the training part says. Labels are dense: every estimator takes them."""
        X, X_test = train.X, test.X
        if scaler is not None:
            scaler.fit(X)
            X, X_test = scaler.transform(X), scaler.transform(X_test)
        return cls(X, label_matrix(check_labels(train.Y, "y"), as_sparse=False), X_test, test.Y)


def judge(
    method: Method,
    parts: Parts,
    measures: Sequence[str],
    conventions: Conventions,
    seed: int,
) -> Iterator[Score]:
    """Fit once, then score each measure; what fails for one does not touch the others."""
    model = method.build(measures, seed)
    fitted = fit_varying(model, parts.X, parts.Y, {})
    for own, names in _models(fitted, measures, method.targeted):
        bench = _Bench(model, own, parts, method.cv)
        yield from _judge_model(bench, method, names, conventions)


def failures(measures: Sequence[str], error: str, threshold: str = "") -> list[Score]:
    """The same error for each measure."""
    return [Score(measure, float("nan"), threshold, error) for measure in measures]


def said(error: BaseException) -> str:
    """The error in one line, with the place it came from."""
    frames = extract_tb(error.__traceback__)
    place = f" [{Path(frames[-1].filename).name}, line {frames[-1].lineno}]" if frames else ""
    return f"{type(error).__name__}: {error}{place}"


class _Bench:
    """A fitted model with the scores it gives; each kind is computed when first asked for."""

    def __init__(self, model: Any, fitted: Fitted, parts: Parts, cv: Any) -> None:
        self.model, self.fitted, self.parts, self.cv = model, fitted, parts, cv
        self._kept: dict[tuple[str, bool], Any] = {}

    def scored(self) -> Checked:
        """True labels of the test part, and its scores."""
        return check_inputs(self.parts.Y_test, self.test_scores(False))

    def cut(self, cut: Cut) -> Checked:
        """True labels of the test part, and its predicted ones."""
        return check_inputs(self.parts.Y_test, y_pred=self.labels(cut))

    def labels(self, cut: Cut) -> Any:
        """Predicted labels of the test part, by the rule or by the model itself."""
        parts = self.parts
        if cut.rule is None:
            return _own_labels(self.fitted, parts.X_test)
        rule = clone(cut.rule)
        if rule.needs_fit:
            rule.fit(*self._known(cut.fitted_on, rule.needs_probabilities))
        P = rule.predict(self.test_scores(rule.needs_probabilities), parts.X_test)
        P[:, self.fitted.never], P[:, self.fitted.always] = 0, 1
        return P

    def test_scores(self, probabilities: bool) -> Values:
        """Scores or probabilities of the test part."""
        scores: Values = self._once(
            "test", probabilities, lambda: self._scores(self.parts.X_test, probabilities)
        )
        return scores

    def _known(self, fitted_on: FittedOn, probabilities: bool) -> tuple[Any, Values, Any]:
        """Labels, scores and features that a rule is fitted on."""
        parts = self.parts
        if fitted_on == "test labels":
            return parts.Y_test, self.test_scores(probabilities), parts.X_test
        if fitted_on == "training scores":
            return parts.Y, self._training_scores(probabilities), parts.X
        rows, S = self._unseen_scores(probabilities)
        return parts.Y[rows], S, parts.X[rows]

    def _training_scores(self, probabilities: bool) -> Values:
        scores: Values = self._once(
            "training", probabilities, lambda: self._scores(self.parts.X, probabilities)
        )
        return scores

    def _unseen_scores(self, probabilities: bool) -> tuple[Any, Values]:
        X, Y = self.parts.X, self.parts.Y
        found: tuple[Any, Values] = self._once(
            "unseen",
            probabilities,
            lambda: cross_fit(
                self.model,
                X,
                Y,
                folds_of(self.cv, X, Y),
                probabilities=probabilities,
                params={},
                n_jobs=None,
            ),
        )
        return found

    def _scores(self, X: Any, probabilities: bool) -> Values:
        return self.fitted.probabilities(X) if probabilities else self.fitted.scores(X)

    def _once(self, what: str, probabilities: bool, make: Callable[[], Any]) -> Any:
        key = (what, probabilities)
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]


def _models(
    fitted: Fitted, measures: Sequence[str], targeted: bool
) -> Iterator[tuple[Fitted, Sequence[str]]]:
    """The model that is judged by all measures, or a model for each."""
    if not targeted:
        yield fitted, measures
        return
    for name in measures:
        yield Fitted(fitted.estimator.model_for(name), fitted.never, fitted.always), [name]


def _judge_model(
    bench: "_Bench", method: Method, measures: Sequence[str], conventions: Conventions
) -> Iterator[Score]:
    """All measures of scores at once, then those of labels, cut by cut."""
    ranking = [name for name in measures if MEASURES[name].needs == "scores"]
    yield from _values(ranking, conventions, bench.scored)
    for text, (cut, names) in _grouped(method.cuts(measures)).items():
        yield from _values(names, conventions, partial(bench.cut, cut), text)


def _own_labels(fitted: Fitted, X: Any) -> Any:
    """What the model predicts, completed by the labels it has not learnt."""
    P = np.zeros((X.shape[0], fitted.never.size), dtype=np.int64)
    P[:, fitted.always] = 1
    if fitted.varying.any():
        own = fitted.estimator.predict(X)
        own = own.toarray() if sparse.issparse(own) else np.asarray(own)
        P[:, fitted.varying] = own.reshape(X.shape[0], -1)
    return P


def _grouped(cuts: dict[str, Cut]) -> dict[str, tuple[Cut, list[str]]]:
    """Equal cuts once, with the measures they serve."""
    groups: dict[str, tuple[Cut, list[str]]] = {}
    for measure, cut in cuts.items():
        groups.setdefault(str(cut), (cut, []))[1].append(measure)
    return groups


def _values(
    names: Sequence[str], conventions: Conventions, make: Callable[[], Checked], threshold: str = ""
) -> Iterator[Score]:
    if not names:
        return
    try:
        results = compute([MEASURES[name] for name in names], make(), conventions).results
    except Exception as error:
        yield from failures(names, said(error), threshold)
        return
    for name in names:
        yield Score(name, results[name].value, threshold)
