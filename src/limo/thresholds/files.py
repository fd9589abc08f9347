"""Fitted rules as JSON: plain numbers that any program can read and apply."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from limo._checks import check_name
from limo.thresholds.rules import (
    ExpectedF1,
    FixedThreshold,
    GlobalThreshold,
    LabelThreshold,
    ThresholdRule,
    TopK,
)

__all__ = ["rule_from_json", "rule_to_json"]

# What each rule has learnt, or was given, that decides its predictions.
_DECIDED_BY: dict[type[ThresholdRule], str] = {
    FixedThreshold: "threshold",
    TopK: "k_",
    GlobalThreshold: "threshold_",
    LabelThreshold: "thresholds_",
    ExpectedF1: "f1_of_nothing",
}
_RULES = {rule.__name__: rule for rule in _DECIDED_BY}


def rule_to_json(rule: ThresholdRule, path: str | Path | None = None) -> str:
    """Write a fitted rule as JSON.

    JSON has no infinity: a threshold that predicts nothing is the text ``"inf"``, one that predicts
    everything ``"-inf"``. Of the target only the name is kept.

    Parameters
    ----------
    rule : fitted rule
        Any but :class:`limo.InstanceThreshold`, whose regression is a model of its own.
    path : str or Path, optional
        A file to write as well.

    Returns
    -------
    str

    Examples
    --------
    >>> import limo
    >>> rule = limo.LabelThreshold(min_positives=0)
    >>> rule = rule.fit([[1, 0], [0, 0]], [[0.75, 0.5], [0.25, 0.5]])
    >>> print(limo.thresholds.rule_to_json(rule))
    {
      "rule": "LabelThreshold",
      "thresholds": [
        0.5,
        "inf"
      ],
      "n_labels": 2,
      "label_names": null,
      "target": null
    }
    """
    attribute = _DECIDED_BY.get(type(rule))
    if attribute is None:
        raise TypeError(
            f"{type(rule).__name__} cannot be written as JSON: it holds a fitted model. "
            "Store it with the model, with skops or joblib."
        )
    rule.check_fitted()
    target = rule.get_params().get("target")
    names = getattr(rule, "label_names_", None)
    document = {
        "rule": type(rule).__name__,
        attribute.rstrip("_"): _plain(getattr(rule, attribute)),
        "n_labels": getattr(rule, "n_labels_", None),
        "label_names": None if names is None else list(names),
        "target": None if target is None else str(target),
    }
    text = json.dumps(document, indent=2, allow_nan=False)
    if path is not None:
        Path(path).write_text(text + "\n", encoding="utf-8")
    return text


def rule_from_json(text: str | Path) -> ThresholdRule:
    """Read a rule that :func:`rule_to_json` wrote, ready to predict.

    Parameters
    ----------
    text : str or Path
        The JSON text, or the path of a file that holds it.

    Returns
    -------
    rule
    """
    document = json.loads(text.read_text(encoding="utf-8") if isinstance(text, Path) else text)
    kind = _RULES[check_name(document.get("rule"), _RULES, "rule")]
    attribute = _DECIDED_BY[kind]
    decided = _numbers(document[attribute.rstrip("_")])
    rule = kind(decided) if kind is FixedThreshold else kind()
    setattr(rule, attribute, decided)
    if "target" in rule.get_params():
        rule.set_params(target=document["target"])
    if document["n_labels"] is not None:
        rule.n_labels_ = document["n_labels"]
        names = document["label_names"]
        rule.label_names_ = None if names is None else tuple(names)
    return rule


def _plain(value: Any) -> Any:
    if np.ndim(value):
        return [_plain(item) for item in np.asarray(value).tolist()]
    return str(value) if np.isinf(value) else value


def _numbers(value: Any) -> Any:
    if isinstance(value, list):
        return np.array([float(item) for item in value])
    return float(value) if isinstance(value, str) else value
