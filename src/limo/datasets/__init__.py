"""Data sets: read, write, load by name, describe, split and generate them."""

from limo.datasets._catalogue import (
    CATALOGUE,
    Catalogue,
    Entry,
    catalogue,
    data_folders,
    is_at_hand,
    load,
)
from limo.datasets._dataset import Dataset
from limo.datasets._describe import Description, describe, plot_regions, plot_triangles
from limo.datasets._instances import order_features, read_groups, read_ids, read_instances
from limo.datasets._matrices import LabelMatrix, read_matrix, read_weights
from limo.datasets._options import DataError, Limits
from limo.datasets._read import read
from limo.datasets._shards import Shards
from limo.datasets._split import (
    GivenSplit,
    StoredSplits,
    StratifiedFolds,
    StratifiedSplits,
    load_split,
    split,
    stored_splits,
)
from limo.datasets._synthetic import figure1, make_multilabel
from limo.datasets._write import check_suffix, files_written, write, write_predictions

__all__ = [
    "CATALOGUE",
    "Catalogue",
    "DataError",
    "Dataset",
    "Description",
    "Entry",
    "GivenSplit",
    "LabelMatrix",
    "Limits",
    "Shards",
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
    "read_groups",
    "read_ids",
    "read_instances",
    "read_matrix",
    "read_weights",
    "split",
    "stored_splits",
    "write",
    "write_predictions",
]
