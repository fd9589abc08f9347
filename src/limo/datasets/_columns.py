"""Columns of a file: which of them are labels, and how all become ``X`` and ``Y``.

Every format with named columns (ARFF, CSV, TSV, Parquet) uses this module, so nominal values,
missing values and labels mean the same in all of them.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import ParseError

import numpy as np
from defusedxml import DefusedXmlException, ElementTree
from scipy import sparse

from limo._text import did_you_mean, repeated
from limo.datasets._dataset import Dataset, as_labels, find_non_binary, with_gaps
from limo.datasets._options import DataError, LabelChoice, Limits, ReadOptions, shorten
from limo.datasets._source import Source, unquote
from limo.datasets._texts import is_row_name, tag_labels

_BINARY = ("0", "1")
_POSITIVE = {"1", "+1", "true", "yes", "t", "y", "1.0"}
_NEGATIVE = {"0", "-1", "false", "no", "f", "n", "0.0"}
_LARGE = 1 << 25  # values of X; below, it is dense or sparse as the file is
_NEARLY_EMPTY = 4  # values of X for each one stored
_MOST_COMPARED = 10_000  # names that a misspelt one is compared with
_ROW_ID_FROM = 20  # rows; in fewer, values that all differ do not show that they name the rows


@dataclass(frozen=True)
class ColumnHeader:
    """A column's name and, if it is nominal, its values; a cell is then an index into them."""

    name: str
    values: tuple[str, ...] | None = None

    @property
    def is_plain(self) -> bool:
        """Whether the cells are numbers as they are: numeric, or nominal {0, 1}."""
        return self.values is None or self.values == _BINARY


@dataclass(frozen=True)
class Columns:
    """The columns of a file: their headers and a dense or CSR matrix of cells; nan is missing.

    Attributes
    ----------
    headers : tuple of ColumnHeader
        One for each column of ``cells``.
    cells : array or CSR array
        Numbers, and for nominal columns indices into their values.
    path : str
        The file, for messages.
    line_of : callable
        From a row to its line in the file.
    texts : mapping of str to array
        The columns of text by name: ids, tags and those to drop. They are not among the others.
    """

    headers: tuple[ColumnHeader, ...]
    cells: Any
    path: str
    line_of: Callable[[int], int]
    texts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [header.name for header in self.headers]

    def text(self, name: str) -> Any:
        """The column of text with this name."""
        if name not in self.texts:
            there = shorten([*self.texts, *self.names])
            raise DataError(f"no column is named {name!r}; there are {there}", path=self.path)
        return self.texts[name]

    def tag_labels(
        self, options: ReadOptions, known: Sequence[str] | None = None
    ) -> tuple[Any, tuple[str, ...]]:
        """The labels of the column of tags as a CSR matrix, and their names."""
        return tag_labels(self.text(str(options.tags)), options, self.path, self.line_of, known)


def labelled_dataset(columns: Columns, options: ReadOptions, checksum: str) -> Dataset:
    """The data set of a file that does not say which columns are labels: the caller must."""
    if options.labels is None and options.tags is None:
        listed = "; or tags='genres' if one column lists them, such as rock;jazz"
        raise DataError(f"which columns are the labels? {_HOW_TO}{listed}", path=columns.path)
    if options.tags is not None:
        columns.text(str(options.tags))  # a wrong name must be reported first
        kept = kept_columns(columns, options)
        X, names = feature_columns(kept, np.arange(len(kept.headers)), options)
        Y, label_names = kept.tag_labels(options)
        return Dataset(X, Y, names, label_names, columns.path, checksum)
    left = [name for name in columns.names if name not in options.drop]
    labels = given_labels(left, options.labels, options.label_location, columns.path)
    return to_dataset(kept_columns(columns, options, labels), labels, options, checksum)


def kept_columns(columns: Columns, options: ReadOptions, labels: Sequence[int] = ()) -> Columns:
    """The columns without those to drop; reject a missing feature unless the options allow it.

    ``labels`` are places among the columns that are kept. :func:`binary_columns` checks these.
    """
    there = [*columns.texts, *columns.names]
    unknown = sorted(set(options.drop) - set(there))
    if unknown:
        problem = f"no column to drop is named {shorten(unknown)}"
        hint = did_you_mean(unknown[0], there[:_MOST_COMPARED])
        raise DataError(f"{problem}; there are {shorten(there)}.{hint}", path=columns.path)
    kept = [j for j, name in enumerate(columns.names) if name not in options.drop]
    headers = tuple(columns.headers[j] for j in kept)
    cells = columns.cells[:, kept] if len(kept) < len(columns.names) else columns.cells
    if features_only_may_miss(options) == "error":
        gone = np.isnan(cells)
        gone[:, list(labels)] = False
        if gone.any():
            row, column = np.argwhere(gone)[0].tolist()
            raise missing_value(headers[column].name, columns.path, columns.line_of(row))
    return replace(columns, headers=headers, cells=cells)


def features_only_may_miss(options: ReadOptions) -> str:
    """What to do with missing values before columns are known to be labels or features.

    If labels may be missing, features are checked by :func:`to_dataset`.
    """
    return options.missing if options.missing_labels is None else "nan"


def missing_value(name: str, path: str, line: int) -> DataError:
    """The error for a missing value where ``missing="error"``."""
    return DataError(
        f"the value of {name!r} is missing. Choose what to do with missing values: "
        "missing='mean', 'zero' or 'nan'",
        path=path,
        line=line,
    )


def check_names(names: list[str], path: str) -> None:
    """Raise if two columns have the same name."""
    if (twice := repeated(names)) is not None:
        raise DataError(f"expected different column names, got {twice!r} twice", path=path, line=1)


def to_dataset(columns: Columns, labels: list[int], options: ReadOptions, checksum: str) -> Dataset:
    """Separate the columns into features and labels, and turn both into numbers."""
    is_label = np.zeros(len(columns.headers), dtype=bool)
    is_label[labels] = True
    features = np.flatnonzero(~is_label)
    Y = binary_columns(columns, labels, options)
    if options.missing == "error" and options.missing_labels is not None:
        _refuse_missing(columns, features)
    X, names = feature_columns(columns, features, options)
    label_names = tuple(columns.headers[j].name for j in labels)
    return Dataset(X, Y, names, label_names, columns.path, checksum)


def _refuse_missing(columns: Columns, features: Any) -> None:
    """Raise for the first missing feature."""
    cells = sparse.coo_array(columns.cells[:, features])
    gone = np.flatnonzero(np.isnan(cells.data))
    if gone.size:
        first = gone[np.lexsort((cells.col[gone], cells.row[gone]))[0]]
        name = columns.headers[features[cells.col[first]]].name
        raise missing_value(name, columns.path, columns.line_of(int(cells.row[first])))


def binary_columns(columns: Columns, labels: list[int], options: ReadOptions) -> Any:
    """The 0/1 matrix of the label columns; nan where a label is missing, if that is allowed."""
    B = with_gaps(columns.cells[:, labels], options.missing_labels)
    headers = [columns.headers[j] for j in labels]
    flipped = [k for k, header in enumerate(headers) if _first_is_positive(header, columns.path)]
    gaps = options.missing_labels is not None
    if (place := find_non_binary(B, gaps=gaps)) is not None:
        row, k, value = place
        raise _not_a_label(headers[k].name, value, B[:, [k]], columns, row)
    if not sparse.issparse(B):
        Y = as_labels(B)
        Y[:, flipped] = 1 - Y[:, flipped]
        return Y
    Y = _flip(B, flipped, columns.path, options.limits) if flipped else B
    Y.eliminate_zeros()
    return as_labels(Y)


def _not_a_label(name: str, value: float, column: Any, columns: Columns, row: int) -> DataError:
    """The error for a cell of a label that is neither 0 nor 1: the likely cause, and what to do."""
    cells = (column.toarray() if sparse.issparse(column) else column).ravel()
    if np.isnan(value):
        problem = (
            f"the label {name!r} must be 0 or 1, got a missing value. Remove the row, leave the "
            "label out, or allow missing labels with missing_labels=nan"
        )
    elif is_row_name(cells):
        problem = (
            f"{name!r} has a different number in each row, so it names the rows, not a label. "
            f"Match rows by it with id={name!r}, or leave it out with drop=[{name!r}]"
        )
    else:
        problem = (
            f"the label {name!r} must be 0 or 1, got {value:g}. Correct the row. Is it a feature? "
            f"Name the labels with labels=, or leave it out with drop=[{name!r}]"
        )
    return DataError(problem, path=columns.path, line=columns.line_of(row))


def _first_is_positive(header: ColumnHeader, path: str) -> bool:
    """Whether a label's first value (the one a sparse row omits) means yes."""
    if header.values is None:
        return False
    lowered = [value.strip().lower() for value in header.values]
    positive = [value in _POSITIVE for value in lowered]
    known = all(value in _POSITIVE | _NEGATIVE for value in lowered)
    if len(lowered) > 2 or not known or (len(lowered) == 2 and sum(positive) != 1):
        advice = "Is it a feature? Name the labels: labels="
        if any(";" in value for value in header.values):
            advice = f"Does it list the labels of each row? Say so: tags={header.name!r}"
        raise DataError(
            f"the label {header.name!r} must have the values {{0, 1}} (or no/yes, false/true), "
            f"got {{{', '.join(header.values[:6])}}}. {advice}. If it names the rows, match by it "
            f"with id={header.name!r}",
            path=path,
        )
    return positive[0]


def _flip(B: Any, flipped: list[int], path: str, limits: Limits) -> Any:
    """Exchange 0 and 1 in some columns of a sparse matrix, which fills them."""
    limits.check("max_values", B.shape[0] * len(flipped), "stored values", path)
    by_column = sparse.csc_array(B)
    parts = [by_column[:, [k]] for k in range(B.shape[1])]
    for k in flipped:
        parts[k] = sparse.csc_array(1.0 - parts[k].toarray())
    return sparse.hstack(parts, format="csr")


def feature_columns(
    columns: Columns, features: Any, options: ReadOptions
) -> tuple[Any, tuple[str, ...]]:
    """The feature matrix and its names; numeric columns stay, nominal ones become numbers."""
    parts, names = [], []
    for run, is_plain in _runs(columns, features):
        block = columns.cells[:, run]
        if is_plain:
            parts.append(block)
            names += [columns.headers[j].name for j in run]
        else:
            block, block_names = _expand(columns, int(run[0]), block, options)
            parts.append(block)
            names += block_names
        options.limits.check("max_columns", len(names), "features", columns.path)
    X = _join(parts, columns, options.limits)
    if sparse.issparse(X):
        X.eliminate_zeros()
    return _fill_missing(X, options.missing), tuple(names)


def _runs(columns: Columns, features: Any) -> Iterator[tuple[Any, bool]]:
    """Neighbouring numeric features together, each nominal feature by itself."""
    plain = np.array([columns.headers[j].is_plain for j in features], dtype=bool)
    if plain.all():
        yield features, True
        return
    breaks = np.flatnonzero(~plain[1:] | ~plain[:-1]) + 1
    for run in np.split(features, breaks):
        yield run, columns.headers[run[0]].is_plain


def _expand(columns: Columns, j: int, block: Any, options: ReadOptions) -> tuple[Any, list[str]]:
    """One nominal column as numbers: 0/1, codes, or a column for each value."""
    header = columns.headers[j]
    values = header.values or ()
    codes = np.asarray(block.toarray() if sparse.issparse(block) else block).ravel()
    known = ~np.isnan(codes)
    if set(values) <= set(_BINARY):
        numbers = np.full(len(codes), np.nan)
        numbers[known] = np.array(values, dtype=float)[codes[known].astype(np.intp)]
        return numbers[:, None], [header.name]
    if options.nominal == "codes":
        return block, [header.name]
    _refuse_row_id(header, codes[known], columns.path)
    n_values = len(codes) + int(np.count_nonzero(~known)) * len(values)
    options.limits.check("max_values", n_values, "one-hot values", columns.path)
    return _one_hot(codes, known, len(values)), [f"{header.name}={value}" for value in values]


def _one_hot(codes: Any, known: Any, n_values: int) -> Any:
    """A CSR column for each value; a missing code is missing in all of them."""
    widths = np.where(known, 1, n_values)
    indptr = np.concatenate([[0], np.cumsum(widths)])
    data = np.where(np.repeat(known, widths), 1.0, np.nan)
    indices = np.arange(len(data)) - np.repeat(indptr[:-1], widths)
    indices[indptr[:-1][known]] = codes[known]
    return sparse.csr_array((data, indices, indptr), (len(codes), n_values))


def _refuse_row_id(header: ColumnHeader, codes: Any, path: str) -> None:
    """Reject a nominal feature that differs in every row: a model could only memorise it."""
    if len(codes) > _ROW_ID_FROM and len(np.unique(codes)) == len(codes):
        raise DataError(
            f"{header.name!r} has a different value in each of the {len(codes)} rows, so it names "
            f"the rows and is not a feature. drop=[{header.name!r}] leaves it out, "
            "nominal='codes' keeps it as one column",
            path=path,
        )


def _join(parts: list[Any], columns: Columns, limits: Limits) -> Any:
    """The parts side by side, stored like the cells of the file.

    One-hot columns of a dense file are dense, too, unless they are large and nearly empty:
    otherwise a small file with many nominal values would take all memory.
    """
    n_values = columns.cells.shape[0] * sum(part.shape[1] for part in parts)
    n_stored = sum(part.size for part in parts)
    nearly_empty = n_values > _LARGE and n_values > _NEARLY_EMPTY * n_stored
    if not sparse.issparse(columns.cells) and not nearly_empty:
        limits.check("max_values", n_values, "values with one-hot columns", columns.path)
        dense = [part.toarray() if sparse.issparse(part) else part for part in parts]
        return dense[0] if len(dense) == 1 else np.hstack(dense)
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
        places = X.indices
        count = X.shape[0] - np.bincount(places[unknown], minlength=X.shape[1])
        total = np.bincount(places, np.where(unknown, 0.0, data), minlength=X.shape[1])
        data[unknown] = (total / np.maximum(count, 1))[places[unknown]]
    else:
        count = X.shape[0] - unknown.sum(axis=0)
        total = np.where(unknown, 0.0, X).sum(axis=0)
        X[unknown] = np.broadcast_to(total / np.maximum(count, 1), X.shape)[unknown]
    if sparse.issparse(X):
        X.eliminate_zeros()
    return X


# Which columns are the labels: what the caller says, or the file itself; never a guess.

# A word by itself: -C 5 or -C -5, which MEKA writes into the name of the relation.
_MEKA = re.compile(r"(?:^|[\s:])-[Cc]\s+(-?\d{1,9})(?!\d)")

_HOW_TO = "Name them: labels=['a', 'b'], labels='tag_*' for a prefix, or labels=6 for the last six"


def arff_labels(names: list[str], relation: str, source: Source, options: ReadOptions) -> list[int]:
    """The label columns of an ARFF file.

    What the caller says, else the XML file beside it, else ``-C`` in the relation. The XML comes
    before ``-C``, because filters that move the labels leave an old ``-C`` in place.
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


def names_labels(relation: str, n_columns: int, source: Source, options: ReadOptions) -> bool:
    """Whether an ARFF file, or an XML file beside it, says which attributes are labels."""
    if _find_xml(source, options) is not None:
        return True
    return meka_labels(relation, n_columns, source.path) is not None


def given_labels(names: list[str], labels: LabelChoice, location: str, path: str) -> list[int]:
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
    return _find_columns(names, wanted, path, _HOW_TO)


def meka_labels(relation: str, n_columns: int, path: str) -> list[int] | None:
    """The label columns by ``-C n``: the first n, or the last for -n; None without -C."""
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
    """The label names of a Mulan XML file; entities and external references are rejected."""
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


def _find_xml(source: Source, options: ReadOptions) -> tuple[bytes, str] | None:
    """The XML the caller names, else one beside the data that is named like the data set."""
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
    """The columns the XML names, in the order of the header (that of enron's XML differs)."""
    known = set(names)
    # Some XML files (birds) repeat the quotes and escapes of the header.
    matched = [label if label in known else unquote(label.strip()) for label in labels]
    advice = "Is it the XML of another set? Pass xml=..., or labels=..."
    return sorted(_find_columns(names, matched, path, advice))


def _find_columns(names: list[str], wanted: Sequence[str], path: str, advice: str) -> list[int]:
    """The columns with the ``wanted`` names, in that order."""
    place = {name: j for j, name in enumerate(names)}
    unknown = [name for name in wanted if name not in place]
    if unknown or not wanted:
        problem = f"no column is named {shorten(unknown)}" if unknown else "no label is named"
        hint = did_you_mean(unknown[0], names[:_MOST_COMPARED]) if unknown else ""
        raise DataError(f"{problem}; there are {shorten(names)}.{hint} {advice}", path=path)
    if (twice := repeated(wanted)) is not None:
        raise DataError(f"the label {twice!r} is named twice", path=path)
    return [place[name] for name in wanted]
