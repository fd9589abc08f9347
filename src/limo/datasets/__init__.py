"""Data in: readers, writers, a catalogue, splits, descriptions and generators."""

from limo.datasets.catalogue import CATALOGUE, Catalogue, Entry, catalogue
from limo.datasets.dataset import Dataset
from limo.datasets.errors import DataError, Limits
from limo.datasets.fetch import data_folders, load
from limo.datasets.reading import read
from limo.datasets.synthetic import figure1
from limo.datasets.writing import write

__all__ = [
    "CATALOGUE",
    "Catalogue",
    "DataError",
    "Dataset",
    "Entry",
    "Limits",
    "catalogue",
    "data_folders",
    "figure1",
    "load",
    "read",
    "write",
]
