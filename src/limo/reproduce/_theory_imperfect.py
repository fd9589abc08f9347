"""Findings, tables and pictures about imperfect margins, from the numbers of the other modules."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from limo.measures._table import PAPER_MEASURES
from limo.reproduce._pictures import FAINT, GOOD, INK, POOR, figure
from limo.reproduce._reproduction import Picture, ResultTable
from limo.reproduce._theory_limits import DATASETS, MIDDLE_ALPHA, redundancy_facts
from limo.reproduce._theory_worlds import measure_titles

_BANDS = ("one_error", "coverage", "average_precision", "instance_f1")
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#000000")
_MARKS = "os^Dvx"


@dataclass(frozen=True, eq=False)
class Parts:
    """The findings, tables and pictures that one part of the theory adds to the page."""

    findings: tuple[str, ...] = ()
    tables: tuple[ResultTable, ...] = ()
    pictures: tuple[Picture, ...] = ()


# Theorem 3 with violations


def violation_parts(facts: pd.DataFrame) -> Parts:
    """Micro-AUC with violated margins: its limits, and how fast it gets there."""
    last = facts.groupby(["rows", "columns"], sort=False).last().reset_index()
    perfect, *_ = last.to_dict("records")
    gap = float((last["mean"] - last["limit"]).abs().max())
    finding = (
        "Theorem 3 with violations: micro-AUC falls short of 1 in the limit only if margins of "
        f"labels are violated. At {int(perfect['instances'])} instances all means are within "
        f"{gap:.4f} of their limits; without violations the distance shrinks like m to the power "
        f"{perfect['rate']:.2f}."
    )
    shown = last.round(4).astype(str)
    note = (
        "Shares of instances (rows) and labels (columns) whose margin need not be positive; mean "
        "micro-AUC of the draws with the most instances, its limit, and the fitted exponent of m "
        "in the distance to the limit."
    )
    table = ResultTable("violations", "Theorem 3 with violated margins", note, shown, last)
    caption = (
        "Theorem 3 with violated margins: mean micro-AUC of the draws, and the limits (dashed). "
        "Violated instances alone cost nothing in the limit."
    )
    return Parts(
        (finding,), (table,), (Picture("violations", caption, lambda: _plot_limits(facts)),)
    )


def _plot_limits(facts: pd.DataFrame) -> Any:
    made, [[ax]] = figure(6.4, 4.0)
    groups = facts.groupby(["rows", "columns"], sort=False)
    for colour, ((rows, columns), own) in zip(_COLOURS, groups, strict=False):
        name = f"{rows:.0%} of instances, {columns:.0%} of labels violated"
        ax.plot(own["instances"], own["mean"], color=colour, label=name)
        ax.axhline(own["limit"].iloc[0], color=colour, linestyle="--", linewidth=1)
    ax.set(xscale="log", xlabel="instances m", ylabel="micro-AUC")
    ax.grid(alpha=0.3)
    ax.legend(loc="lower right", frameon=False)
    return made


# The consistency map


def map_parts(cells: pd.DataFrame) -> Parts:
    """Which loss is consistent with which measure, beside what is proven."""
    cells = cells.fillna({"proven": "", "source": "", "counterexample": ""})
    wrong = cells[
        (cells["proven"].eq("consistent") & cells["with_regret"].gt(0))
        | (cells["proven"].eq("not consistent") & cells["with_regret"].eq(0))
    ]
    proven = int(cells["proven"].ne("").sum())
    worlds = int(cells["worlds"].max())
    agree = (
        f"all {proven} proven cells agree with the literature"
        if wrong.empty
        else "these disagree with the literature: "
        + ", ".join(f"{c['loss']} for {c['measure']}" for c in wrong.to_dict("records"))
    )
    examples = cells[cells["with_regret"].gt(0)]
    finding = (
        f"Consistency map: in {worlds} worlds, {agree}; {len(examples)} of {len(cells)} cells have "
        "a counterexample, and the others none in these worlds."
    )
    tables = (_map_table(cells), _example_table(examples))
    caption = (
        "The consistency map: the share of random worlds in which the scores that minimise a loss "
        "are not the best for a measure. A frame marks what is proven."
    )
    return Parts((finding,), tables, (Picture("map", caption, lambda: _plot_map(cells)),))


def _map_table(cells: pd.DataFrame) -> ResultTable:
    marks = {"consistent": " (proven)", "not consistent": " (proven)", "": ""}
    text = [
        (f"✗ {c['largest_regret']:.3f}" if c["with_regret"] else "0") + marks[c["proven"]]
        for c in cells.to_dict("records")
    ]
    grid = cells.assign(text=text).pivot(index="loss", columns="measure", values="text")
    titles = measure_titles()
    shown = grid.loc[cells["loss"].unique(), list(titles)].fillna("").rename(columns=titles)
    note = (
        "✗ with the largest regret found: the loss is not consistent with the measure. 0: no "
        "regret in any world, which is a proof only where it says so. Empty: the scores of the "
        "loss are not comparable between the rows of the measure."
    )
    return ResultTable("map", "The consistency map", note, shown.reset_index(), cells)


def _example_table(examples: pd.DataFrame) -> ResultTable:
    shown = examples[["loss", "measure", "labels", "regret", "source", "counterexample"]]
    note = (
        "For each cell with a regret, a distribution of label sets (or the probabilities of two "
        "labels at three points) with as few labels as possible, and what is proven by whom."
    )
    title = "Counterexamples of the consistency map"
    text = shown.assign(
        measure=[PAPER_MEASURES[name].title for name in shown["measure"]],
        regret=shown["regret"].map("{:.4f}".format),
    ).astype(str)
    return ResultTable("map_examples", title, note, text, shown.reset_index(drop=True))


def _plot_map(cells: pd.DataFrame) -> Any:
    titles = measure_titles()
    losses = list(cells["loss"].unique())
    made, [[ax]] = figure(8.0, 4.6)
    for cell in cells.to_dict("records"):
        x, y = list(titles).index(cell["measure"]), losses.index(cell["loss"])
        share = cell["with_regret"] / cell["worlds"]
        colour = POOR if share else GOOD
        width = 1.5 if cell["proven"] else 0
        alpha = 0.25 + 0.5 * share if share else 0.35
        ax.barh(y, 0.9, 0.8, x - 0.45, color=colour, alpha=alpha)
        ax.barh(y, 0.9, 0.8, x - 0.45, color="none", edgecolor=INK, linewidth=width)
        text = f"{share:.1%}" if share else "0"
        ax.text(x, y, text, ha="center", va="center", color=INK, fontsize=8)
    ax.set_xticks(range(len(titles)), list(titles.values()), rotation=30, ha="left")
    ax.set_yticks(range(len(losses)), losses)
    ax.xaxis.tick_top()
    ax.tick_params(length=0, colors=INK)
    ax.set(xlim=(-0.5, len(titles) - 0.5), ylim=(len(losses) - 0.5, -0.5))
    ax.spines[:].set_visible(False)
    return made


# Real data


def data_parts(models: list[pd.DataFrame], bands: list[pd.DataFrame], *, asked: bool) -> Parts:
    """Models of real data within their intervals, along alpha and training size; redundancy."""
    if not models:
        names = ", ".join(DATASETS)
        why = (
            f"none of {names} is stored on this machine. limo datasets fetch downloads them; "
            "LIMO_DATA names a folder that has them."
            if asked
            else "it was not asked for."
        )
        return Parts((f"Real data: skipped, as {why}",))
    facts, allowed = pd.concat(models, ignore_index=True), pd.concat(bands, ignore_index=True)
    taus = redundancy_facts(facts)
    tables = (_fixed_table(facts), _tau_table(taus))
    captions = {
        "intervals": "What the ranking loss of scores allows other measures to be, on the labels "
        "of each data set (grey), and models of real data.",
        "paths": "How measures on test data approach their limits: along the regularisation "
        "strength (left, from 1 to 0.0001) and the number of training instances (right, from 10 % "
        "to all), against the share of misordered pairs of their view. Dots grow along the path; "
        "lines show what the misordered pairs of the model allow.",
    }
    pictures = (
        Picture("intervals", captions["intervals"], lambda: _plot_bands(facts, allowed)),
        Picture("paths", captions["paths"], lambda: _plot_paths(facts)),
    )
    return Parts(
        (_band_finding(facts, allowed), _redundancy_finding(facts, taus)), tables, pictures
    )


def _band_finding(facts: pd.DataFrame, allowed: pd.DataFrame) -> str:
    outside = sum(
        not low - 1e-9 <= value <= high + 1e-9 for value, low, high in _within(facts, allowed)
    )
    return (
        f"Real data: {len(facts)} models of {facts['data'].nunique()} data sets; "
        f"{outside} of their measures are outside the interval that their ranking loss allows."
    )


def _within(facts: pd.DataFrame, allowed: pd.DataFrame) -> Any:
    """The value of each model and measure, and the ends of its interval."""
    for (data, name, end), line in allowed.groupby(["data", "measure", "end"]):
        own = facts[facts["data"] == data]
        limits = np.interp(own["ranking_loss"], line["ranking_loss"], line["value"])
        for value, limit in zip(own[name], limits, strict=True):
            yield (value, limit, np.inf) if end == "lowest" else (value, -np.inf, limit)


def _redundancy_finding(facts: pd.DataFrame, taus: pd.DataFrame) -> str:
    mean = taus.groupby(["first", "second"], sort=False)["tau"].mean()
    same = mean.drop(("ranking_loss", "instance_auc"))
    (first, second), tau = same.idxmax(), same.max()
    (third, fourth), least = same.idxmin(), same.min()
    title = {name: measure.title for name, measure in PAPER_MEASURES.items()}
    fixed = facts[[f"fixed_{name}" for name in ("average_precision", "one_error")]].mean()
    return (
        "Redundancy: instance-AUC is 1 minus ranking loss. Beyond that, "
        f"{title[first]} and {title[second]} order models most alike (Kendall's tau {tau:.2f}), "
        f"{title[third]} and {title[fourth]} least ({least:.2f}). Misordered pairs fix "
        f"{fixed.iloc[0]:.0%} of average precision and {fixed.iloc[1]:.0%} of one-error."
    )


def _fixed_table(facts: pd.DataFrame) -> ResultTable:
    columns = [name for name in facts if str(name).startswith("fixed_")]
    means = facts.groupby("data", sort=False)[columns].mean().T.reset_index(names="measure")
    means["measure"] = means["measure"].str.removeprefix("fixed_")
    shown = means.copy()
    shown["measure"] = [PAPER_MEASURES[name].title for name in means["measure"]]
    for data in means.columns[1:]:
        shown[data] = means[data].map("{:.0%}".format)
    note = (
        "How far the misordered pairs of every row fix each measure: 100% for one value, 0% for "
        "any value that the labels allow. Means over the models of each data set; F1 with the "
        "best thresholds."
    )
    return ResultTable("fixed", "What misordered pairs leave open", note, shown, means)


def _tau_table(taus: pd.DataFrame) -> ResultTable:
    wide = taus.pivot_table(index=["first", "second"], columns="data", values="tau", sort=False)
    wide["mean"] = wide.mean(axis=1)
    facts = wide.sort_values("mean", ascending=False).reset_index()
    shown = facts.copy()
    for side in ("first", "second"):
        shown[side] = [PAPER_MEASURES[name].title for name in facts[side]]
    shown = shown.round(2).astype(str)
    note = "Kendall's tau between two measures over all models of a data set; 1 is the same order."
    return ResultTable("redundancy", "How alike measures order models", note, shown, facts)


def _plot_bands(facts: pd.DataFrame, allowed: pd.DataFrame) -> Any:
    names = list(facts["data"].unique())
    made, axes = figure(2.2 * len(names) + 0.6, 8.4, len(_BANDS), len(names))
    for j, data in enumerate(names):
        own = facts[facts["data"] == data]
        for i, measure in enumerate(_BANDS):
            ax = axes[i, j]
            part = allowed[allowed["data"].eq(data) & allowed["measure"].eq(measure)]
            low, high = (part[part["end"] == end] for end in ("lowest", "highest"))
            ax.fill_between(
                low["ranking_loss"], low["value"], high["value"], color=FAINT, alpha=0.5
            )
            for k, (loss, dots) in enumerate(own.groupby("loss", sort=False)):
                style = {"color": _COLOURS[k], "marker": _MARKS[k], "s": 10, "linewidths": 0.8}
                ax.scatter(dots["ranking_loss"], dots[measure], label=loss, **style)
            ax.set(xlabel="ranking loss" if i == len(_BANDS) - 1 else None)
            if j == 0:
                ax.set_ylabel(PAPER_MEASURES[measure].title)
        axes[0, j].set_title(data, fontsize=10, color=INK)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    made.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    return made


_PATHS = {
    **dict.fromkeys(_BANDS, "instance_auc"),
    "macro_f1": "macro_auc",
    "micro_f1": "micro_auc",
}
"""The measures that are drawn along the paths, and which one counts the pairs of their view."""
_TICKS = (0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7)


def _plot_paths(facts: pd.DataFrame) -> Any:
    """Measures of the data set with the most labels against the misordered pairs of their view."""
    data = facts["data"].iloc[-1]
    own = facts[facts["data"].eq(data)]
    last = own[own["path"].eq("alpha") & own["alpha"].eq(MIDDLE_ALPHA)]
    paths = {
        "along alpha": own[own["path"].eq("alpha")],
        "along training size": pd.concat([own[own["path"].eq("training")], last]),
    }
    made, axes = figure(7.6, 14.0, len(_PATHS), 2)
    for j, (what, models) in enumerate(paths.items()):
        for i, (measure, pairs) in enumerate(_PATHS.items()):
            ax = axes[i, j]
            for k, (loss, line) in enumerate(models.groupby("loss", sort=False)):
                _draw_path(ax, 1 - line[pairs], line, measure, str(loss), k)
            title = PAPER_MEASURES[pairs].title
            ax.set(xscale="log", xlabel=f"misordered pairs (1 - {title})")
            ax.set_xticks([x for x in _TICKS if ax.get_xlim()[0] <= x <= ax.get_xlim()[1]])
            ax.set_xticks([], minor=True)
            ax.xaxis.set_major_formatter("{x:g}")
            ax.set_ylabel(PAPER_MEASURES[measure].title)
        axes[0, j].set_title(f"{data}, {what}", fontsize=10, color=INK)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    made.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    return made


def _draw_path(ax: Any, x: Any, line: pd.DataFrame, measure: str, loss: str, k: int) -> None:
    """One loss: a line of growing dots, each in the interval that its pairs allow."""
    colour = _COLOURS[k]
    ax.vlines(x, line[f"lowest_{measure}"], line[f"highest_{measure}"], color=colour, alpha=0.3)
    ax.plot(x, line[measure], color=colour, linewidth=1)
    sizes = np.linspace(5, 30, len(line))
    ax.scatter(x, line[measure], sizes, color=colour, marker=_MARKS[k], label=loss, linewidths=0.8)
