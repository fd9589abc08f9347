"""The benchmark's cells as tables to read."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from limo.experiment import average_ranks, summarise
from limo.measures._table import MEASURES
from limo.reproduce._benchmark_plans import F1, LIMOS, OTHER_CUTS, PAPER
from limo.reproduce._pages import Table, printed_benchmark

__all__ = [
    "LIMIT",
    "ROUNDING",
    "UNKNOWN",
    "agreement",
    "agreement_table",
    "big_table",
    "both_cuts",
    "both_cuts_table",
    "cells",
    "differences",
    "extended_table",
    "printed_ranks",
    "rank_table",
    "ranks",
    "reason",
    "rows_as_printed",
    "stands_for",
]


# What stands behind the printed cells: the cut that gives them, and why others differ.

UNKNOWN = "no known reason"
_ON_TEST_LABELS = {"LIMO": ("macro_f1",), "LIMO-inst": F1}
_GLOBAL_ON_MEDICAL = {"LIMO": ("instance_f1", "micro_f1"), "LIMO-label": F1}


def stands_for(dataset: str, method: str, measure: str) -> str:
    """The method of our rows whose cut is the one behind a printed cell.

    Found by trying: cuts of each label chosen on the test labels for the F1s named, but on
    bibtex, where cuts from training fit; one global cut for the other F1s of LIMO and
    LIMO-label on medical.
    """
    if dataset != "bibtex" and measure in _ON_TEST_LABELS.get(method, ()):
        return f"{method}, test cuts"
    if dataset == "medical" and measure in _GLOBAL_ON_MEDICAL.get(method, ()):
        return f"{method}, global cut"
    return method


@dataclass(frozen=True)
class _Reason:
    text: str
    holds: Callable[[str, str, str], bool]


def _of_scores(measure: str) -> bool:
    return MEASURES[measure].needs == "scores"


_REASONS = (
    _Reason(
        "printed with cuts chosen on test labels; ours come from training",
        lambda d, m, k: stands_for(d, m, k).endswith("test cuts"),
    ),
    _Reason(
        "printed with one global cut; ours is t(x)",
        lambda d, m, k: stands_for(d, m, k).endswith("global cut"),
    ),
    _Reason(
        "ties: printed values are near those of 0/1 predictions used as scores, ours rank by the "
        "share of neighbours",
        lambda d, m, k: m == "GFM" and _of_scores(k),
    ),
    _Reason(
        "printed far from what a linear SVM gives, with great deviations: likely a fault in how "
        "its scores were taken",
        lambda d, m, k: m == "BR" and d in ("medical", "enron", "corel5k") and _of_scores(k),
    ),
    _Reason(
        "which linear SVM it was, and what cut its scores, is not told",
        lambda d, m, k: m == "BR",
    ),
)


def reason(dataset: str, method: str, measure: str) -> str:
    """The known reason why a cell may differ, or that there is none."""
    found = (one.text for one in _REASONS if one.holds(dataset, method, measure))
    return next(found, UNKNOWN)


# Cells of the big table, ours beside the printed, from rows alone.

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
