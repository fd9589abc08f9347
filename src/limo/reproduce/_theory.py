"""Reproduce the theory: Table 2, Theorem 3's curve, the bounds of Theorems 4 and 5."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd

from limo.experiment import Progress
from limo.measures._table import EFFECTIVENESS, MEASURES
from limo.reproduce._pages import Picture, Reproduction, Table, write
from limo.reproduce._pictures import plot_bounds, plot_table2, plot_theorem3
from limo.reproduce._theory_facts import bound_facts, table2_facts, theorem3_facts

__all__ = ["theory"]


def theory(
    folder: str | Path,
    *,
    n_predictors: int = 1000,
    n_draws: int = 40,
    seed: int = 0,
    progress: Callable[[Progress], None] | None = None,
) -> Reproduction:
    """Execute the paper's theory, and write tables and pictures of it.

    Every tick of Table 2 is tried on generated predictors, every cross is shown by a
    counterexample; micro-AUC is followed to its limit (Theorem 3); values under thresholds
    that miss stand beside the bounds of Theorems 4 and 5. Needs no data.

    Parameters
    ----------
    folder : path
        Where to write. What was computed is kept in its folder ``facts``; the same call again only
        draws.
    n_predictors : int, default=1000
        Generated predictors for each kind of effectiveness.
    n_draws : int, default=40
        Draws for each point of Theorem 3's curve.
    seed : int, default=0
        Decides what is drawn.
    progress : callable, optional
        Told a :class:`limo.experiment.Progress` before each of the three parts, and at the end.

    Returns
    -------
    Reproduction

    Examples
    --------
    >>> import limo, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> found = limo.reproduce.theory(folder, n_predictors=5, n_draws=2)
    >>> print(found.findings[0])
    Table 2: all 32 ticks hold on all of 20 generated predictors; all 12 crosses have ...
    """
    jobs: dict[str, tuple[str, Callable[[], pd.DataFrame]]] = {
        "Table 2": (f"table2-{n_predictors}", lambda: table2_facts(n_predictors, seed)),
        "Theorem 3": (f"theorem3-{n_draws}", lambda: theorem3_facts(n_draws, seed)),
        "Theorems 4 and 5": (f"bounds-{n_predictors}", lambda: bound_facts(n_predictors, seed)),
    }
    found = []
    for k, (what, (name, compute)) in enumerate(jobs.items()):
        _tell(progress, Progress(len(jobs), done=k, running=(what,)))
        found.append(_kept(Path(folder) / "facts" / f"{name}-{seed}.csv", compute))
    _tell(progress, Progress(len(jobs), done=len(jobs)))
    return _write(folder, *found)


def _tell(progress: Callable[[Progress], None] | None, now: Progress) -> None:
    if progress is not None:
        progress(now)


def _write(
    folder: str | Path, cells: pd.DataFrame, limit: pd.DataFrame, bounds: pd.DataFrame
) -> Reproduction:
    return write(
        folder,
        "theory",
        "The theory, executed",
        findings=(_judge_table2(cells), _judge_limit(limit), *_judge_bounds(bounds)),
        tables=(_table2(cells), _crosses(cells), _limit_table(limit), _bound_table(bounds)),
        pictures=(
            Picture("table2", _CAPTIONS["table2"], lambda: plot_table2(cells)),
            Picture("theorem3", _CAPTIONS["theorem3"], lambda: plot_theorem3(limit)),
            Picture("bounds", _CAPTIONS["bounds"], lambda: plot_bounds(bounds)),
        ),
    )


_CAPTIONS = {
    "table2": "Table 2 with a fourth column: the share of generated predictors, effective in the "
    "way of the column, on which the measure is as good as it can be.",
    "theorem3": "Theorem 3: micro-AUC of double effective scores, five labels; median and nine "
    "tenths of the draws, and the bound, which holds on average.",
    "bounds": "Theorems 4 and 5: effective predictors whose thresholds miss. No point may lie in "
    "the grey; the bound printed for micro-F1 fails, the one used here does not.",
}


def _kept(path: Path, compute: Callable[[], pd.DataFrame]) -> pd.DataFrame:
    """What was computed before, or now; read from the file in either case."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        half = path.with_suffix(".part")
        compute().to_csv(half, index=False)
        half.replace(path)  # whole or not at all
    return pd.read_csv(path)


def _ticks(cells: pd.DataFrame) -> pd.DataFrame:
    return cells[cells["optimised"] == "yes"]


def _judge_table2(cells: pd.DataFrame) -> str:
    ticks, crosses = _ticks(cells), cells[cells["optimised"] != "yes"]
    total = int(cells.drop_duplicates("effectiveness")["predictors"].sum())
    broken = ticks[ticks["perfect"] < ticks["predictors"]]
    shown = crosses[(crosses["counterexample"] - crosses["best"]).abs() > 1e-9]
    if broken.empty and len(shown) == len(crosses):
        return (
            f"Table 2: all {len(ticks)} ticks hold on all of {total} generated predictors; "
            f"all {len(crosses)} crosses have a counterexample."
        )
    names = ", ".join(f"{m} ({e})" for m, e in broken[["measure", "effectiveness"]].to_numpy())
    return (
        f"Table 2: {len(broken)} of {len(ticks)} ticks fail ({names}); "
        f"{len(shown)} of {len(crosses)} crosses have a counterexample."
    )


def _judge_limit(limit: pd.DataFrame) -> str:
    last = limit[limit["instances"] == limit["instances"].max()]
    below = int((limit["mean"] < limit["bound"]).sum())
    return (
        f"Theorem 3: at {last['instances'].max()} instances micro-AUC of double effective scores "
        f"is {last['mean'].min():.4f} or more; its mean lies below the bound at {below} of "
        f"{len(limit)} points."
    )


def _judge_bounds(bounds: pd.DataFrame) -> list[str]:
    counted = _bound_counts(bounds)
    kept = bool((counted["held"] == counted["predictors"]).all())
    said = "hold" if kept else "do not all hold"
    micro = counted[counted["measure"] == "micro_f1"].iloc[0]
    return [
        f"Theorems 4 and 5: the bounds {said} on {int(micro['predictors'])} predictors each.",
        f"The bound that Theorem 4 prints for micro-F1 fails on "
        f"{int(micro['predictors'] - micro['printed_held'])} of {int(micro['predictors'])}; it is "
        "that of instance-F1.",
    ]


def _table2(cells: pd.DataFrame) -> Table:
    marks = {"yes": "✓", "in_the_limit": "✓ as m grows", "no": "✗"}
    text = [
        f"{marks[fact['optimised']]} {fact['perfect']}/{fact['predictors']}"
        for fact in cells.to_dict("records")
    ]
    grid = cells.assign(text=text).pivot(index="measure", columns="effectiveness", values="text")
    shown = grid.loc[list(MEASURES), list(EFFECTIVENESS)].reset_index()
    shown["measure"] = [MEASURES[name].title for name in shown["measure"]]
    note = (
        "The paper's ticks and crosses, our fourth column, and on how many generated predictors of "
        "each kind the measure is as good as it can be. A cross promises nothing: some "
        "predictors are perfect all the same. Measures of labels are taken with cuts placed right."
    )
    return Table("table2", "Table 2, executed", note, shown, cells)


def _crosses(cells: pd.DataFrame) -> Table:
    facts = cells.dropna(subset=["counterexample"])[
        ["measure", "effectiveness", "counterexample", "best"]
    ].reset_index(drop=True)
    shown = facts.astype({"measure": str}).round(3)
    shown["measure"] = [MEASURES[name].title for name in facts["measure"]]
    note = (
        "Small predictors, effective in the way named, and what they reach (of labels: with the "
        "best of all cuts that suit the measure) beside the best possible."
    )
    return Table("counterexamples", "Every cross by a counterexample", note, shown, facts)


def _limit_table(limit: pd.DataFrame) -> Table:
    shown = limit[["density", "instances", "mean", "low", "high", "bound"]].round(4).astype(str)
    note = "Micro-AUC over the draws: mean, 5 and 95 per cent points, and the bound of the mean."
    return Table("theorem3", "Theorem 3: micro-AUC goes to 1", note, shown, limit)


def _bound_counts(bounds: pd.DataFrame) -> pd.DataFrame:
    """How often each bound holds, and how often it is attained."""
    sign = bounds["measure"].map({name: m.sign for name, m in MEASURES.items()})
    slack = sign * (bounds["value"] - bounds["bound"])
    marked = bounds.assign(
        held=slack >= -1e-12,
        attained=slack.abs() <= 1e-12,
        printed_held=sign * (bounds["value"] - bounds["printed"]) >= -1e-12,
        slack=slack,
    )
    grouped = marked.groupby(["theorem", "measure"], sort=False)
    return grouped.agg(
        predictors=("held", "size"),
        held=("held", "sum"),
        attained=("attained", "sum"),
        printed_held=("printed_held", "sum"),
        mean_slack=("slack", "mean"),
    ).reset_index()


def _bound_table(bounds: pd.DataFrame) -> Table:
    facts = _bound_counts(bounds)
    shown = facts.assign(
        measure=[MEASURES[name].title for name in facts["measure"]],
        mean_slack=facts["mean_slack"].map("{:.3f}".format),
    ).set_axis(
        ["theorem", "measure", "predictors", "holds", "attained", "as printed", "mean distance"],
        axis=1,
    )
    note = (
        "On how many effective predictors with missed thresholds the bound holds, on how many it "
        "is attained, on how many the printed one holds, and how far values lie from it on average."
    )
    return Table("bounds", "Theorems 4 and 5: bounds beside measured values", note, shown, facts)
