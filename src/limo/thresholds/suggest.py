"""Which rule suits which measure."""

from collections.abc import Callable
from typing import Any

from sklearn.base import clone

from limo._checks import check_name
from limo.measures.table import MEASURES
from limo.thresholds.instance import InstanceThreshold
from limo.thresholds.rules import (
    ExpectedF1,
    GlobalThreshold,
    LabelThreshold,
    ThresholdRule,
    TopK,
)

__all__ = ["RULES", "make_rule", "suggest_threshold"]

RULES: dict[str, Callable[[], ThresholdRule]] = {
    "label": LabelThreshold,
    "instance": InstanceThreshold,
    "global": GlobalThreshold,
    "top_k": TopK,
    "expected_f1": ExpectedF1,
}
"""Rules by the names :class:`limo.ThresholdClassifier` knows them by."""


def suggest_threshold(measure: str) -> ThresholdRule:
    """Choose the threshold rule that suits a measure, ready to be fitted.

    From the registry, ``limo.MEASURES[measure].threshold``: a threshold per label for macro-F1 and
    Hamming loss, per instance for instance-F1, one for all for micro-F1. That follows from the
    paper's Section 3.2: a cut should part what the measure compares.

    Parameters
    ----------
    measure : str
        A measure of predicted labels.

    Returns
    -------
    rule
        Its target is the measure.

    Examples
    --------
    >>> import limo
    >>> limo.suggest_threshold("macro_f1")
    LabelThreshold(target='macro_f1')
    >>> limo.suggest_threshold("macro_auc")
    Traceback (most recent call last):
        ...
    ValueError: macro_auc judges scores, so no threshold is needed. Measures of labels are:
    hamming_loss, macro_f1, instance_f1, micro_f1.
    """
    kind = MEASURES[check_name(measure, MEASURES, "measure")].threshold
    if kind is None:
        of_labels = ", ".join(name for name, m in MEASURES.items() if m.threshold is not None)
        raise ValueError(
            f"{measure} judges scores, so no threshold is needed. Measures of labels are: "
            f"{of_labels}."
        )
    rule = RULES[kind]()
    return rule.set_params(target=measure)  # type: ignore[no-any-return]


def make_rule(threshold: Any, measure: Any) -> ThresholdRule:
    """Make a rule from a rule, its name or None, with the measure as target if it has none."""
    if threshold is None:
        return LabelThreshold() if measure is None else suggest_threshold(measure)
    if isinstance(threshold, str):
        rule = RULES[check_name(threshold, RULES, "threshold rule")]()
    elif isinstance(threshold, ThresholdRule):
        rule = clone(threshold)
    else:
        raise TypeError(
            f"threshold must be a rule such as LabelThreshold(), or one of {', '.join(RULES)}: "
            f"got {threshold!r}. A number goes into FixedThreshold."
        )
    if measure is not None and rule.get_params().get("target", measure) is None:
        rule.set_params(target=measure)
    return rule
