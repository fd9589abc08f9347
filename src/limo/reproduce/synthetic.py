"""Reproduce the experiments on synthetic data: Figures 1 to 3 and the two tables behind them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from limo.datasets import figure1
from limo.datasets.pictures import plot_triangles
from limo.experiment import run
from limo.findings import comparison
from limo.measures.table import MEASURES
from limo.reproduce.comparing import beside_printed, experiment_means
from limo.reproduce.printed_tables import printed_synthetic, synthetic_spread
from limo.reproduce.record import Picture, Reproduction, Table
from limo.reproduce.synthetic_pictures import plot_relative
from limo.reproduce.synthetic_plans import KINDS, N_POINTS, classification_plan, ranking_plan
from limo.reproduce.writing import write

__all__ = ["draw_synthetic", "synthetic"]

_LIMIT = 3.0  # standard deviations within which a cell agrees


def synthetic(
    folder: str | Path,
    *,
    n_experiments: int = 10,
    n_splits: int = 10,
    n_jobs: int | None = None,
    progress: Callable[[Any], None] | None = None,
) -> Reproduction:
    """Repeat the paper's synthetic experiment and write its tables and figures beside the printed.

    An experiment is one sample of 2000 points, split in half ten times. It is repeated, since one
    experiment differs from the next by more than most differences in the table. Needs no data.

    Parameters
    ----------
    folder : path
        Where to write. Results are kept in ``rows.sqlite`` there: a run that was stopped
        goes on, and the same call again only draws.
    n_experiments, n_splits : int, default=10, 10
        How many samples, and how often each is split.
    n_jobs : int, optional
        How many processes; by default as many as there are cores.
    progress : callable, optional
        Told how far it is, as :func:`limo.experiment.run` does.

    Returns
    -------
    Reproduction
    """
    store = Path(folder) / "rows.sqlite"
    store.parent.mkdir(parents=True, exist_ok=True)
    plans = [plan(n_experiments, n_splits) for plan in (ranking_plan, classification_plan)]
    rows = [run(plan, store, n_jobs=n_jobs, progress=progress) for plan in plans]
    return draw_synthetic(folder, pd.concat(rows, ignore_index=True))


def draw_synthetic(folder: str | Path, rows: pd.DataFrame) -> Reproduction:
    """Write tables and figures of the synthetic experiment from rows alone.

    Parameters
    ----------
    folder : path
        Where to write.
    rows : DataFrame
        Rows of both plans, as :func:`limo.experiment.read_rows` gives them.

    Returns
    -------
    Reproduction
    """
    found, printed = experiment_means(rows), printed_synthetic()
    ranking = beside_printed(found, printed[printed["method"].isin(KINDS)], synthetic_spread())
    cuts = beside_printed(found, printed[~printed["method"].isin(KINDS)])
    return write(
        folder,
        "synthetic",
        "The paper's synthetic experiment",
        findings=_findings(ranking, cuts),
        tables=(_table("ranking", ranking), _table("classification", cuts)),
        pictures=(
            Picture("figure1", _CAPTIONS["figure1"], lambda: plot_triangles(figure1(N_POINTS))),
            Picture("figure2", _CAPTIONS["figure2"], lambda: plot_relative(ranking)),
            Picture("figure3", _CAPTIONS["figure3"], lambda: plot_relative(cuts)),
        ),
        comparisons=(_part(rows, ranking, "scores"), _part(rows, cuts, "labels")),
    )


def _part(rows: pd.DataFrame, table: pd.DataFrame, what: str) -> dict[str, Any]:
    """The same for a report: all splits of all experiments as those of one data set."""
    own = rows[rows["method"].isin(table["method"])]
    number = own.groupby(["dataset", "split"], sort=False).ngroup()
    printed = table.rename(columns={"printed": "mean", "sd": "std"}).assign(dataset="synthetic")
    return comparison(
        own.assign(dataset="synthetic", split=number),
        title=f"Measures of {what}",
        printed=printed[["dataset", "method", "measure", "mean", "std"]],
    )


_CAPTIONS = {
    "figure1": "Figure 1, recovered: four triangles of a square and their label sets.",
    "figure2": "Figure 2: relative values of the measures of scores. The more to the left, the "
    "better; the worst value stands on the right.",
    "figure3": "Figure 3: relative values of the measures of labels, with cuts per label (-t, "
    "hollow) and per instance (-t(x), filled).",
}
_NOTES = {
    "ranking": "Differences are counted in standard deviations between experiments, found when "
    "Figure 1 was recovered. Instances with all four labels have no pair; average precision passes "
    "over them too, as the printed table seems to.",
    "classification": "Differences are counted in our own standard deviations between experiments. "
    "-t: the best cut of each label (Hamming loss, macro-F1) or one for all (the other two); "
    "-t(x): support vector regression of the Hamming-best cut of each training instance.",
}


def _findings(ranking: pd.DataFrame, cuts: pd.DataFrame) -> tuple[str, ...]:
    apart = (cuts["ours"] - cuts["printed"]).abs()
    worst = cuts.loc[apart.idxmax()]
    return (
        _agreement(ranking),
        f"Measures of labels: the {len(cuts)} cells lie {apart.mean():.3f} from the printed on "
        f"average, at most {apart.max():.3f} ({_cell(worst)}).",
    )


def _agreement(table: pd.DataFrame) -> str:
    outside = table[table["difference"].abs() > _LIMIT]
    names = ", ".join(f"{_cell(line)} {line['difference']:+.1f}" for _, line in outside.iterrows())
    said = f"; outside: {names}" if names else ""
    return (
        f"Measures of scores: {len(table) - len(outside)} of {len(table)} cells lie within "
        f"{_LIMIT:g} standard deviations of the printed{said}."
    )


def _cell(line: pd.Series) -> str:
    return f"{line['method']}, {MEASURES[line['measure']].title}"


def _table(name: str, table: pd.DataFrame) -> Table:
    """One of the two tables of the appendix, a line for each cell."""
    shown = pd.DataFrame(
        {
            "measure": [MEASURES[measure].title for measure in table["measure"]],
            "method": table["method"],
            "printed": table["printed"].map("{:.3f}".format),
            "ours": [f"{v:.4f} ± {sd:.4f}" for v, sd in table[["ours", "our_sd"]].to_numpy()],
            "difference in sd": table["difference"].map("{:+.1f}".format),
            "relative, printed": table["printed_relative"].map("{:.2f}".format),
            "relative, ours": table["relative"].map("{:.2f}".format),
        }
    )
    what = {"ranking": "scores", "classification": "labels"}[name]
    return Table(name, f"Synthetic data, measures of {what}", _NOTES[name], shown, table)
