"""``limo evaluate``: how good scores or predictions are, and why."""

import math
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

import limo
from limo._cli.command import LIMIT, WrongUse, examples
from limo._cli.console import print_error, print_evaluation, print_json, print_text, progress
from limo._cli.inputs import (
    Matching,
    Reading,
    check_file,
    is_known,
    open_dataset,
    output,
    typed_command,
)
from limo._cli.options import (
    Conventions,
    Drop,
    Force,
    Header,
    Id,
    Json,
    Labels,
    MissingLabels,
    Report,
    Separator,
    Tags,
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
    (
        "files whose rows have ids, and true labels such as rock;jazz in one column",
        "limo evaluate -y songs.csv --tags genres -s S.csv --id song",
    ),
    (
        "in CI: exit code 3 if the model is too weak",
        "limo evaluate -y Y.csv -s S.csv -p P.csv --fail-under macro_f1=0.6",
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

FailUnder = Annotated[
    list[str] | None,
    typer.Option(
        "--fail-under",
        metavar="MEASURE=VALUE",
        help="Exit with code 3 if the value of a model is lower. For measures that are better when "
        "high; repeat it for several.",
    ),
]
FailOver = Annotated[
    list[str] | None,
    typer.Option(
        "--fail-over",
        metavar="MEASURE=VALUE",
        help="Exit with code 3 if the value of a model is higher. For losses.",
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
    missing_labels: MissingLabels = None,
    labels: Labels = None,
    tags: Tags = None,
    separator: Separator = None,
    id: Id = None,
    drop: Drop = None,
    header: Header = None,
    fail_under: FailUnder = None,
    fail_over: FailOver = None,
    report: Report = None,
    json: Json = False,
    force: Force = False,
) -> None:
    """Evaluate models by their scores: eleven measures, margins, and what to improve.

    The margins and seven of the measures need scores; the other four need predicted labels. Rows
    are instances and columns are labels; columns are matched by name if both files have names, and
    rows by their ids with --id. A .npy file is memory-mapped and may be larger than memory.
    """
    models = pair(scores or [], predictions or [])
    limits = parse_limits(fail_under or [], fail_over or [])
    _check_limits(limits, models)
    for file in (file for one in models.values() for file in one.files):
        check_file(str(file))
    if not is_known(truth):
        check_file(truth)
    if report is not None:
        output(report, force=force)
    with progress("Reading"):
        column, sample_weight = read_sample_weight(weights, truth)
        how = Matching([*listed(drop), *column], header, id, tags, separator)
        inputs = read_inputs(truth, models, labels, how, missing_labels)
    with progress("Evaluating"):
        chosen = _chosen(measures, limits)
        document = inputs.judge(
            conventions,
            measures=chosen,
            measure=measure,
            intervals=intervals,
            sample_weight=sample_weight,
            commands=_fit_commands(truth, models, labels, drop, how),
        )
    if report is not None:
        with progress("Writing the report"):
            limo.report.write(document, report, force=force)
    if json:
        print_json(document)
    else:
        print_evaluation(document)
        if report is not None:
            print_text(f"The report is in {report}.")
    _enforce(limits, document)


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
        return _names({"": self.truth}) or _names(self.scores) or _names(self.predictions)


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


def _fit_commands(
    truth: str, models: dict[str, _Files], labels: str | None, drop: str | None, how: Matching
) -> dict[str, str]:
    """For each model with scores, the command that fits thresholds, up to the measure."""
    given = {
        "labels": labels,
        "tags": how.tags,
        "separator": how.separator,
        "id": how.id,
        "drop": drop,
    }
    more = [part for name, one in given.items() if one is not None for part in (f"--{name}", one)]
    more += [] if how.header is None else ["--header" if how.header else "--no-header"]
    start = ["limo", "cut", "fit", "--truth", truth, "--scores"]
    return {
        name: shlex.join([*start, str(files.scores), *more])
        for name, files in models.items()
        if files.scores
    }


def read_sample_weight(given: str | None, truth: str) -> tuple[list[str], Any]:
    """The column of the true labels that holds weights, if any, and the weight of each instance."""
    if given is None:
        return [], None
    if Path(given).is_file():
        return [], limo.datasets.read_weights(given)
    if is_known(truth):
        raise WrongUse(f"There is no file {given} with weights, and {truth} has no columns.")
    return [given], limo.datasets.read_weights(truth, given)


def read_inputs(
    truth: str,
    models: dict[str, _Files],
    labels: str | None,
    how: Matching,
    missing: float | None,
) -> _Inputs:
    """Read scores first: their width is the number of labels a LIBSVM file should have."""
    read, options = limo.datasets.read_matrix, how.arguments()
    S = {n: read(one.scores, "scores", **options) for n, one in models.items() if one.scores}
    known = _names(S)
    P = {
        n: read(one.predictions, "predictions", label_names=known, **options, **_width(S))
        for n, one in models.items()
        if one.predictions
    }
    known = known or _names({n: one for n, one in P.items() if how.tags is None})
    Y = _truth(
        truth,
        labels,
        options | {"missing_labels": missing, "label_names": known},
        _width({**S, **P}),
    )
    S, P = ({n: how.matched(one, Y) for n, one in part.items()} for part in (S, P))
    for one in (*S.values(), *P.values()):
        if one.values.shape != Y.values.shape:
            raise ValueError(
                f"{one.source} must have the shape of the true labels: expected "
                f"{Y.values.shape}, got {one.values.shape}. Rows are instances and columns are "
                "labels, in both."
            )
    return _Inputs(Y, S, P, missing)


def _names(matrices: dict[str, Any]) -> tuple[str, ...] | None:
    """The names of the labels, from the first file that has any."""
    return next((one.label_names for one in matrices.values() if one.label_names), None)


def _width(matrices: dict[str, Any]) -> dict[str, Any]:
    """How many labels there are, if that is known."""
    first = next(iter(matrices.values()), None)
    return {} if first is None else {"n_labels": first.values.shape[1]}


def _truth(truth: str, labels: str | None, how: dict[str, Any], width: dict[str, Any]) -> Any:
    if is_known(truth):
        if how["id"] is not None or how["tags"] is not None:
            raise WrongUse(f"--id and --tags name columns of files; {truth} is a known data set.")
        data = open_dataset(truth, Reading(labels))
        return limo.datasets.LabelMatrix(data.Y, data.label_names, data.source, data.checksum)
    return limo.datasets.read_matrix(truth, "truth", labels=which_labels(labels), **how, **width)


# Limits for CI


@dataclass(frozen=True)
class Limit:
    """The lowest value of a measure that is accepted, or the highest of a loss."""

    measure: str
    value: float

    def broken_by(self, value: float | None) -> bool:
        """Whether a value is on the wrong side; an undefined one is."""
        if value is None or math.isnan(value):
            return True
        sign = limo.MEASURES[self.measure].sign
        return bool(sign * value < sign * self.value)


def parse_limits(under: list[str], over: list[str]) -> list[Limit]:
    """Parse ``MEASURE=VALUE``; a limit must be on the side where the measure is worse."""
    options = {"high": "--fail-under", "low": "--fail-over"}
    found = []
    for option, given in (("--fail-under", under), ("--fail-over", over)):
        for text in given:
            name, _, value = text.partition("=")
            try:
                measure, number = limo.measures.select([name])[0], float(value)
            except ValueError as error:
                known = name in limo.MEASURES
                reason = f"got {text}" if known else str(error)
                raise WrongUse(
                    f"{option} takes MEASURE=VALUE, such as macro_f1=0.6: {reason}"
                ) from None
            right = options[measure.better]
            if option != right:
                raise WrongUse(
                    f"{measure.name} is better when {measure.better}: limit it with "
                    f"{right} {measure.name}={value}."
                )
            found.append(Limit(measure.name, number))
    return found


def _check_limits(limits: list[Limit], models: dict[str, _Files]) -> None:
    """Reject a limit that the files of a model cannot be compared with."""
    for limit in limits:
        needs = limo.MEASURES[limit.measure].needs
        option = "scores" if needs == "scores" else "predictions"
        for name, files in models.items():
            if getattr(files, option) is None:
                raise WrongUse(f"{limit.measure} of {name} needs --{option} FILE.")


def _chosen(measures: str | None, limits: list[Limit]) -> Any:
    """The measures to compute: those asked for, and those with limits."""
    if measures == "all":
        return "all"
    named = [one.name for one in limo.measures.select(listed(measures) or None)]
    limited = list(dict.fromkeys(limit.measure for limit in limits))
    if measures is None and set(limited) <= set(named):
        return None
    return list(dict.fromkeys([*named, *limited]))


def _enforce(limits: list[Limit], document: dict[str, Any]) -> None:
    """Exit with code 3 if a model is on the wrong side of a limit."""
    broken = False
    for limit in limits:
        for model in document["models"]:
            line = model["measures"].get(limit.measure) or {"value": None}
            if limit.broken_by(line["value"]):
                broken = True
                side = "below" if limo.MEASURES[limit.measure].better == "high" else "above"
                value = "undefined" if line["value"] is None else f"{line['value']:.4f}"
                print_error(
                    f"{limo.MEASURES[limit.measure].title} of {model['name']} is {value}, {side} "
                    f"{limit.value:g}.",
                    prefix="Limit: ",
                )
    if broken:
        raise typer.Exit(LIMIT)
