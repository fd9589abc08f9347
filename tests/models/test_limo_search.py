import numpy as np
import pytest

import limo
from limo._checks import check_labels
from limo.losses import Term
from limo.measures._table import MEASURES
from limo.models._limo_average import Cell, Solving
from limo.models._limo_plan import LOGISTIC, Candidate
from limo.models._limo_search import Search, Trial, shares_of
from limo.thresholds._fit import folds_of, label_matrix, make_rule

DATA = limo.datasets.figure1(120, seed=3)
KNOWN = check_labels(DATA.Y, "y")
LABELS = label_matrix(KNOWN, as_sparse=True)
FOLDS = folds_of(3, DATA.X, LABELS)
SOLVING = Solving(True, 3.0, 1e-8, 1000, None)
ROWS = Candidate((Term("rows", "mean"),), (0.1, 0.01))
TOP = Candidate((Term("rows", "top"),), (0.1,))
PLAIN = Candidate(LOGISTIC, (0.01, 0.001))


def search(candidates, **settings):
    measures = [MEASURES[name] for name in candidates]
    return Search(DATA.X, KNOWN, FOLDS, SOLVING, measures, candidates, **settings)


def test_scores_are_those_of_models_that_have_not_seen_the_rows():
    """Alpha is for all 120 instances: alpha times their number is the same in each fold."""
    trials = search({"ranking_loss": [ROWS, TOP], "macro_f1": [ROWS, PLAIN]}).run()
    cells = [trial.cell for trial in trials]
    assert cells == [Cell(c.terms, a) for c in (ROWS, TOP, PLAIN) for a in c.alphas]
    for trial in trials:
        terms, alpha = trial.cell.terms, trial.cell.alpha
        for (train, test), S in zip(FOLDS, trial.scores, strict=True):
            own = alpha * 120 / len(train)
            model = limo.MarginClassifier(terms, alpha=own, threshold_measure=None, tol=1e-8)
            alone = model.fit(DATA.X[train], DATA.Y[train]).decision_function(DATA.X[test])
            np.testing.assert_allclose(S, alone, atol=1e-3)


def test_measures_of_scores_are_judged_on_each_fold():
    (trial, *_) = search({"ranking_loss": [ROWS], "coverage": [ROWS]}).run()
    for name in ("ranking_loss", "coverage"):
        for (_, test), S, value in zip(FOLDS, trial.scores, trial.values[name], strict=True):
            assert value == pytest.approx(limo.evaluate(DATA.Y[test], S)[name], abs=1e-6)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("macro_f1", "label"),
        ("hamming_loss", "label"),
        ("micro_f1", "global"),
        ("instance_f1", "global"),
    ],
)
def test_measures_of_labels_are_judged_with_thresholds_of_the_other_folds(name, kind):
    """By hand: fitted on two folds and judged on the third."""
    (trial, *_) = search({name: [ROWS]}).run()
    for k, (_, test) in enumerate(FOLDS):
        others = [j for j in range(3) if j != k]
        rows = np.concatenate([FOLDS[j][1] for j in others])
        known = np.concatenate([trial.scores[j] for j in others]).astype(float)
        P = make_rule(kind, name).fit(DATA.Y[rows], known).predict(trial.scores[k].astype(float))
        assert trial.values[name][k] == limo.evaluate(DATA.Y[test], y_pred=P)[name]


def test_a_path_ends_when_its_measures_get_worse():
    """Strong regularisation ranks these triangles as well as weak one, so no later alpha wins."""
    many = Candidate((Term("columns", "mean"),), tuple(10.0**-k for k in range(8)))
    trials = search({"macro_auc": [many]}).run()
    values = np.array([trial.first["macro_auc"] for trial in trials])
    assert len(trials) == min(8, values.argmax() + 3)


def test_a_measure_does_not_depend_on_the_others_asked_for():
    grid = tuple(10 ** (-k / 2) for k in range(1, 10))
    rows = Candidate((Term("rows", "mean"),), grid)
    alone = search({"one_error": [rows]}).run()
    both = search({"one_error": [rows], "hamming_loss": [rows, Candidate(TOP.terms, grid)]}).run()
    measure = MEASURES["one_error"]
    first, second = (
        {t.cell: t.values["one_error"] for t in trials if "one_error" in t.values}
        for trials in (alone, both)
    )
    assert first == second
    assert shares_of(alone, measure) == shares_of(both, measure)


def test_cells_behind_on_the_first_fold_are_not_tried_again(monkeypatch):
    monkeypatch.setattr("limo.models._limo_search._KEPT", 1)
    monkeypatch.setattr("limo.models._limo_search._KEPT_LOGISTIC", 1)
    ticks = []
    engine = search({"ranking_loss": [ROWS, TOP, PLAIN]}, tick=ticks.append)
    trials = engine.run()
    best = min(trials, key=lambda t: t.first["ranking_loss"])
    logistic = min(
        (t for t in trials if t.cell.terms == LOGISTIC), key=lambda t: t.first["ranking_loss"]
    )
    kept = [t for t in trials if t.values]
    assert set(map(id, kept)) == {id(best), id(logistic)}
    scored = [t for t in trials if t.scores]
    assert all(len(t.scores) == 3 for t in scored)
    assert sum(ticks) == 5 + 2 * len(scored)
    row = [t.row([MEASURES["ranking_loss"]])["folds_ranking_loss"] for t in trials]
    assert row.count(1) == 5 - len(kept)
    # beside the kept ones, the logistic cell with the lowest log loss on the first fold
    train, test = FOLDS[0]
    losses = {
        alpha: log_loss(
            DATA.Y[test],
            limo.MarginClassifier(LOGISTIC, alpha=alpha, threshold_measure=None, tol=1e-8)
            .fit(DATA.X[train], DATA.Y[train])
            .decision_function(DATA.X[test]),
        )
        for alpha in PLAIN.alphas
    }
    likely = Cell(LOGISTIC, min(losses, key=losses.__getitem__))
    assert {t.cell for t in scored} == {best.cell, logistic.cell, likely}
    assert engine.most_likely(trials) in {t.cell for t in scored}


def log_loss(Y, S):
    """From the definition: minus the mean logarithm of the probability of each label."""
    P = 1 / (1 + np.exp(-S))
    return -np.log(np.where(Y == 1, P, 1 - P)).mean()


def test_the_most_likely_logistic_cell_has_the_lowest_log_loss():
    engine = search({"ranking_loss": [ROWS, PLAIN]})
    trials = engine.run()
    rows = np.concatenate([test for _, test in FOLDS])
    own = [t for t in trials if t.cell.terms == LOGISTIC]
    for t in own:
        expected = log_loss(DATA.Y[rows], np.concatenate(t.scores).astype(np.float64))
        assert engine.log_loss(t) == pytest.approx(expected, rel=1e-6)
    assert engine.most_likely(trials) == min(own, key=engine.log_loss).cell
    without = search({"ranking_loss": [ROWS]})
    assert without.most_likely(without.run()) is None


def trial(alpha, *values, name="macro_f1"):
    scores = [np.zeros((2, 2))] * len(values)
    return Trial(Cell(LOGISTIC, alpha), scores, {name: list(values)}, {name: values[0]})


def test_shares_fall_with_the_distance_from_the_best():
    """The standard deviations of the differences are 0.02 and 0.04: the error is 0.03 / sqrt(3)."""
    trials = [
        trial(1.0, 0.5, 0.6, 0.7),
        trial(0.1, 0.48, 0.56, 0.64),
        trial(0.01, 0.48, 0.60, 0.56),
        trial(0.001, 0.1, 0.2, 0.0),
    ]
    spread = np.median(
        [np.std([-0.02, -0.04, -0.06], ddof=1), np.std([-0.02, 0, -0.14], ddof=1), 0.15**0.5 / 5]
    )
    found = shares_of(trials, MEASURES["macro_f1"])
    means = {1.0: 0.6, 0.1: 0.56, 0.01: 1.64 / 3, 0.001: 0.1}
    error = np.median(
        [
            np.std(np.array(t.values["macro_f1"]) - [0.5, 0.6, 0.7], ddof=1) / np.sqrt(3)
            for t in trials[1:]
        ]
    )
    assert error == pytest.approx(spread / np.sqrt(3), rel=0.5)
    raw = {a: np.exp(-(0.6 - m) / (2 * error)) for a, m in means.items()}
    raw = {a: x for a, x in raw.items() if x >= 0.02}
    for cell, share in found.items():
        assert share == pytest.approx(raw[cell.alpha] / sum(raw.values()))
    assert len(found) == len(raw) < 4
    assert sum(found.values()) == pytest.approx(1)


def test_the_best_alone_where_there_is_no_spread_to_go_by():
    coverage = MEASURES["coverage"]
    equal = [trial(1.0, 2.0, name="coverage"), trial(0.1, 1.0, name="coverage")]
    assert shares_of(equal, coverage) == {Cell(LOGISTIC, 0.1): 1.0}
    constant = [trial(1.0, 2.0, 2.0, name="coverage"), trial(0.1, 1.0, 1.0, name="coverage")]
    assert shares_of(constant, coverage) == {Cell(LOGISTIC, 0.1): 1.0}
    alike = [trial(1.0, 2.0, 2.0, name="coverage"), trial(0.1, 2.0, 2.0, name="coverage")]
    assert set(shares_of(alike, coverage).values()) == {0.5}
    undefined = [trial(1.0, np.nan, np.nan, name="coverage"), trial(0.1, 1.0, 1.0, name="coverage")]
    assert list(shares_of(undefined, coverage)) == [Cell(LOGISTIC, 0.1)]
    assert list(shares_of(undefined[:1], coverage)) == [Cell(LOGISTIC, 1.0)]


def test_the_row_of_a_trial():
    line = trial(0.1, 0.2, 0.4).row([MEASURES["macro_f1"], MEASURES["coverage"]])
    assert line["mean_macro_f1"] == pytest.approx(0.3)
    assert line["std_macro_f1"] == pytest.approx(0.1)
    assert (line["folds_macro_f1"], line["folds_coverage"]) == (2, 0)
    assert np.isnan(line["mean_coverage"])
