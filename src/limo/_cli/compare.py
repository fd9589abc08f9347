"""``limo compare``: methods on data sets, split by split, kept as they come."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import limo
from limo._cli.command import WrongUse, examples
from limo._cli.console import print_comparison, print_json, print_note, print_text, progress
from limo._cli.inputs import Reading, check_file, is_known, open_dataset, output, typed_command
from limo._cli.options import (
    Drop,
    Force,
    Format,
    Jobs,
    Json,
    Labels,
    Missing,
    Report,
    Seed,
    complete_data,
    complete_measure,
    complete_method,
    listed,
)

__all__ = ["EXAMPLES", "compare", "watching"]


EXAMPLES = examples(
    (
        "three methods on a known set, ten splits",
        "limo compare enron --methods limo-cv,logistic,br",
    ),
    (
        "a file of your own, two measures, and a report",
        "limo compare songs.csv --labels 6 --measures macro_f1,micro_f1 --report comparison.html",
    ),
    (
        "go on after Ctrl-C: the same command again",
        "limo compare enron medical --store mine.sqlite",
    ),
    ("methods of your own, from a plan", "limo compare --plan plan.toml --store mine.sqlite"),
)

_METHODS = "limo-cv,logistic,mlknn"

DataSets = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="DATA...", help="Files, or known sets such as enron.", autocompletion=complete_data
    ),
]
PlanFile = Annotated[
    Path | None,
    typer.Option("--plan", help="A TOML file that says all of this, instead of options."),
]
Methods = Annotated[
    str | None,
    typer.Option(
        "--methods",
        help=f"Names parted by commas. [default: {_METHODS}]",
        autocompletion=complete_method,
    ),
]
Measures = Annotated[
    str | None,
    typer.Option(
        "--measures",
        help="Names parted by commas. [default: all eleven]",
        autocompletion=complete_measure,
    ),
]
Repeats = Annotated[int, typer.Option("--repeats", min=1, help="How many splits.")]
Splits = Annotated[
    Literal["stratified", "random", "folds", "stored"],
    typer.Option("--splits", help="How the data are split; folds are those of cross-validation."),
]
TestSize = Annotated[
    float, typer.Option("--test-size", min=0.01, max=0.99, help="The share to test on.")
]
Store = Annotated[
    Path, typer.Option("--store", help="Where results are kept; what is there is not run again.")
]


def compare(
    data: DataSets = None,
    plan: PlanFile = None,
    methods: Methods = None,
    measures: Measures = None,
    repeats: Repeats = 10,
    splits: Splits = "stratified",
    test_size: TestSize = 0.3,
    store: Store = Path("results.sqlite"),
    jobs: Jobs = None,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Run again what failed before.")
    ] = False,
    labels: Labels = None,
    drop: Drop = None,
    missing: Missing = "error",
    format: Format = None,
    seed: Seed = 0,
    report: Report = None,
    json: Json = False,
    force: Force = False,
) -> None:
    """Compare methods on data sets, over repeated splits, by any of the measures.

    Every run is kept as soon as it has ended. Stop at any moment: the same command goes on where
    it stopped, and adding methods or data changes no other result. Thresholds are fitted on
    training data only, each for the measure it serves.
    """
    if report is not None:
        output(report, force=force)
    output(store, force=True)
    reading = Reading(labels, drop, missing, format)
    if plan is not None:
        if data or methods or measures:
            raise WrongUse("--plan says which data, methods and measures; leave them out.")
        check_file(str(plan))
        wanted = _planned(lambda: limo.experiment.Plan.from_file(plan))
    else:
        names = listed(methods or _METHODS)
        chosen = listed(measures) or list(limo.MEASURES)
        parts = limo.experiment.Splits(splits, repeats, test_size)
        wanted = _planned(
            lambda: limo.experiment.Plan(
                [_data(one, reading) for one in _given(data)], names, chosen, parts, seed=seed
            )
        )
    rows = _run(wanted, store, jobs, retry_failed)
    made = limo.report.collect_provenance(typed_command(), seeds=seed)
    document = limo.report.comparison_document(rows, provenance=made)
    if report is not None:
        limo.report.write(document, report, force=force)
    if json:
        print_json(document)
    else:
        print_comparison(document)
        told = f" The report is in {report}." if report is not None else ""
        print_text(f"Results are kept in {store}.{told}")
    _end(rows)


def watching(advance: Callable[..., None]) -> Callable[[Any], None]:
    """What tells a terminal how far a plan is."""

    def tell(state: Any) -> None:
        left = "" if state.seconds_left is None else f", about {state.seconds_left:.0f} s left"
        running = "; ".join(state.running)
        advance(state.skipped + state.done, state.total, f"{running}{left}")

    return tell


def _given(data: list[str] | None) -> list[str]:
    if not data:
        raise WrongUse("Which data? Name files or known sets, as in limo compare enron, or --plan.")
    for one in data:
        if not is_known(one):
            check_file(one)
    return data


def _data(reference: str, reading: Reading) -> Any:
    """A record for the plan; parts of a set go by their name, files with how to read them."""
    if ":" in reference and is_known(reference):
        name = reference.replace(":", "-")
        return limo.experiment.Data(name, open_dataset(reference, reading))
    options = {} if is_known(reference) else reading.arguments()
    named = limo.experiment.Data.of(reference)
    return limo.experiment.Data(named.name, named.source, options)


def _planned(make: Callable[[], Any]) -> Any:
    """The plan, its data read once: what is wrong with either is known before anything runs."""
    try:
        plan = make()
    except ValueError as error:
        raise WrongUse(str(error)) from None
    with progress("Reading the data"):
        for one in plan.datasets:
            one.load()
    return plan


def _run(plan: Any, store: Path, jobs: int | None, retry_failed: bool) -> Any:
    with progress("Comparing") as advance:
        return limo.experiment.run(
            plan, store, n_jobs=jobs, retry_failed=retry_failed, progress=watching(advance)
        )


def _end(rows: Any) -> None:
    """Say what failed, and that something did: the rest stands."""
    failed = rows[rows["status"] == "failed"]
    if not len(failed):
        return
    first = failed.iloc[0]
    print_note(
        f"{failed['run'].nunique()} of {rows['run'].nunique()} runs failed. The first: "
        f"{first['method']} on {first['dataset']}: {first['error']}"
    )
    raise typer.Exit(1)
