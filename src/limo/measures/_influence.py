"""How much each instance moves a measure: influence values, the basis of all sampling errors.

A measure T of m instances is about its true value plus the mean of m influence values, one per
instance, whose mean is 0. So its standard error is their standard deviation over the root of m, two
models on the same instances differ by the mean of the differences of their influence values, and
instances that come in groups add theirs up within each group.

* A mean over instances: the value of the instance minus the mean.
* A measure of labels averaged over labels, or of the whole matrix, is a function of confusion
  counts: the derivative by the weight of the instance (delta method).
* AUC and average precision over labels or of the whole matrix: the same derivative. For the AUC
  that is DeLong's, with labels dependent through the instances they share.
"""

from collections.abc import Iterable, Mapping

import numpy as np

from limo._checks import Checked
from limo._kernels.placements import add_auc_influence, add_precision_influence
from limo._profiles import row_blocks
from limo._system import workers
from limo._types import Booleans, Floats, Values
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
    found = {}
    for measure in measures:
        result = results[measure.name]
        if measure.view is ROWS:
            found[measure.name] = _of_mean(result)
        elif measure.whole:
            continue
        elif measure.needs == "labels":
            found[measure.name] = _of_counts(measure, checked, conventions, result)
        elif measure.function in (auc, average_precision):
            found[measure.name] = _of_ranking(measure, checked, conventions, result)
    return found


def _of_mean(result: Result) -> Values:
    """A mean over the instances that are defined, or over all of them."""
    values = result.rows[ROWS.name]
    known = ~np.isnan(values)
    if not known.any():
        return np.full(values.size, np.nan)
    influence: Values = np.where(known, values - result.value, 0.0) / known.mean()
    return influence


# Functions of confusion counts


def _of_counts(
    measure: Measure, checked: Checked, conventions: Conventions, result: Result
) -> Values:
    if measure.view is ENTRIES:
        return _of_total(measure, checked, conventions)
    return _of_labels(measure, checked, conventions, result)


def _of_total(measure: Measure, checked: Checked, conventions: Conventions) -> Values:
    """One function of the counts of the whole matrix."""
    counts = count(checked.Y, checked.labels, [ROWS, ENTRIES])
    rows, whole = counts[ROWS.name], counts[ENTRIES.name]
    m = checked.Y.shape[0]
    found = np.zeros(m)
    for part in ("both", "true", "predicted"):
        move = {part: 1.0}
        slope = _slope(measure, whole, conventions, move)[0]
        single, total = getattr(rows, part), getattr(whole, part)[0]
        found += slope * (single * m - total)
    return found


def _of_labels(
    measure: Measure, checked: Checked, conventions: Conventions, result: Result
) -> Values:
    """The mean over labels of a function of the counts of each label.

    An instance is, for a label, one of four: true or not, predicted or not.
    """
    counts = count(checked.Y, checked.labels, [COLUMNS])[COLUMNS.name]
    m = checked.Y.shape[0]
    counted = ~(result.undefined if result.filled_with is None else np.zeros_like(result.undefined))

    def moved(true: int, predicted: int) -> Values:
        """What one more such instance does to each label, the number of instances unchanged."""
        move = {
            "both": true * predicted - counts.both / m,
            "true": true - counts.true / m,
            "predicted": predicted - counts.predicted / m,
        }
        slope = _slope(measure, counts, conventions, move)
        moves: Values = np.where(result.undefined, 0.0, slope) * m / max(counted.sum(), 1)
        return moves

    neither, true, predicted, both = moved(0, 0), moved(1, 0), moved(0, 1), moved(1, 1)
    found: Values = (
        neither.sum()
        + checked.Y.csr @ (true - neither)
        + checked.labels.csr @ (predicted - neither)
        + checked.Y.overlap(checked.labels).csr @ (both - true - predicted + neither)
    )
    return found


def _slope(
    measure: Measure, counts: Counts, conventions: Conventions, move: Mapping[str, object]
) -> Values:
    """The derivative of the rows in a direction, by central differences; 0 where undefined."""

    def at(step: float) -> Values:
        both, true, predicted = (
            getattr(counts, part) + step * np.asarray(move.get(part, 0.0))
            for part in ("both", "true", "predicted")
        )
        return measure.values(Counts(both, true, predicted, counts.n_items), conventions)

    return np.nan_to_num((at(_STEP) - at(-_STEP)) / (2 * _STEP))


# Orders of scores


def _of_ranking(
    measure: Measure, checked: Checked, conventions: Conventions, result: Result
) -> Values:
    """AUC or average precision of each label, or of all entries as one row."""
    m, n_labels = checked.Y.shape
    S, marks = checked.scores, checked.Y.csr.toarray().astype(bool)
    tie, worst = conventions.auc_tie, conventions.tied_rank == "worst"

    def add(scores: Floats, where: Booleans, width: int, share: float, found: Values) -> None:
        if measure.function is auc:
            add_auc_influence(scores, where, width, tie, share, found)
        else:
            add_precision_influence(scores, where, width, worst, share, found)

    if measure.view is ENTRIES:
        found = np.zeros(m)
        if not result.undefined[0]:
            add(np.ascontiguousarray(S).reshape(-1), marks.reshape(-1), n_labels, m, found)
        return found
    columns = np.flatnonzero(~result.undefined)
    share = m / max(columns.size if result.filled_with is None else n_labels, 1)

    def of_block(block: tuple[int, int]) -> Values:
        part = np.zeros(m)
        for j in columns[block[0] : block[1]]:
            add(np.ascontiguousarray(S[:, j]), np.ascontiguousarray(marks[:, j]), 1, share, part)
        return part

    with workers(enough=S.size > 1 << 18) as run:
        blocks = row_blocks(columns.size, m, scattered=True)
        return np.asarray(np.sum([np.zeros(m), *run(of_block, blocks)], axis=0))
