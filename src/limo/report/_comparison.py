"""Documents of comparisons: methods over data sets, from rows of results."""

import math
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import pandas as pd

from limo._text import plain, shortened
from limo._types import check_kind
from limo.experiment import _statistics as statistics
from limo.experiment import diagram_layout
from limo.experiment._significance import as_table
from limo.experiment._statistics import check_rows
from limo.measures._table import MEASURES
from limo.report._page import FORMAT
from limo.report._provenance import collect_provenance
from limo.report._verdict import verdict_of_comparison


def comparison_document(
    rows: Any,
    *,
    title: str | None = None,
    printed: Any = None,
    provenance: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Make the document of a comparison of methods, from rows of results.

    Parameters
    ----------
    rows : DataFrame
        Tidy results, as :func:`limo.experiment.run` returns them.
    title : str, optional
        The title of the page.
    printed : DataFrame, optional
        Published values to show beside these, with the columns dataset, method, measure, mean
        and std.
    provenance : mapping, optional
        How it was made, see :func:`collect_provenance`; by default versions, the seeds and the
        number of rows.

    Returns
    -------
    dict
        For :func:`render` and :func:`write`, and ready for ``json.dumps``.

    Examples
    --------
    >>> from limo.report import comparison_document
    >>> rows = [
    ...     {"dataset": d, "split": 0, "measure": "macro_f1", "method": m, "value": v}
    ...     for d, values in {"enron": (0.5, 0.25), "medical": (0.5, 0.75)}.items()
    ...     for m, v in zip("AB", values)
    ... ]
    >>> comparison_document(rows)["comparisons"][0]["ranks"][0]["average"]
    [1.5, 1.5]
    """
    part = comparison_part(rows, printed=printed)
    made = provenance
    if made is None:
        made = collect_provenance(seeds=part["seeds"]) | {"rows": len(check_rows(rows))}
    check_kind(title, str | None, "title must be a text")
    name = title or f"{len(part['methods'])} methods compared"
    return document_from_parts(name, verdict=part["verdict"], comparisons=[part], provenance=made)


def document_from_parts(
    title: str,
    *,
    verdict: Iterable[str] = (),
    comparisons: Iterable[Mapping[str, Any]] = (),
    tables: Iterable[Mapping[str, Any]] = (),
    pictures: Iterable[Mapping[str, str]] = (),
    provenance: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Make a document from comparisons and your own tables.

    Parameters
    ----------
    title : str
        The title of the page.
    verdict : iterable of str
        The sentences at the top.
    comparisons : iterable of dict
        Made by :func:`comparison_part`.
    tables : iterable of dict
        Each with a title, a note, columns (names) and rows (lists of numbers or texts).
    pictures : iterable of dict
        Each with a caption and ``png``, the bytes of a PNG file in base64.
    provenance : mapping, optional
        How it was made, see :func:`collect_provenance`; by default versions.

    Returns
    -------
    dict

    Examples
    --------
    >>> from limo.report import document_from_parts
    >>> table = {"title": "Two", "note": "", "columns": ["n"], "rows": [[2]]}
    >>> sorted(document_from_parts("Numbers", tables=[table], provenance={}))
    ['comparisons', 'format', 'pictures', 'provenance', 'tables', 'title', 'verdict']
    """
    lists = {"verdict": verdict, "comparisons": comparisons, "tables": tables}
    for name, part in (lists | {"pictures": pictures}).items():
        check_kind(part, Iterable, f"{name} must be a list")
    shown = list(pictures)
    for picture in shown:
        check_kind(picture, Mapping, "a picture must be a mapping")
    check_kind(provenance, Mapping | None, "provenance must be a mapping")
    return {
        "format": FORMAT,
        "title": title,
        "verdict": list(verdict),
        "comparisons": plain(list(comparisons)),
        "tables": plain(list(tables)),
        "pictures": [dict(one) for one in shown],
        "provenance": plain(dict(collect_provenance() if provenance is None else provenance)),
    }


def comparison_part(
    rows: Any, *, title: str | None = None, note: str = "", printed: Any = None
) -> dict[str, Any]:
    """Compare methods from rows of results, as a part for :func:`document_from_parts`.

    Parameters
    ----------
    rows : DataFrame
        Tidy results, as :func:`limo.experiment.run` returns them.
    title, note : str, optional
        Text above the part.
    printed : DataFrame, optional
        Published values to show beside these, with the columns dataset, method, measure, mean
        and std.

    Returns
    -------
    dict

    Examples
    --------
    >>> from limo.report import comparison_part
    >>> row = {"dataset": "enron", "split": 0, "measure": "macro_f1", "method": "A", "value": 0.5}
    >>> comparison_part([row])["means"][0]["cells"][0]["mean"]
    0.5
    """
    table = check_rows(rows)
    methods = [str(name) for name in table["method"].unique()]
    means = statistics.summarise(table)
    part = {
        "title": title,
        "note": note,
        "methods": methods,
        "datasets": [str(name) for name in table["dataset"].unique()],
        "splits": int(table["split"].nunique()),
        "measures": _measures(table),
        "means": [
            _line(dataset, measure, own, methods)
            | {"values": _values(table, dataset, measure, methods)}
            for dataset, whole in means.groupby("dataset", sort=False)
            for measure in MEASURES.ordered(whole["measure"])
            if not (own := whole[whole["measure"] == measure]).empty
        ],
        "ranks": average_ranks(table, methods),
        "heat": _heat(means, methods),
        "tests": differences(table),
        "printed": None if printed is None else beside_printed(means, printed, methods),
        "seconds": _seconds(table, methods),
        "missing": _missing(table),
        "seeds": sorted(map(int, table["seed"].unique())) if "seed" in table else None,
    }
    part["verdict"] = verdict_of_comparison(part)
    return dict(plain(part))


def _measures(table: pd.DataFrame) -> list[dict[str, str]]:
    names = MEASURES.ordered(table["measure"])
    return [
        {"name": m.name, "title": m.title, "better": m.better, "needs": m.needs}
        for m in (MEASURES[name] for name in names)
    ]


def _line(dataset: str, measure: str, own: pd.DataFrame, methods: list[str]) -> dict[str, Any]:
    """One data set and measure: mean, standard deviation, rank and relative value by method."""
    cells = own.set_index("method").reindex(methods)
    sign = MEASURES[measure].sign
    worst, best = (
        sign * edge for edge in ((sign * cells["mean"]).min(), (sign * cells["mean"]).max())
    )
    # as in the paper's Figures 2 and 3: the best becomes 1, the worst 0
    relative = (cells["mean"] - worst) / (best - worst) if best != worst else cells["mean"] * 0 + 1
    columns = cells.assign(relative=relative, first=cells["rank"] == cells["rank"].min())
    kept = ["mean", "std", "rank", "n", "relative", "first"]
    return {
        "dataset": str(dataset),
        "measure": measure,
        "title": MEASURES[measure].title,
        "worst": float(worst),
        "best": float(best),
        "cells": [
            None if pd.isna(cell["mean"]) else cell
            for cell in columns[kept].to_dict(orient="records")
        ],
    }


def _values(table: pd.DataFrame, dataset: str, measure: str, methods: list[str]) -> list[list[Any]]:
    """The value of each split, by method."""
    own = table[(table["dataset"] == dataset) & (table["measure"] == measure)]
    return [shortened(own.loc[own["method"] == method, "value"].to_numpy()) for method in methods]


def _heat(means: pd.DataFrame, methods: list[str]) -> list[dict[str, Any]]:
    """The average over measures of each method's rank, by data set."""
    ranks = means.groupby(["dataset", "method"], sort=False)["rank"].mean().unstack("method")
    return [
        {"dataset": str(dataset), "cells": [float(v) for v in line.reindex(methods)]}
        for dataset, line in ranks.reindex(means["dataset"].unique()).iterrows()
    ]


def _seconds(table: pd.DataFrame, methods: list[str]) -> list[dict[str, Any]] | None:
    """Mean seconds per run, by data set and method."""
    if "seconds" not in table:
        return None
    runs = table.groupby(["dataset", "split", "method"], sort=False)["seconds"].first()
    means = runs.groupby(["dataset", "method"], sort=False).mean().unstack("method")
    return [
        {"dataset": str(dataset), "cells": [float(v) for v in line.reindex(methods)]}
        for dataset, line in means.iterrows()
    ]


def _missing(table: pd.DataFrame) -> list[dict[str, Any]]:
    """How many values are missing, by data set, method and reason."""
    gaps = statistics.missing_results(table)
    groups = gaps.groupby(["dataset", "method", "reason"], sort=False).size()
    return [
        {"dataset": str(d), "method": str(m), "reason": reason, "values": int(n)}
        for (d, m, reason), n in groups.items()
    ]


# Ranks and tests


def average_ranks(table: pd.DataFrame, methods: list[str]) -> list[dict[str, Any]]:
    """The average rank of each method on each measure, and over all of them.

    They are the ranks that the tests compare.
    """
    blocks = _block_kind(table)
    by_measure = statistics.average_ranks(table, blocks=blocks)
    overall = statistics.average_ranks(table, by=None, blocks=blocks)
    present = MEASURES.ordered(by_measure.index)
    lines = [
        {
            "measure": name,
            "title": MEASURES[name].title,
            "average": [float(by_measure.loc[name, method]) for method in methods],
        }
        for name in present
    ]
    whole = [float(overall.loc["all", method]) for method in methods]
    return [*lines, {"measure": None, "title": "all measures", "average": whole}]


def differences(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Friedman's and Nemenyi's tests for each measure with at least two methods and blocks.

    Blocks are data sets, or the splits if there is only one data set.
    """
    if table["method"].nunique() < 2:
        return []
    kind = _block_kind(table)
    comparisons = [
        statistics.compare_methods(table, name, blocks=kind)
        for name in MEASURES.ordered(table["measure"])
    ]
    return [_test(one, kind) for one in comparisons if one.n_blocks > 1]


def _block_kind(table: pd.DataFrame) -> Literal["dataset", "split"]:
    """The kind of one observation: a data set, or a split if there is only one data set."""
    return "dataset" if table["dataset"].nunique() > 1 else "split"


def _test(comparison: statistics.Comparison, kind: str) -> dict[str, Any]:
    return {
        "measure": comparison.measure,
        "title": MEASURES[comparison.measure].title,
        "blocks": kind,
        "n_blocks": comparison.n_blocks,
        "average_ranks": comparison.average_ranks,
        "p_value": comparison.friedman.p_value,
        "f_p_value": comparison.friedman.f_p_value,
        "alpha": comparison.alpha,
        "critical_difference": comparison.critical_difference,
        "groups": [list(group) for group in comparison.groups],
        "diagram": diagram_layout(
            comparison.average_ranks, comparison.groups, comparison.critical_difference
        ),
        "left_out": list(comparison.left_out),
        "notes": list(comparison.notes),
    }


# Printed numbers beside measured ones

_NEEDED = ("dataset", "method", "measure", "mean", "std")


def beside_printed(means: pd.DataFrame, printed: Any, methods: list[str]) -> list[dict[str, Any]]:
    """Pair printed values with measured means, one line for each data set and measure.

    ``distance`` is their difference in printed standard deviations, or nan without one above 0.
    """
    table = as_table(printed, "printed")
    absent = [name for name in _NEEDED if name not in table.columns]
    if absent:
        raise ValueError(
            f"printed must have the columns {', '.join(_NEEDED)}; missing: {', '.join(absent)}."
        )
    both = means.merge(table, on=["dataset", "measure", "method"], suffixes=("", "_printed"))
    return [
        {
            "dataset": str(dataset),
            "measure": measure,
            "title": MEASURES[measure].title,
            "cells": [_cell(own, method) for method in methods],
        }
        for dataset, whole in both.groupby("dataset", sort=False)
        for measure in MEASURES.ordered(whole["measure"])
        if not (own := whole[whole["measure"] == measure]).empty
    ]


def _cell(own: pd.DataFrame, method: str) -> dict[str, Any] | None:
    own_row = own[own["method"] == method]
    if own_row.empty:
        return None
    line = own_row.iloc[0]
    spread = float(line["std_printed"])
    distance = abs(line["mean"] - line["mean_printed"]) / spread if spread > 0 else math.nan
    return {
        "printed": float(line["mean_printed"]),
        "printed_std": spread,
        "measured": float(line["mean"]),
        "measured_std": float(line["std"]),
        "distance": float(distance),
        "within": bool(distance <= 2) if not math.isnan(distance) else None,
    }
