"""Figures 2 and 3: relative values, the best on the left, the worst value written on the right."""

from typing import Any

import pandas as pd

from limo.measures.table import MEASURES
from limo.reproduce.palette import FAINT, INK, figure, style

__all__ = ["plot_relative"]

_SPREAD = 0.4  # how far the lines of the first and the last method lie apart


def plot_relative(table: pd.DataFrame) -> Any:
    """Two panels of relative values, ours and the printed ones, a line for each measure."""
    measures, methods = list(table["measure"].unique()), list(table["method"].unique())
    height = 1.2 + len(measures) * (0.1 * len(methods) + 0.25)
    made, [[left, right]] = figure(9.6, height, 1, 2)
    panels = {"ours": (left, "relative"), "printed": (right, "printed_relative")}
    for name, (ax, column) in panels.items():
        _scale(ax, measures, name)
        for k, method in enumerate(methods):
            own = table[table["method"] == method].set_index("measure").loc[measures]
            shift = _SPREAD * (k / max(len(methods) - 1, 1) - 0.5)
            places = [j + shift for j in range(len(measures))]
            ax.plot(own[column], places, linestyle="", markersize=7, label=method, **style(method))
        _write_worst(ax, table, measures, name)
    right.tick_params(labelleft=False)
    handles, names = left.get_legend_handles_labels()
    made.legend(handles, names, loc="outside lower center", ncols=len(methods), frameon=False)
    return made


def _scale(ax: Any, measures: list[str], title: str) -> None:
    for k in range(len(measures)):
        ax.plot([1, 0], [k, k], color=FAINT, linewidth=1, zorder=0)
    ax.set(xlim=(1.06, -0.06), ylim=(len(measures) - 0.5, -0.5))
    ax.set_yticks(range(len(measures)), [MEASURES[name].title for name in measures])
    ax.set_xticks([1, 0.5, 0], ["best", "half way", "worst"])
    ax.tick_params(length=0, colors=INK)
    ax.spines[:].set_visible(False)
    ax.set_title(title, fontsize=10, color=INK)


def _write_worst(ax: Any, table: pd.DataFrame, measures: list[str], column: str) -> None:
    """The worst value of each measure, as the paper has it on the right."""
    for k, name in enumerate(measures):
        own = table.loc[table["measure"] == name, column]
        worst = own.min() if MEASURES[name].better == "high" else own.max()
        ax.annotate(
            f"{worst:.3f}",
            (-0.07, k),
            xycoords=("data", "data"),
            annotation_clip=False,
            va="center",
            fontsize=8,
            color=INK,
        )
