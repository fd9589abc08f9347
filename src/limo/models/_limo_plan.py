"""The plan of a search: the losses that suit each measure, and a grid of alpha for each loss."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from limo._settings import check_number
from limo._types import check_kind
from limo._views import ROWS, Pattern
from limo.losses._term import Term, Totals, Weighted, check_terms
from limo.measures._measure import Measure

_ROWS, _COLUMNS, _ENTRIES = (Term(view, "mean") for view in ("rows", "columns", "entries"))
_TOP, _BOTTOM, _WORST = (Term("rows", kind) for kind in ("top", "bottom", "worst"))
_BALANCED = Term("columns", "pointwise")

LOGISTIC = (Term("entries", "pointwise"),)
"""The loss of one logistic regression per label, which every measure tries."""

# Beside the logistic loss. docs/learning.md has the figures.
_TWO, _THREE = (_ROWS, _COLUMNS), (_ROWS, _COLUMNS, _ENTRIES)
_BY_ROWS = ((_ROWS,), (_BOTTOM,), (_TOP,), (_WORST,))
_BY_COLUMNS = ((_COLUMNS,), _TWO, (_BALANCED,), (_ENTRIES,), _THREE)
_BY_ENTRIES = ((_ENTRIES,), _TWO, _THREE, (_BOTTOM,))
_LABELS_OF_ROWS = ((_ROWS,), (_ENTRIES,), (_TOP,), _TWO, _THREE)
_SUITABLE = {"rows": _BY_ROWS, "columns": _BY_COLUMNS, "entries": _BY_ENTRIES}

# The exponents of the largest and the smallest alpha, in half decades, by aggregation.
_RANGES = {
    "mean": (1, 9),
    "top": (2, 10),
    "bottom": (4, 12),
    "worst": (2, 10),
    "pointwise": (2, 10),
}


@dataclass(frozen=True)
class Candidate:
    """A loss, and the values of alpha to try with it, from large to small."""

    terms: tuple[Term, ...]
    alphas: tuple[float, ...]


def candidates_for(
    measures: Sequence[Measure],
    Y: Pattern,
    terms: Any = None,
    alphas: Any = None,
    totals: Totals | None = None,
) -> dict[str, list[Candidate]]:
    """The candidates of each measure: those given, or the ones that suit it and these labels.

    With ``totals``, ``Y`` has some instances and the totals are those of all.
    """
    grid = None if alphas is None else _check_alphas(alphas)
    given = None if terms is None else _check_given(terms)
    candidates = {}
    for measure in measures:
        losses = given or [
            loss
            for loss in (LOGISTIC, *_suitable(measure))
            if any(Weighted.of(term, Y, totals).matters for term in loss)
        ]
        candidates[measure.name] = [
            Candidate(loss, grid or default_alphas(loss, Y.shape[1]))
            for loss in losses or [LOGISTIC]
        ]
    return candidates


def _suitable(measure: Measure) -> tuple[tuple[Term, ...], ...]:
    """The losses to try for a measure, by the rows that it judges."""
    if measure.view is ROWS and measure.needs == "labels":
        return _BY_COLUMNS if measure.name == "hamming_loss" else _LABELS_OF_ROWS
    return _SUITABLE[measure.view.name]


def default_alphas(terms: Iterable[Term], n_labels: int) -> tuple[float, ...]:
    """Half decades over the range that may suit any of the terms, from large to small.

    Aggregations differ in scale. Pointwise terms with the share "uniform" divide their weight among
    all labels, and what is left for each is what alpha competes with.
    """
    exponents = []
    for term in terms:
        size = term.weight / (n_labels if term.share == "uniform" else 1)
        if size > 0:
            shift = 2 * math.log10(size)
            exponents += [shift - k for k in _RANGES[term.aggregation]]
    n_steps = math.floor(max(exponents) - min(exponents) + 1e-9)
    return tuple(10 ** ((max(exponents) - k) / 2) for k in range(n_steps + 1))


def _check_alphas(alphas: Any) -> tuple[float, ...]:
    check_kind(alphas, Iterable, "alphas must be a list of numbers")
    checked = [check_number(alpha, "each of alphas", above=0) for alpha in alphas]
    if not checked:
        raise ValueError("alphas must hold at least one value, got none.")
    return tuple(sorted(map(float, checked), reverse=True))


def _check_given(terms: Any) -> list[tuple[Term, ...]]:
    if isinstance(terms, Term) or not isinstance(terms, Iterable) or isinstance(terms, str):
        raise ValueError(
            "terms must be a list of losses to try, each a Term, a list of them or their names, "
            f"got {terms!r}."
        )
    check_kind(terms, Iterable, "terms must be a list of losses to try")
    losses = [_named(loss) if isinstance(loss, str) else check_terms(loss) for loss in terms]
    if not losses:
        raise ValueError("terms must hold at least one loss to try, got none.")
    return losses


def _named(names: str) -> tuple[Term, ...]:
    """The terms of names such as "rows mean + columns mean"."""
    terms = []
    for name in names.split("+"):
        words = name.split()
        if len(words) != 2:
            raise ValueError(
                f"The name of a term is its view and its aggregation, such as 'rows top', got "
                f"{name.strip()!r}. For other settings, give a limo.losses.Term."
            )
        terms.append(Term(words[0], words[1]))
    return tuple(terms)
