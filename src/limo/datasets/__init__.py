"""Data in: records and generators."""

from limo.datasets.dataset import Dataset
from limo.datasets.synthetic import figure1

__all__ = ["Dataset", "figure1"]
