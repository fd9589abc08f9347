"""Reproduce the experiment on synthetic data: Figures 1 to 3 and the two tables behind them."""

from pathlib import Path
from typing import Any

import pandas as pd
from sklearn.preprocessing import PolynomialFeatures

from limo.datasets import figure1
from limo.datasets._describe import plot_triangles
from limo.experiment import Data, Method, Plan, Splits, ThresholdSetting
from limo.experiment._method import (
    Variant,
    fitted_on_training,
    paper_instance_rule,
    paper_label_rule,
)
from limo.experiment._statistics import check_rows
from limo.measures._conventions import Conventions
from limo.measures._table import PAPER_MEASURES
from limo.models._limo_sgd import paper_limo
from limo.report import comparison_part
from limo.reproduce._pictures import plot_relative
from limo.reproduce._reproduction import (
    OnProgress,
    Picture,
    Reproduction,
    ResultTable,
    read_printed,
    run_plans,
    write_page,
)
from limo.thresholds import GlobalThreshold

VARIANTS: tuple[Variant, ...] = ("LIMO-inst", "LIMO-label", "LIMO")
RANKING = tuple(name for name, m in PAPER_MEASURES.items() if m.needs == "scores")
CLASSIFICATION = tuple(name for name, m in PAPER_MEASURES.items() if m.needs == "labels")
N_POINTS = 2000
# The printed table leaves out instances with all four labels, also in average precision.
PRINTED = Conventions(full_rows_in_average_precision=False, name="as printed")
_LIMIT = 3.0  # standard deviations within which a cell agrees
_CELL = ["measure", "method"]


def synthetic(
    folder: str | Path,
    *,
    n_experiments: int = 10,
    n_splits: int = 10,
    n_jobs: int | None = None,
    progress: OnProgress | None = None,
) -> Reproduction:
    """Repeat the paper's synthetic experiment; write its tables and figures beside printed numbers.

    An experiment is one sample of 2000 points, split in half ten times. It is repeated, because two
    experiments differ by more than most methods in the table do. Needs no data.

    Parameters
    ----------
    folder : path
        Where to write. Results are stored in its file ``rows.sqlite``: the same call resumes an
        interrupted run, and only draws if all runs are stored.
    n_experiments, n_splits : int, default=10, 10
        The number of samples, and of splits per sample.
    n_jobs : int, optional
        The number of processes; by default the number of cores.
    progress : callable, optional
        Called with a :class:`limo.experiment.Progress`, as by :func:`limo.experiment.run`.

    Returns
    -------
    Reproduction

    Examples
    --------
    >>> import limo, pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> found = limo.reproduce.synthetic(folder, n_experiments=1, n_splits=1)  # doctest: +SKIP
    >>> sorted(found.tables)  # doctest: +SKIP
    ['classification', 'ranking']
    """
    plans = [make(n_experiments, n_splits) for make in (ranking_plan, classification_plan)]
    return draw_synthetic(folder, run_plans(plans, folder, n_jobs, progress))


def draw_synthetic(folder: str | Path, rows: pd.DataFrame) -> Reproduction:
    """Write tables and figures of the synthetic experiment from stored results.

    Parameters
    ----------
    folder : path
        Where to write.
    rows : DataFrame
        Results of both plans, as :func:`limo.experiment.read_rows` returns them.

    Returns
    -------
    Reproduction

    Examples
    --------
    >>> import limo, pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> found = limo.reproduce.synthetic(folder, n_experiments=1, n_splits=1)  # doctest: +SKIP
    >>> rows = limo.experiment.read_rows(folder / "rows.sqlite")  # doctest: +SKIP
    >>> again = limo.reproduce.draw_synthetic(folder, rows)  # doctest: +SKIP
    """
    ours, printed = experiment_means(rows), printed_synthetic()
    scores = beside_printed(ours, printed[printed["method"].isin(VARIANTS)], synthetic_spread())
    labels = beside_printed(ours, printed[~printed["method"].isin(VARIANTS)])
    return write_page(
        folder,
        "synthetic",
        "The paper's synthetic experiment",
        findings=_findings(scores, labels),
        tables=(_table("ranking", scores), _table("classification", labels)),
        pictures=(
            Picture("figure1", _CAPTIONS["figure1"], lambda: plot_triangles(figure1(N_POINTS))),
            Picture("figure2", _CAPTIONS["figure2"], lambda: plot_relative(scores)),
            Picture("figure3", _CAPTIONS["figure3"], lambda: plot_relative(labels)),
        ),
        comparisons=(_part(rows, scores, "scores"), _part(rows, labels, "labels")),
    )


def _part(rows: pd.DataFrame, table: pd.DataFrame, what: str) -> dict[str, Any]:
    """A comparison for a report: the splits of all experiments as splits of one data set."""
    results = rows[rows["method"].isin(table["method"])]
    number = results.groupby(["dataset", "split"], sort=False).ngroup()
    printed = table.rename(columns={"printed": "mean", "sd": "std"}).assign(dataset="synthetic")
    return comparison_part(
        results.assign(dataset="synthetic", split=number),
        title=f"Measures of {what}",
        printed=printed[["dataset", "method", "measure", "mean", "std"]],
    )


_CAPTIONS = {
    "figure1": "Figure 1, recovered: four triangles of a square and their label sets.",
    "figure2": "Figure 2: relative values of the measures of scores. The best method is on the "
    "left; the numbers on the right are the worst values.",
    "figure3": "Figure 3: relative values of the measures of labels, with thresholds per label "
    "(-t, hollow) and per instance (-t(x), filled).",
}
_NOTES = {
    "ranking": "Differences are in standard deviations between experiments, measured when Figure 1 "
    "was recovered. Instances with all four labels have no pair; average precision leaves them out "
    "too, as the printed table seems to do.",
    "classification": "Differences are in our own standard deviations between experiments. -t: the "
    "best threshold of each label (Hamming loss, macro-F1) or one for all labels (the other two); "
    "-t(x): support vector regression of the thresholds with the best Hamming loss of each "
    "training instance.",
}


def _findings(scores: pd.DataFrame, labels: pd.DataFrame) -> tuple[str, ...]:
    differences = (labels["ours"] - labels["printed"]).abs()
    worst = labels.loc[differences.idxmax()]
    return (
        _agreement(scores),
        f"Measures of labels: the {len(labels)} cells differ from the printed values by "
        f"{differences.mean():.3f} on average, by at most {differences.max():.3f} "
        f"({_cell(worst)}).",
    )


def _agreement(table: pd.DataFrame) -> str:
    outside = table[table["difference"].abs() > _LIMIT]
    names = ", ".join(f"{_cell(line)} {line['difference']:+.1f}" for _, line in outside.iterrows())
    others = f"; outside: {names}" if names else ""
    return (
        f"Measures of scores: {len(table) - len(outside)} of {len(table)} cells are within "
        f"{_LIMIT:g} standard deviations of the printed values{others}."
    )


def _cell(line: pd.Series) -> str:
    return f"{line['method']}, {PAPER_MEASURES[line['measure']].title}"


def _table(name: str, table: pd.DataFrame) -> ResultTable:
    """One of the two tables of the appendix, with one row per cell."""
    shown = pd.DataFrame(
        {
            "measure": [PAPER_MEASURES[measure].title for measure in table["measure"]],
            "method": table["method"],
            "printed": table["printed"].map("{:.3f}".format),
            "ours": [f"{v:.4f} ± {sd:.4f}" for v, sd in table[["ours", "our_sd"]].to_numpy()],
            "difference in sd": table["difference"].map("{:+.1f}".format),
            "relative, printed": table["printed_relative"].map("{:.2f}".format),
            "relative, ours": table["relative"].map("{:.2f}".format),
        }
    )
    what = {"ranking": "scores", "classification": "labels"}[name]
    return ResultTable(name, f"Synthetic data, measures of {what}", _NOTES[name], shown, table)


# The plans: the paper's learners, thresholds and splits.


def _thresholds() -> dict[str, dict[str, ThresholdSetting]]:
    """The thresholds behind the printed columns, by suffix; those of ``-t`` differ by measure."""
    global_rule = GlobalThreshold("micro_f1")
    per_label = {
        "hamming_loss": paper_label_rule("hamming_loss"),
        "macro_f1": paper_label_rule("macro_f1"),
        "micro_f1": global_rule,
        "instance_f1": global_rule,
    }
    per_instance = dict.fromkeys(CLASSIFICATION, paper_instance_rule("hamming_loss"))
    return {"-t": fitted_on_training(per_label), "-t(x)": fitted_on_training(per_instance)}


def _method(variant: Variant, thresholds: dict[str, ThresholdSetting], suffix: str) -> Method:
    # the intercept is a constant feature, which t(x) reads too: gamma is 1/3
    model = paper_limo(variant, "synthetic").set_params(threshold_measure=None, fit_intercept=False)
    constant = PolynomialFeatures(degree=1)
    return Method(variant + suffix, model, scaling=constant, threshold=thresholds, cv="training")


def _samples(n_experiments: int) -> list[Data]:
    """One sample of the square per experiment."""
    return [
        Data(f"sample {seed}", "figure1", {"n": N_POINTS, "seed": seed})
        for seed in range(n_experiments)
    ]


def ranking_plan(n_experiments: int, n_splits: int) -> Plan:
    """Three variants of LIMO, seven measures of scores."""
    methods = [_method(variant, {}, "") for variant in VARIANTS]
    splits = Splits("random", n_splits, test_size=0.5)
    return Plan(_samples(n_experiments), methods, RANKING, splits, conventions=PRINTED)


def classification_plan(n_experiments: int, n_splits: int) -> Plan:
    """Three variants of LIMO, each with two kinds of threshold, four measures of labels."""
    methods = [
        _method(variant, thresholds, suffix)
        for variant in VARIANTS
        for suffix, thresholds in _thresholds().items()
    ]
    splits = Splits("random", n_splits, test_size=0.5)
    return Plan(_samples(n_experiments), methods, CLASSIFICATION, splits)


# Our values beside the printed ones: differences in standard deviations, and relative values.


def printed_synthetic() -> pd.DataFrame:
    """Both printed tables: measure, method, value, relative."""
    tables = [read_printed(f"synthetic_{name}.csv") for name in ("ranking", "classification")]
    return pd.concat(tables, ignore_index=True)


def synthetic_spread() -> pd.DataFrame:
    """Standard deviations between experiments on the synthetic data: measure, method, sd."""
    return read_printed("synthetic_spread.csv")


def experiment_means(rows: pd.DataFrame) -> pd.DataFrame:
    """Mean of each cell over experiments (data sets), and their standard deviation."""
    table = check_rows(rows).dropna(subset=["value"])
    means = table.groupby([*_CELL, "dataset"], sort=False)["value"].mean()
    summary = means.groupby(level=_CELL, sort=False).agg(["mean", "std", "size"]).reset_index()
    return summary.set_axis([*_CELL, "ours", "our_sd", "experiments"], axis=1)


def relative(values: pd.DataFrame, column: str) -> pd.Series:
    """Rescale each measure so that its best method is 1 and its worst 0; all 1 if equal."""
    signed = values[column] * values["measure"].map({n: m.sign for n, m in PAPER_MEASURES.items()})
    grouped = signed.groupby(values["measure"], sort=False)
    low, high = grouped.transform("min"), grouped.transform("max")
    return ((signed - low) / (high - low).where(high > low)).fillna(1.0)


def beside_printed(
    ours: pd.DataFrame, printed: pd.DataFrame, spread: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Our values beside the printed ones, in the printed order.

    ``difference`` is in standard deviations between experiments: those of ``spread``, or our own.
    """
    table = printed.rename(columns={"value": "printed", "relative": "printed_relative"})
    table = table.merge(ours, on=_CELL, validate="1:1")
    if spread is None:
        table["sd"] = table["our_sd"]
    else:
        table = table.merge(spread, on=_CELL, validate="1:1")
    table["difference"] = (table["ours"] - table["printed"]) / table["sd"]
    table["relative"] = relative(table, "ours")
    return table
