"""Rows of results -> means, standard deviations and ranks. Stores and draws nothing.

Rows are the tidy table of :func:`limo.experiment.run`; of its columns only ``dataset``, ``split``,
``method``, ``measure`` and ``value`` are read here, ``status`` and ``error`` if they are there.
"""

from typing import Any, Literal

import numpy as np
import pandas as pd

from limo._checks import check_name
from limo.measures._table import MEASURES

__all__ = ["average_ranks", "check_rows", "missing", "rank", "summarise"]


Better = Literal["high", "low"]
Ties = Literal["average", "min", "max"]

CELL = ["dataset", "measure"]
_NEEDED = ("dataset", "split", "method", "measure", "value")


def check_rows(rows: Any) -> pd.DataFrame:
    """Let rows in: the columns must be there, and no cell twice."""
    table = pd.DataFrame(rows)
    absent = [name for name in _NEEDED if name not in table.columns]
    if absent:
        raise ValueError(
            f"rows must have the columns {', '.join(_NEEDED)}; {', '.join(absent)} is not there. "
            "Pass what limo.experiment.run or read_rows returns."
        )
    for name in table["measure"].unique():
        check_name(name, MEASURES, "measure")
    doubled = table.duplicated(["dataset", "split", "method", "measure"])
    if doubled.any():
        first = table[doubled].iloc[0]
        raise ValueError(
            "Each data set, split, method and measure may have one row: "
            f"({first['dataset']}, {first['split']}, {first['method']}, {first['measure']}) "
            "came more than once. Read one plan's rows at a time."
        )
    return table


def missing(rows: Any) -> pd.DataFrame:
    """Which cells have no value, and why: failed, undefined, or never run.

    Parameters
    ----------
    rows : DataFrame
        Tidy results.

    Returns
    -------
    DataFrame
        With the columns dataset, split, measure, method and reason.

    Examples
    --------
    >>> from limo.experiment import missing
    >>> row = {"dataset": "enron", "split": 0, "measure": "one_error"}
    >>> rows = [row | {"method": "A", "value": 0.25}, row | {"method": "B", "value": float("nan")}]
    >>> print(missing(rows).to_string(index=False))
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
    found = reasons.reindex(every, fill_value="never run")
    return found[found != ""].rename("reason").reset_index()


def _index(table: pd.DataFrame) -> pd.MultiIndex:
    return pd.MultiIndex.from_frame(table[["dataset", "split", "measure", "method"]])


def _reasons(table: pd.DataFrame) -> pd.Series:
    """Why each row has no value; empty where it has one."""
    failed = table["status"].eq("failed") if "status" in table else pd.Series(False, table.index)
    errors = table["error"] if "error" in table else pd.Series("", table.index)
    why = np.where(failed, "failed: " + errors.astype(str), "undefined")
    return pd.Series(np.where(table["value"].notna(), "", why), table.index)


def summarise(rows: Any, *, ties: Ties = "average") -> pd.DataFrame:
    """Mean, standard deviation and rank of every cell, as the paper's big table prints them.

    For a data set and a measure all methods are averaged over the same splits: those for which
    every method has a value. A method without any value there is nan, and the others
    are ranked without it. :func:`missing` says what was left out.

    Parameters
    ----------
    rows : DataFrame
        Tidy results.
    ties : {"average", "min", "max"}, default="average"
        What methods of exactly equal means get: the mean of the places they share, the best of them
        or the worst. The average keeps the sum of ranks, as the tests need.

    Returns
    -------
    DataFrame
        With the columns dataset, measure, method, mean, std (of the sample: n - 1), rank (1 is
        best) and n, the number of splits.

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
    cells = [_summary(cell, own, ties) for cell, own in table.groupby(CELL, sort=False)]
    return pd.concat(cells, ignore_index=True)


def _summary(cell: tuple[str, str], rows: pd.DataFrame, ties: Ties) -> pd.DataFrame:
    """One data set and measure, a line for each method."""
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


def rank(values: Any, better: Better, *, ties: Ties = "average") -> pd.DataFrame:
    """Rank the methods (columns) within each block (row); 1 is best, nan stays nan.

    Parameters
    ----------
    values : DataFrame of shape (n_blocks, n_methods)
        One value per block and method.
    better : {"high", "low"}
        Which way is better.
    ties : {"average", "min", "max"}, default="average"
        What equal values get.

    Returns
    -------
    DataFrame
        Of the same shape.

    Examples
    --------
    >>> import pandas as pd
    >>> from limo.experiment import rank
    >>> rank(pd.DataFrame({"A": [0.5], "B": [0.5], "C": [0.25]}), "high").to_numpy()
    array([[1.5, 1.5, 3. ]])
    """
    check_name(ties, ("average", "min", "max"), "rule for ties")
    return pd.DataFrame(values).rank(axis=1, method=ties, ascending=better == "low")


def average_ranks(
    rows: Any, by: Literal["measure"] | None = "measure", *, ties: Ties = "average"
) -> pd.DataFrame:
    """Average the ranks of each method over data sets, as the paper's Figure 4 does.

    Only data sets on which every method has a rank are counted.

    Parameters
    ----------
    rows : DataFrame
        Tidy results.
    by : {"measure", None}, default="measure"
        A line for each measure; or, with None, one line over all measures and data sets.
    ties : {"average", "min", "max"}, default="average"
        What methods of equal means get.

    Returns
    -------
    DataFrame
        A line for each measure (or one, called ``all``), a column for each method; nan
        where no data set could be counted.

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
    ranks = summarise(rows, ties=ties).pivot(index=CELL, columns="method", values="rank")
    ranks = ranks[list(dict.fromkeys(pd.DataFrame(rows)["method"]))]
    if by is None:
        return ranks.dropna().mean().to_frame("all").T
    measures = list(dict.fromkeys(pd.DataFrame(rows)["measure"]))
    return ranks.dropna().groupby("measure").mean().reindex(measures)
