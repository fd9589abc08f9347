"""Everything found about one model: plain parts of a document, nothing as large as its scores."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from limo._checks import Checked, check_inputs
from limo.evaluation import Evaluation, evaluate
from limo.findings.cuts import cut_of
from limo.findings.glossary import explain_measure
from limo.findings.hardest import hardest_instances, hardest_labels, label_columns
from limo.findings.making import checksum
from limo.findings.plain import plain
from limo.findings.skill import blind_value, skill
from limo.findings.spread import margins_of
from limo.measures.conventions import Conventions
from limo.measures.table import MEASURES
from limo.pattern import Pattern

__all__ = ["ModelFindings", "judge_model"]

_HARDEST = 10


@dataclass(frozen=True, eq=False)
class ModelFindings:
    """The parts of the document one model gives.

    Attributes
    ----------
    model : dict
        What is the model's own.
    labels : dict of str to list
        The numbers of every label, column by column.
    measures : dict of str to dict
        Each measure it was judged on, with what does not depend on the model.
    data, conventions, checksums : dict
        What was judged, under which conventions.
    label_names : list of str
        Given or made up.
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


def judge_model(
    name: str,
    y_true: Any,
    y_score: Any,
    y_pred: Any,
    *,
    conventions: str | Conventions,
    label_names: Iterable[str] | None,
) -> ModelFindings:
    """Judge one model by its scores, its predictions or both."""
    evaluation = evaluate(y_true, y_score, y_pred, conventions=conventions, label_names=label_names)
    cut = None if y_score is None else cut_of(y_true, y_score, y_pred)
    checked = check_inputs(y_true, y_score, y_pred)
    measures = {name: _measure(name, evaluation, checked.Y) for name in evaluation}
    model = {
        "name": name,
        "has_scores": y_score is not None,
        "has_predictions": y_pred is not None,
        "measures": {key: _value(measures[key], evaluation) for key in measures},
        "margins": {view: margins_of(m) for view, m in evaluation.margins.items()},
        "effectiveness": _effectiveness(evaluation),
        "cuts": None if cut is None else cut.summary,
        "hardest_labels": hardest_labels(evaluation, _HARDEST),
        "hardest_instances": hardest_instances(evaluation, checked.Y, checked.S, cut, _HARDEST),
    }
    return ModelFindings(
        model=model,
        labels=label_columns(evaluation, cut),
        measures=measures,
        data=_data(checked.Y),
        conventions=plain(evaluation.conventions.to_dict()),
        checksums=_checksums(checked),
        label_names=list(
            evaluation.label_names or (f"label {j}" for j in range(evaluation.n_labels))
        ),
        positives=checked.Y.ones_per_column.tolist(),
    )


def _measure(name: str, evaluation: Evaluation, Y: Pattern) -> dict[str, Any]:
    """What a measure is, the best and the blind value on these labels, and its undefined rows."""
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
                "label_wise": found.label_wise,
                "instance_wise": found.instance_wise,
                "double": found.double,
                "entry_wise": found.entry_wise,
            }
        )
    )


def _data(Y: Pattern) -> dict[str, Any]:
    n_instances, n_labels = Y.shape
    return {
        "instances": n_instances,
        "labels": n_labels,
        "relevant": Y.n_ones,
        "labels_per_instance": Y.n_ones / n_instances,
        "relevant_share": Y.n_ones / (n_instances * n_labels),
    }


def _checksums(checked: Checked) -> dict[str, str]:
    parts = {"truth": checked.Y, "scores": checked.S, "predictions": checked.P}
    return {name: checksum(part) for name, part in parts.items() if part is not None}
