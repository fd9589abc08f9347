"""The critical-difference diagram: where its parts are placed, and a picture of it.

The layout is plain numbers, so that the report can draw the same diagram as SVG.
"""

import math
from collections.abc import Mapping
from numbers import Real
from typing import Any, Literal

from limo._settings import check_name
from limo._system import Later
from limo._types import check_kind
from limo.experiment._significance import Groups
from limo.experiment._statistics import Comparison
from limo.measures._table import MEASURES

plt = Later("matplotlib.pyplot")

_INK, _BAR, _FAINT = "#33415c", "#9e2a2b", "#c8ccd4"
_LINE = 0.32  # inches between two lines of text
_BAR_STEP = 0.6  # lines between two bars


def diagram_layout(
    average_ranks: Mapping[str, float], groups: Groups, critical_difference: float
) -> dict[str, Any]:
    """Place the parts of a critical-difference diagram; horizontal places are ranks.

    Parameters
    ----------
    average_ranks : mapping of str to float
        The average rank of each method, best first.
    groups : tuple of tuple of str
        Methods to join by a bar, best first.
    critical_difference : float
        The length of the ruler; nan for none.

    Returns
    -------
    dict
        ``ticks``, the ranks marked on the axis; ``names``, one record per method with its rank,
        its side ("left" for the better half, else "right") and its line counted from the top;
        ``bars``, one record per group with its ends and its line; ``ruler``, its two ends, or
        None.

    Examples
    --------
    >>> found = diagram_layout({"A": 1.0, "B": 2.25, "C": 2.75}, (("B", "C"),), 1.5)
    >>> [(one["name"], one["side"], one["line"]) for one in found["names"]]
    [('A', 'left', 0), ('B', 'left', 1), ('C', 'right', 0)]
    >>> found["bars"], found["ruler"]
    ([{'start': 2.25, 'end': 2.75, 'line': 0}], [1.0, 2.5])
    """
    check_kind(average_ranks, Mapping, "average_ranks must map methods to ranks")
    check_kind(groups, tuple | list, "groups must be a tuple of tuples of methods")
    check_kind(critical_difference, Real, "critical_difference must be a number")
    n_methods = len(average_ranks)
    half = (n_methods + 1) // 2
    names = []
    for place, (name, rank) in enumerate(average_ranks.items()):
        side, line = ("left", place) if place < half else ("right", n_methods - 1 - place)
        names.append({"name": name, "rank": rank, "side": side, "line": line})
    bars = [
        {"start": average_ranks[group[0]], "end": average_ranks[group[-1]], "line": line}
        for line, group in enumerate(groups)
    ]
    ruler = None if math.isnan(critical_difference) else [1.0, 1.0 + critical_difference]
    return {
        "ticks": list(range(1, max(2, n_methods) + 1)),
        "names": names,
        "bars": bars,
        "ruler": ruler,
    }


def plot_critical_difference(
    comparison: Comparison, *, test: Literal["nemenyi", "wilcoxon"] = "nemenyi", ax: Any = None
) -> Any:
    """Draw average ranks on an axis; bars join methods without a significant difference.

    Parameters
    ----------
    comparison : Comparison
        From :func:`limo.experiment.compare_methods`.
    test : {"nemenyi", "wilcoxon"}, default="nemenyi"
        The test whose groups are joined.
    ax : matplotlib axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Figure
        The picture.

    Examples
    --------
    >>> from limo.experiment import compare_methods, plot_critical_difference
    >>> rows = [
    ...     {"dataset": d, "split": 0, "measure": "macro_f1", "method": m, "value": v}
    ...     for d, values in enumerate([(0.5, 0.25, 0.125), (0.5, 0.375, 0.25)])
    ...     for m, v in zip("ABC", values)
    ... ]
    >>> figure = plot_critical_difference(compare_methods(rows, "macro_f1"))
    """
    check_name(test, ("nemenyi", "wilcoxon"), "test")
    check_kind(comparison, Comparison, "comparison must be what compare_methods returns")
    if ax is not None and not hasattr(ax, "set_title"):
        raise ValueError(f"ax must be matplotlib axes, got {ax!r}.")
    groups = comparison.groups if test == "nemenyi" else comparison.wilcoxon_groups
    layout = diagram_layout(comparison.average_ranks, groups, comparison.critical_difference)
    below_bars = _BAR_STEP * len(groups)
    depth = below_bars + 1 + max(one["line"] for one in layout["names"]) + 0.4
    if ax is None:
        size = (7.2, _LINE * (depth + 3.2))
        ax = plt.subplots(figsize=size, layout="constrained")[1]
    _draw_axis(ax, layout["ticks"], depth)
    for one in layout["names"]:
        _draw_name(ax, one, layout["ticks"][-1], -below_bars - 0.6 - one["line"])
    for bar in layout["bars"]:
        ends, y = [bar["start"] - 0.04, bar["end"] + 0.04], -0.45 - _BAR_STEP * bar["line"]
        ax.plot(ends, [y, y], color=_BAR, linewidth=4, solid_capstyle="round", gid="group")
    title = MEASURES[comparison.measure].title
    heading = f"{title}: average ranks on {comparison.n_blocks} blocks (1 is best)"
    ax.set_title(heading, fontsize=11, color=_INK, loc="left")
    _draw_legend(ax, layout["ruler"] if test == "nemenyi" else None, comparison.alpha)
    return ax.figure


def _draw_axis(ax: Any, ticks: list[int], depth: float) -> None:
    """An axis of ranks, best on the left, with space for the names on both sides."""
    first, last = ticks[0], ticks[-1]
    side = 0.32 * last
    ax.set(xlim=(first - side, last + side), ylim=(-depth - 0.3, 2.2))
    ax.axis("off")
    ax.plot([first, last], [0, 0], color=_INK, linewidth=1.2)
    for tick in ticks:
        ax.plot([tick, tick], [0, 0.18], color=_INK, linewidth=1.2)
        ax.text(tick, 0.3, str(tick), ha="center", va="bottom", color=_INK, fontsize=9)


def _draw_name(ax: Any, one: Mapping[str, Any], last: int, y: float) -> None:
    """A name beside the axis, joined to its rank by a line."""
    name, rank, left = one["name"], one["rank"], one["side"] == "left"
    margin = 0.1 * last / 6
    end = 1 - margin if left else last + margin
    ax.plot([rank, rank, end], [0, y, y], color=_FAINT, linewidth=1, zorder=0)
    ax.plot(rank, 0, "o", color=_INK, markersize=5, clip_on=False)
    text = f"{name}  {rank:.2f}" if left else f"{rank:.2f}  {name}"
    align: dict[str, Any] = {"ha": "right" if left else "left", "va": "center"}
    ax.text(end - 0.05 if left else end + 0.05, y, text, fontsize=10, color=_INK, **align)


def _draw_legend(ax: Any, ruler: list[float] | None, alpha: float) -> None:
    """The critical difference drawn to scale, or what the bars of Wilcoxon's test mean."""
    start, text = 1.0, f"bars: no significant difference by Wilcoxon–Holm at {alpha:g}"
    if ruler is not None:
        ax.plot(ruler, [1.35, 1.35], color=_BAR, linewidth=2, marker="|", gid="ruler")
        width, start = ruler[1] - ruler[0], ruler[1] + 0.1
        text = f"critical difference {width:.2f}; bars join smaller differences"
    ax.text(start, 1.35, text, color=_BAR, fontsize=9, va="center")
