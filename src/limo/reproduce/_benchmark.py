"""Reproduce the benchmark: the paper's large table, Figure 4, and two methods of our own."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd

from limo.datasets import load
from limo.experiment import missing_results
from limo.measures._table import PAPER_MEASURES
from limo.report import comparison_part
from limo.reproduce._benchmark_plans import (
    DATASETS,
    LIMOS,
    OURS,
    PAPER,
    QUICK,
    own_plan,
    paper_plan,
    threshold_plan,
)
from limo.reproduce._benchmark_tables import (
    ROUNDING,
    UNKNOWN,
    agreement_table,
    benchmark_cells,
    benchmark_table,
    difference_table,
    extended_table,
    macro_f1_table,
    printed_benchmark,
    printed_ranks,
    rank_table,
    ranks,
    rows_as_printed,
)
from limo.reproduce._pictures import plot_average_ranks
from limo.reproduce._reproduction import (
    OnProgress,
    Picture,
    Reproduction,
    run_plans,
    write_page,
)


def benchmark(
    folder: str | Path,
    *,
    data: str | Path | None = None,
    quick: bool = False,
    extended: bool = True,
    n_jobs: int | None = None,
    progress: OnProgress | None = None,
) -> Reproduction:
    """Repeat the paper's benchmark; write its table and Figure 4 beside the printed numbers.

    Five data sets, ten splits 70/30 (the authors' own if they are in the data folder), six methods
    and eleven measures: less than an hour on two cores. Cells that differ by more than two printed
    standard deviations are marked, with the reason if it is known.

    Parameters
    ----------
    folder : path
        Where to write. Results are stored in its file ``rows.sqlite``: the same call resumes an
        interrupted run, and only draws if all runs are stored.
    data : path, optional
        The folder of the data sets; by default the one named by ``LIMO_DATA``, or the cache of
        :func:`limo.datasets.load`.
    quick : bool, default=False
        Whether to run only two splits of the three smaller data sets, which takes minutes.
    extended : bool, default=True
        Whether to add two methods: exact LIMO tuned for each measure, and tuned logistic
        regression.
    n_jobs : int, optional
        The number of processes; by default the number of cores.
    progress : callable, optional
        Called with a :class:`limo.experiment.Progress`, as by :func:`limo.experiment.run`.

    Returns
    -------
    Reproduction

    Raises
    ------
    limo.datasets.DataError
        If a data set is missing and cannot be downloaded; says which file to put where.

    Examples
    --------
    >>> import limo
    >>> found = limo.reproduce.benchmark("benchmark", quick=True)  # doctest: +SKIP
    >>> print(found)  # doctest: +SKIP
    """
    datasets, n_splits = (QUICK, 2) if quick else (DATASETS, 10)
    with _data_folder(data):
        for name in datasets:
            load(name, progress=False)  # report a missing data set before anything runs
        makers = [paper_plan, threshold_plan, *([own_plan] if extended else [])]
        plans = [make(datasets, n_splits) for make in makers]
        rows = run_plans(plans, folder, n_jobs, progress)
    return draw_benchmark(folder, rows)


@contextmanager
def _data_folder(data: str | Path | None) -> Iterator[None]:
    """Make this process and its workers look for data sets in a folder."""
    before = os.environ.get("LIMO_DATA")
    if data is not None:
        os.environ["LIMO_DATA"] = str(data)
    try:
        yield
    finally:
        if before is not None:
            os.environ["LIMO_DATA"] = before
        elif data is not None:
            del os.environ["LIMO_DATA"]


def draw_benchmark(folder: str | Path, rows: pd.DataFrame) -> Reproduction:
    """Write tables and figures of the benchmark from stored results.

    Parameters
    ----------
    folder : path
        Where to write.
    rows : DataFrame
        Results of the benchmark's plans, as :func:`limo.experiment.read_rows` returns them.

    Returns
    -------
    Reproduction

    Examples
    --------
    >>> import limo
    >>> rows = limo.experiment.read_rows("benchmark/rows.sqlite")  # doctest: +SKIP
    >>> found = limo.reproduce.draw_benchmark("benchmark", rows)  # doctest: +SKIP
    """
    cells = benchmark_cells(rows)
    versions = _versions(rows, cells["dataset"].unique().tolist())
    tables = [
        benchmark_table(cells),
        difference_table(cells),
        agreement_table(cells),
        macro_f1_table(rows),
        rank_table("average_ranks", "Average ranks (Figure 4)", _rank_note(versions), versions),
    ]
    pictures = [Picture("figure4", _CAPTION, lambda: plot_average_ranks(versions))]
    findings = [*_agreement(cells), *_conclusions(versions), *_failures(rows)]
    if set(OURS) <= set(rows["method"]):
        methods = (*PAPER, *OURS)
        whole = {"ours": ranks(rows, methods)}
        note = "Ranks among eight methods, all thresholds from training data."
        tables.append(extended_table(rows, methods))
        tables.append(rank_table("ranks_extended", "Average ranks with our methods", note, whole))
        caption = "Average ranks with our methods, all thresholds from training data."
        pictures.append(Picture("ranks_extended", caption, lambda: plot_average_ranks(whole)))
        findings.append(_own_methods(tables[-2].facts))
    return write_page(
        folder,
        "benchmark",
        "The paper's benchmark",
        findings=findings,
        tables=tables,
        pictures=pictures,
        comparisons=_parts(rows),
    )


def _parts(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """Comparisons for a report: the paper's six methods beside printed values, and all methods."""
    six, all_eight = (rows[rows["method"].isin(names)] for names in (PAPER, (*PAPER, *OURS)))
    printed = printed_benchmark()
    printed["std"] = printed["std"].clip(lower=ROUNDING)  # the same limits as in the tables
    parts = [comparison_part(six, title="The paper's six methods", printed=printed)]
    if len(all_eight) > len(six):
        parts.append(comparison_part(all_eight, title="With our methods"))
    return parts


_CAPTION = (
    "Figure 4: average ranks, 1 is best; as printed, ours with the thresholds behind the printed "
    "numbers, and ours with all thresholds from training data."
)
AS_PRINTED = "printed"
SAME_THRESHOLDS = "ours, thresholds as printed"
TRAINING = "ours, thresholds from training"


def _versions(rows: pd.DataFrame, datasets: list[str]) -> dict[str, pd.DataFrame]:
    return {
        AS_PRINTED: printed_ranks(datasets),
        SAME_THRESHOLDS: ranks(rows_as_printed(rows), PAPER),
        TRAINING: ranks(rows, PAPER),
    }


def _rank_note(versions: dict[str, pd.DataFrame]) -> str:
    return f"In each cell: {' / '.join(versions)}. 1 is best."


def _agreement(cells: pd.DataFrame) -> Iterator[str]:
    limos = cells[cells["method"].isin(LIMOS)]
    needs = limos["measure"].map({name: m.needs for name, m in PAPER_MEASURES.items()})
    scores, labels = limos[needs == "scores"], limos[needs == "labels"]
    yield (
        f"LIMO, LIMO-inst and LIMO-label, measures of scores: {scores['agrees'].sum()} of "
        f"{len(scores)} cells are within two printed standard deviations."
    )
    yield (
        f"The same methods, measures of labels: {labels['agrees'].sum()} of {len(labels)} cells "
        f"with thresholds from training data, {labels['agrees_as_printed'].sum()} with the "
        "thresholds behind the printed values."
    )
    differ = cells[~cells["agrees"]]
    unknown = int((differ["reason"] == UNKNOWN).sum())
    yield (
        f"All six methods: {cells['agrees'].sum()} of {len(cells)} cells agree; of the "
        f"{len(differ)} that differ, {len(differ) - unknown} have a known reason and {unknown} "
        "have none."
    )


def _conclusions(versions: dict[str, pd.DataFrame]) -> Iterator[str]:
    """The paper's conclusions from Figure 4, checked on our ranks."""
    for version in (SAME_THRESHOLDS, TRAINING):
        table = versions[version]
        firsts = {
            name: " and ".join(table.columns[table.loc[name] == table.loc[name].min()])
            for name in ("macro_f1", "macro_auc")
        }
        order = table.mean().sort_values()
        overall = ", ".join(f"{method} {value:.2f}" for method, value in order.items())
        yield (
            f"Best average rank ({version}) on macro-F1: {firsts['macro_f1']}; on macro-AUC: "
            f"{firsts['macro_auc']}. Average ranks over all measures: {overall}."
        )
    moved = (versions[TRAINING] - versions[SAME_THRESHOLDS]).loc["macro_f1"]
    yield (
        "With thresholds from training data instead of those behind the printed numbers, average "
        "ranks on macro-F1 change by "
        + ", ".join(f"{value:+.1f} ({method})" for method, value in moved.dropna().items() if value)
        + "."
    )


def _failures(rows: pd.DataFrame) -> Iterator[str]:
    plans = [rows[rows["method"].isin(group)] for group in (PAPER, OURS)]
    lost = pd.concat([missing_results(results) for results in plans if len(results)])
    if len(lost):
        first = lost.iloc[0]
        yield (
            f"{len(lost)} values are missing and left out. The first: {first['method']} on "
            f"{first['dataset']}, split {first['split']}: {first['reason']}."
        )


def _own_methods(facts: pd.DataFrame) -> str:
    """In how many cells our methods beat the paper's, and LIMO beats logistic regression."""
    signs = facts["measure"].map({name: m.sign for name, m in PAPER_MEASURES.items()})
    grid = facts.assign(value=facts["mean"] * signs).pivot(
        index=["dataset", "measure"], columns="method", values="value"
    )
    best = grid[list(PAPER)].max(axis=1)
    limo, logistic = grid[OURS[0]], grid[OURS[1]]
    return (
        f"LIMO tuned for each measure beats all six methods of the paper in "
        f"{int((limo > best).sum())} of {len(grid)} cells, and tuned logistic regression in "
        f"{int((limo > logistic).sum())}; tuned logistic regression beats the six in "
        f"{int((logistic > best).sum())}."
    )
