"""Figure 4: the average rank of each method, measure by measure."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from limo.measures.table import MEASURES
from limo.reproduce.palette import FAINT, INK, figure, style

__all__ = ["plot_average_ranks"]


def plot_average_ranks(tables: Mapping[str, pd.DataFrame]) -> Any:
    """A panel for each table of average ranks (measures by methods), the best on top."""
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
    titles = [MEASURES[name].title.replace(" ", "\n").replace("-", "-\n") for name in table.index]
    ax.set_xticks(range(len(table)), titles, fontsize=8)
