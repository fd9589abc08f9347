"""Evaluate files that need not fit into memory: two passes over blocks of their rows."""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from limo._blocks import finish, values_of_view
from limo._evaluation import Evaluation
from limo._evaluator import Evaluator
from limo._system import memory_limit, n_workers, resident_memory
from limo._views import COLUMNS
from limo.datasets._options import DataError, LabelChoice
from limo.datasets._shards import MatrixFiles, MatrixPiece, MatrixRows
from limo.measures._conventions import Conventions
from limo.measures._own import Chosen

Progress = Callable[[int, int, str], None]

# Entries of a block: with more of them, nothing gets faster; with fewer, it gets much slower.
_MOST_ENTRIES = 1 << 24
_LEAST_ENTRIES = 1 << 18
# Entries that a thread works on at once, as in limo._profiles.
_PER_THREAD = 1 << 20
# What the allocator keeps of freed memory, and small things.
_SLACK = 32e6
# Bytes per instance: its margin, joined with those of other blocks; afterwards, when there are no
# counts any more, sorted for quantiles.
_PER_INSTANCE = 16
_PER_INSTANCE_AFTERWARDS = 32
# Bytes per instance of a block: its values of all measures.
_PER_ROW = 300
_UNITS = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}
_UNITS |= {f"{name}i": 1024.0**power for power, name in enumerate(" kmgt") if power}


def evaluate_files(
    truth: Any,
    scores: Any = None,
    predictions: Any = None,
    *,
    measures: Chosen = None,
    conventions: str | Conventions = "standard",
    labels: LabelChoice = None,
    drop: Sequence[str] = (),
    header: bool | None = None,
    missing_labels: float | None = None,
    memory: str | float | None = None,
    progress: Progress | None = None,
) -> Evaluation:
    """Evaluate files, folders or patterns of files that need not fit into memory.

    The result is that of :func:`limo.evaluate` on all rows, bit for bit, without values of single
    instances other than their margins. Files are read twice, a block of rows at a time, and true
    labels once before, to count them. True labels, scores and predictions may be divided into files
    in different ways: rows belong together in the order of the names of the files.

    Parameters
    ----------
    truth, scores, predictions : path, pattern or sequence of paths
        A file, a folder, a pattern such as ``"scores/*.npy"``, or files; at least one of the latter
        two. ``.npy`` files are read by rows, Parquet files by row groups, and files in the other
        formats of :func:`limo.datasets.read_matrix` whole. Scores may be sparse (NPZ).
    measures, conventions
        As for :func:`limo.evaluate`.
    labels, drop, header, missing_labels
        As for :func:`limo.datasets.read_matrix`.
    memory : str or number, optional
        How much memory this process may use in all, such as ``"2GB"`` or a number of bytes: its
        resident memory, with Python and the libraries, stays below that. If that is too little, an
        error says how much is needed, after true labels were counted and before scores are read.
        By default that of the machine. It cannot bound what other parts of the process take, or
        have taken before, nor the first call, which compiles.
    progress : callable, optional
        Called with the rows read, the rows to read in both passes, and the name of the pass.

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> import tempfile, limo
    >>> import numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/Y.npy", [[1, 0, 0], [0, 1, 1], [0, 0, 1]])
    ...     np.save(f"{folder}/S-0.npy", [[0.9, 0.2, 0.4], [0.5, 0.1, 0.8]])
    ...     np.save(f"{folder}/S-1.npy", [[0.3, 0.2, 0.1]])
    ...     limo.evaluate_files(f"{folder}/Y.npy", f"{folder}/S-*.npy")["ranking_loss"]
    0.5
    """
    if scores is None and predictions is None:
        raise ValueError("evaluate_files needs scores, predictions or both: got neither.")
    options = {"labels": None, "drop": drop, "header": header}
    files = {
        kind: MatrixFiles(given, kind, **(options | more))  # type: ignore[arg-type]
        for kind, given, more in (
            ("truth", truth, {"labels": labels, "missing_labels": missing_labels}),
            ("scores", scores, {}),
            ("predictions", predictions, {}),
        )
        if given is not None
    }
    _check_sizes({kind: one.n_rows for kind, one in files.items()})
    evaluator = Evaluator(
        "two-pass",
        measures=measures,
        conventions=conventions,
        missing=None if missing_labels is None else math.nan,
    )
    run = _Run(files, evaluator, _Memory.of(memory), progress)
    names = run.first_pass()
    run.second_pass()
    return replace(run.result(), label_names=names)


def parse_size(given: str | float) -> float:
    """Bytes, from a number or from text such as ``"2GB"``, ``"500 MB"`` or ``"1.5GiB"``."""
    if isinstance(given, str):
        match = re.fullmatch(r"\s*(\d+(?:\.\d*)?)\s*([kmgt]?i?)b?\s*", given.lower())
        if match is None or match[2] not in _UNITS:
            raise ValueError(f"memory must be a size such as 2GB or 500MB, got {given!r}.")
        given = float(match[1]) * _UNITS[match[2]]
    if isinstance(given, bool) or not isinstance(given, int | float) or not given > 0:
        raise ValueError(f"memory must be a number of bytes above 0, or text, got {given!r}.")
    return float(given)


def _check_sizes(known: dict[str, int | None]) -> None:
    """Raise if matrices have different numbers of rows, as far as these are known."""
    sizes = {kind: n for kind, n in known.items() if n is not None}
    if len(set(sizes.values())) > 1:
        raise DataError(_UNEQUAL.format(", ".join(f"{kind} {n}" for kind, n in sizes.items())))


_UNEQUAL = "true labels, scores and predictions must have the same number of rows: got {}"


# Memory


@dataclass(frozen=True)
class _Memory:
    """How much may be used."""

    limit: float
    given: bool

    @classmethod
    def of(cls, memory: str | float | None) -> "_Memory":
        return cls(memory_limit() if memory is None else parse_size(memory), memory is not None)

    def check(self, needed: float, why: str, advice: str) -> None:
        """Raise if more is needed; the next process may need some megabytes more than this one."""
        if needed > self.limit:
            least = math.ceil(needed / 1e7 + 1) / 100
            raise ValueError(
                f"{why} needs at least {least:.2f} GB of memory in all, but "
                f"{self.limit / 1e9:.2f} GB {'are allowed' if self.given else 'exist'}. "
                f"{advice}"
            )


@dataclass(frozen=True)
class _Needs:
    """How many bytes are needed: never less than what was measured.

    Attributes
    ----------
    program : float
        For Python, libraries and compiled code, and all else this process has.
    opened : float
        For the files and row groups that are opened at the same time.
    kept : float
        For relevant entries and instances.
    per_row : float
        For one row of a block.
    per_entry : float
        For an entry that a thread works on.
    entries_per_row : float
        How many entries a row has; of sparse matrices, how many are stored.
    """

    program: float
    opened: float
    kept: float
    per_row: float
    per_entry: float
    entries_per_row: float

    @property
    def least(self) -> float:
        """For everything with the smallest blocks."""
        n_rows = self._rows_of(_LEAST_ENTRIES)
        return self._besides_blocks + n_rows * (self.per_row + self._per_row_of_one_thread)

    def rows(self, limit: float) -> int:
        """How many rows a block may have."""
        free = limit - self._besides_blocks
        small = free / (self.per_row + self._per_row_of_one_thread)
        large = (free - n_workers() * _PER_THREAD * self.per_entry) / self.per_row
        most = self._rows_of(_MOST_ENTRIES)
        return max(self._rows_of(_LEAST_ENTRIES), min(int(max(small, large)), most))

    @property
    def _besides_blocks(self) -> float:
        return self.program + self.opened + self.kept + _SLACK

    @property
    def _per_row_of_one_thread(self) -> float:
        """If a thread works on the whole block."""
        return self.per_entry * self.entries_per_row

    def _rows_of(self, n_entries: int) -> int:
        return max(1, int(n_entries / self.entries_per_row))


@dataclass(frozen=True)
class _Layout:
    """What the rows of all files are like, before they are counted.

    ``cells`` has the bytes of a cell by the kind of matrix.
    """

    width: int
    entries_per_row: float
    cells: dict[str, int]
    itemsize: int
    is_sparse: bool

    @classmethod
    def of(cls, files: dict[str, MatrixFiles], rows: dict[str, MatrixRows]) -> "_Layout":
        kinds = {kind: {piece.dtype for piece in one.pieces} for kind, one in files.items()}
        cells = {
            kind: 12 if rows[kind].is_sparse else max(one.itemsize for one in found)
            for kind, found in kinds.items()
        }
        short = kinds.get("scores", set()) <= {np.dtype("f2"), np.dtype("f4")}
        return cls(
            rows["truth"].width,
            max(1.0, *(one.stored_per_row for one in rows.values())),
            cells,
            4 if short else 8,
            "scores" in rows and rows["scores"].is_sparse,
        )


class _Run:
    """Two passes over the same files, in blocks that fit into memory."""

    def __init__(
        self,
        files: dict[str, MatrixFiles],
        evaluator: Evaluator,
        memory: _Memory,
        progress: Progress | None,
    ) -> None:
        self.files, self.evaluator, self.memory = files, evaluator, memory
        self.progress, self.done = progress, 0
        self.memory.check(resident_memory() + _SLACK, _PROGRAM, "Raise memory=.")
        largest = [max(one.pieces, key=lambda piece: piece.size) for one in files.values()]
        self.opened = sum(piece.size for piece in largest)
        self._check_opened(max(largest, key=lambda piece: piece.size))
        layout = _Layout.of(files, self._open())
        program = self._warm_up(layout)
        self.n_rows, self.n_ones = self._count_truth()
        _check_sizes({kind: one.n_rows for kind, one in files.items()} | {"truth": self.n_rows})
        needs = self._needs(layout, program)
        self.memory.check(needs.least, f"Evaluating {self.n_ones:,} relevant entries", _ADVICE)
        self.n_block = needs.rows(self.memory.limit)

    def first_pass(self) -> tuple[str, ...] | None:
        rows = self._open()
        for block in self._blocks(rows, "first pass"):
            self.evaluator.update(*block)
        self.evaluator.second_pass()
        names = rows["truth"].label_names
        return None if names is None else tuple(names)

    def second_pass(self) -> None:
        for block in self._blocks(self._open(), "second pass"):
            self.evaluator.update(*block)

    def result(self) -> Evaluation:
        """The evaluation; counts of labels are given up before those of all entries are read."""
        own = self.evaluator
        if own._reference is None or own._counted is None or not own._counted.has_scores:
            return own.compute()
        task, none = own._task(), np.empty((2, 0))
        of_labels = values_of_view(COLUMNS, own._reference, own._counted, task)
        own._reference = replace(own._reference, by_label=none[0])
        own._counted = replace(own._counted, by_label=none)
        return finish(own._reference, own._counted, task, of_labels)

    def _open(self) -> dict[str, MatrixRows]:
        """The rows of all files, with columns in one order."""
        rows = {kind: one.rows() for kind, one in self.files.items()}
        widths = {kind: one.width for kind, one in rows.items() if one.width}
        if len(set(widths.values())) > 1:
            raise DataError(
                "true labels, scores and predictions must have a column for each label: got "
                + ", ".join(f"{kind} {n}" for kind, n in widths.items())
            )
        names = next((one.label_names for one in rows.values() if one.label_names), None)
        for one in rows.values():
            one.order_as(names)
        return rows

    def _blocks(self, rows: dict[str, MatrixRows], step: str) -> Iterator[tuple[Any, ...]]:
        seen = dict.fromkeys(rows, 0)
        while True:
            block = {kind: one.take(self.n_block) for kind, one in rows.items()}
            seen = {kind: n + block[kind].shape[0] for kind, n in seen.items()}
            if len(set(seen.values())) > 1:
                most = max(seen.values())
                counts = [f"{kind} {n}{' or more' * (n == most)}" for kind, n in seen.items()]
                raise DataError(_UNEQUAL.format(", ".join(counts)))
            size = block["truth"].shape[0]
            if not size:
                return
            yield tuple(block.get(kind) for kind in ("truth", "scores", "predictions"))
            del block  # before the next one is read
            self.done += size
            if self.progress is not None:
                self.progress(self.done, 2 * self.n_rows, step)

    # Memory

    def _check_opened(self, largest: MatrixPiece) -> None:
        what = "file" if largest.shape is None else "row group"
        self.memory.check(
            resident_memory() + self.opened + _SLACK,
            f"Reading a {what} of {largest.path}",
            "Raise memory=, or write smaller ones.",
        )

    def _warm_up(self, layout: _Layout) -> float:
        """Evaluate a few rows, so that compiled code is in memory; return what is used then."""
        Y, S, P = np.eye(2, dtype=np.int8), None, None
        if "scores" in self.files:
            S = np.array([[0.5, 0.25], [0.125, 0.0625]], f"f{layout.itemsize}")
            S = sparse.csr_array(S) if layout.is_sparse else S
        if "predictions" in self.files:
            P = Y
        own = self.evaluator
        small = Evaluator("two-pass", measures=own.measures, conventions=own.conventions)
        small.update(Y, S, P).second_pass().update(Y, S, P).compute()
        used = resident_memory()
        self.memory.check(used, _PROGRAM, "Raise memory=.")
        return used

    def _count_truth(self) -> tuple[int, int]:
        """Count the rows and the ones of the true labels."""
        n_rows = n_ones = 0
        rows = self.files["truth"].rows()
        step = max(1, _PER_THREAD // max(1, rows.width))
        while (block := rows.take(step)).shape[0]:
            n_rows += block.shape[0]
            values = block.data if sparse.issparse(block) else block
            n_ones += int(np.count_nonzero(values == 1))
        return n_rows, n_ones

    def _needs(self, layout: _Layout, program: float) -> _Needs:
        """What is needed for blocks of rows that are like these."""
        entries, itemsize = layout.entries_per_row, layout.itemsize
        ones = self.n_ones / max(1, self.n_rows)
        # read, joined with the rows of the next file, converted, and sorted
        per_row = entries * (2 * sum(layout.cells.values()) + 2 * itemsize) + 64 * ones + _PER_ROW
        per_entry = itemsize + 4 + (64 * ones + _PER_ROW) / entries
        kept = float(_PER_INSTANCE * self.n_rows)
        if "scores" in self.files:
            kept += self._per_relevant(layout) * self.n_ones
        kept = max(kept, _PER_INSTANCE_AFTERWARDS * self.n_rows)
        return _Needs(program, self.opened, kept, per_row, per_entry, entries)

    def _per_relevant(self, layout: _Layout) -> float:
        """Bytes per relevant entry: twice a score and two counts; at the end once, and sums."""
        count = 4 if self.n_rows * layout.width < 2**32 else 8
        one = layout.itemsize + 2 * count
        further = 0 if self.evaluator.measures is None else 72  # ranks, for average precision
        return max(2 * one, one + 3 * count + further)


_PROGRAM = "This program alone"
_ADVICE = "Raise memory=, or see limo.StreamEvaluator, which keeps no score."
