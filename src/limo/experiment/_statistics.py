"""Which methods differ on a measure: ranks, tests and groups from rows of results, in one record.

How equal results are treated changes ranks and p-values, so :class:`Comparison` says in
sentences what each convention would have changed.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd

from limo._checks import check_name
from limo._system import Later
from limo.experiment._significance import (
    Friedman,
    Zeros,
    critical_difference,
    friedman,
    nemenyi,
    wilcoxon_holm,
)
from limo.experiment._summary import (
    Better,
    Ties,
    average_ranks,
    check_rows,
    missing,
    rank,
    summarise,
)
from limo.measures._table import MEASURES

__all__ = [
    "Comparison",
    "Friedman",
    "average_ranks",
    "compare",
    "critical_difference",
    "friedman",
    "groups",
    "missing",
    "nemenyi",
    "plot_critical_difference",
    "rank",
    "summarise",
    "wilcoxon_holm",
]


Groups = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, eq=False)
class Comparison:
    """How methods compare on one measure.

    Attributes
    ----------
    measure : str
        The measure.
    average_ranks : dict of str to float
        The average rank of each method, best first.
    n_blocks : int
        How many data sets (or splits) were counted.
    friedman : Friedman
        Whether the methods differ at all.
    alpha, critical_difference : float
        Average ranks farther apart than the critical difference differ, by Nemenyi's test.
    nemenyi : DataFrame of shape (n_methods, n_methods)
        P-values of all pairs by that test.
    pairs : DataFrame
        All pairs by Wilcoxon's test with Holm's adjustment, see :func:`wilcoxon_holm`.
    groups, wilcoxon_groups : tuple of tuple of str
        Methods that Nemenyi's test, or Wilcoxon's, cannot tell apart.
    left_out : tuple of str
        Data sets (or splits) that were not counted, each with the reason.
    notes : tuple of str
        What to know before trusting the tests, in sentences: ties, zeros, too few blocks.
    """

    measure: str
    average_ranks: dict[str, float]
    n_blocks: int
    friedman: Friedman
    alpha: float
    critical_difference: float
    nemenyi: pd.DataFrame
    pairs: pd.DataFrame
    groups: Groups
    wilcoxon_groups: Groups
    left_out: tuple[str, ...]
    notes: tuple[str, ...]

    def __str__(self) -> str:
        ranks = ", ".join(f"{name} {value:.2f}" for name, value in self.average_ranks.items())
        lines = [
            f"{MEASURES[self.measure].title}, average ranks: {ranks}.",
            f"{self.friedman}.",
            f"Critical difference at {self.alpha:g}: {self.critical_difference:.2f}.",
            *(f"Left out: {block}." for block in self.left_out),
            *self.notes,
        ]
        return "\n".join(lines)


def compare(
    rows: Any,
    measure: str,
    *,
    blocks: Literal["dataset", "split"] = "dataset",
    alpha: float = 0.05,
    zeros: Zeros = "zsplit",
) -> Comparison:
    """Compare methods on one measure over data sets, or over the splits of one data set.

    Parameters
    ----------
    rows : DataFrame
        Tidy results, as :func:`limo.experiment.run` returns them.
    measure : str
        One of ``limo.MEASURES``.
    blocks : {"dataset", "split"}, default="dataset"
        What counts as one observation: the mean of a data set, or every split. Splits of one
        data set share instances, so that tests over them are too sure; a note says so.
    alpha : float, default=0.05
        Level of the tests.
    zeros : {"zsplit", "wilcox", "pratt"}, default="zsplit"
        What Wilcoxon's test does with zero differences.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> from limo.experiment import compare
    >>> rows = [
    ...     {"dataset": d, "split": 0, "measure": "macro_f1", "method": m, "value": v}
    ...     for d, values in enumerate([(0.5, 0.25, 0.125), (0.5, 0.375, 0.25), (0.5, 0.5, 0.25)])
    ...     for m, v in zip("ABC", values)
    ... ]
    >>> print(compare(rows, "macro_f1"))
    macro-F1, average ranks: A 1.17, B 1.83, C 3.00.
    Friedman chi-square 5.64 (p = 0.0597), ...
    """
    check_name(measure, MEASURES, "measure")
    check_name(blocks, ("dataset", "split"), "kind of block")
    table = check_rows(rows)
    own = table[table["measure"] == measure]
    if own.empty:
        raise ValueError(
            f"rows hold no {measure}: expected one of {', '.join(table['measure'].unique())}."
        )
    better = MEASURES[measure].better
    values = _blocks(own, blocks)
    whole = values.dropna()
    ranks = rank(whole, better).mean().sort_values(kind="stable")
    cd = critical_difference(values.shape[1], len(whole), alpha=alpha)
    pairs = wilcoxon_holm(whole, alpha=alpha, zeros=zeros)
    differ = {
        frozenset(pair) for pair in pairs.loc[pairs["differs"], ["first", "second"]].to_numpy()
    }
    return Comparison(
        measure=measure,
        average_ranks={str(name): float(value) for name, value in ranks.items()},
        n_blocks=len(whole),
        friedman=friedman(whole, better),
        alpha=alpha,
        critical_difference=cd,
        nemenyi=nemenyi(whole, better),
        pairs=pairs,
        groups=groups(ranks.index, lambda a, b: abs(ranks[a] - ranks[b]) > cd),
        wilcoxon_groups=groups(ranks.index, lambda a, b: frozenset((a, b)) in differ),
        left_out=_left_out(values, own),
        notes=_notes(whole, better, blocks, pairs, alpha, zeros),
    )


def groups(ordered: Iterable[str], apart: Callable[[str, str], bool]) -> Groups:
    """Find the longest runs of methods of which no two differ; methods alone are left out.

    Parameters
    ----------
    ordered : iterable of str
        Methods by average rank.
    apart : callable
        Says whether two methods differ.

    Returns
    -------
    tuple of tuple of str

    Examples
    --------
    >>> from limo.experiment import groups
    >>> place = {"A": 1.0, "B": 1.5, "C": 2.5, "D": 4.0}
    >>> groups(place, lambda a, b: abs(place[a] - place[b]) > 1)
    (('A', 'B'), ('B', 'C'))
    """
    names = tuple(ordered)
    runs: list[tuple[str, ...]] = []
    for start in range(len(names)):
        end = start + 1
        while end < len(names) and not any(apart(a, names[end]) for a in names[start:end]):
            end += 1
        if end - start > 1 and not (runs and runs[-1][-1] == names[end - 1]):
            runs.append(names[start:end])
    return tuple(runs)


def _blocks(rows: pd.DataFrame, blocks: str) -> pd.DataFrame:
    """One value for each block and method, the methods in the order they came."""
    order = rows["method"].unique()
    if blocks == "dataset":
        means = summarise(rows)
        return means.pivot(index="dataset", columns="method", values="mean")[order]
    named = rows.assign(block=_split_names(rows))
    return named.pivot(index="block", columns="method", values="value")[order]


def _split_names(rows: pd.DataFrame) -> pd.Series:
    return rows["dataset"].astype(str) + " split " + rows["split"].astype(str)


def _left_out(values: pd.DataFrame, rows: pd.DataFrame) -> tuple[str, ...]:
    """Every block without a value of some method, and every gap inside a block that counts."""
    whole = values.notna().all(axis=1)
    said = [
        f"{block} (no value of {', '.join(values.columns[values.loc[block].isna()])})"
        for block in values.index[~whole]
    ]
    gaps = missing(rows)
    inside = gaps[gaps["dataset"].isin(values.index[whole].astype(str))]
    for split, cell in inside.groupby(_split_names(inside), sort=False):
        reasons = ", ".join(f"{m}: {r}" for m, r in cell[["method", "reason"]].to_numpy())
        said.append(f"{split} ({reasons})")
    return tuple(said)


def _notes(
    values: pd.DataFrame,
    better: Better,
    blocks: str,
    pairs: pd.DataFrame,
    alpha: float,
    zeros: Zeros,
) -> tuple[str, ...]:
    """What to know before trusting the tests."""
    notes = [_tie_note(values, better), _zero_note(values, pairs, alpha, zeros)]
    n_pairs = len(pairs)
    if n_pairs * 2.0 ** (1 - len(values)) > alpha:
        notes.append(
            f"With {len(values)} blocks Wilcoxon's test cannot tell any of {n_pairs} pairs apart "
            f"at {alpha:g}, whatever the values: compare on more data sets."
        )
    if blocks == "split":
        notes.append(
            "Blocks are splits: those of one data set share instances, so the tests are too sure."
        )
    return tuple(notes)


def _tie_note(values: pd.DataFrame, better: Better) -> str:
    """What equal results did, and what other conventions would have made of them."""
    ranks = rank(values, better)
    tied = int((ranks.nunique(axis=1) < ranks.shape[1]).sum())
    if not tied:
        return "No two methods tie: every convention for ties gives the same ranks."
    rules: tuple[Ties, Ties] = ("min", "max")
    moves = [(rank(values, better, ties=rule).mean() - ranks.mean()).abs().max() for rule in rules]
    plain = friedman(values, better, correct_ties=False).p_value
    return (
        f"Ties: methods are equal in {tied} of {len(values)} blocks and share the average of their "
        f"places. With the best place for each, average ranks would move by up to {moves[0]:.2f}, "
        f"with the worst by up to {moves[1]:.2f}; without its correction for ties Friedman's p "
        f"would be {plain:.3g}."
    )


def _zero_note(values: pd.DataFrame, chosen: pd.DataFrame, alpha: float, zeros: Zeros) -> str:
    """What zero differences did to Wilcoxon's test."""
    if not chosen["zeros"].any():
        return "No zero differences: every convention for them gives the same Wilcoxon p-values."
    rules: tuple[Zeros, ...] = ("zsplit", "wilcox", "pratt")
    others = [wilcoxon_holm(values, alpha=alpha, zeros=rule) for rule in rules if rule != zeros]
    changed = max(int((other["differs"] != chosen["differs"]).sum()) for other in others)
    return (
        f"Zero differences occur in {int((chosen['zeros'] > 0).sum())} of {len(chosen)} pairs "
        f"(rule {zeros!r}); another rule would change the verdict on {changed} of them at most."
    )


# Pictures of comparisons; matplotlib is loaded when the first one is drawn.

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
        From :func:`limo.experiment.compare`.
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
    >>> from limo.experiment import compare, plot_critical_difference
    >>> rows = [
    ...     {"dataset": d, "split": 0, "measure": "macro_f1", "method": m, "value": v}
    ...     for d, values in enumerate([(0.5, 0.25, 0.125), (0.5, 0.375, 0.25)])
    ...     for m, v in zip("ABC", values)
    ... ]
    >>> figure = plot_critical_difference(compare(rows, "macro_f1"))
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
