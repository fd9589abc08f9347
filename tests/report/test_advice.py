"""Advice on cases whose right answer is known by construction, "nothing" among them."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

import limo
from limo._checks import check_inputs
from limo._text import plain
from limo.measures import select
from limo.report import evaluation_document
from limo.report._advice import advise, calibrated, sentences
from limo.thresholds._auto import gains_over
from limo.thresholds._scores import DenseScores
from limo.thresholds._target import check_target

SHARES = np.array([0.5, 0.35, 0.25, 0.15, 0.1])


@dataclass(frozen=True)
class World:
    """Labels, and scores that are the log-odds of each label: calibrated, and best cut at 0."""

    Y: np.ndarray
    S: np.ndarray

    @classmethod
    def of(cls, seed=0, n=600, shift=2.0, shares=SHARES):
        rng = np.random.default_rng(seed)
        Y = (rng.random((n, len(shares))) < shares).astype(int)
        seen = rng.normal(size=Y.shape) + shift * Y
        return cls(Y, shift * seen - shift**2 / 2 + np.log(shares / (1 - shares)))

    def advice(self, P, measure, **kwargs):
        checked = check_inputs(self.Y, self.S, P)
        conventions = limo.CONVENTIONS["standard"]
        found = advise(checked, select([measure]), conventions, **kwargs)
        return [plain(vars(one)) for one in found if one.helps]


WORLD = World.of()
BY_LABEL = World(WORLD.Y, WORLD.S + 4 * np.arange(5))
BY_ROW = World(WORLD.Y, WORLD.S + 6 * np.random.default_rng(1).normal(size=(600, 1)))
NOISE = World(WORLD.Y, np.random.default_rng(2).normal(size=(600, 5)))
SCALED = World(WORLD.Y, WORLD.S * np.array([1, 0.2, 5, 1, 0.1]))

# the threshold of highest F1 is half of the highest F1, as a probability
F1_ODDS = np.log(0.35 / 0.65)


def cut(world, threshold):
    return (threshold < world.S).astype(int)


def top(world, k):
    return (-np.sort(-world.S, axis=1)[:, [k - 1]] <= world.S).astype(int)


THRESHOLDS_HELP = {
    "nothing is predicted": (WORLD, cut(WORLD, np.inf), "macro_f1"),
    "everything is predicted": (WORLD, cut(WORLD, -np.inf), "macro_f1"),
    "far too few": (WORLD, cut(WORLD, 3.0), "macro_f1"),
    "far too many": (WORLD, cut(WORLD, -4.0), "micro_f1"),
    "one threshold, labels on different scales": (BY_LABEL, cut(BY_LABEL, 8.0), "macro_f1"),
    "one threshold, instances on different scales": (BY_ROW, cut(BY_ROW, 0.0), "instance_f1"),
    "too many for Hamming loss": (WORLD, cut(WORLD, -2.0), "hamming_loss"),
    "random labels": (WORLD, cut(NOISE, 0.0), "micro_f1"),
    "the opposite of the scores": (WORLD, 1 - cut(WORLD, 0.0), "macro_f1"),
    "Jaccard": (WORLD, cut(WORLD, 3.0), "macro_jaccard"),
    "recall counts twice, the thresholds are those of Hamming loss": (
        WORLD,
        cut(WORLD, 0.0),
        "macro_f2",
    ),
    "always four labels": (WORLD, top(WORLD, 4), "micro_f1"),
}


@pytest.mark.parametrize("case", THRESHOLDS_HELP)
def test_thresholds_that_would_help(case):
    world, P, measure = THRESHOLDS_HELP[case]
    (one,) = world.advice(P, measure)
    found = limo.evaluate(world.Y, y_pred=P, measures=[measure])[measure]
    assert (one["change"], one["measure"]) == ("thresholds", measure)
    assert one["found"] == pytest.approx(found)
    sign = select([measure])[0].sign
    assert sign * (one["expected"] - one["found"]) > 2 * one["error"]
    assert one["command"] == f'limo.AutoThreshold("{measure}").fit(y_true, y_score)'


def test_the_kind_fits_the_flaw():
    assert BY_LABEL.advice(cut(BY_LABEL, 8.0), "macro_f1")[0]["kind"] == "label"
    assert "instance" in BY_ROW.advice(cut(BY_ROW, 0.0), "instance_f1")[0]["kind"]


NOTHING_HELPS = {
    "perfect labels": (WORLD, WORLD.Y, "macro_f1"),
    "the best thresholds of all, Hamming loss": (WORLD, cut(WORLD, 0.0), "hamming_loss"),
    "the best thresholds of all, micro-F1": (WORLD, cut(WORLD, F1_ODDS), "micro_f1"),
    "noise, and everything is predicted": (NOISE, cut(NOISE, -np.inf), "macro_f1"),
    "equal scores": (World(WORLD.Y, np.zeros(WORLD.Y.shape)), WORLD.Y * 0 + 1, "macro_f1"),
    "precision alone is no aim": (WORLD, cut(WORLD, 0.0), "macro_precision"),
    "recall alone is no aim": (WORLD, cut(WORLD, 3.0), "micro_recall"),
    "thresholds change no ranking": (WORLD, cut(WORLD, 3.0), "macro_auc"),
    "a column's order has no scale": (SCALED, cut(SCALED, 0.0), "macro_auc"),
    "calibrated scores": (WORLD, None, "ranking_loss"),
    "calibrated scores, all entries": (WORLD, None, "micro_auc"),
    "probabilities": (World(WORLD.Y, 1 / (1 + np.exp(-WORLD.S))), None, "one_error"),
    "one rising function of all scores": (World(WORLD.Y, WORLD.S**3), None, "average_precision"),
}


@pytest.mark.parametrize("case", NOTHING_HELPS)
def test_nothing_to_advise(case):
    world, P, measure = NOTHING_HELPS[case]
    assert world.advice(P, measure) == []


def test_thresholds_fitted_on_these_very_rows_need_no_advice():
    rule = limo.LabelThreshold("macro_f1").fit(WORLD.Y, WORLD.S)
    assert WORLD.advice(rule.predict(WORLD.S), "macro_f1") == []


def test_good_thresholds_get_advice_in_few_of_many_samples():
    given = sum(
        bool(one.advice(cut(one, 0.0), "hamming_loss"))
        for one in (World.of(seed, n=200) for seed in range(20))
    )
    assert given <= 2


@pytest.mark.parametrize("measure", ["ranking_loss", "coverage", "instance_auc", "micro_auc"])
@pytest.mark.parametrize("world", [BY_LABEL, SCALED], ids=["shifted", "scaled"])
def test_scores_of_labels_on_different_scales_should_be_calibrated(world, measure):
    (one,) = world.advice(None, measure)
    assert one["change"] == "calibration"
    better = limo.evaluate(world.Y, calibrated(check_inputs(world.Y, None).Y, world.S))
    assert one["expected"] == pytest.approx(better[measure])
    assert one["command"] == "limo.thresholds.ScoreCalibration().fit(y_true, y_score)"


GAPS = np.random.default_rng(4).random(WORLD.Y.shape) < 0.2
WITH_GAPS = np.where(GAPS, np.nan, WORLD.Y)
WEIGHTS = np.random.default_rng(5).integers(1, 4, size=600).astype(float)


@pytest.mark.parametrize("measure", ["macro_f1", "micro_f1", "hamming_loss", "instance_f1"])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["", "weighted"])
def test_weighted_and_incomplete_labels(weights, measure):
    standard = limo.CONVENTIONS["standard"]
    given = {"sample_weight": weights, "missing": np.nan}
    worse = 3.0 if measure != "hamming_loss" else -2.0
    checked = check_inputs(WITH_GAPS, WORLD.S, cut(WORLD, worse), **given)
    (one,) = advise(checked, select([measure]), standard)
    now = limo.evaluate(WITH_GAPS, y_pred=cut(WORLD, worse), measures=[measure], **given)
    assert one.helps
    assert one.found == pytest.approx(now[measure])
    # each fold is cut by the rule that AutoThreshold fits to the others
    fold = np.random.default_rng(0).permutation(600) % 5
    P = np.zeros_like(WORLD.Y)
    for k in range(5):
        known = None if weights is None else weights[fold != k]
        rule = limo.AutoThreshold(measure)
        rule.fit(WITH_GAPS[fold != k], WORLD.S[fold != k], sample_weight=known, missing=np.nan)
        P[fold == k] = rule.predict(WORLD.S[fold == k])
    then = limo.evaluate(WITH_GAPS, y_pred=P, measures=[measure], **given)
    assert one.expected == pytest.approx(then[measure])
    assert one.kind == rule.kind_


def test_weighted_labels_that_nothing_helps():
    given = {"sample_weight": WEIGHTS}
    best = check_inputs(WORLD.Y, WORLD.S, cut(WORLD, 0.0), **given)
    (one,) = advise(best, select(["hamming_loss"]), limo.CONVENTIONS["standard"])
    assert not one.helps


def test_the_largest_scores_that_are_accepted():
    S = WORLD.S.copy()
    S[::7, 2] = -1e150
    for measure in ("macro_f1", "instance_f1", "ranking_loss"):
        World(WORLD.Y, S).advice(cut(WORLD, 3.0), measure)
    document = evaluation_document(WORLD.Y, {"masked": S}, {"masked": cut(WORLD, 3.0)})
    assert "<svg" in limo.report.render(document)


def test_why_there_is_no_advice(monkeypatch):
    few = evaluation_document(WORLD.Y[:30], {"a": WORLD.S[:30]})
    sentence = "No advice: 30 rows are too few to show a gain, 40 needed."
    assert few["verdict"][-1] == few["models"][0]["no_advice"] == sentence
    monkeypatch.setattr("limo.report._evaluation._ADVISED", 4000)
    two = evaluation_document(WORLD.Y, {"a": WORLD.S, "b": WORLD.S / 2})
    assert [bool(m["advice"]) for m in two["models"]] == [True, False]
    assert two["models"][1]["verdict"][-1].startswith("No advice: with this much data")


def test_without_scores_or_rows_there_is_no_advice():
    P = cut(WORLD, 3.0)
    standard = limo.CONVENTIONS["standard"]
    few = World(WORLD.Y[:30], WORLD.S[:30])
    assert few.advice(P[:30], "macro_f1") == []
    assert advise(check_inputs(WORLD.Y, None, P), select(), standard) == []
    one_for_nothing = replace(standard, f1_of_nothing=1.0)
    assert advise(check_inputs(WORLD.Y, WORLD.S, P), select(["macro_f1"]), one_for_nothing) == []


def test_without_predictions_the_values_on_held_out_rows_are_given():
    (one,) = WORLD.advice(None, "macro_f1", command="limo cut fit --truth Y.csv --scores S.csv")
    assert one["found"] is None
    assert one["command"] == ("limo cut fit --truth Y.csv --scores S.csv -m macro_f1 -o rule.json")
    change, following = sentences([one], has_predictions=False)
    assert change == (
        "What to change: no labels were predicted, so fit thresholds for the measure you need. On "
        f"held-out rows (5 folds of 600 rows), fitted thresholds give macro-F1 "
        f"{one['expected']:.3f}."
    )
    assert following == f"Next: {one['command']}"


def test_the_gain_is_that_of_labels_cut_fold_by_fold():
    """Each fold is cut by thresholds fitted on the others, as anybody would write it."""
    P = cut(WORLD, 2.0)
    checked = check_inputs(WORLD.Y, WORLD.S, P)
    target = check_target("macro_f1")
    (tried,) = gains_over(checked.Y, DenseScores(WORLD.S), checked.P, [target], 5, errors=1e9)
    fold = np.random.default_rng(0).permutation(600) % 20 % 5
    labels = np.zeros_like(WORLD.Y)
    for k in range(5):
        rule = limo.LabelThreshold("macro_f1").fit(WORLD.Y[fold != k], WORLD.S[fold != k])
        labels[fold == k] = rule.predict(WORLD.S[fold == k])
    expected = limo.macro_f1(WORLD.Y, labels)
    assert tried.kind == "label"
    assert tried.value == pytest.approx(expected)
    assert tried.gain == pytest.approx(expected - limo.macro_f1(WORLD.Y, P))


def test_many_rows_are_drawn_from(monkeypatch):
    monkeypatch.setattr("limo.report._advice._ENTRIES", 1000)
    monkeypatch.setattr("limo.report._advice._MANY_ROWS", 100)
    (one,) = WORLD.advice(cut(WORLD, 4.0), "hamming_loss")
    assert one["rows"] == 200
    monkeypatch.setattr("limo.report._advice._MANY_ROWS", 300)
    (one,) = BY_ROW.advice(cut(BY_ROW, 9.0), "instance_f1")
    assert (one["rows"], one["kind"]) == (300, "label")  # t(x) would take too long


def test_a_document_about_one_measure():
    Y, S = BY_LABEL.Y, BY_LABEL.S
    worse = S + np.random.default_rng(3).normal(size=S.shape)
    scores = {"worse": worse, "good": S}
    document = evaluation_document(Y, scores, measure="macro_f1")
    assert document["measure"] == "macro_f1"
    assert [m["name"] for m in document["models"]] == ["good", "worse"]
    assert document["verdict"][0].startswith(
        "No labels were predicted. On held-out rows, fitted thresholds give macro-F1 0."
    )
    P = {"worse": cut(BY_LABEL, 8.0), "good": cut(BY_LABEL, 30.0)}
    document = evaluation_document(Y, scores, P, measure="macro_f1")
    assert [m["name"] for m in document["models"]] == ["worse", "good"]
    assert document["verdict"][0].startswith("worse is best on macro-F1: 0.")
    assert document["verdict"][1].startswith("worse: macro-F1 is 0.")
    advice = [one for m in document["models"] for one in m["advice"]]
    assert {one["measure"] for one in advice} == {"macro_f1"}
    with pytest.raises(ValueError, match=r"Unknown measure 'macro_f'.*Did you mean 'macro_f1'"):
        evaluation_document(Y, scores, measure="macro_f")
