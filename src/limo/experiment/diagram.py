"""Pictures of comparisons; matplotlib is loaded when the first one is drawn."""

from collections.abc import Mapping
from typing import Any, Literal

from limo._later import Later
from limo.experiment.statistics import Comparison
from limo.measures.table import MEASURES

__all__ = ["plot_critical_difference"]

plt = Later("matplotlib.pyplot")

_INK, _BAR, _FAINT = "#33415c", "#9e2a2b", "#c8ccd4"
_LINE = 0.32  # inches between neighbouring lines of the picture


def plot_critical_difference(
    comparison: Comparison, *, test: Literal["nemenyi", "wilcoxon"] = "nemenyi", ax: Any = None
) -> Any:
    """Draw average ranks on a line, methods that cannot be told apart joined by a bar.

    Parameters
    ----------
    comparison : Comparison
        From :func:`limo.experiment.statistics.compare`.
    test : {"nemenyi", "wilcoxon"}, default="nemenyi"
        Whose groups to join.
    ax : matplotlib axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Figure
        The picture.

    Examples
    --------
    >>> from limo.experiment import diagram, statistics
    >>> rows = [
    ...     {"dataset": d, "split": 0, "measure": "macro_f1", "method": m, "value": v}
    ...     for d, values in enumerate([(0.5, 0.25, 0.125), (0.5, 0.375, 0.25)])
    ...     for m, v in zip("ABC", values)
    ... ]
    >>> figure = diagram.plot_critical_difference(statistics.compare(rows, "macro_f1"))
    """
    groups = comparison.groups if test == "nemenyi" else comparison.wilcoxon_groups
    ranks = comparison.average_ranks
    below = (len(ranks) + 1) // 2  # lines of names under the axis
    deep = 0.6 * len(groups) + below + 0.4
    ax = _axes(deep) if ax is None else ax
    _scale(ax, len(ranks), deep)
    _name(ax, ranks, 0.6 * len(groups))
    for k, group in enumerate(groups):
        ends = [ranks[group[0]] - 0.04, ranks[group[-1]] + 0.04]
        y = -0.45 - 0.6 * k
        ax.plot(ends, [y, y], color=_BAR, linewidth=4, solid_capstyle="round", gid="group")
    _ruler(ax, comparison, test)
    return ax.figure


def _axes(deep: float) -> Any:
    return plt.subplots(figsize=(7.2, _LINE * (deep + 3.2)), layout="constrained")[1]


def _scale(ax: Any, n_methods: int, deep: float) -> None:
    """An axis of ranks, best on the left, and room for the names on both sides."""
    side = 0.32 * n_methods
    ax.set(xlim=(1 - side, n_methods + side), ylim=(-deep - 0.3, 2.2))
    ax.axis("off")
    ax.plot([1, n_methods], [0, 0], color=_INK, linewidth=1.2)
    for k in range(1, n_methods + 1):
        ax.plot([k, k], [0, 0.18], color=_INK, linewidth=1.2)
        ax.text(k, 0.3, str(k), ha="center", va="bottom", color=_INK, fontsize=9)


def _name(ax: Any, ranks: Mapping[str, float], start: float) -> None:
    """Names left and right, each joined to its place: the better half left, best on top."""
    names = sorted(ranks, key=ranks.__getitem__)
    half = (len(names) + 1) // 2
    worst = len(names)
    for k, name in enumerate(names):
        left = k < half
        y = -start - 0.6 - (k if left else worst - 1 - k)
        end = 1 - 0.1 * worst / 6 if left else worst + 0.1 * worst / 6
        ax.plot([ranks[name]] * 2 + [end], [0, y, y], color=_FAINT, linewidth=1, zorder=0)
        ax.plot(ranks[name], 0, "o", color=_INK, markersize=5, clip_on=False)
        text = f"{name}  {ranks[name]:.2f}" if left else f"{ranks[name]:.2f}  {name}"
        where = {"ha": "right" if left else "left", "va": "center", "color": _INK}
        ax.text(end - 0.05 if left else end + 0.05, y, text, fontsize=10, **where)


def _ruler(ax: Any, comparison: Comparison, test: str) -> None:
    """How far apart ranks must be, drawn to scale, and what the picture shows."""
    title = MEASURES[comparison.measure].title
    said = f"{title}: average ranks on {comparison.n_blocks} blocks (1 is best)"
    ax.set_title(said, fontsize=11, color=_INK, loc="left")
    if test == "wilcoxon":
        text = f"bars join what Wilcoxon–Holm cannot tell apart at {comparison.alpha:g}"
        ax.text(1, 1.35, text, color=_BAR, fontsize=9, va="center")
        return
    width = comparison.critical_difference
    ax.plot([1, 1 + width], [1.35, 1.35], color=_BAR, linewidth=2, marker="|", gid="ruler")
    text = f"critical difference {width:.2f}; bars join what lies closer"
    ax.text(1 + width + 0.1, 1.35, text, color=_BAR, fontsize=9, va="center")
