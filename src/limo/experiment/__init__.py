"""Experiments: plan a comparison of methods, run it, store the results, and test differences."""

from limo.experiment._data import Data, Splits
from limo.experiment._diagram import diagram_layout, plot_critical_difference
from limo.experiment._identity import PlanError
from limo.experiment._job import Outcome
from limo.experiment._method import METHODS, Method, ThresholdSetting, estimator_for
from limo.experiment._plan import Plan, Procedure
from limo.experiment._runner import Executor, Interrupted, Progress, run
from limo.experiment._significance import (
    critical_difference,
    friedman,
    groups,
    nemenyi,
    rank,
    wilcoxon_holm,
)
from limo.experiment._statistics import (
    Comparison,
    average_ranks,
    compare_methods,
    missing_results,
    summarise,
)
from limo.experiment._store import COLUMNS, Store, StoreError, read_rows

__all__ = [
    "COLUMNS",
    "METHODS",
    "Comparison",
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
    "ThresholdSetting",
    "average_ranks",
    "compare_methods",
    "critical_difference",
    "diagram_layout",
    "estimator_for",
    "friedman",
    "groups",
    "missing_results",
    "nemenyi",
    "plot_critical_difference",
    "rank",
    "read_rows",
    "run",
    "summarise",
    "wilcoxon_holm",
]
