"""One record for a multi-label data set: features, labels and their names."""

from dataclasses import dataclass
from typing import Any

__all__ = ["Dataset"]


@dataclass(frozen=True, eq=False)
class Dataset:
    """Features ``X`` and labels ``Y`` of the same instances, with their names.

    Attributes
    ----------
    X : array or CSR matrix of shape (n_samples, n_features)
        The features.
    Y : array or CSR matrix of shape (n_samples, n_labels)
        The labels, 0 or 1.
    feature_names, label_names : tuple of str
        A name for each column of ``X`` and of ``Y``.
    source : str
        Where the data come from.
    """

    X: Any
    Y: Any
    feature_names: tuple[str, ...]
    label_names: tuple[str, ...]
    source: str = ""
