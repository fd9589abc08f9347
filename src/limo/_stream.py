"""Evaluate a stream that is seen once: column measures in bins, with certified bounds."""

from dataclasses import replace
from typing import Any

import numpy as np

from limo._blocks import (
    Counted,
    Task,
    add_rows,
    evaluation_with_rows,
    gather,
    is_empty,
    label_counts,
    nothing_counted,
    rank,
    stacked,
)
from limo._checks import Checked, check_inputs
from limo._evaluate import evaluate_checked
from limo._evaluation import Evaluation
from limo._settings import check_number
from limo._types import Anything, Floats, Integers, Values
from limo._views import COLUMNS, ENTRIES, ROWS, Pattern
from limo.measures._compute import Computed, RowValues, check_conventions, values_of_counts
from limo.measures._conventions import Conventions
from limo.measures._own import Chosen, computable, select

# Rows from which the limits of bins are found, for each bin.
_ROWS_PER_BIN = 4
_BINNED = ("macro_auc", "micro_auc")


class StreamEvaluator:
    """Evaluate blocks of rows that are seen once and not kept.

    Measures of instances and of predicted labels are exact. macro-AUC and micro-AUC count pairs in
    bins: a pair of scores in the same bin may be in order or not. The value is the middle, and
    ``evaluation.bounds`` holds the lowest and the highest possible value. They always contain the
    value that :func:`limo.evaluate` would give. The limits of the bins are quantiles of the first
    rows of the stream; if there are no more rows than these, everything is exact.

    The result has no margins. Other measures of scores over labels or over all entries need
    :class:`limo.Evaluator`.

    Parameters
    ----------
    bins : int, default=4096
        How many bins the scores of each label have. More bins give closer bounds and need more
        memory: 32 bytes per bin and label.
    measures : list of names or records, optional
        By default the paper's eleven.
    conventions : str or Conventions, default="standard"
        How ties and undefined rows count.
    missing : number, optional
        The number that stands for a missing label (nan or -1).
    per_instance : bool, default=False
        Whether to keep the values of each instance, which need memory; their means are exact
        without them.

    Examples
    --------
    >>> import limo
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> evaluator = limo.StreamEvaluator(bins=64)
    >>> for _ in range(10):
    ...     Y = rng.integers(0, 2, (100, 3))
    ...     _ = evaluator.update(Y, rng.normal(size=Y.shape) + Y)
    >>> found = evaluator.compute()
    >>> low, high = found.bounds["macro_auc"]
    >>> low <= found["macro_auc"] <= high, round(high - low, 2)
    (True, 0.01)
    """

    def __init__(
        self,
        bins: int = 4096,
        *,
        measures: Chosen = None,
        conventions: str | Conventions = "standard",
        missing: float | None = None,
        per_instance: bool = False,
    ) -> None:
        self.bins = check_number(bins, "bins", least=2, integer=True)
        self.measures = measures
        self.conventions = check_conventions(conventions)
        self.missing = missing
        self.per_instance = per_instance
        for measure in select(measures):
            of_rows = set(measure.views) == {ROWS} and not measure.whole
            if measure.needs == "scores" and measure.name not in _BINNED and not of_rows:
                raise ValueError(
                    f"{measure.name!r} cannot be computed in one pass. Use limo.Evaluator."
                )
        self.reset()

    def reset(self) -> None:
        """Forget all blocks."""
        self._first: list[Checked] = []
        self._bins: tuple[_Bins, _Bins] | None = None
        self._counted: Counted | None = None
        self._shape: tuple[int, bool, bool] | None = None
        self._names: tuple[str, ...] | None = None
        self._unknown: Any = 0
        self._ones: Any = 0

    def update(self, y_true: Any, y_score: Any = None, y_pred: Any = None) -> "StreamEvaluator":
        """Add a block of rows.

        Parameters
        ----------
        y_true, y_score, y_pred : array-like of shape (n_samples, n_labels)
            As for :func:`limo.evaluate`, with dense scores. A block without rows changes nothing.

        Returns
        -------
        StreamEvaluator
            Itself.
        """
        if is_empty(y_true):
            return self
        if y_score is None:
            raise ValueError("A stream is evaluated by its scores: y_score is None.")
        block = check_inputs(y_true, y_score, y_pred, missing=self.missing)
        self._check(block)
        if self._bins is not None:
            self._add(block)
            return self
        self._first.append(replace(block, S=np.array(block.S)))
        if sum(one.Y.shape[0] for one in self._first) > _ROWS_PER_BIN * self.bins:
            self._start()
        return self

    def compute(self) -> Evaluation:
        """Evaluate the rows seen so far; more can be added afterwards.

        Returns
        -------
        Evaluation
        """
        if self._bins is None:
            if not self._first:
                raise ValueError("Nothing to evaluate: call update() with at least one row first.")
            block = stacked(self._first)
            chosen = computable(select(self.measures), block, self.measures)
            evaluation = evaluate_checked(block, self.conventions, measures=chosen)[0]
            return replace(evaluation, margins={}, label_names=self._names)
        return self._finish()

    def _check(self, block: Checked) -> None:
        shape = (block.Y.shape[1], block.S is not None, block.P is not None)
        if self._shape not in (None, shape):
            raise ValueError(
                "Every block must have the same labels, and y_pred or none: expected "
                f"{self._shape[0] if self._shape else 0} labels, got {shape[0]}, "
                f"{'with' if shape[2] else 'without'} y_pred."
            )
        self._shape, self._names = shape, self._names or block.label_names

    def _start(self) -> None:
        """Find the limits of the bins from the first rows, and count these."""
        blocks, self._first = self._first, []
        whole = stacked(blocks)
        S = whole.scores
        columns = np.sort(S, axis=0).T
        places = np.arange(1, self.bins) * S.shape[0] // self.bins
        entries = np.sort(S, axis=None)[np.arange(1, self.bins) * S.size // self.bins]
        self._bins = _Bins(columns[:, places].copy()), _Bins(entries[np.newaxis].copy())
        nothing = rank([gather(replace(whole, S=None))])
        self._counted = nothing_counted(whole, nothing)
        for block in blocks:
            self._add(block)

    def _add(self, block: Checked) -> None:
        assert self._bins is not None
        assert self._counted is not None
        marks, known = block.Y.csr.toarray().astype(bool), np.ones(block.Y.shape, dtype=bool)
        if block.Y.unknown is not None:
            known = ~block.Y.unknown.csr.toarray().astype(bool)
        columns, entries = self._bins
        for j in range(block.Y.shape[1]):
            own = block.scores[:, j]
            columns.add(j, own[known[:, j]], own[marks[:, j]])
        entries.add(0, block.scores[known], block.scores[marks])
        gathered = gather(block)
        self._ones, self._unknown = self._ones + gathered.ones, self._unknown + gathered.unknown
        self._counted = add_rows(block, self._task(), self._counted, {})

    def _task(self) -> Task:
        assert self._shape is not None
        chosen = [m for m in select(self.measures) if m.needs == "scores" or self._shape[2]]
        return Task(tuple(chosen), self.conventions, self._names, self.per_instance)

    def _finish(self) -> Evaluation:
        counted, task = self._counted, self._task()
        assert self._bins is not None
        assert counted is not None
        reference = replace(
            rank([gather(_nothing(self._ones.size))]),
            n_rows=counted.n_rows,
            ones=self._ones,
            unknown=self._unknown,
        )
        rows: RowValues = {}
        for name, view, bins in zip(_BINNED, (COLUMNS, ENTRIES), self._bins, strict=True):
            rows |= bins.auc(name, view.name, self.conventions.auc_tie)
        items = reference.items()
        if counted.has_predictions:
            rows |= values_of_counts(task.measures, label_counts(counted, items), task.conventions)
        shape = counted.n_rows, self._ones.size
        n_gaps = int(self._unknown.sum()), 0
        known = Computed({}, {}, items)
        return evaluation_with_rows(counted, task, known, rows, shape, n_gaps)


class _Bins:
    """Relevant and irrelevant scores of each row of a view, counted in bins.

    ``limits[i]`` ascend: bin b of row i holds scores from ``limits[i, b - 1]`` up to, but not
    including, ``limits[i, b]``.
    """

    def __init__(self, limits: Floats) -> None:
        self.limits = limits
        shape = limits.shape[0], limits.shape[1] + 1
        self.relevant, self.irrelevant = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        self.lowest, self.highest = np.full(shape, np.inf), np.full(shape, -np.inf)

    def add(self, row: int, scores: Floats, relevant: Floats) -> None:
        """Count scores of a row, of which some are relevant."""
        ordered = np.sort(scores)
        ends = self._ends(row, ordered)
        own = np.diff(self._ends(row, np.sort(relevant)))
        filled = ends[1:] > ends[:-1]
        first, last = ordered[ends[:-1][filled]], ordered[ends[1:][filled] - 1]
        self.relevant[row] += own
        self.irrelevant[row] += np.diff(ends) - own
        self.lowest[row, filled] = np.minimum(self.lowest[row, filled], first)
        self.highest[row, filled] = np.maximum(self.highest[row, filled], last)

    def _ends(self, row: int, ordered: Floats) -> Integers:
        inner = np.searchsorted(ordered, self.limits[row])
        return np.concatenate([[0], inner, [ordered.size]])

    def auc(self, name: str, view: str, tie: float) -> RowValues:
        """The middle, the highest and the lowest possible AUC of each row; two lines each."""
        p, n = self.relevant, self.irrelevant
        pairs = p.sum(axis=1).astype(np.float64) * n.sum(axis=1)
        higher = n.sum(axis=1, keepdims=True) - np.cumsum(n, axis=1)
        lost = (p * higher).sum(axis=1)
        within = p * n
        single = self.lowest == self.highest  # one value: these pairs are known to be tied
        tied, open_ = (within * single).sum(axis=1), (within * ~single).sum(axis=1)
        sure = lost + (1.0 - tie) * tied
        ends = {" at best": sure, " at worst": sure + open_, "": sure + open_ / 2}
        return {
            (name + ending, view): np.stack([_share(pairs, errors), _share(pairs, 0.0 * pairs)])
            for ending, errors in ends.items()
        }


def _share(pairs: Values, errors: Anything) -> Values:
    share = np.full(pairs.shape, np.nan)
    np.divide(pairs - errors, pairs, out=share, where=pairs > 0)
    return share


def _nothing(n_labels: int) -> Checked:
    """A row without labels, from which an empty reference is made."""
    none = np.zeros(0, np.int64)
    return Checked(Pattern(np.zeros(2, np.int64), none, (1, n_labels)), None, None, None)
