"""LIBSVM multi-label files, and the extreme-classification format (LIBSVM with a header line).

scikit-learn's ``load_svmlight_file`` is not used: it drops rows without labels and features,
rejects unsorted indices, accepts inf and nan, names no line, and takes 2 to 3 times as long.
"""

import json
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from limo._kernels import libsvm as kernels
from limo.datasets._dataset import Dataset, NumberedNames, check_different, csr, without_repeats
from limo.datasets._options import DataError, ReadOptions
from limo.datasets._source import Source, line_at, normalise

NAMES_SUFFIX = ".names.json"  # of the file beside a LIBSVM file, which itself cannot hold names
XMC_HEADER = re.compile(rb"[ \t]*(\d{1,18})[ \t]+(\d{1,18})[ \t]+(\d{1,18})[ \t]*(?:\n|$)")

_PROBLEMS = {
    kernels.BAD_LABEL: "expected labels such as 0,3,7 (whole numbers and commas), got {got}",
    kernels.BAD_PAIR: "expected index:value, got {got}",
    kernels.BAD_VALUE: "expected index:value with a finite number as value, got {got}",
    kernels.HUGE_INDEX: "the index in {got} is too large",
}


def read_libsvm(source: Source, options: ReadOptions) -> Dataset:
    """Read ``label,label index:value ...``; see :func:`limo.read`."""
    lines = _Lines(source, first_line=1, text=normalise(source.data, source.path).rstrip(b"\n"))
    lines.refuse_blank()
    names = _names_beside(source)
    n_features, zero_based = options.n_features, options.zero_based
    if n_features is None and "n_features" in names:
        n_features, zero_based = int(names["n_features"]), False
    label_names = _label_names(options.labels, names.get("label_names"), lines)
    X = lines.features(n_features, zero_based, options)
    Y = lines.label_matrix(label_names, options, numbered=isinstance(options.labels, int))
    features = names.get("feature_names") or NumberedNames("x", X.shape[1])
    if len(features) != X.shape[1]:
        raise DataError(
            f"expected {X.shape[1]} feature names, got {len(features)}. Write the file again, or "
            "remove the names",
            path=source.path + NAMES_SUFFIX,
        )
    for what, given in (("label names", label_names), ("feature names", features)):
        check_different(given, what, source.path)
    return Dataset(X, Y, features, label_names, source.path, source.checksum)


def read_xmc(source: Source, options: ReadOptions) -> Dataset:
    """Read a file whose first line gives the numbers of rows, features and labels.

    All indices count from 0.
    """
    text = normalise(source.data, source.path)
    header = XMC_HEADER.match(text)
    if header is None:
        raise DataError(
            "expected 'rows features labels' in the first line, three whole numbers",
            path=source.path,
            line=1,
        )
    n_rows, n_features, n_labels = map(int, header.groups())
    for what, count in (("features", n_features), ("labels", n_labels)):
        options.limits.check("max_columns", count, what, source.path)
    lines = _Lines(source, first_line=2, text=_first_rows(text[header.end() :], n_rows))
    if lines.n_rows != n_rows:
        raise DataError(
            f"the first line announces {n_rows} rows, the file has {lines.n_rows}. "
            "Is it incomplete?",
            path=source.path,
            line=1,
        )
    wanted = options.labels or n_labels
    label_names = _label_names(wanted, None, lines)
    X = lines.features(n_features, True, options)
    Y = lines.label_matrix(label_names, options, numbered=isinstance(wanted, int))
    return Dataset(X, Y, NumberedNames("x", n_features), label_names, source.path, source.checksum)


def _first_rows(text: bytes, n_rows: int) -> bytes:
    """The text without the blank lines after row ``n_rows``."""
    while text.endswith(b"\n") and text.count(b"\n") > n_rows:
        text = text[:-1]
    return text


class _Lines:
    """The parsed lines, as matrices, and errors that name a line."""

    def __init__(self, source: Source, first_line: int, text: bytes) -> None:
        self.path, self.text, self.first_line = source.path, text, first_line
        self.pairs = _empty_pairs(text)
        position, problem = kernels.read_lines(np.frombuffer(text, dtype=np.uint8), self.pairs)
        if problem != kernels.END:
            got = self.text[position : position + 40].decode("latin-1").split("\n")[0]
            raise self.error(_PROBLEMS[problem].format(got=repr(got)), position)
        self.n_pairs, self.n_labels, self.n_rows, n_noted = self.pairs.used.tolist()
        for pair, start, end in self.pairs.noted[:n_noted].tolist():
            self.pairs.values[pair] = self._number(start, end)

    def error(self, problem: str, position: int) -> DataError:
        line = line_at(self.text, position) + self.first_line - 1
        return DataError(problem, path=self.path, line=line)

    def refuse_blank(self) -> None:
        """Raise for a line without any character: it may or may not be an instance."""
        first, later = self.text.startswith(b"\n"), self.text.find(b"\n\n") + 1
        if first or later:
            raise self.error(
                "the line is blank. Remove it; or if it is an instance without labels and "
                "features, put a space there, as scikit-learn does",
                0 if first else later,
            )

    def _number(self, start: int, end: int) -> float:
        """A value the kernel could not decide."""
        value = float(self.text[start:end])
        if not np.isfinite(value):
            raise self.error("expected a finite number as value, got one too large", start)
        return value

    def _row_of(self, place: int, kind: int) -> int:
        """The row of a pair (kind 0) or of a label (kind 1)."""
        return int(np.searchsorted(self.pairs.ends[: self.n_rows, kind], place, side="right"))

    def features(
        self, n_features: int | None, zero_based: bool | None, options: ReadOptions
    ) -> Any:
        """The CSR matrix of the pairs."""
        indices = self.pairs.indices[: self.n_pairs]
        if zero_based is None:
            zero_based = bool((indices == 0).any())
        indices = indices - (not zero_based)
        width = int(indices.max()) + 1 if n_features is None and len(indices) else n_features or 0
        options.limits.check("max_columns", width, "features", self.path)
        self._check_range(indices, width, zero_based)
        indptr = np.concatenate([[0], self.pairs.ends[: self.n_rows, 0]])
        data = self.pairs.values[: self.n_pairs].copy()
        X = without_repeats(csr(data, indices, indptr, (self.n_rows, width)), self._clash)
        X.eliminate_zeros()
        return X

    def _check_range(self, indices: Any, width: int, zero_based: bool) -> None:
        wrong = np.flatnonzero((indices < 0) | (indices >= width))
        if len(wrong):
            start = 0 if zero_based else 1
            raise self.error(
                f"feature {indices[wrong[0]] + start} is out of range: expected {start} to "
                f"{width - 1 + start} (n_features={width}, numbered from {start})",
                int(self.pairs.row_starts[self._row_of(int(wrong[0]), 0)]),
            )

    def _clash(self, row: int, column: int) -> DataError:
        return self.error(
            f"feature number {column} (from 0) is given two different values in one row. "
            "Remove one",
            int(self.pairs.row_starts[row]),
        )

    def label_ids(self) -> list[int]:
        """The numbers of the labels that occur, sorted."""
        return [int(label) for label in np.unique(self.pairs.labels[: self.n_labels])]

    def label_matrix(
        self, names: Sequence[str], options: ReadOptions, *, numbered: bool = False
    ) -> Any:
        """The 0/1 CSR matrix of the labels ``names``, which may be their own numbers."""
        options.limits.check("max_columns", len(names), "labels", self.path)
        ids = self.pairs.labels[: self.n_labels]
        columns = _columns_of(ids, names, numbered)
        wrong = np.flatnonzero(columns < 0)
        if len(wrong):
            raise self.error(
                f"label {ids[wrong[0]]} is not one of the {len(names)} labels "
                f"{', '.join(names[:5])}{', ...' if len(names) > 5 else ''}. Is labels= right?",
                int(self.pairs.row_starts[self._row_of(int(wrong[0]), 1)]),
            )
        indptr = np.concatenate([[0], self.pairs.ends[: self.n_rows, 1]])
        shape = (self.n_rows, len(names))
        return without_repeats(csr(np.ones(len(ids)), columns, indptr, shape), self._clash).astype(
            np.int64
        )


def _columns_of(ids: Any, names: Sequence[str], numbered: bool) -> Any:
    """The column of each label number, -1 for an unknown one.

    If every name is a whole number, a label is the column of that name. If not, or if the names
    are 0, 1, 2, ..., labels number the columns from 0.
    """
    if numbered or not all(is_whole(name) for name in names):
        return np.where((ids >= 0) & (ids < len(names)), ids, -1)
    known = np.array([int(name) for name in names], dtype=np.int64)
    order = np.argsort(known)
    place = np.minimum(np.searchsorted(known[order], ids), len(known) - 1)
    return np.where(known[order][place] == ids, order[place], -1) if len(known) else ids * 0 - 1


def is_whole(name: str) -> bool:
    """Whether a label's name is a whole number, so that a file can hold the name itself."""
    return name.removeprefix("-").isdecimal() and len(name) < 12 and str(int(name)) == name


def _label_names(wanted: Any, beside: Any, lines: _Lines) -> Sequence[str]:
    """The names asked for, else those beside the file, else the numbers that occur."""
    if isinstance(wanted, int):
        return NumberedNames("", wanted)
    if isinstance(wanted, str):
        raise DataError(
            f"labels={wanted!r}: the labels of the file are numbers; pass a list or a count"
        )
    if wanted is not None:
        return tuple(map(str, wanted))
    if beside is not None:
        return tuple(beside)
    return tuple(map(str, lines.label_ids()))


def _names_beside(source: Source) -> dict[str, Any]:
    """The names that ``limo.write`` wrote beside the file; empty if there is no such file."""
    content = source.beside(source.name + NAMES_SUFFIX)
    if content is None:
        return {}
    path = source.path + NAMES_SUFFIX
    try:
        names = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise DataError(f"expected JSON, but {error}", path=path) from None
    lists = (
        [names.get(key) for key in ("label_names", "feature_names")]
        if isinstance(names, dict)
        else [0]
    )
    good = all(
        v is None or (isinstance(v, list) and all(isinstance(n, str) for n in v)) for v in lists
    )
    if not good or not isinstance(names.get("n_features", 0), int):
        raise DataError(
            'expected {"label_names": [...], "feature_names": [...], "n_features": ...}; '
            "write the file again or remove it",
            path=path,
        )
    return dict(names)


def _empty_pairs(text: bytes) -> kernels.Pairs:
    """Arrays for as many pairs, labels and rows as the text can hold."""
    n_rows = text.count(b"\n") + 1
    n_pairs = text.count(b":")
    n_labels = text.count(b",") + n_rows
    return kernels.Pairs(
        np.empty(n_pairs),
        np.empty(n_pairs, dtype=np.int64),
        np.empty(n_labels, dtype=np.int64),
        np.empty((n_rows, 2), dtype=np.int64),
        np.empty(n_rows, dtype=np.int64),
        np.empty((n_pairs, 3), dtype=np.int64),
        np.zeros(4, dtype=np.int64),
    )
