"""Cells of the big table, ours beside the printed, from rows alone."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from limo.experiment.statistics import average_ranks, summarise
from limo.measures.table import MEASURES
from limo.reproduce.benchmark_plans import LIMOS, OTHER_CUTS, PAPER
from limo.reproduce.printed_tables import printed_benchmark
from limo.reproduce.reasons import reason, stands_for

__all__ = [
    "LIMIT",
    "ROUNDING",
    "agreement",
    "both_cuts",
    "cells",
    "printed_ranks",
    "ranks",
    "rows_as_printed",
]

LIMIT = 2.0  # printed standard deviations within which a cell agrees
# A deviation printed as .000 is less than this; the comparison cannot be finer than the print.
ROUNDING = 0.0005
CELL = ["dataset", "method", "measure"]


def rows_as_printed(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of the paper's methods, each under the cut that stands behind its printed cell."""
    used = rows.assign(cut_of=rows["method"])
    base = {name: kind for name, kind, _ in OTHER_CUTS}
    used["method"] = rows["method"].replace(base)
    wanted = [stands_for(*cell) for cell in used[CELL].itertuples(index=False)]
    return used[used["cut_of"].eq(wanted) & used["method"].isin(PAPER)].drop(columns="cut_of")


def cells(rows: pd.DataFrame) -> pd.DataFrame:
    """Every cell of the paper's table that the rows hold: ours, the printed, and how they differ.

    ``difference`` counts printed standard deviations, those of ``.000`` as .0005; ``as_printed`` is
    our value under the cut behind the printed one, and ``as_printed_difference`` goes with it.
    """
    own = rows[rows["method"].isin(PAPER)]
    printed = printed_benchmark().rename(
        columns={"mean": "printed", "std": "printed_std", "rank": "printed_rank"}
    )
    table = printed.merge(summarise(own), on=CELL, validate="1:1")
    same_cut = summarise(rows_as_printed(rows))[[*CELL, "mean"]]
    table = table.merge(same_cut.rename(columns={"mean": "as_printed"}), on=CELL, how="left")
    sd = np.maximum(table["printed_std"], ROUNDING)
    table["difference"] = (table["mean"] - table["printed"]) / sd
    table["as_printed_difference"] = (table["as_printed"] - table["printed"]) / sd
    table["agrees"] = table["difference"].abs() <= LIMIT
    table["agrees_as_printed"] = table["as_printed_difference"].abs() <= LIMIT
    why = [reason(*cell) for cell in table[CELL].itertuples(index=False)]
    return table.assign(reason=np.where(table["agrees"], "", why))


def agreement(table: pd.DataFrame) -> pd.DataFrame:
    """How many cells agree: of LIMO's three and of the others, of scores and of labels."""
    kind = table["measure"].map({name: m.needs for name, m in MEASURES.items()})
    who = np.where(table["method"].isin(LIMOS), "LIMO, LIMO-inst, LIMO-label", table["method"])
    grouped = table.assign(methods=who, measures=kind).groupby(["methods", "measures"], sort=False)
    return grouped.agg(
        cells=("agrees", "size"),
        agree=("agrees", "sum"),
        agree_as_printed=("agrees_as_printed", "sum"),
    ).reset_index()


def both_cuts(rows: pd.DataFrame) -> pd.DataFrame:
    """Macro-F1 of LIMO and LIMO-inst: cuts from training, and cuts chosen on test labels."""
    macro = rows[rows["measure"] == "macro_f1"]
    means = macro.groupby(["dataset", "method"], sort=False)["value"].mean()
    printed = printed_benchmark().set_index(CELL)
    lines = []
    for dataset in macro["dataset"].unique():
        for method in ("LIMO", "LIMO-inst"):
            there = printed.loc[(dataset, method, "macro_f1")]
            lines.append(
                {
                    "dataset": dataset,
                    "method": method,
                    "printed": there["mean"],
                    "printed_std": there["std"],
                    "training": means.get((dataset, method), np.nan),
                    "test_labels": means.get((dataset, f"{method}, test cuts"), np.nan),
                }
            )
    return pd.DataFrame(lines)


def printed_ranks(datasets: Sequence[str]) -> pd.DataFrame:
    """Average ranks of the printed table over some of its data sets."""
    table = printed_benchmark()
    table = table[table["dataset"].isin(datasets)]
    grid = table.pivot_table(index="measure", columns="method", values="rank", aggfunc="mean")
    return grid.loc[list(MEASURES), list(PAPER)]


def ranks(rows: pd.DataFrame, methods: Sequence[str]) -> Any:
    """Average ranks of some methods among themselves, measures in the order of the registry."""
    found = average_ranks(rows[rows["method"].isin(methods)])
    return found.reindex(index=list(MEASURES), columns=list(methods))
