"""Learners, as scikit-learn estimators, and the files they are kept in."""

from limo._solvers.problem import Iterates, Progress, Solution
from limo.models._base import SCALINGS, MultiLabelClassifier, UnitRows
from limo.models._binary_relevance import BinaryRelevance
from limo.models._files import ModelFileError, SavedModel, load_model, save_model
from limo.models._limo import LIMOClassifier
from limo.models._limo_cv import LIMOClassifierCV
from limo.models._limo_sgd import LIMOClassifierSGD, paper_limo
from limo.models._neighbours import GFMClassifier, MLKNNClassifier

__all__ = [
    "SCALINGS",
    "BinaryRelevance",
    "GFMClassifier",
    "Iterates",
    "LIMOClassifier",
    "LIMOClassifierCV",
    "LIMOClassifierSGD",
    "MLKNNClassifier",
    "ModelFileError",
    "MultiLabelClassifier",
    "Progress",
    "SavedModel",
    "Solution",
    "UnitRows",
    "load_model",
    "paper_limo",
    "save_model",
]
