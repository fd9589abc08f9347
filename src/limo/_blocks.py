"""Evaluation that adds up over blocks of rows: exact, in two passes over the blocks.

A block is some rows of labels, scores and predicted labels: a :class:`limo._checks.Checked`. Rows
may be divided into blocks in any way and come in any order, on one machine or on many::

    reference = rank([gather(block) for block in blocks])                         # first pass
    counted = merge_counted([count(block, reference, task) for block in blocks])  # second pass
    evaluation = finish(reference, counted, task)

The first pass collects the relevant scores, sorted once by :func:`rank`. The second one counts, for
each of them, how many irrelevant entries of the block are above and tied. These are integers, so
the result equals that of :func:`limo.evaluate`, bit for bit. Each record is a few plain arrays of
the size of the relevant scores, never of all scores. Nothing here knows where blocks come from.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from limo._checks import Checked
from limo._evaluate import evaluation_of
from limo._evaluation import Evaluation
from limo._kernels.profiles import group_scores, sum_steps
from limo._margins import MARGIN_FUNCTIONS
from limo._profiles import Profile, count_columns, count_entries, row_blocks
from limo._row_sums import OF_PROFILES, RowSums, joined_items, joined_rows
from limo._sparse import SparseScores
from limo._sparse_profiles import count_stored_columns, count_stored_entries
from limo._system import Later, workers
from limo._types import Anything, Floats, Integers, Values
from limo._views import COLUMNS, ENTRIES, ROWS, Counts, Items, Pattern, View
from limo._views import count as count_labels
from limo.measures._compute import (
    Computed,
    RowValues,
    computed_of,
    read_view,
    row_functions,
    values_of_counts,
)
from limo.measures._conventions import Conventions
from limo.measures._further import OF_PROBABILITIES
from limo.measures._measure import Measure

sparse = Later("scipy.sparse")

_LARGEST_SHORT = 2**32 - 1
_MOST_SHORT_LABELS = 2**16


@dataclass(frozen=True, eq=False)
class Task:
    """The measures to compute, and how; the same for all blocks.

    With ``per_instance``, the values of single instances are kept, otherwise only their sums.
    """

    measures: tuple[Measure, ...]
    conventions: Conventions
    label_names: tuple[str, ...] | None = None
    per_instance: bool = True

    def __post_init__(self) -> None:
        for measure in self.measures:
            if measure.whole or measure.name in OF_PROBABILITIES:
                raise ValueError(
                    f"{measure.name!r} needs all rows at once and does not add up over blocks. "
                    "Leave it out, or keep the blocks: limo.Evaluator(method='keep')."
                )


@dataclass(frozen=True, eq=False)
class Gathered:
    """The result of the first pass over one block or several.

    Attributes
    ----------
    n_rows, n_labels : int
        Size of the blocks.
    labels, scores : array of shape (n_ones,)
        The label and the score of each relevant entry; empty without scores.
    ones, unknown : array of shape (n_labels,)
        How many instances have each label, and for how many it is missing.
    """

    n_rows: int
    n_labels: int
    labels: Anything
    scores: Floats
    ones: Integers
    unknown: Integers


@dataclass(frozen=True, eq=False)
class Reference:
    """The relevant scores of all blocks, sorted: what the second pass compares with.

    Attributes
    ----------
    n_rows, n_labels : int
        Size of all blocks together.
    indptr : array of shape (n_labels + 1,)
        Label j owns ``by_label[indptr[j]:indptr[j + 1]]``.
    by_label : array of shape (n_ones,)
        Relevant scores, highest first within each label.
    by_score : array of shape (n_ones,)
        All relevant scores, highest first.
    ones, unknown : array of shape (n_labels,)
        As in :class:`Gathered`.
    key : str
        Tells whether counts belong to this reference.
    """

    n_rows: int
    n_labels: int
    indptr: Integers
    by_label: Floats
    by_score: Floats
    ones: Integers
    unknown: Integers
    key: str

    def items(self) -> dict[str, Items]:
        """The items of the columns and of the whole matrix."""
        whole = self.n_rows * self.n_labels
        if not self.unknown.any():
            return {
                COLUMNS.name: Items(self.ones, self.n_rows, None),
                ENTRIES.name: Items(self.ones.sum(keepdims=True), whole, None),
            }
        known, total = self.n_rows - self.unknown, np.array([whole - self.unknown.sum()])
        return {
            COLUMNS.name: Items(self.ones, known, (known > 0).astype(np.float64)),
            ENTRIES.name: Items(
                self.ones.sum(keepdims=True), total, (total > 0).astype(np.float64)
            ),
        }


@dataclass(frozen=True, eq=False)
class RowPart:
    """The rows of one block; they do not depend on other blocks.

    Attributes
    ----------
    items : Items
        The items of each row.
    values : dict of str to array of shape (2, n_rows)
        By measure, the values of the rows and the best possible ones.
    others : dict of str to array
        By name, the results of the functions that margins are made from.
    """

    items: Items
    values: dict[str, Values]
    others: dict[str, Anything]


@dataclass(frozen=True, eq=False)
class Counted:
    """The result of the second pass over one block or several.

    Attributes
    ----------
    key : str
        The reference it belongs to.
    n_rows : int
        How many rows were counted.
    by_label, by_score : array of shape (2, n_ones)
        For each relevant score of the reference, how many more irrelevant scores of its label (of
        all entries) are above it, and above or tied, than for the relevant score before it.
    top : array of shape (n_labels,)
        The highest irrelevant score of each label; -inf if there is none.
    both, predicted : array of shape (n_labels,)
        How often each label is true and predicted, and predicted.
    has_scores, has_predictions, is_sparse : bool
        What the blocks had, and whether scores are sparse.
    rows : tuple of RowPart
        The rows of the blocks, in their order; empty if only their sums are kept.
    sums : RowSums or None
        What the rows of the blocks add up to; None if they are kept.
    """

    key: str
    n_rows: int
    by_label: Anything
    by_score: Anything
    top: Floats
    both: Integers
    predicted: Integers
    has_scores: bool
    has_predictions: bool
    is_sparse: bool
    rows: tuple[RowPart, ...] = ()
    sums: RowSums | None = None


# First pass


def gather(block: Checked) -> Gathered:
    """Collect the relevant scores of a block."""
    Y, n_labels = block.Y, block.Y.shape[1]
    kind: Any = np.uint16 if n_labels <= _MOST_SHORT_LABELS else np.int32
    labels, scores = np.empty(0, kind), np.empty(0, np.float32)
    if block.any_scores is not None:
        labels, scores = Y.indices.astype(kind), _relevant_scores(block)
    none = np.zeros(n_labels, np.int64)
    unknown = none if Y.unknown is None else Y.unknown.ones_per_column
    return Gathered(Y.shape[0], n_labels, labels, scores, Y.ones_per_column, unknown)


def _relevant_scores(block: Checked) -> Floats:
    """The scores of the relevant labels, row by row; -inf where sparse scores have none."""
    Y = block.Y
    if block.stored is None:
        return block.scores[np.repeat(np.arange(Y.shape[0]), Y.ones_per_row), Y.indices]
    places, wanted = Pattern.from_csr(block.stored.matrix).flat, Y.flat
    spots = np.searchsorted(places, wanted)
    scores = np.full(wanted.size, -np.inf, dtype=block.stored.dtype)
    stored = np.zeros(wanted.size, dtype=bool)
    inside = spots < places.size
    stored[inside] = places[spots[inside]] == wanted[inside]
    scores[stored] = block.stored.matrix.data[spots[stored]]
    return scores


def rank(parts: Sequence[Gathered]) -> Reference:
    """Sort the relevant scores of all blocks."""
    n_rows, n_labels = sum(part.n_rows for part in parts), parts[0].n_labels
    ones, unknown = (
        np.sum([getattr(part, name) for part in parts], axis=0) for name in ("ones", "unknown")
    )
    sizes = sum(np.bincount(part.labels, minlength=n_labels) for part in parts)
    indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    by_label = np.empty(indptr[-1], np.result_type(*(part.scores for part in parts)))
    ends = indptr[:-1].copy()
    for part in parts:
        group_scores(part.labels, part.scores, ends, by_label)
    np.negative(by_label, out=by_label)  # sorts ascend
    by_score = np.sort(by_label)
    for start, stop in pairwise(indptr):
        by_label[start:stop].sort()
    np.negative(by_label, out=by_label)
    np.negative(by_score, out=by_score)
    size = f"{n_rows} {n_labels} {by_label.dtype}".encode()
    digest = hashlib.blake2b(size, digest_size=16)
    for array in (by_label, ones, unknown):
        digest.update(array.data)
    own = (ones, unknown, digest.hexdigest())
    return Reference(n_rows, n_labels, indptr, by_label, by_score, *own)


# Second pass


def count(block: Checked, reference: Reference, task: Task, into: Counted | None = None) -> Counted:
    """Count how the irrelevant entries of a block fall among the relevant scores of all blocks.

    With ``into``, its arrays are added to and must not be used afterwards: nothing is copied.
    """
    own = nothing_counted(block, reference) if into is None else into
    if own.has_scores:
        np.maximum(own.top, _count_scores(block, reference, own), out=own.top)
    kept = MARGIN_FUNCTIONS if task.per_instance else OF_PROFILES
    return add_rows(block, task, own, {name: MARGIN_FUNCTIONS[name] for name in kept})


def add_rows(
    block: Checked, task: Task, own: Counted, also: Mapping[str, Callable[[Profile], Anything]]
) -> Counted:
    """Add the rows and the predicted labels of a block, which need no other block.

    ``also`` are functions of profiles whose results are kept, too.
    """
    values: RowValues = {}
    results: dict[str, Anything] = {}
    if own.has_scores:
        functions = row_functions(
            task.measures, "scores", ROWS, task.conventions, absent=own.is_sparse
        )
        results = read_view(ROWS, {**functions, **also}, block) if functions or also else {}
        values = {(name, ROWS.name): results.pop(name) for name in functions}
    if block.P is not None:
        labels = count_labels(block.Y, block.P, (ROWS, COLUMNS))
        np.add(own.both, labels[COLUMNS.name].both, out=own.both)
        np.add(own.predicted, labels[COLUMNS.name].predicted, out=own.predicted)
        values |= values_of_counts(task.measures, {ROWS.name: labels[ROWS.name]}, task.conventions)
    rows = RowPart(ROWS.items(block.Y), {name: v for (name, _), v in values.items()}, results)
    n_rows = own.n_rows + block.Y.shape[0]
    if task.per_instance:
        return replace(own, n_rows=n_rows, rows=(*own.rows, rows))
    sums = RowSums.of(rows, task)
    return replace(own, n_rows=n_rows, sums=sums if own.sums is None else own.sums.plus(sums))


def _count_scores(block: Checked, reference: Reference, own: Counted) -> Floats:
    """Count in the columns and in all entries; return the highest irrelevant score by column."""
    Y, S, places = block.Y, block.any_scores, (reference.indptr, reference.by_label, own.by_label)
    if isinstance(S, SparseScores):
        count_stored_entries(Y, S, reference.by_score, own.by_score)
        return count_stored_columns(Y, S, *places)
    assert S is not None
    with workers(enough=S.size > 1 << 20) as run:
        count_entries(Y, S, reference.by_score, own.by_score, run)
        return count_columns(Y, S, *places, run)


def nothing_counted(block: Checked, reference: Reference) -> Counted:
    """The counts of no block."""
    S = block.any_scores
    scored = S is not None
    n_ones, n_labels = reference.by_label.size if scored else 0, reference.n_labels
    short = reference.n_rows * n_labels <= _LARGEST_SHORT
    kind: Any = np.uint32 if short else np.int64
    by_label, by_score = np.zeros((2, n_ones), kind), np.zeros((2, n_ones), kind)
    top = np.full(n_labels, -np.inf, np.float64 if S is None else S.dtype)
    both, predicted = np.zeros(n_labels, np.int64), np.zeros(n_labels, np.int64)
    given = scored, block.P is not None, block.stored is not None
    return Counted(reference.key, 0, by_label, by_score, top, both, predicted, *given)


def merge_counted(parts: Sequence[Counted]) -> Counted:
    """Add what was counted in several blocks."""
    first = parts[0]
    if any(part.key != first.key for part in parts):
        raise ValueError(
            "These counts were not made with the same relevant scores: all blocks must go through "
            "the first pass, and be merged, before the second pass starts."
        )
    arrays = (
        np.sum([part.by_label for part in parts], axis=0, dtype=first.by_label.dtype),
        np.sum([part.by_score for part in parts], axis=0, dtype=first.by_score.dtype),
        np.max([part.top for part in parts], axis=0),
        np.sum([part.both for part in parts], axis=0),
        np.sum([part.predicted for part in parts], axis=0),
    )
    rows = tuple(row for part in parts for row in part.rows)
    sums = [part.sums for part in parts if part.sums is not None]
    n_rows = sum(part.n_rows for part in parts)
    given = first.has_scores, first.has_predictions, first.is_sparse
    total = RowSums.total(sums) if sums else None
    return Counted(first.key, n_rows, *arrays, *given, rows, total)


# The result


def finish(
    reference: Reference, counted: Counted, task: Task, of_labels: "OfView | None" = None
) -> Evaluation:
    """The evaluation of all blocks, equal to that of their rows at once.

    ``of_labels`` are the values of the columns, if they were computed before; ``by_label`` of both
    records is not used then.
    """
    if counted.key != reference.key:
        raise ValueError("The counts belong to other relevant scores. Pass every block again.")
    if counted.n_rows != reference.n_rows:
        raise ValueError(
            f"The second pass must see the rows of the first: expected {reference.n_rows}, got "
            f"{counted.n_rows}. Pass every block again, and each once."
        )
    rows: RowValues = {}
    others: dict[str, dict[str, Anything]] = {}
    if counted.has_scores:
        for view in (COLUMNS, ENTRIES):
            known = of_labels if view is COLUMNS else None
            values, others[view.name] = known or values_of_view(view, reference, counted, task)
            rows |= values
    items = reference.items()
    if counted.has_predictions:
        rows |= values_of_counts(task.measures, label_counts(counted, items), task.conventions)
    shape = reference.n_rows, reference.n_labels
    n_gaps = int(reference.unknown.sum()), int(np.isneginf(reference.by_score).sum())
    return evaluation_with_rows(counted, task, Computed({}, others, items), rows, shape, n_gaps)


OfView = tuple[RowValues, dict[str, Anything]]
"""The values of measures of scores, and what margins are made from."""


def values_of_view(view: View, reference: Reference, counted: Counted, task: Task) -> OfView:
    """The values of the columns, or of the whole matrix."""
    functions = row_functions(
        task.measures, "scores", view, task.conventions, absent=counted.is_sparse
    )
    values = _apply({**functions, **MARGIN_FUNCTIONS}, _profiles(view, reference, counted))
    return {(name, view.name): values.pop(name) for name in functions}, values


def evaluation_with_rows(
    counted: Counted,
    task: Task,
    known: Computed,
    rows: RowValues,
    shape: tuple[int, int],
    n_gaps: tuple[int, int],
) -> Evaluation:
    """The evaluation of all rows; ``known`` has the results for labels and the whole matrix."""
    others, items, measures = dict(known.others), dict(known.items), task.measures
    if counted.sums is None:
        items[ROWS.name] = joined_items(counted.rows)
        own, of_rows = joined_rows(counted.rows)
        rows, others = rows | own, others | of_rows
    else:
        measures = tuple(
            replace(m, also=None) if m.also is ROWS else m for m in measures if m.view is not ROWS
        )
    computed = computed_of(measures, rows, task.conventions, others, items)
    evaluation = evaluation_of(
        measures, computed, task.conventions, shape, task.label_names, n_gaps
    )
    if not counted.is_sparse:  # those of bins
        evaluation = replace(evaluation, bounds=computed.bounds)
    if counted.sums is None:
        return evaluation
    return counted.sums.complete_evaluation(evaluation, task, rows, items)


def _profiles(view: View, reference: Reference, counted: Counted) -> Iterator[Profile]:
    """The profiles of the columns, or of the whole matrix."""
    items = reference.items()[view.name]
    if view is ENTRIES:
        ends, top = np.array([0, reference.by_score.size]), counted.top.max(keepdims=True)
        n_items = int(np.sum(items.n_items))
        above, tied = _summed(counted.by_score, ends)
        profile = Profile(ends, reference.by_score, above, tied, top, n_items)
        yield profile.with_absent_tied() if counted.is_sparse else profile
        return
    per_label = 1 + reference.by_label.size // reference.n_labels
    for start, stop in row_blocks(reference.n_labels, per_label, scattered=False):
        ends = reference.indptr[start : stop + 1]
        own = slice(ends[0], ends[-1])
        above, tied = _summed(counted.by_label[:, own], ends - ends[0])
        n_items = items.n_items if np.ndim(items.n_items) == 0 else items.n_items[start:stop]
        top = counted.top[start:stop]
        profile = Profile(ends - ends[0], reference.by_label[own], above, tied, top, n_items)
        yield profile.with_absent_tied() if counted.is_sparse else profile


def _summed(steps: Anything, indptr: Integers) -> tuple[Anything, Anything]:
    """How many are above and tied; an array of zeros, as that of ties often is, takes no memory."""
    above, tied = np.empty_like(steps[0]), np.empty_like(steps[1])
    sum_steps(steps[0], steps[1], indptr, above, tied)
    return above, tied if tied.any() else np.broadcast_to(tied.dtype.type(0), tied.shape)


def _apply(
    functions: Mapping[str, Callable[[Profile], Anything]], profiles: Iterator[Profile]
) -> dict[str, Anything]:
    blocks = [{name: f(profile) for name, f in functions.items()} for profile in profiles]
    return {name: np.concatenate([b[name] for b in blocks], axis=-1) for name in functions}


def label_counts(counted: Counted, items: Mapping[str, Items]) -> dict[str, Counts]:
    """The confusion counts of the columns and of the whole matrix."""
    both, predicted = counted.both, counted.predicted
    whole = both.sum(keepdims=True), predicted.sum(keepdims=True)
    columns, entries = items[COLUMNS.name], items[ENTRIES.name]
    return {
        COLUMNS.name: Counts(both, columns.ones, predicted, columns.n_items),
        ENTRIES.name: Counts(whole[0], entries.ones, whole[1], entries.n_items),
    }


def is_empty(y_true: Any) -> bool:
    """Whether this is a block without rows."""
    shape = getattr(y_true, "shape", None)
    return (isinstance(y_true, list | tuple) and not len(y_true)) or (
        shape is not None and len(shape) == 2 and shape[0] == 0
    )


def stacked(blocks: Sequence[Checked]) -> Checked:
    """The rows of all blocks at once."""
    if len(blocks) == 1:
        return blocks[0]
    scores = [block.S for block in blocks if block.S is not None]
    stored = [block.stored.matrix for block in blocks if block.stored is not None]
    predictions = [block.P for block in blocks if block.P is not None]
    return Checked(
        Pattern.stacked([block.Y for block in blocks]),
        np.concatenate(scores) if scores else None,
        Pattern.stacked(predictions) if predictions else None,
        blocks[0].label_names,
        sum(block.n_missing for block in blocks),
        SparseScores(sparse.vstack(stored, format="csr")) if stored else None,
    )
