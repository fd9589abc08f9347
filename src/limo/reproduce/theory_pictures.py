"""Pictures of the theory: Table 2, Theorem 3's curve, the bounds of Theorems 4 and 5."""

from typing import Any

import pandas as pd

from limo.measures.table import EFFECTIVENESS, MEASURES
from limo.reproduce.palette import FAINT, GOOD, INK, POOR, figure

__all__ = ["plot_bounds", "plot_table2", "plot_theorem3"]

_COLOURS = {0.1: "#0072b2", 0.3: "#d55e00", 0.5: "#009e73"}
_PANELS = (
    ("Theorem 4", "instance_f1"),
    ("Theorem 4", "micro_f1"),
    ("Theorem 5", "macro_f1"),
    ("Theorem 5", "hamming_loss"),
)


def plot_table2(facts: pd.DataFrame) -> Any:
    """The share of generated predictors on which each measure is perfect: ticks must be whole."""
    made, [[ax]] = figure(6.4, 4.6)
    names = list(MEASURES)
    for fact in facts.to_dict("records"):
        x, y = EFFECTIVENESS.index(fact["effectiveness"]), names.index(fact["measure"])
        share, tick = fact["perfect"] / fact["predictors"], fact["optimised"] != "no"
        colour = GOOD if tick else POOR
        ax.barh(y, 0.84, 0.72, x - 0.42, color=FAINT, alpha=0.35)
        ax.barh(y, 0.84 * share, 0.72, x - 0.42, color=colour, alpha=0.35 if tick else 0.5)
        mark = {"yes": "✓", "in_the_limit": "✓ (limit)", "no": "✗"}[fact["optimised"]]
        ax.text(x - 0.36, y, mark, va="center", ha="left", color=colour, weight="bold")
        ax.text(x + 0.38, y, _percent(share), va="center", ha="right", color=INK, fontsize=8)
    ax.set_xticks(range(len(EFFECTIVENESS)), EFFECTIVENESS)
    ax.set_yticks(range(len(names)), [MEASURES[name].title for name in names])
    ax.xaxis.tick_top()
    ax.tick_params(length=0, colors=INK)
    ax.set(xlim=(-0.5, len(EFFECTIVENESS) - 0.5), ylim=(len(names) - 0.5, -0.5))
    ax.spines[:].set_visible(False)
    return made


def _percent(share: float) -> str:
    """Never 100 % but for a whole share."""
    return "100 %" if share == 1 else f"{min(100 * share, 99.9):.1f} %"


def plot_theorem3(facts: pd.DataFrame) -> Any:
    """Micro-AUC over the number of instances, median and most of the draws, and its bound."""
    made, [[ax]] = figure(6.4, 4.0)
    for density, own in facts.groupby("density"):
        colour = _COLOURS[float(density)]
        m = own["instances"]
        ax.fill_between(m, own["low"], own["high"], color=colour, alpha=0.15, linewidth=0)
        ax.plot(m, own["median"], color=colour, label=f"{density:.0%} of entries relevant")
        ax.plot(m, own["bound"], color=colour, linestyle="--", linewidth=1)
    ax.plot([], [], color=INK, linestyle="--", linewidth=1, label="bound of Theorem 3")
    ax.set(xscale="log", xlabel="instances m", ylabel="micro-AUC", ylim=(0.45, 1.01))
    ax.grid(alpha=0.3)
    ax.legend(loc="lower right", frameon=False)
    return made


def plot_bounds(facts: pd.DataFrame) -> Any:
    """Measured value against bound, a point for each predictor; the forbidden side is shaded."""
    made, axes = figure(7.6, 6.8, 2, 2)
    for ax, (theorem, name) in zip(axes.flat, _PANELS, strict=True):
        own = facts[facts["theorem"].eq(theorem) & facts["measure"].eq(name)]
        _draw_bound(ax, own, name)
        ax.set_title(f"{theorem}: {MEASURES[name].title}", fontsize=10, color=INK)
    return made


def _draw_bound(ax: Any, own: pd.DataFrame, name: str) -> None:
    high = MEASURES[name].better == "high"
    end = 1.0 if high else float(own["bound"].max()) * 1.05
    ax.fill_between([0, end], [0, end], 0 if high else end, color=FAINT, alpha=0.35, linewidth=0)
    ax.plot([0, end], [0, end], color=INK, linewidth=1)
    if name == "micro_f1":
        broken = own[own["value"] < own["printed"] - 1e-12]
        marks = {"s": 14, "color": POOR, "marker": "x", "linewidths": 0.9}
        ax.scatter(broken["printed"], broken["value"], **marks, label="the printed bound, broken")
    ax.scatter(own["bound"], own["value"], s=9, color=GOOD, alpha=0.5, linewidths=0, label="bound")
    if name == "micro_f1":
        ax.legend(loc="upper left", frameon=False)
    ax.set(
        xlim=(0, end), ylim=(0, end * (1.02 if high else 1.0)), xlabel="bound", ylabel="measured"
    )
    side = {"x": 0.97, "y": 0.04, "ha": "right"} if high else {"x": 0.03, "y": 0.94, "ha": "left"}
    ax.text(**side, s="forbidden", transform=ax.transAxes, color=INK, alpha=0.7, fontsize=8)
