"""Sample weights in every public function that takes them: whole weights are repetitions."""

import importlib
import inspect
from dataclasses import asdict, is_dataclass

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import limo
from limo import displays, losses, thresholds
from limo.thresholds import ScoreCalibration

RNG = np.random.default_rng(0)
N = 40
X = RNG.standard_normal((N, 3))
Y = (X @ RNG.standard_normal((3, 4)) + 0.7 * RNG.standard_normal((N, 4)) > 0.4).astype(int)
S = np.round(1 / (1 + np.exp(-(Y - 0.5 + RNG.standard_normal(Y.shape)))), 2)
P = (S > 0.5).astype(int)
WEIGHTS = RNG.integers(0, 4, N)
REPEATED = np.repeat(np.arange(N), WEIGHTS)

TERMS = [
    losses.Term(view, how) for view in ("rows", "columns", "entries") for how in ("mean", "worst")
]
SCORED = {name: S if m.needs == "scores" else P for name, m in limo.MEASURES.items()}


def measure(name):
    return lambda i, **w: getattr(limo, name)(Y[i], SCORED[name][i], **w)


def plain(thing):
    """The numbers of a result, without those of single instances."""
    if is_dataclass(thing):
        thing = asdict(thing)
    if isinstance(thing, dict):
        thing = list(thing.values())
    if isinstance(thing, list | tuple):
        return np.concatenate([np.zeros(0), *(plain(one) for one in thing)])
    return np.ravel(np.asarray(thing, dtype=np.float64))


def evaluated(i, **w):
    found = limo.evaluate(Y[i], S[i], P[i], measures="all", **w)
    shares = [(m.positive_share, m.ordered_share, m.tied_share) for m in found.margins.values()]
    return [dict(found), {name: r.best for name, r in found.results.items()}, shares]


def compared(i, **w):
    found = limo.compare_predictions(Y[i], {"a": S[i], "b": -S[i]}, {"a": P[i], "b": 1 - P[i]}, **w)
    return [one.values for one in found]


def document(i, **w):
    made = limo.report.evaluation_document(Y[i], {"a": S[i]}, {"a": P[i]}, intervals=0, **w)
    return [one["value"] for one in made["models"][0]["measures"].values()]


def reported(i, **w):
    made = limo.threshold_report(Y[i], S[i], P[i], **w)
    return [list(vars(one).values()) for one in made.measures.values()]


def updated(i, **w):
    half = len(i) // 2
    parts = [
        (i[:half], {n: v[:half] for n, v in w.items()}),
        (i[half:], {n: v[half:] for n, v in w.items()}),
    ]
    evaluator = limo.Evaluator()
    for rows, own in parts:
        evaluator.update(Y[rows], S[rows], P[rows], **own)
    return dict(evaluator.compute())


def calibrated(i, **w):
    return [
        ScoreCalibration(method).fit(Y[i], S[i], **w).transform(S)
        for method in ("sigmoid", "isotonic")
    ]


def cut_by(rule):
    return lambda i, **w: rule().fit(Y[i], S[i], X[i], **w).predict(S, X)


def of_instances(values, i):
    """One line for each instance that counts, of values that are equal for all its copies."""
    first = np.unique(i, return_index=True)[1]
    return values[first][WEIGHTS[i[first]] > 0]


def held_out(i, **w):
    folds = [(np.flatnonzero(i % 2 == k), np.flatnonzero(i % 2 != k)) for k in (0, 1)]
    rule = limo.LabelThreshold("macro_f1", shrinkage=0)
    return of_instances(thresholds.held_out_labels(rule, Y[i], S[i], cv=folds, **w), i)


def added_gradients(i, **w):
    found = np.zeros(Y.shape)
    np.add.at(found, i, losses.derivatives(Y[i], S[i], TERMS, **w).gradient)
    return found


def learnt(model):
    def scores(i, **w):
        return limo.scores_of(model().fit(X[i], Y[i], **w), X)

    return scores


def scored(model):
    return lambda i, **w: model().fit(X, Y).score(X[i], Y[i], **w)


def tree():
    return DecisionTreeClassifier(max_depth=2, random_state=0)


def drawn(name, *given, read):
    def values(i, **w):
        shown = getattr(displays, name).from_predictions(Y[i], *(A[i] for A in given), **w)
        return read(shown)

    return values


def curves(display):
    """Values of labels, and the curves at the ends of their steps."""
    return [display.values, [np.unique(part) for curve in display.curves for part in curve]]


CASES = {
    **{name: measure(name) for name in limo.MEASURES},
    "evaluate": evaluated,
    "effectiveness": lambda i, **w: limo.effectiveness(Y[i], S[i], **w),
    "compare_predictions": compared,
    "threshold_report": reported,
    "report.evaluation_document": document,
    "Evaluator.update": updated,
    "measures.top_k_measures": lambda i, **w: limo.measures.top_k_measures(
        Y[i], S[i], 2, propensities=[0.2, 0.5, 0.8, 1.0], **w
    ),
    "thresholds.best_global_threshold": lambda i, **w: thresholds.best_global_threshold(
        Y[i], S[i], **w
    ),
    "thresholds.best_label_thresholds": lambda i, **w: thresholds.best_label_thresholds(
        Y[i], S[i], **w
    ),
    "thresholds.f1_curves": lambda i, **w: thresholds.f1_curves(Y[i], S[i], **w),
    "thresholds.ScoreCalibration.fit": calibrated,
    "LabelThreshold.fit": cut_by(lambda: limo.LabelThreshold("macro_f1", shrinkage=0)),
    "GlobalThreshold.fit": cut_by(lambda: limo.GlobalThreshold("micro_f1")),
    "InstanceThreshold.fit": lambda i, **w: [
        [(rule := make().fit(Y[i], S[i], X[i], **w)).thresholds(S, X), rule.offset_]
        for make in (
            limo.InstanceThreshold,
            lambda: limo.InstanceThreshold(source="both"),
            lambda: limo.InstanceThreshold("macro_f1", offset="global"),
            lambda: limo.InstanceThreshold(regressor=LinearRegression()),
        )
    ],
    "FixedThreshold.fit": cut_by(lambda: limo.FixedThreshold(0.3)),
    "thresholds.best_instance_thresholds": lambda i, **w: of_instances(
        thresholds.best_instance_thresholds(Y[i], S[i], **w), i
    ),
    "thresholds.held_out_labels": held_out,
    "losses.derivatives": added_gradients,
    "losses.loss": lambda i, **w: [losses.loss(Y[i], S[i], term, **w) for term in TERMS],
    "LIMOClassifier.fit": learnt(lambda: limo.LIMOClassifier(threshold_measure=None, tol=1e-9)),
    "MarginClassifier.fit": learnt(lambda: limo.MarginClassifier(threshold_measure=None, tol=1e-9)),
    "BinaryRelevance.fit": learnt(lambda: limo.BinaryRelevance(LogisticRegression(tol=1e-10))),
    "ThresholdClassifier.fit": lambda i, **w: (
        limo.ThresholdClassifier(tree(), limo.LabelThreshold(shrinkage=0), cv="training")
        .fit(X[i], Y[i], **w)
        .predict(X)
    ),
    "LIMOClassifier.score": scored(lambda: limo.LIMOClassifier(threshold_measure=None)),
    "displays.RocDisplay.from_predictions": drawn("RocDisplay", S, read=curves),
    "displays.PrecisionRecallDisplay.from_predictions": drawn(
        "PrecisionRecallDisplay", S, read=curves
    ),
    "displays.CalibrationDisplay.from_predictions": drawn("CalibrationDisplay", S, read=curves),
    "displays.SkillDisplay.from_predictions": drawn(
        "SkillDisplay", S, P, read=lambda shown: dict(shown.evaluation)
    ),
    "displays.FrequencyDisplay.from_predictions": drawn(
        "FrequencyDisplay", P, read=lambda shown: [shown.positives, shown.f1]
    ),
    "displays.ConfusionDisplay.from_predictions": drawn(
        "ConfusionDisplay", P, read=lambda shown: [shown.matrix, shown.missed]
    ),
    "displays.MarginDisplay.from_predictions": drawn(
        "MarginDisplay", S, read=lambda shown: shown.ax_.patches and [
            patch.get_path().vertices[:, 1].max() for patch in shown.ax_.patches
        ],
    ),
}  # fmt: skip

# Where copies of an instance are something else than its weight, and which test is about weights.
OTHERWISE = {
    "AutoThreshold.fit": "copies fall into other folds: tests/thresholds/test_auto.py",
    "LIMOClassifierCV.fit": "copies fall into other folds: tests/models/test_limo_weights.py",
    "LIMOClassifierSGD.fit": "copies are other steps: tests/models/test_limo_weights.py",
    "LIMOClassifierSGD.partial_fit": "copies are other steps: tests/models/test_limo_weights.py",
    "AimedClassifier.fit": "copies fall into other folds: tests/models/test_aimed.py",
    "ExpectedF1.fit": "learns nothing",
    "TopK.fit": "learns nothing",
    "thresholds.ThresholdRule.fit": "the base of the rules",
}
PACKAGES = ("", "measures", "thresholds", "datasets", "displays", "losses", "report", "experiment")


def public_functions():
    """Every public function and method with ``sample_weight``, by its shortest name."""
    seen, found = set(), {}
    for part in PACKAGES:
        package = importlib.import_module(f"limo.{part}" if part else "limo")
        for name in package.__all__ if part else dir(package):
            thing = getattr(package, name)
            if name.startswith("_") or id(thing) in seen:
                continue
            seen.add(id(thing))
            shown = f"{part}.{name}" if part else name
            if inspect.isclass(thing):
                methods = ("fit", "partial_fit", "update", "from_predictions")
                found |= {f"{shown}.{m}": getattr(thing, m) for m in methods if hasattr(thing, m)}
            elif inspect.isfunction(thing):
                found[shown] = thing
    return [n for n, f in found.items() if "sample_weight" in inspect.signature(f).parameters]


def test_every_function_that_takes_weights_has_a_case():
    assert sorted(set(public_functions()) - set(CASES) - set(OTHERWISE)) == []


@pytest.mark.parametrize("name", CASES)
def test_whole_weights_are_repetitions_and_0_removes(name):
    expected = plain(CASES[name](REPEATED))
    found = plain(CASES[name](np.arange(N), sample_weight=WEIGHTS))
    assert expected.size
    tolerance = 1e-4 if name.endswith(".fit") else 1e-10  # solvers stop before
    np.testing.assert_allclose(found, expected, atol=tolerance, rtol=0)
