"""Pictures of data sets; matplotlib is loaded when the first one is drawn."""

from typing import Any

import numpy as np

from limo._later import Later
from limo.datasets.dataset import Dataset
from limo.datasets.synthetic import REGIONS, figure1

__all__ = ["plot_description", "plot_regions", "plot_triangles"]

plt = Later("matplotlib.pyplot")

_INK, _COLOURS = "#33415c", ("#3a7ca5", "#e09f3e", "#9e2a2b", "#5f8a5b")
_TRIANGLES = {  # corners beside the centre, in the order of REGIONS
    "right": ((1, -1), (1, 1)),
    "top": ((1, 1), (-1, 1)),
    "left": ((-1, 1), (-1, -1)),
    "bottom": ((-1, -1), (1, -1)),
}


def _figure(n_panels: int, width: float, height: float) -> tuple[Any, Any]:
    size = (width, height)
    figure, axes = plt.subplots(1, n_panels, figsize=size, layout="constrained", squeeze=False)
    return figure, axes


def _clean(ax: Any, title: str, x: str = "", y: str = "") -> None:
    ax.set_title(title, fontsize=10, color=_INK)
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    ax.spines[["top", "right"]].set_visible(False)


def plot_description(facts: Any) -> Any:
    """Three panels: how frequent labels are, how many an instance has, which go together.

    Parameters
    ----------
    facts : Description
        From :func:`limo.describe`.

    Returns
    -------
    matplotlib Figure
        The picture.
    """
    figure, [[left, middle, right]] = _figure(3, 12, 3.6)
    figure.suptitle(f"{facts.source}: {facts.n_samples:,} instances, {facts.n_labels:,} labels")
    _draw_frequencies(left, facts)
    _draw_set_sizes(middle, facts)
    _draw_pairs(right, facts)
    return figure


def _draw_frequencies(ax: Any, facts: Any) -> None:
    counts = np.sort(facts.positives)[::-1]
    ranks = np.arange(1, len(counts) + 1)
    if len(counts) <= 40:
        ax.bar(ranks, counts, color=_COLOURS[0])
    else:
        ax.fill_between(ranks, counts, step="mid", color=_COLOURS[0], linewidth=0)
    if counts.max(initial=0) > 100:
        ax.set_yscale("symlog", linthresh=10)
    ax.set_ylim(bottom=0)
    _clean(ax, "positives of each label", "labels, most frequent first", "instances")


def _draw_set_sizes(ax: Any, facts: Any) -> None:
    ax.bar(range(len(facts.set_sizes)), facts.set_sizes, color=_COLOURS[3])
    ax.axvline(facts.cardinality, color=_INK, linestyle=":", linewidth=1)
    ax.annotate(
        f"mean {facts.cardinality:.2f}",
        (facts.cardinality, 0.97),
        xycoords=("data", "axes fraction"),
        xytext=(4, 0),
        textcoords="offset points",
        va="top",
        fontsize=8,
        color=_INK,
    )
    ax.xaxis.get_major_locator().set_params(integer=True)
    _clean(ax, "labels of an instance", "labels", "instances")


def _draw_pairs(ax: Any, facts: Any) -> None:
    names = [f"{_cut(a)} + {_cut(b)}" for a, b, _ in facts.pairs]
    ax.barh(range(len(names)), [count for _, _, count in facts.pairs], color=_COLOURS[1])
    ax.set_yticks(range(len(names)), names, fontsize=7)
    ax.invert_yaxis()
    _clean(ax, "labels most often together", "instances")


def _cut(name: str, width: int = 18) -> str:
    return name if len(name) <= width else name[: width - 1] + "…"


def plot_triangles(data: Dataset | None = None) -> Any:
    """The paper's Figure 1: the square, its four triangles and the label set of each.

    Parameters
    ----------
    data : Dataset, optional
        From :func:`figure1`; by default 1000 points of it.

    Returns
    -------
    matplotlib Figure
        The picture.
    """
    data = data or figure1(1000)
    figure, [[ax]] = _figure(1, 4.2, 4.4)
    for region, colour in zip(REGIONS, _COLOURS, strict=True):
        corners = ((0, 0), *_TRIANGLES[region])
        ax.fill(*zip(*corners, strict=True), color=colour, alpha=0.18, linewidth=0)
        inside = data.X[_region(data.X) == region]
        ax.scatter(*inside.T, s=3, color=colour, linewidths=0)
        _name_region(ax, data, region, np.mean(corners, axis=0))
    _square(ax, "Figure 1: four triangles, four label sets")
    return figure


def _name_region(ax: Any, data: Dataset, region: str, centre: Any) -> None:
    """Write a triangle's label set where its points are."""
    rows = data.Y[_region(data.X) == region]
    if len(rows):
        names = [name for name, y in zip(data.label_names, rows[0], strict=True) if y]
        box = {"boxstyle": "round,pad=0.3", "facecolor": "white", "edgecolor": "none"}
        text = "{" + ", ".join(names) + "}"
        ax.text(*centre, text, ha="center", va="center", fontsize=11, color=_INK, bbox=box)


def plot_regions(data: Dataset | None = None) -> Any:
    """Where each label of :func:`figure1` holds: one square a label.

    Parameters
    ----------
    data : Dataset, optional
        From :func:`figure1`; by default 1000 points of it.

    Returns
    -------
    matplotlib Figure
        The picture.
    """
    data = data or figure1(1000)
    figure, [panels] = _figure(len(data.label_names), 2.8 * len(data.label_names), 3.1)
    for j, (ax, colour) in enumerate(zip(panels, _COLOURS, strict=True)):
        has = data.Y[:, j] == 1
        ax.scatter(*data.X[~has].T, s=3, color="#c8ccd4", linewidths=0)
        ax.scatter(*data.X[has].T, s=3, color=colour, linewidths=0)
        _square(ax, f"label {data.label_names[j]}")
    return figure


def _region(X: Any) -> Any:
    """The name of each point's triangle."""
    x, y = X.T
    places = [x > np.abs(y), y > np.abs(x), -x > np.abs(y)]
    return np.select(places, REGIONS[:3], default=REGIONS[3])


def _square(ax: Any, title: str) -> None:
    ax.set(xlim=(-1, 1), ylim=(-1, 1), aspect="equal", xticks=[-1, 0, 1], yticks=[-1, 0, 1])
    ax.set_title(title, fontsize=10, color=_INK)
