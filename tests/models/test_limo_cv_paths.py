import numpy as np
import pytest

import limo
from limo.measures._table import MEASURES
from limo.models._limo_cv import Judged, Paths, Trial, better
from limo.thresholds._fit import folds_of

DATA = limo.datasets.figure1(120, seed=3)
FOLDS = folds_of(3, DATA.X, DATA.Y)
KINDS = {
    "macro_f1": ("label", "global"),
    "instance_f1": ("instance", "global"),
    "micro_f1": ("global", "label"),
    "hamming_loss": ("label", "global"),
}
NAMES = ("ranking_loss", *KINDS)


def paths(*names, alphas=(0.1, 0.01)):
    model = limo.LIMOClassifier(threshold_measure=None, warm_start=True, tol=1e-8)
    return Paths(model, alphas, FOLDS, tuple(MEASURES[name] for name in names))


def test_scores_are_those_of_models_that_have_not_seen_the_rows():
    trials = list(paths("ranking_loss").walk((1, 0, 1), DATA.X, DATA.Y))
    assert [trial.params["alpha"] for trial in trials] == [0.1, 0.01]
    for trial in trials:
        model = limo.LIMOClassifier(**trial.params, threshold_measure=None, tol=1e-8)
        alone = [model.fit(DATA.X[a], DATA.Y[a]).decision_function(DATA.X[b]) for a, b in FOLDS]
        np.testing.assert_allclose(trial.S, np.concatenate(alone), atol=1e-3)


def test_measures_of_labels_take_the_kind_of_threshold_that_does_best():
    """By hand: each kind fitted on two folds and judged on the third."""
    found = paths(*NAMES, alphas=(0.01,))
    (trial,) = found.walk((1, 1, 0), DATA.X, DATA.Y)
    parts = np.split(trial.S, np.cumsum([len(test) for _, test in FOLDS])[:-1])
    for name in NAMES[1:]:
        measure, by_kind = MEASURES[name], {}
        for kind in KINDS[name]:
            values = []
            for k in range(3):
                others = [j for j in range(3) if j != k]
                rows = np.concatenate([FOLDS[j][1] for j in others])
                rule = limo.thresholds.RULES[kind]().set_params(target=name)
                rule.fit(DATA.Y[rows], np.concatenate([parts[j] for j in others]))
                judged = limo.evaluate(DATA.Y[FOLDS[k][1]], y_pred=rule.predict(parts[k]))
                values.append(judged[name])
            by_kind[kind] = np.mean(values)
        best = max(by_kind.values(), key=lambda v: measure.sign * v)
        assert trial.judged[name].mean == pytest.approx(best)
        assert by_kind[trial.judged[name].threshold] == pytest.approx(best)
        assert trial.row[f"threshold_{name}"] == trial.judged[name].threshold
    assert trial.judged["ranking_loss"].threshold is None
    assert np.array_equal(found.rows, np.concatenate([test for _, test in FOLDS]))


def test_the_best_trial_of_a_path():
    calls = []
    lines, best = paths(*NAMES).best((0, 1, 0), DATA.X, DATA.Y, lambda: calls.append(1))
    assert len(calls) == 6
    for name in NAMES:
        means = [line[f"mean_{name}"] for line in lines]
        assert best[name].judged[name].mean == (min if name.endswith("loss") else max)(means)


def trial(value):
    return Trial((1, 0, 0), 1.0, np.empty(0), {"coverage": Judged(np.array([value]), None)})


@pytest.mark.parametrize(
    ("new", "old", "wins"),
    [(1.0, 2.0, True), (2.0, 1.0, False), (1.0, 1.0, False), (1.0, np.nan, True)],
)
def test_lower_is_better_where_it_is_and_anything_beats_nothing(new, old, wins):
    assert better(MEASURES["coverage"], trial(new), trial(old)) is wins
    assert better(MEASURES["coverage"], trial(new), None)
