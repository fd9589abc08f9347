"""Influence values against derivatives of weighted measures, and against leaving items out."""

import numpy as np
import pytest

import limo
from limo._checks import check_inputs
from limo.measures._compute import compute
from limo.measures._influence import bias_of, influence_values
from naive import further as naive
from naive.measures import average_precision_row, columns, whole


def case(seed, ties=True):
    rng = np.random.default_rng(seed)
    m, n_labels = int(rng.integers(6, 14)), int(rng.integers(1, 5))
    Y = (rng.random((m, n_labels)) < 0.4).astype(int)
    S = rng.integers(0, 6, Y.shape) / 4 if ties else rng.random(Y.shape)
    return Y, S, (rng.random(Y.shape) < 0.4).astype(int)


def found(Y, S, P, names, conventions="standard"):
    checked, rules = check_inputs(Y, S, P), limo.CONVENTIONS[conventions]
    measures = [limo.MEASURES[name] for name in names]
    results = compute(measures, checked, rules).results
    return influence_values(measures, checked, rules, results)


def averaged(row, Y, A, w, kind):
    if kind == "micro":
        n_labels = len(Y[0])
        spread = [one for one in w for _ in range(n_labels)]
        return row([y for r in Y for y in r], [a for r in A for a in r], spread)
    values = [row(y, a, w) for y, a in zip(columns(Y), columns(A), strict=True)]
    known = [v for v in values if v is not None]
    return sum(known) / len(known) if known else 0.0


def slopes(row, Y, A, kind):
    """The derivative of a measure by the weight of each instance."""

    def value(w):
        return averaged(row, Y.tolist(), A.tolist(), w, kind)

    return np.array([naive.slope(value, len(Y), i) for i in range(len(Y))])


@pytest.mark.parametrize("kind", ["macro", "micro"])
def test_influence_is_the_derivative_by_the_weight_of_an_instance(kind):
    for seed in range(25):
        Y, S, P = case(seed)
        if Y.min() == Y.max():
            continue
        expected = slopes(naive.weighted_f1, Y, P, kind)
        values = found(Y, S, P, [f"{kind}_f1"])[f"{kind}_f1"]
        np.testing.assert_allclose(values, expected, atol=1e-5)


@pytest.mark.parametrize("conventions", ["standard", "paper", "sklearn"])
@pytest.mark.parametrize("kind", ["macro", "micro"])
def test_influence_on_average_precision_is_what_is_lost_without_each_item(kind, conventions):
    name = f"{kind}_average_precision"
    for seed in range(25):
        Y, S, P = case(seed)
        expected, n_rows = np.zeros(len(Y)), 0
        turned = (columns if kind == "macro" else whole)(Y.tolist())
        for y, s in zip(turned, (columns if kind == "macro" else whole)(S.tolist()), strict=True):
            if not sum(y):
                continue
            n_rows += 1
            value = average_precision_row(y, s, conventions)
            for k in range(len(y)):
                rest = [one[:k] + one[k + 1 :] for one in (y, s)]
                if sum(rest[0]):
                    instance = k if kind == "macro" else k // Y.shape[1]
                    expected[instance] += value - average_precision_row(*rest, conventions)
        n_labels = Y.shape[1] if kind == "macro" and conventions == "sklearn" else n_rows
        expected *= (len(Y) - 1) / max(n_labels, 1)
        np.testing.assert_allclose(
            found(Y, S, P, [name], conventions)[name], expected, atol=1e-12, err_msg=str(seed)
        )


def test_few_positives_make_average_precision_too_high():
    """On scores that say nothing, average precision is the share of positives; p = 4 of 40."""
    rng = np.random.default_rng(8)
    y = np.repeat([1, 0], [4, 36])[:, np.newaxis]
    measure = limo.MEASURES["macro_average_precision"]
    plain, bias = np.array(
        [
            (e[measure.name], bias_of(measure, e.sample.influence[measure.name]))
            for e in (
                limo.evaluate(y, rng.random(y.shape), measures=[measure], intervals=0.95)
                for _ in range(200)
            )
        ]
    ).T
    too_high = plain.mean() - 0.1
    assert too_high > 0.05
    assert bias.mean() == pytest.approx(too_high, rel=0.4)
    assert bias_of(limo.MEASURES["macro_auc"], np.ones(3)) == 0.0


def test_influence_on_an_auc_is_the_derivative_but_for_delongs_correction():
    for seed in range(25):
        Y, S, _ = case(seed)
        Y, S = Y[:, :1], S[:, :1]
        p, n = Y.sum(), len(Y) - Y.sum()
        if p < 2 or n < 2:
            continue
        correction = np.where(Y[:, 0] == 1, p / (p - 1), n / (n - 1)) ** 0.5
        expected = slopes(naive.weighted_auc, Y, S, "macro") * correction
        for name in ("macro_auc", "micro_auc"):
            np.testing.assert_allclose(found(Y, S, None, [name])[name], expected, atol=1e-5)


def test_one_label_has_delongs_variance():
    """Variance of one AUC: the two sample variances of the placements over their numbers."""
    rng = np.random.default_rng(3)
    Y = (rng.random((60, 1)) < 0.3).astype(int)
    S = np.round(Y + rng.standard_normal(Y.shape), 1)
    good, bad = S[Y[:, 0] == 1, 0], S[Y[:, 0] == 0, 0]
    won = (good[:, None] > bad) + 0.5 * (good[:, None] == bad)
    variance = won.mean(1).var(ddof=1) / len(good) + won.mean(0).var(ddof=1) / len(bad)
    for name in ("macro_auc", "micro_auc"):
        values = found(Y, S, None, [name])[name]
        assert np.sum(values**2) / 60**2 == pytest.approx(variance, rel=1e-12)


def test_macro_auc_adds_the_labels_of_an_instance():
    rng = np.random.default_rng(4)
    Y = (rng.random((50, 3)) < 0.4).astype(int)
    S = rng.standard_normal(Y.shape)
    single = [found(Y[:, [j]], S[:, [j]], None, ["macro_auc"])["macro_auc"] for j in range(3)]
    together = found(Y, S, None, ["macro_auc"])["macro_auc"]
    np.testing.assert_allclose(together, np.mean(single, axis=0), atol=1e-12)
    with_empty = found(np.c_[Y, 0 * Y[:, 0]], np.c_[S, S[:, 0]], None, ["macro_auc"])["macro_auc"]
    np.testing.assert_allclose(with_empty, together, atol=1e-12)


def test_a_mean_over_instances_leaves_undefined_ones_out():
    Y, S = [[1, 0], [0, 1], [0, 0], [1, 0]], [[0.9, 0.1], [0.8, 0.3], [0.1, 0.2], [0.4, 0.3]]
    values = found(Y, S, None, ["ranking_loss"])["ranking_loss"]
    # losses 0, 1, undefined, 0: mean 1/3 over a share of 3/4
    np.testing.assert_allclose(values, np.array([-1 / 3, 2 / 3, 0, -1 / 3]) / 0.75)
    filled = found(Y, S, None, ["ranking_loss"], "sklearn")["ranking_loss"]
    np.testing.assert_allclose(filled, [-0.25, 0.75, -0.25, -0.25])


LEFT_OUT = ("macro_average_precision", "micro_average_precision")  # their means are the biases


def test_every_named_measure_has_influence_values_with_mean_zero():
    rng = np.random.default_rng(5)
    Y = (rng.random((80, 5)) < 0.3).astype(int)
    S = rng.random(Y.shape)
    names = [*limo.MEASURES, *limo.MEASURES.further]
    values = found(Y, S, (S > 0.6).astype(int), names)
    assert set(values) == set(names)
    for name, one in values.items():
        assert one.shape == (80,)
        assert name in LEFT_OUT or abs(one.mean()) < 1e-6, name


def test_values_of_blocks_in_threads_are_those_of_one_block():
    rng = np.random.default_rng(6)
    Y = (rng.random((3000, 100)) < 0.3).astype(int)
    S = rng.standard_normal(Y.shape).astype(np.float32)
    values = found(Y, S, None, ["macro_auc"])["macro_auc"]
    parts = [
        found(Y[:, a : a + 25], S[:, a : a + 25], None, ["macro_auc"]) for a in (0, 25, 50, 75)
    ]
    expected = np.mean([part["macro_auc"] for part in parts], axis=0)
    np.testing.assert_allclose(values, expected, atol=1e-10)
