"""From columns of numbers and codes to ``X`` and ``Y``.

Every format with named columns (ARFF, CSV, Parquet) comes through here, so that nominal
values, missing values and labels mean the same in all of them.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import ParseError

import numpy as np
from defusedxml import DefusedXmlException, ElementTree
from scipy import sparse

from limo.datasets._dataset import DataError, Dataset, Labels, Limits, Options, shorten
from limo.datasets._source import Source, unquote

__all__ = [
    "Column",
    "Table",
    "arff_labels",
    "binary_columns",
    "feature_columns",
    "given_labels",
    "meka_labels",
    "names_labels",
    "to_dataset",
    "xml_labels",
]


_BINARY = ("0", "1")
_POSITIVE = {"1", "+1", "true", "yes", "t", "y", "1.0"}
_NEGATIVE = {"0", "-1", "false", "no", "f", "n", "0.0"}
_ROW_ID_FROM = 20  # values; with fewer rows than this, all different is no sign of a row id


@dataclass(frozen=True)
class Column:
    """A column's name and, if it is nominal, its declared values (a cell is a place in them)."""

    name: str
    values: tuple[str, ...] | None = None

    @property
    def is_plain(self) -> bool:
        """Whether the cells are the numbers meant: numeric, or nominal {0, 1}."""
        return self.values is None or self.values == _BINARY


@dataclass(frozen=True)
class Table:
    """Columns, and a dense or CSR matrix of their cells; nan is a missing value.

    Attributes
    ----------
    columns : tuple of Column
        One for each column of ``cells``.
    cells : array or CSR array
        Numbers and codes.
    path : str
        For messages.
    line_of : callable
        From a row to its line in the file.
    """

    columns: tuple[Column, ...]
    cells: Any
    path: str
    line_of: Callable[[int], int]


def to_dataset(table: Table, labels: list[int], options: Options, checksum: str) -> Dataset:
    """Part the columns into features and labels, and turn both into numbers."""
    is_label = np.zeros(len(table.columns), dtype=bool)
    is_label[labels] = True
    features = np.flatnonzero(~is_label)
    Y = binary_columns(table, labels, options.limits)
    X, names = feature_columns(table, features, options)
    label_names = tuple(table.columns[j].name for j in labels)
    return Dataset(X, Y, names, label_names, table.path, checksum)


def binary_columns(table: Table, labels: list[int], limits: Limits) -> Any:
    """The 0/1 matrix of the label columns."""
    B = table.cells[:, labels]
    flipped = [k for k, j in enumerate(labels) if _first_is_positive(table.columns[j], table.path)]
    _check_binary(B, table, labels)
    if not sparse.issparse(B):
        Y = B.astype(np.int64)
        Y[:, flipped] = 1 - Y[:, flipped]
        return Y
    Y = _flip(B, flipped, table.path, limits) if flipped else B
    Y.eliminate_zeros()
    return Y.astype(np.int64)


def _first_is_positive(column: Column, path: str) -> bool:
    """Whether a label's first value (the one a sparse row omits) means yes."""
    if column.values is None:
        return False
    lowered = [value.strip().lower() for value in column.values]
    positive = [value in _POSITIVE for value in lowered]
    known = all(value in _POSITIVE | _NEGATIVE for value in lowered)
    if len(lowered) > 2 or not known or (len(lowered) == 2 and sum(positive) != 1):
        raise DataError(
            f"the label {column.name!r} must have the values {{0, 1}} (or no/yes, false/true), "
            f"got {{{', '.join(column.values[:6])}}}. Is it a feature? Name the labels: labels=",
            path=path,
        )
    return positive[0]


def _check_binary(B: Any, table: Table, labels: list[int]) -> None:
    data = B.data if sparse.issparse(B) else B
    wrong = (data != 0) & (data != 1)
    if not wrong.any():
        return
    rows, columns = B.tocoo().coords if sparse.issparse(B) else np.indices(B.shape)
    first = np.flatnonzero(wrong.ravel())[0]
    row, column = int(np.ravel(rows)[first]), int(np.ravel(columns)[first])
    value = np.ravel(data)[first]
    name = table.columns[labels[column]].name
    told = "a missing value" if np.isnan(value) else f"{value:g}"
    raise DataError(
        f"the label {name!r} must be 0 or 1, got {told}. Remove the row, or leave the label out",
        path=table.path,
        line=table.line_of(row),
    )


def _flip(B: Any, flipped: list[int], path: str, limits: Limits) -> Any:
    """Exchange 0 and 1 in some columns of a sparse matrix, which fills them."""
    limits.check("max_values", B.shape[0] * len(flipped), "stored values", path)
    columns = sparse.csc_array(B)
    parts = [columns[:, [k]] for k in range(B.shape[1])]
    for k in flipped:
        parts[k] = sparse.csc_array(1.0 - parts[k].toarray())
    return sparse.hstack(parts, format="csr")


def feature_columns(table: Table, features: Any, options: Options) -> tuple[Any, tuple[str, ...]]:
    """The feature matrix: runs of plain columns as they are, nominal ones turned into numbers."""
    parts, names = [], []
    for run, is_plain in _runs(table, features):
        block = table.cells[:, run]
        if is_plain:
            parts.append(block)
            names += [table.columns[j].name for j in run]
        else:
            block, block_names = _expand(table, int(run[0]), block, options)
            parts.append(block)
            names += block_names
        options.limits.check("max_columns", len(names), "features", table.path)
    X = _join(parts, table.cells)
    if sparse.issparse(X):
        X.eliminate_zeros()
    return _fill_missing(X, options.missing), tuple(names)


def _runs(table: Table, features: Any) -> Iterator[tuple[Any, bool]]:
    """Neighbouring plain features together, each other feature by itself."""
    plain = np.array([table.columns[j].is_plain for j in features], dtype=bool)
    if plain.all():
        yield features, True
        return
    breaks = np.flatnonzero(~plain[1:] | ~plain[:-1]) + 1
    for run in np.split(features, breaks):
        yield run, table.columns[run[0]].is_plain


def _expand(table: Table, j: int, block: Any, options: Options) -> tuple[Any, list[str]]:
    """One nominal column as numbers: 0/1, codes, or a column for each value."""
    column = table.columns[j]
    values = column.values or ()
    codes = np.asarray(block.toarray() if sparse.issparse(block) else block).ravel()
    known = ~np.isnan(codes)
    if set(values) <= set(_BINARY):
        numbers = np.full(len(codes), np.nan)
        numbers[known] = np.array(values, dtype=float)[codes[known].astype(np.intp)]
        return numbers[:, None], [column.name]
    if options.nominal == "codes":
        return block, [column.name]
    _refuse_row_id(column, codes[known], table.path)
    n_values = len(codes) + int(np.count_nonzero(~known)) * len(values)
    options.limits.check("max_values", n_values, "one-hot values", table.path)
    return _one_hot(codes, known, len(values)), [f"{column.name}={value}" for value in values]


def _one_hot(codes: Any, known: Any, n_values: int) -> Any:
    """A CSR column for each value; a missing code is missing in all of them."""
    widths = np.where(known, 1, n_values)
    indptr = np.concatenate([[0], np.cumsum(widths)])
    data = np.where(np.repeat(known, widths), 1.0, np.nan)
    indices = np.arange(len(data)) - np.repeat(indptr[:-1], widths)
    indices[indptr[:-1][known]] = codes[known]
    return sparse.csr_array((data, indices, indptr), (len(codes), n_values))


def _refuse_row_id(column: Column, codes: Any, path: str) -> None:
    """A nominal whose every row differs names the rows; as features it would only memorise."""
    if len(codes) > _ROW_ID_FROM and len(np.unique(codes)) == len(codes):
        raise DataError(
            f"{column.name!r} has a different value in each of the {len(codes)} rows: it names "
            f"rows, it does not describe them. drop=[{column.name!r}] leaves it out, "
            "nominal='codes' keeps it as one column",
            path=path,
        )


def _join(parts: list[Any], cells: Any) -> Any:
    """The parts side by side, stored like ``cells``."""
    if not sparse.issparse(cells):
        dense = [part.toarray() if sparse.issparse(part) else part for part in parts]
        return np.hstack(dense)
    if len(parts) == 1:
        return sparse.csr_array(parts[0])
    return sparse.hstack([sparse.csc_array(part) for part in parts], format="csr")


def _fill_missing(X: Any, missing: str) -> Any:
    """Replace nan as asked: by the mean of the known values of its column, or by zero."""
    data = X.data if sparse.issparse(X) else X
    unknown = np.isnan(data)
    if missing in ("error", "nan") or not unknown.any():
        return X
    if missing == "zero":
        data[unknown] = 0.0
    elif sparse.issparse(X):
        columns = X.indices
        count = X.shape[0] - np.bincount(columns[unknown], minlength=X.shape[1])
        total = np.bincount(columns, np.where(unknown, 0.0, data), minlength=X.shape[1])
        data[unknown] = (total / np.maximum(count, 1))[columns[unknown]]
    else:
        count = X.shape[0] - unknown.sum(axis=0)
        total = np.where(unknown, 0.0, X).sum(axis=0)
        X[unknown] = np.broadcast_to(total / np.maximum(count, 1), X.shape)[unknown]
    if sparse.issparse(X):
        X.eliminate_zeros()
    return X


# Which columns are the labels: by name wherever a name exists, never by guess.

# One word, not a part of another: -C 5, -C -5; MEKA writes it into the relation's name.
_MEKA = re.compile(r"(?:^|[\s:])-[Cc]\s+(-?\d{1,9})(?!\d)")

_HOW_TO = (
    "Name them: labels=['a', 'b'], labels='tag_*' for a prefix, or labels=6 for the last six "
    "(label_location='start': the first)"
)


def arff_labels(names: list[str], relation: str, source: Source, options: Options) -> list[int]:
    """The label columns of an ARFF file.

    What the caller says, else the XML file beside it, else ``-C`` in the relation. The XML stands
    above ``-C``, which outlives the filters that moved the labels.
    """
    if options.labels is not None:
        return given_labels(names, options.labels, options.label_location, source.path)
    xml = _find_xml(source, options)
    if xml is not None:
        content, path = xml
        return _header_order(names, xml_labels(content, path), path)
    columns = meka_labels(relation, len(names), source.path)
    if columns is not None:
        return columns
    tried = " or ".join(f"{name}.xml" for name in source.set_names)
    raise DataError(
        f"which attributes are the labels? Found no {tried} beside the file and no '-C n' in its "
        f"relation. {_HOW_TO}, or xml='labels.xml'",
        path=source.path,
    )


def names_labels(relation: str, n_columns: int, source: Source, options: Options) -> bool:
    """Whether an ARFF file, or an XML file beside it, says which attributes are labels."""
    if _find_xml(source, options) is not None:
        return True
    return meka_labels(relation, n_columns, source.path) is not None


def given_labels(names: list[str], labels: Labels, location: str, path: str) -> list[int]:
    """Columns by names, by prefix (``'tag_*'``) or by count."""
    if isinstance(labels, int):
        if labels > len(names):
            raise DataError(f"labels={labels}, but there are {len(names)} columns", path=path)
        first = len(names) - labels if location == "end" else 0
        return list(range(first, first + labels))
    if isinstance(labels, str) and labels.endswith("*"):
        columns = [j for j, name in enumerate(names) if name.startswith(labels[:-1])]
        if not columns:
            raise DataError(
                f"no column begins with {labels[:-1]!r}; there are {shorten(names)}", path=path
            )
        return columns
    wanted = [labels] if isinstance(labels, str) else list(labels or ())
    return _columns(names, wanted, path, _HOW_TO)


def meka_labels(relation: str, n_columns: int, path: str) -> list[int] | None:
    """The columns ``-C n`` in a relation means: the first n, or the last for -n; None without."""
    match = _MEKA.search(relation)
    if match is None:
        return None
    count = int(match[1])
    if not 0 < abs(count) <= n_columns:
        raise DataError(
            f"the relation says '-C {count}', but there are {n_columns} attributes. {_HOW_TO}",
            path=path,
        )
    return list(range(count)) if count > 0 else list(range(n_columns + count, n_columns))


def xml_labels(content: bytes, path: str) -> list[str]:
    """The label names of a Mulan XML file; entities and outside references are refused."""
    try:
        root = ElementTree.fromstring(content, forbid_dtd=True)
    except ParseError as error:
        line = error.position[0]
        raise DataError(f"expected XML, but {error}", path=path, line=line) from None
    except (DefusedXmlException, ValueError, LookupError) as error:
        raise DataError(
            f"the XML holds a document type, an entity or a bad encoding ({error}); "
            "a label file needs none. Remove it",
            path=path,
        ) from None
    elements = [e for e in root.iter() if e.tag.rpartition("}")[2] == "label"]
    names = [element.get("name") for element in elements]
    if not names or None in names:
        raise DataError(
            'expected <labels><label name="..."/>...</labels>, got '
            + ("a label without a name" if names else "no label"),
            path=path,
        )
    return [name for name in names if name is not None]


def _find_xml(source: Source, options: Options) -> tuple[bytes, str] | None:
    """The XML the caller names, else one called like the set and lying beside the data."""
    if options.xml is not None:
        path = Path(options.xml)
        options.limits.check("max_bytes", path.stat().st_size, "bytes", str(path))
        return path.read_bytes(), str(path)
    for name in source.set_names:
        content = source.beside(f"{name}.xml")
        if content is not None:
            return content, str(Path(source.path).parent / f"{name}.xml")
    return None


def _header_order(names: list[str], labels: list[str], path: str) -> list[int]:
    """The columns the XML names, in the order of the header (enron's XML has another)."""
    known = set(names)
    # Some files (birds) carry the header's quotes and escapes into the XML.
    matched = [label if label in known else unquote(label.strip()) for label in labels]
    advice = "Is it the XML of another set? Pass xml=..., or labels=..."
    return sorted(_columns(names, matched, path, advice))


def _columns(names: list[str], wanted: Sequence[str], path: str, advice: str) -> list[int]:
    place = {name: j for j, name in enumerate(names)}
    unknown = [name for name in wanted if name not in place]
    if unknown or not wanted:
        told = f"no column is named {shorten(unknown)}" if unknown else "no label is named"
        raise DataError(f"{told}; there are {shorten(names)}. {advice}", path=path)
    if len(set(wanted)) < len(wanted):
        twice = next(name for name in wanted if list(wanted).count(name) > 1)
        raise DataError(f"the label {twice!r} is named twice", path=path)
    return [place[name] for name in wanted]
