"""The registry: one line per measure."""

import math
from collections.abc import Mapping
from typing import Any

from limo._text import counted
from limo._views import COLUMNS, ENTRIES, ROWS
from limo.measures._conventions import Conventions
from limo.measures._measure import Measure, Optimised
from limo.measures._rows import (
    auc,
    average_precision,
    coverage,
    f1,
    hamming,
    one_error,
    ranking_loss,
)

__all__ = ["EFFECTIVENESS", "LETTERS", "MEASURES", "explain_measure"]


EFFECTIVENESS = ("label-wise", "instance-wise", "double", "entry-wise")
_YES, _LIMIT, _NO = Optimised.YES, Optimised.IN_THE_LIMIT, Optimised.NO


def _by(*ticks: Optimised) -> Mapping[str, Optimised]:
    return dict(zip(EFFECTIVENESS, ticks, strict=True))


# The rows that occur in the paper's Table 2, with our fourth column.
LABEL_WISE = _by(_YES, _NO, _YES, _YES)
INSTANCE_WISE = _by(_NO, _YES, _YES, _YES)
EITHER = _by(_YES, _YES, _YES, _YES)
ONLY_TOGETHER = _by(_NO, _NO, _LIMIT, _YES)

UNIT = (0.0, 1.0)
ANY = (0.0, math.inf)

# fmt: off
_TABLE = (
    Measure("hamming_loss", "Hamming loss", hamming, ROWS, "labels", "low", UNIT, EITHER, "label", COLUMNS),
    Measure("ranking_loss", "ranking loss", ranking_loss, ROWS, "scores", "low", UNIT, LABEL_WISE),
    Measure("one_error", "one-error", one_error, ROWS, "scores", "low", UNIT, LABEL_WISE),
    Measure("coverage", "coverage", coverage, ROWS, "scores", "low", ANY, LABEL_WISE),
    Measure("average_precision", "average precision", average_precision, ROWS, "scores", "high", UNIT, LABEL_WISE),
    Measure("macro_f1", "macro-F1", f1, COLUMNS, "labels", "high", UNIT, INSTANCE_WISE, "label"),
    Measure("instance_f1", "instance-F1", f1, ROWS, "labels", "high", UNIT, LABEL_WISE, "instance"),
    Measure("micro_f1", "micro-F1", f1, ENTRIES, "labels", "high", UNIT, LABEL_WISE, "global"),
    Measure("macro_auc", "macro-AUC", auc, COLUMNS, "scores", "high", UNIT, INSTANCE_WISE),
    Measure("instance_auc", "instance-AUC", auc, ROWS, "scores", "high", UNIT, LABEL_WISE),
    Measure("micro_auc", "micro-AUC", auc, ENTRIES, "scores", "high", UNIT, ONLY_TOGETHER),
)
# fmt: on

MEASURES: dict[str, Measure] = {measure.name: measure for measure in _TABLE}
"""All measures by name. A line added here is known to ``evaluate`` and ``make_scorer``."""


# What each measure is, in words and as a formula, under the conventions in use.

LETTERS = (
    "p and n count the relevant and the irrelevant items of a row, s are scores; "
    "r runs over the relevant, v over the irrelevant items."
)
"""What the letters of the formulas mean."""

_MEANINGS = {
    "ranking_loss": "Share of pairs of a relevant and an irrelevant item in the wrong order.",
    "auc": "Share of pairs of a relevant and an irrelevant item in the right order.",
    "one_error": "Whether an irrelevant item has the highest score.",
    "coverage": "How far down the ranking one must go to meet all relevant items.",
    "average_precision": "How pure the ranking is above each relevant item.",
    "f1": "Harmonic mean of precision and recall of the labels predicted.",
    "hamming": "Share of items whose label is predicted wrongly.",
}


def explain_measure(measure: Measure, conventions: Conventions) -> dict[str, Any]:
    """Tell all a reader needs to know about a measure."""
    kind = measure.function.__name__  # type: ignore[attr-defined]
    doc = (measure.function.__doc__ or "").strip().partition("\n")[0]
    return {
        "name": measure.name,
        "title": measure.title,
        "better": measure.better,
        "view": measure.view.name,
        "needs": measure.needs,
        "meaning": _MEANINGS.get(kind, doc),
        "formula": _formula(kind, conventions) or doc,
        "mean": _mean(measure),
        "convention": _convention(measure, kind, conventions),
        "threshold": measure.threshold,
        "optimised_by": [k for k, how in measure.optimised_by.items() if how is Optimised.YES],
    }


def _mean(measure: Measure) -> str:
    if measure.view.name == "entries":
        return "over all entries of the matrix, as one row"
    return f"mean over {counted(2, measure.view.row).removeprefix('2 ')}"


def _formula(kind: str, conventions: Conventions) -> str | None:
    """The value of a row, with what ties count under the conventions."""
    rank = "#{s ≥ sᵣ}" if conventions.tied_rank == "worst" else "(1 + #{s > sᵣ})"
    return {
        "ranking_loss": f"(#{{sᵣ < sᵥ}}{_share(conventions.ranking_loss_tie)}) / pn",
        "auc": f"(#{{sᵣ > sᵥ}}{_share(conventions.auc_tie)}) / pn",
        "one_error": "1 if the top score is an irrelevant item’s, else 0",
        "coverage": f"max over r of {rank} {_signed(conventions.coverage_offset)}".strip(),
        "average_precision": f"mean over r of #{{relevant s ≥ sᵣ}} / {rank}",
        "f1": "2 #{true and predicted} / (#true + #predicted)",
        "hamming": "#{wrong} / (p + n)",
    }.get(kind)


def _share(tie: float) -> str:
    if tie == 0:
        return ""
    return f" + {'' if tie == 1 else f'{tie:g} '}#{{sᵣ = sᵥ}}"


def _signed(offset: float) -> str:
    return "" if offset == 0 else f"{'−' if offset < 0 else '+'} {abs(offset):g}"


def _convention(measure: Measure, kind: str, conventions: Conventions) -> str:
    """What ties and undefined rows count for this measure, in a few words."""
    ties = {
        "ranking_loss": f"a tie is {_error(conventions.ranking_loss_tie)}",
        "auc": f"a tie earns {_credit(conventions.auc_tie)}",
        "one_error": f"ties at the top: {conventions.one_error_tie} case",
        "coverage": f"ties: {conventions.tied_rank} rank",
        "average_precision": f"ties: {conventions.tied_rank} rank",
        "f1": f"0/0 is {conventions.f1_of_nothing:g}",
    }.get(kind)
    never = kind == "hamming" or (kind == "f1" and conventions.f1_of_nothing >= 0)
    fill = conventions.undefined.get(measure.name)
    empty = f"undefined counts {fill:g}" if fill is not None else "undefined left out"
    return "; ".join(part for part in (ties, None if never else empty) if part) or "always defined"


def _error(tie: float) -> str:
    return {0.0: "no error", 1.0: "a full error"}.get(tie, f"{tie:g} of an error")


def _credit(tie: float) -> str:
    return {0.0: "nothing", 0.5: "half", 1.0: "full credit"}.get(tie, f"{tie:g}")
