"""``limo.write`` writes a data set, ``write_predictions`` scores and predicted labels.

A file appears under its name when it is complete, so a crash never leaves half of one.
"""

import bz2
import gzip
import itertools
import json
import lzma
import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any
from xml.sax.saxutils import quoteattr

import numpy as np
from scipy import sparse

from limo._frames import as_names
from limo._system import Later, as_path, replacing, replacing_all
from limo._types import check_kind
from limo.datasets._dataset import (
    Dataset,
    NumberedNames,
    check_binary,
    check_dataset,
    check_different,
)
from limo.datasets._libsvm import NAMES_SUFFIX, is_whole
from limo.datasets._matrices import LABEL_PREFIX, SCORE_PREFIX
from limo.datasets._npz import csr_parts, to_arrays
from limo.datasets._options import DataError
from limo.datasets._parquet import need_parquet
from limo.datasets._source import quote

_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_COMPRESSORS: dict[str, Callable[[IO[bytes]], Any]] = {
    ".gz": lambda handle: gzip.GzipFile(fileobj=handle, mode="wb", mtime=0),
    ".bz2": lambda handle: bz2.open(handle, "wb"),
    ".xz": lambda handle: lzma.open(handle, "wb"),
}


def write(dataset: Dataset, path: str | os.PathLike[str], *, format: str | None = None) -> Path:
    """Write a data set as Mulan ARFF + XML, LIBSVM or NPZ; :func:`read` returns the same data.

    All files are written under temporary names in the same folder and renamed when all are
    complete, so a crash or a full disk leaves the old files or none. A sparse ``X`` gives a sparse
    file.

    Parameters
    ----------
    dataset : Dataset
        What to write.
    path : path
        The file. Its suffix gives the format (.arff, .libsvm, .svm, .svmlight, .npz); a further
        .gz, .bz2 or .xz compresses it. The label names of an ARFF file go into an XML file beside
        it, the names of a LIBSVM file into a JSON file.
    format : {"arff", "libsvm", "npz"}, optional
        The format, if the suffix does not say it.

    Returns
    -------
    Path
        The file written.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> import limo
    >>> data = limo.datasets.figure1(10)
    >>> file = limo.write(data, mkdtemp() + "/square.arff.gz")
    >>> again = limo.read(file)
    >>> (again.X == data.X).all() and (again.Y == data.Y).all()
    np.True_
    """
    file, bare, compressor = _target(path)
    writer = _writer(format, bare)
    check_dataset(dataset)
    _check_names(dataset)
    check_binary(dataset.Y)
    if np.isinf(_stored(dataset.X)).any():
        raise DataError("X must hold finite numbers (or nan), got infinity")
    writer(dataset, file, bare, compressor)
    return file


def _target(path: str | os.PathLike[str]) -> tuple[Path, str, Any]:
    """The file, its name without .gz, .bz2 or .xz, and the function that compresses."""
    file = as_path(path)
    name = file.name.lower()
    compressor = next((p for suffix, p in _COMPRESSORS.items() if name.endswith(suffix)), None)
    return file, file.name[: -len(file.suffix)] if compressor else file.name, compressor


def _stem(bare: str) -> str:
    return bare[:-5] if bare.lower().endswith(".arff") else bare


def _write_arff(dataset: Dataset, file: Path, bare: str, compressor: Any) -> None:
    _check_arff_names(dataset)
    stem = _stem(bare)
    with replacing_all({file.parent / f"{stem}.xml": None, file: compressor}) as (names, rows):
        names.writelines(line.encode() for line in _xml_lines(dataset.label_names))
        rows.writelines(line.encode() for line in _arff_lines(dataset, stem))


def _write_libsvm(dataset: Dataset, file: Path, bare: str, compressor: Any) -> None:
    if np.isnan(_stored(dataset.X)).any():
        raise DataError("a LIBSVM file cannot hold missing values; fill them in, or write .npz")
    names: dict[str, Any] = {
        "label_names": list(dataset.label_names),
        "n_features": dataset.X.shape[1],
    }
    if dataset.feature_names != NumberedNames("x", dataset.X.shape[1]):
        names["feature_names"] = list(dataset.feature_names)
    beside = file.parent / (bare + NAMES_SUFFIX)
    with replacing_all({beside: None, file: compressor}) as (handle, rows):
        handle.write(json.dumps(names, ensure_ascii=False).encode())
        rows.writelines(line.encode() for line in _libsvm_lines(dataset))


def _write_npz(dataset: Dataset, file: Path, bare: str, compressor: Any) -> None:
    if compressor:
        raise DataError(
            "an NPZ file is compressed already: leave the second suffix out", path=str(file)
        )
    with replacing(file) as handle:
        np.savez_compressed(handle, **to_arrays(dataset))


_WRITERS = {
    "arff": ((".arff",), _write_arff),
    "libsvm": ((".libsvm", ".svm", ".svmlight"), _write_libsvm),
    "npz": ((".npz",), _write_npz),
}


def _writer(format: str | None, bare: str) -> Callable[[Dataset, Path, str, Any], None]:
    check_kind(format, str | None, "format must be the name of a format")
    for name, (suffixes, writer) in _WRITERS.items():
        if format == name or (format is None and bare.lower().endswith(suffixes)):
            return writer
    expected = ", ".join(suffix for suffixes, _ in _WRITERS.values() for suffix in suffixes)
    raise DataError(
        f"format must be one of {', '.join(_WRITERS)}, or the path must end in {expected}; "
        f"got {format or bare!r}"
    )


def files_written(path: str | os.PathLike[str], format: str | None = None) -> list[Path]:
    """The files :func:`write` would write: the one named, and the one with the names beside it.

    Examples
    --------
    >>> [file.name for file in files_written("square.arff.gz")]
    ['square.arff.gz', 'square.xml']
    """
    file, bare, _ = _target(path)
    writer = _writer(format, bare)
    if writer is _write_arff:
        return [file, file.parent / f"{_stem(bare)}.xml"]
    return [file, *([file.parent / (bare + NAMES_SUFFIX)] if writer is _write_libsvm else [])]


def _check_names(dataset: Dataset) -> None:
    for what, names in (("feature", dataset.feature_names), ("label", dataset.label_names)):
        check_different(names, f"{what} names")


def _check_arff_names(dataset: Dataset) -> None:
    both = set(dataset.feature_names) & set(dataset.label_names)
    if both:
        raise DataError(f"a feature and a label are both called {min(both)!r}; rename one")
    wrong = next((name for name in dataset.label_names if _NOT_XML.search(name)), None)
    if wrong is not None:
        raise DataError(f"the label {wrong!r} has a character that XML cannot hold; rename it")


def _stored(A: Any) -> Any:
    return A.data if sparse.issparse(A) else np.asarray(A)


def _xml_lines(names: Sequence[str]) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="utf-8"?>\n'
    yield '<labels xmlns="http://mulan.sourceforge.net/labels">\n'
    for name in names:
        yield f"<label name={quoteattr(name)}></label>\n"
    yield "</labels>\n"


def _arff_lines(dataset: Dataset, relation: str) -> Iterator[str]:
    """The header, then one line per row; the labels come last."""
    yield f"@relation {quote(relation)}\n\n"
    for name in dataset.feature_names:
        yield f"@attribute {quote(name)} numeric\n"
    for name in dataset.label_names:
        yield f"@attribute {quote(name)} {{0,1}}\n"
    yield "\n@data\n"
    if sparse.issparse(dataset.X):
        Z = sparse.hstack([dataset.X, dataset.Y], format="csr").astype(float)
        for indices, values in _csr_rows(Z):
            yield "{" + ",".join(map("{} {}".format, indices, values)) + "}\n"
    else:
        Y = dataset.to_dense().Y
        for x, y in zip(np.asarray(dataset.X, dtype=float), Y, strict=True):
            yield ",".join([*_texts(x), *map(str, y.astype(int).tolist())]) + "\n"


def _libsvm_lines(dataset: Dataset) -> Iterator[str]:
    """``label,label index:value``, features from 1; a row without features gets one zero."""
    names = dataset.label_names
    ids = names if all(map(is_whole, names)) else tuple(map(str, range(len(names))))
    X = sparse.csr_array(dataset.X).astype(float)
    empty = ["1:0"] if X.shape[1] else []
    for (indices, values), (labels, _) in zip(
        _csr_rows(X), _csr_rows(sparse.csr_array(dataset.Y)), strict=True
    ):
        pairs = [f"{j + 1}:{value}" for j, value in zip(indices, values, strict=True)]
        yield ",".join(ids[j] for j in labels) + " " + " ".join(pairs or empty) + "\n"


def _csr_rows(A: Any) -> Iterator[tuple[list[int], list[str]]]:
    """Indices and texts of the nonzero values of each row."""
    A = A.copy()
    A.sum_duplicates()
    A.eliminate_zeros()
    indices, texts, ends = A.indices.tolist(), _texts(A.data), A.indptr.tolist()
    for start, end in itertools.pairwise(ends):
        yield indices[start:end], texts[start:end]


def _texts(values: Any) -> list[str]:
    """The shortest text that reads back as the same number; ? for nan."""
    texts = [text.removesuffix(".0") for text in map(repr, values.tolist())]
    for k in np.flatnonzero(np.isnan(values)):
        texts[k] = "?"
    return texts


# Predictions, as files that :func:`limo.datasets.read_matrix` and other programs can read.

pd = Later("pandas")


def write_predictions(
    path: str | os.PathLike[str],
    label_names: Sequence[str],
    *,
    scores: Any = None,
    labels: Any = None,
    ids: Any = None,
    id_column: str = "id",
    spreadsheet: bool = False,
    force: bool = False,
) -> Path:
    """Write scores, predicted labels or both; the suffix gives the format.

    Parameters
    ----------
    path : path
        The file, which ends in .csv, .tsv, .parquet, .npz or, for one matrix, .npy.
    label_names : sequence of str
        A name for each column. With both, the columns are called label:NAME and score:NAME.
    scores : array of shape (n_samples, n_labels), optional
        Scores.
    labels : array or sparse matrix of shape (n_samples, n_labels), optional
        Predicted labels, 0 or 1.
    ids : sequence of str, optional
        A name for each row: the first column of a table, the array ``ids`` of an NPZ file.
    id_column : str, default="id"
        The name of the column of ids.
    spreadsheet : bool, default=False
        Whether names and ids that a spreadsheet program would take for formulas (they begin with
        =, +, -, @ or a control character) get an apostrophe in front. Ask for it before you open
        predictions for the data of a stranger in such a program.
    force : bool, default=False
        Whether to replace a file that exists.

    Returns
    -------
    Path

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> import limo
    >>> file = mkdtemp() + "/predictions.csv"
    >>> S, P = [[0.5, 2.0]], [[0, 1]]
    >>> file = limo.datasets.write_predictions(file, ["a", "b"], scores=S, labels=P)
    >>> print(file.read_text())
    label:a,label:b,score:a,score:b
    0,1,0.5,2.0
    """
    file, names = as_path(path), list(as_names(label_names))
    given = {"labels": labels, "scores": scores}
    matrices = {what: _array(A) for what, A in given.items() if A is not None}
    check_suffix(file, len(matrices), ids=ids is not None)
    for what, A in matrices.items():
        if A.ndim != 2 or A.shape[1] != len(names):
            raise DataError(f"{what} must have {len(names)} columns, got the shape {A.shape}")
        if ids is not None and len(ids) != A.shape[0]:
            raise DataError(f"ids must name the {A.shape[0]} rows of {what}, got {len(ids)}")
    check_kind(spreadsheet, bool, "spreadsheet must be True or False")
    rows = {} if ids is None else {id_column: list(map(str, ids))}
    if spreadsheet:
        names = list(map(_as_text, names))
        rows = {_as_text(name): list(map(_as_text, given)) for name, given in rows.items()}
    with replacing(file, force=force) as handle:
        _PREDICTION_WRITERS[file.suffix.lower()](handle, matrices, names, rows)
    return file


def _as_text(name: str) -> str:
    """A name that a spreadsheet program shows and does not compute."""
    return f"'{name}" if name.startswith(("=", "+", "-", "@", "\t", "\r", "\n")) else name


def check_suffix(file: Path, n_matrices: int = 1, *, ids: bool = False) -> None:
    """Raise if the suffix is not a known format, or the format cannot hold that many matrices.

    Examples
    --------
    >>> import limo
    >>> from pathlib import Path
    >>> limo.datasets.check_suffix(Path("predictions.csv"))
    """
    file = as_path(file, "file")
    suffix = file.suffix.lower()
    if suffix not in _PREDICTION_WRITERS:
        raise DataError(
            f"predictions are written to a file that ends in {', '.join(_PREDICTION_WRITERS)}; "
            f"got {file.name}"
        )
    if suffix == ".npy" and n_matrices != 1:
        raise DataError(
            f"{file.name} can hold one matrix: write scores or labels, or both to a .npz file"
        )
    if suffix == ".npy" and ids:
        raise DataError(f"{file.name} cannot hold ids: write a table, or a .npz file")
    if suffix in (".parquet", ".pq"):
        need_parquet(str(file))


def _array(A: Any) -> Any:
    try:
        return sparse.csr_array(A) if sparse.issparse(A) else np.asarray(A)
    except ValueError as error:
        raise DataError(f"expected a matrix, but {error}") from None


Ids = dict[str, list[str]]  # the column of ids by its name, or nothing


def _frame(matrices: dict[str, Any], names: list[str], ids: Ids) -> Any:
    """A data frame with the ids, and a column for each label of each matrix."""
    prefixes = {"labels": LABEL_PREFIX, "scores": SCORE_PREFIX}
    dense = {w: A.toarray() if sparse.issparse(A) else A for w, A in matrices.items()}
    both = len(dense) > 1
    parts = [
        pd.DataFrame(A, columns=[f"{prefixes[what] * both}{name}" for name in names])
        for what, A in dense.items()
    ]
    if ids:
        check_different([*ids, *(name for part in parts for name in part)], "names of columns")
    return pd.concat([pd.DataFrame(ids), *parts] if ids else parts, axis=1)


def _write_csv(handle: IO[bytes], matrices: dict[str, Any], names: list[str], ids: Ids) -> None:
    _frame(matrices, names, ids).to_csv(handle, index=False)


def _write_tsv(handle: IO[bytes], matrices: dict[str, Any], names: list[str], ids: Ids) -> None:
    _frame(matrices, names, ids).to_csv(handle, index=False, sep="\t")


def _write_parquet(handle: IO[bytes], matrices: dict[str, Any], names: list[str], ids: Ids) -> None:
    _frame(matrices, names, ids).to_parquet(handle, index=False)


def _predictions_npz(
    handle: IO[bytes], matrices: dict[str, Any], names: list[str], ids: Ids
) -> None:
    arrays: dict[str, Any] = {"label_names": np.array(names, dtype=np.str_)}
    for what, A in matrices.items():
        arrays |= csr_parts(what, A) if sparse.issparse(A) else {what: A}
    if ids:
        arrays["ids"] = np.array(next(iter(ids.values())), dtype=np.str_)
    np.savez_compressed(handle, **arrays)


def _write_npy(handle: IO[bytes], matrices: dict[str, Any], names: list[str], ids: Ids) -> None:
    A = next(iter(matrices.values()))
    np.save(handle, A.toarray() if sparse.issparse(A) else A)


_PREDICTION_WRITERS: dict[str, Callable[[IO[bytes], dict[str, Any], list[str], Ids], None]] = {
    ".csv": _write_csv,
    ".tsv": _write_tsv,
    ".parquet": _write_parquet,
    ".pq": _write_parquet,
    ".npz": _predictions_npz,
    ".npy": _write_npy,
}
