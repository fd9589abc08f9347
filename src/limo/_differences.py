"""Compare predictors on the same instances: differences of measures, and which are beyond noise."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import combinations
from pathlib import Path
from typing import Any

from limo._checks import check_truth
from limo._evaluate import evaluate_checked
from limo._evaluation import Evaluation
from limo._frames import by_name
from limo._system import Later, write_text
from limo._text import Rows, align, as_html, counted, plain
from limo.measures._compute import check_conventions
from limo.measures._conventions import Conventions
from limo.measures._intervals import Interval, Method, check_sampling, holm, interval_title
from limo.measures._own import Chosen, computable, select

pandas = Later("pandas")

SAME = "not distinguishable"


@dataclass(frozen=True)
class Difference:
    """How two predictors differ on one measure.

    Attributes
    ----------
    measure, title : str
        Name of the measure in code, and in tables.
    first, second : str
        Names of the predictors.
    values : tuple of float
        Their values.
    interval : Interval
        Standard error and interval of the first value minus the second.
    p_value, adjusted : float
        Two-sided p-value, and the same adjusted for all differences that were looked at (Holm).
    better : str or None
        The better predictor; None if the difference is within noise.

    Examples
    --------
    >>> import limo
    >>> Y = [[1, 0], [0, 1], [1, 0], [0, 1]]
    >>> scores = {"a": [[2, 1], [1, 2], [2, 1], [2, 1]], "b": [[1, 2], [1, 2], [2, 1], [2, 1]]}
    >>> one = limo.compare_predictions(Y, scores, measures=["ranking_loss"]).of("ranking_loss")
    >>> one.values, one.difference, one.better
    ((0.25, 0.5), -0.25, None)
    """

    measure: str
    title: str
    first: str
    second: str
    values: tuple[float, float]
    interval: Interval
    p_value: float
    adjusted: float
    better: str | None

    @property
    def difference(self) -> float:
        """The first value minus the second."""
        return self.values[0] - self.values[1]

    def to_dict(self) -> dict[str, Any]:
        """The fields by name, as plain data."""
        return {
            "measure": self.measure,
            "title": self.title,
            "first": self.first,
            "second": self.second,
            "first_value": self.values[0],
            "second_value": self.values[1],
            "difference": self.difference,
            "error": self.interval.error,
            "low": self.interval.low,
            "high": self.interval.high,
            "p": self.p_value,
            "p_holm": self.adjusted,
            "better": self.better,
        }


@dataclass(frozen=True, eq=False, repr=False)
class Differences(Sequence[Difference]):
    """All pairs of predictors on all measures; prints as a table.

    Attributes
    ----------
    differences : tuple of Difference
        By pair, then by measure.
    evaluations : mapping of str to Evaluation
        The evaluation of each predictor, with intervals.
    level : float
        Level of the intervals; a difference counts if its adjusted p-value is below 1 - level.

    Examples
    --------
    >>> import limo
    >>> Y = [[1, 0], [0, 1], [1, 0], [0, 1]]
    >>> scores = {"a": [[2, 1], [1, 2], [2, 1], [2, 1]], "b": [[1, 2], [1, 2], [2, 1], [2, 1]]}
    >>> found = limo.compare_predictions(Y, scores, measures=["ranking_loss", "one_error"])
    >>> len(found), [one.measure for one in found]
    (2, ['ranking_loss', 'one_error'])
    """

    differences: tuple[Difference, ...]
    evaluations: Mapping[str, Evaluation]
    level: float

    def __getitem__(self, place: Any) -> Any:
        return self.differences[place]

    def __len__(self) -> int:
        return len(self.differences)

    def of(self, measure: str, first: str | None = None, second: str | None = None) -> Difference:
        """The difference on one measure; of two predictors, if there are more.

        Parameters
        ----------
        measure : str
            Name of the measure.
        first, second : str, optional
            Names of the predictors, in the order in which they were given.
        """
        for one in self.differences:
            pair = first in (None, one.first) and second in (None, one.second)
            if one.measure == measure and pair:
                return one
        names = ", ".join(repr(name) for name in (measure, first, second) if name is not None)
        raise KeyError(f"There is no difference of {names}.")

    def to_frame(self) -> Any:
        """Make a data frame with one row per difference."""
        return pandas.DataFrame([one.to_dict() for one in self.differences])

    def to_json(self, path: str | Path | None = None) -> str:
        """Write all differences as JSON; nan is written as null."""
        document = {
            "level": self.level,
            "differences": [one.to_dict() for one in self.differences],
        }
        text = json.dumps(plain(document), indent=2, allow_nan=False)
        if path is not None:
            write_text(path, text)
        return text

    @property
    def heading(self) -> str:
        """One line about what was compared."""
        one = next(iter(self.evaluations.values()))
        distinct = sum(d.better is not None for d in self.differences)
        return (
            f"{one.n_instances} instances x {one.n_labels} labels, "
            f"{counted(len(self.evaluations), 'predictor')}: {distinct} of "
            f"{counted(len(self), 'difference')} beyond noise"
        )

    def rows(self, first: str, second: str) -> Rows:
        """Rows of the table of one pair, starting with its head."""
        head: tuple[str, ...] = (
            "measure", first, second, "difference", interval_title(self.level),
            "p (Holm)", "better",
        )  # fmt: skip
        return [head] + [
            (
                one.title,
                *(f"{value:.4f}" for value in one.values),
                f"{one.difference:+.4f}",
                f"{one.interval.low:+.4f} to {one.interval.high:+.4f}",
                "<.0001" if one.adjusted < 1e-4 else f"{one.adjusted:.4f}",
                one.better or SAME,
            )
            for one in self.differences
            if (one.first, one.second) == (first, second)
        ]

    def _tables(self) -> Iterator[Rows]:
        for first, second in combinations(self.evaluations, 2):
            yield self.rows(first, second)

    def __str__(self) -> str:
        return "\n\n".join([self.heading, *map(align, self._tables())])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.heading)}</p>" + "".join(map(as_html, self._tables()))


def compare_predictions(
    y_true: Any,
    scores: Mapping[str, Any] | None = None,
    predictions: Mapping[str, Any] | None = None,
    *,
    measures: Chosen = None,
    level: float = 0.95,
    conventions: str | Conventions = "standard",
    label_names: Iterable[str] | None = None,
    sample_weight: Any = None,
    missing: Any = None,
    method: Method = "analytic",
    groups: Any = None,
    n_resamples: int = 1000,
    random_state: int = 0,
) -> Differences:
    """Compare predictors on the same instances, and say which differences are beyond noise.

    The differences are paired: what is hard for both predictors does not count as noise. P-values
    are adjusted by Holm's method for all differences in the table, so with probability ``level``
    none of those called better is an accident.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        True labels, 0 or 1.
    scores : mapping of str to array-like, optional
        Scores by the name of the predictor.
    predictions : mapping of str to array-like or sparse matrix, optional
        Predicted labels by the name of the predictor.
    measures : "all", or a list of names, records or functions, optional
        As in :func:`limo.evaluate`. Measures that a predictor lacks the input for are left out.
    level : float, default=0.95
        Level of the intervals and of the decisions.
    conventions : str or Conventions, default="standard"
        How ties and undefined rows count.
    label_names : iterable of str, optional
        Names of the labels.
    sample_weight : array-like of shape (n_samples,), optional
        How much each instance counts.
    missing : number or array-like of bool, optional
        What stands for a missing label in ``y_true``, as in :func:`limo.evaluate`.
    method : {"analytic", "bootstrap"}, default="analytic"
        How errors are found, as in :func:`limo.evaluate`.
    groups : array-like of shape (n_samples,), optional
        The group of each instance, if instances come in groups that are not independent.
    n_resamples : int, default=1000
        For the bootstrap: how often the instances are drawn, the same for all predictors.
    random_state : int, default=0
        For the bootstrap: the seed.

    Returns
    -------
    Differences

    Examples
    --------
    >>> import limo, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> Y = (rng.random((500, 4)) < 0.3).astype(int)
    >>> good, noisy = Y + rng.standard_normal(Y.shape), rng.standard_normal(Y.shape)
    >>> scores = {"good": good, "almost": good + 0.01 * noisy, "noise": noisy}
    >>> found = limo.compare_predictions(Y, scores)
    >>> found.of("macro_auc", "good", "noise").better
    'good'
    >>> found.of("macro_auc", "good", "almost").better is None
    True
    """
    truth = check_truth(y_true, label_names, missing=missing, sample_weight=sample_weight)
    chosen = select(measures)
    by_score, by_label = by_name(scores, "scores"), by_name(predictions, "predictions")
    names = list(dict.fromkeys([*by_score, *by_label]))
    if len(names) < 2:
        raise ValueError(
            f"Give scores or predictions of at least two predictors by name: got {len(names)}."
        )
    how = (level, method, groups, n_resamples, random_state)
    sampling = check_sampling(*how, n_instances=truth.Y.shape[0], rows=truth.frame)
    rules = check_conventions(conventions)
    evaluations = {}
    for name in names:
        checked = truth.join(by_score.get(name), by_label.get(name))
        wanted = computable(chosen, checked, measures)
        evaluations[name] = evaluate_checked(checked, rules, measures=wanted, sampling=sampling)[0]
    return differences_of(evaluations, sampling.level)


def differences_of(evaluations: Mapping[str, Evaluation], level: float) -> Differences:
    """The differences of all pairs of evaluations that have samples of the same instances."""
    pairs = [
        (first, second, name)
        for first, second in combinations(evaluations, 2)
        for name in evaluations[first]
        if name in evaluations[second]
    ]
    tested = [_test(evaluations[a], evaluations[b], name) for a, b, name in pairs]
    adjusted = holm([p for _, p in tested]).tolist()
    lines = zip(pairs, tested, adjusted, strict=True)
    return Differences(
        tuple(_difference(evaluations, *pair, *test, one, level) for pair, test, one in lines),
        dict(evaluations),
        level,
    )


def _test(first: Evaluation, second: Evaluation, name: str) -> tuple[Interval, float]:
    assert first.sample is not None
    assert second.sample is not None
    return first.sample.difference(second.sample, name, first[name] - second[name])


def _difference(
    evaluations: Mapping[str, Evaluation],
    first: str,
    second: str,
    name: str,
    interval: Interval,
    p_value: float,
    adjusted: float,
    level: float,
) -> Difference:
    measure = evaluations[first].measures[name]
    values = evaluations[first][name], evaluations[second][name]
    better = None
    if not math.isnan(adjusted) and adjusted < 1 - level:
        better = first if measure.sign * (values[0] - values[1]) > 0 else second
    return Difference(
        name, measure.title, first, second, values, interval, p_value, adjusted, better
    )
