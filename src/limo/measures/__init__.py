"""The measures: the record of a measure, all measures by name, and how to add your own.

The eleven measures as functions (``limo.macro_f1``, ...) and ``limo.evaluate`` are in ``limo``
itself.
"""

from limo._views import COLUMNS, ENTRIES, ROWS, Counts
from limo.measures._conventions import CONVENTIONS, Conventions
from limo.measures._further import f_beta_measures, ndcg_at, precision_at, recall_at
from limo.measures._measure import Measure, Optimised, Result
from limo.measures._own import make_measure, select
from limo.measures._table import MEASURES, register, unregister
from limo.measures._top_k import label_propensities, top_k_measures

__all__ = [
    "COLUMNS",
    "CONVENTIONS",
    "ENTRIES",
    "MEASURES",
    "ROWS",
    "Conventions",
    "Counts",
    "Measure",
    "Optimised",
    "Result",
    "f_beta_measures",
    "label_propensities",
    "make_measure",
    "ndcg_at",
    "precision_at",
    "recall_at",
    "register",
    "select",
    "top_k_measures",
    "unregister",
]
