"""Advice: changes that help on held-out rows of the user's own data, with the next command.

Two changes need nothing but labels and scores: other thresholds, for measures of labels, and a
calibration of the scores of each label, for measures that compare the labels of an instance. Each
is fitted on four fifths of the rows and tried on the others, fold by fold. Advice is given only for
a gain beyond noise; a model for which nothing helps gets none. With weights or missing labels only
thresholds without t(x) are tried, as the others take neither.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse, stats

from limo._checks import Checked
from limo._differences import differences_of
from limo._evaluate import evaluate_checked
from limo._evaluation import Evaluation
from limo._text import counted, listed
from limo._types import Integers, Values
from limo._views import COLUMNS, Pattern
from limo.measures._conventions import Conventions
from limo.measures._intervals import check_sampling
from limo.measures._measure import Measure
from limo.thresholds._auto import KINDS as KINDS_OF_RULES
from limo.thresholds._auto import Tried, gains_over, kinds_for, rule_of
from limo.thresholds._calibration import ScoreCalibration
from limo.thresholds._rules import ThresholdRule
from limo.thresholds._scores import DenseScores
from limo.thresholds._target import check_target

FOLDS = 5
_LEVEL = 0.95
_LEAST_ROWS = 40  # fewer say nothing about a gain
_ENTRIES = 500_000  # a second or two of work
_MANY_ROWS = 1000  # enough to see a gain, even if they hold more entries
_LARGEST = 1e100  # scores beyond are scaled
_NOTABLE = 0.01  # of the distance to the best possible value

KINDS = {
    "label": "a threshold per label",
    "global": "one global threshold",
    "instance": "a threshold per instance, t(x)",
    "instance + global": "a threshold per instance and one for all, t(x) + t",
    "instance + label": "a threshold per instance and label, t(x) + t_j",
}


@dataclass(frozen=True)
class Advice:
    """A change that raises one measure of one model.

    Attributes
    ----------
    measure, title : str
        The measure, in code and in tables.
    better : {"high", "low"}
        Whether high or low values of it are better.
    change : str
        ``"thresholds"`` or ``"calibration"``.
    kind : str or None
        The kind of threshold.
    found : float or None
        The value now; None if no labels were predicted.
    expected : float
        The value on rows that were held out when the change was fitted.
    error : float or None
        The standard error of the gain.
    rows : int
        How many rows were used.
    command : str
        What to run next.
    helps : bool
        Whether the gain is beyond noise and the measure counts. If not, this is no advice, only
        what fitted thresholds would give.
    """

    measure: str
    title: str
    better: str
    change: str
    kind: str | None
    found: float | None
    expected: float
    error: float | None
    rows: int
    command: str
    helps: bool = True


def entries_used(checked: Checked) -> int:
    """How many entries :func:`advise` looks at."""
    n_rows, n_labels = checked.Y.shape
    return min(n_rows, max(_MANY_ROWS, _ENTRIES // n_labels)) * n_labels


def advise(
    checked: Checked,
    measures: Sequence[Measure],
    conventions: Conventions,
    focus: str | None = None,
    command: str | None = None,
) -> list[Advice]:
    """Advice, from the values that fitted thresholds and calibrations give on held-out rows.

    ``focus`` is the one measure that counts, if there is one. ``command`` fits thresholds to these
    scores on the command line, up to the measure.
    """
    if checked.S is None or too_few(checked) is not None:
        return []
    some = _some_rows(checked)
    cut = _with_thresholds(measures, conventions)
    if not some.Y.is_plain:
        tried = _try_without_instances(some, cut, conventions)
        return _thresholds(some, cut, tried, focus, command)
    scaled = [m for m in measures if _is_calibrated(m) and focus in (None, m.name)]
    return [
        *_thresholds(some, cut, _try_all(some, cut), focus, command),
        *_calibration(some, scaled, conventions),
    ]


def too_few(checked: Checked) -> str | None:
    """A sentence if there are too few rows to show a gain."""
    n_rows = checked.Y.shape[0]
    if n_rows >= _LEAST_ROWS:
        return None
    return f"No advice: {counted(n_rows, 'row')} are too few to show a gain, {_LEAST_ROWS} needed."


def _some_rows(checked: Checked) -> Checked:
    """All rows, or as many as take a second or two, drawn at random but always the same."""
    most = entries_used(checked) // checked.Y.shape[1]
    checked = replace(checked, S=_within_range(checked.scores))
    if most == checked.Y.shape[0]:
        return checked
    return _rows_of(checked, np.sort(_shuffled(checked.Y.shape[0])[:most]))


def _within_range(S: Any) -> Any:
    """The scores, in smaller units if their squares would not be finite.

    Such scores are real: the lowest float stands for labels that are ruled out.
    """
    most = float(np.abs(S).max(initial=0.0))
    return S if most < _LARGEST else S * (_LARGEST / most)


def _shuffled(n_rows: int) -> Integers:
    return np.random.default_rng(0).permutation(n_rows)


def _rows_of(checked: Checked, rows: Integers) -> Checked:
    P = None if checked.P is None else Pattern.from_csr(checked.P.csr[rows])
    return replace(checked, Y=checked.Y.take(rows), S=checked.scores[rows], P=P)


# Thresholds


def _with_thresholds(measures: Sequence[Measure], conventions: Conventions) -> list[Measure]:
    """The measures that thresholds can raise; precision and recall alone are no useful target."""
    usual = conventions.f1_of_nothing == 0
    return [
        m
        for m in measures
        if m.threshold is not None and m.fractional and (usual or m.family == "hamming_loss")
    ]


def _try_all(checked: Checked, measures: Sequence[Measure]) -> list[Tried]:
    """For each measure the best kind of threshold on held-out rows, and its gain."""
    small = checked.Y.shape[0] * checked.Y.shape[1] <= _ENTRIES
    targets = [check_target(m.name) for m in measures]
    return gains_over(
        checked.Y, DenseScores(checked.scores), checked.P, targets, FOLDS, by_instance=small
    )


def _try_without_instances(
    checked: Checked, measures: Sequence[Measure], conventions: Conventions
) -> list[Tried]:
    """The same with weights or missing labels: the kind that AutoThreshold fits to such labels."""
    sampling = check_sampling(_LEVEL, n_instances=checked.Y.shape[0])
    kinds = []
    for measure in measures:
        kind = next(k for k in kinds_for(check_target(measure.name)) if not KINDS_OF_RULES[k][0])
        then = replace(checked, P=_held_out(checked, rule_of(kind, measure.name)))
        both = {
            name: evaluate_checked(one, conventions, measures=[measure], sampling=sampling)[0]
            for name, one in (("then", then), ("now", checked))
            if one.P is not None
        }
        gain, error = math.nan, math.nan
        if "now" in both:
            (one,) = differences_of(both, _LEVEL)
            gain, error = measure.sign * one.difference, one.interval.error
        kinds.append(Tried(kind, both["then"][measure.name], gain, error))
    return kinds


def _held_out(checked: Checked, rule: ThresholdRule) -> Pattern:
    """The labels of every row, cut by the rule as fitted on other rows."""
    fold = _shuffled(checked.Y.shape[0]) % FOLDS
    P = np.zeros(checked.Y.shape, dtype=np.int8)
    for k in range(FOLDS):
        rest = _rows_of(checked, np.flatnonzero(fold != k))
        rule._fit(rest.Y, DenseScores(rest.scores), None)
        P[fold == k] = rule._predict(DenseScores(checked.scores[fold == k]), None)
    return Pattern.from_csr(sparse.csr_array(P))


def _thresholds(
    checked: Checked,
    measures: Sequence[Measure],
    tried: Sequence[Tried],
    focus: str | None,
    command: str | None,
) -> list[Advice]:
    # twenty groups of rows give the errors; all measures that count are looked at
    n_tests = max(len(measures), 1) if focus is None else 1
    quantile = stats.t.isf((1 - _LEVEL) / 2 / n_tests, 19)
    advice = []
    for measure, one in zip(measures, tried, strict=True):
        helps = checked.P is None or _helps(measure, one, quantile)
        counts = focus in (None, measure.name)
        advice.append(_threshold_advice(measure, one, checked, command, helps=helps and counts))
    return advice


def _helps(measure: Measure, tried: Tried, quantile: float) -> bool:
    shortfall = abs((1.0 if measure.sign > 0 else 0.0) - tried.value) + max(tried.gain, 0.0)
    return tried.gain > max(quantile * tried.error, _NOTABLE * shortfall)


def _threshold_advice(
    measure: Measure, tried: Tried, checked: Checked, command: str | None, *, helps: bool
) -> Advice:
    known = checked.P is not None
    start = "limo.AutoThreshold" if command is None else command
    return Advice(
        measure=measure.name,
        title=measure.title,
        better=measure.better,
        change="thresholds",
        kind=tried.kind,
        found=tried.value - measure.sign * tried.gain if known else None,
        expected=tried.value,
        error=tried.error if known else None,
        rows=checked.Y.shape[0],
        command=f'{start}("{measure.name}").fit(y_true, y_score)'
        if command is None
        else f"{start} -m {measure.name} -o rule.json",
        helps=helps,
    )


# Calibration


def _is_calibrated(measure: Measure) -> bool:
    """Whether the measure compares scores of different labels, as those in a column do not."""
    return measure.needs == "scores" and measure.view is not COLUMNS


def _calibration(
    checked: Checked, measures: Sequence[Measure], conventions: Conventions
) -> list[Advice]:
    n_rows, n_labels = checked.Y.shape
    if not measures or n_labels < 2 or n_rows * n_labels > _ENTRIES:
        return []
    sampling = check_sampling(_LEVEL, n_instances=n_rows)
    held_out = replace(checked, S=calibrated(checked.Y, checked.scores))
    now, then = (
        evaluate_checked(one, conventions, measures=measures, sampling=sampling)[0]
        for one in (checked, held_out)
    )
    differences = differences_of({"now": now, "then": then}, _LEVEL)
    if any(one.better == "now" for one in differences):
        return []  # what helps one measure and harms another is no advice
    return [
        Advice(
            measure=one.measure,
            title=one.title,
            better=now.measures[one.measure].better,
            change="calibration",
            kind=None,
            found=one.values[0],
            expected=one.values[1],
            error=one.interval.error,
            rows=n_rows,
            command="limo.thresholds.ScoreCalibration().fit(y_true, y_score)",
        )
        for one in differences
        if one.better == "then" and _is_notable(now, then, one.measure)
    ]


def calibrated(Y: Pattern, S: Any) -> Values:
    """Scores that calibrations fitted on other rows have turned into probabilities."""
    fold = _shuffled(Y.shape[0]) % FOLDS
    probabilities = np.empty(Y.shape)
    for k in range(FOLDS):
        fitted = ScoreCalibration().fit(Y.csr[fold != k], S[fold != k])
        probabilities[fold == k] = fitted.transform(S[fold == k])
    return probabilities


def _is_notable(now: Evaluation, then: Evaluation, name: str) -> bool:
    best = now.results[name].best
    return abs(then[name] - now[name]) > _NOTABLE * abs(best - now[name])


# Sentences


def sentences(
    advice: Sequence[Mapping[str, Any]], has_predictions: bool, others: Sequence[str] = ()
) -> list[str]:
    """What to change and the next command; nothing if nothing helps.

    ``others`` are the titles of measures for which other thresholds were tried and do not help.
    """
    by_change = {
        change: [one for one in advice if one["change"] == change]
        for change in ("thresholds", "calibration")
    }
    texts = []
    if by_change["thresholds"]:
        first = max(by_change["thresholds"], key=_gain_of_shortfall)
        say = _of_thresholds if has_predictions else _without_predictions
        text = say(by_change["thresholds"], first)
        if has_predictions and others:
            text += f" They may worsen {listed(others)}, which the present thresholds suit."
        texts += [text, f"Next: {first['command']}"]
    if by_change["calibration"]:
        texts.append(_of_calibration(by_change["calibration"]))
        texts.append(f"Next: {by_change['calibration'][0]['command']}")
    return texts


def _gain_of_shortfall(one: Mapping[str, Any]) -> tuple[bool, float]:
    """The order of advice: F1 first, then the largest share of the distance to the best value."""
    f1 = one["measure"].endswith("f1")
    if one["found"] is None:
        return f1, float(one["measure"] == "macro_f1")
    best = 1.0 if one["better"] == "high" else 0.0
    return f1, abs(one["expected"] - one["found"]) / max(abs(best - one["found"]), 1e-12)


def _of_thresholds(advice: Sequence[Mapping[str, Any]], first: Mapping[str, Any]) -> str:
    kinds = dict.fromkeys(one["kind"] for one in (first, *advice))
    parts = [
        f"{KINDS[kind]} gives {listed([_move(one) for one in advice if one['kind'] == kind])}"
        for kind in kinds
    ]
    return (
        f"What to change: the thresholds. {_on_held_out(first)}, {'; '.join(parts)}. Judge fitted "
        "thresholds on rows other than these."
    )


def _without_predictions(advice: Sequence[Mapping[str, Any]], first: Mapping[str, Any]) -> str:
    parts = [f"{one['title']} {one['expected']:.3f}" for one in advice]
    return (
        "What to change: no labels were predicted, so fit thresholds for the measure you need. "
        f"{_on_held_out(first)}, fitted thresholds give {listed(parts)}."
    )


def _of_calibration(advice: Sequence[Mapping[str, Any]]) -> str:
    return (
        "What to change: the scale of the scores, which differs between labels. "
        f"{_on_held_out(advice[0])}, scores calibrated for each label give "
        f"{listed([_move(one) for one in advice])}."
    )


def _move(one: Mapping[str, Any]) -> str:
    return f"{one['title']} {one['found']:.3f} → {one['expected']:.3f}"


def _on_held_out(one: Mapping[str, Any]) -> str:
    return f"On held-out rows ({FOLDS} folds of {counted(one['rows'], 'row')})"
