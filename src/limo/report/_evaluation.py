"""The document of an evaluation: one model or several, on the same labels."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from scipy.stats import rankdata

from limo._checks import Checked, check_truth
from limo._evaluation import Evaluation, evaluate_checked
from limo._explain import guarantees
from limo._text import plain
from limo._views import Pattern
from limo.measures._compute import check_conventions
from limo.measures._conventions import Conventions
from limo.measures._measure import blind_value, skill
from limo.measures._table import LETTERS, MEASURES, explain_measure
from limo.report._details import (
    hardest_instances,
    hardest_labels,
    label_columns,
    margins_of,
    threshold_details,
    threshold_functions,
)
from limo.report._page import FORMAT
from limo.report._provenance import checksum, collect_provenance
from limo.report._verdict import verdict_of, verdict_of_all

_HARDEST = 10


@dataclass(frozen=True, eq=False)
class ModelFindings:
    """The parts of a document that come from one model; nothing as large as its scores.

    Attributes
    ----------
    model : dict
        What belongs to the model alone.
    labels : dict of str to list
        The numbers of every label, column by column.
    measures : dict of str to dict
        What each measure is, and what does not depend on the model.
    data, conventions, checksums : dict
        Size and checksums of the input, and the conventions.
    label_names : list of str
        The names given, or "label 0", "label 1", ...
    positives : list of int
        How many instances have each label.
    """

    model: dict[str, Any]
    labels: dict[str, list[Any]]
    measures: dict[str, dict[str, Any]]
    data: dict[str, Any]
    conventions: dict[str, Any]
    checksums: dict[str, str]
    label_names: list[str]
    positives: list[int]


def judge_model(name: str, checked: Checked, conventions: Conventions) -> ModelFindings:
    """Evaluate one model by its scores, its predictions or both.

    The scores are sorted once for each view; everything in the document is read from that.
    """
    scored = checked.S is not None
    functions = threshold_functions if scored else None
    evaluation, found = evaluate_checked(checked, conventions, functions)
    details = threshold_details(checked, found) if scored else None
    measures = {key: _measure(key, evaluation, checked.Y) for key in evaluation}
    model = {
        "name": name,
        "has_scores": scored,
        "has_predictions": checked.P is not None,
        "measures": {key: _value(measures[key], evaluation) for key in measures},
        "margins": {view: margins_of(m) for view, m in evaluation.margins.items()},
        "effectiveness": _effectiveness(evaluation),
        "guarantees": guarantees(evaluation).to_dict() if scored and evaluation.is_plain else None,
        "thresholds": None if details is None else details.summary,
        "hardest_labels": hardest_labels(evaluation, _HARDEST),
        "hardest_instances": hardest_instances(evaluation, checked.Y, checked.S, details, _HARDEST),
    }
    return ModelFindings(
        model=model,
        labels=label_columns(evaluation, details),
        measures=measures,
        data=_data(checked),
        conventions=plain(evaluation.conventions.to_dict()),
        checksums=_checksums(checked),
        label_names=list(
            evaluation.label_names or (f"label {j}" for j in range(evaluation.n_labels))
        ),
        positives=checked.Y.ones_per_column.tolist(),
    )


def _measure(name: str, evaluation: Evaluation, Y: Pattern) -> dict[str, Any]:
    """A measure, with its best and blind values on these labels and its undefined rows."""
    measure, result = MEASURES[name], evaluation.results[name]
    return explain_measure(measure, evaluation.conventions) | {
        "best": plain(result.best),
        "blind": plain(blind_value(measure, result, Y, evaluation.conventions)),
        "row": measure.view.row,
        "skipped": result.skipped,
        "filled": int(result.undefined.sum()) - result.skipped,
        "undefined": dict(evaluation.undefined[name]),
    }


def _value(measure: dict[str, Any], evaluation: Evaluation) -> dict[str, Any]:
    """The model's value; ranks among models are filled in later."""
    value = evaluation[measure["name"]]
    blind, best = measure["blind"], measure["best"]
    known = None not in (blind, best)
    return {
        "value": plain(value),
        "skill": plain(skill(value, blind, best)) if known else None,
        "skipped": measure["skipped"],
        "rank": None,
        "first": False,
    }


def _effectiveness(evaluation: Evaluation) -> dict[str, Any] | None:
    if not evaluation.margins:
        return None
    found = evaluation.effectiveness
    return dict(
        plain(
            {
                "label_wise_share": found.label_wise_share,
                "instance_wise_share": found.instance_wise_share,
                "entry_wise_margin": found.entry_wise_margin,
                "absolute_margin": found.absolute_margin,
                "label_wise": found.label_wise,
                "instance_wise": found.instance_wise,
                "double": found.double,
                "entry_wise": found.entry_wise,
                "absolute": found.absolute,
            }
        )
    )


def _data(checked: Checked) -> dict[str, Any]:
    Y = checked.Y
    n_instances, n_labels = Y.shape
    n_known = n_instances * n_labels - checked.n_missing
    return {
        "instances": n_instances,
        "labels": n_labels,
        "relevant": Y.n_ones,
        "labels_per_instance": Y.n_ones / n_instances,
        "relevant_share": Y.n_ones / n_known if n_known else None,
        "missing": checked.n_missing,
        "missing_share": checked.n_missing / (n_instances * n_labels),
        "weighted": Y.row_weights is not None,
    }


def _checksums(checked: Checked) -> dict[str, str]:
    parts = {"truth": checked.Y, "scores": checked.S, "predictions": checked.P}
    return {name: checksum(part) for name, part in parts.items() if part is not None}


def evaluation_document(
    y_true: Any,
    scores: Mapping[str, Any] | None = None,
    predictions: Mapping[str, Any] | None = None,
    *,
    conventions: str | Conventions = "standard",
    label_names: Iterable[str] | None = None,
    title: str | None = None,
    provenance: Mapping[str, Any] | None = None,
    sample_weight: Any = None,
    missing: Any = None,
) -> dict[str, Any]:
    """Evaluate models by their scores, their predictions or both, and collect all results.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        True labels, 0 or 1.
    scores : mapping of str to array-like, optional
        Scores by the name of the model.
    predictions : mapping of str to array-like or sparse matrix, optional
        Predicted labels by the name of the model. A model may have scores, predictions or both.
    conventions : str or Conventions, default="standard"
        How ties and undefined rows count.
    label_names : iterable of str, optional
        Names of the labels; by default the columns of a data frame, if one is given.
    title : str, optional
        The title of the report.
    provenance : mapping, optional
        How it was made, see :func:`limo.report.collect_provenance`; by default versions and
        checksums of the input.
    sample_weight : array-like of shape (n_samples,), optional
        How much each instance counts; an instance of weight 2 counts as two.
    missing : number or array-like of bool, optional
        The number that stands for a missing label in ``y_true`` (nan or -1), or a mask that is true
        where a label is missing. Such entries take no part.

    Returns
    -------
    dict
        Plain data: ``json.dumps(document, allow_nan=False)`` works. Measures have all digits;
        values of single labels and instances and points of curves have five. Undefined numbers are
        None; infinite thresholds are the strings "Infinity" and "-Infinity".

    Examples
    --------
    >>> from limo.report import evaluation_document
    >>> y_true, y_score = [[1, 0], [0, 1]], [[3.0, 2.0], [0.0, 1.0]]
    >>> document = evaluation_document(y_true, {"mine": y_score})
    >>> document["models"][0]["measures"]["macro_auc"]["value"]
    0.5
    >>> evaluation_document(y_true)
    Traceback (most recent call last):
        ...
    ValueError: Give scores or predictions of at least one model: got neither.
    """
    by_score, by_label = dict(scores or {}), dict(predictions or {})
    names = list(dict.fromkeys([*by_score, *by_label]))
    if not names:
        raise ValueError("Give scores or predictions of at least one model: got neither.")
    truth = check_truth(y_true, label_names, sample_weight=sample_weight, missing=missing)
    chosen = check_conventions(conventions)
    found = [
        judge_model(name, truth.join(by_score.get(name), by_label.get(name)), chosen)
        for name in names
    ]
    models = _ranked([one.model for one in found])
    return {
        "format": FORMAT,
        "title": title or _title(names),
        "data": found[0].data,
        "conventions": found[0].conventions,
        "verdict": models[0]["verdict"] if len(models) == 1 else verdict_of_all(models),
        "letters": LETTERS,
        "measures": _measures(found),
        "models": models,
        "labels": {
            "names": found[0].label_names,
            "positives": found[0].positives,
            "models": [one.labels for one in found],
        },
        "provenance": plain(_made(found) if provenance is None else dict(provenance)),
    }


def _title(names: list[str]) -> str:
    return f"How good is {names[0]}?" if len(names) == 1 else f"{len(names)} models compared"


def _made(found: list[ModelFindings]) -> dict[str, Any]:
    own = {
        kind: {one.model["name"]: one.checksums[kind] for one in found if kind in one.checksums}
        for kind in ("scores", "predictions")
    }
    sums = {"truth": found[0].checksums["truth"]} | {k: v for k, v in own.items() if v}
    return collect_provenance() | {"sha256": sums}


def _measures(found: list[ModelFindings]) -> list[dict[str, Any]]:
    """Each measure once, in the order of the registry."""
    known = {name: entry for one in found for name, entry in one.measures.items()}
    return [known[name] for name in MEASURES if name in known]


def _ranked(models: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Fill in each model's rank on each measure, the mean of its ranks, and its verdict."""
    for name, measure in MEASURES.items():
        lines = [m["measures"][name] for m in models if name in m["measures"]]
        lines = [line for line in lines if line["value"] is not None]
        ranks = rankdata([-measure.sign * line["value"] for line in lines]).tolist()
        for line, rank in zip(lines, ranks, strict=True):
            line["rank"] = rank
            line["first"] = len(models) > 1 and rank == min(ranks)
    for model in models:
        ranks = [r["rank"] for r in model["measures"].values() if r["rank"] is not None]
        model["mean_rank"] = sum(ranks) / len(ranks) if ranks else None
        model["verdict"] = verdict_of(model)
    return models
