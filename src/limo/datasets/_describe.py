"""``limo.describe`` summarises a data set; plots of the summary and of the data of Figure 1."""

import json
from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy import sparse

from limo._system import Later
from limo.datasets._dataset import Dataset, row_keys
from limo.datasets._synthetic import REGIONS, figure1

pd = Later("pandas")

_FEW = 10  # a label with fewer positives can hardly be learnt or evaluated
_PAIRS = 10  # pairs of labels to list


@dataclass(frozen=True)
class Description:
    """The facts of a data set; print it as a table, or draw it with ``plot()``.

    Attributes
    ----------
    source : str
        Where the data come from.
    n_samples, n_features, n_labels : int
        The shape.
    cardinality, density : float
        The mean number of labels per instance, and that number divided by ``n_labels``.
    feature_density : float
        The share of entries of ``X`` that are not 0.
    n_label_sets : int
        The number of distinct label sets.
    fewest_labels, most_labels : int
        The smallest and the largest number of labels per instance.
    n_without_labels, n_without_features : int
        The number of instances with no label, and with no feature other than 0.
    n_repeated, n_repeated_features : int
        The number of rows equal to an earlier one: with labels, and comparing features alone.
    n_shared : int or None
        The number of rows that are in both parts with equal labels; None without another part.
    label_names : tuple of str
        The labels.
    positives : tuple of int
        The number of positive instances of each label.
    imbalance : tuple of float
        The positives of the most frequent label divided by those of each label; inf for a label
        without positives.
    set_sizes : tuple of int
        How many instances have 0, 1, 2, ... labels.
    pairs : tuple of (str, str, int)
        The pairs of labels that occur together most often, and how often.
    n_missing : int
        How many labels are missing. They count as neither positive nor negative.

    Examples
    --------
    >>> import limo
    >>> facts = limo.describe(limo.datasets.figure1(100))
    >>> facts.n_labels, facts.n_label_sets
    (4, 4)
    """

    source: str
    n_samples: int
    n_features: int
    n_labels: int
    cardinality: float
    density: float
    feature_density: float
    n_label_sets: int
    fewest_labels: int
    most_labels: int
    n_without_labels: int
    n_without_features: int
    n_repeated: int
    n_repeated_features: int
    n_shared: int | None
    label_names: tuple[str, ...]
    positives: tuple[int, ...]
    imbalance: tuple[float, ...]
    set_sizes: tuple[int, ...]
    pairs: tuple[tuple[str, str, int], ...]
    n_missing: int = 0

    @property
    def mean_imbalance(self) -> float:
        """The mean imbalance of the labels that have a positive."""
        finite = [value for value in self.imbalance if np.isfinite(value)]
        return float(np.mean(finite)) if finite else float("nan")

    def rare_labels(self, fewer_than: int = _FEW) -> tuple[str, ...]:
        """The labels with fewer positives than this, rarest first."""
        order = np.argsort(self.positives, kind="stable")
        return tuple(self.label_names[j] for j in order if self.positives[j] < fewer_than)

    def to_frame(self) -> Any:
        """A pandas DataFrame with one row per label."""
        positives = np.array(self.positives, dtype=np.int64)
        share = positives / max(self.n_samples, 1)
        columns = {"positives": positives, "share": share, "imbalance": self.imbalance}
        return pd.DataFrame(columns, index=pd.Index(self.label_names, name="label"))

    def to_json(self) -> str:
        """All facts as JSON; an infinite imbalance is null."""
        record = asdict(self)
        record["imbalance"] = [v if np.isfinite(v) else None for v in self.imbalance]
        return json.dumps(record, ensure_ascii=False)

    def plot(self) -> Any:
        """Draw label frequencies, label set sizes and the labels that occur together."""
        return plot_description(self)

    def _facts(self) -> list[tuple[str, str]]:
        """The lines of the table."""
        rare = self.rare_labels()
        unused = sum(count == 0 for count in self.positives)
        facts = [
            ("instances", f"{self.n_samples:,}"),
            ("features", f"{self.n_features:,} ({self.feature_density:.2%} nonzero)"),
            ("labels", f"{self.n_labels:,}"),
            ("cardinality", f"{self.cardinality:.4f} ({self.fewest_labels} to {self.most_labels})"),
            ("density", f"{self.density:.5f}"),
            ("distinct label sets", f"{self.n_label_sets:,}"),
            ("mean imbalance", f"{self.mean_imbalance:.1f}"),
            ("labels without positives", f"{unused:,}"),
            (f"labels under {_FEW} positives", f"{len(rare):,}{_examples(rare)}"),
            ("instances without labels", f"{self.n_without_labels:,}"),
            ("instances without features", f"{self.n_without_features:,}"),
            (
                "repeated rows",
                f"{self.n_repeated:,} (features alone: {self.n_repeated_features:,})",
            ),
        ]
        if self.n_missing:
            share = self.n_missing / (self.n_samples * self.n_labels)
            facts.insert(3, ("missing labels", f"{self.n_missing:,} ({share:.2%})"))
        if self.n_shared is not None:
            facts.append(("rows in both parts", f"{self.n_shared:,}"))
        if self.pairs:
            first, second, count = self.pairs[0]
            facts.append(("most often together", f"{first} and {second} ({count:,} times)"))
        return facts

    def __str__(self) -> str:
        facts = self._facts()
        width = max(len(name) for name, _ in facts)
        lines = [f"{name:<{width}}  {value}" for name, value in facts]
        return "\n".join([self.source] * bool(self.source) + lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        facts = pd.DataFrame(self._facts(), columns=["", self.source])
        return str(facts.to_html(index=False))


def describe(dataset: Dataset, other: Dataset | None = None) -> Description:
    """Describe a data set: its size, label frequencies, label sets and repeated rows.

    Parameters
    ----------
    dataset : Dataset
        The data to describe.
    other : Dataset, optional
        Another part of the same data, such as the test part: rows that are in both are counted.

    Returns
    -------
    Description
        Print it for a table; ``plot()`` draws it, ``to_frame()`` lists the labels.

    Examples
    --------
    >>> import limo
    >>> facts = limo.describe(limo.datasets.figure1(1000))
    >>> facts.n_label_sets, facts.cardinality
    (4, 2.508)
    >>> print(facts)
    figure1
    instances                   1,000
    features                    2 (100.00% nonzero)
    labels                      4
    cardinality                 2.5080 (1 to 4)
    density                     0.62700
    distinct label sets         4
    ...
    """
    if not isinstance(dataset, Dataset):
        raise TypeError(
            f"describe takes a Dataset, got {type(dataset).__name__}. limo.read gives one; for "
            "arrays: limo.Dataset(X, Y, feature_names, label_names)"
        )
    X, (Y, n_missing) = dataset.X, _known(dataset.Y)
    m, n_labels = Y.shape
    sizes = np.diff(Y.indptr)
    positives = np.bincount(Y.indices, minlength=n_labels)
    row_features, row_labels = row_keys(X), row_keys(dataset.Y)
    rows = list(zip(row_features, row_labels, strict=True))
    cardinality = float(sizes.mean()) if m else 0.0
    filled = np.diff(sparse.csr_array(X).indptr) if sparse.issparse(X) else (X != 0).sum(axis=1)
    return Description(
        source=dataset.source,
        n_samples=m,
        n_features=X.shape[1],
        n_labels=n_labels,
        cardinality=cardinality,
        density=float(sizes.sum() / max(m * n_labels - n_missing, 1)),
        feature_density=float(filled.sum() / max(m * X.shape[1], 1)),
        n_label_sets=len(set(row_labels)),
        fewest_labels=int(sizes.min()) if m else 0,
        most_labels=int(sizes.max()) if m else 0,
        n_without_labels=int((sizes == 0).sum()),
        n_without_features=int((filled == 0).sum()),
        n_repeated=m - len(set(rows)),
        n_repeated_features=m - len(set(row_features)),
        n_shared=None if other is None else _shared(rows, other),
        label_names=dataset.label_names,
        positives=tuple(positives.tolist()),
        imbalance=_imbalance(positives),
        set_sizes=tuple(np.bincount(sizes).tolist()),
        pairs=_frequent_pairs(Y, dataset.label_names),
        n_missing=n_missing,
    )


def _known(Y: Any) -> tuple[Any, int]:
    """The labels without those that are missing, and how many are."""
    known = sparse.csr_array(Y, copy=True)
    gone = np.isnan(known.data)
    known.data[gone] = 0
    known.eliminate_zeros()
    return known, int(gone.sum())


def _shared(rows: list[tuple[bytes, bytes]], other: Dataset) -> int:
    """How many rows of one data set can be paired with an equal row of the other."""
    theirs = Counter(zip(row_keys(other.X), row_keys(other.Y), strict=True))
    return (Counter(rows) & theirs).total()


def _imbalance(positives: Any) -> tuple[float, ...]:
    most = positives.max() if len(positives) else 0
    return tuple((most / count if count else float("inf")) for count in positives.tolist())


def _frequent_pairs(Y: Any, names: tuple[str, ...]) -> tuple[tuple[str, str, int], ...]:
    """The pairs of labels that occur together most often, most frequent first."""
    together = sparse.triu(Y.T.astype(np.int64) @ Y.astype(np.int64), k=1, format="coo")
    order = np.lexsort((together.col, together.row, -together.data))[:_PAIRS]
    return tuple(
        (names[together.row[k]], names[together.col[k]], int(together.data[k])) for k in order
    )


def _examples(names: tuple[str, ...]) -> str:
    shown = ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
    return f" ({shown})" if names else ""


# Pictures; matplotlib is imported when the first one is drawn.

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
    """Draw three panels: label frequencies, labels per instance, labels that occur together.

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
    _clean(ax, "labels per instance", "labels", "instances")


def _draw_pairs(ax: Any, facts: Any) -> None:
    names = [f"{_cut(a)} + {_cut(b)}" for a, b, _ in facts.pairs]
    ax.barh(range(len(names)), [count for _, _, count in facts.pairs], color=_COLOURS[1])
    ax.set_yticks(range(len(names)), names, fontsize=7)
    ax.invert_yaxis()
    _clean(ax, "labels most often together", "instances")


def _cut(name: str, width: int = 18) -> str:
    return name if len(name) <= width else name[: width - 1] + "…"


def plot_triangles(data: Dataset | None = None) -> Any:
    """Draw the paper's Figure 1: the square, its four triangles and the label set of each.

    Parameters
    ----------
    data : Dataset, optional
        Data made by :func:`figure1`; by default 1000 points.

    Returns
    -------
    matplotlib Figure
        The picture.

    Examples
    --------
    >>> import limo
    >>> figure = limo.datasets.plot_triangles()
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
    """Write the label set of a triangle into it."""
    rows = data.Y[_region(data.X) == region]
    if len(rows):
        names = [name for name, y in zip(data.label_names, rows[0], strict=True) if y]
        box = {"boxstyle": "round,pad=0.3", "facecolor": "white", "edgecolor": "none"}
        text = "{" + ", ".join(names) + "}"
        ax.text(*centre, text, ha="center", va="center", fontsize=11, color=_INK, bbox=box)


def plot_regions(data: Dataset | None = None) -> Any:
    """Draw which points of :func:`figure1` have each label: one square per label.

    Parameters
    ----------
    data : Dataset, optional
        As for :func:`plot_triangles`.

    Returns
    -------
    matplotlib Figure
        The picture.

    Examples
    --------
    >>> import limo
    >>> figure = limo.datasets.plot_regions()
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
