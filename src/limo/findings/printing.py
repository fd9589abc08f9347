"""Printed numbers beside measured ones."""

import math
from typing import Any

import pandas as pd

from limo.measures.table import MEASURES

__all__ = ["beside_printed"]

_NEEDED = ("dataset", "method", "measure", "mean", "std")


def beside_printed(means: pd.DataFrame, printed: Any, methods: list[str]) -> list[dict[str, Any]]:
    """Set printed numbers beside the measured means, a line for each data set and measure.

    ``distance`` is how many printed standard deviations lie between them; None where none
    was printed, or none but zero.
    """
    table = pd.DataFrame(printed)
    absent = [name for name in _NEEDED if name not in table.columns]
    if absent:
        raise ValueError(
            f"printed must have the columns {', '.join(_NEEDED)}; {', '.join(absent)} is not there."
        )
    both = means.merge(table, on=["dataset", "measure", "method"], suffixes=("", "_printed"))
    return [
        {
            "dataset": str(dataset),
            "measure": measure,
            "title": MEASURES[measure].title,
            "cells": [_cell(own, method) for method in methods],
        }
        for dataset, whole in both.groupby("dataset", sort=False)
        for measure in MEASURES
        if not (own := whole[whole["measure"] == measure]).empty
    ]


def _cell(own: pd.DataFrame, method: str) -> dict[str, Any] | None:
    found = own[own["method"] == method]
    if found.empty:
        return None
    line = found.iloc[0]
    spread = float(line["std_printed"])
    distance = abs(line["mean"] - line["mean_printed"]) / spread if spread > 0 else math.nan
    return {
        "printed": float(line["mean_printed"]),
        "printed_std": spread,
        "measured": float(line["mean"]),
        "measured_std": float(line["std"]),
        "distance": float(distance),
        "within": bool(distance <= 2) if not math.isnan(distance) else None,
    }
