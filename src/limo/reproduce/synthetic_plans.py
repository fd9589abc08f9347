"""What the paper did with its synthetic data: which learners, which cuts, which splits."""

from typing import Literal

from sklearn.preprocessing import PolynomialFeatures

from limo.experiment import Cut, Data, Method, Plan, Splits
from limo.measures.conventions import Conventions
from limo.measures.table import MEASURES
from limo.models.paper import paper_limo
from limo.thresholds import GlobalThreshold, InstanceThreshold, LabelThreshold

__all__ = ["KINDS", "classification_plan", "ranking_plan"]

Kind = Literal["LIMO-inst", "LIMO-label", "LIMO"]
KINDS: tuple[Kind, ...] = ("LIMO-inst", "LIMO-label", "LIMO")
RANKING = tuple(name for name, measure in MEASURES.items() if measure.needs == "scores")
CLASSIFICATION = tuple(name for name, measure in MEASURES.items() if measure.needs == "labels")
N_POINTS = 2000
# The printed table passes over instances that carry all four labels, in average precision too.
PRINTED = Conventions(full_rows_in_average_precision=False, name="as printed")


def _cuts_per_label() -> dict[str, Cut]:
    """The printed ``-t`` columns mix cuts: those that stand behind them."""
    rules = {
        "hamming_loss": LabelThreshold("hamming_loss", min_positives=0),
        "macro_f1": LabelThreshold("macro_f1", min_positives=0),
        "micro_f1": GlobalThreshold("micro_f1"),
        "instance_f1": GlobalThreshold("micro_f1"),
    }
    return {measure: Cut(rule, "training scores") for measure, rule in rules.items()}


def _cuts_per_instance() -> dict[str, Cut]:
    rule = InstanceThreshold(
        "hamming_loss", source="features", regressor="svr", end_gap=0, ties="most"
    )
    return dict.fromkeys(CLASSIFICATION, Cut(rule, "training scores"))


def _method(kind: Kind, cuts: dict[str, Cut], suffix: str) -> Method:
    # the intercept is a constant feature here, since t(x) reads it too: gamma is 1/3
    model = paper_limo(kind, "synthetic").set_params(threshold_measure=None, fit_intercept=False)
    constant = PolynomialFeatures(degree=1)
    return Method(kind + suffix, model, scaling=constant, threshold=cuts, cv="prefit")


def _samples(n_experiments: int) -> list[Data]:
    """An experiment is one sample of the square."""
    return [
        Data(f"sample {seed}", "figure1", {"n": N_POINTS, "seed": seed})
        for seed in range(n_experiments)
    ]


def ranking_plan(n_experiments: int, n_splits: int) -> Plan:
    """Three LIMOs by seven measures of scores."""
    methods = [_method(kind, {}, "") for kind in KINDS]
    splits = Splits("random", n_splits, test_size=0.5)
    return Plan(_samples(n_experiments), methods, RANKING, splits, conventions=PRINTED)


def classification_plan(n_experiments: int, n_splits: int) -> Plan:
    """Three LIMOs, each under two kinds of cut, by four measures of labels."""
    cuts = {"-t": _cuts_per_label(), "-t(x)": _cuts_per_instance()}
    methods = [_method(kind, own, suffix) for kind in KINDS for suffix, own in cuts.items()]
    splits = Splits("random", n_splits, test_size=0.5)
    return Plan(_samples(n_experiments), methods, CLASSIFICATION, splits)
