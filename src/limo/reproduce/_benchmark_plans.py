"""The benchmark's plans: the paper's methods as their authors ran them, and two of our own."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from sklearn.preprocessing import MaxAbsScaler

from limo._evaluate import evaluate
from limo._types import Anything, Values
from limo.datasets import DataError, Dataset, stored_splits
from limo.experiment import METHODS, Data, Method, Plan, Procedure, Splits
from limo.experiment._method import F1, Variant, one_line, paper_label_rule, paper_rules
from limo.measures._table import PAPER_MEASURES
from limo.models._base import UnitRows
from limo.models._binary_relevance import BinaryRelevance, logistic
from limo.models._limo_cv import LIMOClassifierCV
from limo.models._limo_sgd import paper_limo
from limo.thresholds import GlobalThreshold, ThresholdRule, suggest_threshold
from limo.thresholds._fit import cross_fit, fit_varying, folds_of

# Procedures: LIMO as its authors ran it, and tuned logistic regression.

Rows = Iterator[tuple[str, float, str]]
Thresholds = Literal["training", "test labels", "global"]
ALL = tuple(PAPER_MEASURES)
OF_SCORES = tuple(name for name, m in PAPER_MEASURES.items() if m.needs == "scores")
OF_LABELS = tuple(name for name, m in PAPER_MEASURES.items() if m.needs == "labels")
N_FOLDS = 5  # of the cross-fitted scores that our methods' thresholds are fitted on


def _rules(kind: Variant, thresholds: Thresholds) -> dict[str, ThresholdRule]:
    """The threshold rule for each measure."""
    if thresholds == "global":
        return dict.fromkeys(F1, GlobalThreshold("micro_f1"))
    if thresholds == "test labels":
        return dict.fromkeys(F1, paper_label_rule("macro_f1"))
    return paper_rules(kind)


def limo_as_authors(
    data: Dataset,
    train: Anything,
    test: Anything,
    seed: int,
    kind: Variant = "LIMO",
    thresholds: Thresholds = "training",
) -> Rows:
    """LIMO as the authors ran it: features scaled over train and test, every label trained.

    ``thresholds="test labels"`` chooses the threshold of each label on the test labels. Such
    results are not valid; they show which printed numbers were obtained this way.
    """
    X = MaxAbsScaler().fit_transform(data.X)
    model = paper_limo(kind, "benchmark", random_state=seed).set_params(threshold_measure=None)
    model.fit(X[train], data.Y[train])
    S, S_test = model.decision_function(X[train]), model.decision_function(X[test])
    if thresholds == "training":
        yield from _of_scores(data.Y[test], S_test)
    known = (data.Y[train], S, X[train])
    if thresholds == "test labels":
        known = (data.Y[test], S_test, X[test])
    where = "test labels" if thresholds == "test labels" else "training scores"
    for rule, names in _grouped(_rules(kind, thresholds)):
        P = rule.fit(*known).predict(S_test, X[test])
        evaluation = evaluate(data.Y[test], y_pred=P)
        yield from (
            (name, evaluation[name], f"{one_line(rule)}, fitted on {where}") for name in names
        )


def tuned_logistic(data: Dataset, train: Anything, test: Anything, seed: int) -> Rows:
    """Logistic regression per label, C by cross-validation, the threshold that suits each measure.

    Thresholds are fitted on cross-fitted scores of the training data. All folds use the C chosen on
    all training data.
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
        yield name, value, f"{one_line(rule)}, fitted on cross-fitted scores"


def _of_scores(Y: Any, S: Values) -> Rows:
    evaluation = evaluate(Y, S)
    yield from ((name, evaluation[name], "") for name in OF_SCORES)


def _grouped(rules: Mapping[str, ThresholdRule]) -> Iterator[tuple[ThresholdRule, list[str]]]:
    """Equal rules once, with their measures."""
    for text in dict.fromkeys(map(repr, rules.values())):
        names = [name for name, rule in rules.items() if repr(rule) == text]
        yield rules[names[0]], names


def XX(rule: ThresholdRule) -> str:
    return " ".join(repr(rule).split())


DATASETS = ("CAL500", "medical", "enron", "corel5k", "bibtex")
QUICK = ("CAL500", "medical", "enron")
LIMOS = ("LIMO-inst", "LIMO-label", "LIMO")
PAPER = ("BR", "ML-kNN", "GFM", *LIMOS)
OURS = ("LIMO, aimed", "logistic, tuned")
# Other thresholds behind printed numbers: name in the results, method, thresholds. Seeds and stored
# results depend on the names.
OTHER_THRESHOLDS = (
    ("LIMO, test cuts", "LIMO", "test labels"),
    ("LIMO-inst, test cuts", "LIMO-inst", "test labels"),
    ("LIMO, global cut", "LIMO", "global"),
    ("LIMO-label, global cut", "LIMO-label", "global"),
)
_BASELINES = {"BR": "br", "ML-kNN": "mlknn", "GFM": "gfm"}


def _data(datasets: Sequence[str], n_splits: int) -> list[Data]:
    return [Data(name, name, splits=_splits(name, n_splits)) for name in datasets]


def _splits(name: str, n_splits: int) -> Splits:
    """The authors' own splits if they are stored, otherwise random ones."""
    try:
        stored_splits(name)
    except DataError:
        return Splits("random", n_splits, test_size=0.3)
    return Splits("stored", n_splits, test_size=0.3)


def _baseline(name: str) -> Method:
    method = METHODS[_BASELINES[name]]
    assert isinstance(method, Method)
    return replace(method, name=name)


def paper_plan(datasets: Sequence[str], n_splits: int) -> Plan:
    """The six methods of the paper, all measures, all thresholds from training data."""
    limos = [Procedure(name, limo_as_authors, {"kind": name}) for name in LIMOS]
    return Plan(_data(datasets, n_splits), [*map(_baseline, _BASELINES), *limos], ALL)


def threshold_plan(datasets: Sequence[str], n_splits: int) -> Plan:
    """LIMO with the other thresholds behind printed F1 values; not valid if from test labels."""
    methods = [
        Procedure(name, limo_as_authors, {"kind": kind, "thresholds": thresholds})
        for name, kind, thresholds in OTHER_THRESHOLDS
    ]
    return Plan(_data(datasets, n_splits), methods, F1)


def own_plan(datasets: Sequence[str], n_splits: int) -> Plan:
    """Exact LIMO tuned for each measure, and tuned logistic regression."""
    model = LIMOClassifierCV()
    aimed = Method(OURS[0], model, scaling="unit_rows", targeted=True)
    return Plan(_data(datasets, n_splits), [aimed, Procedure(OURS[1], tuned_logistic)], ALL)
