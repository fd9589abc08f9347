"""What drawings share: colours, new axes that are shown once, and dots with intervals."""

import reprlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from limo._system import Later
from limo._types import Anything, Values

figures = Later("matplotlib.figure")

INK, FAINT, GOOD, POOR = "#33415c", "#c8ccd4", "#0072b2", "#d55e00"
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#56b4e9", "#7a3b00", "#000000")
"""Okabe and Ito's colours, which colour-blind readers can distinguish."""


def new_axes(ax: Any, width: float, height: float) -> Any:
    """The given axes; or those of a new figure, which pyplot does not know.

    A notebook draws such a figure once, when it is the last value of a cell. It would draw one of
    pyplot's a second time at the end of the cell.
    """
    if ax is not None:
        if not hasattr(ax, "spines"):
            raise TypeError(f"ax must be axes of matplotlib, got {reprlib.repr(ax)}.")
        return ax
    return figures.Figure(figsize=(width, height), layout="constrained").subplots()


def tidy(ax: Any) -> Any:
    """Axes without a frame at the top and the right."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(colors=INK)
    return ax


def draw_dots(
    ax: Any, names: Sequence[str], values: Anything, low: Values | None, high: Values | None
) -> None:
    """One line per name from the top down: a dot, and its interval if there are any."""
    places = np.arange(len(names))
    if low is not None and high is not None:
        ax.hlines(places, low, high, color=FAINT, linewidth=5, gid="intervals")
    ax.plot(values, places, "o", color=GOOD, markersize=5, gid="values")
    ax.set_yticks(places, names)
    ax.set_ylim(len(names) - 0.4, -0.6)
    tidy(ax)


def draw_lines(
    ax: Any, curves: Sequence[tuple[Anything, Anything]], names: Sequence[str], shown: Sequence[int]
) -> None:
    """Many faint curves, and a few in colour with their names."""
    for place, (x, y) in enumerate(curves):
        if place not in shown:
            ax.plot(x, y, color=FAINT, linewidth=0.8, zorder=1)
    for colour, place in zip(COLOURS * (1 + len(shown) // len(COLOURS)), shown, strict=False):
        x, y = curves[place]
        ax.plot(x, y, color=colour, linewidth=1.6, label=names[place], zorder=2)
    if shown:
        ax.legend(frameon=False, fontsize=8)
    tidy(ax)
