"""What the measures of labels lose to the ranking of the scores, and what to the cut."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from limo._types import Integers, Values
from limo.findings.plain import plain, shortened
from limo.measures.conventions import CONVENTIONS
from limo.measures.labels import f1, hamming
from limo.measures.table import MEASURES
from limo.pattern import Pattern
from limo.thresholds.best import best_label_thresholds
from limo.thresholds.curves import f1_curves
from limo.thresholds.report import ThresholdReport, threshold_report
from limo.thresholds.scores import check_pair
from limo.thresholds.search import best_counts
from limo.thresholds.targets import TARGETS
from limo.views import COLUMNS, ENTRIES, ROWS

__all__ = ["Cut", "cut_of"]

_VIEWS = {"instance": ROWS, "label": COLUMNS, "global": ENTRIES}
_F1 = {"macro_f1": COLUMNS, "instance_f1": ROWS, "micro_f1": ENTRIES}


@dataclass(frozen=True, eq=False)
class Cut:
    """What is known of the cuts of one model's scores.

    Attributes
    ----------
    summary : dict
        By measure: found, with the best cut, possible; what limits it; F1 curves.
    thresholds, best_f1 : array of shape (n_labels,)
        The threshold of each label that is best for F1 on these labels, and the F1 it gives.
    label_error, instance_error : array of int, or None
        Threshold errors of each label and instance (Definition 6), if labels were predicted.
    """

    summary: dict[str, Any]
    thresholds: Values
    best_f1: Values
    label_error: Integers | None
    instance_error: Integers | None


def cut_of(y_true: Any, y_score: Any, y_pred: Any) -> Cut:
    """Look at the cuts of one model's scores, with the labels predicted if there are any."""
    thresholds = best_label_thresholds(y_true, y_score)
    curves = _curves(y_true, y_score)
    if y_pred is not None:
        report = threshold_report(y_true, y_score, y_pred)
        summary = {"measures": _shortfalls(report), "sentence": report.sentence(), "curves": curves}
        best_f1 = report.labels.f1.best_cut
        errors = report.labels.threshold_error, report.instances.threshold_error
        return Cut(summary, thresholds, best_f1, *errors)
    measures, best_f1 = _ceilings(*check_pair(y_true, y_score))
    sentence = "No labels were predicted: what the best cut of these scores can reach stands here."
    return Cut(
        {"measures": measures, "sentence": sentence, "curves": curves},
        thresholds,
        best_f1,
        None,
        None,
    )


def _shortfalls(report: ThresholdReport) -> dict[str, Any]:
    found = {}
    for name, loss in report.measures.items():
        ranking, cut = float(loss.ranking[0]), float(loss.cut[0])
        kind = MEASURES[name].threshold
        assert kind is not None
        found[name] = {
            "title": MEASURES[name].title,
            "found": float(loss.found[0]),
            "best_cut": float(loss.best_cut[0]),
            "possible": float(loss.possible[0]),
            "lost_to_ranking": ranking,
            "lost_to_cut": cut,
            "bound": report.bounds[kind][name],
            "threshold": kind,
            "limited_by": _limit(ranking, cut),
        }
    return dict(plain(found))


def _limit(ranking: float, cut: float) -> str:
    if ranking <= 0 and cut <= 0:
        return "nothing"
    return "the cut" if cut > ranking else "the ranking"


def _ceilings(Y: Pattern, scores: Any) -> tuple[dict[str, Any], Values]:
    """What the best cuts reach, for want of predictions to compare with; and F1 of each label."""
    standard = CONVENTIONS["standard"]
    rows = {"f1": f1, "hamming_loss": hamming}
    targets = [TARGETS[name] for name in rows]
    found: dict[str, Any] = {}
    best_f1 = np.zeros(0)
    for kind, view in _VIEWS.items():
        counts = dict(zip(rows, best_counts(view, targets, Y, scores), strict=True))
        if view is COLUMNS:
            best_f1 = f1(counts["f1"], standard)
        for name, measure in MEASURES.items():
            if measure.threshold == kind:
                part = "hamming_loss" if name == "hamming_loss" else "f1"
                best, whole = counts[part], counts[part].perfect
                found[name] = {
                    "title": measure.title,
                    "found": None,
                    "best_cut": float(rows[part](best, standard).mean()),
                    "possible": float(rows[part](whole, standard).mean()),
                    "threshold": kind,
                }
    return {name: found[name] for name in MEASURES if name in found}, best_f1


def _curves(y_true: Any, y_score: Any) -> dict[str, Any]:
    """F1 against one threshold for all, and where each curve is highest."""
    curves = f1_curves(y_true, y_score)
    lines = {name: getattr(curves, name) for name in _F1}
    tops = {name: int(line.argmax()) for name, line in lines.items()}
    peaks = {
        name: {
            "title": MEASURES[name].title,
            "threshold": shortened(curves.thresholds[[k]])[0],
            "value": shortened(lines[name][[k]])[0],
        }
        for name, k in tops.items()
    }
    return {
        "thresholds": shortened(curves.thresholds),
        **{name: shortened(line) for name, line in lines.items()},
        "peaks": peaks,
    }
