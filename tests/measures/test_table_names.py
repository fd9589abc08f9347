"""Every usual spelling of a measure is its name, wherever one is given."""

import numpy as np
import pytest

import limo
from limo.experiment import METHODS, Method, Plan, compare_methods, estimator_for
from limo.measures import MEASURES, Conventions, select

Y = np.array([[1, 0, 1], [0, 1, 0], [1, 1, 0], [0, 0, 1]])
S = np.array([[0.9, 0.2, 0.4], [0.5, 0.1, 0.8], [0.3, 0.7, 0.1], [0.2, 0.3, 0.6]])


@pytest.mark.parametrize("measure", select("all"), ids=lambda m: m.name)
def test_printed_names_are_names(measure):
    for spelt in (measure.title, measure.title.upper(), measure.name.replace("_", " ")):
        assert MEASURES.canonical(spelt) == measure.name
        assert spelt in MEASURES
        assert MEASURES[spelt] is MEASURES[measure.name]


@pytest.mark.parametrize(
    ("spelt", "name"),
    [
        ("f1_macro", "macro_f1"),
        ("f1_samples", "instance_f1"),
        ("roc_auc_micro", "micro_auc"),
        ("Precision@7", "precision_at_7"),
        ("jaccard_samples", "instance_jaccard"),
        (" Macro-F1 ", "macro_f1"),
    ],
)
def test_other_spellings(spelt, name):
    assert MEASURES.canonical(spelt) == name


@pytest.mark.parametrize("spelt", ["", "f1", "macro", "F1-makro", "accuracy", "precision@0"])
def test_what_is_no_measure_stays_unknown(spelt):
    assert MEASURES.canonical(spelt) == spelt
    assert spelt not in MEASURES
    with pytest.raises(KeyError):
        MEASURES[spelt]


def test_an_own_measure_keeps_its_name():
    own = limo.measures.make_measure(lambda y_true, y_pred: 1.0, name="f1_macro")
    limo.measures.register(own)
    try:
        assert MEASURES["f1_macro"] is own
        assert MEASURES["macro-F1"].name == "macro_f1"
    finally:
        limo.measures.unregister("f1_macro")


def test_all_of_the_library_takes_them():
    P = S > 0.45
    assert limo.evaluate(Y, S, P)["macro-F1"] == limo.macro_f1(Y, P)
    assert list(limo.evaluate(Y, S, P, measures=["Macro-F1"])) == ["macro_f1"]
    assert limo.suggest_threshold("f1_macro").target == "macro_f1"
    assert limo.LabelThreshold("f1_macro").fit(Y, S).predict(S).shape == Y.shape
    assert Plan(["figure1"], [METHODS["br"]], measures=["macro-F1"]).measures == ("macro_f1",)
    assert estimator_for(METHODS["limo"], "f1_macro").threshold.target == "macro_f1"
    rule = Method("m", METHODS["br"].estimator, threshold={"F1_macro": "label"}).threshold
    assert list(rule) == ["macro_f1"]
    filled = Conventions(name="mine", undefined={"macro-AUC": 0.25})
    assert limo.evaluate(np.zeros_like(Y), S, conventions=filled)["macro_auc"] == 0.25


def test_a_scorer_takes_them():
    data = limo.datasets.figure1(50)
    model = limo.MLKNNClassifier().fit(data.X, data.Y)
    values = [limo.make_scorer(name)(model, data.X, data.Y) for name in ("macro_f1", "f1_macro")]
    assert values[0] == values[1]


def test_stored_results_with_such_names_are_compared():
    rows = [
        {"dataset": d, "split": 0, "measure": "macro-F1", "method": m, "value": v + d}
        for d in range(3)
        for m, v in (("A", 0.5), ("B", 0.25))
    ]
    assert compare_methods(rows, "f1_macro").measure == "macro_f1"
