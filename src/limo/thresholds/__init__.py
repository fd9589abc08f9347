"""From scores to labels: thresholds per label, per instance or for all, for the measure at hand."""

from limo.thresholds.best import (
    apply_thresholds,
    best_global_threshold,
    best_instance_thresholds,
    best_label_thresholds,
    top_k,
)
from limo.thresholds.classifier import ThresholdClassifier
from limo.thresholds.curves import F1Curves, f1_curves
from limo.thresholds.expected import expected_f1_labels, gfm_labels
from limo.thresholds.files import rule_from_json, rule_to_json
from limo.thresholds.instance import InstanceThreshold
from limo.thresholds.report import ThresholdReport, threshold_report
from limo.thresholds.rules import (
    ExpectedF1,
    FixedThreshold,
    GlobalThreshold,
    LabelThreshold,
    ThresholdRule,
    TopK,
)
from limo.thresholds.suggest import RULES, suggest_threshold
from limo.thresholds.targets import TARGETS, Target, f_beta

__all__ = [
    "RULES",
    "TARGETS",
    "ExpectedF1",
    "F1Curves",
    "FixedThreshold",
    "GlobalThreshold",
    "InstanceThreshold",
    "LabelThreshold",
    "Target",
    "ThresholdClassifier",
    "ThresholdReport",
    "ThresholdRule",
    "TopK",
    "apply_thresholds",
    "best_global_threshold",
    "best_instance_thresholds",
    "best_label_thresholds",
    "expected_f1_labels",
    "f1_curves",
    "f_beta",
    "gfm_labels",
    "rule_from_json",
    "rule_to_json",
    "suggest_threshold",
    "threshold_report",
    "top_k",
]
