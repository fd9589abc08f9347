"""Ours beside the printed: differences in standard deviations, and values rescaled as the paper."""

import pandas as pd

from limo.experiment.summary import check_rows
from limo.measures.table import MEASURES

__all__ = ["beside_printed", "experiment_means", "relative"]

CELL = ["measure", "method"]


def experiment_means(rows: pd.DataFrame) -> pd.DataFrame:
    """Mean of each cell over experiments (data sets), and how far experiments lie apart."""
    table = check_rows(rows).dropna(subset=["value"])
    one = table.groupby([*CELL, "dataset"], sort=False)["value"].mean()
    found = one.groupby(level=CELL, sort=False).agg(["mean", "std", "size"]).reset_index()
    return found.set_axis([*CELL, "ours", "our_sd", "experiments"], axis=1)


def relative(values: pd.DataFrame, column: str) -> pd.Series:
    """Rescale every measure so that its best method is 1 and its worst 0; equal ones are all 1."""
    signed = values[column] * values["measure"].map({n: m.sign for n, m in MEASURES.items()})
    grouped = signed.groupby(values["measure"], sort=False)
    low, high = grouped.transform("min"), grouped.transform("max")
    return ((signed - low) / (high - low).where(high > low)).fillna(1.0)


def beside_printed(
    found: pd.DataFrame, printed: pd.DataFrame, spread: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Join ours with the printed, cell by cell in the printed order.

    ``difference`` counts standard deviations between experiments: those of ``spread``, or our own.
    """
    table = printed.rename(columns={"value": "printed", "relative": "printed_relative"})
    table = table.merge(found, on=CELL, validate="1:1")
    if spread is None:
        table["sd"] = table["our_sd"]
    else:
        table = table.merge(spread, on=CELL, validate="1:1")
    table["difference"] = (table["ours"] - table["printed"]) / table["sd"]
    table["relative"] = relative(table, "ours")
    return table
