"""The methods a plan can name without saying how they are made."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal

from limo.experiment.method import OWN, Cut, Method
from limo.models.binary_relevance import BinaryRelevance
from limo.models.gfm import GFMClassifier
from limo.models.limo import LIMOClassifier
from limo.models.limo_cv import LIMOClassifierCV
from limo.models.mlknn import MLKNNClassifier
from limo.models.paper import paper_limo
from limo.thresholds import InstanceThreshold, LabelThreshold, ThresholdRule

__all__ = ["METHODS"]

Kind = Literal["LIMO", "LIMO-label", "LIMO-inst"]
_F1 = ("instance_f1", "micro_f1", "macro_f1")


def _exact(name: str, label: float, instance: float) -> Method:
    # the plan's cuts serve every measure, so the model need not fit one of its own
    model = LIMOClassifier(label, instance, threshold_measure=None)
    return Method(name, model, scaling="unit_rows")


def _paper(name: str, kind: Kind, cuts: Mapping[str, Cut]) -> Method:
    """LIMO as the authors ran it, with a cut for each measure of labels."""
    model = paper_limo(kind, "benchmark").set_params(threshold_measure=None)
    return Method(name, model, scaling="max_abs", threshold=cuts, cv="prefit")


def _per_instance(target: str) -> ThresholdRule:
    """t(x) of the paper: support vector regression of the best cuts of the training rows."""
    return InstanceThreshold(target, source="features", regressor="svr", end_gap=0, ties="most")


def _per_label(target: str) -> ThresholdRule:
    return LabelThreshold(target, min_positives=0)


def _on_training(rules: Mapping[str, ThresholdRule]) -> dict[str, Cut]:
    return {measure: Cut(rule, "training scores") for measure, rule in rules.items()}


def _with_test_labels(cuts: Mapping[str, Cut], *measures: str) -> dict[str, Cut]:
    return {**cuts, **{name: Cut(_per_label("macro_f1"), "test labels") for name in measures}}


def _cuts_of_label() -> dict[str, Cut]:
    best_f1, best_hamming = _per_instance("instance_f1"), _per_instance("hamming_loss")
    return _on_training({**dict.fromkeys(_F1, best_f1), "hamming_loss": best_hamming})


def _cuts_of_both() -> dict[str, Cut]:
    per_label = {"macro_f1": _per_label("macro_f1"), "hamming_loss": _per_label("hamming_loss")}
    return {**_cuts_of_label(), **_on_training(per_label)}


def _cuts_of_instance() -> dict[str, Cut]:
    best_f1, best_hamming = _per_label("macro_f1"), _per_label("hamming_loss")
    return _on_training({**dict.fromkeys(_F1, best_f1), "hamming_loss": best_hamming})


def _own(name: str, model: Any) -> Method:
    return Method(name, model, scaling="max_abs", threshold=OWN)


_ENTRIES: tuple[Method, ...] = (
    _exact("limo", 1, 1),
    _exact("limo-label", 1, 0),
    _exact("limo-inst", 0, 1),
    Method("limo-cv", LIMOClassifierCV(), scaling="unit_rows", targeted=True),
    Method("logistic", BinaryRelevance("logistic"), scaling="unit_rows"),
    _own("br", BinaryRelevance()),
    _own("mlknn", MLKNNClassifier()),
    _own("gfm", GFMClassifier()),
    _paper("paper:LIMO", "LIMO", _cuts_of_both()),
    _paper("paper:LIMO-label", "LIMO-label", _cuts_of_label()),
    _paper("paper:LIMO-inst", "LIMO-inst", _cuts_of_instance()),
    _paper("paper:LIMO, test cuts", "LIMO", _with_test_labels(_cuts_of_both(), "macro_f1")),
    _paper("paper:LIMO-inst, test cuts", "LIMO-inst", _with_test_labels(_cuts_of_instance(), *_F1)),
)

METHODS: Mapping[str, Method] = MappingProxyType({method.name: method for method in _ENTRIES})
"""By name. The exact LIMOs, LIMO aimed at each measure by cross-validation (``limo-cv``), the tuned
logistic rival, the paper's three baselines, and LIMO as the authors ran it (``paper:``). Where
the paper's cuts were chosen on test labels, an entry of that name shows it."""
