"""Details of one model: thresholds and curves, the hardest labels and instances, histograms."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from limo._checks import Checked
from limo._evaluation import Evaluation
from limo._margins import MarginSummary
from limo._text import plain, shortened
from limo._types import Anything, Integers, Values
from limo._views import COLUMNS, THRESHOLDS, Counts, Pattern, View
from limo.measures._compute import ByView, ProfileFunction
from limo.measures._conventions import CONVENTIONS
from limo.measures._measure import average
from limo.measures._table import MEASURES
from limo.thresholds._best import F1Curves, curve_functions, curves_of, label_thresholds
from limo.thresholds._report import (
    BestCounts,
    ThresholdReport,
    best_functions,
    best_of,
    report_of,
)
from limo.thresholds._scores import DenseScores

# Thresholds


@dataclass(frozen=True, eq=False)
class ThresholdDetails:
    """Thresholds for one model's scores.

    Attributes
    ----------
    summary : dict
        By measure: the value found, with the best threshold and the best possible; what limits it;
        F1 curves.
    thresholds, best_f1 : array of shape (n_labels,)
        The threshold of each label that is best for F1 on these labels, and the F1 it gives.
    label_error, instance_error : array of int, or None
        Threshold errors of each label and instance (Definition 6), if labels were predicted.
    """

    summary: dict[str, Any]
    thresholds: Values
    best_f1: Values
    label_error: Anything | None
    instance_error: Integers | None


def threshold_functions(view: View, results: ByView) -> dict[str, ProfileFunction]:
    """Functions of profiles whose results :func:`threshold_details` needs.

    They run while the scores are sorted, so that sorting happens once.
    """
    functions = best_functions(view, results) | curve_functions(view, results)
    return functions | ({"thresholds": label_thresholds} if view is COLUMNS else {})


def threshold_details(checked: Checked, results: ByView) -> ThresholdDetails:
    """Describe thresholds for one model's scores, from the results of the functions above."""
    assert checked.S is not None
    best = best_of(checked.Y, DenseScores(checked.S), results)
    curves = _curves(curves_of(checked.Y, results))
    thresholds = results["columns"]["thresholds"]
    best_f1 = MEASURES["macro_f1"].values(best["columns"]["f1"], CONVENTIONS["standard"])
    if checked.P is None:
        sentence = "No labels were predicted: these are the values of the best thresholds."
        summary = {"measures": _ceilings(best, checked.Y), "sentence": sentence, "curves": curves}
        return ThresholdDetails(summary, thresholds, best_f1, None, None)
    report = report_of(checked.Y, checked.P, best, checked.label_names)
    summary = {"measures": _shortfalls(report), "sentence": report.sentence(), "curves": curves}
    errors = report.labels.threshold_error, report.instances.threshold_error
    return ThresholdDetails(summary, thresholds, best_f1, *errors)


def _shortfalls(report: ThresholdReport) -> dict[str, Any]:
    summary = {}
    for name, loss in report.measures.items():
        ranking, threshold = float(loss.lost_to_ranking[0]), float(loss.lost_to_threshold[0])
        kind = MEASURES[name].threshold
        assert kind is not None
        summary[name] = {
            "title": MEASURES[name].title,
            "found": float(loss.found[0]),
            "best_threshold": float(loss.best_threshold[0]),
            "possible": float(loss.possible[0]),
            "lost_to_ranking": ranking,
            "lost_to_threshold": threshold,
            "bound": report.bounds[kind].get(name),
            "threshold": kind,
            "limited_by": _limit(ranking, threshold),
        }
    return dict(plain(summary))


def _limit(ranking: float, threshold: float) -> str:
    if ranking <= 0 and threshold <= 0:
        return "nothing"
    return "thresholds" if threshold > ranking else "ranking"


def _ceilings(best: BestCounts, Y: Pattern) -> dict[str, Any]:
    """The values of the best thresholds, if there are no predictions to compare with."""
    summary = {}
    for name, measure in MEASURES.items():
        if measure.threshold is not None:
            view = THRESHOLDS[measure.threshold]
            counts, weights = best[view.name][measure.family], measure.row_weights(view, Y)
            summary[name] = {
                "title": measure.title,
                "found": None,
                "best_threshold": _mean(name, counts, weights),
                "possible": _mean(name, counts.perfect, weights),
                "threshold": measure.threshold,
            }
    return dict(plain(summary))


def _mean(name: str, counts: Counts, weights: Values | None) -> float:
    values = MEASURES[name].values(counts, CONVENTIONS["standard"])
    return average(values, weights, None)


def _curves(curves: F1Curves) -> dict[str, Any]:
    """F1 against one global threshold, and the peak of each curve."""
    tops = {name: int(line.argmax()) for name, line in curves.lines.items()}
    peaks = {
        name: {
            "title": MEASURES[name].title,
            "threshold": shortened(curves.thresholds[[k]])[0],
            "above": shortened(curves.above[[k]])[0],
            "value": shortened(curves.lines[name][[k]])[0],
        }
        for name, k in tops.items()
    }
    return {
        "thresholds": shortened(curves.thresholds),
        "above": shortened(curves.above),
        **{name: shortened(line) for name, line in curves.lines.items()},
        "peaks": peaks,
    }


# Labels and instances

_MOST_NAMES = 6
_LABEL_KEYS = ("macro_auc", "instance_wise_margin", "macro_f1")
_INSTANCE_KEYS = ("instance_auc", "label_wise_margin", "instance_f1")


def label_columns(evaluation: Evaluation, details: ThresholdDetails | None) -> dict[str, list[Any]]:
    """The numbers of every label, column by column; only columns that exist."""
    values = evaluation.per_label
    columns: dict[str, Anything | None] = {
        "auc": values.get("macro_auc"),
        "f1": values.get("macro_f1"),
        "best_f1": details.best_f1 if details else None,
        "margin": values.get("instance_wise_margin"),
        "threshold": details.thresholds if details else None,
        "threshold_error": details.label_error if details else None,
    }
    return {name: shortened(column) for name, column in columns.items() if column is not None}


def hardest_labels(evaluation: Evaluation, n: int) -> list[int]:
    """The labels with the lowest AUC, then margin; without scores, the lowest F1."""
    return list(map(int, _hardest(evaluation.per_label, _LABEL_KEYS, n)))


def hardest_instances(
    evaluation: Evaluation, Y: Pattern, S: Anything | None, details: ThresholdDetails | None, n: int
) -> list[dict[str, Any]]:
    """The instances with the lowest AUC, then margin, and the labels that rank too high in them.

    Only these few rows of the scores are read.
    """
    values = evaluation.per_instance
    instances = []
    for i in map(int, _hardest(values, _INSTANCE_KEYS, n)):
        relevant = Y.indices[Y.indptr[i] : Y.indptr[i + 1]]
        numbers: dict[str, Any] = {
            "auc": values["instance_auc"][i] if "instance_auc" in values else None,
            "f1": values["instance_f1"][i] if "instance_f1" in values else None,
            "margin": values["label_wise_margin"][i] if "label_wise_margin" in values else None,
            "threshold_error": _error(details, i),
        }
        unknown = None if Y.unknown is None else Y.unknown.rows(i, i + 1).indices
        ahead = np.zeros(0, dtype=np.int64)
        if S is not None:
            ahead = _ahead(np.asarray(S[i]), relevant, unknown)
        instances.append(
            {
                "instance": i,
                **{k: shortened([v])[0] for k, v in numbers.items() if v is not None},
                "n_relevant": relevant.size,
                "relevant": relevant[:_MOST_NAMES].tolist(),
                "n_ahead": ahead.size,
                "ahead": ahead[:_MOST_NAMES].tolist(),
            }
        )
    return instances


def _error(details: ThresholdDetails | None, i: int) -> int | None:
    errors = None if details is None else details.instance_error
    return None if errors is None else int(errors[i])


def _ahead(scores: Anything, relevant: Integers, unknown: Integers | None) -> Integers:
    """The irrelevant labels that score at least as high as the lowest relevant one, best first."""
    if not relevant.size:
        return np.zeros(0, dtype=np.int64)
    wrong = np.ones(scores.size, dtype=bool)
    wrong[relevant] = False
    if unknown is not None:
        wrong[unknown] = False
    places = np.flatnonzero(wrong & (scores >= scores[relevant].min()))
    return places[np.argsort(-scores[places], kind="stable")]


def _hardest(values: Mapping[str, Values], names: tuple[str, ...], n: int) -> Integers:
    """The rows with the lowest values of the first of ``names`` that exists, then of the next.

    Rows without a value are not hard, nor are rows in perfect order. Without scores, rows without
    a wrong label are not hard.
    """
    keys = [values[name] for name in names if name in values]
    wrong = keys[0] < 1 if names[0] in values else values["hamming_loss"] > 0
    hard = np.flatnonzero(wrong)
    order = np.lexsort([key[hard] for key in reversed(keys)])
    return hard[order[:n]]


# Histograms of margins

_BINS = 40
_TAIL = 0.01
_MANY = 200


def margins_of(summary: MarginSummary) -> dict[str, Any]:
    """Quantiles, shares and the histogram of one view's margins."""
    margins = plain(summary.to_dict())
    margins["positive"] = int((summary.defined > 0).sum())
    margins["histogram"] = histogram(summary.defined)
    return dict(margins)


_SHARES = 20


def pairs_of(values: Values) -> dict[str, Any]:
    """How many rows have which share of their pairs in order, ties counted half; the perfect ones.

    The bins are of equal width from 0 to 1. Rows without pairs are left out.
    """
    known = values[~np.isnan(values)]
    counts, _ = np.histogram(known, bins=_SHARES, range=(0.0, 1.0))
    return {"rows": known.size, "perfect": int((known == 1).sum()), "counts": counts.tolist()}


def histogram(values: Values, n_bins: int = _BINS) -> dict[str, Any] | None:
    """Count values in about ``n_bins`` bins of equal width; None without values.

    Of many values, the lowest and highest 1 % are outliers, counted as ``below`` and ``above``.
    Zero is always an edge, so that no bin mixes positive margins with others: a bin holds values
    above its lower edge, up to and including its upper one.
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
    """Round up to 1, 2, 2.5 or 5 times a power of ten; 1 if all values are zero."""
    if width <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(width))
    step = next(s for s in (1, 2, 2.5, 5, 10) if s * power >= width * (1 - 1e-9))
    return float(f"{step * power:.12g}")
