"""Three views of one matrix: rows, columns, and all entries as a single row.

A measure, a margin or a cut is one function of a row. Seen through ``ROWS`` it speaks of
instances, through ``COLUMNS`` of labels, through ``ENTRIES`` of the matrix as a whole.
"""

from dataclasses import dataclass

import numpy as np

from limo._types import Integers
from limo.pattern import Pattern

__all__ = ["COLUMNS", "ENTRIES", "ROWS", "VIEWS", "View"]


@dataclass(frozen=True)
class View:
    """One way to read the m x l matrices of labels and scores.

    Attributes
    ----------
    name : str
        ``"rows"``, ``"columns"`` or ``"entries"``.
    margin : str
        What the margin of this view is called.
    row, item : str
        What a row of the view is, and what an item of such a row is.
    relevant : str
        What an item marked 1 is called.
    """

    name: str
    margin: str
    row: str
    item: str
    relevant: str

    def ones(self, pattern: Pattern) -> Integers:
        """How many ones each row of this view has."""
        if self.name == "rows":
            return pattern.ones_per_row
        if self.name == "columns":
            return pattern.ones_per_column
        return np.array([pattern.n_ones])

    def n_items(self, pattern: Pattern) -> int:
        """How many items a row of this view has."""
        n_rows, n_columns = pattern.shape
        return {"rows": n_columns, "columns": n_rows}.get(self.name, n_rows * n_columns)

    @property
    def empty_reason(self) -> str:
        """Why a row without ones has no pair."""
        return f"no {self.relevant} {self.item}"

    @property
    def full_reason(self) -> str:
        """Why a row of ones only has no pair."""
        return f"every {self.item} {self.relevant}"


ROWS = View("rows", "label-wise", row="instance", item="label", relevant="relevant")
COLUMNS = View("columns", "instance-wise", row="label", item="instance", relevant="positive")
ENTRIES = View("entries", "entry-wise", row="matrix", item="entry", relevant="relevant")

VIEWS = {view.name: view for view in (ROWS, COLUMNS, ENTRIES)}
