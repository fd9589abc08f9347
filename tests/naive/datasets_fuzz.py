"""What every reader must guarantee for any bytes.

Each target takes bytes and raises only if a reader broke a guarantee: an error that is not ours, a
result of the wrong shape, or (for ARFF) a result the slow twin does not give.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import sparse

from limo.datasets._columns import xml_labels
from limo.datasets._dataset import Dataset
from limo.datasets._options import DataError, Limits, ReadOptions
from limo.datasets._read import FORMATS, read_source
from limo.datasets._source import Source, open_source
from naive import datasets_arff

LIMITS = Limits(max_bytes=1 << 20, max_columns=5000, max_values=200_000)


def check(data: Dataset, missing: str) -> None:
    """What every data set is: two matrices that fit each other and their names."""
    assert data.X.shape == (data.Y.shape[0], len(data.feature_names))
    assert data.Y.shape[1] == len(data.label_names) >= 0
    x, y = (A.data if sparse.issparse(A) else np.ravel(A) for A in (data.X, data.Y))
    assert ((y == 0) | (y == 1)).all()
    assert np.isfinite(x).all() or (missing == "nan" and not np.isinf(x).any())
    for A in (data.X, data.Y):
        assert not sparse.issparse(A) or A.has_canonical_format


def options_of(data: bytes, format: str) -> tuple[ReadOptions, bytes]:
    """Let the first byte choose the options that the format has."""
    choice, rest = (data[0], data[1:]) if data else (0, b"")
    wanted = {
        "labels": [1, 2, ["a"], "a*", None][choice % 5],
        "missing": ["error", "nan", "mean", "zero"][choice // 5 % 4],
        "nominal": ["one-hot", "codes"][choice // 20 % 2],
        "label_location": ["end", "start"][choice // 40 % 2],
    }
    known = FORMATS[format].options
    return ReadOptions(limits=LIMITS, **{k: v for k, v in wanted.items() if k in known}), rest


def reader(format: str) -> Callable[[bytes], None]:
    def target(data: bytes) -> None:
        options, content = options_of(data, format)
        source = Source("fuzz", "fuzz", content, lambda name: None)
        try:
            result = read_source(source, format, options)
        except DataError:
            return
        check(result, options.missing)
        if format == "arff":
            check_arff(result, content, options)

    return target


def check_arff(result: Dataset, content: bytes, options: ReadOptions) -> None:
    """The slow twin gives the same labels and the same features."""
    naive = datasets_arff.read(content)
    dense = result.to_dense()
    for j, name in enumerate(dense.label_names):
        k = naive.names.index(name)
        assert [as_label(row[k]) for row in naive.rows] == dense.Y[:, j].tolist()
    if options.missing == "nan" and options.nominal == "one-hot":
        columns = expected_features(naive, set(dense.label_names))
        assert tuple(name for name, _ in columns) == dense.feature_names
        expected = np.array([column for _, column in columns]).T.reshape(dense.X.shape)
        assert np.array_equal(expected, dense.X, equal_nan=True)


def as_label(cell: datasets_arff.Cell) -> int:
    text = str(cell).strip().lower()
    return int(text in {"1", "+1", "1.0", "true", "yes", "t", "y"})


def expected_features(
    naive: datasets_arff.Naive, labels: set[str]
) -> list[tuple[str, list[float]]]:
    columns = []
    for k, (name, declared) in enumerate(zip(naive.names, naive.values, strict=True)):
        cells = [row[k] for row in naive.rows]
        if name in labels:
            continue
        if declared is None or set(declared) <= {"0", "1"}:
            columns.append((name, [np.nan if c is None else float(c) for c in cells]))
        else:
            for value in declared:
                column = [np.nan if c is None else float(c == value) for c in cells]
                columns.append((f"{name}={value}", column))
    return columns


def packed(data: bytes) -> None:
    """Archives of every kind, recognised by content."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "fuzz"
        file.write_bytes(data)
        try:
            source = open_source(file, None, LIMITS)
            result = read_source(source, None, ReadOptions(limits=LIMITS))
        except DataError:
            return
        finally:
            assert [p.name for p in Path(folder).iterdir()] == ["fuzz"]
    check(result, "error")


def xml(data: bytes) -> None:
    try:
        names = xml_labels(data, "fuzz")
    except DataError:
        return
    assert names
    assert all(isinstance(name, str) for name in names)


TARGETS: dict[str, Callable[[bytes], None]] = {
    **{format: reader(format) for format in FORMATS},
    "packed": packed,
    "xml": xml,
}
