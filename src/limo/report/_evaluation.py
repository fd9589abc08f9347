"""The document of an evaluation: one model or several, on the same labels."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scipy.stats import rankdata

from limo._checks import Checked, Truth, check_truth
from limo._differences import differences_of
from limo._evaluate import evaluate_checked
from limo._evaluation import Evaluation
from limo._explain import guarantees
from limo._frames import by_name
from limo._text import plain, shortened
from limo.measures._compute import check_conventions
from limo.measures._conventions import Conventions
from limo.measures._intervals import Sampling, check_sampling
from limo.measures._measure import Measure
from limo.measures._own import Chosen, computable, select
from limo.measures._table import LETTERS, MEASURES, explain_measure
from limo.report._advice import Advice, advise, entries_used, too_few
from limo.report._details import (
    hardest_instances,
    hardest_labels,
    label_columns,
    margins_of,
    pairs_of,
    threshold_details,
    threshold_functions,
)
from limo.report._page import FORMAT
from limo.report._provenance import checksum, collect_provenance
from limo.report._verdict import verdict_of, verdict_of_all

_HARDEST = 10
_PAIRS = {"rows": "instance_auc", "columns": "macro_auc"}  # the share of pairs in order
_DEFAULT_LEVEL = 0.95
_ADVISED = 4_000_000  # entries looked at for advice, over all models; the best come first
_NOT_TRIED = "No advice: with this much data it is computed for the first models only."


@dataclass(frozen=True, eq=False)
class ModelFindings:
    """The parts of a document that come from one model; nothing as large as its scores.

    Attributes
    ----------
    model : dict
        The part about this model alone.
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
    evaluation : Evaluation
        What all of it was made from.
    """

    model: dict[str, Any]
    labels: dict[str, list[Any]]
    measures: dict[str, dict[str, Any]]
    data: dict[str, Any]
    conventions: dict[str, Any]
    checksums: dict[str, str]
    label_names: list[str]
    positives: list[int]
    evaluation: Evaluation


def judge_model(
    name: str,
    checked: Checked,
    conventions: Conventions,
    measures: Sequence[Measure] | None = None,
    sampling: Sampling | None = None,
) -> ModelFindings:
    """Evaluate one model by its scores, its predictions or both.

    The scores are sorted once for each view; everything in the document is read from that.
    """
    scored = checked.S is not None
    functions = threshold_functions if scored else None
    default = computable(select(), checked)
    wanted = default if measures is None else measures
    # the details of labels and instances are those of the default measures
    every = list({m.name: m for m in (*wanted, *default)}.values())
    whole, results = evaluate_checked(
        checked, conventions, functions, measures=every, sampling=sampling
    )
    evaluation = whole.limited_to(m.name for m in wanted)
    details = threshold_details(checked, results) if scored else None
    entries = {key: _measure(key, evaluation) for key in evaluation}
    model = {
        "name": name,
        "has_scores": scored,
        "has_predictions": checked.P is not None,
        "measures": {key: _value(entries[key], evaluation) for key in entries},
        "margins": _margins(whole),
        "effectiveness": _effectiveness(evaluation),
        "guarantees": guarantees(evaluation).to_dict() if scored else None,
        "thresholds": None if details is None else details.summary,
        "advice": [],
        "hardest_labels": hardest_labels(whole, _HARDEST),
        "hardest_instances": hardest_instances(whole, checked.Y, checked.S, details, _HARDEST),
    }
    return ModelFindings(
        model=model,
        labels=label_columns(whole, details),
        measures=entries,
        data=_data(checked),
        conventions=plain(evaluation.conventions.to_dict()),
        checksums=_checksums(checked),
        label_names=list(
            evaluation.label_names or (f"label {j}" for j in range(evaluation.n_labels))
        ),
        positives=checked.Y.ones_per_column.tolist(),
        evaluation=evaluation,
    )


def _measure(name: str, evaluation: Evaluation) -> dict[str, Any]:
    """A measure, with its best and blind values on these labels and its undefined rows."""
    measure, result = evaluation.measures[name], evaluation.results[name]
    return explain_measure(measure, evaluation.conventions) | {
        "best": plain(result.best),
        "blind": plain(evaluation.blind[name]),
        "row": measure.view.row,
        "skipped": result.skipped,
        "filled": result.n_undefined - result.skipped,
        "undefined": dict(evaluation.undefined[name]),
    }


def _value(measure: dict[str, Any], evaluation: Evaluation) -> dict[str, Any]:
    """The model's value; ranks among models are filled in later."""
    value = evaluation[measure["name"]]
    interval = evaluation.interval(measure["name"])
    ends = [] if interval is None else [interval.low, interval.high]
    skills = sorted(evaluation.skill_of(measure["name"], end) for end in ends)
    return {
        "value": plain(value),
        "error": None if interval is None else plain(interval.error),
        "low": None if interval is None else plain(interval.low),
        "high": None if interval is None else plain(interval.high),
        "title": measure["title"],
        "better": measure["better"],
        "skill": plain(evaluation.skill[measure["name"]]),
        "skill_interval": skills if skills and not math.isnan(sum(skills)) else None,
        "skipped": measure["skipped"],
        "rank": None,
        "first": False,
    }


def _margins(whole: Evaluation) -> dict[str, Any]:
    """The margins of each view, and how many of its rows have which share of pairs in order."""
    margins = {view: margins_of(summary) for view, summary in whole.margins.items()}
    for view, values in (("rows", whole.per_instance), ("columns", whole.per_label)):
        if view in margins:
            margins[view]["pairs"] = pairs_of(values[_PAIRS[view]])
    return margins


def _effectiveness(evaluation: Evaluation) -> dict[str, Any] | None:
    if not evaluation.margins:
        return None
    effectiveness = evaluation.effectiveness
    return dict(
        plain(
            {
                "label_wise_share": effectiveness.label_wise_share,
                "instance_wise_share": effectiveness.instance_wise_share,
                "entry_wise_margin": effectiveness.entry_wise_margin,
                "absolute_margin": effectiveness.absolute_margin,
                "label_wise": effectiveness.label_wise,
                "instance_wise": effectiveness.instance_wise,
                "double": effectiveness.double,
                "entry_wise": effectiveness.entry_wise,
                "absolute": effectiveness.absolute,
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
    measures: Chosen = None,
    measure: str | None = None,
    intervals: float | None = None,
    groups: Any = None,
    commands: Mapping[str, str] | None = None,
    keep_instances: bool = False,
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
    measures : "all", or a list of names, records or functions, optional
        As in :func:`limo.evaluate`.
    measure : str, optional
        The one measure that counts: the order of the models, the verdict and the advice are about
        it. By default models are ordered by how often they are best, or within noise of the best.
    intervals : float, optional
        The level of intervals, by default 0.95: no model is called better on a difference within
        noise. 0 is for none, which is faster.
    groups : array-like of shape (n_samples,), optional
        For intervals: the group of each instance, if instances come in groups.
    commands : mapping of str to str, optional
        For advice: by the name of the model, a command that fits thresholds to its scores if
        ``-m MEASURE -o rule.json`` is added. By default advice is given as Python code.
    keep_instances : bool, default=False
        Whether to keep how much each instance moves each measure, so that :func:`changes` can
        compare two documents instance by instance. It needs intervals.

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
    by_score, by_label = by_name(scores, "scores"), by_name(predictions, "predictions")
    names = list(dict.fromkeys([*by_score, *by_label]))
    if not names:
        raise ValueError("Give scores or predictions of at least one model: got neither.")
    truth = check_truth(y_true, label_names, sample_weight=sample_weight, missing=missing)
    rules = check_conventions(conventions)
    aim = [] if measure is None else select([measure])
    chosen = list({m.name: m for m in (*select(measures), *aim)}.values())
    sampling = _sampling(intervals, groups, truth)
    inputs = {name: truth.join(by_score.get(name), by_label.get(name)) for name in names}
    findings = [
        judge_model(name, checked, rules, computable(chosen, checked, measures), sampling)
        for name, checked in inputs.items()
    ]
    _keep(findings, sampling if keep_instances else None)
    differences = _differences(findings, sampling)
    rank_models([one.model for one in findings], differences)
    focus = aim[0].name if aim else None
    findings = _advised(findings, inputs, chosen, rules, focus, commands or {})
    models = [one.model for one in findings]
    return {
        "format": FORMAT,
        "title": title or _title(names),
        "data": findings[0].data | {"sha256": findings[0].checksums["truth"]},
        "conventions": findings[0].conventions,
        "measure": focus,
        "verdict": models[0]["verdict"] if len(models) == 1 else verdict_of_all(models, focus),
        "letters": LETTERS,
        "measures": _measures(findings),
        "models": models,
        "level": None if sampling is None else sampling.level,
        "differences": differences,
        "labels": {
            "names": findings[0].label_names,
            "positives": findings[0].positives,
            "models": [one.labels for one in findings],
        },
        "provenance": plain(_made(findings) if provenance is None else dict(provenance)),
    }


def _title(names: list[str]) -> str:
    return f"How good is {names[0]}?" if len(names) == 1 else f"{len(names)} models compared"


def _made(findings: list[ModelFindings]) -> dict[str, Any]:
    own = {
        kind: {one.model["name"]: one.checksums[kind] for one in findings if kind in one.checksums}
        for kind in ("scores", "predictions")
    }
    sums = {"truth": findings[0].checksums["truth"]} | {k: v for k, v in own.items() if v}
    return collect_provenance() | {"sha256": sums}


def _measures(findings: list[ModelFindings]) -> list[dict[str, Any]]:
    """Each measure once; those in the registry in its order."""
    known = {name: entry for one in findings for name, entry in one.measures.items()}
    return [known[name] for name in MEASURES.ordered(known)]


def _differences(findings: list[ModelFindings], sampling: Sampling | None) -> list[dict[str, Any]]:
    if sampling is None or len(findings) < 2:
        return []
    evaluations = {one.model["name"]: one.evaluation for one in findings}
    return [_short(one.to_dict()) for one in differences_of(evaluations, sampling.level)]


def _short(difference: Mapping[str, Any]) -> dict[str, Any]:
    """A difference in six digits, without the two values, which the models have in full.

    Twenty models have 2090 differences on eleven measures.
    """
    kept = {k: v for k, v in difference.items() if k not in ("first_value", "second_value")}
    return {k: shortened([v], 6)[0] if isinstance(v, float) else v for k, v in kept.items()}


def _sampling(intervals: float | None, groups: Any, truth: Truth) -> Sampling | None:
    """How intervals are computed; None if there are to be none."""
    level = _DEFAULT_LEVEL if intervals is None else intervals
    if not level:
        return None
    return check_sampling(level, groups=groups, n_instances=truth.Y.shape[0], rows=truth.frame)


def _keep(findings: list[ModelFindings], sampling: Sampling | None) -> None:
    """Add to each model how much each instance moves its measures, if that is to be kept."""
    if sampling is not None:
        for one in findings:
            one.model["influence"] = _influence(one.evaluation, sampling)


def _influence(evaluation: Evaluation, sampling: Sampling) -> dict[str, list[Any]]:
    """How much each instance, or group of them, moves each measure that has a formula.

    The standard error of a value is that of the mean of these numbers.
    """
    assert evaluation.sample is not None
    influence = {}
    for name, values in evaluation.sample.influence.items():
        if name in evaluation:
            totals = sampling.add_groups(values)
            influence[name] = shortened(totals * (totals.size / values.size), 6)
    return influence


def rank_models(models: list[dict[str, Any]], differences: list[dict[str, Any]]) -> None:
    """Fill in each model's rank on each measure, and the mean of its ranks.

    First on a measure are the best model and those whose difference from it is within noise. Means
    are over the measures that all models have, so that no model loses by a measure it lacks.
    """
    worse = {
        (d["measure"], d["better"], d["second"] if d["better"] == d["first"] else d["first"])
        for d in differences
        if d["better"] is not None
    }
    shared = []
    for name in dict.fromkeys(name for model in models for name in model["measures"]):
        sign = {"high": 1, "low": -1}
        having = [m for m in models if m["measures"].get(name, {}).get("value") is not None]
        lines = {m["name"]: m["measures"][name] for m in having}
        ranks = rankdata([-sign[r["better"]] * r["value"] for r in lines.values()]).tolist()
        top = None if not ranks else list(lines)[ranks.index(min(ranks))]
        for (model, line), rank in zip(lines.items(), ranks, strict=True):
            line["rank"] = rank
            line["first"] = len(having) > 1 and (name, top, model) not in worse
        shared += [name] if len(having) == len(models) else []
    for model in models:
        ranks = [model["measures"][name]["rank"] for name in shared]
        model["mean_rank"] = sum(ranks) / len(ranks) if ranks else None


def _advised(
    findings: list[ModelFindings],
    inputs: Mapping[str, Checked],
    measures: Sequence[Measure],
    conventions: Conventions,
    focus: str | None,
    commands: Mapping[str, str],
) -> list[ModelFindings]:
    """The models with advice and a verdict, best first; the best get advice first."""

    def place(one: ModelFindings) -> tuple[float, ...]:
        return _place(one.model, focus)

    left = _ADVISED
    for one in sorted(findings, key=place):
        name = one.model["name"]
        one.model["no_advice"] = too_few(inputs[name]) if one.model["has_scores"] else None
        left -= entries_used(inputs[name])
        if left >= 0:
            advice = advise(inputs[name], measures, conventions, focus, commands.get(name))
            add_advice(one.model, advice)
        elif one.model["has_scores"]:
            one.model["no_advice"] = _NOT_TRIED
        one.model["verdict"] = verdict_of(one.model, focus)
    return sorted(findings, key=place)


def add_advice(model: dict[str, Any], advice: list[Advice]) -> None:
    """Add the advice that helps, and to each measure of labels its value on held-out rows."""
    model["advice"] = [plain(vars(one)) for one in advice if one.helps]
    for one in advice:
        if one.change == "thresholds" and one.measure in model["thresholds"]["measures"]:
            line = model["thresholds"]["measures"][one.measure]
            line["held_out"], line["held_out_kind"] = one.expected, one.kind


def _place(model: dict[str, Any], focus: str | None) -> tuple[float, ...]:
    """The sort key of a model.

    The measure that counts, as it is or as expected with advice; then on how many measures a model
    is best or within noise of the best; then the mean rank.
    """
    rank = None if focus is None else model["measures"].get(focus, {}).get("rank")
    promised = [
        one["expected"] * {"high": -1, "low": 1}[one["better"]]
        for one in model["advice"]
        if one["measure"] == focus
    ]
    mean = model["mean_rank"]
    return (
        math.inf if rank is None else rank,
        promised[0] if promised and rank is None else 0.0,
        -sum(line["first"] for line in model["measures"].values()),
        math.inf if mean is None else mean,
    )
