"""``limo evaluate``: how good scores or predictions are, and why."""

import math
import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

import limo
from limo._cli.command import LIMIT, WrongUse, examples
from limo._cli.console import print_error, print_evaluation, print_json, print_text, progress
from limo._cli.files import (
    ModelFiles,
    check_divided,
    check_files,
    check_sparse,
    evaluate_divided,
    is_divided,
    pair,
    print_each,
    read_inputs,
)
from limo._cli.inputs import (
    Matching,
    column_of,
    output,
    place_of_column,
    read_sample_weight,
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
        "intervals for the values, and other measures",
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
        "intervals where several rows come from one patient, named in a column",
        "limo evaluate -y Y.csv -s S.csv --intervals 0.95 --groups patient",
    ),
    (
        "files whose rows have ids, and true labels such as rock;jazz in one column",
        "limo evaluate -y songs.csv --tags genres -s S.csv --id song",
    ),
    (
        "in CI: exit code 3 if the model is too weak",
        "limo evaluate -y Y.csv -s S.csv -p P.csv --fail-under macro_f1=0.6",
    ),
    (
        "files that do not fit into memory, and how much of it to use",
        "limo evaluate --truth 'Y/*.npy' --scores 'out/*.npy' --memory 2GB",
    ),
    ("against a known data set, as JSON", "limo evaluate -y enron:test -s S.parquet --json"),
)

_FILES = "CSV, TSV, Parquet, NPY, NPZ (dense or sparse), ARFF"

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
Groups = Annotated[
    str | None,
    typer.Option(
        "--groups",
        metavar="FILE|COLUMN",
        help="For intervals, where instances come in groups that are not independent, such as "
        "pictures of one patient: a text file with a group per line, or a column of the truth.",
    ),
]

KeepInstances = Annotated[
    bool,
    typer.Option(
        "--keep-instances",
        help="Keep in the JSON how much each instance moves each measure, so that limo diff can "
        "compare instance by instance.",
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
Memory = Annotated[
    str | None,
    typer.Option(
        "--memory",
        metavar="SIZE",
        help="Read files in blocks, and use no more memory in all than this, such as 2GB.",
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
    groups: Groups = None,
    missing_labels: MissingLabels = None,
    labels: Labels = None,
    tags: Tags = None,
    separator: Separator = None,
    id: Id = None,
    drop: Drop = None,
    header: Header = None,
    fail_under: FailUnder = None,
    fail_over: FailOver = None,
    memory: Memory = None,
    report: Report = None,
    keep_instances: KeepInstances = False,
    json: Json = False,
    force: Force = False,
) -> None:
    """Evaluate models by their scores: eleven measures, margins, and what to improve.

    The margins and seven of the measures need scores; the other four need predicted labels. Rows
    are instances and columns are labels; columns are matched by name if both files have names, and
    rows by their ids with --id. Folders and patterns of files, in quotes, are read in blocks of
    rows, and so is everything with --memory; a .npy file is memory-mapped otherwise.
    """
    models = pair(scores or [], predictions or [])
    limits = parse_limits(fail_under or [], fail_over or [])
    _check_limits(limits, models)
    _check_kept(keep_instances, json)
    how = Matching(listed(drop), header, id, tags, separator)
    chosen = {"measures": _chosen(measures, limits), "conventions": conventions}
    whole = {"report": report, "measure": measure, "intervals": intervals}
    whole |= {"weights": weights, "groups": groups, "keep-instances": keep_instances or None}
    if memory is not None or is_divided(truth, models):
        check_divided(truth, how, whole)
        chosen["missing_labels"] = missing_labels
        evaluations = evaluate_divided(truth, models, labels, how, memory, **chosen)
        _enforce(limits, print_each(evaluations, json=json))
        return
    check_files(truth, models)
    if report is not None:
        output(report, force=force)
    with progress("Reading"):
        column, sample_weight = read_sample_weight(weights, truth)
        place = place_of_column(groups, truth, "groups")
        how = replace(how, drop=[*how.drop, *column, *column_of(place)])
        inputs = read_inputs(truth, models, labels, how, missing_labels)
        options = {"n_instances": inputs.truth.values.shape[0], "drop": how.drop}
        grouped = place and limo.datasets.read_groups(*place, **options)
    with progress("Evaluating"):
        if inputs.is_sparse:
            check_sparse(whole)
            _enforce(limits, print_each(inputs.evaluate(**chosen), json=json))
            return
        document = inputs.judge(
            **chosen,
            measure=measure,
            intervals=intervals,
            sample_weight=sample_weight,
            groups=grouped,
            keep_instances=keep_instances,
            commands=_fit_commands(truth, models, how, labels, drop, weights, missing_labels),
        )
    _show(document, report, json=json, force=force)
    _enforce(limits, document)


def _show(document: dict[str, Any], report: Path | None, *, json: bool, force: bool) -> None:
    if report is not None:
        with progress("Writing the report"):
            limo.report.write(document, report, force=force)
    if json:
        print_json(document)
        return
    print_evaluation(document)
    if report is not None:
        print_text(f"The report is in {report}.")


def _check_kept(keep_instances: bool, json: bool) -> None:
    if keep_instances and not json:
        raise WrongUse("--keep-instances adds to the JSON document: add --json > FILE.")


def _fit_commands(
    truth: str,
    models: dict[str, ModelFiles],
    how: Matching,
    labels: str | None,
    drop: str | None,
    weights: str | None,
    missing: float | None,
) -> dict[str, str]:
    """For each model with scores, the command that fits thresholds, up to the measure."""
    given: dict[str, Any] = {
        "labels": labels,
        "tags": how.tags,
        "separator": how.separator,
        "id": how.id,
    }
    given |= {"drop": drop, "weights": weights, "missing": missing}
    known = {name: str(one) for name, one in given.items() if one is not None}
    more = [part for name, one in known.items() for part in (f"--{name}", one)]
    more += [] if how.header is None else ["--header" if how.header else "--no-header"]
    start = ["limo", "cut", "fit", "--truth", truth, "--scores"]
    return {
        name: shlex.join([*start, str(files.scores), *more])
        for name, files in models.items()
        if files.scores
    }


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
    limits = []
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
            limits.append(Limit(measure.name, number))
    return limits


def _check_limits(limits: list[Limit], models: dict[str, ModelFiles]) -> None:
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
