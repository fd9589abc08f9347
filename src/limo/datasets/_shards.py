"""Data in several pieces, which are read when they are needed and never held together."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from limo._system import as_path
from limo.datasets._dataset import DataError, Dataset
from limo.datasets._read import read


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
        found = []
        for k, (x, y) in enumerate(zip(features, labels, strict=True)):
            if x.shape[0] != y.shape[0]:
                raise ValueError(
                    f"Y must have a row for each row of X: piece {k} has {x.shape[0]} rows of X "
                    f"and {y.shape[0]} of Y."
                )
            found.append(Slices(x, y, 0, x.shape[0]))
        shards = cls.__new__(cls)
        object.__setattr__(shards, "pieces", tuple(found))
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
        if given.is_dir():
            found = sorted(one for one in given.iterdir() if not one.name.startswith("."))
        else:
            anchor = Path(given.anchor)
            found = sorted(anchor.glob(str(given.relative_to(anchor))))
    else:
        found = [as_path(one, "files") for one in files]
    if not found:
        raise DataError(f"no file matches {files!s}")
    return found


def _arrays(given: Any, name: str) -> Sequence[Any]:
    if hasattr(given, "shape"):
        return [given]
    found = [np.load(path, mmap_mode="r", allow_pickle=False) for path in _paths(given)]
    for array in found:
        if array.ndim != 2:
            raise ValueError(f"Every array of {name} must have two dimensions, got {array.shape}.")
    return found
