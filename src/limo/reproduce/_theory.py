"""Check the theory: Table 2, Theorem 3, the bounds of Theorems 4 and 5, and imperfect margins."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd

from limo._system import need, replacing
from limo.experiment import Progress
from limo.measures._measure import EFFECTIVENESS
from limo.measures._table import PAPER_MEASURES
from limo.reproduce._pictures import plot_bounds, plot_table2, plot_theorem3
from limo.reproduce._reproduction import (
    OnProgress,
    Picture,
    Reproduction,
    ResultTable,
    write_page,
)
from limo.reproduce._theory_facts import bound_facts, table2_facts, theorem3_facts
from limo.reproduce._theory_imperfect import data_parts, map_parts, violation_parts
from limo.reproduce._theory_limits import (
    band_facts,
    datasets_at_hand,
    model_facts,
    violation_facts,
)
from limo.reproduce._theory_worlds import map_facts

Job = tuple[str, Callable[[], pd.DataFrame]]


# Part of the names of stored tables. Raise the number when their columns change, so that tables of
# an older version are not read.
VERSION = 3


def theory(
    folder: str | Path,
    *,
    n_predictors: int = 1000,
    n_draws: int = 40,
    n_worlds: int = 300,
    real_data: bool = True,
    seed: int = 0,
    progress: OnProgress | None = None,
) -> Reproduction:
    """Check the paper's theory by computation, and write tables and pictures of it.

    Every tick of Table 2 is tested on generated predictors, and every cross is shown by a
    counterexample. Micro-AUC is computed for more and more instances (Theorem 3), and measures with
    wrong thresholds are shown beside the bounds of Theorems 4 and 5.

    Then come imperfect margins, which the paper leaves open: Theorem 3 with violated margins, which
    loss is consistent with which measure, and how measures of real models lie within what their
    misordered pairs allow. Takes a few minutes.

    Parameters
    ----------
    folder : path
        Where to write. Computed numbers are stored in its folder ``facts``; the same call again
        only draws.
    n_predictors : int, default=1000
        The number of generated predictors per kind of effectiveness.
    n_draws : int, default=40
        The number of draws per point of Theorem 3's curves.
    n_worlds : int, default=300
        The number of random distributions of the consistency map.
    real_data : bool, default=True
        Whether to fit models to emotions, yeast, CAL500, medical and enron, as far as they are
        stored on this machine. ``limo datasets fetch`` downloads them, ``LIMO_DATA`` names their
        folder.
    seed : int, default=0
        The seed of all random draws.
    progress : callable, optional
        Called with a :class:`limo.experiment.Progress` before each part, and at the end.

    Returns
    -------
    Reproduction

    Examples
    --------
    >>> import limo, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> size = {"n_predictors": 5, "n_draws": 2, "n_worlds": 3, "real_data": False}
    >>> found = limo.reproduce.theory(folder, **size)
    >>> print(found.findings[0])
    Table 2: all 43 ticks hold on all 25 generated predictors; all 12 crosses have ...
    """
    need("matplotlib")  # now, rather than at the end
    jobs: dict[str, Job] = {
        "Table 2": (f"table2-{n_predictors}", lambda: table2_facts(n_predictors, seed)),
        "Theorem 3": (f"theorem3-{n_draws}", lambda: theorem3_facts(n_draws, seed)),
        "Theorems 4 and 5": (f"bounds-{n_predictors}", lambda: bound_facts(n_predictors, seed)),
        "Theorem 3, violated": (f"violated-{n_draws}", lambda: violation_facts(n_draws, seed)),
        "consistency map": (f"map-{n_worlds}", lambda: map_facts(n_worlds, seed)),
    }
    names = datasets_at_hand() if real_data else []
    for name in names:
        jobs |= _data_jobs(name, seed)
    facts: dict[str, pd.DataFrame] = {}
    for k, (what, (file, compute)) in enumerate(jobs.items()):
        _report(progress, Progress(len(jobs), done=k, running=(what,)))
        facts[what] = _stored(Path(folder) / "facts" / f"{file}-{seed}-v{VERSION}.csv", compute)
    _report(progress, Progress(len(jobs), done=len(jobs)))
    return _write(folder, facts, names, real_data)


def _data_jobs(name: str, seed: int) -> dict[str, Job]:
    return {
        f"{name}: models": (f"models-{name}", lambda: model_facts(name, seed)),
        f"{name}: intervals": (f"intervals-{name}", lambda: band_facts(name, seed)),
    }


def _report(progress: OnProgress | None, now: Progress) -> None:
    if progress is not None:
        progress(now)


def _write(
    folder: str | Path, facts: dict[str, pd.DataFrame], names: list[str], real_data: bool
) -> Reproduction:
    cells, limit, bounds = (facts[what] for what in ("Table 2", "Theorem 3", "Theorems 4 and 5"))
    models = [facts[f"{name}: models"] for name in names]
    bands = [facts[f"{name}: intervals"] for name in names]
    more = (
        violation_parts(facts["Theorem 3, violated"]),
        map_parts(facts["consistency map"]),
        data_parts(models, bands, asked=real_data),
    )
    return write_page(
        folder,
        "theory",
        "The theory, checked by computation",
        findings=(
            *(_table2_finding(cells), _limit_finding(limit), *_bound_findings(bounds)),
            *(sentence for part in more for sentence in part.findings),
        ),
        tables=(
            *(_table2(cells), _crosses(cells), _limit_table(limit), _bound_table(bounds)),
            *(table for part in more for table in part.tables),
        ),
        pictures=(
            Picture("table2", _CAPTIONS["table2"], lambda: plot_table2(cells)),
            Picture("theorem3", _CAPTIONS["theorem3"], lambda: plot_theorem3(limit)),
            Picture("bounds", _CAPTIONS["bounds"], lambda: plot_bounds(bounds)),
            *(picture for part in more for picture in part.pictures),
        ),
    )


_CAPTIONS = {
    "table2": "Table 2 with two more columns: the share of generated predictors, effective as the "
    "column says, on which the measure has its best possible value.",
    "theorem3": "Theorem 3: micro-AUC of double effective scores, five labels; the median and 90 % "
    "of the draws, and the bound on the mean (dashed).",
    "bounds": "Theorems 4 and 5: effective predictors with wrong thresholds. No point may be in "
    "the grey area; the bound printed for micro-F1 fails, the one used here does not.",
}


def _stored(path: Path, compute: Callable[[], pd.DataFrame]) -> pd.DataFrame:
    """Compute a table unless it is stored already; read it from the file in either case."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        table = compute()
        with replacing(path) as file:
            table.to_csv(file, index=False)
    return pd.read_csv(path)


def _ticks(cells: pd.DataFrame) -> pd.DataFrame:
    return cells[cells["optimised"] == "yes"]


def _table2_finding(cells: pd.DataFrame) -> str:
    ticks, crosses = _ticks(cells), cells[cells["optimised"] != "yes"]
    total = int(cells.drop_duplicates("effectiveness")["predictors"].sum())
    broken = ticks[ticks["perfect"] < ticks["predictors"]]
    shown = crosses[(crosses["counterexample"] - crosses["best"]).abs() > 1e-9]
    if broken.empty and len(shown) == len(crosses):
        return (
            f"Table 2: all {len(ticks)} ticks hold on all {total} generated predictors; "
            f"all {len(crosses)} crosses have a counterexample."
        )
    names = ", ".join(f"{m} ({e})" for m, e in broken[["measure", "effectiveness"]].to_numpy())
    return (
        f"Table 2: {len(broken)} of {len(ticks)} ticks fail ({names}); "
        f"{len(shown)} of {len(crosses)} crosses have a counterexample."
    )


def _limit_finding(limit: pd.DataFrame) -> str:
    last = limit[limit["instances"] == limit["instances"].max()]
    below = int((limit["mean"] < limit["bound"]).sum())
    return (
        f"Theorem 3: at {last['instances'].max()} instances micro-AUC of double effective scores "
        f"is at least {last['mean'].min():.4f}; its mean is below the bound at {below} of "
        f"{len(limit)} points."
    )


def _bound_findings(bounds: pd.DataFrame) -> list[str]:
    counted = _bound_counts(bounds)
    all_hold = bool((counted["held"] == counted["predictors"]).all())
    result = "hold" if all_hold else "do not all hold"
    micro = counted[counted["measure"] == "micro_f1"].iloc[0]
    return [
        f"Theorems 4 and 5: the bounds {result} on {int(micro['predictors'])} predictors each.",
        f"The bound that Theorem 4 prints for micro-F1 fails on "
        f"{int(micro['predictors'] - micro['printed_held'])} of {int(micro['predictors'])}: it "
        "is the bound of instance-F1.",
    ]


def _table2(cells: pd.DataFrame) -> ResultTable:
    marks = {"yes": "✓", "in_the_limit": "✓ as m grows", "no": "✗"}
    text = [
        f"{marks[fact['optimised']]} {fact['perfect']}/{fact['predictors']}"
        for fact in cells.to_dict("records")
    ]
    grid = cells.assign(text=text).pivot(index="measure", columns="effectiveness", values="text")
    shown = grid.loc[list(PAPER_MEASURES), list(EFFECTIVENESS)].reset_index()
    shown["measure"] = [PAPER_MEASURES[name].title for name in shown["measure"]]
    note = (
        "The paper's ticks and crosses, our two columns, and on how many generated predictors of "
        "each kind the measure has its best possible value. A cross promises nothing, but some "
        "predictors reach it anyway. Measures of labels are taken with correct thresholds."
    )
    return ResultTable("table2", "Table 2, checked", note, shown, cells)


def _crosses(cells: pd.DataFrame) -> ResultTable:
    facts = cells.dropna(subset=["counterexample"])[
        ["measure", "effectiveness", "counterexample", "best"]
    ].reset_index(drop=True)
    shown = facts.astype({"measure": str}).round(3)
    shown["measure"] = [PAPER_MEASURES[name].title for name in facts["measure"]]
    note = (
        "Small predictors with the effectiveness named, and the value they reach (measures of "
        "labels: with the best of all thresholds of the kind that suits the measure) beside the "
        "best possible value."
    )
    return ResultTable("counterexamples", "A counterexample for every cross", note, shown, facts)


def _limit_table(limit: pd.DataFrame) -> ResultTable:
    shown = limit[["density", "instances", "mean", "low", "high", "bound"]].round(4).astype(str)
    note = "Micro-AUC of the draws: mean, 5 and 95 per cent quantiles, and the bound on the mean."
    return ResultTable("theorem3", "Theorem 3: micro-AUC tends to 1", note, shown, limit)


def _bound_counts(bounds: pd.DataFrame) -> pd.DataFrame:
    """How often each bound holds, and how often it is attained."""
    sign = bounds["measure"].map({name: m.sign for name, m in PAPER_MEASURES.items()})
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


def _bound_table(bounds: pd.DataFrame) -> ResultTable:
    facts = _bound_counts(bounds)
    shown = facts.assign(
        measure=[PAPER_MEASURES[name].title for name in facts["measure"]],
        mean_slack=facts["mean_slack"].map("{:.3f}".format),
    ).set_axis(
        ["theorem", "measure", "predictors", "holds", "attained", "as printed", "mean slack"],
        axis=1,
    )
    note = (
        "On how many effective predictors with wrong thresholds the bound holds, on how many it is "
        "attained, on how many the printed bound holds, and the mean distance from the bound."
    )
    return ResultTable(
        "bounds", "Theorems 4 and 5: bounds beside measured values", note, shown, facts
    )
