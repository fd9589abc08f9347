"""The files of the models to evaluate, and their evaluation where they do not fit into memory.

Folders and patterns of files, and any file if memory is limited, are read in blocks of rows. The
result then has measures and margins, but no page. The same holds for sparse scores.
"""

import json as json_text
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import limo
from limo._cli.command import WrongUse
from limo._cli.console import print_json, print_table, print_text, progress
from limo._cli.inputs import Matching, Reading, check_file, is_known, open_dataset, typed_command
from limo._cli.options import which_labels

_PATTERN = "*?["


@dataclass(frozen=True)
class ModelFiles:
    """The files of one model."""

    scores: Path | None = None
    predictions: Path | None = None

    @property
    def files(self) -> list[Path]:
        return [file for file in (self.scores, self.predictions) if file is not None]


def pair(scores: list[str], predictions: list[str]) -> dict[str, ModelFiles]:
    """The files of each model by its name.

    A model is named by ``NAME=FILE``, or after its file. Predictions without a name belong to the
    models with scores, in the same order.
    """
    if not scores and not predictions:
        raise WrongUse("Nothing to evaluate: give --scores FILE, --predictions FILE, or both.")
    models: dict[str, ModelFiles] = {}
    order = []
    for name, file in map(_split, scores):
        key = name or _named_after(file)
        if key in models:
            raise WrongUse(f"Two models are called {key}: name them, as in --scores first={file}.")
        models[key] = ModelFiles(scores=file)
        order.append(key)
    for place, (name, file) in enumerate(map(_split, predictions)):
        key = name or (order[place] if place < len(order) else _named_after(file))
        before = models.get(key, ModelFiles())
        if before.predictions is not None:
            raise WrongUse(
                f"{key} has two files of predictions: name them, --predictions A={file}."
            )
        models[key] = ModelFiles(before.scores, file)
    return models


def _split(given: str) -> tuple[str | None, Path]:
    """Split ``NAME=FILE``, unless a file with that whole name exists."""
    name, equals, file = given.partition("=")
    if not equals or Path(given).exists() or "/" in name:
        return None, Path(given)
    return name, Path(file)


def _named_after(file: Path) -> str:
    """A name for a model, from its file, folder or pattern."""
    plain = file.stem.translate(dict.fromkeys(map(ord, "*?[]!"))).strip("-_. ")
    return plain or file.parent.name or "model"


# All rows in memory


def check_files(truth: str, models: dict[str, ModelFiles]) -> None:
    """Reject files that do not exist; the truth may be a known data set."""
    for file in (file for one in models.values() for file in one.files):
        check_file(str(file))
    if not is_known(truth):
        check_file(truth, or_known=True)


@dataclass(frozen=True, eq=False)
class Inputs:
    """Matrices of the truth and of every model, their columns in one order."""

    truth: Any
    scores: dict[str, Any]
    predictions: dict[str, Any]

    missing: float | None = None

    def judge(self, conventions: str, **options: Any) -> dict[str, Any]:
        matrices = {
            "truth": self.truth,
            **{f"scores of {name}": one for name, one in self.scores.items()},
            **{f"predictions of {name}": one for name, one in self.predictions.items()},
        }
        made = limo.report.collect_provenance(typed_command())
        made["files"] = {
            what: {"path": one.source, "sha256": one.checksum} for what, one in matrices.items()
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

    @property
    def is_sparse(self) -> bool:
        """Whether scores are sparse: absent ones are below all others."""
        return any(hasattr(one.values, "nnz") for one in self.scores.values())

    def evaluate(self, **options: Any) -> dict[str, "limo.Evaluation"]:
        """The evaluation of each model, without a document."""
        options |= {"label_names": self._names(), "missing": self.missing and math.nan}
        return evaluate_each(self.truth, self.scores, self.predictions, **options)

    def _names(self) -> tuple[str, ...] | None:
        return _names({"": self.truth}) or _names(self.scores) or _names(self.predictions)


def read_inputs(
    truth: str,
    models: dict[str, ModelFiles],
    labels: str | None,
    how: Matching,
    missing: float | None,
) -> Inputs:
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
    how.note_matched([*S.values(), *P.values()], Y)
    S, P = ({n: how.matched(one, Y) for n, one in part.items()} for part in (S, P))
    for one in (*S.values(), *P.values()):
        if one.values.shape != Y.values.shape:
            raise ValueError(
                f"{one.source} must have the shape of the true labels: expected "
                f"{Y.values.shape}, got {one.values.shape}. Rows are instances and columns are "
                "labels, in both."
            )
    return Inputs(Y, S, P, missing)


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


# In blocks of rows


def is_divided(truth: str, models: Mapping[str, ModelFiles]) -> bool:
    """Whether one of these is a folder or a pattern of files."""
    paths = [Path(truth), *(file for one in models.values() for file in one.files)]
    return any(
        path.is_dir() or (not path.exists() and any(sign in str(path) for sign in _PATTERN))
        for path in paths
    )


def check_divided(truth: str, how: Matching, given: Mapping[str, Any]) -> None:
    """Reject options that need all rows in memory."""
    if is_known(truth):
        raise WrongUse(
            f"{truth} is a known data set, which is in memory: leave out --memory, and name one "
            "file of scores."
        )
    _refuse({**given, "id": how.id, "tags": how.tags}, "needs all rows at once. Name single files")


def check_sparse(given: Mapping[str, Any]) -> None:
    """Reject options that need a score of every label."""
    _refuse(
        given,
        "needs a score for every label, but the scores are sparse. Write them as a dense array",
    )


def _refuse(given: Mapping[str, Any], why: str) -> None:
    for option, value in given.items():
        if value is not None:
            raise WrongUse(f"--{option} {why}, or leave it out.")


def evaluate_divided(
    truth: str,
    models: Mapping[str, Any],
    labels: str | None,
    how: Matching,
    memory: str | None,
    **options: Any,
) -> dict[str, "limo.Evaluation"]:
    """The evaluation of each model, read in blocks of rows."""
    evaluations = {}
    for name, files in models.items():
        with progress(f"Evaluating {name}") as advance:
            evaluations[name] = limo.evaluate_files(
                truth,
                files.scores and str(files.scores),
                files.predictions and str(files.predictions),
                labels=which_labels(labels),
                drop=how.drop,
                header=how.header,
                memory=memory,
                progress=advance,
                **options,
            )
    return evaluations


def evaluate_each(
    truth: Any, scores: Mapping[str, Any], predictions: Mapping[str, Any], **options: Any
) -> dict[str, "limo.Evaluation"]:
    """The evaluation of each model, whose scores and predictions are in memory."""
    evaluations = {}
    for name in dict.fromkeys([*scores, *predictions]):
        given = (one[name].values if name in one else None for one in (scores, predictions))
        evaluations[name] = limo.evaluate(truth.values, *given, **options)
    return evaluations


def print_each(evaluations: Mapping[str, "limo.Evaluation"], *, json: bool) -> dict[str, Any]:
    """Print the tables of each model, or one JSON document, which is returned."""
    document = {
        "models": [{"name": n, **json_text.loads(one.to_json())} for n, one in evaluations.items()],
        "provenance": limo.report.collect_provenance(typed_command()),
    }
    if json:
        print_json(document)
        return document
    for name, one in evaluations.items():
        heading = f"{name}: {one.heading}" if len(evaluations) > 1 else one.heading
        head, *body = one.measure_rows()
        print_table(heading, list(head), [list(row) for row in body], numbers=1)
        if one.margins:
            head, *body = one.margin_rows()
            print_table("margins", list(head), [list(row) for row in body], numbers=1)
    if any(one.n_absent for one in evaluations.values()):
        print_text(
            "Scores are sparse: absent ones are below all others, and tied. The column 'between' "
            "has the values for the best and the worst order of absent labels."
        )
    return document
