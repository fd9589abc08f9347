"""The pictures of all reproductions, drawn with matplotlib from tables of numbers.

Figure 4 of the benchmark, Figures 2 and 3 of the synthetic data, and the pictures of the theory.
"""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from limo._system import Later
from limo.measures._measure import EFFECTIVENESS
from limo.measures._table import PAPER_MEASURES

figures = Later("matplotlib.figure")

# Colours and marks, which are distinguishable for colour-blind readers and in grey.

INK, FAINT, GOOD, POOR = "#33415c", "#c8ccd4", "#0072b2", "#d55e00"

# Okabe and Ito's colours; the variants of LIMO have the marks of the paper.
STYLES: dict[str, dict[str, str]] = {
    "LIMO": {"color": "#d55e00", "marker": "o"},
    "LIMO-inst": {"color": "#0072b2", "marker": "s"},
    "LIMO-label": {"color": "#009e73", "marker": "^"},
    "BR": {"color": "#000000", "marker": "x"},
    "ML-kNN": {"color": "#cc79a7", "marker": "D"},
    "GFM": {"color": "#b8860b", "marker": "v"},
    "LIMO, aimed": {"color": "#7a3b00", "marker": "*"},
    "logistic, tuned": {"color": "#56b4e9", "marker": "P"},
}


def style(method: str) -> dict[str, str]:
    """Colour and mark of a method; with thresholds per label the mark is hollow."""
    base, _, _ = method.partition("-t")
    return STYLES[base] | ({"markerfacecolor": "white"} if method.endswith("-t") else {})


def figure(width: float, height: float, rows: int = 1, columns: int = 1) -> tuple[Any, Any]:
    """A new figure, independent of pyplot's global state, and its axes as a grid."""
    made = figures.Figure(figsize=(width, height), layout="constrained")
    return made, made.subplots(rows, columns, squeeze=False)


# Figure 4.


def plot_average_ranks(tables: Mapping[str, pd.DataFrame]) -> Any:
    """One panel per table of average ranks (measures by methods), the best rank on top."""
    made, axes = figure(9.6, 0.9 + 2.6 * len(tables), len(tables), 1)
    for ax, (title, table) in zip(axes[:, 0], tables.items(), strict=True):
        _draw(ax, table)
        ax.set_title(title, fontsize=10, color=INK, loc="left")
    _name_measures(axes[-1, 0], next(iter(tables.values())))
    for ax in axes[:-1, 0]:
        ax.tick_params(labelbottom=False)
    handles, names = axes[0, 0].get_legend_handles_labels()
    made.legend(handles, names, loc="outside lower center", ncols=len(names), frameon=False)
    return made


def _draw(ax: Any, table: pd.DataFrame) -> None:
    n = table.shape[1]
    for k, method in enumerate(table.columns):
        places = [j + 0.66 * (k / max(n - 1, 1) - 0.5) for j in range(len(table))]
        ax.plot(places, table[method], linestyle="", markersize=7, label=method, **style(method))
    for j in range(1, len(table)):
        ax.axvline(j - 0.5, color=FAINT, linewidth=0.8)
    ax.set(xlim=(-0.5, len(table) - 0.5), ylim=(n + 0.3, 0.7), ylabel="average rank")
    ax.set_yticks(range(1, n + 1))
    ax.set_xticks(range(len(table)), [""] * len(table))
    ax.grid(axis="y", alpha=0.35)
    ax.tick_params(length=0, colors=INK)


def _name_measures(ax: Any, table: pd.DataFrame) -> None:
    titles = [
        PAPER_MEASURES[name].title.replace(" ", "\n").replace("-", "-\n") for name in table.index
    ]
    ax.set_xticks(range(len(table)), titles, fontsize=8)


# Figures 2 and 3: relative values, the best on the left, the worst value as a number on the right.

_SPREAD = 0.4  # vertical distance between the first and the last method of a measure


def plot_relative(table: pd.DataFrame) -> Any:
    """Two panels of relative values, ours and the printed ones, with one line per measure."""
    measures, methods = list(table["measure"].unique()), list(table["method"].unique())
    height = 1.2 + len(measures) * (0.1 * len(methods) + 0.25)
    made, [[left, right]] = figure(9.6, height, 1, 2)
    panels = {"ours": (left, "relative"), "printed": (right, "printed_relative")}
    for name, (ax, column) in panels.items():
        _scale(ax, measures, name)
        for k, method in enumerate(methods):
            values = table[table["method"] == method].set_index("measure").loc[measures]
            shift = _SPREAD * (k / max(len(methods) - 1, 1) - 0.5)
            places = [j + shift for j in range(len(measures))]
            ax.plot(
                values[column], places, linestyle="", markersize=7, label=method, **style(method)
            )
        _write_worst(ax, table, measures, name)
    right.tick_params(labelleft=False)
    handles, names = left.get_legend_handles_labels()
    made.legend(handles, names, loc="outside lower center", ncols=len(methods), frameon=False)
    return made


def _scale(ax: Any, measures: list[str], title: str) -> None:
    for k in range(len(measures)):
        ax.plot([1, 0], [k, k], color=FAINT, linewidth=1, zorder=0)
    ax.set(xlim=(1.06, -0.06), ylim=(len(measures) - 0.5, -0.5))
    ax.set_yticks(range(len(measures)), [PAPER_MEASURES[name].title for name in measures])
    ax.set_xticks([1, 0.5, 0], ["best", "halfway", "worst"])
    ax.tick_params(length=0, colors=INK)
    ax.spines[:].set_visible(False)
    ax.set_title(title, fontsize=10, color=INK)


def _write_worst(ax: Any, table: pd.DataFrame, measures: list[str], column: str) -> None:
    """Write the worst value of each measure on the right, as the paper does."""
    for k, name in enumerate(measures):
        values = table.loc[table["measure"] == name, column]
        worst = values.min() if PAPER_MEASURES[name].better == "high" else values.max()
        ax.annotate(
            f"{worst:.3f}",
            (-0.07, k),
            xycoords=("data", "data"),
            annotation_clip=False,
            va="center",
            fontsize=8,
            color=INK,
        )


# The theory: Table 2, Theorem 3's curve, the bounds of Theorems 4 and 5.

_COLOURS = {0.1: "#0072b2", 0.3: "#d55e00", 0.5: "#009e73"}
_PANELS = (
    ("Theorem 4", "instance_f1"),
    ("Theorem 4", "micro_f1"),
    ("Theorem 5", "macro_f1"),
    ("Theorem 5", "hamming_loss"),
)


def plot_table2(facts: pd.DataFrame) -> Any:
    """The share of generated predictors on which each measure is perfect: 100 % for a tick."""
    made, [[ax]] = figure(6.4, 4.6)
    names = list(PAPER_MEASURES)
    for fact in facts.to_dict("records"):
        x, y = EFFECTIVENESS.index(fact["effectiveness"]), names.index(fact["measure"])
        share, tick = fact["perfect"] / fact["predictors"], fact["optimised"] != "no"
        colour = GOOD if tick else POOR
        ax.barh(y, 0.84, 0.72, x - 0.42, color=FAINT, alpha=0.35)
        ax.barh(y, 0.84 * share, 0.72, x - 0.42, color=colour, alpha=0.35 if tick else 0.5)
        mark = {"yes": "✓", "in_the_limit": "✓ (limit)", "no": "✗"}[fact["optimised"]]
        ax.text(x - 0.36, y, mark, va="center", ha="left", color=colour, weight="bold")
        if fact["optimised"] != "in_the_limit":  # of few instances, a share says nothing
            ax.text(x + 0.38, y, _percent(share), va="center", ha="right", color=INK, fontsize=8)
    ax.set_xticks(range(len(EFFECTIVENESS)), EFFECTIVENESS)
    ax.set_yticks(range(len(names)), [PAPER_MEASURES[name].title for name in names])
    ax.xaxis.tick_top()
    ax.tick_params(length=0, colors=INK)
    ax.set(xlim=(-0.5, len(EFFECTIVENESS) - 0.5), ylim=(len(names) - 0.5, -0.5))
    ax.spines[:].set_visible(False)
    return made


def _percent(share: float) -> str:
    """A share of less than 1 is never rounded up to 100 %."""
    return "100 %" if share == 1 else f"{min(100 * share, 99.9):.1f} %"


def plot_theorem3(facts: pd.DataFrame) -> Any:
    """Micro-AUC by number of instances: median and 90 % of the draws, and the bound."""
    made, [[ax]] = figure(6.4, 4.0)
    for density, group in facts.groupby("density"):
        colour = _COLOURS[float(density)]
        m = group["instances"]
        ax.fill_between(m, group["low"], group["high"], color=colour, alpha=0.15, linewidth=0)
        ax.plot(m, group["median"], color=colour, label=f"{density:.0%} of entries relevant")
        ax.plot(m, group["bound"], color=colour, linestyle="--", linewidth=1)
    ax.plot([], [], color=INK, linestyle="--", linewidth=1, label="bound of Theorem 3")
    ax.set(xscale="log", xlabel="instances m", ylabel="micro-AUC", ylim=(0.45, 1.01))
    ax.grid(alpha=0.3)
    ax.legend(loc="lower right", frameon=False)
    return made


def plot_bounds(facts: pd.DataFrame) -> Any:
    """Measured value against bound, one point per predictor; the impossible side is shaded."""
    made, axes = figure(7.6, 6.8, 2, 2)
    for ax, (theorem, name) in zip(axes.flat, _PANELS, strict=True):
        panel = facts[facts["theorem"].eq(theorem) & facts["measure"].eq(name)]
        _draw_bound(ax, panel, name)
        ax.set_title(f"{theorem}: {PAPER_MEASURES[name].title}", fontsize=10, color=INK)
    return made


def _draw_bound(ax: Any, facts: pd.DataFrame, name: str) -> None:
    high = PAPER_MEASURES[name].better == "high"
    end = 1.0 if high else float(facts["bound"].max()) * 1.05
    ax.fill_between([0, end], [0, end], 0 if high else end, color=FAINT, alpha=0.35, linewidth=0)
    ax.plot([0, end], [0, end], color=INK, linewidth=1)
    if name == "micro_f1":
        violated = facts[facts["value"] < facts["printed"] - 1e-12]
        marks = {"s": 14, "color": POOR, "marker": "x", "linewidths": 0.9}
        ax.scatter(violated["printed"], violated["value"], **marks, label="printed bound, violated")
    ax.scatter(
        facts["bound"], facts["value"], s=9, color=GOOD, alpha=0.5, linewidths=0, label="bound"
    )
    if name == "micro_f1":
        ax.legend(loc="upper left", frameon=False)
    ax.set(
        xlim=(0, end), ylim=(0, end * (1.02 if high else 1.0)), xlabel="bound", ylabel="measured"
    )
    side = {"x": 0.97, "y": 0.04, "ha": "right"} if high else {"x": 0.03, "y": 0.94, "ha": "left"}
    ax.text(**side, s="impossible", transform=ax.transAxes, color=INK, alpha=0.7, fontsize=8)
