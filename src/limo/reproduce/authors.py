"""The learners as they enter the benchmark: the authors' way, and our rival at its best.

Procedures of a plan: each is called with data, a split and a seed, and gives values of measures.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from sklearn.preprocessing import MaxAbsScaler

from limo._types import Anything, Values
from limo.datasets import Dataset
from limo.evaluation import evaluate
from limo.experiment.scaling import UnitRows
from limo.measures.table import MEASURES
from limo.models.binary_relevance import BinaryRelevance, logistic
from limo.models.paper import paper_limo
from limo.thresholds import (
    GlobalThreshold,
    InstanceThreshold,
    LabelThreshold,
    ThresholdRule,
    suggest_threshold,
)
from limo.thresholds.crossfit import cross_fit, fit_varying, folds_of

__all__ = ["CUTS", "N_FOLDS", "limo_as_authors", "tuned_logistic"]

Kind = Literal["LIMO", "LIMO-label", "LIMO-inst"]
Found = Iterator[tuple[str, float, str]]
F1 = ("instance_f1", "macro_f1", "micro_f1")
OF_SCORES = tuple(name for name, m in MEASURES.items() if m.needs == "scores")
OF_LABELS = tuple(name for name, m in MEASURES.items() if m.needs == "labels")
CUTS = ("training", "test labels", "global")
N_FOLDS = 5  # of our own entries, whose scores thresholds are fitted on


def _per_instance(target: str) -> ThresholdRule:
    """t(x): support vector regression of the best cut of each training instance."""
    return InstanceThreshold(target, source="features", regressor="svr", end_gap=0, ties="most")


def _per_label(target: str) -> ThresholdRule:
    return LabelThreshold(target, min_positives=0)


def _rules(kind: Kind, cuts: str) -> dict[str, ThresholdRule]:
    """The cut of each measure: t(x) for label-wise margins, t_j for instance-wise ones."""
    if cuts == "global":
        return dict.fromkeys(F1, GlobalThreshold("micro_f1"))
    if cuts == "test labels":
        return dict.fromkeys(F1, _per_label("macro_f1"))
    by_label = {
        **dict.fromkeys(F1, _per_label("macro_f1")),
        "hamming_loss": _per_label("hamming_loss"),
    }
    by_row = {**dict.fromkeys(F1, _per_instance("instance_f1"))}
    by_row["hamming_loss"] = _per_instance("hamming_loss")
    both = by_row | {name: by_label[name] for name in ("macro_f1", "hamming_loss")}
    return {"LIMO": both, "LIMO-label": by_row, "LIMO-inst": by_label}[kind]


def limo_as_authors(
    data: Dataset,
    train: Anything,
    test: Anything,
    seed: int,
    kind: Kind = "LIMO",
    cuts: Literal["training", "test labels", "global"] = "training",
) -> Found:
    """LIMO as the authors ran it: features scaled over train and test, every label trained.

    ``cuts="test labels"`` chooses the cut of each label on the test labels. That is no result: it
    is there to show which printed numbers came about so.
    """
    X = MaxAbsScaler().fit_transform(data.X)
    model = paper_limo(kind, "benchmark", random_state=seed).set_params(threshold_measure=None)
    model.fit(X[train], data.Y[train])
    S, S_test = model.decision_function(X[train]), model.decision_function(X[test])
    if cuts == "training":
        yield from _of_scores(data.Y[test], S_test)
    known = (data.Y[train], S, X[train])
    if cuts == "test labels":
        known = (data.Y[test], S_test, X[test])
    where = "test labels" if cuts == "test labels" else "training scores"
    for rule, names in _grouped(_rules(kind, cuts)):
        P = rule.fit(*known).predict(S_test, X[test])
        found = evaluate(data.Y[test], y_pred=P)
        yield from ((name, found[name], f"{_said(rule)}, fitted on {where}") for name in names)


def tuned_logistic(data: Dataset, train: Anything, test: Anything, seed: int) -> Found:
    """Logistic regression for each label, C by cross-validation, the cut that suits each measure.

    Cuts are fitted on cross-fitted scores with the C chosen: training data only, and the choice is
    not made anew in every fold.
    """
    scaler = UnitRows().fit(data.X[train])
    X, X_test, Y = scaler.transform(data.X[train]), scaler.transform(data.X[test]), data.Y[train]
    fitted = fit_varying(BinaryRelevance("logistic"), X, Y, {})
    S = fitted.scores(X_test)
    yield from _of_scores(data.Y[test], S)
    rows, known = cross_fit(
        BinaryRelevance(logistic(fitted.estimator.C_)),
        X,
        Y,
        folds_of(N_FOLDS, X, Y),
        probabilities=False,
        params={},
        n_jobs=None,
    )
    for name in OF_LABELS:
        rule = suggest_threshold(name).fit(Y[rows], known)
        value = evaluate(data.Y[test], y_pred=rule.predict(S))[name]
        yield name, value, f"{_said(rule)}, fitted on cross-fitted scores"


def _of_scores(Y: Any, S: Values) -> Found:
    found = evaluate(Y, S)
    yield from ((name, found[name], "") for name in OF_SCORES)


def _grouped(rules: Mapping[str, ThresholdRule]) -> Iterator[tuple[ThresholdRule, list[str]]]:
    """Equal rules once, with the measures they serve."""
    for text in dict.fromkeys(map(repr, rules.values())):
        names = [name for name, rule in rules.items() if repr(rule) == text]
        yield rules[names[0]], names


def _said(rule: ThresholdRule) -> str:
    return " ".join(repr(rule).split())
