"""The theory is executable: every tick of Table 2, every cross, every bound, and every error of the paper."""

import functools
import itertools
import math

import numpy as np
import pytest

import limo
from cases import cases, effective_case
from limo.measures._measure import Optimised
from limo.measures._table import EFFECTIVENESS
from limo.reproduce._theory_facts import COUNTEREXAMPLES, SHIFTED
from naive import margins as naive

TICKS = [
    (name, kind)
    for name, measure in limo.MEASURES.items()
    for kind in EFFECTIVENESS
    if measure.optimised_by[kind] is Optimised.YES
]
CROSSES = [
    (name, kind)
    for name, measure in limo.MEASURES.items()
    for kind in EFFECTIVENESS
    if measure.optimised_by[kind] is not Optimised.YES
]
THRESHOLDS = {
    "label-wise": ["instance"],
    "instance-wise": ["label"],
    "double": ["instance", "label"],
    "entry-wise": ["instance", "label", "global"],
    "absolute": ["instance", "label", "global", "zero"],
}


def holds(kind, Y, S):
    return getattr(limo.effectiveness(Y, S), kind.replace("-", "_"))


def right_threshold(y, s):
    """A threshold between the irrelevant and the relevant scores of one row."""
    return max((b for a, b in zip(y, s, strict=True) if not a), default=min(s) - 1)


def cut(Y, S, by):
    """Labels from thresholds placed right, per instance, per label or for all."""
    if by == "label":
        return cut(Y.T, S.T, "instance").T
    if by == "zero":
        return (S > 0).astype(int)
    if by == "global":
        return (right_threshold(Y.ravel(), S.ravel()) < S).astype(int)
    return np.array([s > right_threshold(y, s) for y, s in zip(Y, S, strict=True)], dtype=int)


@pytest.mark.parametrize("kind", EFFECTIVENESS)
def test_generated_predictors_are_effective_and_nothing_more(kind):
    rng = np.random.default_rng(20)
    stronger = {
        "label-wise": "double",
        "instance-wise": "double",
        "double": "entry-wise",
        "entry-wise": "absolute",
    }
    seen = set()
    for _ in range(80):
        Y, S = effective_case(rng, kind)
        assert holds(kind, Y, S)
        if kind in stronger:
            seen.add(holds(stronger[kind], Y, S))
    assert kind == "absolute" or False in seen


@functools.cache
def evaluations(kind, constant):
    """Of random cases with this effectiveness, by each kind of threshold that suits it."""
    rng = np.random.default_rng(21)
    cases = [effective_case(rng, kind, constant=constant) for _ in range(25)]
    return [limo.evaluate(Y, S, cut(Y, S, by)) for Y, S in cases for by in THRESHOLDS[kind]]


@pytest.mark.parametrize(("name", "kind"), TICKS)
@pytest.mark.parametrize("constant", [False, True], ids=["all defined", "with constant rows"])
def test_every_tick_of_table_2(name, kind, constant):
    for evaluation in evaluations(kind, constant):
        result = evaluation.results[name]
        assert (math.isnan(result.value) and math.isnan(result.best)) or (
            result.value == pytest.approx(result.best, abs=1e-12)
        )
        if not constant and name != "coverage":
            assert result.best == (1 if limo.MEASURES[name].better == "high" else 0)


@pytest.mark.parametrize(("name", "kind"), CROSSES)
def test_every_cross_of_table_2_has_a_counterexample(name, kind):
    Y, S = next((e.Y, e.S) for e in COUNTEREXAMPLES if e.kind == kind and name in e.measures)
    assert holds(kind, Y, S)
    measure = limo.MEASURES[name]
    if measure.needs == "scores":
        result = limo.evaluate(Y, S).results[name]
        assert abs(result.value - result.best) > 0.01
        return
    # no choice of the thresholds that suit the measure makes it perfect
    by_label = measure.threshold == "label"
    best = max(
        getattr(limo, name)(Y, ((t if by_label else np.array(t)[:, None]) < S).astype(int))
        for t in itertools.product(np.append(np.unique(S), S.min() - 1), repeat=len(Y))
    )
    assert best < 1


def test_counterexamples_name_exactly_the_crosses():
    named = {(name, e.kind) for e in COUNTEREXAMPLES for name in e.measures}
    assert named == set(CROSSES)


def test_table_2_is_the_printed_one():
    """Typed from the paper: label-wise, instance-wise, double."""
    printed = {
        "ranking_loss": "yny", "average_precision": "yny", "one_error": "yny", "coverage": "yny",
        "instance_auc": "yny", "macro_auc": "nyy", "micro_auc": "nny", "macro_f1": "nyy",
        "instance_f1": "yny", "micro_f1": "yny", "hamming_loss": "yyy",
    }  # fmt: skip
    for name, measure in limo.MEASURES.items():
        ticks = "".join(
            "n" if measure.optimised_by[kind] is Optimised.NO else "y" for kind in EFFECTIVENESS[:3]
        )
        assert ticks == printed[name]
        assert measure.optimised_by["entry-wise"] is Optimised.YES
        assert measure.optimised_by["absolute"] is Optimised.YES


def test_entry_wise_means_double():
    rng = np.random.default_rng(22)
    for _ in range(100):
        Y, S = effective_case(rng, "entry-wise", constant=True)
        found = limo.effectiveness(Y, S)
        assert found.entry_wise
        assert found.double


def test_absolute_means_entry_wise():
    rng = np.random.default_rng(29)
    for _ in range(100):
        Y, S = effective_case(rng, "absolute", constant=True)
        found = limo.effectiveness(Y, S)
        assert found.absolute
        assert found.entry_wise
        assert np.isnan(found.entry_wise_margin) or (
            found.entry_wise_margin >= 2 * found.absolute_margin - 1e-12
        )


@pytest.mark.parametrize("name", ["macro_f1", "instance_f1", "micro_f1", "hamming_loss"])
def test_only_absolute_effectiveness_suits_the_threshold_zero(name):
    """The fifth column without a search for thresholds: a cross for the other four kinds."""
    Y, S = SHIFTED.Y, SHIFTED.S
    found = limo.effectiveness(Y, S)
    assert found.label_wise
    assert found.instance_wise
    assert found.double
    assert found.entry_wise
    assert not found.absolute
    result = limo.evaluate(Y, y_pred=cut(Y, S, "zero")).results[name]
    assert abs(result.value - result.best) > 0.01


def test_effectiveness_of_constant_labels_is_vacuous():
    found = limo.effectiveness([[0, 0], [0, 0]], [[1.0, 2.0], [3.0, 4.0]])
    assert found.double
    assert found.entry_wise
    assert math.isnan(found.label_wise_share)


def test_effectiveness_agrees_with_the_margins():
    for Y, S, _ in cases(200, seed=23):
        found = limo.effectiveness(Y, S)
        rows = [g for g in naive.label_wise_margin(Y.tolist(), S.tolist()) if not math.isnan(g)]
        assert found.label_wise == all(g > 0 for g in rows)
        assert not rows or found.label_wise_share == sum(g > 0 for g in rows) / len(rows)


def test_effectiveness_reads_as_a_sentence():
    text = str(limo.effectiveness([[1, 0], [0, 1]], [[3.0, 2.0], [0.0, 1.0]]))
    assert text == (
        "effective: label-wise (label-wise on 100.0% of instances, instance-wise on 50.0% of "
        "labels, entry-wise margin -1, absolute margin -2)"
    )
    assert "not at all" in str(limo.effectiveness([[1, 0], [0, 1]], [[0.0, 1.0], [1.0, 0.0]]))


# ---- Theorem 3


def double_effective(rng, m, l, density):
    """The random model of the theorem's proof."""
    Y = rng.random((m, l)) < density
    relevant = np.where(Y, rng.random((m, l)), 1.0)
    below = np.minimum(relevant.min(axis=1)[:, None], relevant.min(axis=0))
    return Y.astype(int), np.where(Y, relevant, rng.random((m, l)) * below)


def test_theorem_3_micro_auc_grows_to_one_above_its_bound():
    rng = np.random.default_rng(24)
    averages = []
    for m in (10, 50, 250, 1250):
        draws = [double_effective(rng, m, 5, 0.3) for _ in range(20)]
        assert all(limo.effectiveness(Y, S).double for Y, S in draws)
        averages.append(np.mean([limo.micro_auc(Y, S) for Y, S in draws]))
        assert averages[-1] >= limo.micro_auc_bound(m, 5, np.mean([Y.sum() for Y, _ in draws]))
    assert averages == sorted(averages)
    assert averages[-1] > 0.998


def test_theorem_3_bound_by_hand():
    # n = 1: (1 - a/2) a is greatest at a = 1
    assert limo.micro_auc_bound(1, 2, 2) == pytest.approx(0.5)


# ---- Definition 6


def test_a_right_threshold_has_no_error():
    rng = np.random.default_rng(27)
    for _ in range(50):
        Y, S = effective_case(rng, "label-wise", constant=True)
        t = [right_threshold(y, s) for y, s in zip(Y, S, strict=True)]
        assert not limo.threshold_error(Y, S, t).any()


# ---- Slips of the paper (docs/theory.md)


def test_slip_1_label_wise_effective_does_not_optimise_micro_auc():
    Y, S = np.eye(2, dtype=int), np.array([[1.0, 0.0], [5.0, 6.0]])
    assert limo.effectiveness(Y, S).label_wise
    assert limo.micro_auc(Y, S) == 0.75


def test_slip_2_the_bound_of_theorem_4_does_not_hold_for_micro_f1():
    Y = np.array([[1, 0, 0, 0], [1, 1, 1, 0]])
    S = np.array([[9.0, 1.0, 2.0, 3.0], [9.0, 8.0, 7.0, 1.0]])
    t = np.array([5.0, 8.5])
    P = (t[:, None] < S).astype(int)
    assert limo.effectiveness(Y, S).label_wise
    error = limo.threshold_error(Y, S, t)
    assert error.tolist() == [0, 2]
    printed = np.mean(
        [min(2 * (p - e) / (2 * p - e), 2 * p / (2 * p + e)) for p, e in ((1, 0), (3, 2))]
    )
    assert limo.instance_f1(Y, P) == printed == 0.75
    assert limo.micro_f1(Y, P) == pytest.approx(2 / 3)  # neither equal nor above
    assert limo.micro_f1(Y, P) == pytest.approx(limo.threshold_bounds(Y, error)["micro_f1"])


def test_slip_3_the_printed_bound_fails_when_the_error_exceeds_the_relevant_labels():
    p, e = 1, 3
    assert 2 * (p - e) / (2 * p - e) == 4  # as printed, an F1 of at least min(4, ...)
    Y, S = np.array([[1, 0, 0, 0]]), np.array([[4.0, 3.0, 2.0, 1.0]])
    nothing = np.zeros_like(Y)  # an error of 1, which is at most 3
    assert limo.threshold_error(Y, S, 5.0).tolist() == [1]
    printed = min(2 * (p - e) / (2 * p - e), 2 * p / (2 * p + e))
    assert limo.instance_f1(Y, nothing) == 0 < printed
    assert limo.threshold_bounds(Y, [e])["instance_f1"] == 0
