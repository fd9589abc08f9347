"""Drawings of predictions, as scikit-learn's displays: ``from_predictions`` and ``from_estimator``.

Each display keeps the numbers it draws. In a notebook it is drawn once, when it is the last value
of a cell; elsewhere ``display.figure_.savefig("picture.png")`` writes it.
"""

from limo.displays._curves import CalibrationDisplay, PrecisionRecallDisplay, RocDisplay
from limo.displays._labels import ConfusionDisplay, FrequencyDisplay, MarginDisplay, SkillDisplay

__all__ = [
    "CalibrationDisplay",
    "ConfusionDisplay",
    "FrequencyDisplay",
    "MarginDisplay",
    "PrecisionRecallDisplay",
    "RocDisplay",
    "SkillDisplay",
]
