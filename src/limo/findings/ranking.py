"""Which methods differ, measure by measure: average ranks and tests as plain parts."""

from typing import Any

import pandas as pd

from limo.experiment import statistics
from limo.measures.table import MEASURES

__all__ = ["average_ranks", "differences"]


def average_ranks(table: pd.DataFrame, methods: list[str]) -> list[dict[str, Any]]:
    """The average rank of each method on each measure, and over all of them."""
    by_measure = statistics.average_ranks(table)
    overall = statistics.average_ranks(table, by=None)
    present = [name for name in MEASURES if name in by_measure.index]
    lines = [
        {
            "measure": name,
            "title": MEASURES[name].title,
            "average": [float(by_measure.loc[name, method]) for method in methods],
        }
        for name in present
    ]
    whole = [float(overall.loc["all", method]) for method in methods]
    return [*lines, {"measure": None, "title": "all measures", "average": whole}]


def differences(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Friedman's and Nemenyi's tests for each measure, where there is something to test.

    Blocks are data sets, or the splits if there is but one data set.
    """
    if table["method"].nunique() < 2:
        return []
    kind: Any = "dataset" if table["dataset"].nunique() > 1 else "split"
    found = [
        statistics.compare(table, name, blocks=kind)
        for name in MEASURES
        if name in set(table["measure"])
    ]
    return [_plain(one, kind) for one in found if one.n_blocks > 1]


def _plain(found: statistics.Comparison, kind: str) -> dict[str, Any]:
    return {
        "measure": found.measure,
        "title": MEASURES[found.measure].title,
        "blocks": kind,
        "n_blocks": found.n_blocks,
        "average_ranks": found.average_ranks,
        "p_value": found.friedman.p_value,
        "f_p_value": found.friedman.f_p_value,
        "alpha": found.alpha,
        "critical_difference": found.critical_difference,
        "groups": [list(group) for group in found.groups],
        "left_out": list(found.left_out),
        "notes": list(found.notes),
    }
