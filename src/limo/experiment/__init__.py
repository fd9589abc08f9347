"""Experiments: plan, run, keep the rows, and what they say about the methods compared."""

from limo.experiment.data import Data, Splits
from limo.experiment.driving import run
from limo.experiment.errors import Interrupted, PlanError, StoreError
from limo.experiment.executor import Executor
from limo.experiment.job import Outcome
from limo.experiment.method import Cut, Method
from limo.experiment.methods import METHODS
from limo.experiment.plan import Plan
from limo.experiment.procedure import Procedure
from limo.experiment.progress import Progress
from limo.experiment.statistics import Comparison, compare
from limo.experiment.store import COLUMNS, Store, read_rows
from limo.experiment.summary import summarise
from limo.experiment.training import estimator_for

__all__ = [
    "COLUMNS",
    "METHODS",
    "Comparison",
    "Cut",
    "Data",
    "Executor",
    "Interrupted",
    "Method",
    "Outcome",
    "Plan",
    "PlanError",
    "Procedure",
    "Progress",
    "Splits",
    "Store",
    "StoreError",
    "compare",
    "estimator_for",
    "read_rows",
    "run",
    "summarise",
]
