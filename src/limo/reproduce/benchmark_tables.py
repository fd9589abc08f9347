"""The benchmark's cells as tables to read."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from limo.experiment.statistics import summarise
from limo.measures.table import MEASURES
from limo.reproduce.benchmark_cells import agreement, both_cuts
from limo.reproduce.record import Table

__all__ = [
    "agreement_table",
    "big_table",
    "both_cuts_table",
    "differences",
    "extended_table",
    "rank_table",
]

# The order of the paper's table.
_COLUMNS = (
    "hamming_loss",
    "ranking_loss",
    "average_precision",
    "one_error",
    "coverage",
    "instance_f1",
    "instance_auc",
    "macro_f1",
    "macro_auc",
    "micro_f1",
    "micro_auc",
)
_HEADS = {
    name: f"{MEASURES[name].title} {'↑' if MEASURES[name].better == 'high' else '↓'}"
    for name in _COLUMNS
}


def big_table(table: pd.DataFrame) -> Table:
    """Mean ± deviation (rank), ours above the printed; cells that differ carry a star."""
    ours = [
        _cell(line.mean, line.std, line.rank) + ("" if line.agrees else "*")
        for line in table.itertuples()
    ]
    theirs = [
        _cell(line.printed, line.printed_std, line.printed_rank) for line in table.itertuples()
    ]
    lines = []
    for (dataset, method), own in table.assign(ours=ours, theirs=theirs).groupby(
        ["dataset", "method"], sort=False
    ):
        by_name = own.set_index("measure")
        lines.append([dataset, method, *by_name["ours"].reindex(_COLUMNS)])
        lines.append([dataset, f"{method}, printed", *by_name["theirs"].reindex(_COLUMNS)])
    shown = pd.DataFrame(lines, columns=["data set", "method", *_HEADS.values()]).fillna("")
    note = (
        "Mean ± standard deviation (rank) over the splits, the printed line below ours. Cuts come "
        "from training data only. A star marks cells more than two printed standard deviations "
        "from the printed; the next table says why."
    )
    return Table("benchmark", "The benchmark table beside the printed one", note, shown, table)


def _cell(mean: float, std: float, rank: float) -> str:
    place = f"({rank:g})" if np.isfinite(rank) else "(–)"
    return f"{_number(mean)}±{_number(std)}{place}"


def _number(value: float) -> str:
    """Three decimals, as the paper prints them."""
    if np.isnan(value):
        return "–"
    return f"{value:.3f}".removeprefix("0") if value >= 0 else f"{value:.3f}"


def differences(table: pd.DataFrame) -> Table:
    """Every cell that differs, the reason if one is known, and our value under the printed cut."""
    facts = table[~table["agrees"]].reset_index(drop=True)
    other = facts["as_printed"].notna() & (facts["as_printed"] != facts["mean"])
    cut = [
        f"{_number(value)} ({apart:+.1f})" if differs else ""
        for value, apart, differs in zip(
            facts["as_printed"], facts["as_printed_difference"], other, strict=True
        )
    ]
    shown = pd.DataFrame(
        {
            "data set": facts["dataset"],
            "method": facts["method"],
            "measure": [MEASURES[name].title for name in facts["measure"]],
            "printed": facts["printed"].map(_number),
            "ours": facts["mean"].map(_number),
            "difference in sd": facts["difference"].map("{:+.1f}".format),
            "under the printed cut": cut,
            "reason": facts["reason"],
        }
    )
    note = (
        "Differences count printed standard deviations; one printed as .000 is taken as .0005, the "
        "most it can be. Where another cut stands behind the printed value, ours under that cut."
    )
    return Table("differences", "Cells that differ, and why", note, shown, facts)


def agreement_table(table: pd.DataFrame) -> Table:
    """How many cells agree."""
    facts = agreement(table)
    shown = facts.rename(
        columns={"agree": "within two sd", "agree_as_printed": "under the printed cut"}
    )
    note = "Cells within two printed standard deviations of the printed value."
    return Table("agreement", "Agreement", note, shown, facts)


def both_cuts_table(rows: pd.DataFrame) -> Table:
    """Macro-F1 with cuts from training beside cuts chosen on test labels."""
    facts = both_cuts(rows)
    shown = pd.DataFrame(
        {
            "data set": facts["dataset"],
            "method": facts["method"],
            "printed": [
                f"{_number(v)}±{_number(s)}"
                for v, s in facts[["printed", "printed_std"]].to_numpy()
            ],
            "cuts from training": facts["training"].map(_number),
            "cuts chosen on test labels": facts["test_labels"].map(_number),
        }
    )
    note = (
        "Cuts chosen on the labels a method is then judged by are no result. They are shown "
        "because the printed values are met by them, on all data sets but bibtex."
    )
    return Table("macro_f1_both_ways", "Macro-F1 both ways", note, shown, facts)


def rank_table(name: str, title: str, note: str, tables: dict[str, pd.DataFrame]) -> Table:
    """Average ranks, a line for each measure, the versions of a method side by side."""
    first = next(iter(tables.values()))
    shown = pd.DataFrame({"measure": [MEASURES[m].title for m in first.index]})
    for method in first.columns:
        texts = [[f"{value:.1f}" for value in table[method]] for table in tables.values()]
        shown[method] = [" / ".join(values) for values in zip(*texts, strict=True)]
    parts = [
        table.rename_axis(index="measure", columns="method")
        .stack()
        .rename("average_rank")
        .reset_index()
        .assign(version=version)
        for version, table in tables.items()
    ]
    return Table(name, title, note, shown, pd.concat(parts, ignore_index=True))


def extended_table(rows: pd.DataFrame, methods: Sequence[str]) -> Table:
    """The same table with our own entries: ours only, ranks among all methods."""
    facts = summarise(rows[rows["method"].isin(methods)])
    texts = [_cell(line.mean, line.std, line.rank) for line in facts.itertuples()]
    grid = facts.assign(text=texts).pivot(
        index=["dataset", "method"], columns="measure", values="text"
    )
    order = [(d, m) for d in facts["dataset"].unique() for m in methods]
    grid = grid.reindex(index=pd.MultiIndex.from_tuples(order), columns=list(_COLUMNS)).fillna("")
    shown = grid.set_axis(list(_HEADS.values()), axis=1).rename_axis(["data set", "method"])
    note = (
        "Mean ± standard deviation (rank among all). 'LIMO, aimed' is the exact solver, its "
        "margins, ridge and cut chosen for each measure by cross-validation; 'logistic, tuned' is "
        "logistic regression for each label, C by cross-validation, the cut that suits the measure."
    )
    return Table("extended", "The table with our own entries", note, shown.reset_index(), facts)
