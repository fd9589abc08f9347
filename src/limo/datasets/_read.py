"""``limo.read``: the formats, how the format of a file is detected, and the reader of each."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from limo.datasets._arff import arff_columns, read_arff
from limo.datasets._columns import Columns, kept_columns
from limo.datasets._csv import csv_columns, read_csv, read_tsv, tsv_columns
from limo.datasets._dataset import Dataset
from limo.datasets._libsvm import NAMES_SUFFIX, XMC_HEADER, read_libsvm, read_xmc
from limo.datasets._npz import read_npz
from limo.datasets._options import DataError, LabelChoice, Limits, ReadOptions
from limo.datasets._parquet import parquet_columns, read_parquet
from limo.datasets._source import Source, bare_name, normalise, open_source, set_names


@dataclass(frozen=True)
class Format:
    """A format: its file suffixes, its reader, and the options that reader uses.

    ``columns`` reads all columns of a format that has named ones, labels and features alike.
    """

    suffixes: tuple[str, ...]
    reader: Callable[[Source, ReadOptions], Dataset]
    options: frozenset[str]
    columns: Callable[[Source, ReadOptions], Columns] | None = None


_MISSING = frozenset({"missing", "missing_labels"})
_TEXTS = frozenset({"id", "tags", "separator"})
_COLUMNS = _MISSING | {"labels", "label_location", "nominal", "drop", "encoding"}

FORMATS: dict[str, Format] = {
    "arff": Format((".arff",), read_arff, _COLUMNS | {"xml"}, arff_columns),
    "csv": Format((".csv",), read_csv, _COLUMNS | _TEXTS | {"header"}, csv_columns),
    "tsv": Format((".tsv", ".tab"), read_tsv, _COLUMNS | _TEXTS | {"header"}, tsv_columns),
    "parquet": Format(
        (".parquet", ".pq"), read_parquet, (_COLUMNS | _TEXTS) - {"encoding"}, parquet_columns
    ),
    "npz": Format((".npz",), read_npz, _MISSING),
    "libsvm": Format(
        (".libsvm", ".svm", ".svmlight"),
        read_libsvm,
        frozenset({"labels", "n_features", "zero_based"}),
    ),
    "xmc": Format((".xmc",), read_xmc, frozenset({"labels"})),
}


def read(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    labels: LabelChoice = None,
    label_location: str = "end",
    xml: str | os.PathLike[str] | None = None,
    missing: str = "error",
    missing_labels: float | None = None,
    nominal: str = "one-hot",
    drop: Sequence[str] = (),
    n_features: int | None = None,
    zero_based: bool | None = None,
    encoding: str | None = None,
    header: bool | None = True,
    member: str | None = None,
    tags: str | None = None,
    separator: str | None = None,
    limits: Limits | None = None,
) -> Dataset:
    r"""Read a multi-label data set from a file of any known format.

    ARFF in Mulan's form (an XML file beside it names the labels) or MEKA's (``-C n`` in the
    relation), CSV, TSV, Parquet, NPZ, LIBSVM and the extreme-classification text format;
    plain or compressed as .gz, .bz2, .xz or .zip. The format is detected from the file name or
    content. A malformed file raises :class:`limo.datasets.DataError` with the line; limo never
    returns part of the data.

    Parameters
    ----------
    path : path
        The file.
    format : str, optional
        One of "arff", "csv", "tsv", "parquet", "npz", "libsvm", "xmc"; detected by default.
    labels : list of str, str or int, optional
        Which columns are labels: their names, a prefix with a star ("tag_*"), or how many. An ARFF
        file usually says so itself. For LIBSVM: the label numbers, or how many labels there are.
    label_location : {"end", "start"}, default="end"
        Where the label columns are if ``labels`` is a count.
    xml : path, optional
        The XML file that names the labels of an ARFF file, if it is not beside it.
    missing : {"error", "nan", "mean", "zero"}, default="error"
        What to do with a missing feature: reject the file, keep nan, or fill in the mean of the
        column or 0.
    missing_labels : float, optional
        The number that stands for a missing label, nan or -1. Such labels and empty cells (``?`` in
        ARFF) are then nan in ``Y``. By default a file with a missing label is rejected.
    nominal : {"one-hot", "codes"}, default="one-hot"
        How a nominal feature becomes numbers: a column for each value, or one column of
        indices into its values. A feature with the values {0, 1} is read as a number.
    drop : list of str, optional
        Columns to leave out, such as row names and text.
    n_features : int, optional
        The number of features for LIBSVM, whose files do not state it.
    zero_based : bool, optional
        Whether LIBSVM features are numbered from 0. By default they are if a 0 occurs.
    encoding : str, optional
        The encoding of the text; by default UTF-8, or Latin-1 if it is not valid UTF-8.
    header : bool or None, default=True
        Whether the first line of a CSV or TSV file names the columns; None decides by its
        content. Without names, columns are called "0", "1", ...
    member : str, optional
        The file to read from a zip that holds several.
    tags : str, optional
        Instead of ``labels``: a column of a CSV, TSV or Parquet file with the labels of each row,
        such as ``rock;jazz``. Labels are in alphabetical order.
    separator : str, optional
        What is between two labels in that column; by default a semicolon.
    limits : Limits, optional
        How large the file may be before reading stops.

    Returns
    -------
    Dataset
        Sparse files give CSR arrays, dense files NumPy arrays.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> import limo
    >>> file = Path(mkdtemp()) / "toy.arff"
    >>> _ = file.write_text('''@relation 'toy: -C 2'
    ... @attribute funny {0, 1}
    ... @attribute sad {0, 1}
    ... @attribute length numeric
    ... @data
    ... 1, 0, 2.5
    ... {2 4}''')
    >>> data = limo.read(file)
    >>> data.label_names, data.feature_names
    (('funny', 'sad'), ('length',))
    >>> data.X.toarray()
    array([[2.5],
           [4. ]])

    The error for a malformed file names the line:

    >>> _ = file.write_text("@attribute a {0, 1}\n@attribute b numeric\n@data\n1\n")
    >>> limo.read(file, labels=["a"])
    Traceback (most recent call last):
    ...
    limo.datasets.DataError: ...line 4: expected 2 values, one for each attribute, got 1
    """
    options = ReadOptions(
        labels=labels,
        label_location=label_location,
        xml=xml,
        missing=missing,
        missing_labels=missing_labels,
        nominal=nominal,
        drop=drop,
        n_features=n_features,
        zero_based=zero_based,
        encoding=encoding,
        header=header,
        member=member,
        tags=tags,
        separator=separator,
        limits=Limits.of(limits),
    )
    return read_source(open_source(path, member, options.limits), format, options)


def read_source(source: Source, format: str | None, options: ReadOptions) -> Dataset:
    """Read an opened file, in the format named or recognised."""
    name = recognise(source) if format is None else check_format(format)
    options.refuse_unused(FORMATS[name].options, name)
    return FORMATS[name].reader(source, options)


def check_format(format: Any, also: str = "") -> str:
    """The name of a format; raise if there is none of that name."""
    if not isinstance(format, str) or format not in FORMATS:
        known = ", ".join(FORMATS) + also
        raise DataError(f"format must be one of {known}; got {format!r}")
    return format


def read_columns(source: Source, format: str, options: ReadOptions) -> Columns:
    """Read all columns of a file but those to drop and a first one without a name."""
    reader = FORMATS[format].columns
    if reader is None:
        raise DataError(f"a file in the {format} format has no columns", path=source.path)
    columns = without_index(reader(source, options))
    return columns if format == "arff" else kept_columns(columns, options)


def without_index(columns: Columns) -> Columns:
    """Leave out a first column without a name, which is how data frames write their index."""
    if columns.headers and columns.headers[0].name == "":
        return replace(columns, headers=columns.headers[1:], cells=columns.cells[:, 1:])
    return columns


def recognise(source: Source) -> str:
    """The format of a file: by its suffix, or else by how it begins."""
    suffix = source.name.lower()
    for name, known in FORMATS.items():
        if suffix.endswith(known.suffixes):
            return "xmc" if name == "libsvm" and _has_xmc_header(source) else name
    return _recognise_content(source)


def _has_xmc_header(source: Source) -> bool:
    start = normalise(source.data[:100], source.path)
    return XMC_HEADER.match(start) is not None and b":" not in start.partition(b"\n")[0]


def _recognise_content(source: Source) -> str:
    if source.data.startswith(b"PAR1"):
        return "parquet"
    if source.data.startswith(b"PK\x03\x04"):
        return "npz"
    if _has_xmc_header(source):
        return "xmc"
    lines = [line.strip() for line in source.data[:4096].splitlines()]
    words = [line for line in lines if line and not line.startswith((b"%", b"#"))]
    first: bytes = words[0] if words else b""
    if first.lower().startswith((b"@relation", b"@attribute")):
        return "arff"
    if first.rpartition(b" ")[2].partition(b":")[1]:
        return "libsvm"
    raise DataError(
        f"the format is not recognised by name or content. Pass format= one of "
        f"{', '.join(FORMATS)}",
        path=source.path,
    )


def companions(path: str | os.PathLike[str], xml: str | os.PathLike[str] | None) -> list[Path]:
    """The files that :func:`read` may read besides ``path``: names of labels and features.

    Those beside a member of a zip are members of it, too.
    """
    file, bare = Path(path), bare_name(Path(path))
    beside = [file.parent / f"{name}.xml" for name in set_names(Path(bare).stem)]
    first_xml = [one for one in ([Path(xml)] if xml else beside) if one.is_file()][:1]
    return first_xml + [one for one in [file.parent / (bare + NAMES_SUFFIX)] if one.is_file()]
