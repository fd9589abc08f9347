"""``limo evaluate``: how good scores or predictions are, and why."""

import math
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

import limo
from limo._cli.command import WrongUse, examples
from limo._cli.console import print_evaluation, print_json, print_text, progress
from limo._cli.inputs import Reading, check_file, is_known, open_dataset, output, typed_command
from limo._cli.options import (
    Conventions,
    Drop,
    Force,
    Header,
    Json,
    Labels,
    Report,
    complete_data,
    complete_measure,
    listed,
    which_labels,
)

EXAMPLES = examples(
    ("measures and margins of scores", "limo evaluate --truth Y.csv --scores S.csv"),
    (
        "all eleven measures, and a report",
        "limo evaluate -y Y.csv -s S.csv -p P.csv --report report.html",
    ),
    (
        "compare two models",
        "limo evaluate --truth Y.npz --scores mine=a.npy --scores theirs=b.npy",
    ),
    (
        "how sure the values are, and other measures",
        "limo evaluate -y Y.csv -s S.csv --intervals 0.95 --measures macro_auc,precision_at_5",
    ),
    (
        "what to change for macro-F1, and the next command",
        "limo evaluate -y Y.csv -s S.csv -p P.csv --measure macro_f1",
    ),
    (
        "empty cells are missing labels, and a column of weights",
        "limo evaluate -y Y.csv -s S.csv --missing nan --weights w.csv",
    ),
    ("against a known data set, as JSON", "limo evaluate -y enron:test -s S.parquet --json"),
)

_FILES = "CSV, TSV, Parquet, NPY, NPZ (dense or sparse) or ARFF"

Truth = Annotated[
    str,
    typer.Option(
        "--truth",
        "-y",
        help=f"True labels: {_FILES}, LIBSVM, or a known data set such as enron:test.",
        autocompletion=complete_data,
    ),
]
Scores = Annotated[
    list[str] | None,
    typer.Option(
        "--scores",
        "-s",
        metavar="[NAME=]FILE",
        help=f"Scores: {_FILES}. Repeat the option for each model to compare.",
    ),
]
Predictions = Annotated[
    list[str] | None,
    typer.Option(
        "--predictions",
        "-p",
        metavar="[NAME=]FILE",
        help="Predicted labels of the models, in the same order.",
    ),
]
Measures = Annotated[
    str | None,
    typer.Option(
        "--measures",
        help="Comma-separated names, such as macro_f1,precision_at_5, or all; by default the "
        "paper's eleven.",
        autocompletion=complete_measure,
    ),
]
Measure = Annotated[
    str | None,
    typer.Option(
        "--measure",
        "-m",
        help="The one measure that counts, such as macro_f1: verdict, order of the models and "
        "advice are about it.",
        autocompletion=complete_measure,
    ),
]
Intervals = Annotated[
    float | None,
    typer.Option(
        "--intervals",
        min=0.01,
        max=0.9999,
        help="The level of intervals for the true values, such as 0.95. Several models are always "
        "compared at 0.95.",
    ),
]
Weights = Annotated[
    str | None,
    typer.Option(
        "--weights",
        metavar="FILE|COLUMN",
        help="How much each instance counts: a file with one column, or a column of the truth.",
    ),
]
MissingLabels = Annotated[
    float | None,
    typer.Option(
        "--missing",
        metavar="NUMBER",
        help="The number of a missing true label: nan (empty cells, too) or -1. Such labels take "
        "no part.",
        show_default=False,
    ),
]


def evaluate(
    truth: Truth,
    scores: Scores = None,
    predictions: Predictions = None,
    measures: Measures = None,
    measure: Measure = None,
    intervals: Intervals = None,
    conventions: Conventions = "standard",
    weights: Weights = None,
    missing: MissingLabels = None,
    labels: Labels = None,
    drop: Drop = None,
    header: Header = None,
    report: Report = None,
    json: Json = False,
    force: Force = False,
) -> None:
    """Evaluate models by their scores: eleven measures, margins, and what to improve.

    The margins and seven of the measures need scores; the other four need predicted labels. Rows
    are instances and columns are labels; columns are matched by name if both files have names. A
    .npy file is memory-mapped and may be larger than memory.
    """
    models = pair(scores or [], predictions or [])
    for file in (file for one in models.values() for file in one.files):
        check_file(str(file))
    if not is_known(truth):
        check_file(truth)
    if report is not None:
        output(report, force=force)
    with progress("Reading"):
        column = weights if weights and not Path(weights).is_file() else None
        dropped = [*listed(drop), *([column] if column else [])]
        inputs = _read(truth, models, labels, dropped, header, missing)
        sample_weight = _weights(weights, column, truth)
    with progress("Evaluating"):
        chosen = "all" if measures == "all" else listed(measures) or None
        document = inputs.judge(
            conventions,
            measures=chosen,
            measure=measure,
            intervals=intervals,
            sample_weight=sample_weight,
            commands={
                name: _fit_command(truth, one, labels, drop, header)
                for name, one in models.items()
                if one.scores
            },
        )
    if report is not None:
        with progress("Writing the report"):
            limo.report.write(document, report, force=force)
    if json:
        print_json(document)
        return
    print_evaluation(document)
    if report is not None:
        print_text(f"The report is in {report}.")


@dataclass(frozen=True)
class _Files:
    """The files of one model."""

    scores: Path | None = None
    predictions: Path | None = None

    @property
    def files(self) -> list[Path]:
        return [file for file in (self.scores, self.predictions) if file is not None]


@dataclass(frozen=True, eq=False)
class _Inputs:
    """Matrices of the truth and of every model, their columns in one order."""

    truth: Any
    scores: dict[str, Any]
    predictions: dict[str, Any]

    missing: float | None = None

    def judge(self, conventions: str, **options: Any) -> dict[str, Any]:
        found = {
            "truth": self.truth,
            **{f"scores of {name}": one for name, one in self.scores.items()},
            **{f"predictions of {name}": one for name, one in self.predictions.items()},
        }
        made = limo.report.collect_provenance(typed_command())
        made["files"] = {
            what: {"path": one.source, "sha256": one.checksum} for what, one in found.items()
        }
        document: dict[str, Any] = limo.report.evaluation_document(
            self.truth.values,
            {name: one.values for name, one in self.scores.items()},
            {name: one.values for name, one in self.predictions.items()},
            conventions=conventions,
            label_names=self._names(),
            provenance=made,
            missing=None if self.missing is None else math.nan,
            **options,
        )
        return document

    def _names(self) -> tuple[str, ...] | None:
        everything = [self.truth, *self.scores.values(), *self.predictions.values()]
        return next((one.label_names for one in everything if one.label_names), None)


def pair(scores: list[str], predictions: list[str]) -> dict[str, _Files]:
    """The files of each model by its name.

    A model is named by ``NAME=FILE``, or after its file. Predictions without a name belong to the
    models with scores, in the same order.
    """
    if not scores and not predictions:
        raise WrongUse("Nothing to evaluate: give --scores FILE, --predictions FILE, or both.")
    found: dict[str, _Files] = {}
    order = []
    for name, file in map(_split, scores):
        key = name or file.stem
        if key in found:
            raise WrongUse(f"Two models are called {key}: name them, as in --scores first={file}.")
        found[key] = _Files(scores=file)
        order.append(key)
    for place, (name, file) in enumerate(map(_split, predictions)):
        key = name or (order[place] if place < len(order) else file.stem)
        before = found.get(key, _Files())
        if before.predictions is not None:
            raise WrongUse(
                f"{key} has two files of predictions: name them, --predictions A={file}."
            )
        found[key] = _Files(before.scores, file)
    return found


def _split(given: str) -> tuple[str | None, Path]:
    """Split ``NAME=FILE``, unless a file with that whole name exists."""
    name, equals, file = given.partition("=")
    if not equals or Path(given).exists() or "/" in name:
        return None, Path(given)
    return name, Path(file)


def _fit_command(
    truth: str, files: _Files, labels: str | None, drop: str | None, header: bool | None
) -> str:
    """The command that fits thresholds to the scores of a model, up to the measure."""
    parts = ["limo", "cut", "fit", "--truth", truth, "--scores", str(files.scores)]
    parts += ["--labels", labels] if labels is not None else []
    parts += ["--drop", drop] if drop is not None else []
    parts += [] if header is None else ["--header" if header else "--no-header"]
    return shlex.join(parts)


def _weights(given: str | None, column: str | None, truth: str) -> Any:
    """The weight of each instance: from a file, or from a column of the file of true labels."""
    if given is None:
        return None
    if column is None:
        return limo.datasets.read_weights(given)
    if is_known(truth):
        raise WrongUse(f"There is no file {given} with weights, and {truth} has no columns.")
    return limo.datasets.read_weights(truth, column)


def _read(
    truth: str,
    models: dict[str, _Files],
    labels: str | None,
    drop: list[str],
    header: bool | None,
    missing: float | None,
) -> _Inputs:
    """Read scores first: their width is the number of labels a LIBSVM file should have."""
    read = limo.datasets.read_matrix
    how: dict[str, Any] = {"drop": drop, "header": header}
    S = {n: read(one.scores, "scores", **how) for n, one in models.items() if one.scores}
    P = {
        n: read(one.predictions, "predictions", **how, **_width(S))
        for n, one in models.items()
        if one.predictions
    }
    Y = _truth(truth, labels, how | {"missing_labels": missing}, _width({**S, **P}))
    names = Y.label_names
    S, P = ({n: one.ordered_as(names) for n, one in part.items()} for part in (S, P))
    for one in (*S.values(), *P.values()):
        if one.values.shape != Y.values.shape:
            raise ValueError(
                f"{one.source} must have the shape of the true labels: expected "
                f"{Y.values.shape}, got {one.values.shape}. Rows are instances and columns are "
                "labels, in both."
            )
    return _Inputs(Y, S, P, missing)


def _width(matrices: dict[str, Any]) -> dict[str, Any]:
    """How many labels there are, if that is known."""
    first = next(iter(matrices.values()), None)
    return {} if first is None else {"n_labels": first.values.shape[1]}


def _truth(truth: str, labels: str | None, how: dict[str, Any], width: dict[str, Any]) -> Any:
    if is_known(truth):
        data = open_dataset(truth, Reading(labels))
        return limo.datasets.LabelMatrix(data.Y, data.label_names, data.source, data.checksum)
    return limo.datasets.read_matrix(truth, "truth", labels=which_labels(labels), **how, **width)
