"""``limo predict``: scores and labels of new instances, from a model file."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import limo
from limo._cli.command import WrongUse, examples
from limo._cli.console import print_json, print_text, progress
from limo._cli.inputs import Reading, check_file, is_known, open_dataset, output
from limo._cli.options import (
    Data,
    Drop,
    Force,
    Format,
    IdToCopy,
    Json,
    Missing,
    Spreadsheet,
    listed,
)

EXAMPLES = examples(
    ("scores and labels, as a table", "limo predict model.skops new.csv -o predictions.csv"),
    (
        "with the column that names the rows",
        "limo predict model.skops new.csv --id song -o predictions.csv",
    ),
    ("labels alone", "limo predict model.skops new.csv -o labels.csv --what labels"),
    (
        "evaluate a model on the test part of a data set",
        "limo predict model.skops enron:test -o p.npz && "
        "limo evaluate -y enron:test -s p.npz -p p.npz",
    ),
)

What = Annotated[Literal["both", "scores", "labels"], typer.Option("--what", help="What to write.")]


def predict(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A file that limo fit wrote.")],
    data: Data,
    to: Annotated[
        Path,
        typer.Option("--output", "-o", help="Ends in .csv, .tsv, .parquet, .npz or .npy."),
    ],
    what: What = "both",
    id: IdToCopy = None,
    drop: Drop = None,
    missing: Missing = "error",
    format: Format = None,
    trusted: Annotated[
        str | None,
        typer.Option(
            "--trust",
            metavar="TYPES",
            help="More types that the model file may contain, if you trust its author.",
        ),
    ] = None,
    spreadsheet: Spreadsheet = False,
    json: Json = False,
    force: Force = False,
) -> None:
    """Predict the labels of new instances with a model file.

    The data need no labels. If the data have feature names, features are matched by name, in any
    order; missing or additional ones are rejected. In a table with both, columns are called
    label:NAME and score:NAME. With --id, the column that names the rows comes first. A value of a
    nominal feature that the model has not seen is reported.
    """
    check_file(str(model))
    if not is_known(data):
        check_file(data, or_known=True)
    elif id is not None:
        raise WrongUse(f"--id names a column of a file; {data} is a known data set.")
    _check_suffix(to, 2 if what == "both" else 1, id)
    output(to, force=force)
    with progress("Predicting"):
        saved = limo.load_model(model, trusted=listed(trusted))
        rows = {} if id is None else _rows(data, id, format)
        X = _instances(data, saved, Reading(None, drop, missing, format), id)
        S = None if what == "labels" else limo.scores_of(saved.model, X)
        P = None if what == "scores" else saved.model.predict(X)
        names = saved.label_names or _numbered(P if S is None else S)
        how: Any = {**rows, "spreadsheet": spreadsheet, "force": force}
        limo.datasets.write_predictions(to, names, scores=S, labels=P, **how)
    size = {"instances": X.shape[0], "labels": len(names)}
    if json:
        print_json({"file": str(to), "what": what, **size})
    else:
        content = "scores and labels" if what == "both" else what
        print_text(f"Wrote {content} of {X.shape[0]:,} instances x {len(names):,} labels to {to}.")


def _check_suffix(to: Path, n_matrices: int, id: str | None) -> None:
    try:
        limo.datasets.check_suffix(to, n_matrices, ids=id is not None)
    except ValueError as error:
        raise WrongUse(str(error)) from None


def _rows(data: str, id: str, format: str | None) -> dict[str, Any]:
    """The column of ids, for the file of predictions."""
    return {"ids": limo.datasets.read_ids(data, id, format=format), "id_column": id or "id"}


def _instances(data: str, saved: Any, reading: Reading, id: str | None) -> Any:
    """The features of the data, in the order of the model's."""
    names, labels = saved.feature_names, saved.label_names or ()
    if is_known(data):
        dataset = open_dataset(data, reading)
        if names is None:
            return dataset.X
        return limo.datasets.order_features(dataset.X, dataset.feature_names, names, dataset.source)
    how = {key: value for key, value in reading.arguments().items() if key != "labels"}
    return limo.datasets.read_instances(data, names, labels, id=id, **how)


def _numbered(matrix: Any) -> tuple[str, ...]:
    """Names for labels that have none."""
    return tuple(f"y{j}" for j in range(matrix.shape[1]))
