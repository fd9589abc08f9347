"""Evaluation of Dask collections: two passes over their blocks, which stay where they are."""

import copy
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from limo._evaluation import Evaluation
from limo._evaluator import Evaluator
from limo.dask._cluster import dask, in_the_blocks_of, is_collection, pieces_of
from limo.measures._conventions import Conventions
from limo.measures._own import Chosen

# How many blocks one task joins.
_FAN_IN = 8


def evaluate(
    y_true: Any,
    y_score: Any = None,
    y_pred: Any = None,
    *,
    measures: Chosen = None,
    conventions: str | Conventions = "standard",
    label_names: Iterable[str] | None = None,
    missing: float | None = None,
) -> Evaluation:
    """Evaluate scores and predicted labels in Dask collections, as :func:`limo.evaluate` does.

    The measures are the same, bit for bit, for any division into blocks. The first pass collects
    the scores of the relevant entries; the second counts how many others of each block are above
    and tied. These counts and the margins of instances move, never all scores; other values of
    single instances are summed up where they are. The scheduler in use computes it: a cluster if
    there is a client, otherwise this machine.

    Parameters
    ----------
    y_true, y_score, y_pred : dask array or data frame of shape (n_samples, n_labels)
        True labels, scores, and predicted labels, in the same blocks of rows; at least one of the
        latter two. Chunk sizes may be unknown, and blocks may be empty.
    measures, conventions, label_names
        As for :func:`limo.evaluate`.
    missing : number, optional
        The number that stands for a missing label (nan or -1).

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> import dask.array, limo
    >>> Y = dask.array.from_array([[1, 0, 0], [0, 1, 1], [0, 0, 1]], chunks=(2, 3))
    >>> S = dask.array.from_array(
    ...     [[0.9, 0.2, 0.4], [0.5, 0.1, 0.8], [0.3, 0.2, 0.1]], chunks=(2, 3)
    ... )
    >>> limo.dask.evaluate(Y, S)["ranking_loss"]
    0.5
    """
    given = _blocks(y_true, y_score, y_pred)
    evaluator = Evaluator(
        "two-pass",
        measures=measures,
        conventions=conventions,
        label_names=None if label_names is None else tuple(label_names),
        missing=missing,
    )
    seen = [dask.delayed(_updated)(evaluator, *block) for block in given]
    ready = dask.delayed(_begin_second_pass)(_tree(seen, _merged))
    counted = [dask.delayed(_updated)(ready, *block) for block in given]
    (evaluation,) = dask.compute(dask.delayed(_computed)(_tree(counted, _merged)))
    return evaluation  # type: ignore[no-any-return]


def _blocks(y_true: Any, y_score: Any, y_pred: Any) -> list[tuple[Any, ...]]:
    """The delayed blocks of all collections, side by side."""
    named = {"y_true": y_true, "y_score": y_score, "y_pred": y_pred}
    columns: list[list[Any] | None] = []
    for name, thing in named.items():
        if thing is None and name != "y_true":
            columns.append(None)
            continue
        if not is_collection(thing):
            raise TypeError(
                f"{name} must be a Dask array or data frame, got {type(thing).__name__}. For "
                "arrays in memory use limo.evaluate."
            )
        columns.append(pieces_of(in_the_blocks_of(y_true, thing, name), name))
    n_blocks = len(columns[0] or ())
    for name, pieces in zip(named, columns, strict=True):
        if pieces is not None and len(pieces) != n_blocks:
            raise ValueError(
                f"{name} must be divided into as many blocks as y_true: got {len(pieces)} and "
                f"{n_blocks}."
            )
    return list(zip(*(pieces or [None] * n_blocks for pieces in columns), strict=True))


def _tree(results: Sequence[Any], join: Callable[[Any], Any]) -> Any:
    """Join results, a few at a time."""
    while len(results) > 1:
        steps = range(0, len(results), _FAN_IN)
        results = [dask.delayed(join)(list(results[k : k + _FAN_IN])) for k in steps]
    return results[0]


def _updated(evaluator: Evaluator, y_true: Any, y_score: Any, y_pred: Any) -> Evaluator:
    """A copy of an evaluator that has seen no block of this pass, with one block."""
    return _copy(evaluator).update(y_true, y_score, y_pred)


def _merged(evaluators: list[Evaluator]) -> Evaluator:
    total = _copy(evaluators[0])
    for one in evaluators[1:]:
        total.merge(one)
    return total


def _begin_second_pass(evaluator: Evaluator) -> Evaluator:
    return _copy(evaluator).second_pass()


def _computed(evaluator: Evaluator) -> Evaluation:
    return evaluator.compute()


def _copy(evaluator: Evaluator) -> Evaluator:
    """A copy with its own list of blocks; results of tasks must not change."""
    twin = copy.copy(evaluator)
    twin._kept, twin._gathered = list(evaluator._kept), list(evaluator._gathered)
    return twin
