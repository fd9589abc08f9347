"""From scores to labels: thresholds per label, per instance or for all, for any measure."""

from limo.thresholds._auto import AutoThreshold, Tried
from limo.thresholds._best import (
    F1Curves,
    apply_thresholds,
    best_global_threshold,
    best_instance_thresholds,
    best_label_thresholds,
    f1_curves,
    top_k,
)
from limo.thresholds._calibration import ScoreCalibration
from limo.thresholds._classifier import ThresholdClassifier
from limo.thresholds._error import threshold_bounds, threshold_error
from limo.thresholds._expected import expected_f1_labels, gfm_labels
from limo.thresholds._fit import RULES, held_out_labels, suggest_threshold
from limo.thresholds._instance import InstanceThreshold
from limo.thresholds._json import rule_from_json, rule_to_json
from limo.thresholds._report import ThresholdReport, threshold_report
from limo.thresholds._rules import (
    ExpectedF1,
    FixedThreshold,
    GlobalThreshold,
    LabelThreshold,
    ThresholdRule,
    TopK,
)
from limo.thresholds._target import TARGETS, Target, f_beta

__all__ = [
    "RULES",
    "TARGETS",
    "AutoThreshold",
    "ExpectedF1",
    "F1Curves",
    "FixedThreshold",
    "GlobalThreshold",
    "InstanceThreshold",
    "LabelThreshold",
    "ScoreCalibration",
    "Target",
    "ThresholdClassifier",
    "ThresholdReport",
    "ThresholdRule",
    "TopK",
    "Tried",
    "apply_thresholds",
    "best_global_threshold",
    "best_instance_thresholds",
    "best_label_thresholds",
    "expected_f1_labels",
    "f1_curves",
    "f_beta",
    "gfm_labels",
    "held_out_labels",
    "rule_from_json",
    "rule_to_json",
    "suggest_threshold",
    "threshold_bounds",
    "threshold_error",
    "threshold_report",
    "top_k",
]
