import math

import numpy as np
import pytest
from scipy import sparse

import limo
from limo.thresholds import Target, f_beta
from limo.thresholds._auto import KINDS, Trial, choose, kinds_for, rule_of, suited_kind, try_kinds
from limo.thresholds._scores import check_pair
from limo.thresholds._target import check_target
from naive import thresholds as naive

RNG = np.random.default_rng(77)
Y = (RNG.random((83, 5)) < 0.35).astype(int)
Y[:, 3], Y[:4], Y[4:6] = 0, 0, 1  # a label without positives, empty rows, full rows
S = np.round(RNG.normal(size=Y.shape) + 1.5 * Y, 1)  # with ties
MEASURES = ("macro_f1", "micro_f1", "instance_f1", "hamming_loss")
CASES = [(measure, kind) for measure in MEASURES for kind in kinds_for(check_target(measure))]


def held_out_labels(measure, kind, scores):
    """Every row cut by a rule fitted to the other folds, by the public interface."""
    trial = Trial.of(*check_pair(Y, S), 5)
    P = np.zeros_like(Y)
    for fold in range(5):
        part = trial.part(fold)
        rule = rule_of(kind, measure).fit(Y[part.known], scores[part.known])
        found = rule.predict(scores[part.cut])
        P[part.cut] = found.toarray() if sparse.issparse(found) else found
    return P, trial.group


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize(("measure", "kind"), CASES)
def test_the_value_is_that_of_rows_cut_by_rules_of_other_rows(measure, kind, form):
    scores = form(S)
    P, group = held_out_labels(measure, kind, scores)
    first, _ = held_out_labels(measure, suited_kind(check_target(measure)), scores)
    found = try_kinds(*check_pair(Y, scores), [check_target(measure)], 5, 1.0)[0]
    (tried,) = [t for t in found if t.kind == kind]
    value = getattr(limo, measure)
    assert tried.value == pytest.approx(value(Y, P), abs=1e-12)
    sign = limo.MEASURES[measure].sign
    assert tried.gain == pytest.approx(sign * (value(Y, P) - value(Y, first)), abs=1e-12)
    left_out = [
        sign * (value(Y[group != g], P[group != g]) - value(Y[group != g], first[group != g]))
        for g in range(20)
    ]
    assert tried.error == pytest.approx(naive.jackknife_error(left_out), abs=1e-12)


def test_measures_tried_together_have_the_same_values_as_alone():
    targets = [check_target(measure) for measure in MEASURES]
    together = try_kinds(*check_pair(Y, S), targets, 5, 1.0)
    for target, found in zip(targets, together, strict=True):
        assert found == try_kinds(*check_pair(Y, S), [target], 5, 1.0)[0]


def test_the_kinds_that_can_serve_a_measure():
    assert [*kinds_for(check_target("macro_f1"))] == [
        "label", "global", "instance + global", "instance + label",
    ]  # fmt: skip
    assert next(kinds_for(check_target("micro_f1"))) == "global"
    assert [*kinds_for(check_target("instance_f1"))][:2] == ["instance", "label"]
    assert {*kinds_for(check_target("hamming_loss"))} == {*KINDS}
    cost = Target(lambda tp, fp, fn, tn: -(fp + fn), "instance")  # not said to be fractional
    assert [*kinds_for(cost)] == ["instance", "global", "instance + global"]
    assert next(kinds_for(f_beta(2.0))) == "label"


def test_another_kind_must_be_better_by_more_than_its_error():
    target = check_target("micro_f1")
    groups = np.array([0.0, *[0.02, -0.02] * 10])
    first = np.full(21, 0.5)
    noisy, clear = first + 0.05 + groups, first + 0.04
    error = naive.jackknife_error(list(groups[1:]))
    assert error > 0.05
    found = choose(target, {"global": first, "label": noisy}, 1.0)
    assert [t.chosen for t in found] == [True, False]
    assert found[1].error == pytest.approx(error)
    found = choose(target, {"global": first, "label": noisy, "instance": clear}, 1.0)
    assert [t.kind for t in found if t.chosen] == ["instance"]
    found = choose(target, {"global": first, "label": noisy}, 0.0)
    assert [t.kind for t in found if t.chosen] == ["label"]
    equal = choose(target, {"global": first, "label": first.copy()}, 0.0)
    assert [t.kind for t in equal if t.chosen] == ["global"]


@pytest.mark.parametrize("n_rows", [1, 2, 3])
def test_few_rows(n_rows):
    for measure in MEASURES:
        (found,) = try_kinds(*check_pair(Y[:n_rows], S[:n_rows]), [check_target(measure)], 5, 1.0)
        assert sum(t.chosen for t in found) == 1
        assert all(math.isfinite(t.value) and math.isfinite(t.error) for t in found)
