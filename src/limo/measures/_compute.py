"""From checked labels, scores and predictions to results, each view being read once."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from limo._checks import Checked, check_name
from limo._profiles import Profile, read_profiles
from limo._types import Values
from limo._views import VIEWS, Counts, View, count
from limo.measures._conventions import CONVENTIONS, Conventions
from limo.measures._measure import Measure, Result, reduce
from limo.measures._table import MEASURES

__all__ = ["Computed", "check_conventions", "compute"]


ProfileFunction = Callable[[Profile], Values]
Judge = Callable[[Profile | Counts], Values]
Rows = dict[tuple[str, View], Values]


@dataclass(frozen=True, eq=False)
class Computed:
    """Results by measure, and by view whatever else was asked of the profiles."""

    results: dict[str, Result]
    diagnostics: dict[View, dict[str, Values]]


def check_conventions(conventions: str | Conventions) -> Conventions:
    """Look up a named set of conventions; pass a record through."""
    if isinstance(conventions, Conventions):
        for name in conventions.undefined:
            check_name(name, MEASURES, "measure")
        return conventions
    return CONVENTIONS[check_name(conventions, CONVENTIONS, "conventions")]


def compute(
    measures: Iterable[Measure],
    checked: Checked,
    conventions: Conventions,
    diagnostics: Mapping[str, ProfileFunction] | None = None,
) -> Computed:
    """Compute measures, and diagnostics of every view if there are scores."""
    measures = list(measures)
    rows: Rows = {}
    seen: dict[View, dict[str, Values]] = {}
    for view in VIEWS.values():
        functions = _judges(measures, "scores", view, conventions)
        if functions or diagnostics:
            found = _profile_rows(view, functions | dict(diagnostics or {}), checked)
            rows |= {(name, view): found[name] for name in functions}
            seen[view] = {name: found[name] for name in diagnostics or {}}
    if checked.P is not None:
        for view, counts in count(checked.Y, checked.P, VIEWS.values()).items():
            functions = _judges(measures, "labels", view, conventions)
            rows |= {(name, view): function(counts) for name, function in functions.items()}
    return Computed({m.name: _result(m, rows, conventions) for m in measures}, seen)


def _judges(
    measures: list[Measure], needs: str, view: View, conventions: Conventions
) -> dict[str, Judge]:
    """For each measure of its kind that has rows in this view, what gives them."""
    return {
        m.name: _judge(m, conventions) for m in measures if m.needs == needs and view in m.views
    }


def _judge(measure: Measure, conventions: Conventions) -> Judge:
    """Compute a measure's rows and, below them, the best they could be."""

    def judge(seen: Profile | Counts) -> Values:
        found = measure.function(seen, conventions)
        return np.stack([found, measure.function(seen.perfect, conventions)])

    return judge


def _profile_rows(
    view: View, functions: Mapping[str, ProfileFunction], checked: Checked
) -> dict[str, Values]:
    """Apply functions of a profile to all rows of one view; rows lie along the last axis."""
    assert checked.S is not None
    blocks = read_profiles(
        view, checked.Y, checked.S, lambda profile: {n: f(profile) for n, f in functions.items()}
    )
    return {name: np.concatenate([b[name] for b in blocks], axis=-1) for name in functions}


def _result(measure: Measure, rows: Rows, conventions: Conventions) -> Result:
    by_view = {view.name: rows[measure.name, view] for view in measure.views}
    return reduce(measure, by_view, conventions)
