"""Sums of rows: the same bits as the rows, from records that hold no row."""

import math

import numpy as np
import pytest
from scipy import sparse

import limo
from limo._row_sums import MarginSums
from limo._views import ROWS


def summed(blocks, **options):
    evaluator = limo.Evaluator("two-pass", **options)
    for _ in range(2):
        for block in blocks:
            evaluator.update(*block)
        if evaluator._reference is None:
            evaluator.second_pass()
    return evaluator


def test_values_of_instances_are_not_kept():
    rng = np.random.default_rng(0)
    Y = rng.integers(0, 2, (500, 4))
    S = rng.normal(size=Y.shape)
    evaluator = summed(
        [(Y[i : i + 50], S[i : i + 50], S[i : i + 50] > 0) for i in range(0, 500, 50)]
    )
    assert evaluator._counted.rows == ()
    found, expected = evaluator.compute(), limo.evaluate(Y, S, S > 0)
    assert list(found.per_instance) == ["label_wise_margin"]
    np.testing.assert_array_equal(
        found.per_instance["label_wise_margin"], expected.per_instance["label_wise_margin"]
    )
    for name, values in expected.per_label.items():
        np.testing.assert_array_equal(found.per_label[name], values)
    assert found.skipped == expected.skipped
    assert found.effectiveness == expected.effectiveness
    with pytest.raises(ValueError, match="order of every instance, which was not kept"):
        limo.guarantees(found)


def test_measures_that_are_infinite_or_undefined():
    def odd(tp, fp, fn, tn):
        """Infinite for some rows, undefined for others."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return (tp - fn) / fp

    own = limo.measures.make_measure(odd, view=ROWS, needs="labels", better="high")
    Y = np.array([[1, 0, 1], [1, 1, 0], [0, 1, 1], [0, 0, 1]])
    P = np.array([[1, 1, 0], [0, 0, 0], [0, 1, 0], [1, 1, 1]])
    for rows in ([0, 3], [0, 1], [1, 2], [2], [0, 1, 2, 3]):
        blocks = [(Y[[i]], None, P[[i]]) for i in rows]
        found = summed(blocks, measures=[own]).compute()["odd"]
        expected = limo.evaluate(Y[rows], y_pred=P[rows], measures=[own])["odd"]
        assert found == expected or (math.isnan(found) and math.isnan(expected))


def test_bounds_of_sparse_scores():
    rng = np.random.default_rng(2)
    Y = sparse.csr_array(rng.random((60, 9)) < 0.3)
    S = sparse.random_array((60, 9), density=0.4, rng=rng, format="csr")
    found = summed([(Y[i : i + 7], S[i : i + 7]) for i in range(0, 60, 7)]).compute()
    expected = limo.evaluate(Y, S)
    assert found.n_absent == expected.n_absent > 0
    assert found.to_json() == expected.to_json()
    assert found.bounds == expected.bounds


def test_margins_of_nothing():
    none = {name: np.zeros(2) for name in ("pairs", "tied", "lost")}
    found = MarginSums.of(none | {"margin": np.full(2, np.nan)}, None).summary()
    assert (found.pairs, found.defined.size) == (0.0, 0)
    assert math.isnan(found.tied_share)
    assert math.isnan(found.ordered_share)
