"""Evaluate files that need not fit into memory: two passes over blocks of their rows."""

import math
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from limo._evaluation import Evaluation
from limo._evaluator import Evaluator
from limo._system import memory_limit
from limo.datasets._options import DataError, LabelChoice
from limo.datasets._shards import MatrixFiles, MatrixPiece, MatrixRows
from limo.measures._conventions import Conventions
from limo.measures._own import Chosen

Progress = Callable[[int, int, str], None]

# Entries of a block: with more of them, nothing gets faster.
_MOST_ENTRIES = 1 << 24
# Smaller blocks would save about ten megabytes, and cost much time.
_LEAST_ENTRIES = 1 << 18
# What threads need besides the block.
_SCRATCH = 96e6
# Bytes per instance: its margin, joined with those of other blocks, and sorted for quantiles.
_PER_INSTANCE = 32
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
    instances other than their margins. Files are read twice, a block of rows at a time. True
    labels, scores and predictions may be divided into files in different ways: rows belong together
    in the order of the names of the files.

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
        How much memory this process may use in all, such as ``"2GB"`` or a number of bytes. It is
        an error if that is too little. By default that of the machine.
    progress : callable, optional
        Called with the rows read, the rows to read in both passes as far as that is known, and the
        name of the pass.

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
    total = _check_sizes(files)
    evaluator = Evaluator(
        "two-pass",
        measures=measures,
        conventions=conventions,
        missing=None if missing_labels is None else math.nan,
    )
    run = _Run(files, evaluator, _Memory.of(memory), 2 * (total or 0), progress)
    names = run.first_pass()
    run.second_pass()
    return replace(evaluator.compute(), label_names=names)


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


def _check_sizes(files: dict[str, MatrixFiles]) -> int | None:
    """How many rows there are, if that is known; raise if the files have different numbers."""
    known = {kind: one.n_rows for kind, one in files.items()}
    sizes = {kind: n for kind, n in known.items() if n is not None}
    if len(set(sizes.values())) > 1:
        raise DataError(_UNEQUAL.format(", ".join(f"{kind} {n}" for kind, n in sizes.items())))
    return next(iter(sizes.values()), None)


_UNEQUAL = "true labels, scores and predictions must have the same number of rows: got {}"


@dataclass(frozen=True)
class _Memory:
    """How much memory may be used, and how much is used."""

    limit: float
    given: bool

    @classmethod
    def of(cls, memory: str | float | None) -> "_Memory":
        return cls(memory_limit() if memory is None else parse_size(memory), memory is not None)

    def check(self, needed: float, why: str, advice: str) -> None:
        if needed > self.limit:
            raise ValueError(
                f"{why} needs about {needed / 1e9:.2f} GB in all, but "
                f"{self.limit / 1e9:.2f} GB {'are allowed' if self.given else 'exist'}. {advice}"
            )

    def rows(self, fixed: float, width: int, itemsize: int) -> int:
        """How many rows a block may have beside ``fixed`` bytes; dense scores are assumed."""
        free = self.limit - fixed - _SCRATCH
        entries = min(_MOST_ENTRIES, max(_LEAST_ENTRIES, free / (4 * itemsize + 12)))
        return max(1, int(entries / max(width, 1)))


class _Run:
    """Two passes over the same files."""

    def __init__(
        self,
        files: dict[str, MatrixFiles],
        evaluator: Evaluator,
        memory: _Memory,
        total: int,
        progress: Progress | None,
    ) -> None:
        self.files, self.evaluator, self.memory = files, evaluator, memory
        self.total, self.progress, self.done = total, progress, 0
        self.base, self.itemsize = _resident(), 8
        self.memory.check(self.base + _SCRATCH, "This program alone", "Raise memory=.")
        for piece in (piece for one in files.values() for piece in one.pieces if piece.size):
            self._check_piece(piece)

    def first_pass(self) -> tuple[str, ...] | None:
        rows = self._open()
        for number, block in enumerate(self._blocks(rows, "first pass", self._seen)):
            if number == 0:
                self._warm_up(block)
            self.evaluator.update(*block)
            self._check_fixed()
        self.evaluator.second_pass()
        names = rows["truth"].label_names
        return None if names is None else tuple(names)

    def second_pass(self) -> None:
        fixed = self._fixed()
        for block in self._blocks(self._open(), "second pass", lambda: fixed):
            self.evaluator.update(*block)

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

    def _blocks(
        self, rows: dict[str, MatrixRows], step: str, fixed: Callable[[], float]
    ) -> Iterator[tuple[Any, ...]]:
        seen = dict.fromkeys(rows, 0)
        while True:
            number = self.memory.rows(fixed(), rows["truth"].width, self.itemsize)
            block = {kind: one.take(number) for kind, one in rows.items()}
            seen = {kind: n + block[kind].shape[0] for kind, n in seen.items()}
            if len(set(seen.values())) > 1:
                most = max(seen.values())
                counts = [f"{kind} {n}{' or more' * (n == most)}" for kind, n in seen.items()]
                raise DataError(_UNEQUAL.format(", ".join(counts)))
            size = block["truth"].shape[0]
            if not size:
                return
            yield tuple(block.get(kind) for kind in ("truth", "scores", "predictions"))
            self.done += size
            if self.progress is not None:
                self.progress(self.done, max(self.done, self.total), step)

    # Memory

    def _warm_up(self, block: tuple[Any, ...]) -> None:
        """Evaluate a few rows, so that compiled code is in memory before the rest is divided."""
        Y = np.eye(2, dtype=np.int8)
        S = None
        if block[1] is not None:
            S = np.array([[0.5, 0.25], [0.125, 0.0]], np.result_type(block[1], np.float32))
            self.itemsize = S.dtype.itemsize
        given = Y, S, None if block[2] is None else Y
        Evaluator("two-pass").update(*given).second_pass().update(*given).compute()
        self.base = max(self.base, _resident())

    def _seen(self) -> float:
        """The memory needed in the end, if the first pass has seen a third of the entries."""
        return self.base + 3 * (self._fixed() - self.base)

    def _fixed(self) -> float:
        """The memory needed besides a block: numbers per relevant entry, and per instance."""
        evaluator = self.evaluator
        n_rows = max(evaluator.n_instances, self.total // 2)
        per_entry = 2 * self.itemsize + 40
        return self.base + per_entry * evaluator.n_relevant + _PER_INSTANCE * n_rows

    def _check_fixed(self) -> None:
        self.memory.check(
            self._fixed() + _SCRATCH,
            f"Evaluating {self.evaluator.n_relevant:,} relevant entries",
            "Raise memory=, or see limo.StreamEvaluator, which keeps no score.",
        )

    def _check_piece(self, piece: MatrixPiece) -> None:
        what = "file" if piece.shape is None else "row group"
        self.memory.check(
            self.base + piece.size,
            f"A {what} of {piece.path}",
            "Raise memory=, or write smaller ones.",
        )


def _resident() -> float:
    """The bytes that this process has in memory now; 0 where the system does not say it."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return float(pages) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, AttributeError):
        return 0.0
