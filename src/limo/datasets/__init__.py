"""Data in: readers, writers, a catalogue, splits, descriptions and generators."""

from limo.datasets.dataset import Dataset
from limo.datasets.description import Description, describe
from limo.datasets.errors import DataError, Limits
from limo.datasets.fetch import data_folders, load
from limo.datasets.known import CATALOGUE, Catalogue, Entry, catalogue
from limo.datasets.pictures import plot_regions, plot_triangles
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
from limo.datasets.writing import write

__all__ = [
    "CATALOGUE",
    "Catalogue",
    "DataError",
    "Dataset",
    "Description",
    "Entry",
    "GivenSplit",
    "Limits",
    "StoredSplits",
    "StratifiedFolds",
    "StratifiedSplits",
    "catalogue",
    "data_folders",
    "describe",
    "figure1",
    "load",
    "load_split",
    "make_multilabel",
    "plot_regions",
    "plot_triangles",
    "read",
    "split",
    "stored_splits",
    "write",
]
