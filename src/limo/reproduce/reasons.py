"""What stands behind the printed cells: the cut that gives them, and why others differ."""

from collections.abc import Callable
from dataclasses import dataclass

from limo.measures.table import MEASURES
from limo.reproduce.authors import F1

__all__ = ["UNKNOWN", "reason", "stands_for"]

UNKNOWN = "no known reason"
_ON_TEST_LABELS = {"LIMO": ("macro_f1",), "LIMO-inst": F1}
_GLOBAL_ON_MEDICAL = {"LIMO": ("instance_f1", "micro_f1"), "LIMO-label": F1}


def stands_for(dataset: str, method: str, measure: str) -> str:
    """The method of our rows whose cut is the one behind a printed cell.

    Found by trying: cuts of each label chosen on the test labels for the F1s named, but on
    bibtex, where cuts from training fit; one global cut for the other F1s of LIMO and
    LIMO-label on medical.
    """
    if dataset != "bibtex" and measure in _ON_TEST_LABELS.get(method, ()):
        return f"{method}, test cuts"
    if dataset == "medical" and measure in _GLOBAL_ON_MEDICAL.get(method, ()):
        return f"{method}, global cut"
    return method


@dataclass(frozen=True)
class _Reason:
    text: str
    holds: Callable[[str, str, str], bool]


def _of_scores(measure: str) -> bool:
    return MEASURES[measure].needs == "scores"


_REASONS = (
    _Reason(
        "printed with cuts chosen on test labels; ours come from training",
        lambda d, m, k: stands_for(d, m, k).endswith("test cuts"),
    ),
    _Reason(
        "printed with one global cut; ours is t(x)",
        lambda d, m, k: stands_for(d, m, k).endswith("global cut"),
    ),
    _Reason(
        "ties: printed values are near those of 0/1 predictions used as scores, ours rank by the "
        "share of neighbours",
        lambda d, m, k: m == "GFM" and _of_scores(k),
    ),
    _Reason(
        "printed far from what a linear SVM gives, with great deviations: likely a fault in how "
        "its scores were taken",
        lambda d, m, k: m == "BR" and d in ("medical", "enron", "corel5k") and _of_scores(k),
    ),
    _Reason(
        "which linear SVM it was, and what cut its scores, is not told",
        lambda d, m, k: m == "BR",
    ),
)


def reason(dataset: str, method: str, measure: str) -> str:
    """The known reason why a cell may differ, or that there is none."""
    found = (one.text for one in _REASONS if one.holds(dataset, method, measure))
    return next(found, UNKNOWN)
