"""What the paper did with its five data sets, and what we enter beside it."""

from collections.abc import Sequence
from dataclasses import replace

from limo.datasets import DataError, stored_splits
from limo.experiment import METHODS, Data, Method, Plan, Procedure, Splits
from limo.models.limo_cv import LIMOClassifierCV
from limo.reproduce.authors import F1, N_FOLDS, limo_as_authors, tuned_logistic

__all__ = [
    "DATASETS",
    "LIMOS",
    "OTHER_CUTS",
    "OURS",
    "PAPER",
    "QUICK",
    "cut_plan",
    "own_plan",
    "paper_plan",
]

DATASETS = ("CAL500", "medical", "enron", "corel5k", "bibtex")
QUICK = ("CAL500", "medical", "enron")
LIMOS = ("LIMO-inst", "LIMO-label", "LIMO")
PAPER = ("BR", "ML-kNN", "GFM", *LIMOS)
OURS = ("LIMO, aimed", "logistic, tuned")
# Cuts that stand behind printed numbers, besides those of training: name, method, cut.
OTHER_CUTS = (
    ("LIMO, test cuts", "LIMO", "test labels"),
    ("LIMO-inst, test cuts", "LIMO-inst", "test labels"),
    ("LIMO, global cut", "LIMO", "global"),
    ("LIMO-label, global cut", "LIMO-label", "global"),
)
# Rows have length 1. Fewer than the default, so that the whole table takes less than an hour.
_ALPHAS = (0.3, 0.01, 0.001, 0.0003, 0.0001, 0.00005)
_BASELINES = {"BR": "br", "ML-kNN": "mlknn", "GFM": "gfm"}


def _data(datasets: Sequence[str], n_splits: int) -> list[Data]:
    return [Data(name, name, splits=_splits(name, n_splits)) for name in datasets]


def _splits(name: str, n_splits: int) -> Splits:
    """The authors' own splits where they are stored, otherwise random ones."""
    try:
        stored_splits(name)
    except DataError:
        return Splits("random", n_splits, test_size=0.3)
    return Splits("stored", n_splits, test_size=0.3)


def _baseline(name: str) -> Method:
    found = METHODS[_BASELINES[name]]
    assert isinstance(found, Method)
    return replace(found, name=name)


def paper_plan(datasets: Sequence[str], n_splits: int) -> Plan:
    """The six methods of the paper by all measures; every cut from training data."""
    limos = [Procedure(name, limo_as_authors, {"kind": name}) for name in LIMOS]
    return Plan(_data(datasets, n_splits), [*map(_baseline, _BASELINES), *limos])


def cut_plan(datasets: Sequence[str], n_splits: int) -> Plan:
    """The LIMOs once more under other cuts, F1 only; those on test labels are no results."""
    methods = [
        Procedure(name, limo_as_authors, {"kind": kind, "cuts": cuts})
        for name, kind, cuts in OTHER_CUTS
    ]
    return Plan(_data(datasets, n_splits), methods, F1)


def own_plan(datasets: Sequence[str], n_splits: int) -> Plan:
    """Exact LIMO aimed at every measure, and the tuned logistic rival."""
    model = LIMOClassifierCV(alphas=_ALPHAS, threshold_cv=N_FOLDS)
    aimed = Method(OURS[0], model, scaling="unit_rows", targeted=True)
    return Plan(_data(datasets, n_splits), [aimed, Procedure(OURS[1], tuned_logistic)])
