"""The document of an evaluation: one model or several, judged on the same labels."""

from collections.abc import Iterable, Mapping
from typing import Any

from scipy.stats import rankdata

from limo.findings.glossary import LETTERS
from limo.findings.making import describe_making
from limo.findings.model import ModelFindings, judge_model
from limo.findings.plain import plain
from limo.findings.verdict import verdict_of, verdict_of_all
from limo.measures.conventions import Conventions
from limo.measures.table import MEASURES

__all__ = ["FORMAT", "judge"]

FORMAT = "limo-findings/1"
"""What documents say they are; the number changes when a reader of old ones would stumble."""


def judge(
    y_true: Any,
    scores: Mapping[str, Any] | None = None,
    predictions: Mapping[str, Any] | None = None,
    *,
    conventions: str | Conventions = "standard",
    label_names: Iterable[str] | None = None,
    title: str | None = None,
    provenance: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Judge models by their scores, their predictions or both, and write down all there is to see.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        True labels, 0 or 1.
    scores : mapping of str to array-like, optional
        Scores by the name of the model.
    predictions : mapping of str to array-like or sparse matrix, optional
        Predicted labels by the name of the model. A model may have scores, predictions or both.
    conventions : str or Conventions, default="standard"
        What ties and undefined rows count.
    label_names : iterable of str, optional
        Names of the labels; by default the columns of a data frame, if one is given.
    title : str, optional
        What the report is called.
    provenance : mapping, optional
        How it was made, see :func:`limo.findings.describe_making`; by default versions, and
        checksums of what was given.

    Returns
    -------
    dict
        Plain: ``json.dumps(document, allow_nan=False)`` works. Measures have all their digits,
        values of single labels, instances and points of curves five. Undefined numbers are None;
        infinite thresholds the words "Infinity" and "-Infinity".

    Examples
    --------
    >>> from limo.findings import judge
    >>> y_true, y_score = [[1, 0], [0, 1]], [[3.0, 2.0], [0.0, 1.0]]
    >>> document = judge(y_true, {"mine": y_score})
    >>> document["models"][0]["measures"]["macro_auc"]["value"]
    0.5
    >>> judge(y_true)
    Traceback (most recent call last):
        ...
    ValueError: judge needs scores or predictions of at least one model: got neither.
    """
    by_score, by_label = dict(scores or {}), dict(predictions or {})
    names = list(dict.fromkeys([*by_score, *by_label]))
    if not names:
        raise ValueError("judge needs scores or predictions of at least one model: got neither.")
    kept = None if label_names is None else list(label_names)
    found = [
        judge_model(
            name, y_true, by_score.get(name), by_label.get(name),
            conventions=conventions, label_names=kept,
        )
        for name in names
    ]  # fmt: skip
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
    return describe_making() | {"sha256": sums}


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
