"""Data in: readers, writers, a catalogue, splits, descriptions and generators."""

from limo.datasets.dataset import Dataset
from limo.datasets.description import Description, describe
from limo.datasets.errors import DataError, Limits
from limo.datasets.fetch import data_folders, is_at_hand, load
from limo.datasets.instances import order_features, read_instances
from limo.datasets.known import CATALOGUE, Catalogue, Entry, catalogue
from limo.datasets.matrices import Matrix, read_matrix
from limo.datasets.pictures import plot_regions, plot_triangles
from limo.datasets.predictions import check_suffix, write_predictions
from limo.datasets.reading import read
from limo.datasets.splitting import (
    GivenSplit,
    StoredSplits,
    StratifiedFolds,
    StratifiedSplits,
    load_split,
    split,
    stored_splits,
)
from limo.datasets.synthetic import figure1, make_multilabel
from limo.datasets.writing import files_written, write

__all__ = [
    "CATALOGUE",
    "Catalogue",
    "DataError",
    "Dataset",
    "Description",
    "Entry",
    "GivenSplit",
    "Limits",
    "Matrix",
    "StoredSplits",
    "StratifiedFolds",
    "StratifiedSplits",
    "catalogue",
    "check_suffix",
    "data_folders",
    "describe",
    "figure1",
    "files_written",
    "is_at_hand",
    "load",
    "load_split",
    "make_multilabel",
    "order_features",
    "plot_regions",
    "plot_triangles",
    "read",
    "read_instances",
    "read_matrix",
    "split",
    "stored_splits",
    "write",
    "write_predictions",
]
