"""Which measures a loss bounds, and by how much.

The loss of a row times a factor that depends on p and n alone bounds its measure. A factor becomes
a weight of the row, so that a bound is the sum of a loss, like any other.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from limo._checks import check_inputs
from limo._types import Values, check_kind
from limo._views import VIEWS, Pattern
from limo.losses._sums import add_up
from limo.losses._term import Term, Weighted

Factor = Callable[[Values, Values], Any]

_LOG2 = math.log(2.0)


def _one(p: Values, n: Values) -> Any:
    return 1.0


def _per_bit(p: Values, n: Values) -> Any:
    """log(1 + x) / log 2 is at least 1 as soon as x is."""
    return 1 / _LOG2


def _half_per_bit(p: Values, n: Values) -> Any:
    """For a whole number a, a / (k + a) <= a / (1 + a) <= log(1 + a) / (2 log 2)."""
    return 0.5 / _LOG2


def _items_per_bit(p: Values, n: Values) -> Any:
    return n / _LOG2


def _f1_per_bit(p: Values, n: Values) -> Any:
    """1 - F1 <= a / (2p + a) <= a / (2p + 1), where a <= n irrelevant items are above the last."""
    return n / (_LOG2 * (2 * p + 1))


# A row with b misordered pairs and a items above its last relevant one has a worst-pair loss of at
# least log(1 + b) >= log(1 + a). x / log(1 + x) rises, so the largest x decides.


def _pairs_per_log(p: Values, n: Values) -> Any:
    return 1 / np.log1p(np.maximum(p * n, 1))


def _items_per_log(p: Values, n: Values) -> Any:
    return n / np.log1p(np.maximum(n, 1))


def _third_per_bit(p: Values, n: Values) -> Any:
    """For whole numbers, a / (2p + a) <= a / (2 + a) <= log(1 + a) / (3 log 2)."""
    return 1 / (3 * _LOG2)


# For each aggregation, the measures of a row (without the name of their average) and the factors.
_FACTORS: Mapping[str, Mapping[str, Factor]] = {
    "mean": {"ranking_loss": _one, "auc": _one},
    "top": {"one_error": _per_bit, "average_precision": _half_per_bit},
    "bottom": {"coverage": _items_per_bit, "f1": _f1_per_bit},
    "worst": {
        "ranking_loss": _pairs_per_log,
        "one_error": _per_bit,
        "coverage": _items_per_log,
        "average_precision": _half_per_bit,
        "auc": _pairs_per_log,
        "f1": _third_per_bit,
    },
    "pointwise": {"ranking_loss": _one, "auc": _one},
}
_HIGH = ("average_precision", "auc", "f1")
_ONLY_OF_INSTANCES = ("ranking_loss", "one_error", "coverage", "average_precision")


def bounds(y_true: Any, y_score: Any, term: Term) -> dict[str, float]:
    """What the loss of scores guarantees about measures.

    Ties count as errors. F1 is taken with the best thresholds of its kind, and Hamming loss with
    the threshold 0. ``limo.MEASURES[name].bounded_by`` lists which terms bound which measure.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        True labels, 0 or 1.
    y_score : array-like of shape (n_samples, n_labels)
        Scores, the higher the more likely relevant.
    term : Term
        The loss. Its weight does not matter.

    Returns
    -------
    dict of str to float
        By the name of a measure: the value it cannot exceed if lower is better, and the value it
        cannot fall below if higher is better. nan if no row has a value. Empty for a term that
        bounds no measure: the mean over all pairs alike of rows or columns.

    Examples
    --------
    >>> from limo.losses import Term, bounds
    >>> y_true, y_score = [[1, 0, 0], [0, 1, 1]], [[3.0, 0.0, 0.0], [-1.0, 2.0, 4.0]]
    >>> found = bounds(y_true, y_score, Term("rows", "top"))
    >>> round(found["one_error"], 2), round(found["average_precision"], 2)
    (0.09, 0.96)
    """
    check_kind(term, Term, "term must be a limo.losses.Term")
    checked = check_inputs(y_true, y_score)
    S = np.ascontiguousarray(checked.scores, dtype=np.float64)
    own = Weighted.of(replace(term, weight=1.0), checked.Y)
    if term.share == "uniform" and term.aggregation == "pointwise":
        return {"hamming_loss": add_up(S, checked.Y, [own])[0] / _unit(term)}
    if term.share == "uniform" and term.view != "entries":
        return {}
    return {
        _name(family, term.view): _bound(family, _factor(term, factor), own, S, checked.Y)
        for family, factor in _FACTORS[term.aggregation].items()
        if term.view == "rows" or family not in _ONLY_OF_INSTANCES
    }


def _name(family: str, view: str) -> str:
    return f"{VIEWS[view].average}_{family}" if family in ("auc", "f1") else family


def _unit(term: Term) -> float:
    """The loss of a single entry at 0, where it begins to be wrong."""
    return _LOG2 if term.base == "logistic" else 1.0


def _factor(term: Term, factor: Factor) -> Factor:
    """The factor of a pointwise term depends on its base and on how its weight is divided.

    A misordered pair costs least if both scores are equal: 2 phi(0) if the sides weigh the same,
    and the least phi(s) / n + phi(-s) / p if every entry does.
    """
    if term.aggregation != "pointwise":
        return factor
    if term.share != "pairs":
        return lambda p, n: 1 / (2 * _unit(term))
    return {"logistic": _logistic_pair, "hinge": _hinge_pair, "squared_hinge": _square_pair}[
        term.base
    ]


def _logistic_pair(p: Values, n: Values) -> Any:
    p, n = np.maximum(p, 1), np.maximum(n, 1)
    return p * n / (p * np.log1p(n / p) + n * np.log1p(p / n))  # at s = log(p / n)


def _hinge_pair(p: Values, n: Values) -> Any:
    return np.maximum(p, n) / 2  # at s = 1 or -1


def _square_pair(p: Values, n: Values) -> Any:
    return (p + n) / 4  # at s = (p - n) / (p + n)


def _bound(family: str, factor: Factor, part: Weighted, S: Values, Y: Pattern) -> float:
    """The mean over the rows that the measure has, of the factor times the loss of the row."""
    p, n = part.counts
    with_pairs = float((p * n > 0).sum())
    counted = {"ranking_loss": with_pairs, "auc": with_pairs, "f1": float(p.size)}
    n_rows = counted.get(family, float((p > 0).sum()))
    if not n_rows:
        return math.nan
    scale = np.broadcast_to(factor(p, n) * with_pairs / n_rows, p.shape)
    loss = add_up(S, Y, [_scaled(part, scale)])[0]
    if family == "coverage":
        return float((p[p > 0] - 1).mean()) + loss
    if family == "f1":  # a row without a relevant item has an F1 of 0
        return float((p > 0).mean()) - loss
    return 1.0 - loss if family in _HIGH else loss


def _scaled(part: Weighted, scale: Values) -> Weighted:
    """The same loss with the weight of each row multiplied."""
    if part.term.aggregation != "pointwise":
        return replace(part, weights=part.weights * scale)
    if part.term.view == "columns":
        return replace(part, by_column=part.by_column * scale[:, np.newaxis])
    return replace(part, weights=part.weights * scale[:, np.newaxis])
