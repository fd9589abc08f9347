"""Results of runs -> means, ranks, and which methods differ on a measure.

Results are the table that :func:`limo.experiment.run` returns. Only its columns ``dataset``,
``split``, ``method``, ``measure`` and ``value`` are needed; ``status`` and ``error`` explain
missing values. How ties are treated changes ranks and p-values, so a :class:`Comparison` says what
other conventions would have changed.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from limo._settings import check_name
from limo.experiment._significance import (
    Better,
    Friedman,
    Groups,
    Ties,
    Zeros,
    as_table,
    critical_difference,
    friedman,
    groups,
    nemenyi,
    rank,
    wilcoxon_holm,
)
from limo.measures._table import MEASURES

CELL = ["dataset", "measure"]
_NEEDED = ("dataset", "split", "method", "measure", "value")


def check_rows(rows: Any) -> pd.DataFrame:
    """Check that no column is missing and no result occurs twice."""
    table = as_table(rows, "rows")
    absent = [name for name in _NEEDED if name not in table.columns]
    if absent:
        raise ValueError(
            f"rows must have the columns {', '.join(_NEEDED)}; missing: {', '.join(absent)}. "
            "Pass what limo.experiment.run or read_rows returns."
        )
    names = {name: check_name(name, MEASURES, "measure") for name in table["measure"].unique()}
    table = table.assign(measure=table["measure"].map(names))
    doubled = table.duplicated(["dataset", "split", "method", "measure"])
    if doubled.any():
        first = table[doubled].iloc[0]
        raise ValueError(
            "rows must have one row per data set, split, method and measure: "
            f"({first['dataset']}, {first['split']}, {first['method']}, {first['measure']}) "
            "occurs more than once. Use the rows of one plan."
        )
    return table


# Means, standard deviations and ranks.


def summarise(rows: Any, *, ties: Ties = "average") -> pd.DataFrame:
    """Mean, standard deviation and rank per data set, measure and method, as in the paper's table.

    For each data set and measure, all methods are averaged over the same splits: those on which
    every method has a value. A method without any value gets nan, and the others are ranked
    without it. :func:`missing_results` lists what was left out.

    Parameters
    ----------
    rows : DataFrame
        Results, as :func:`limo.experiment.run` returns them.
    ties : {"average", "min", "max"}, default="average"
        The rank of methods with equal means: the average, the best or the worst of their places.
        The average keeps the sum of ranks, which the tests need.

    Returns
    -------
    DataFrame
        With the columns dataset, measure, method, mean, std (with n - 1 in the denominator),
        rank (1 is best) and n, the number of splits.

    Examples
    --------
    >>> from limo.experiment import summarise
    >>> rows = [
    ...     {"dataset": "enron", "split": k, "measure": "one_error", "method": m, "value": v}
    ...     for m, values in {"A": (0.25, 0.5), "B": (0.25, 0.25)}.items()
    ...     for k, v in enumerate(values)
    ... ]
    >>> print(summarise(rows).round(3).to_string(index=False))
    dataset   measure method  mean   std  rank  n
      enron one_error      A 0.375 0.177   2.0  2
      enron one_error      B 0.250 0.000   1.0  2
    """
    table = check_rows(rows)
    cells = [_summary(cell, group, ties) for cell, group in table.groupby(CELL, sort=False)]
    return pd.concat(cells, ignore_index=True)


def _summary(cell: tuple[str, str], rows: pd.DataFrame, ties: Ties) -> pd.DataFrame:
    """One data set and measure, with one row per method."""
    order = rows["method"].unique()
    values = rows.pivot(index="split", columns="method", values="value")[order]
    common = values.dropna(axis=1, how="all").dropna()
    means = common.mean().reindex(order)
    return pd.DataFrame(
        {
            "dataset": cell[0],
            "measure": cell[1],
            "method": order,
            "mean": means.to_numpy(),
            "std": common.std(ddof=1).reindex(order).to_numpy(),
            "rank": rank(means.to_frame().T, MEASURES[cell[1]].better, ties=ties).to_numpy()[0],
            "n": common.count().reindex(order, fill_value=0).to_numpy(),
        }
    )


def average_ranks(
    rows: Any,
    by: Literal["measure"] | None = "measure",
    *,
    ties: Ties = "average",
    blocks: Literal["dataset", "split"] = "dataset",
) -> pd.DataFrame:
    """Average the ranks of each method over data sets, as the paper's Figure 4 does.

    Only data sets (or splits) on which every method has a rank count.

    Parameters
    ----------
    rows : DataFrame
        Results, as :func:`limo.experiment.run` returns them.
    by : {"measure", None}, default="measure"
        Average per measure; or, with None, over all measures and data sets.
    ties : {"average", "min", "max"}, default="average"
        The rank of methods with equal means: the average, the best or the worst of their places.
    blocks : {"dataset", "split"}, default="dataset"
        What gives one rank: the mean of a data set, or a single split, as in
        :func:`compare_methods`.

    Returns
    -------
    DataFrame
        One row per measure (or one row called ``all``) and one column per method; nan if no data
        set counts.

    Examples
    --------
    >>> from limo.experiment import average_ranks
    >>> rows = [
    ...     {"dataset": d, "split": 0, "measure": "one_error", "method": m, "value": v}
    ...     for d, values in {"enron": (0.5, 0.25), "medical": (0.25, 0.25)}.items()
    ...     for m, v in zip("AB", values)
    ... ]
    >>> average_ranks(rows)
    method        A     B
    measure
    one_error  1.75  1.25
    """
    check_name(blocks, ("dataset", "split"), "kind of block")
    table = check_rows(rows)
    parts = {
        name: rank(_blocks(own, blocks), MEASURES[name].better, ties=ties)
        for name, own in table.groupby("measure", sort=False)
    }
    ranks = pd.concat(parts, names=["measure"]).dropna()[list(table["method"].unique())]
    if by is None:
        return ranks.mean().to_frame("all").T
    return ranks.groupby("measure").mean().reindex(list(parts)).rename_axis("method", axis=1)


def missing_results(rows: Any) -> pd.DataFrame:
    """List the results without a value, and why: failed, undefined, or never run.

    Parameters
    ----------
    rows : DataFrame
        Results, as :func:`limo.experiment.run` returns them.

    Returns
    -------
    DataFrame
        With the columns dataset, split, measure, method and reason.

    Examples
    --------
    >>> from limo.experiment import missing_results
    >>> row = {"dataset": "enron", "split": 0, "measure": "one_error"}
    >>> rows = [row | {"method": "A", "value": 0.25}, row | {"method": "B", "value": float("nan")}]
    >>> print(missing_results(rows).to_string(index=False))
    dataset  split   measure method    reason
      enron      0 one_error      B undefined
    """
    table = check_rows(rows)
    reasons = _reasons(table).set_axis(_index(table))
    wanted = _index(table).droplevel("method").unique()
    methods = table["method"].unique()
    every = pd.MultiIndex.from_tuples(
        [(*cell, method) for cell in wanted for method in methods],
        names=["dataset", "split", "measure", "method"],
    )
    reason = reasons.reindex(every, fill_value="never run")
    return reason[reason != ""].rename("reason").reset_index()


def _index(table: pd.DataFrame) -> pd.MultiIndex:
    return pd.MultiIndex.from_frame(table[["dataset", "split", "measure", "method"]])


def _reasons(table: pd.DataFrame) -> pd.Series:
    """Why each row has no value; empty if it has one."""
    failed = table["status"].eq("failed") if "status" in table else pd.Series(False, table.index)
    errors = table["error"] if "error" in table else pd.Series("", table.index)
    why = np.where(failed, "failed: " + errors.astype(str), "undefined")
    return pd.Series(np.where(table["value"].notna(), "", why), table.index)


# One measure: which methods differ.


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
        The number of data sets (or splits) that count.
    friedman : Friedman
        Whether any methods differ.
    alpha, critical_difference : float
        Two average ranks differ at level alpha, by Nemenyi's test, if they are farther apart
        than the critical difference.
    nemenyi : DataFrame of shape (n_methods, n_methods)
        P-values of all pairs by that test.
    pairs : DataFrame
        All pairs by Wilcoxon's test with Holm's adjustment, see :func:`wilcoxon_holm`.
    groups, wilcoxon_groups : tuple of tuple of str
        Groups of methods without a significant difference, by Nemenyi's or Wilcoxon's test.
        Nemenyi's test follows Iman and Davenport's: if that finds no difference, all methods are
        one group.
    left_out : tuple of str
        Data sets (or splits) that do not count, each with the reason.
    notes : tuple of str
        Limits of the tests, in sentences: ties, zero differences, too few blocks.

    Examples
    --------
    >>> from limo.experiment import compare_methods
    >>> rows = [
    ...     {"dataset": d, "split": 0, "measure": "macro_f1", "method": m, "value": v}
    ...     for d, values in enumerate([(0.5, 0.25, 0.125), (0.5, 0.375, 0.25)])
    ...     for m, v in zip("ABC", values)
    ... ]
    >>> compare_methods(rows, "macro_f1").average_ranks
    {'A': 1.0, 'B': 2.0, 'C': 3.0}
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


def compare_methods(
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
        Results, as :func:`limo.experiment.run` returns them.
    measure : str
        One of ``limo.MEASURES``.
    blocks : {"dataset", "split"}, default="dataset"
        What one observation is: the mean of a data set, or a single split. Splits of one data
        set share instances, which makes the tests overconfident; a note says so.
    alpha : float, default=0.05
        Significance level of the tests.
    zeros : {"zsplit", "wilcox", "pratt"}, default="zsplit"
        How Wilcoxon's test treats zero differences, see :func:`wilcoxon_holm`.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> from limo.experiment import compare_methods
    >>> rows = [
    ...     {"dataset": d, "split": 0, "measure": "macro_f1", "method": m, "value": v}
    ...     for d, values in enumerate([(0.5, 0.25, 0.125), (0.5, 0.375, 0.25), (0.5, 0.5, 0.25)])
    ...     for m, v in zip("ABC", values)
    ... ]
    >>> print(compare_methods(rows, "macro_f1"))
    macro-F1, average ranks: A 1.17, B 1.83, C 3.00.
    Friedman chi-square 5.64 (p = 0.0597), ...
    """
    measure = check_name(measure, MEASURES, "measure")
    check_name(blocks, ("dataset", "split"), "kind of block")
    table = check_rows(rows)
    results = table[table["measure"] == measure]
    if results.empty:
        raise ValueError(
            f"rows have no {measure}: expected one of {', '.join(table['measure'].unique())}."
        )
    better = MEASURES[measure].better
    values = _blocks(results, blocks)
    whole = values.dropna()
    ranks = rank(whole, better).mean().sort_values(kind="stable")
    cd = critical_difference(values.shape[1], len(whole), alpha=alpha)
    pairs = wilcoxon_holm(whole, alpha=alpha, zeros=zeros)
    overall = friedman(whole, better)
    differ = {
        frozenset(pair) for pair in pairs.loc[pairs["differs"], ["first", "second"]].to_numpy()
    }
    return Comparison(
        measure=measure,
        average_ranks={str(name): float(value) for name, value in ranks.items()},
        n_blocks=len(whole),
        friedman=overall,
        alpha=alpha,
        critical_difference=cd,
        nemenyi=nemenyi(whole, better),
        pairs=pairs,
        groups=groups(
            ranks.index, lambda a, b: overall.f_p_value <= alpha and abs(ranks[a] - ranks[b]) > cd
        ),
        wilcoxon_groups=groups(ranks.index, lambda a, b: frozenset((a, b)) in differ),
        left_out=_left_out(values, results),
        notes=_notes(whole, better, blocks, pairs, alpha, zeros),
    )


def _blocks(rows: pd.DataFrame, blocks: str) -> pd.DataFrame:
    """One value per block and method, the methods in their original order."""
    order = rows["method"].unique()
    if blocks == "dataset":
        means = summarise(rows)
        return means.pivot(index="dataset", columns="method", values="mean")[order]
    named = rows.assign(block=_split_names(rows))
    return named.pivot(index="block", columns="method", values="value")[order]


def _split_names(rows: pd.DataFrame) -> pd.Series:
    return rows["dataset"].astype(str) + " split " + rows["split"].astype(str)


def _left_out(values: pd.DataFrame, rows: pd.DataFrame) -> tuple[str, ...]:
    """Blocks without a value of some method, and missing splits of blocks that count."""
    whole = values.notna().all(axis=1)
    reasons = [
        f"{block} (no value of {', '.join(values.columns[values.loc[block].isna()])})"
        for block in values.index[~whole]
    ]
    gaps = missing_results(rows)
    inside = gaps[gaps["dataset"].isin(values.index[whole].astype(str))]
    for split, cell in inside.groupby(_split_names(inside), sort=False):
        why = ", ".join(f"{m}: {r}" for m, r in cell[["method", "reason"]].to_numpy())
        reasons.append(f"{split} ({why})")
    return tuple(reasons)


def _notes(
    values: pd.DataFrame,
    better: Better,
    blocks: str,
    pairs: pd.DataFrame,
    alpha: float,
    zeros: Zeros,
) -> tuple[str, ...]:
    """Limits of the tests."""
    notes = [_tie_note(values, better), _zero_note(values, pairs, alpha, zeros)]
    n_pairs = len(pairs)
    if n_pairs * 2.0 ** (1 - len(values)) > alpha:
        notes.append(
            f"With {len(values)} blocks Wilcoxon's test cannot find a difference in any of "
            f"{n_pairs} pairs at {alpha:g}, even if one always wins: use more data sets."
        )
    if blocks == "split":
        notes.append(
            "Blocks are splits: those of one data set share instances, so the tests are "
            "overconfident."
        )
    return tuple(notes)


def _tie_note(values: pd.DataFrame, better: Better) -> str:
    """How ties were treated, and what other conventions would have changed."""
    ranks = rank(values, better)
    tied = int((ranks.nunique(axis=1) < ranks.shape[1]).sum())
    if not tied:
        return "No two methods tie, so the convention for ties changes nothing."
    rules: tuple[Ties, Ties] = ("min", "max")
    moves = [(rank(values, better, ties=rule).mean() - ranks.mean()).abs().max() for rule in rules]
    uncorrected = friedman(values, better, correct_ties=False).p_value
    return (
        f"Ties: methods are equal in {tied} of {len(values)} blocks and get the average of their "
        f"places. If each got the best place, average ranks would change by up to {moves[0]:.2f}, "
        f"with the worst place by up to {moves[1]:.2f}; without the correction for ties Friedman's "
        f"p would be {uncorrected:.3g}."
    )


def _zero_note(values: pd.DataFrame, chosen: pd.DataFrame, alpha: float, zeros: Zeros) -> str:
    """How zero differences were treated in Wilcoxon's test, and what other rules would change."""
    if not chosen["zeros"].any():
        return "No zero differences, so the rule for them changes no p-value of Wilcoxon's test."
    rules: tuple[Zeros, ...] = ("zsplit", "wilcox", "pratt")
    others = [wilcoxon_holm(values, alpha=alpha, zeros=rule) for rule in rules if rule != zeros]
    changed = max(int((other["differs"] != chosen["differs"]).sum()) for other in others)
    return (
        f"Zero differences occur in {int((chosen['zeros'] > 0).sum())} of {len(chosen)} pairs "
        f"(rule {zeros!r}); another rule would change at most {changed} of the results."
    )
