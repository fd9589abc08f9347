"""Evaluate in parts: batches of a training loop, files of a folder, streams, several processes."""

import json
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from limo._blocks import (
    Counted,
    Gathered,
    Reference,
    RowPart,
    Task,
    count,
    finish,
    gather,
    is_empty,
    merge_counted,
    rank,
    stacked,
)
from limo._checks import Checked, check_inputs
from limo._evaluate import evaluate_checked
from limo._evaluation import Evaluation
from limo._frames import as_names
from limo._kernels.profiles import Mean
from limo._row_sums import MarginSums, MeasureSums, RowSums
from limo._settings import check_name
from limo._sparse import SparseScores, check_sparse_scores
from limo._system import Later, as_path, replacing
from limo._views import Items, Pattern
from limo.measures._compute import check_conventions
from limo.measures._conventions import Conventions
from limo.measures._further import OF_PROBABILITIES
from limo.measures._own import Chosen, computable, select

sparse = Later("scipy.sparse")

EvaluatorMethod = Literal["keep", "two-pass"]
_METHODS = ("keep", "two-pass")
_FORMAT = 2


@dataclass(frozen=True)
class _Kind:
    """The properties that all blocks have in common."""

    n_labels: int
    has_scores: bool
    has_predictions: bool
    weighted: bool
    is_sparse: bool


class Evaluator:
    """Evaluate block by block: the same result as :func:`limo.evaluate` on all rows at once.

    Rows may be divided into blocks in any way, and blocks may come in any order and be merged from
    several processes: every measure is the same, bit for bit. Values per instance are in the order
    of the blocks.

    Parameters
    ----------
    method : {"keep", "two-pass"}, default="keep"
        ``"keep"`` copies every block and needs the memory of all scores. ``"two-pass"`` keeps the
        relevant scores only: pass every block to :meth:`update`, call :meth:`second_pass`, and pass
        every block again, in any order.
    measures : "all", or a list of names, records or functions, optional
        As for :func:`limo.evaluate`.
    conventions : str or Conventions, default="standard"
        How ties and undefined rows count.
    label_names : iterable of str, optional
        Names for tables; by default the columns of data frames.
    missing : number, optional
        The number that stands for a missing label (nan or -1).
    per_instance : bool, default=False
        Whether two passes keep the values of each instance, about 250 bytes; without them,
        ``evaluation.per_instance`` has margins only, and there are no guarantees.

    Attributes
    ----------
    n_instances : int
        How many rows were seen in the current pass.

    See Also
    --------
    limo.evaluate : The same for matrices in memory.

    Examples
    --------
    >>> import limo
    >>> evaluator = limo.Evaluator()
    >>> _ = evaluator.update([[1, 0, 0], [0, 1, 1]], [[0.9, 0.2, 0.4], [0.5, 0.1, 0.8]])
    >>> _ = evaluator.update([[0, 0, 1]], [[0.3, 0.2, 0.1]])
    >>> evaluator.compute()["ranking_loss"]
    0.5

    Twice over files that do not fit into memory:

    >>> files = [([[1, 0, 0], [0, 1, 1]], [[0.9, 0.2, 0.4], [0.5, 0.1, 0.8]]),
    ...          ([[0, 0, 1]], [[0.3, 0.2, 0.1]])]
    >>> evaluator = limo.Evaluator(method="two-pass")
    >>> for y_true, y_score in files:
    ...     _ = evaluator.update(y_true, y_score)
    >>> _ = evaluator.second_pass()
    >>> for y_true, y_score in reversed(files):
    ...     _ = evaluator.update(y_true, y_score)
    >>> evaluator.compute()["ranking_loss"]
    0.5
    """

    def __init__(
        self,
        method: EvaluatorMethod = "keep",
        *,
        measures: Chosen = None,
        conventions: str | Conventions = "standard",
        label_names: Iterable[str] | None = None,
        missing: float | None = None,
        per_instance: bool = False,
    ) -> None:
        self.method = check_name(method, _METHODS, "method")
        self.measures = measures
        self.conventions = check_conventions(conventions)
        self.missing = missing
        self.per_instance = per_instance
        self._given_names = None if label_names is None else as_names(label_names)
        select(measures)  # unknown names are an error now, not after an hour
        self.reset()

    def reset(self) -> None:
        """Forget all blocks."""
        self._kind: _Kind | None = None
        self._names = self._given_names
        self._kept: list[Checked] = []
        self._gathered: list[Gathered] = []
        self._reference: Reference | None = None
        self._counted: Counted | None = None

    @property
    def n_instances(self) -> int:
        """How many rows were seen in the current pass."""
        if self._reference is not None:
            return 0 if self._counted is None else self._counted.n_rows
        kept = sum(block.Y.shape[0] for block in self._kept)
        return kept + sum(part.n_rows for part in self._gathered)

    @property
    def n_relevant(self) -> int:
        """How many relevant scores two passes keep."""
        if self._reference is not None:
            return int(self._reference.by_label.size)
        return sum(part.labels.size for part in self._gathered)

    # Blocks

    def update(
        self, y_true: Any, y_score: Any = None, y_pred: Any = None, *, sample_weight: Any = None
    ) -> "Evaluator":
        """Add a block of rows.

        Parameters
        ----------
        y_true, y_score, y_pred : array-like of shape (n_samples, n_labels)
            As for :func:`limo.evaluate`: arrays, tensors, data frames, sparse labels. Every block
            must have the same labels. A block without rows changes nothing.
        sample_weight : array-like of shape (n_samples,), optional
            How much each instance counts; only with ``method="keep"``.

        Returns
        -------
        Evaluator
            Itself.
        """
        if is_empty(y_true):
            return self
        if y_score is None and y_pred is None:
            raise ValueError("update needs y_score, y_pred or both: got neither.")
        names = self._given_names
        block = check_inputs(
            y_true,
            y_score,
            y_pred,
            names,
            missing=self.missing,
            sample_weight=sample_weight,
            sparse_scores=True,
        )
        self._check(block)
        if self.method == "keep":
            self._kept.append(_copied(block))  # the caller may reuse its arrays
        elif self._reference is None:
            self._task()  # a measure that does not add up is an error now
            self._gathered.append(gather(block))
        else:
            self._counted = count(block, self._reference, self._task(), self._counted)
        return self

    def second_pass(self) -> "Evaluator":
        """End the first of two passes: all blocks are now to be passed to :meth:`update` again.

        Evaluators of several processes are merged before, and copied to the processes with
        :meth:`save` and :meth:`load`.
        """
        if self.method != "two-pass":
            raise ValueError(f"Evaluator(method={self.method!r}) needs no second pass.")
        if self._reference is not None:
            raise ValueError("The second pass has begun already: call compute() after it.")
        self._reference = rank(self._blocks(self._gathered))
        self._gathered = []
        return self

    def merge(self, other: "Evaluator") -> "Evaluator":
        """Add the blocks of another evaluator with the same settings, in the same pass.

        Parameters
        ----------
        other : Evaluator
            It is not changed.

        Returns
        -------
        Evaluator
            Itself.
        """
        if not isinstance(other, Evaluator):
            raise TypeError(f"merge takes an Evaluator, got {type(other).__name__}.")
        self._check_same(other)
        if other._kind is None:
            return self
        self._join_kind(other._kind, other._names)
        self._kept += other._kept
        self._gathered += other._gathered
        parts = [one for one in (self._counted, other._counted) if one is not None]
        self._counted = merge_counted(parts) if len(parts) > 1 else next(iter(parts), None)
        return self

    def compute(self) -> Evaluation:
        """Evaluate all blocks; more can be added afterwards unless the method has two passes.

        Returns
        -------
        Evaluation
        """
        if self.method == "keep":
            block = stacked(self._blocks(self._kept))
            chosen = computable(select(self.measures), block, self.measures)
            return evaluate_checked(
                replace(block, label_names=self._names), self.conventions, measures=chosen
            )[0]
        if self._reference is None or self._counted is None:
            self._blocks(self._gathered if self._reference is None else [None])
            raise ValueError(
                "The blocks were seen once, and column measures need them twice: call "
                "second_pass() and update() with every block again. Evaluator() keeps the blocks "
                "and needs one pass."
            )
        return finish(self._reference, self._counted, self._task())

    # Checks

    def _blocks(self, parts: list[Any]) -> list[Any]:
        if not parts:
            raise ValueError("Nothing to evaluate: call update() with at least one row first.")
        return parts

    def _check(self, block: Checked) -> None:
        weighted = block.Y.row_weights is not None
        if weighted and self.method != "keep":
            raise ValueError(
                f"sample_weight is not possible with method={self.method!r}, whose counts are "
                "whole numbers. Use limo.Evaluator(method='keep')."
            )
        given = (block.any_scores is not None, block.P is not None)
        kind = _Kind(block.Y.shape[1], *given, weighted, block.stored is not None)
        self._join_kind(kind, block.label_names)

    def _join_kind(self, kind: _Kind, names: tuple[str, ...] | None) -> None:
        """Remember what the first block has, and reject a block that differs from it."""
        before = self._kind or kind
        if kind.n_labels != before.n_labels:
            raise ValueError(
                "Every block must have the same labels: the blocks before have "
                f"{before.n_labels}, this one has {kind.n_labels}."
            )
        for name, what in _PARTS.items():
            if getattr(kind, name) != getattr(before, name):
                raise ValueError(
                    f"Either every block has {what} or none: this one "
                    f"{'has it' if getattr(kind, name) else 'has none'}, unlike those before."
                )
        if names is not None and self._names is not None and names != self._names:
            raise ValueError(
                "Every block must have the same labels in the same order: the blocks before have "
                f"{list(self._names[:4])}, this one {list(names[:4])}."
            )
        self._kind, self._names = before, self._names or names

    def _check_same(self, other: "Evaluator") -> None:
        same = (
            self.method == other.method
            and self.per_instance == other.per_instance
            and self.conventions == other.conventions
            and [m.name for m in select(self.measures)] == [m.name for m in select(other.measures)]
        )
        if not same:
            raise ValueError(
                "Only evaluators with the same method, measures and conventions can be merged."
            )
        keys = [None if one._reference is None else one._reference.key for one in (self, other)]
        if keys[0] != keys[1]:
            raise ValueError(
                "The two evaluators are not in the same pass over the same blocks. Merge them "
                "before second_pass(), and copy the result to every process with save() and load()."
            )

    def _task(self) -> Task:
        assert self._kind is not None
        given = {"scores": self._kind.has_scores, "labels": self._kind.has_predictions}
        chosen = [m for m in select(self.measures) if given[m.needs]]
        if self.measures == "all":  # those of probabilities do not add up
            chosen = [m for m in chosen if m.name not in OF_PROBABILITIES]
        if not chosen:
            missing = "y_pred" if self._kind.has_scores else "y_score"
            raise ValueError(f"The measures asked for need {missing}, which was not given.")
        return Task(tuple(chosen), self.conventions, self._names, self.per_instance)

    # Files

    def save(self, path: str | Path) -> None:
        """Write the state to a file, to be read by :meth:`load` in this or another process.

        Parameters
        ----------
        path : path
            A file of plain arrays in NumPy's format, without pickle. An existing one is replaced.
        """
        if any(not isinstance(one, str) for one in _listed(self.measures)):
            raise ValueError("Only evaluators whose measures are given by name can be saved.")
        arrays: dict[str, Any] = {}
        state = {name: getattr(self, f"_{name}") for name in _STATE}
        header = {
            "limo evaluator": _FORMAT,
            "method": self.method,
            "measures": self.measures,
            "conventions": self.conventions.to_dict(),
            "label_names": self._given_names,
            "missing": self.missing,
            "per_instance": self.per_instance,
            "state": _pack(state, arrays),
        }
        text = json.dumps(header).encode()
        with replacing(as_path(path)) as file:
            np.savez(file, header=np.frombuffer(text, np.uint8), **arrays)

    @classmethod
    def load(cls, path: str | Path) -> "Evaluator":
        """Read an evaluator that :meth:`save` has written.

        Parameters
        ----------
        path : path
            The file. It is never unpickled.

        Returns
        -------
        Evaluator
        """
        file = as_path(path)
        try:
            if file.exists() and not zipfile.is_zipfile(file):
                raise ValueError("expected an .npz file")
            with np.load(file, allow_pickle=False) as arrays:
                header = json.loads(arrays["header"].tobytes())
                if header.get("limo evaluator") != _FORMAT:
                    raise ValueError("another format")
                evaluator = cls(
                    header["method"],
                    measures=header["measures"],
                    conventions=Conventions(**header["conventions"]),
                    label_names=header["label_names"],
                    missing=header["missing"],
                    per_instance=header["per_instance"],
                )
                for name, value in _unpack(header["state"], arrays).items():
                    setattr(evaluator, f"_{check_name(name, _STATE, 'part')}", value)
        except OSError:
            raise
        except (ValueError, KeyError, TypeError, AttributeError, zipfile.BadZipFile) as error:
            problem = f"{file} was not written by Evaluator.save(), or is damaged: {error}"
            raise ValueError(problem) from None
        return evaluator


_PARTS = {
    "has_scores": "y_score",
    "has_predictions": "y_pred",
    "weighted": "sample_weight",
    "is_sparse": "sparse scores",
}
_STATE = ("kind", "names", "kept", "gathered", "reference", "counted")
_RECORDS: dict[str, Any] = {
    record.__name__: record
    for record in (
        *(_Kind, Checked, Pattern, Items, Gathered, Reference, Counted, RowPart),
        *(RowSums, MeasureSums, MarginSums, Mean),
    )
}


def _listed(measures: Chosen) -> list[Any]:
    if measures is None or isinstance(measures, str):
        return []
    return list(measures) if isinstance(measures, Iterable) else [measures]


def _copied(block: Checked) -> Checked:
    S = None if block.S is None else np.array(block.S)
    stored = None if block.stored is None else SparseScores(block.stored.matrix.copy())
    return replace(block, S=S, stored=stored)


# Records as JSON, with arrays apart


def _pack(value: Any, arrays: dict[str, Any]) -> Any:
    if isinstance(value, np.ndarray):
        arrays[name := f"a{len(arrays)}"] = value
        return {"array": name}
    if isinstance(value, SparseScores):
        parts = (value.matrix.data, value.matrix.indices, value.matrix.indptr)
        return {"sparse": [_pack(one, arrays) for one in (*parts, list(value.shape))]}
    if type(value).__name__ in _RECORDS:
        own = {one.name: _pack(getattr(value, one.name), arrays) for one in fields(value)}
        return {"record": type(value).__name__, "fields": own}
    if isinstance(value, dict):
        return {"dict": {key: _pack(one, arrays) for key, one in value.items()}}
    if isinstance(value, list | tuple):
        return {type(value).__name__: [_pack(one, arrays) for one in value]}
    return value.item() if isinstance(value, np.generic) else value


def _unpack(value: Any, arrays: Any) -> Any:
    if not isinstance(value, dict):
        return value
    (kind, inner), *_ = value.items()
    if kind == "array":
        return arrays[inner]
    if kind == "record":
        own = {name: _unpack(one, arrays) for name, one in value["fields"].items()}
        return _checked(_RECORDS[inner](**own))
    if kind == "dict":
        return {key: _unpack(one, arrays) for key, one in inner.items()}
    parts = [_unpack(one, arrays) for one in inner]
    if kind == "sparse":
        return check_sparse_scores(_csr(parts))
    return parts if kind == "list" else tuple(parts)


def _checked(record: Any) -> Any:
    """Reject arrays that compiled loops would crash on."""
    if isinstance(record, Pattern):
        object.__setattr__(record, "shape", tuple(record.shape))
        _must_fit(record.indptr, record.shape[0], record.indices)
        inside = (record.indices >= 0) & (record.indices < record.shape[1])
        if not inside.all():
            raise ValueError("a label is out of range")
    if isinstance(record, Gathered) and not (
        record.labels.shape == record.scores.shape
        and ((record.labels >= 0) & (record.labels < record.n_labels)).all()
    ):
        raise ValueError("a label is out of range")
    if isinstance(record, Reference):
        _must_fit(record.indptr, record.n_labels, record.by_label)
        _must_fit(record.indptr, record.n_labels, record.by_score)
    return record


def _csr(parts: list[Any]) -> Any:
    """A sparse matrix whose parts are checked later, not by scipy."""
    matrix = sparse.csr_array(tuple(parts[3]), dtype=parts[0].dtype)
    matrix.data, matrix.indices, matrix.indptr = parts[:3]
    return matrix


def _must_fit(indptr: Any, n_rows: int, cells: Any) -> None:
    right = indptr.shape == (n_rows + 1,) and indptr.dtype == np.int64 and cells.ndim == 1
    if not right or indptr[0] != 0 or indptr[-1] != cells.size or (np.diff(indptr) < 0).any():
        raise ValueError("indptr does not fit")
