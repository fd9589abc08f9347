"""Data in several pieces, which are read when they are needed and never held together."""

import os
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from limo._system import as_path
from limo._types import check_kind
from limo.datasets._dataset import Dataset, with_gaps
from limo.datasets._matrices import (
    LabelMatrix,
    MatrixKind,
    is_npy,
    map_array,
    matrix_of,
    read_matrix,
)
from limo.datasets._options import DataError, ReadOptions
from limo.datasets._parquet import group_columns, group_shapes
from limo.datasets._read import read, without_index


@dataclass(frozen=True, eq=False)
class File:
    """A file with features and labels, as :func:`limo.read` reads it."""

    path: Path
    options: dict[str, Any]

    def open(self) -> tuple[Any, Any]:
        """Features and labels."""
        data: Dataset = read(self.path, **self.options)
        return data.X, data.Y

    def split(self, step: int) -> "list[Piece]":
        """Itself: a file is read as a whole."""
        return [self]


@dataclass(frozen=True, eq=False)
class Slices:
    """Rows of two arrays, which may lie in files."""

    X: Any
    Y: Any
    start: int
    stop: int

    def open(self) -> tuple[Any, Any]:
        """Features and labels."""
        own = slice(self.start, self.stop)
        return self.X[own], self.Y[own]

    def split(self, step: int) -> "list[Piece]":
        """Pieces of at most so many rows."""
        starts = range(self.start, self.stop, step)
        return [Slices(self.X, self.Y, k, min(k + step, self.stop)) for k in starts]


Piece = File | Slices


@dataclass(frozen=True, eq=False)
class Shards:
    """Features and labels that are larger than memory, in pieces.

    :class:`limo.LIMOClassifier` and :class:`limo.MarginClassifier` are fitted to them piece by
    piece: ``model.fit(shards)``. Iterating gives the features and labels of one piece after the
    other.

    Parameters
    ----------
    files : path, pattern or sequence of paths
        A folder, a pattern such as ``"songs/*.parquet"``, or files, each with features and labels,
        which :func:`limo.read` reads whole. They come in the order of their names.
    **options
        Of :func:`limo.read`, such as ``labels=6``. LIBSVM files need ``n_features``, since a file
        need not have the last feature.

    Examples
    --------
    >>> import tempfile, limo
    >>> data = limo.datasets.figure1(90)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for k in range(3):
    ...         _ = limo.write(data.take(range(30 * k, 30 * k + 30)), f"{folder}/part-{k}.npz")
    ...     shards = limo.datasets.Shards(folder)
    ...     model = limo.LIMOClassifier(threshold_measure=None).fit(shards)
    >>> model.solution_.converged
    True
    """

    __module__ = "limo.datasets"  # the public name

    pieces: tuple[Piece, ...]

    def __init__(self, files: Any, **options: Any) -> None:
        pieces = tuple(File(path, options) for path in _paths(files))
        object.__setattr__(self, "pieces", pieces)

    @classmethod
    def of(cls, X: Any, Y: Any) -> "Shards":
        """Shards of arrays, such as memory-mapped ones, or of .npy files.

        Parameters
        ----------
        X, Y : array, CSR array, path, pattern, or sequence of paths
            Features and labels of the same instances. Files are opened by ``numpy.load`` with
            ``mmap_mode="r"``; those of X and of Y belong together in the order of their names.

        Returns
        -------
        Shards
        """
        features, labels = _arrays(X, "X"), _arrays(Y, "Y")
        if len(features) != len(labels):
            raise ValueError(
                f"Y must have a piece for each of X: got {len(labels)} and {len(features)}."
            )
        pieces = []
        for k, (x, y) in enumerate(zip(features, labels, strict=True)):
            if x.shape[0] != y.shape[0]:
                raise ValueError(
                    f"Y must have a row for each row of X: piece {k} has {x.shape[0]} rows of X "
                    f"and {y.shape[0]} of Y."
                )
            pieces.append(Slices(x, y, 0, x.shape[0]))
        shards = cls.__new__(cls)
        object.__setattr__(shards, "pieces", tuple(pieces))
        return shards

    def __len__(self) -> int:
        return len(self.pieces)

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        return (piece.open() for piece in self.pieces)

    def split(self, step: int) -> list[Piece]:
        """Pieces of at most so many rows; files stay whole."""
        return [part for piece in self.pieces for part in piece.split(step)]


def _paths(files: Any) -> list[Path]:
    """The files of a folder, a pattern or a list."""
    if isinstance(files, str | os.PathLike):
        given = as_path(files, "files")
        if given.is_file():
            return [given]
        if given.is_dir():  # such names mark files that are not data
            paths = sorted(one for one in given.iterdir() if not one.name.startswith((".", "_")))
        else:
            anchor = Path(given.anchor)
            paths = sorted(anchor.glob(str(given.relative_to(anchor))))
    else:
        check_kind(files, Iterable, "files must be a path, a pattern or a list of paths")
        paths = [as_path(one, "files") for one in files]
    if not paths:
        empty = isinstance(files, str | os.PathLike) and Path(files).is_dir()
        problem = "there are no files in the folder" if empty else "no file matches"
        raise DataError(f"{problem} {files!s}")
    return paths


def _arrays(given: Any, name: str) -> Sequence[Any]:
    if hasattr(given, "shape"):
        return [given]
    arrays = [np.load(path, mmap_mode="r", allow_pickle=False) for path in _paths(given)]
    for array in arrays:
        if array.ndim != 2:
            raise ValueError(f"Every array of {name} must have two dimensions, got {array.shape}.")
    return arrays


# Labels and scores in several files


@dataclass(frozen=True, eq=False)
class NpyFile:
    """A .npy file, of which rows are read when they are sliced; it is never mapped as a whole."""

    path: Path
    shape: tuple[int, int]
    dtype: Any
    offset: int
    by_rows: bool

    @classmethod
    def of(cls, path: Path) -> "NpyFile":
        """From the header of the file."""
        array = map_array(path)
        by_rows = bool(array.flags.c_contiguous)
        return cls(path, array.shape, array.dtype, array.offset, by_rows)

    def __getitem__(self, rows: slice) -> Any:
        start, stop, _ = rows.indices(self.shape[0])
        if not self.by_rows:
            return np.array(map_array(self.path)[start:stop])
        width = self.shape[1]
        size, skipped = (stop - start) * width, start * width * self.dtype.itemsize
        numbers = np.fromfile(self.path, self.dtype, size, offset=self.offset + skipped)
        if numbers.size != size:
            raise DataError("the file ends before its last row", path=str(self.path))
        return numbers.reshape(-1, width)


_FLOAT = np.dtype(np.float64)


@dataclass(frozen=True, eq=False)
class MatrixPiece:
    """Rows of labels or scores that are opened together: a file, or a row group of one.

    ``shape`` has the rows and columns of the file; None if it must be read to know them. ``size``
    is how many bytes it takes at most while it is opened.
    """

    path: Path
    open: Callable[[], LabelMatrix]
    shape: tuple[int, int] | None
    size: int
    dtype: Any = _FLOAT


class MatrixFiles:
    """Labels or scores in several files, read some rows at a time.

    Parameters
    ----------
    files : path, pattern or sequence of paths
        As for :class:`Shards`. Parquet files are opened by row groups, .npy files by rows, and
        others whole.
    kind : {"truth", "scores", "predictions"}
        What to read.
    **options
        Of :func:`read_matrix`.
    """

    def __init__(self, files: Any, kind: MatrixKind, **options: Any) -> None:
        self.paths = _paths(files)
        self.kind: MatrixKind = kind
        self.missing_labels = options.get("missing_labels")
        self.pieces = [piece for path in self.paths for piece in _pieces(path, kind, options)]

    @property
    def n_rows(self) -> int | None:
        """How many rows there are; None if some piece must be opened to know it."""
        sizes = [None if piece.shape is None else piece.shape[0] for piece in self.pieces]
        return None if None in sizes else sum(sizes)  # type: ignore[arg-type]

    def rows(self) -> "MatrixRows":
        """All rows, from the first on."""
        return MatrixRows(self)


class MatrixRows:
    """The rows of :class:`MatrixFiles`, taken one block after the other.

    Attributes
    ----------
    label_names : sequence of str or None
        The order of the columns, by default that of the first piece.
    width : int
        How many columns there are; 0 if there is no row.
    """

    def __init__(self, files: MatrixFiles) -> None:
        self._files, self._pieces = files, iter(files.pieces)
        self.label_names: Sequence[str] | None = None
        self.width = 0
        self._opened: LabelMatrix | None = None
        self._place = 0
        self._available()

    def order_as(self, names: Sequence[str] | None) -> None:
        """Put the columns of this and all later pieces into the order of ``names``."""
        self.label_names = names or self.label_names
        if self._opened is not None:
            self._opened = self._opened.ordered_as(self.label_names)

    @property
    def is_sparse(self) -> bool:
        """Whether the rows that come next are sparse."""
        return bool(self._available()) and sparse.issparse(self._opened.values)  # type: ignore[union-attr]

    @property
    def stored_per_row(self) -> float:
        """How many numbers a row of those that come next has."""
        if not self.is_sparse:
            return self.width
        assert self._opened is not None
        values = self._opened.values
        return 1.0 + float(values.nnz) / float(values.shape[0])

    def take(self, number: int) -> Any:
        """The next rows, so many or all that are left."""
        parts: list[Any] = []
        while number and (some := min(number, self._available())):
            assert self._opened is not None
            rows = self._opened.values[self._place : self._place + some]
            truth = self._files.kind == "truth"
            parts.append(with_gaps(rows, self._files.missing_labels) if truth else rows)
            self._place, number = self._place + some, number - some
        if len(parts) < 2:
            return parts[0] if parts else np.empty((0, self.width))
        if not any(map(sparse.issparse, parts)):
            return np.concatenate(parts)
        return sparse.vstack(parts, format="csr")

    def _available(self) -> int:
        """How many rows of the current piece are left; 0 at the end of all."""
        while self._opened is None or self._place == self._opened.values.shape[0]:
            self._opened, self._place = None, 0
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._opened = piece.open()
            self._check_width(piece)
            self.order_as(self.label_names or self._opened.label_names)
        left: int = self._opened.values.shape[0] - self._place
        return left

    def _check_width(self, piece: MatrixPiece) -> None:
        assert self._opened is not None
        width = self._opened.values.shape[1]
        self.width = self.width or width
        if width != self.width:
            raise DataError(
                f"every file must have the same labels: those before have {self.width} columns, "
                f"this one has {width}",
                path=str(piece.path),
            )


def _pieces(path: Path, kind: MatrixKind, options: dict[str, Any]) -> list[MatrixPiece]:
    """The pieces of a file."""
    if is_npy(path):
        _refuse_names(path, options)
        file = NpyFile.of(path)
        matrix = LabelMatrix(file, None, str(path), "")
        return [MatrixPiece(path, lambda: matrix, file.shape, 0, file.dtype)]
    if path.suffix == ".parquet" and options.get("id") is None:
        reading = ReadOptions(
            missing="nan",
            **{name: one for name, one in options.items() if name in _OF_COLUMNS},
        )
        pieces, blank = [], LabelMatrix(None, None, str(path), "")
        for number, shape in enumerate(group_shapes(str(path))):

            def read_group(number: int = number) -> LabelMatrix:
                columns = without_index(group_columns(str(path), number, reading))
                return matrix_of(columns, kind, reading, blank)

            pieces.append(MatrixPiece(path, read_group, shape, 24 * shape[0] * shape[1]))
        return pieces
    return [MatrixPiece(path, lambda: read_matrix(path, kind, **options), None, _size_read(path))]


# Bytes in memory per byte of text while it is read: a cell such as "0," becomes a float.
_PER_CHARACTER = 12


def _size_read(path: Path) -> int:
    """How many bytes a file takes at most while it is read whole."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as parts:
            return 3 * sum(part.file_size for part in parts.infolist())
    size = path.stat().st_size
    with path.open("rb") as file:
        if size > 4 and file.read(2) == b"\x1f\x8b":  # gzip ends with the size of its content
            file.seek(-4, os.SEEK_END)
            size = max(size, int.from_bytes(file.read(4), "little"))
    return _PER_CHARACTER * size


_OF_COLUMNS = ("labels", "drop", "header", "missing_labels")


def _refuse_names(path: Path, options: dict[str, Any]) -> None:
    if options.get("labels") is not None or options.get("drop"):
        raise DataError("the columns of a .npy file have no names to choose by", path=str(path))
