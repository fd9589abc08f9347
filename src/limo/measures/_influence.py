"""How much each instance moves a measure: influence values, the basis of all sampling errors.

A measure T of m instances is about its true value plus the mean of m influence values, one per
instance. So its standard error is their standard deviation over the root of m, two models on the
same instances differ by the mean of the differences of their influence values, and for instances
that come in groups, they are added up within each group.

* A mean over instances: the value of the instance minus the mean.
* A measure of labels averaged over labels, or of the whole matrix, is a function of confusion
  counts: the derivative by the weight of the instance (delta method).
* The AUC over labels or of the whole matrix: the same derivative, which is DeLong's, with labels
  dependent through the instances they share.
* Average precision over labels or of the whole matrix: what it loses without the instance
  (jackknife). The mean of these losses is not 0 but says by how much the value is too high.

Missing labels take no part. Sample weights multiply what an instance contributes; for AUC and
average precision over labels or entries, there is then no formula here.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from limo._checks import Checked
from limo._kernels.placements import add_auc_influence, add_precision_influence
from limo._profiles import row_blocks
from limo._system import workers
from limo._types import Integers, Values
from limo._views import COLUMNS, ENTRIES, ROWS, Counts, count
from limo.measures._conventions import Conventions
from limo.measures._measure import Measure, Result
from limo.measures._rows import auc, average_precision

# Step of the numerical derivatives, as a share of one instance.
_STEP = 1e-4


def influence_values(
    measures: Iterable[Measure],
    checked: Checked,
    conventions: Conventions,
    results: Mapping[str, Result],
) -> dict[str, Values]:
    """The influence value of each instance on each measure; none for measures without a formula."""
    influence = {}
    for measure in measures:
        result = results[measure.name]
        if measure.view is ROWS:
            influence[measure.name] = _of_mean(result)
        elif measure.whole:
            continue
        elif measure.needs == "labels":
            influence[measure.name] = _of_counts(measure, checked, conventions, result)
        elif measure.function in (auc, average_precision) and checked.Y.row_weights is None:
            influence[measure.name] = _of_ranking(measure, checked, conventions, result)
    return influence


def bias_of(measure: Measure, influence: Values) -> float:
    """By how much the value of a measure is too high on average, estimated by the jackknife."""
    biased = measure.view is not ROWS and measure.function is average_precision
    return -float(influence.mean()) if biased else 0.0


def _of_mean(result: Result) -> Values:
    """A mean over the instances that are defined, or over all of them."""
    values = result.rows[ROWS.name]
    weights = ~np.isnan(values) * (1.0 if result.weights is None else result.weights)
    if not weights.any():
        return np.full(values.size, np.nan)
    off = np.where(weights > 0, values - result.value, 0.0)
    influence: Values = weights * off / weights.mean()
    return influence


# Functions of confusion counts

_PARTS = ("both", "true", "predicted", "n_items")


def _of_counts(
    measure: Measure, checked: Checked, conventions: Conventions, result: Result
) -> Values:
    weights = checked.Y.row_weights
    own: Values = np.ones(checked.Y.shape[0]) if weights is None else weights
    if measure.view is ENTRIES:
        return _of_total(measure, checked, conventions, own)
    return _of_labels(measure, checked, conventions, result, own)


def _of_total(
    measure: Measure, checked: Checked, conventions: Conventions, weights: Values
) -> Values:
    """One function of the counts of the whole matrix."""
    counts = count(checked.Y, checked.labels, [ROWS, ENTRIES])
    rows, whole = counts[ROWS.name], counts[ENTRIES.name]
    influence = np.zeros(weights.size)
    for part in _PARTS:
        slope = _slope(measure, whole, conventions, {part: 1.0})[0]
        total = np.atleast_1d(getattr(whole, part))[0]
        influence += slope * (weights.size * weights * getattr(rows, part) - total)
    return influence


def _of_labels(
    measure: Measure,
    checked: Checked,
    conventions: Conventions,
    result: Result,
    weights: Values,
) -> Values:
    """The mean over labels of a function of the counts of each label.

    An instance is, for a label, one of four: true or not, predicted or not.
    """
    counts = count(checked.Y, checked.labels, [COLUMNS])[COLUMNS.name]
    left_out = result.undefined if result.filled_with is None else np.isnan(result.rows["columns"])
    share = weights.size / max((~left_out).sum(), 1)

    def moved(*move: object) -> Values:
        """The change of each label by one more such instance."""
        slope = _slope(measure, counts, conventions, dict(zip(_PARTS, move, strict=True)))
        return np.asarray(np.where(result.undefined, 0.0, slope) * share)

    neither, true, predicted = moved(0, 0, 0, 1), moved(0, 1, 0, 1), moved(0, 0, 1, 1)
    both = moved(1, 1, 1, 1)
    mean = moved(*(np.asarray(getattr(counts, part)) / weights.size for part in _PARTS))
    Y, P = checked.Y, checked.labels.without(checked.Y.unknown)
    single = (
        neither.sum()
        + Y.csr @ (true - neither)
        + P.csr @ (predicted - neither)
        + Y.overlap(P).csr @ (both - true - predicted + neither)
    )
    if Y.unknown is not None:
        single = single - Y.unknown.csr @ neither
    influence: Values = weights * single - mean.sum()
    return influence


def _slope(
    measure: Measure, counts: Counts, conventions: Conventions, move: Mapping[str, object]
) -> Values:
    """The derivative of the rows in a direction, by central differences; 0 where undefined."""

    def at(step: float) -> Values:
        parts = [getattr(counts, part) + step * np.asarray(move.get(part, 0.0)) for part in _PARTS]
        return measure.values(Counts(parts[0], parts[1], parts[2], parts[3]), conventions)

    return np.nan_to_num((at(_STEP) - at(-_STEP)) / (2 * _STEP))


# Orders of scores


def _of_ranking(
    measure: Measure, checked: Checked, conventions: Conventions, result: Result
) -> Values:
    """AUC or average precision of each label, or of all entries as one row."""
    m, n_labels = checked.Y.shape
    S, marks = checked.scores, checked.Y.csr.toarray().astype(bool)
    unknown = checked.Y.unknown
    known = None if unknown is None else ~unknown.csr.toarray().astype(bool)
    tie, worst = conventions.auc_tie, conventions.tied_rank == "worst"

    def add(where: Any, owner: Integers, share: float, influence: Values) -> None:
        """Add the influence on one row: a column, or everything."""
        scores, relevant = (np.ascontiguousarray(A[where]).reshape(-1) for A in (S, marks))
        if known is not None:
            kept = known[where].reshape(-1)
            scores, relevant, owner = scores[kept], relevant[kept], owner[kept]
        if measure.function is auc:
            add_auc_influence(scores, relevant, owner, tie, share, influence)
        else:
            add_precision_influence(scores, relevant, owner, worst, share, influence)

    instances = np.arange(m)
    scale = float(m if measure.function is auc else m - 1)
    if measure.view is ENTRIES:
        influence = np.zeros(m)
        if not result.undefined[0]:
            add(slice(None), np.repeat(instances, n_labels), scale, influence)
        return influence
    columns = np.flatnonzero(~result.undefined)
    counted = ~np.isnan(result.rows[COLUMNS.name])
    share = scale / max(columns.size if result.filled_with is None else counted.sum(), 1)

    def of_block(block: tuple[int, int]) -> Values:
        part = np.zeros(m)
        for j in columns[block[0] : block[1]]:
            add((slice(None), j), instances, share, part)
        return part

    with workers(enough=S.size > 1 << 18) as run:
        blocks = row_blocks(columns.size, m, scattered=True)
        return np.asarray(np.sum([np.zeros(m), *run(of_block, blocks)], axis=0))
