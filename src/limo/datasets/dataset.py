"""One record for a multi-label data set: features, labels and their names."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

__all__ = ["Dataset"]


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Features ``X`` and labels ``Y`` of the same instances, with their names.

    Attributes
    ----------
    X : array or CSR array of shape (n_samples, n_features)
        The features.
    Y : array or CSR array of shape (n_samples, n_labels)
        The labels, 0 or 1.
    feature_names, label_names : tuple of str
        A name for each column of ``X`` and of ``Y``.
    source : str
        Where the data come from.
    checksum : str
        The sha256 of the (unpacked) file they were read from, empty if there is none.

    Examples
    --------
    >>> import limo
    >>> data = limo.datasets.figure1(100)
    >>> data
    Dataset(100 instances, 2 features, 4 labels, from figure1)
    >>> data.take([0, 2, 4]).Y.shape
    (3, 4)
    """

    X: Any
    Y: Any
    feature_names: tuple[str, ...]
    label_names: tuple[str, ...]
    source: str = ""
    checksum: str = ""

    def __post_init__(self) -> None:
        expected = (self.X.shape[0], len(self.label_names))
        if self.Y.shape != expected:
            raise ValueError(
                f"Y must have a row for each row of X and a column for each label name: "
                f"expected {expected}, got {self.Y.shape}"
            )
        if self.X.shape[1] != len(self.feature_names):
            raise ValueError(
                f"feature_names must name the columns of X: "
                f"expected {self.X.shape[1]} names, got {len(self.feature_names)}"
            )

    def __repr__(self) -> str:
        counts = (*self.X.shape, len(self.label_names))
        nouns = ("instance", "feature", "label")
        parts = [f"{n} {noun}{'s' * (n != 1)}" for n, noun in zip(counts, nouns, strict=True)]
        return f"Dataset({', '.join(parts + [f'from {self.source}'] * bool(self.source))})"

    def take(self, rows: Any) -> "Dataset":
        """The same data with only these ``rows``, in this order (the checksum does not follow)."""
        rows = np.asarray(rows)
        return replace(self, X=self.X[rows], Y=self.Y[rows], checksum="")

    def stack(self, other: "Dataset") -> "Dataset":
        """These instances, then the ``other`` ones; both must have the same columns."""
        for names in ("feature_names", "label_names"):
            if getattr(self, names) != getattr(other, names):
                raise ValueError(
                    f"the {names} of the two data sets differ; read both with the same options"
                )
        X, Y = _stack(self.X, other.X), _stack(self.Y, other.Y)
        return replace(self, X=X, Y=Y, source=f"{self.source} + {other.source}", checksum="")

    def to_dense(self) -> "Dataset":
        """The same data with ``X`` and ``Y`` as NumPy arrays."""
        return replace(self, X=_dense(self.X), Y=_dense(self.Y))

    def to_sparse(self) -> "Dataset":
        """The same data with ``X`` and ``Y`` as CSR arrays."""
        return replace(self, X=sparse.csr_array(self.X), Y=sparse.csr_array(self.Y))


def _stack(A: Any, B: Any) -> Any:
    if sparse.issparse(A) or sparse.issparse(B):
        return sparse.vstack([A, B], format="csr")
    return np.vstack([A, B])


def _dense(A: Any) -> Any:
    return A.toarray() if sparse.issparse(A) else np.asarray(A)
