"""From checked labels, scores and predictions to results; each view is sorted once."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from limo._checks import Checked
from limo._profiles import Profile
from limo._settings import check_name
from limo._sparse_profiles import read_any_profiles
from limo._types import Anything, Values
from limo._views import COLUMNS, ENTRIES, ROWS, VIEWS, Counts, Items, Pattern, View, count
from limo.measures._conventions import CONVENTIONS, Conventions
from limo.measures._measure import Measure, Result, average, filled_rows, reduce
from limo.measures._table import MEASURES

ProfileFunction = Callable[[Profile], Anything]
ByView = Mapping[str, Mapping[str, Anything]]
"""Results of functions of profiles, by the name of the view, then of the function."""
Also = Callable[[View, ByView], Mapping[str, ProfileFunction]]
RowValues = dict[tuple[str, str], Values]
"""By measure and view two lines: the values of the rows, and the best possible ones."""

# Added to the name of a measure: its values if absent scores had the best, or the worst, order.
ENDINGS = (" at best", " at worst")

# The matrix as a whole first: functions for the other views may use its relevant scores.
_ORDER = (ENTRIES, ROWS, COLUMNS)


@dataclass(frozen=True, eq=False)
class Computed:
    """Results by measure, those of other functions of the profiles, and the items of each view.

    ``bounds`` holds the lowest and the highest value of each measure that depends on the order of
    absent scores.
    """

    results: dict[str, Result]
    others: ByView
    items: Mapping[str, Items]
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)


def check_conventions(conventions: str | Conventions) -> Conventions:
    """Look up a named set of conventions; return a record as it is."""
    if isinstance(conventions, Conventions):
        known = {check_name(n, MEASURES, "measure"): v for n, v in conventions.undefined.items()}
        unchanged = known == dict(conventions.undefined)
        return conventions if unchanged else replace(conventions, undefined=known)
    return CONVENTIONS[check_name(conventions, CONVENTIONS, "conventions")]


def compute(
    measures: Iterable[Measure],
    checked: Checked,
    conventions: Conventions,
    also: Also | None = None,
) -> Computed:
    """Compute measures, and apply other functions to the same sorted scores.

    ``also`` takes a view and the results in the views before it, and returns functions of a profile
    by name. They may give arrays of any shape whose last axis runs over rows, or over blocks of
    rows.
    """
    measures = list(measures)
    rows: RowValues = {}
    results: dict[str, dict[str, Anything]] = {}
    scores, absent = checked.any_scores, checked.stored is not None
    for view in _ORDER if scores is not None else ():
        own = row_functions(measures, "scores", view, conventions, absent=absent)
        more = dict(also(view, results)) if also else {}
        if own or more:
            values = read_view(view, own | more, checked)
            rows |= {(name, view.name): values[name] for name in own}
            results[view.name] = {name: values[name] for name in more}
    if checked.P is not None:
        counts = count(checked.Y, checked.P, VIEWS.values())
        rows |= values_of_counts(measures, counts, conventions)
    rows |= {(m.name, m.view.name): _whole(m, checked) for m in measures if m.whole}
    items = {name: view.items(checked.Y) for name, view in VIEWS.items()}
    return computed_of(measures, rows, conventions, results, items)


def plain_values(
    measures: Iterable[Measure], checked: Checked, conventions: Conventions
) -> dict[str, float]:
    """The values of measures as :func:`compute` has them, and nothing else.

    For searches that judge many small sets of scores, where everything else takes more time.
    """
    measures = list(measures)
    rows: dict[str, Anything] = {m.name: _whole(m, checked)[0] for m in measures if m.whole}
    for view in VIEWS.values():
        own = [m for m in measures if m.view is view and not m.whole]
        of_scores: dict[str, ProfileFunction] = {
            m.name: partial(m.values, conventions=conventions) for m in own if m.needs == "scores"
        }
        if of_scores:
            rows |= read_view(view, of_scores, checked)
        if len(of_scores) < len(own):
            counts = count(checked.Y, checked.labels, [view])[view.name]
            rows |= {m.name: m.values(counts, conventions) for m in own if m.needs == "labels"}
    return {m.name: _mean(m, rows[m.name], checked.Y, conventions) for m in measures}


def _mean(measure: Measure, values: Values, Y: Pattern, conventions: Conventions) -> float:
    fill = conventions.undefined.get(measure.name)
    weights = measure.row_weights(measure.view, Y)
    return average(filled_rows(values, fill, weights), weights, fill)


def computed_of(
    measures: Iterable[Measure],
    rows: RowValues,
    conventions: Conventions,
    others: ByView,
    items: Mapping[str, Items],
) -> Computed:
    """Average the values of the rows of each measure."""

    def result_of(measure: Measure, ending: str = "") -> Result:
        names = [view.name for view in measure.views]
        by_view = {view: rows[measure.name + ending, view] for view in names}
        weights = {view: measure.weights_of(items[view]) for view in names}
        return reduce(measure, by_view, conventions, weights)

    measures = list(measures)
    ends = {
        m.name: [result_of(m, ending).value for ending in ENDINGS]
        for m in measures
        if (m.name + ENDINGS[0], m.view.name) in rows
    }
    results = {measure.name: result_of(measure) for measure in measures}
    ordered = {name: others[name] for name in VIEWS if name in others}
    bounds = {name: (min(values), max(values)) for name, values in ends.items()}
    return Computed(results, ordered, items, bounds)


def values_of_counts(
    measures: Iterable[Measure], counts: Mapping[str, Counts], conventions: Conventions
) -> RowValues:
    """The values of the rows of measures of labels, in the views that were counted."""
    return {
        (name, view): function(seen)
        for view, seen in counts.items()
        for name, function in row_functions(measures, "labels", VIEWS[view], conventions).items()
    }


def row_functions(
    measures: Iterable[Measure],
    needs: str,
    view: View,
    conventions: Conventions,
    *,
    absent: bool = False,
) -> dict[str, Callable[[Any], Values]]:
    """The function for the rows of each measure that has rows in this view.

    With ``absent``, also for the best and the worst order of the items without a score.
    """
    own: dict[str, Callable[[Any], Values]] = {
        m.name: _found_and_best(m, conventions)
        for m in measures
        if m.needs == needs and view in m.views and not m.whole
    }
    if absent:
        for name, function in list(own.items()):
            for ending, first in zip(ENDINGS, (True, False), strict=True):
                own[name + ending] = partial(_ordered, function, first)
    return own


def _ordered(function: Callable[[Any], Values], first: bool, profile: Profile) -> Values:
    return function(profile.with_absent_ordered(relevant_first=first))


def _found_and_best(
    measure: Measure, conventions: Conventions
) -> Callable[[Profile | Counts], Values]:
    """Two lines: the values of the rows, and the best possible ones."""

    def values(seen: Profile | Counts) -> Values:
        return np.stack([measure.values(part, conventions) for part in (seen, seen.perfect)])

    return values


def _whole(measure: Measure, checked: Checked) -> Values:
    """Two lines of one value: the function of the whole matrices, found and best possible."""
    if not checked.Y.is_plain:
        raise ValueError(
            f"{measure.name!r} is a function of whole matrices, which knows neither sample weights "
            "nor missing labels. Write it as a function of tp, fp, fn, tn, or leave them out."
        )
    Y = checked.Y.csr.toarray()
    scored = measure.needs == "scores"
    given = checked.scores if scored else checked.labels.csr.toarray()
    function: Callable[..., object] = measure.function
    values = [function(Y, given), function(Y, Y.astype(np.float64) if scored else Y)]
    if not all(np.ndim(value) == 0 for value in values):  # type: ignore[arg-type]
        raise ValueError(f"The measure {measure.name!r} must give one number, got {values[0]!r}.")
    return np.array(values, dtype=np.float64).reshape(2, 1)


def read_view(
    view: View, functions: Mapping[str, ProfileFunction], checked: Checked
) -> dict[str, Anything]:
    """Apply functions of a profile to all rows of a view, and join the blocks."""
    blocks = read_any_profiles(
        view,
        checked.Y,
        checked.needed_scores,
        lambda profile: {n: f(profile) for n, f in functions.items()},
    )
    return {name: np.concatenate([b[name] for b in blocks], axis=-1) for name in functions}
