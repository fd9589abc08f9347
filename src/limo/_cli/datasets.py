"""``limo datasets``: list, describe, fetch and convert data sets."""

from json import loads
from pathlib import Path
from typing import Annotated

import typer

import limo
from limo._cli.command import WrongUse, add_command, examples
from limo._cli.console import print_json, print_table, print_text, progress
from limo._cli.inputs import Reading, is_known, open_dataset, output
from limo._cli.options import Data, Drop, Force, Format, Json, Labels, Missing

data_app = typer.Typer(
    help="List, describe, fetch and convert data sets.",
    epilog=examples(
        ("the data sets known by name", "limo datasets"),
        ("what a file holds", "limo datasets describe songs.csv --labels 'tag_*'"),
        ("download and verify a data set", "limo datasets fetch enron"),
        ("convert LIBSVM to Mulan's ARFF", "limo datasets convert train.svm train.arff"),
    ),
    rich_markup_mode="rich",
    invoke_without_command=True,
)


@data_app.callback()
def _default(ctx: typer.Context) -> None:
    if ctx.invoked_subcommand is None:
        list_sets()


def list_sets(json: Json = False) -> None:
    """List the known data sets, and whether they are available without a download."""
    frame = limo.datasets.catalogue().to_frame().reset_index().astype({"cardinality": object})
    records = frame.where(frame.notna(), None).to_dict("records")
    for record in records:
        record["at_hand"] = limo.datasets.is_at_hand(record["name"])
    if json:
        print_json(records)
        return
    counts = ("instances", "features", "labels")
    body = [
        [
            r["name"],
            r["domain"],
            *(f"{r[c]:,}" for c in counts),
            "-" if r["cardinality"] is None else f"{r['cardinality']:.2f}",
            r["parts"].removeprefix("all").strip() or "-",
            "yes" if r["at_hand"] else "no",
        ]
        for r in records
    ]
    head = ["name", "domain", *counts, "per instance", "parts", "local"]
    print_table("Known data sets", head, body)
    print_text(
        "limo datasets fetch NAME downloads a data set; NAME:train and NAME:test are its parts."
    )


def describe(
    data: Data,
    other: Annotated[
        str | None, typer.Argument(help="Another part of the same data, such as the test part.")
    ] = None,
    labels: Labels = None,
    drop: Drop = None,
    missing: Missing = "error",
    format: Format = None,
    json: Json = False,
) -> None:
    """Describe a data set: its size, label frequencies and repeated rows."""
    reading = Reading(labels, drop, missing, format)
    first = open_dataset(data, reading)
    second = None if other is None else open_dataset(other, reading)
    description = limo.describe(first, second)
    if json:
        print_json(loads(description.to_json()))
    else:
        print_text(str(description))


def fetch(
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="Data sets known by name.")],
    json: Json = False,
) -> None:
    """Download data sets that are not available locally, and verify them."""
    unknown = [name for name in names if not is_known(name)]
    if unknown:
        raise WrongUse(
            f"No data set is called {unknown[0]}; limo datasets lists them. "
            "For a file, pass its path to any command; there is nothing to fetch."
        )
    fetched = []
    for name in names:
        data = open_dataset(name, Reading())
        fetched.append({"name": name, "instances": data.X.shape[0], "sha256": data.checksum})
        if not json:
            print_text(f"{name}: {data.X.shape[0]:,} instances, verified.")
    if json:
        print_json(fetched)


def convert(
    data: Data,
    to: Annotated[
        Path,
        typer.Argument(
            metavar="OUT", help="Ends in .arff, .svm, .libsvm or .npz; a further .gz compresses it."
        ),
    ],
    labels: Labels = None,
    drop: Drop = None,
    missing: Missing = "error",
    format: Format = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Read a data set in one format and write it in another; names are kept."""
    try:
        files = limo.datasets.files_written(to)
    except ValueError as error:
        raise WrongUse(str(error)) from None
    for file in files:
        output(file, force=force)
    dataset = open_dataset(data, Reading(labels, drop, missing, format))
    with progress(f"Writing {to}"):
        limo.write(dataset, to)
    if json:
        print_json({"files": list(map(str, files)), "instances": dataset.X.shape[0]})
    else:
        print_text(f"Wrote {' and '.join(map(str, files))}: {dataset!r}")


for _name, _function, _epilog in (
    ("list", list_sets, examples(("for programs", "limo datasets list --json"))),
    (
        "describe",
        describe,
        examples(
            ("a known data set", "limo datasets describe enron"),
            (
                "a file whose last six columns are labels",
                "limo datasets describe songs.csv --labels 6",
            ),
            ("two parts and the rows in both", "limo datasets describe enron:train enron:test"),
        ),
    ),
    ("fetch", fetch, examples(("download and verify", "limo datasets fetch enron medical"))),
    (
        "convert",
        convert,
        examples(
            (
                "a CSV file as Mulan's ARFF and XML",
                "limo datasets convert songs.csv songs.arff --labels 6",
            ),
            ("a known data set as compressed LIBSVM", "limo datasets convert enron enron.svm.gz"),
        ),
    ),
):
    add_command(data_app, _function, name=_name, epilog=_epilog)
