"""Data in: readers, writers, a catalogue, splits, descriptions and generators."""

from limo.datasets.dataset import Dataset
from limo.datasets.errors import DataError, Limits
from limo.datasets.reading import read
from limo.datasets.synthetic import figure1
from limo.datasets.writing import write

__all__ = ["DataError", "Dataset", "Limits", "figure1", "read", "write"]
