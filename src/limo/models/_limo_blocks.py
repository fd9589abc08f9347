"""Fit margin classifiers over blocks of instances: from shards, or on the workers of a cluster.

The weights are those of ``fit`` in memory, to the same certified gap. The folds for the threshold
are drawn within each block, so they differ from those in memory; a threshold that is just below a
relevant score is exact all the same, and other rules are fitted to a sample of the instances.
"""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array

from limo._blocks import (
    Counted,
    Gathered,
    Reference,
    Task,
    count,
    finish,
    gather,
    merge_counted,
    rank,
)
from limo._checks import Checked, check_labels
from limo._evaluation import Evaluation
from limo._solvers import exact
from limo._solvers.blocks import BlockProblem, Engine, Local, rows_per_block
from limo._solvers.parts import Block, Part, Setting, Summary, add_summaries, summary_of
from limo._solvers.problem import Callback, Solution
from limo._types import Integers, Values
from limo._views import Pattern
from limo.datasets import Shards
from limo.losses._term import Term
from limo.measures._conventions import CONVENTIONS
from limo.measures._measure import Measure
from limo.models._limo_average import Solving
from limo.thresholds._fit import ConstantLabels, make_rule
from limo.thresholds._rules import FixedThreshold, ThresholdRule
from limo.thresholds._spread import (
    MOST_SAMPLED,
    Gaps,
    Ordered,
    Sample,
    fit_to_gaps,
    fit_to_samples,
    gaps_of,
    view_of,
)


def checked_block(X: Any, y: Any, number: int = 0) -> Block:
    """A block of features and of labels 0 and 1, checked; the rows of data frames are kept."""
    X = X.to_numpy() if hasattr(X, "to_numpy") else X
    y = y.to_numpy() if hasattr(y, "to_numpy") else y
    if X.shape[0] != y.shape[0]:
        raise ValueError(
            f"y must have a row for each row of X: block {number} has {X.shape[0]} rows of X and "
            f"{y.shape[0]} of y."
        )
    if np.ndim(y) != 2:
        raise ValueError(
            "y must have a column for each label, also if it has one only: block "
            f"{number} has {np.ndim(y)} dimensions."
        )
    if not X.shape[0]:
        none = Pattern.from_flat(np.zeros(0, dtype=np.int64), (0, y.shape[1]))
        return Block(np.zeros((0, X.shape[1])), none, number)
    X = check_array(X, accept_sparse="csr", dtype=np.float64, order="C", input_name="X")
    return Block(X, check_labels(y, "y"), number)


@dataclass(frozen=True, eq=False)
class Reader:
    """A block that is read from a shard whenever it is needed."""

    piece: Any
    number: int

    def read(self) -> Block:
        """The block, checked."""
        X, y = self.piece.open()
        return checked_block(X, y, self.number)


def as_shards(X: Any, y: Any, limit: float) -> Shards | None:
    """The data in pieces, if given in pieces, or in a file and larger than so many bytes."""
    if isinstance(X, Shards):
        if y is not None:
            raise ValueError("Shards hold the labels, too: leave y out, as in fit(shards).")
        return X
    on_disk = isinstance(X, np.memmap) and X.ndim == 2 and 8 * X.size > limit
    return Shards.of(X, y if hasattr(y, "shape") else np.asarray(y)) if on_disk else None


def check_plain(model: Any, sample_weight: Any) -> None:
    """Reject options that blocks cannot have."""
    if sample_weight is not None or model.missing is not None:
        given = "missing labels" if sample_weight is None else "sample_weight"
        raise ValueError(
            f"Data in blocks cannot have {given} yet: fit in memory, or leave these instances out."
        )


def from_shards(shards: Shards, limit: float) -> Local:
    """The engine of this machine, with blocks of at most so many bytes."""
    X, Y = next(iter(shards))
    step = rows_per_block(limit, Y.shape[1], X.shape[1])
    pieces = shards.split(step)
    return Local(Part([Reader(piece, number) for number, piece in enumerate(pieces)]))


# Folds


@dataclass(frozen=True)
class Fold:
    """One of several folds: the instances in it, or those outside."""

    number: int
    n_folds: int
    inside: bool

    def rows(self, block: Block) -> Integers:
        """The rows of a block that belong to it; about equally many of each block."""
        n_rows = block.Y.shape[0]
        drawn = np.random.default_rng(block.number).permutation(n_rows)
        inside = (drawn + block.number) % self.n_folds == self.number
        return np.flatnonzero(inside == self.inside)


@dataclass(frozen=True, eq=False)
class Chosen:
    """Some rows of a block, taken whenever it is read."""

    source: Any
    fold: Fold

    def read(self) -> Block:
        """The block without its other rows."""
        block: Block = self.source.read()
        rows = self.fold.rows(block)
        labels = Pattern.from_csr(block.Y.csr[rows]) if rows.size else block.Y.rows(0, 0)
        return Block(block.X[rows], labels, block.number)


def chosen_of(part: Part, fold: Fold) -> Part:
    """The instances of a part that belong to a fold; those in memory are copied once."""
    chosen = [Chosen(source, fold) for source in part.sources]
    ready = [one.read() if isinstance(one.source, Block) else one for one in chosen]
    return Part(ready, part.keep)


# Weights


@dataclass(frozen=True, eq=False)
class Weights:
    """A solution with what is needed to score instances by it."""

    solution: Solution
    constant: float
    labels: ConstantLabels
    alpha: float

    def scores(self, X: Any) -> Values:
        """The scores of instances."""
        W = self.solution.W
        S = np.asarray(X @ W[: X.shape[1]])
        if self.constant:
            S += self.constant * W[-1]
        return self.labels.complete(S)


def summarise(engine: Engine) -> Summary:
    """The totals of all parts."""

    def compute() -> Any:
        return engine.result(engine.add(add_summaries, engine.each(summary_of)))

    summary: Summary = engine.retry(compute)
    return summary


def solve_path(
    engine: Engine,
    terms: tuple[Term, ...],
    alphas: Sequence[float],
    solving: Solving,
    callback: Callback | None = None,
    start: Solution | None = None,
    for_rows: float | None = None,
) -> Iterator[Weights]:
    """Weights for falling alpha, each found from the one before.

    The alphas are for ``for_rows`` instances, by default those of the engine. If it has fewer,
    it takes as many times more, as the folds of :class:`limo.LIMOClassifierCV` do.
    """
    summary = summarise(engine)
    totals = summary.totals
    strength = 1.0 if for_rows is None else for_rows / totals.n_rows
    unit = float(np.sqrt(summary.squares / totals.n_rows)) or 1.0
    constant = float(solving.intercept_scaling) * unit if solving.fit_intercept else 0.0
    problem = BlockProblem(engine, Setting(terms, totals, constant), 1.0, summary.n_features)
    for alpha in alphas:
        if start is not None and start.W.shape != problem.shape:
            start = None
        own = strength * alpha * unit**2
        start = exact.solve(
            problem.with_alpha(own),
            tol=solving.tol,
            max_iter=solving.max_iter,
            start=start,
            callback=callback,
        )
        constant_labels = ConstantLabels.of(totals.ones, totals.items)
        yield Weights(start, constant, constant_labels, own)


# The estimator


def fit_over(model: Any, engine: Engine) -> None:
    """Fit a :class:`limo.MarginClassifier` to the parts of an engine."""
    model._check_settings()
    before = getattr(model, "solution_", None) if model.warm_start else None
    terms, solving = model._loss_terms(), Solving.of(model)
    path = solve_path(engine, terms, [model.alpha], solving, model.callback, before)
    weights = next(path)
    if not weights.solution.converged:
        warnings.warn(str(weights.solution), ConvergenceWarning, stacklevel=4)
    take_weights(model, weights)
    model._set_threshold(fit_threshold_over(model, engine, weights))


def take_weights(model: Any, weights: Weights) -> None:
    """Set the attributes of a fitted model, except its threshold."""
    solution, constant = weights.solution, weights.constant
    model.solution_, model.alpha_, model.n_iter_ = solution, weights.alpha, solution.iterations
    model.never_, model.always_ = weights.labels.never, weights.labels.always
    model.n_features_in_ = solution.W.shape[0] - bool(constant)
    model.target_form_, model.classes_ = "dense", np.arange(solution.W.shape[1])
    model._set_weights(solution.W, constant)


def fit_threshold_over(model: Any, engine: Engine, weights: Weights) -> ThresholdRule:
    """The threshold of a model with these weights, fitted to the parts of an engine."""
    if model.threshold is None and model.threshold_measure is None:
        return FixedThreshold(0.0)
    rule = make_rule(model.threshold, model.threshold_measure)
    if not rule.needs_fit:
        return rule
    if isinstance(model.threshold_cv, str) and model.threshold_cv == "training":
        return fit_rule_over(engine, rule, [weights])
    n_folds = _number_of_folds(model.threshold_cv)
    terms, solving = model._loss_terms(), Solving.of(model)
    fitted: list[Weights] = []
    for k in range(n_folds):
        others = engine.derive(chosen_of, Fold(k, n_folds, inside=False))
        fitted += solve_path(others, terms, [model.alpha], solving)
    return fit_rule_over(engine, rule, fitted)


def _number_of_folds(cv: Any) -> int:
    if isinstance(cv, bool) or not isinstance(cv, int | np.integer) or cv < 2:
        raise ValueError(
            "Over blocks, threshold_cv must be a number of folds, at least 2, or 'training': got "
            f"{cv!r}."
        )
    return int(cv)


# Thresholds


def _held_out(part: Part, models: Sequence[Weights]) -> Iterator[tuple[Block, Values]]:
    """Each block with its scores: of instance i, by the model that has not seen its fold."""
    for block in part:
        S = np.empty(block.Y.shape)
        for k, model in enumerate(models):
            rows = Fold(k, len(models), inside=True).rows(block)
            S[rows] = model.scores(block.X[rows])
        yield block, S


class _Relevant(NamedTuple):
    labels: Integers
    scores: Values


def _relevant_of(part: Part, models: Sequence[Weights]) -> _Relevant:
    relevant = [
        (block.Y.indices, S.reshape(-1)[block.Y.flat]) for block, S in _held_out(part, models)
    ]
    labels, scores = zip((np.zeros(0, dtype=np.int64), np.zeros(0)), *relevant, strict=True)
    return _Relevant(np.concatenate(labels), np.concatenate(scores))


def _order(relevant: Sequence[_Relevant], view: str, n_labels: int) -> Ordered:
    labels, scores = zip(*relevant, strict=True)
    return Ordered.of(view, labels, scores, n_labels)  # type: ignore[no-any-return]


def _gaps_of(part: Part, models: Sequence[Weights], known: Ordered) -> Gaps | None:
    gaps = [gaps_of(S, block.Y, known) for block, S in _held_out(part, models)]
    return _add_gaps(gaps) if gaps else None


def _add_gaps(gaps: Sequence[Gaps | None]) -> Gaps:
    known = [one for one in gaps if one is not None]
    total = known[0]
    for one in known[1:]:
        total = total.plus(one)
    return total


def _sample_of(part: Part, models: Sequence[Weights], share: float) -> list[Sample]:
    samples = []
    for block, S in _held_out(part, models):
        rows = np.flatnonzero(np.random.default_rng(block.number).random(len(S)) < share)
        if rows.size:
            samples.append(Sample(block.X[rows], Pattern.from_csr(block.Y.csr[rows]), S[rows]))
    return samples


def fit_rule_over(engine: Engine, rule: ThresholdRule, models: Sequence[Weights]) -> ThresholdRule:
    """Fit a rule to the scores by models of folds, or by one model of all instances."""
    totals = summarise(engine).totals
    view = view_of(rule)

    def compute() -> Any:
        shared = engine.share(tuple(models))
        if view is None:
            share = min(1.0, MOST_SAMPLED / (totals.n_rows * totals.ones.size))
            return [engine.result(one) for one in engine.each(_sample_of, shared, share)]
        relevant = engine.each(_relevant_of, shared)
        known = engine.once(_order, relevant, view.name, totals.ones.size)
        gaps = engine.add(_add_gaps, engine.each(_gaps_of, shared, known))
        return engine.result(known), engine.result(gaps)

    results = engine.retry(compute)
    if view is not None:
        known, gaps = results
        return fit_to_gaps(rule, known, gaps, totals.n_rows)
    samples = [sample for part in results for sample in part]
    features = [sample.X for sample in samples]
    stack = sparse.vstack if sparse.issparse(features[0]) else np.vstack
    return fit_to_samples(rule, samples, stack(features))


# Measures of held-out scores


def evaluate_over(
    engine: Engine,
    models: Sequence[Weights],
    measures: Sequence[Measure],
    rule: ThresholdRule | None = None,
) -> Evaluation:
    """Evaluate scores by models of folds, or by one model of all instances, and labels by a rule.

    The measures are those of all instances at once; see :mod:`limo._blocks`.
    """
    given = [m for m in measures if m.needs == "scores" or rule is not None]
    task = Task(tuple(given), CONVENTIONS["standard"], per_instance=False)

    def compute() -> Any:
        shared = engine.share(tuple(models))
        reference = engine.once(_ranked, engine.each(_gathered_of, shared))
        parts = engine.each(_counted_of, shared, reference, task, rule)
        counted = engine.add(_add_counted, parts)
        return engine.result(reference), engine.result(counted)

    reference, counted = engine.retry(compute)
    return finish(reference, counted, task)


def _checked_of(
    part: Part, models: Sequence[Weights], rule: ThresholdRule | None
) -> Iterator[Checked]:
    for block, S in _held_out(part, models):
        if len(S):
            P = None if rule is None else check_labels(rule.predict(S), "labels")
            yield Checked(block.Y, S, P, None)


def _gathered_of(part: Part, models: Sequence[Weights]) -> list[Gathered]:
    return [gather(block) for block in _checked_of(part, models, None)]


def _ranked(gathered: Sequence[list[Gathered]]) -> Reference:
    return rank([one for part in gathered for one in part])


def _counted_of(
    part: Part,
    models: Sequence[Weights],
    reference: Reference,
    task: Task,
    rule: ThresholdRule | None,
) -> Counted | None:
    counted = None
    for block in _checked_of(part, models, rule):
        counted = count(block, reference, task, counted)
    return counted


def _add_counted(counted: Sequence[Counted | None]) -> Counted:
    return merge_counted([one for one in counted if one is not None])
