"""What the measures of labels lose to the ranking of the scores, and what to the cut."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from limo._evaluation import Evaluation
from limo._margins import MarginSummary
from limo._text import plain, shortened
from limo._types import Anything, Integers, Values
from limo._views import COLUMNS, ENTRIES, ROWS, THRESHOLDS, Pattern
from limo.measures._conventions import CONVENTIONS
from limo.measures._rows import f1, hamming
from limo.measures._table import MEASURES
from limo.thresholds._best import best_label_thresholds, f1_curves
from limo.thresholds._report import ThresholdReport, threshold_report
from limo.thresholds._scores import check_pair
from limo.thresholds._search import TARGETS, best_counts

__all__ = [
    "Cut",
    "cut_of",
    "hardest_instances",
    "hardest_labels",
    "histogram",
    "label_columns",
    "margins_of",
]


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
    for kind, view in THRESHOLDS.items():
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


# The labels and instances a model finds hardest, and each label's own numbers.

_MOST_NAMES = 6
_LABEL_KEYS = ("macro_auc", "instance_wise_margin", "macro_f1")
_INSTANCE_KEYS = ("instance_auc", "label_wise_margin", "instance_f1")


def label_columns(evaluation: Evaluation, cut: Cut | None) -> dict[str, list[Any]]:
    """The numbers of every label, column by column; only columns that exist."""
    values = evaluation.per_label
    columns: dict[str, Anything | None] = {
        "auc": values.get("macro_auc"),
        "f1": values.get("macro_f1"),
        "best_f1": cut.best_f1 if cut else None,
        "margin": values.get("instance_wise_margin"),
        "threshold": cut.thresholds if cut else None,
        "threshold_error": cut.label_error if cut else None,
    }
    return {name: shortened(column) for name, column in columns.items() if column is not None}


def hardest_labels(evaluation: Evaluation, n: int) -> list[int]:
    """The labels with the lowest AUC, then margin; without scores, the lowest F1."""
    return list(map(int, _hardest(evaluation.per_label, _LABEL_KEYS, n)))


def hardest_instances(
    evaluation: Evaluation, Y: Pattern, S: Anything | None, cut: Cut | None, n: int
) -> list[dict[str, Any]]:
    """The instances with the lowest AUC, then margin, and which labels stand in their way.

    Only these few rows of the scores are read.
    """
    values = evaluation.per_instance
    found = []
    for i in map(int, _hardest(values, _INSTANCE_KEYS, n)):
        relevant = Y.indices[Y.indptr[i] : Y.indptr[i + 1]]
        numbers: dict[str, Any] = {
            "auc": values["instance_auc"][i] if "instance_auc" in values else None,
            "f1": values["instance_f1"][i] if "instance_f1" in values else None,
            "margin": values["label_wise_margin"][i] if "label_wise_margin" in values else None,
            "threshold_error": _error(cut, i),
        }
        ahead = np.zeros(0, dtype=np.int64) if S is None else _ahead(np.asarray(S[i]), relevant)
        found.append(
            {
                "instance": i,
                **{k: shortened([v])[0] for k, v in numbers.items() if v is not None},
                "n_relevant": relevant.size,
                "relevant": relevant[:_MOST_NAMES].tolist(),
                "n_ahead": ahead.size,
                "ahead": ahead[:_MOST_NAMES].tolist(),
            }
        )
    return found


def _error(cut: Cut | None, i: int) -> int | None:
    return None if cut is None or cut.instance_error is None else int(cut.instance_error[i])


def _ahead(scores: Anything, relevant: Integers) -> Integers:
    """The irrelevant labels that score at least as high as the lowest relevant one, best first."""
    if not relevant.size:
        return np.zeros(0, dtype=np.int64)
    wrong = np.ones(scores.size, dtype=bool)
    wrong[relevant] = False
    places = np.flatnonzero(wrong & (scores >= scores[relevant].min()))
    return places[np.argsort(-scores[places], kind="stable")]


def _hardest(values: Mapping[str, Values], names: tuple[str, ...], n: int) -> Integers:
    """Where the first of the values that exist is lowest, then the next.

    Rows without a value are not hard; nor are those in perfect order, or without scores those
    without a wrong label.
    """
    keys = [values[name] for name in names if name in values]
    wrong = keys[0] < 1 if names[0] in values else values["hamming_loss"] > 0
    hard = np.flatnonzero(wrong)
    order = np.lexsort([key[hard] for key in reversed(keys)])
    return hard[order[:n]]


# How margins are spread: counts in bins of one width, with zero at an edge.

_BINS = 40
_TAIL = 0.01
_MANY = 200


def margins_of(summary: MarginSummary) -> dict[str, Any]:
    """Quantiles, shares and the histogram of one view's margins."""
    found = plain(summary.to_dict())
    found["positive"] = int((summary.defined > 0).sum())
    found["histogram"] = histogram(summary.defined)
    return dict(found)


def histogram(values: Values, n_bins: int = _BINS) -> dict[str, Any] | None:
    """Count values in about ``n_bins`` bins; of many the lowest and highest 1 % stay outside.

    Zero is always an edge, so no bin mixes positive margins with others: bins hold values above
    their lower edge, up to their upper one. What lies outside is counted as ``below`` or ``above``.
    """
    if not values.size:
        return None
    tail = _TAIL if values.size >= _MANY else 0.0
    low, high = (float(q) for q in np.quantile(values, (tail, 1 - tail)))
    width = _round_width((max(high, 0.0) - min(low, 0.0)) / n_bins)
    first, last = math.ceil(min(low, 0.0) / width) - 1, math.ceil(max(high, 0.0) / width)
    places = np.clip(np.ceil(values / width) - 1, first - 1, last).astype(np.int64)
    inside = places[(places >= first) & (places < last)]
    counts = np.bincount(inside - first, minlength=last - first)
    return {
        "low": plain(float(f"{first * width:.12g}")),
        "width": width,
        "counts": counts.tolist(),
        "below": int((places < first).sum()),
        "above": int((places >= last).sum()),
    }


def _round_width(width: float) -> float:
    """The next of 1, 2, 2.5, 5 times a power of ten; 1 where all values are zero."""
    if width <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(width))
    step = next(s for s in (1, 2, 2.5, 5, 10) if s * power >= width * (1 - 1e-9))
    return float(f"{step * power:.12g}")
