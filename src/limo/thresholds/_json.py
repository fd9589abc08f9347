"""Fitted rules as JSON: plain numbers that any program can read and apply."""

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import Ridge, RidgeCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from limo._settings import check_name, check_number
from limo._system import write_text
from limo._text import plain
from limo.thresholds._auto import AutoThreshold, Tried
from limo.thresholds._instance import InstanceThreshold, linear_model
from limo.thresholds._rules import (
    ExpectedF1,
    FixedThreshold,
    GlobalThreshold,
    LabelThreshold,
    ThresholdRule,
    TopK,
)

# The attribute that determines the predictions of each rule.
_ATTRIBUTE: dict[type[ThresholdRule], str] = {
    FixedThreshold: "threshold",
    TopK: "k_",
    GlobalThreshold: "threshold_",
    LabelThreshold: "thresholds_",
    ExpectedF1: "f1_of_nothing",
}
_RULES = {rule.__name__: rule for rule in (*_ATTRIBUTE, InstanceThreshold, AutoThreshold)}


def rule_to_json(rule: ThresholdRule, path: str | Path | None = None) -> str:
    """Write a fitted rule as JSON.

    JSON has no infinity: a threshold that predicts nothing is the text ``"inf"``, one that predicts
    everything ``"-inf"``. Of the target only the name is kept. Thresholds of labels with names are
    written by name.

    Parameters
    ----------
    rule : fitted rule
        Any rule; a :class:`limo.InstanceThreshold` only if it reads scores by ridge regression.
        Label names are those of the data frames it was fitted on, or its ``label_names_``.
    path : str or Path, optional
        A file to write the text to as well.

    Returns
    -------
    str

    Examples
    --------
    >>> import limo
    >>> rule = limo.LabelThreshold(shrinkage=0)
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
    text = json.dumps(_document(rule), indent=2, allow_nan=False)
    if path is not None:
        write_text(path, text)
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

    Examples
    --------
    >>> import limo
    >>> rule = limo.LabelThreshold("macro_f1").fit([[1, 0], [0, 1]], [[0.9, 0.1], [0.2, 0.8]])
    >>> again = limo.thresholds.rule_from_json(limo.thresholds.rule_to_json(rule))
    >>> again.predict([[0.7, 0.1]])
    array([[1, 0]]...)
    """
    content = text.read_bytes() if isinstance(text, Path) else text
    try:
        rule = _rule(json.loads(content))
        rule.predict(np.full((1, getattr(rule, "n_labels_", 1)), 0.5))
    except Exception as error:  # a damaged document may raise anything
        raise ValueError(
            f"Expected the JSON of a rule, as rule_to_json writes it: {type(error).__name__}: "
            f"{error}"
        ) from error
    return rule


def _document(rule: ThresholdRule, names: Any = None) -> dict[str, Any]:
    """The numbers that determine the predictions of a rule, then the labels it was fitted on."""
    if type(rule).__name__ not in _RULES:
        raise TypeError(f"{type(rule).__name__} cannot be written as JSON: {_ADVICE}")
    rule.check_fitted()
    target = rule.get_params().get("target")
    names = getattr(rule, "label_names_", None) or names
    return {
        "rule": type(rule).__name__,
        **_decided(rule, names),
        "n_labels": getattr(rule, "n_labels_", None),
        "label_names": None if names is None else list(names),
        "target": None if target is None else str(target),
    }


def _decided(rule: ThresholdRule, names: Any) -> dict[str, Any]:
    if isinstance(rule, AutoThreshold):
        tried = [plain(asdict(t)) for t in rule.tried_]
        return {"kind": rule.kind_, "chosen": _document(rule.rule_, names), "tried": tried}
    if isinstance(rule, InstanceThreshold):
        coef, intercept = _linear(rule)
        parts = {"coef": _plain(coef), "intercept": _plain(intercept)}
        return {**parts, "offset": _by_label(rule.offset_, names)}
    attribute = _ATTRIBUTE[type(rule)]
    return {attribute.rstrip("_"): _by_label(getattr(rule, attribute), names)}


def _linear(rule: InstanceThreshold) -> tuple[Any, float]:
    """Weights and intercept of t(x), for sorted scores as they are."""
    model, scale = rule.regressor_, 1.0
    if isinstance(model, Pipeline) and isinstance(model[0], StandardScaler):
        model, scale = model[-1], model[0].scale_
    if rule.source != "scores" or not isinstance(model, Ridge | RidgeCV):
        raise TypeError(
            "This InstanceThreshold cannot be written as JSON: it contains a model of features "
            f"or one that is not linear. {_ADVICE}"
        )
    return model.coef_ / scale, float(model.intercept_)


def _by_label(value: Any, names: Any) -> Any:
    """Numbers by the names of the labels, where there is one for each."""
    numbers = _plain(value)
    named = isinstance(numbers, list) and names is not None and len(names) == len(numbers)
    return (
        dict(zip(names, numbers, strict=True))
        if named and len(set(names)) == len(names)
        else numbers
    )


def _rule(document: Any) -> ThresholdRule:
    kind = _RULES[check_name(document["rule"], _RULES, "rule")]
    if kind is AutoThreshold:
        rule = AutoThreshold()
        rule.kind_, rule.rule_ = document["kind"], _rule(document["chosen"])
        rule.tried_ = tuple(map(_tried, document["tried"]))
    elif kind is InstanceThreshold:
        rule = InstanceThreshold()
        rule.offset_ = _numbers(document["offset"], document)
        coef = _numbers(document["coef"])
        rule.regressor_ = linear_model(coef, document["intercept"])
        rule.width_ = coef.size
    else:
        attribute = _ATTRIBUTE[kind]
        decided = _numbers(document[attribute.rstrip("_")], document)
        rule = kind(decided) if kind is FixedThreshold else kind()
        setattr(rule, attribute, decided)
    if "target" in rule.get_params():
        rule.set_params(target=document["target"])
    if document["n_labels"] is not None:
        rule.n_labels_ = check_number(
            document["n_labels"], "n_labels", least=1, most=10_000_000, integer=True
        )
        names = document["label_names"]
        if names is not None and len(names) != rule.n_labels_:
            raise ValueError(f"expected {rule.n_labels_} label names, got {names!r}")
        rule.label_names_ = None if names is None else tuple(map(str, names))
    return rule


def _tried(document: dict[str, Any]) -> Tried:
    known: dict[str, Any] = {k: math.nan if v is None else v for k, v in document.items()}
    return Tried(**known)


_ADVICE = "Store it with the model, with skops or joblib."


def _plain(value: Any) -> Any:
    if np.ndim(value):
        return [_plain(item) for item in np.asarray(value).tolist()]
    return str(value) if np.isinf(value) else value


def _numbers(value: Any, document: Any = None) -> Any:
    if isinstance(value, dict):
        value = [value[name] for name in document["label_names"]]
    if isinstance(value, list):
        return np.array([float(item) for item in value])
    return float(value) if isinstance(value, str) else value
