"""What changed between two evaluations of the same models, beyond noise: ``limo diff``."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from scipy import stats

from limo.measures._intervals import holm

FORMAT = "limo-changes/1"
"""Stored in every document of changes."""

_LEVEL = 0.95


def changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Compare the values in two documents of evaluations, measure by measure.

    A change is called better or worse if it is larger than noise: its p-value, adjusted for all
    changes (Holm), is below 1 - level. On the same instances the evaluations are compared instance
    by instance, if both were made with ``keep_instances``. Otherwise the standard error of a change
    is ``sqrt(a**2 + b**2)`` of those of the two values. That is exact for different instances; on
    the same ones it is cautious, as the errors of two versions of a model are usually alike.

    Parameters
    ----------
    old, new : mapping
        Made by :func:`evaluation_document` with ``intervals``, or read back from JSON. Models are
        matched by name, or are the only one in each.

    Returns
    -------
    dict
        For each model and measure: both values, the change, its standard error, whether that is
        of pairs, the adjusted p-value, and a verdict: "same", "better", "worse", "within noise",
        or "cannot tell" where a document holds no intervals.

    Examples
    --------
    >>> import limo
    >>> from limo.report import changes, evaluation_document
    >>> Y, S = [[1, 0], [0, 1]] * 50, [[2.0, 1.0], [1.0, 2.0]] * 50
    >>> old = evaluation_document(Y, {"mine": [[1.0, 2.0], [1.0, 2.0]] * 50}, intervals=0.95)
    >>> new = evaluation_document(Y, {"mine": S}, intervals=0.95)
    >>> found = changes(old, new)["models"][0]["measures"]
    >>> [(line["measure"], line["verdict"]) for line in found][0]
    ('ranking_loss', 'better')
    """
    for document in (old, new):
        _check(document)
    pairs = list(_pairs(old["models"], new["models"]))
    same_truth = _same_truth(old, new)
    lines = [list(_lines(first, second, same_truth is True)) for first, second in pairs]
    level = min(document["level"] or _LEVEL for document in (old, new))
    _judge([line for part in lines for line in part], 1 - level)
    models = [
        {"old": first["name"], "new": second["name"], "measures": part}
        for (first, second), part in zip(pairs, lines, strict=True)
    ]
    return {
        "format": FORMAT,
        "level": level,
        "same_truth": same_truth,
        "same_conventions": old["conventions"] == new["conventions"],
        "models": models,
    }


def _check(document: Any) -> None:
    """Reject what is no evaluation."""
    known = isinstance(document, Mapping) and "conventions" in document
    models = document.get("models") if known else None
    if not isinstance(models, list) or not models or "level" not in document:
        raise ValueError(
            "Expected the document of an evaluation, as limo evaluate --json prints it, got "
            "something else."
        )


def _pairs(old: list[Any], new: list[Any]) -> Iterator[tuple[Any, Any]]:
    """The models of both documents with the same name, or the only one of each."""
    by_name = {model["name"]: model for model in old}
    common = [model for model in new if model["name"] in by_name]
    if common:
        yield from ((by_name[model["name"]], model) for model in common)
    elif len(old) == len(new) == 1:
        yield old[0], new[0]
    else:
        names = [", ".join(model["name"] for model in models) for models in (old, new)]
        raise ValueError(
            f"No model is in both documents: the old one has {names[0]}, the new one {names[1]}."
        )


def _lines(old: Mapping[str, Any], new: Mapping[str, Any], same: bool) -> Iterator[dict[str, Any]]:
    """Both values of each measure in both, and the standard error of the change."""
    for name, after in new["measures"].items():
        before = old["measures"].get(name)
        if before is None or before["value"] is None or after["value"] is None:
            continue
        error, freedom = _paired(old, new, name) if same else (None, None)
        paired = error is not None
        if not paired:
            errors = [line.get("error") for line in (before, after)]
            error = None if None in errors else math.hypot(*errors)
        yield {
            "measure": name,
            "title": after["title"],
            "better": after["better"],
            "old": before["value"],
            "new": after["value"],
            "change": after["value"] - before["value"],
            "error": error,
            "paired": paired,
            "freedom": freedom,
        }


def _paired(
    old: Mapping[str, Any], new: Mapping[str, Any], name: str
) -> tuple[float | None, int | None]:
    """The standard error of a change from pairs of instances and its degrees of freedom, if known.

    The error of a value is the mean of how much each instance moves it, so the error of a change is
    the mean of the differences.
    """
    kept = [(model.get("influence") or {}).get(name) for model in (old, new)]
    try:
        first, second = (np.asarray(values, dtype=np.float64) for values in kept)
    except (TypeError, ValueError):
        return None, None
    if first.ndim != 1 or first.shape != second.shape or first.size < 2:
        return None, None
    return float(np.std(second - first, ddof=1) / math.sqrt(first.size)), first.size - 1


def _judge(lines: list[dict[str, Any]], alpha: float) -> None:
    """Add p-values, adjusted over all lines, and verdicts."""
    for line, p in zip(lines, holm([_p_value(line) for line in lines]), strict=True):
        line["p_holm"] = None if math.isnan(p) else float(p)
        line["verdict"] = _verdict(line, alpha)


def _p_value(line: Mapping[str, Any]) -> float:
    """How likely a change of this size is by chance; nan if that is unknown."""
    change, error = line["change"], line["error"]
    if error is None:
        return math.nan
    if error == 0:
        return float(change == 0)
    law = stats.norm if line["freedom"] is None else stats.t(line["freedom"])
    return float(2 * law.sf(abs(change) / error))


def _verdict(line: Mapping[str, Any], alpha: float) -> str:
    if line["change"] == 0:
        return "same"
    if line["p_holm"] is None:
        return "cannot tell"
    if line["p_holm"] >= alpha:
        return "within noise"
    rose = line["change"] > 0
    return "better" if rose == (line["better"] == "high") else "worse"


def _same_truth(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool | None:
    """Whether both judge the same true labels; None if a document does not say."""
    sums = [(one.get("data") or {}).get("sha256") for one in (old, new)]
    return None if None in sums else sums[0] == sums[1]
