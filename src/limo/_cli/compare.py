"""``limo compare``: compare methods on data sets over repeated splits; results are stored."""

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

EXAMPLES = examples(
    (
        "three methods on a known data set, ten splits",
        "limo compare enron --methods limo-cv,logistic,br",
    ),
    (
        "your own file, two measures, and a report",
        "limo compare songs.csv --labels 6 --measures macro_f1,micro_f1 --report comparison.html",
    ),
    (
        "continue after Ctrl-C with the same command",
        "limo compare enron medical --store mine.sqlite",
    ),
    (
        "on the workers of a Dask cluster",
        "limo compare enron medical --cluster tcp://10.0.0.1:8786",
    ),
    ("your own methods, from a plan file", "limo compare --plan plan.toml --allow-code"),
)

_METHODS = "limo-cv,logistic,mlknn"

DataSets = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="DATA...",
        help="Files, or known data sets such as enron.",
        autocompletion=complete_data,
    ),
]
PlanFile = Annotated[
    Path | None,
    typer.Option("--plan", help="A TOML file with the data, methods and measures."),
]
AllowCode = Annotated[
    bool,
    typer.Option("--allow-code", help="Let the plan name your own code, such as file.py:Class."),
]
Methods = Annotated[
    str | None,
    typer.Option(
        "--methods",
        help=f"Comma-separated names; by default {_METHODS}.",
        autocompletion=complete_method,
    ),
]
Measures = Annotated[
    str | None,
    typer.Option(
        "--measures",
        help="Comma-separated names; by default all.",
        autocompletion=complete_measure,
    ),
]
Repeats = Annotated[int, typer.Option("--repeats", min=1, help="The number of splits.")]
Splits = Annotated[
    Literal["stratified", "random", "folds", "stored"],
    typer.Option("--splits", help="How to split the data; folds are for cross-validation."),
]
TestSize = Annotated[
    float, typer.Option("--test-size", min=0.01, max=0.99, help="The share of test instances.")
]
Store = Annotated[
    Path, typer.Option("--store", help="The file of results; runs that it already has are skipped.")
]

Cluster = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="ADDRESS",
        help="Compute on a Dask cluster, whose workers can read the same files.",
    ),
]


def compare(
    data: DataSets = None,
    plan: PlanFile = None,
    allow_code: AllowCode = False,
    methods: Methods = None,
    measures: Measures = None,
    repeats: Repeats = 10,
    splits: Splits = "stratified",
    test_size: TestSize = 0.3,
    store: Store = Path("results.sqlite"),
    jobs: Jobs = None,
    cluster: Cluster = None,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Repeat runs that failed before.")
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
    """Compare methods on data sets over repeated splits, by any of the measures.

    Every run is stored as soon as it is finished. You can stop at any time: the same command
    resumes where it stopped. Adding methods or data sets changes no other result. Thresholds are
    fitted on training data only, for each measure separately.
    """
    if report is not None:
        output(report, force=force)
    output(store, force=True)
    if plan is not None:
        if data or methods or measures or seed:
            raise WrongUse("--plan sets the data, methods, measures and seed; leave them out.")
        check_file(str(plan))
        planned = _checked(lambda: limo.experiment.Plan.from_file(plan, allow_code=allow_code))
    else:
        reading = Reading(labels, drop, missing, format)
        planned = _checked(
            lambda: limo.experiment.Plan(
                [_data(one, reading) for one in _given(data)],
                listed(methods or _METHODS),
                listed(measures) or list(limo.MEASURES),
                limo.experiment.Splits(splits, repeats, test_size),
                seed=seed,
            )
        )
    rows = _run(planned, store, jobs, cluster, retry_failed)
    made = limo.report.collect_provenance(typed_command(), seeds=planned.seed)
    document = limo.report.comparison_document(rows, provenance=made)
    if report is not None:
        limo.report.write(document, report, force=force)
    if json:
        print_json(document)
    else:
        print_comparison(document)
        where = f" The report is in {report}." if report is not None else ""
        print_text(f"Results are stored in {store}.{where}")
    _exit_if_failed(rows)


def progress_bar(advance: Callable[..., None]) -> Callable[[Any], None]:
    """A function that shows the progress of a plan on the terminal."""

    def show(now: Any) -> None:
        left = "" if now.seconds_left is None else f", about {now.seconds_left:.0f} s left"
        advance(now.skipped + now.done, now.total, f"{'; '.join(now.running)}{left}")

    return show


def _given(data: list[str] | None) -> list[str]:
    if not data:
        raise WrongUse(
            "Which data? Name files or known data sets, as in limo compare enron, or use --plan."
        )
    for one in data:
        if not is_known(one):
            check_file(one, or_known=True)
    return data


def _data(reference: str, reading: Reading) -> Any:
    """The record of a data set for the plan: a known one, a part of it, or a file."""
    if ":" in reference and is_known(reference):
        name = reference.replace(":", "-")
        return limo.experiment.Data(name, open_dataset(reference, reading))
    options = {} if is_known(reference) else reading.arguments()
    named = limo.experiment.Data.of(reference)
    return limo.experiment.Data(named.name, named.source, options)


def _checked(make: Callable[[], Any]) -> Any:
    """Make the plan and read its data, so that errors in them appear before anything runs."""
    try:
        plan = make()
    except ValueError as error:
        raise WrongUse(str(error)) from None
    with progress("Reading the data"):
        for one in plan.datasets:
            one.load()
    return plan


def _run(plan: Any, store: Path, jobs: int | None, cluster: str | None, retry_failed: bool) -> Any:
    pool = None if cluster is None else _executor(cluster)
    with progress("Comparing") as advance:
        return limo.experiment.run(
            plan,
            store,
            n_jobs=jobs if pool is None or jobs is not None else pool.n_jobs,
            executor=pool,
            retry_failed=retry_failed,
            progress=progress_bar(advance),
        )


def _executor(address: str) -> Any:
    try:
        return limo.dask.executor(address)
    except ImportError as error:
        raise WrongUse(str(error)) from None


def _exit_if_failed(rows: Any) -> None:
    """Report failed runs, and exit with an error code; the other results are stored."""
    failed = rows[rows["status"] == "failed"]
    if not len(failed):
        return
    first = failed.iloc[0]
    print_note(
        f"{failed['run'].nunique()} of {rows['run'].nunique()} runs failed. The first: "
        f"{first['method']} on {first['dataset']}: {first['error']}"
    )
    raise typer.Exit(1)
